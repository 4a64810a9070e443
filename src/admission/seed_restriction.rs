//! The SeedRestriction admission plugin: a seed creates only what is its own. One switch by resource, one file for each family.
//!
//! Follows `pkg/admissioncontroller/webhook/admission/seedrestriction` of Gardener. What is asked for there in a cache is asked of
//! upstream here. Only what creates something is looked into; of what there is already, Seeds are the only ones whose changes
//! are restricted, and that by their names.

mod backups;
mod bootstrap;
mod certificates;
mod new;
mod own;
mod routes;
mod secrets;
mod seeds;
mod shoots;

use self::{
    new::New,
    routes::{Concern, Route, is_beginning},
};
use super::{Content, Edit, Known, Look, No, Operation, Write, read::named, sent::is_look_alike, tie, write::Writer};
use crate::{
    api::garden,
    authorizer::{Authorized, Profile},
    caller::Seed,
    decision::Evidence,
    json::{Json, Object},
    rejection::Rejection,
    request::{Head, ResourceRequest, Target},
    rules::{Mode, Modes},
};

/// The configuration of this plugin; without one seeds are like anybody else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SeedRestriction {
    pub profile: Profile,
}

/// A request of a seed that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    seed: &'a Seed,
    authorized: &'a Authorized,
    head: &'a Head,
    request: &'a ResourceRequest,
    route: &'static Route,
    concern: Concern,
    modes: Modes,
}

impl SeedRestriction {
    /// The request as one that these rules are about; nothing if they are not.
    pub(super) fn asked<'a>(&self, authorized: &'a Authorized, modes: &Modes) -> Option<Asked<'a>> {
        let seed = self.profile.seed(authorized.caller())?;
        let head = authorized.head();
        let Target::Resource(request) = &head.info().target else {
            return None;
        };
        let route = Route::of(request, self.profile)?;
        let is_enforced = route.rules.iter().any(|rule| modes.of(*rule) == Mode::Enforce);
        let concern = route.concern(head, request, self.profile).filter(|_| is_enforced)?;
        Some(Asked {
            seed,
            authorized,
            head,
            request,
            route,
            concern,
            modes: modes.enforced(),
        })
    }

    /// Whether a request may pass, and what has to be done to it first. What was YAML is JSON by now.
    pub(super) fn judge<'a>(&self, asked: &Asked<'a>, body: &'a [u8], known: &Known<'a>) -> Result<Edit, No> {
        let write = asked.read(body)?;
        match asked.concern {
            Concern::Seed => self.seed_itself(asked, &write, known),
            Concern::Deletion => self.deletion(asked, &write, known),
            Concern::Creation => self.creation(asked, &write, known),
            Concern::Upsert => self.upsert(asked, &write, known),
            Concern::Beginning => {
                self.beginning(asked, &write, known)?;
                Ok(Edit::default())
            }
        }
    }

    /// Gardener admits the creation of what is there, since it is admitted already and upstream says so. But it may be gone when upstream
    /// looks, so here it is judged like any other, and the gate says itself that something is there. Not to those whom only upstream
    /// lets create such objects: whether it does is not known.
    fn creation<'a>(&self, asked: &Asked<'a>, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let object = write.sent()?;
        let name = named(object)?;
        let no = match self.create(&New::of(asked, write, (name, object), known)) {
            Ok(()) => return Ok(Edit::default()),
            Err(no) => no,
        };
        let decision = asked.authorized.decision();
        let is_left_to_upstream = matches!(decision.evidence, Evidence::Fallback { .. }) || decision.condoned.is_some();
        if !matches!(no, No::Refused(_)) || is_left_to_upstream || matches!(name, "" | "." | "..") {
            return Err(no);
        }
        let mut itself = asked.request.clone();
        name.clone_into(&mut itself.name);
        match known.read(&itself)? {
            Some(_) => Err(Rejection::already_exists(&itself.resource, name).into()),
            None => Err(no),
        }
    }

    /// What can be created by a replacement, or by being applied. If it would be good as a new object, it does not matter whether
    /// it is one; else it has to be made to the one that is there.
    fn upsert<'a>(&self, asked: &Asked<'a>, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let object = match &write.content {
            Content::Apply(applied) => {
                asked.is_what_it_should_be(applied)?;
                write.is_at_home(applied, true)?;
                applied
            }
            _ => write.sent()?,
        };
        let new = New::of(asked, write, (&asked.request.name, object), known);
        let no = match self.create(&new) {
            Ok(()) => return Ok(Edit::default()),
            Err(no) => no,
        };
        match known.stored()? {
            Some(stored) => {
                if is_beginning(asked.request) {
                    self.beginning(asked, write, known)?;
                }
                write.to_what_is_there(&Json::parse(stored).map_err(tie::unread)?)
            }
            None => Err(no),
        }
    }

    fn create(&self, new: &New<'_, '_>) -> Result<(), No> {
        let resource = &new.asked.request.resource;
        match (resource.group.as_str(), resource.resource.as_str()) {
            ("", "configmaps") => self.config_map(new),
            ("", "secrets") => self.secret(new),
            ("", "serviceaccounts") => self.service_account(new),
            ("certificates.k8s.io", "certificatesigningrequests") => self.certificate(new),
            ("coordination.k8s.io", "leases") => self.lease(new),
            ("rbac.authorization.k8s.io", "clusterrolebindings") => self.cluster_role_binding(new),
            (garden::CORE, "backupbuckets") => self.backup_bucket(new),
            (garden::CORE, "backupentries") => self.backup_entry(new),
            (garden::CORE, "internalsecrets") => self.internal_secret(new),
            (garden::CORE, "seeds") => self.new_seed(new),
            (garden::CORE, "shootstates") => self.shoot_state(new),
            (garden::OPERATIONS, "bastions") => self.bastion(new),
            (garden::SEED_MANAGEMENT, "gardenlets") => self.gardenlet(new),
            _ => Err(Rejection::internal("a resource is looked at that no rule is about").into()),
        }
    }

    /// Of Seeds and backup buckets, which are in no namespace.
    fn deletion<'a>(&self, asked: &Asked<'a>, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let new = New::of(asked, write, (&asked.request.name, &Json::Null), known);
        match asked.request.resource.resource.as_str() {
            "backupbuckets" => self.bucket_deletion(&new)?,
            _ => self.seed_deletion(&new)?,
        }
        Ok(Edit::default())
    }

    fn seed_itself<'a>(&self, asked: &Asked<'a>, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        self.new_seed(&New::of(asked, write, (&asked.request.name, &Json::Null), known))?;
        Ok(Edit::default())
    }
}

impl<'a> Asked<'a> {
    pub(super) fn look(&self) -> Look {
        match self.concern {
            Concern::Beginning | Concern::Creation | Concern::Upsert => Look::AtBody,
            Concern::Seed | Concern::Deletion => Look::AtHead,
        }
    }

    fn read(&self, body: &'a [u8]) -> Result<Write<'a>, Rejection> {
        let Some(operation) = Operation::of(&self.head.info().verb) else {
            return Err(Rejection::internal("a request to be judged is no write"));
        };
        if self.route.is_namespaced && self.request.namespace.is_empty() {
            // Upstream has no such place, and what is stored would be looked for everywhere.
            return Err(Rejection::method_not_allowed());
        }
        let user = &self.authorized.caller().user;
        let (node, modes) = ("", self.modes);
        let writer = Writer { node, user, modes };
        let place = (self.head, self.request);
        match self.look() {
            Look::AtBody => Write::read_at(writer, operation, place, self.route.endpoint(), body),
            _ => Write::unread(writer, operation, place),
        }
    }

    /// Of an applied object the API server finds out by itself what it is.
    fn is_what_it_should_be(&self, applied: &Json<'_>) -> Result<(), Rejection> {
        let text = |key| applied.get(key).and_then(Json::as_str);
        let endpoint = self.route.endpoint();
        let version = endpoint.version(self.request);
        let is_it = text("kind") == Some(endpoint.kind) && text("apiVersion") == Some(&version);
        let mut keys = applied.as_object().into_iter().flat_map(Object::iter);
        if is_it && !keys.any(|(key, _)| is_look_alike(key)) {
            return Ok(());
        }
        Err(Rejection::bad_request(format!(
            "the applied object has to be a {} of {version}",
            endpoint.kind
        )))
    }
}

#[cfg(test)]
mod tests;
