//! Validated annotations of pods: nobody reaches the runtime of a pod that carries one without the right to use its value.
//!
//! Follows the proposal "Validated Pod Annotations". Upstream's authorizers are asked for the right, `use` of
//! `validatedannotations` in `authorization.k8s.io`. Pods carry them in an annotation; the proposal's field is another way to
//! write that.

mod creator;
mod new;
mod places;
mod reach;
mod set;
mod template;
mod write;

use std::sync::Arc;

pub use self::places::Place;
use self::set::{Fault, Uses};
use super::{Edit, Known, Look, No};
use crate::{
    api::{Verb, clip, quote},
    authorizer::{self, Authorized},
    caller::{Caller, Kind, Semantics, User},
    decision::{Decision, Evidence, Reason},
    rejection::{Details, Rejection},
    request::{Head, RequestInfo, ResourceRequest, Target},
    review::{ResourceAction, Review},
    rules::Rule,
};

/// The configuration of this plugin; without one nobody looks.
#[derive(Clone, Debug)]
pub struct ValidatedAnnotations {
    /// Whether a port of a pod is its runtime too.
    pub ports: bool,
    /// Users that make pods from templates.
    pub trusted_creators: Vec<String>,
    places: Vec<Place>,
    /// Whether there are kinds beside those of Kubernetes.
    has_others: bool,
}

/// What a request has to do with validated annotations.
#[derive(Clone, Copy, Debug)]
enum Concern<'v> {
    /// It writes a pod, or something that pods are made from.
    Write(&'v Place, Part),
    /// It binds a pod, and may give it annotations with that.
    Binding,
    /// It writes what controllers make pods from that they have made before.
    Revision,
    /// It reaches the pod that it names.
    Pod,
    /// It reaches a kubelet, and perhaps a pod through it.
    Kubelet,
}

/// Which part of an object a write can change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    All,
    /// With the status, the metadata may change.
    Metadata,
    /// Something of what runs, whatever it is.
    Runtime,
}

/// A request that is looked at.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    caller: &'a Caller,
    head: &'a Head,
    request: &'a ResourceRequest,
}

/// Enough of a value to recognise it.
const RECOGNISABLE: usize = 128;

impl ValidatedAnnotations {
    /// With the kinds that Kubernetes has and these.
    pub fn new(ports: bool, trusted_creators: Vec<String>, kinds: Vec<Place>) -> Self {
        Self {
            ports,
            trusted_creators,
            has_others: !kinds.is_empty(),
            places: [Place::known(), kinds].concat(),
        }
    }

    /// The kinds that are looked at, by group and resource.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.places.iter().map(Place::resource)
    }

    /// How much of a request has to be seen.
    pub(super) fn look(&self, info: &RequestInfo) -> Look {
        match self.concern(info) {
            None => Look::Away,
            Some(Concern::Write(..) | Concern::Binding) => Look::AtBody,
            Some(Concern::Revision | Concern::Pod | Concern::Kubelet) => Look::AtHead,
        }
    }

    /// Whether a request may pass, and what has to be done to it first.
    pub(super) fn judge<'a>(&self, authorized: &'a Authorized, body: &'a [u8], known: &Known<'a>) -> Result<Edit, No> {
        let (caller, head) = (authorized.caller(), authorized.head());
        let Target::Resource(request) = &head.info().target else {
            return Ok(Edit::default());
        };
        let asked = Asked { caller, head, request };
        match self.concern(head.info()) {
            None => Ok(Edit::default()),
            Some(Concern::Write(place, part)) => self.write(&asked, (place, part), body, known),
            Some(Concern::Binding) => self.binding(&asked, body),
            Some(Concern::Revision) => self.revision(&asked),
            Some(Concern::Pod) => self.reach(&asked, known),
            Some(Concern::Kubelet) => self.kubelet(&asked, known),
        }
    }

    fn concern(&self, info: &RequestInfo) -> Option<Concern<'_>> {
        let Target::Resource(request) = &info.target else {
            return None;
        };
        let writes = matches!(info.verb, Verb::Create | Verb::Update | Verb::Patch);
        let write = |place, part| Some(Concern::Write(place, part)).filter(|_| writes);
        let (resource, subresource) = (&request.resource, request.subresource.as_str());
        match (resource.group.as_str(), resource.resource.as_str(), subresource) {
            ("", "pods", "attach" | "exec") => Some(Concern::Pod),
            ("", "pods", "portforward" | "proxy") => self.ports.then_some(Concern::Pod),
            ("", "nodes", "proxy") => Some(Concern::Kubelet),
            ("", "pods", "binding") | ("", "bindings", "") => Some(Concern::Binding).filter(|_| writes),
            ("apps", "controllerrevisions", "") => Some(Concern::Revision).filter(|_| writes),
            ("", "pods", "status") => write(self.pods()?, Part::Metadata),
            ("", "pods", "ephemeralcontainers" | "resize") => write(self.pods()?, Part::Runtime),
            ("", "podtemplates" | "pods" | "replicationcontrollers", "")
            | ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets", "")
            | ("batch", "cronjobs" | "jobs", "") => write(self.place(request)?, Part::All),
            // What the configuration names is never of these groups.
            ("" | "apps" | "batch", ..) => None,
            (_, _, "") if self.has_others => write(self.place(request)?, Part::All),
            _ => None,
        }
    }

    fn place(&self, request: &ResourceRequest) -> Option<&Place> {
        self.places.iter().find(|place| place.is_of(request))
    }

    fn pods(&self) -> Option<&Place> {
        self.places.iter().find(|place| place.is_pod())
    }
}

impl Asked<'_> {
    /// The ordinary authorization, before anything is told of what is stored: it is the gate that reads it, and not the caller.
    /// What nodes may do the gate has decided itself.
    fn may_at_all(&self, known: &Known<'_>, also_create: bool) -> Result<(), No> {
        let (caller, info) = (self.caller, self.head.info());
        if matches!(caller.kind, Kind::Node(_)) {
            return Ok(());
        }
        let verbs = [Some(&info.verb), also_create.then_some(&Verb::Create)];
        for verb in verbs.into_iter().flatten() {
            if !known.allows(Review::of_request(&caller.user, info, Some(verb)))? {
                let refused = RequestInfo {
                    verb: verb.clone(),
                    target: info.target.clone(),
                };
                let decision = Decision::deny(Reason::None, Evidence::Rule(Rule::AnnotationsValidated));
                let rejection = authorizer::rejection(caller, &refused, &decision);
                // It is upstream that has refused it.
                return Err(Rejection {
                    rule: None,
                    ..rejection
                }
                .into());
            }
        }
        Ok(())
    }

    /// Whether the caller holds the right to all of these.
    fn may_use(&self, uses: &Uses, known: &Known<'_>) -> Result<(), No> {
        let mut unanswered = Vec::new();
        // Who acts as somebody has no more power than its own, unless the configuration says so.
        let actor = self.caller.actor.as_ref();
        let actor = actor.filter(|actor| actor.semantics == Semantics::Intersection);
        let users = [Some(&self.caller.user), actor.map(|actor| &actor.user)];
        let users = users.into_iter().flatten();
        for ((key, value), user) in uses.iter().flat_map(|used| users.clone().map(move |user| (used, user))) {
            let review = review(user, key, value);
            match known.answer(&review) {
                Some(true) => {}
                Some(false) => {
                    let value = clip(value, RECOGNISABLE);
                    let why = format!(
                        "user {} may not use validated annotation {key}={value}",
                        quote(&user.name)
                    );
                    return Err(self.refuse(why).into());
                }
                None => unanswered.push(review),
            }
        }
        match unanswered.as_slice() {
            [] => Ok(()),
            _ => Err(No::Reviews(unanswered)),
        }
    }

    fn refuse(&self, why: impl std::fmt::Display) -> Rejection {
        let ResourceRequest { resource, name, .. } = self.request;
        let subject = match name.as_str() {
            "" => resource.to_string(),
            name => format!("{resource} {}", quote(name)),
        };
        let message = format!("{subject} is forbidden: {why}");
        Rejection::forbidden(message, Details::of(resource, name)).by(Rule::AnnotationsValidated)
    }

    /// What is wrong with what the client has sent.
    fn malformed(&self, kind: &str, fault: Fault) -> Rejection {
        match fault {
            Fault::Unreadable(why) => Rejection::bad_request(why),
            Fault::Invalid(cause) => Rejection::invalid(kind, &self.request.name, *cause, 1),
        }
    }
}

/// As the proposal asks: the key is the name, and the value the subresource.
fn review(user: &Arc<User>, key: &str, value: &str) -> Review {
    let action = ResourceAction {
        verb: "use".to_owned(),
        group: "authorization.k8s.io".to_owned(),
        resource: "validatedannotations".to_owned(),
        subresource: value.to_owned(),
        name: key.to_owned(),
        ..ResourceAction::default()
    };
    Review::new(user, action)
}

#[cfg(test)]
mod tests;
