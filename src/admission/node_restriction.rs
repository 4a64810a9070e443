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
mod recorded;
mod shape;
mod token;

pub(super) use self::recorded::Finds;
pub use self::{
    extended::{AllowedAddress, Extended, Keys},
    mirror::MirrorPodOwner,
};
use super::{Content, Edit, Known, Look, No, Operation, Write, read, write::unsupported_patch};
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

/// The rules that can be against what a node writes there.
fn about(node: &str, request: &ResourceRequest) -> &'static [Rule] {
    if node.is_empty() {
        return &[Rule::RestrictionName];
    }
    match (request.resource.group.as_str(), request.resource.resource.as_str()) {
        ("", "nodes") => &[
            Rule::RestrictionNodes,
            Rule::RestrictionNodeConfigSource,
            Rule::RestrictionNodeLabels,
            Rule::RestrictionNodeOwners,
            Rule::RestrictionNodeTaints,
            Rule::NodesAddresses,
        ],
        ("" | "events.k8s.io", "events") => &[Rule::EventsObject, Rule::EventsSource],
        ("", "persistentvolumeclaims") => &[Rule::RestrictionPersistentVolumeClaims],
        ("", "pods") => match request.subresource.as_str() {
            "" => &[
                Rule::RestrictionPods,
                Rule::RestrictionMirrorOwner,
                Rule::RestrictionMirrorPods,
                Rule::RestrictionMirrorReferences,
                Rule::PodsMirrorAnnotations,
                Rule::PodsMirrorFinalizers,
                Rule::PodsMirrorLabels,
                Rule::PodsMirrorNamespace,
            ],
            "status" => &[
                Rule::RestrictionPods,
                Rule::RestrictionMirrorAnnotation,
                Rule::RestrictionPodClaims,
                Rule::RestrictionPodLabels,
                Rule::PodsStatusAnnotations,
                Rule::PodsStatusFinalizers,
                Rule::PodsStatusLabels,
            ],
            _ => &[Rule::RestrictionPods],
        },
        ("", "serviceaccounts") => &[Rule::RestrictionTokenAudiences, Rule::RestrictionTokens],
        ("certificates.k8s.io", "certificatesigningrequests") => &[Rule::RestrictionCertificates],
        ("certificates.k8s.io", "podcertificaterequests") => &[Rule::RestrictionPodCertificates],
        ("coordination.k8s.io", "leases") => &[Rule::RestrictionLeases],
        ("resource.k8s.io", "resourceslices") => &[Rule::RestrictionResourceSlices],
        ("storage.k8s.io", "csinodes") => &[Rule::RestrictionCsiNodes],
        _ => &[],
    }
}

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

    /// Whether anything that a node writes there can be refused.
    pub(super) fn enforces(&self, node: &str, request: &ResourceRequest, modes: &Modes) -> bool {
        about(node, request).iter().any(|rule| modes.of(*rule) == Mode::Enforce)
    }

    /// How much of a write has to be seen.
    pub(super) fn look(&self, node: &str, verb: &Verb, request: &ResourceRequest, modes: &Modes) -> Look {
        if about(node, request).iter().all(|rule| modes.of(*rule) == Mode::Off) {
            return Look::Away;
        }
        let look = match (look(node, verb, request), Operation::of(verb)) {
            // No rule of upstream is about them.
            (Look::Away, Some(Operation::Create | Operation::Update)) if is_event(request) => Look::AtBody,
            (look, _) => look,
        };
        match look {
            Look::AtBody if !self.enforces(node, request, modes) => Look::AtSmallBody,
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
pub(super) mod tests;
