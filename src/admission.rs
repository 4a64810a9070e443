//! Whether what an allowed request would do is acceptable. Pure, like authorization.
//!
//! [`Admitted`] is the proof that it is. Only [`Admission::admit`] makes one, only from an [`Authorized`], and
//! `upstream::forward` takes nothing else: a request that skipped a check cannot be sent.
//!
//! What is not known yet is asked for by whoever calls: a rule says what it wants to know, and is asked again.

mod admitted;
mod found;
mod kinds;
mod known;
mod node_restriction;
mod notes;
mod read;
mod seed_restriction;
mod sent;
mod tie;
mod validated;
mod write;
mod yaml;

use std::sync::Arc;

use bytes::Bytes;

use self::write::Writer;
pub use self::{
    admitted::{Admitted, Payload},
    found::{Found, Missed},
    known::{Fact, Known, KnownPod, Told, Wanted},
    node_restriction::{AllowedAddress, Extended, Keys, MirrorPodOwner, NodeRestriction},
    notes::{MirrorPod, Notes, Owner},
    seed_restriction::SeedRestriction,
    sent::Sent,
    tie::{Change, Edit, Tie},
    validated::{Place, ValidatedAnnotations},
    write::{Content, Operation, Write},
};
use crate::{
    authorizer::Authorized,
    caller::Kind,
    rejection::Rejection,
    request::{ResourceRequest, Target},
    review::Review,
    rules::Modes,
};

/// The configuration of admission.
#[derive(Clone, Debug)]
pub struct Admission {
    pub node_restriction: NodeRestriction,
    /// Nothing: they are like anybody else.
    pub seeds: Option<SeedRestriction>,
    /// Nothing: nobody looks at them.
    pub validated: Option<ValidatedAnnotations>,
    /// Which rules are enforced.
    pub modes: Modes,
}

/// How much of a request there is to look at.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Look {
    /// Nothing: no rule is about it.
    Away,
    /// What its head says is enough.
    AtHead,
    /// If it is no larger than what nodes write all day: nothing can come of it but a record.
    AtSmallBody,
    AtBody,
}

/// What becomes of a write.
#[derive(Debug)]
pub enum Ruling {
    Admitted(Admitted),
    /// Not before this is known.
    Unsure(Unsure),
}

/// What has to be asked of upstream.
#[derive(Debug)]
pub enum Unsure {
    /// The object that is written, as it is stored.
    Stored,
    /// These.
    Objects(Vec<Wanted>),
    /// This, as it is stored.
    Read(Box<ResourceRequest>),
    /// Whether upstream's authorizers allow all of these.
    Reviews(Vec<Review>),
    /// What would come of this, which changes nothing.
    Rehearsal(Box<Admitted>),
}

/// Why a rule does not let a write pass.
#[derive(Debug)]
pub enum No {
    Refused(Box<Rejection>),
    /// It cannot tell without the object that is written.
    Stored,
    /// Nor without these.
    Unsure(Vec<Wanted>),
    /// Nor without all of this one.
    Read(Box<ResourceRequest>),
    /// Nor without knowing what upstream's authorizers say to these.
    Reviews(Vec<Review>),
    /// Nor without knowing what would come of this.
    Rehearse(Box<Edit>),
}

impl Admission {
    /// How much of a request has to be read before it can be judged.
    pub fn look(&self, authorized: &Authorized) -> Look {
        let by_seed = self.asked_by_seed(authorized).map_or(Look::Away, |asked| asked.look());
        let by_annotations = self.look_by_annotations(authorized);
        self.look_by_node(authorized).max(by_seed).max(by_annotations)
    }

    /// Whether it is a write of a seed that is looked at.
    pub fn is_by_seed(&self, authorized: &Authorized) -> bool {
        self.asked_by_seed(authorized).is_some()
    }

    fn asked_by_seed<'a>(&self, authorized: &'a Authorized) -> Option<seed_restriction::Asked<'a>> {
        self.seeds?.asked(authorized, &self.modes)
    }

    fn look_by_node(&self, authorized: &Authorized) -> Look {
        let (caller, head) = (authorized.caller(), authorized.head());
        match (&caller.kind, &head.info().target) {
            (Kind::Node(node), Target::Resource(request)) if head.upgrade().is_none() => {
                self.node_restriction
                    .look(node, &head.info().verb, request, &self.modes)
            }
            _ => Look::Away,
        }
    }

    fn look_by_annotations(&self, authorized: &Authorized) -> Look {
        let validated = self.validated.as_ref();
        validated.map_or(Look::Away, |validated| validated.look(authorized.head().info()))
    }

    /// Judges a request by what is known. A refusal for which the graph was consulted stands only when upstream has said the
    /// same. Rules that are not enforced have no part in it; what they find comes with what is admitted.
    pub fn admit(
        &self,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        known: &Known<'_>,
    ) -> Result<Ruling, Rejection> {
        let (edit, found) = match self.restrict(authorized, payload, known)? {
            Ok(restricted) => restricted,
            Err(unsure) => return Ok(Ruling::Unsure(unsure)),
        };
        let edit = match self.confine(authorized, payload, edit, known)? {
            Ok(edit) => edit,
            Err(unsure) => return Ok(Ruling::Unsure(unsure)),
        };
        let look = self.look_by_annotations(authorized);
        let edit = match self.validate(authorized, payload, (look, edit), known)? {
            Ok(edit) => edit,
            Err(unsure) => return Ok(Ruling::Unsure(unsure)),
        };
        let validated = look != Look::Away;
        let admitted = Admitted::new(authorized, payload, edit)?.with(found);
        Ok(Ruling::Admitted(admitted.validated(validated)))
    }

    /// What nodes may write.
    fn restrict(
        &self,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        known: &Known<'_>,
    ) -> Result<Result<(Edit, Found), Unsure>, Rejection> {
        let look = self.look_by_node(authorized);
        if look == Look::Away {
            return Ok(Ok(Default::default()));
        }
        let enforced = self.enforces(authorized);
        let write = match self.read(authorized, look, payload) {
            Ok(write) => write,
            Err(rejection) if enforced => return Err(rejection),
            // The API server reads it for itself.
            Err(_) => return Ok(Ok((Edit::default(), Found::missed(look, payload)))),
        };
        let judged = if enforced {
            self.node_restriction.judge(&write, known)
        } else {
            Ok(Edit::default())
        };
        let consulted = known.consulted();
        Ok(match judged {
            // Once is enough for what costs that much.
            Ok(edit) if payload.is_large() => Ok((edit, Found::large())),
            Ok(edit) => {
                let finds = self.node_restriction.find(write, &self.modes, known);
                Ok((edit, Found::new(finds, authorized, payload)))
            }
            Err(No::Refused(rejection)) if consulted.is_empty() => return Err(*rejection),
            Err(No::Refused(_)) => Err(Unsure::Objects(consulted)),
            Err(no) => Err(Unsure::new(no, authorized, payload)?),
        })
    }

    /// What seeds may write.
    fn confine(
        &self,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        before: Edit,
        known: &Known<'_>,
    ) -> Result<Result<Edit, Unsure>, Rejection> {
        let (Some(seeds), Some(asked)) = (self.seeds, self.asked_by_seed(authorized)) else {
            return Ok(Ok(before));
        };
        // Once: it is judged again and again.
        yaml::to_json(authorized.head(), payload)?;
        let body = match &*payload {
            _ if asked.look() == Look::AtHead => Bytes::new(),
            Payload::Whole(body) | Payload::Made(body, _) => body.clone(),
            Payload::Stream(_) => return Err(Rejection::internal("a body was not read")),
        };
        let judged = seeds.judge(&asked, &body, known);
        Ok(match judged {
            Ok(edit) => Ok(before.then(edit)),
            Err(no) => Err(Unsure::new(no, authorized, payload)?),
        })
    }

    /// Who may use pods that carry validated annotations, whatever else has to be done to the request.
    fn validate(
        &self,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        (look, before): (Look, Edit),
        known: &Known<'_>,
    ) -> Result<Result<Edit, Unsure>, Rejection> {
        let Some(validated) = self.validated.as_ref().filter(|_| look != Look::Away) else {
            return Ok(Ok(before));
        };
        // Once: it is judged again and again.
        yaml::to_json(authorized.head(), payload)?;
        let body = match (&before.body, &*payload) {
            _ if look == Look::AtHead => Bytes::new(),
            (Some(body), _) => Bytes::from(body.clone()),
            (None, Payload::Whole(body) | Payload::Made(body, _)) => body.clone(),
            (None, Payload::Stream(_)) => return Err(Rejection::internal("a body was not read")),
        };
        match validated.judge(authorized, &body, known) {
            Ok(edit) => Ok(Ok(before.then(edit))),
            Err(No::Rehearse(edit)) => {
                let rehearsal = Admitted::new(authorized, payload, before.then(*edit))?;
                Ok(Err(Unsure::Rehearsal(Box::new(rehearsal.rehearsed().validated(true)))))
            }
            Err(no) => Ok(Err(Unsure::new(no, authorized, payload)?)),
        }
    }

    /// What rules find that are not enforced, now that more is known.
    pub fn find(&self, authorized: &Arc<Authorized>, payload: &mut Payload, known: &Known<'_>) -> Found {
        let look = self.look_by_node(authorized);
        match self.read(authorized, look, payload) {
            Ok(write) => {
                let finds = self.node_restriction.find(write, &self.modes, known);
                Found::new(finds, authorized, payload)
            }
            Err(_) => Found::missed(look, payload),
        }
    }

    /// Whether a request can be refused for what it would do.
    fn enforces(&self, authorized: &Authorized) -> bool {
        match (&authorized.caller().kind, &authorized.head().info().target) {
            (Kind::Node(node), Target::Resource(request)) => self.node_restriction.enforces(node, request, &self.modes),
            _ => true,
        }
    }

    /// Reads a request as one that the enforced rules judge.
    fn read<'a>(&self, authorized: &'a Authorized, look: Look, payload: &'a Payload) -> Result<Write<'a>, Rejection> {
        let (caller, head) = (authorized.caller(), authorized.head());
        let (Kind::Node(node), Target::Resource(request), Some(operation)) =
            (&caller.kind, &head.info().target, Operation::of(&head.info().verb))
        else {
            return Err(Rejection::internal("a request to be judged is no write of a node"));
        };
        let (user, modes) = (&caller.user, self.modes.enforced());
        let writer = Writer { node, user, modes };
        match (look, payload) {
            (Look::Away | Look::AtHead, _) => Write::unread(writer, operation, (head, request)),
            (_, Payload::Whole(body)) => Write::read(writer, operation, (head, request), body),
            (_, Payload::Stream(_) | Payload::Made(..)) => Err(Rejection::internal("a body was not read")),
        }
    }
}

impl Unsure {
    fn new(no: No, authorized: &Arc<Authorized>, payload: &mut Payload) -> Result<Self, Rejection> {
        Ok(match no {
            No::Refused(rejection) => return Err(*rejection),
            No::Stored => Self::Stored,
            No::Unsure(wanted) => Self::Objects(wanted),
            No::Read(object) => Self::Read(object),
            No::Reviews(reviews) => Self::Reviews(reviews),
            No::Rehearse(edit) => {
                let admitted = Admitted::new(authorized, payload, *edit)?;
                Self::Rehearsal(Box::new(admitted.rehearsed()))
            }
        })
    }
}

impl No {
    pub fn refused(rejection: Rejection) -> Self {
        Self::Refused(Box::new(rejection))
    }
}

impl From<Rejection> for No {
    fn from(rejection: Rejection) -> Self {
        Self::refused(rejection)
    }
}
