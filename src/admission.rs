//! Whether what an allowed request would do is acceptable. Pure, like authorization.
//!
//! [`Admitted`] is the proof that it is. Only [`Admission::admit`] makes one, only from an [`Authorized`], and
//! `upstream::forward` takes nothing else: a request that skipped a check cannot be sent.
//!
//! What is not known yet is asked for by whoever calls: a rule says what it wants to know, and is asked again.

mod found;
mod kinds;
mod known;
mod node_restriction;
mod notes;
mod sent;
mod tie;
mod validated;
mod write;
mod yaml;

use std::sync::Arc;

use bytes::Bytes;
use http::Uri;

use self::write::Writer;
pub use self::{
    found::{Found, Missed},
    known::{Fact, Known, KnownPod, Told, Wanted},
    node_restriction::{AllowedAddress, Extended, Keys, MirrorPodOwner, NodeRestriction},
    notes::{MirrorPod, Notes, Owner},
    sent::Sent,
    tie::{Change, Edit, Tie},
    validated::{Place, ValidatedAnnotations},
    write::{Content, Operation, Write},
};
use crate::{
    authorizer::Authorized,
    body::{Body, BodyError, MAX_SETTLED},
    caller::{Caller, Kind},
    rejection::Rejection,
    request::{Head, Query, ResourceRequest, Target},
    review::Review,
    rules::Modes,
};

/// The configuration of admission.
#[derive(Clone, Debug)]
pub struct Admission {
    pub node_restriction: NodeRestriction,
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

/// The body of a request on its way to be judged.
#[derive(Debug)]
pub enum Payload {
    /// All of it, to be looked at.
    Whole(Bytes),
    /// The same, made JSON of YAML, and what it has to say of itself now.
    Made(Bytes, &'static str),
    /// As the client sends it.
    Stream(Body),
}

/// A request that may be forwarded, with exactly the head and body that were judged.
///
/// It cannot be made by hand:
///
/// ```compile_fail,E0451
/// # use std::sync::Arc;
/// # use scopegate::{admission::{Admitted, Tie}, authorizer::Authorized, body::Body};
/// fn forge(authorized: Arc<Authorized>, uri: http::Uri) -> Admitted {
///     Admitted { authorized, uri, body: Body::default(), content_type: None, tie: Tie::None, rehearsal: false, validated: false, found: None }
/// }
/// ```
#[derive(Debug)]
pub struct Admitted {
    authorized: Arc<Authorized>,
    uri: Uri,
    body: Body,
    content_type: Option<&'static str>,
    tie: Tie,
    rehearsal: bool,
    validated: bool,
    found: Option<Box<Found>>,
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
        self.look_by_node(authorized).max(self.look_by_annotations(authorized))
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
        let look = self.look_by_annotations(authorized);
        let edit = match self.validate(authorized, payload, (look, edit), known)? {
            Ok(edit) => edit,
            Err(unsure) => return Ok(Ruling::Unsure(unsure)),
        };
        let validated = look != Look::Away;
        let admitted = Admitted::new(authorized, payload, edit)?.with(found);
        Ok(Ruling::Admitted(Admitted { validated, ..admitted }))
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
                Ok(Err(Unsure::Rehearsal(Box::new(Admitted {
                    rehearsal: true,
                    validated: true,
                    ..rehearsal
                }))))
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
                Self::Rehearsal(Box::new(Admitted {
                    rehearsal: true,
                    ..admitted
                }))
            }
        })
    }
}

impl Payload {
    /// Larger than anything that nodes write all day.
    fn is_large(&self) -> bool {
        matches!(self, Self::Whole(body) | Self::Made(body, _) if body.len() > MAX_SETTLED)
    }

    /// To be sent. What was read whole can be sent again.
    fn take(&mut self) -> Body {
        match self {
            Self::Whole(body) | Self::Made(body, _) => Body::from(body.clone()),
            Self::Stream(body) => std::mem::take(body),
        }
    }
}

impl Admitted {
    fn new(authorized: &Arc<Authorized>, payload: &mut Payload, edit: Edit) -> Result<Self, Rejection> {
        let uri = match &edit.query {
            None => authorized.head().uri().clone(),
            Some(more) => with_query(authorized.head().uri(), more)?,
        };
        let body = match edit.body {
            Some(body) => Body::from(Bytes::from(body)),
            None => payload.take(),
        };
        Ok(Self {
            authorized: Arc::clone(authorized),
            uri,
            body,
            content_type: edit.content_type.or(match payload {
                Payload::Made(_, content_type) => Some(*content_type),
                Payload::Whole(_) | Payload::Stream(_) => None,
            }),
            tie: edit.tie,
            rehearsal: false,
            validated: false,
            found: None,
        })
    }

    pub fn caller(&self) -> &Caller {
        self.authorized.caller()
    }

    pub fn head(&self) -> &Head {
        self.authorized.head()
    }

    /// What upstream is asked for; the head says what the client asked for.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// How the body is encoded, if that is another way than the client's.
    pub fn content_type(&self) -> Option<&'static str> {
        self.content_type
    }

    /// Whether the gate has looked at what it makes of validated annotations.
    pub fn is_validated(&self) -> bool {
        self.validated
    }

    /// What the gate has tied the request to.
    pub fn tie(&self) -> &Tie {
        &self.tie
    }

    /// Whether the answer is for the gate to judge, and not for the client: it has to be the whole object, whatever the client
    /// would like to read.
    pub fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    fn with(self, found: Found) -> Self {
        let found = (!found.is_nothing()).then(|| Box::new(found));
        Self { found, ..self }
    }

    /// What is to be recorded about it, given up; nothing if that is nothing.
    pub fn take_found(&mut self) -> Option<Box<Found>> {
        self.found.take()
    }

    /// The body, given up: an admitted request is sent once.
    pub fn into_body(self) -> Body {
        self.body
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

/// It was the client that broke the request.
impl From<BodyError> for Rejection {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Broken => Self::bad_request("the request body could not be read"),
            BodyError::Stopped => Self::stopped(error.to_string()),
            BodyError::Slow(_) => Self::request_timeout(error.to_string()),
            BodyError::TooLarge(limit) => Self::too_large(limit),
        }
    }
}

/// The same target with one more parameter.
fn with_query(uri: &Uri, more: &str) -> Result<Uri, Rejection> {
    let pieces = uri.query().map_or(0, |query| query.split('&').count());
    if pieces >= Query::MAX_PIECES {
        // Go would see no parameter at all.
        return Err(Rejection::bad_request("the query has no room for one more parameter"));
    }
    let separator = if uri.query().is_none() { '?' } else { '&' };
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let target = format!("{target}{separator}{more}");
    target
        .parse()
        .map_err(|_| Rejection::internal("a parameter cannot be added to the query"))
}
