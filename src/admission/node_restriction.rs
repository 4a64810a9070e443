//! The NodeRestriction admission plugin: a node may change only what is its own. One switch by resource, one file for each.
//!
//! Follows `plugin/pkg/admission/noderestriction/admission.go` (1.36).

mod certificate;
mod claim;
mod extended;
mod labels;
mod mirror;
mod node;
mod owned;
mod pod;
mod read;
mod shape;
mod token;

pub use self::{
    extended::{AllowedAddress, Extended, Keys},
    mirror::MirrorPodOwner,
};
use super::{Content, Edit, Known, Look, No, Operation, Write, write::unsupported_patch};
use crate::{
    api::Verb,
    patch::Patch,
    rejection::Rejection,
    request::ResourceRequest,
    rules::{Mode, Modes, Rule},
};

/// What differs between releases and clusters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeRestriction {
    /// `ServiceAccountNodeAudienceRestriction`: tokens only for audiences that the pod's volumes are for.
    pub audiences: bool,
    /// `AllowInsecureKubeletCertificateSigningRequests`: nodes ask for certificates of any name.
    pub any_certificate: bool,
    /// `PodCertificateRequest`: nodes ask for certificates of their pods.
    pub pod_certificates: bool,
    /// Whether nodes may use server-side apply on what is judged by its content; upstream is then asked first what would come of it.
    pub apply: bool,
    pub mirror_pod_owner: MirrorPodOwner,
    pub extended: Extended,
}

/// How much of a write these rules look at.
fn look(node: &str, verb: &Verb, request: &ResourceRequest) -> Look {
    let Some(operation) = Operation::of(verb) else {
        return Look::Away;
    };
    let (resource, subresource) = (&request.resource, request.subresource.as_str());
    match (resource.group.as_str(), resource.resource.as_str(), operation) {
        // These pass bytes both ways; admission plugins that look at objects do not see them.
        ("", "nodes" | "pods", _) if CONNECTIONS.contains(&subresource) => Look::Away,
        ("", "pods", Operation::Create | Operation::Delete) if matches!(subresource, "" | "eviction") => Look::AtBody,
        ("", "pods", Operation::Update) if subresource == "status" => Look::AtBody,
        ("", "pods", _) => Look::AtHead,
        ("", "nodes", Operation::Create | Operation::Update) => Look::AtBody,
        ("", "nodes", _) => Look::AtHead,
        ("", "persistentvolumeclaims", Operation::Update) if subresource == "status" => Look::AtBody,
        ("", "persistentvolumeclaims", _) => Look::AtHead,
        ("", "serviceaccounts", Operation::Create) if subresource == "token" => Look::AtBody,
        ("coordination.k8s.io", "leases", Operation::Create) => Look::AtBody,
        ("coordination.k8s.io", "leases", _) => Look::AtHead,
        ("storage.k8s.io", "csinodes", Operation::Create) => Look::AtBody,
        ("storage.k8s.io", "csinodes", _) => Look::AtHead,
        ("resource.k8s.io", "resourceslices", Operation::Create | Operation::Delete) => Look::AtBody,
        // Server-side apply may create what is not there.
        ("resource.k8s.io", "resourceslices", Operation::Update) if *verb == Verb::Patch => Look::AtBody,
        ("resource.k8s.io", "resourceslices", Operation::DeleteCollection) => Look::AtHead,
        ("certificates.k8s.io", "certificatesigningrequests", Operation::Create) if subresource.is_empty() => {
            Look::AtBody
        }
        ("certificates.k8s.io", "certificatesigningrequests", Operation::Update) if *verb == Verb::Patch => {
            Look::AtBody
        }
        ("certificates.k8s.io", "podcertificaterequests", Operation::Create) if subresource.is_empty() => Look::AtBody,
        ("certificates.k8s.io", "podcertificaterequests", _) => Look::AtHead,
        // Whose name is not known may write nothing, whatever it is.
        _ if node.is_empty() => Look::AtHead,
        _ => Look::Away,
    }
}

/// A node; how much is looked at depends on its name only where it has none.
const ANY: &str = "any";

fn is_event(request: &ResourceRequest) -> bool {
    let resource = &request.resource;
    (resource.is("", "events") || resource.is("events.k8s.io", "events")) && request.subresource.is_empty()
}

const ABOUT_EVENTS: &[Rule] = &[Rule::EventsObject, Rule::EventsSource];
const CONNECTIONS: &[&str] = &["attach", "exec", "portforward", "proxy"];

/// Whether a patch changes only the parts that objects have. What the API server takes the object for stands beside them, and is
/// found in whatever case it is written.
fn stays_what_it_is(patch: &Patch<'_>) -> bool {
    patch.touches_only(&[&["metadata"], &["spec"], &["status"]])
}

impl NodeRestriction {
    /// Whether these rules have anything to say about a write of a node.
    pub fn looks_at(verb: &Verb, request: &ResourceRequest) -> bool {
        look(ANY, verb, request) != Look::Away
    }

    /// Whether any of these rules is enforced on a resource.
    pub(super) fn enforces(&self, request: &ResourceRequest, modes: &Modes) -> bool {
        if is_event(request) {
            ABOUT_EVENTS.iter().any(|rule| modes.of(*rule) == Mode::Enforce)
        } else {
            !modes.is_dry()
        }
    }

    /// How much of a write has to be seen. Events are looked at only for a rule that looks at them.
    pub(super) fn look(&self, node: &str, verb: &Verb, request: &ResourceRequest, modes: &Modes) -> Look {
        match look(node, verb, request) {
            Look::Away if is_event(request) && ABOUT_EVENTS.iter().any(|rule| modes.of(*rule) != Mode::Off) => {
                match Operation::of(verb) {
                    Some(Operation::Create | Operation::Update) => Look::AtBody,
                    _ => Look::Away,
                }
            }
            look => look,
        }
    }

    /// Whether a write may pass, and what has to be done to it first.
    pub(super) fn judge<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let request = write.request;
        if write.node.is_empty() {
            let user = crate::api::quote(&write.user.name);
            let why = format_args!("could not determine node from user {user}");
            write.refuse(Rule::RestrictionName, why)?;
            return Ok(Edit::default());
        }
        match (request.resource.group.as_str(), request.resource.resource.as_str()) {
            ("", "nodes") => self.node(write, known),
            ("" | "events.k8s.io", "events") => self.extended.event(write, known),
            ("", "persistentvolumeclaims") => self.claim(write, known),
            ("", "pods") => self.pod(write, known),
            ("", "serviceaccounts") => self.token(write, known),
            ("certificates.k8s.io", "certificatesigningrequests") => self.certificate(write),
            ("certificates.k8s.io", "podcertificaterequests") => self.pod_certificate(write, known),
            ("coordination.k8s.io", "leases") => self.lease(write),
            ("resource.k8s.io", "resourceslices") => self.slice(write, known),
            ("storage.k8s.io", "csinodes") => self.csi_node(write),
            _ => Ok(Edit::default()),
        }
    }

    /// Server-side apply is for those who have allowed it.
    fn takes(&self, write: &Write<'_>) -> Result<(), Rejection> {
        match write.content {
            Content::Apply(_) if !self.apply => Err(unsupported_patch()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
