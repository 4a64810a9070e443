//! The Node authorizer: what a node may do, one function for each resource that has rules of its own.
//!
//! Follows `plugin/pkg/auth/authorizer/node/node_authorizer.go` (1.36; [`NodeRules`] has what differs in older releases).
//! As there, a node is never refused for good: a rule that does not allow a request has no opinion on it, and a reason.
//!
//! Where a write is allowed whatever it says, it is because NodeRestriction, in `admission`, looks at what it says.

mod static_rules;

use crate::{
    api::{Verb, names},
    decision::Reason,
    graph::{Key, Kind},
    request::{RequestInfo, ResourceRequest, Target},
    rules::{Mode, Modes, Rule},
};

/// What differs between releases, and between clusters of the same release.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NodeRules {
    /// `AuthorizeNodeWithSelectors`: a node reads its own Node and its own pods, and lists what it selects by its name.
    pub selectors: bool,
    /// `ClusterTrustBundle`: trust bundles may be read.
    pub trust_bundles: bool,
    /// `PodCertificateRequest`: certificates for pods may be asked for, and service accounts be read for it.
    pub pod_certificates: bool,
    /// `KubeletServiceAccountTokenForCredentialProviders`: service accounts may be read. Nothing where the release
    /// has no rule for it, and so no reason of its own.
    pub service_accounts: Option<bool>,
    /// Whether events may also be written in group `events.k8s.io`.
    pub events_group: bool,
}

/// What a rule says about a request, before anybody looks at the graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Opinion<'a> {
    Allow,
    /// Allow, if the graph leads from this object to the node, or to the seed.
    IfRelated(Key<'a>),
    /// The same, if the first step leads to an object of that kind.
    IfRelatedBy(Key<'a>, Kind),
    /// None; this is what to tell the client if nothing else allows it.
    None(Reason),
}

/// A request for a resource by a node that has a name.
#[derive(Clone, Copy)]
struct Asked<'a, 'n> {
    node: &'n str,
    verb: &'a Verb,
    request: &'a ResourceRequest,
}

impl NodeRules {
    /// The rule that applies, and what it says.
    pub(super) fn judge<'a>(&self, node: &str, info: &'a RequestInfo, modes: &Modes) -> (Rule, Opinion<'a>) {
        if node.is_empty() {
            return (Rule::NodeName, Opinion::None(Reason::UnknownNode));
        }
        let Target::Resource(request) = &info.target else {
            return (Rule::NodePaths, Opinion::None(Reason::None));
        };
        let verb = &info.verb;
        let asked = Asked { node, verb, request };
        let (rule, opinion) = self.by_resource(asked);
        match asked.extended() {
            Some((narrower, narrowed)) if opinion == Opinion::Allow && modes.of(narrower) != Mode::Off => {
                (narrower, narrowed)
            }
            _ => (rule, opinion),
        }
    }

    fn by_resource<'a>(&self, asked: Asked<'a, '_>) -> (Rule, Opinion<'a>) {
        let request = asked.request;
        match (request.resource.group.as_str(), request.resource.resource.as_str()) {
            ("", "secrets") => (Rule::NodeSecrets, asked.read_namespaced(Kind::Secret)),
            ("", "configmaps") => (Rule::NodeConfigMaps, asked.read_namespaced(Kind::ConfigMap)),
            ("", "pods") if self.selectors => (Rule::NodePods, asked.pod()),
            ("", "nodes") if self.selectors => (Rule::NodeNodes, asked.own_node()),
            ("", "serviceaccounts") => (Rule::NodeServiceAccounts, self.service_account(asked)),
            ("", "persistentvolumeclaims") => match request.subresource.as_str() {
                "status" => (
                    Rule::NodePersistentVolumeClaimStatus,
                    asked.update_status(Kind::PersistentVolumeClaim),
                ),
                _ => (Rule::NodePersistentVolumeClaims, asked.get(Kind::PersistentVolumeClaim)),
            },
            ("", "persistentvolumes") => (Rule::NodePersistentVolumes, asked.get(Kind::PersistentVolume)),
            ("coordination.k8s.io", "leases") => (Rule::NodeLeases, asked.lease()),
            ("resource.k8s.io", "resourceclaims") => (Rule::NodeResourceClaims, asked.get(Kind::ResourceClaim)),
            ("resource.k8s.io", "resourceslices") => (Rule::NodeResourceSlices, self.resource_slice(asked)),
            ("storage.k8s.io", "volumeattachments") => (Rule::NodeVolumeAttachments, asked.get(Kind::VolumeAttachment)),
            ("storage.k8s.io", "csinodes") => (Rule::NodeCsiNodes, asked.csi_node()),
            ("certificates.k8s.io", "podcertificaterequests") => {
                (Rule::NodePodCertificateRequests, self.pod_certificate_request(asked))
            }
            _ => (Rule::NodeStatic, static_rules::judge(self, asked.verb, request)),
        }
    }

    /// Reads came with [`Self::service_accounts`]; anything else is about tokens.
    fn service_account<'a>(&self, asked: Asked<'a, '_>) -> Opinion<'a> {
        match self.service_accounts {
            Some(on) if *asked.verb == Verb::Get && asked.request.subresource.is_empty() => {
                if on || self.pod_certificates {
                    asked.read_namespaced(Kind::ServiceAccount)
                } else {
                    no("not allowed to get service accounts")
                }
            }
            _ => asked.create_token(),
        }
    }

    fn resource_slice<'a>(&self, asked: Asked<'a, '_>) -> Opinion<'a> {
        if !asked.request.subresource.is_empty() {
            return no("cannot authorize ResourceSlice subresources");
        }
        match asked.verb {
            // NodeRestriction looks at whose it would be.
            Verb::Create => Opinion::Allow,
            Verb::Get | Verb::Update | Verb::Patch | Verb::Delete => asked.related(Kind::ResourceSlice),
            Verb::List | Verb::Watch | Verb::DeleteCollection if !self.selectors || asked.selects_own() => {
                Opinion::Allow
            }
            Verb::List | Verb::Watch | Verb::DeleteCollection => {
                no("can only list/watch/deletecollection resourceslices with nodeName field selector")
            }
            _ => no("only the following verbs are allowed for a ResourceSlice: \
                    get, watch, list, create, update, patch, delete, deletecollection"),
        }
    }

    fn pod_certificate_request<'a>(&self, asked: Asked<'a, '_>) -> Opinion<'a> {
        if !(self.pod_certificates && self.selectors) {
            return Opinion::None(Reason::None);
        }
        if !asked.request.subresource.is_empty() {
            return no("nodes may not access the status subresource of PodCertificateRequests");
        }
        match asked.verb {
            // NodeRestriction looks at whose it would be.
            Verb::Create => Opinion::Allow,
            Verb::Get => asked.related(Kind::PodCertificateRequest),
            Verb::List | Verb::Watch if asked.selects_own() => Opinion::Allow,
            Verb::List | Verb::Watch => no("can only list/watch podcertificaterequests with nodeName field selector"),
            _ => Opinion::None(Reason::PodCertificateRequestVerb),
        }
    }
}

impl<'a> Asked<'a, '_> {
    /// What upstream lets every node read, and was proposed to be narrowed to what is the node's.
    fn extended(self) -> Option<(Rule, Opinion<'a>)> {
        let request = self.request;
        Some(
            match (request.resource.group.as_str(), request.resource.resource.as_str()) {
                ("", "endpoints") => (Rule::NodeEndpoints, self.related(Kind::Endpoints)),
                ("", "services") => (
                    Rule::NodeServices,
                    match request.namespace.as_str() {
                        "" => no("can only read services of one namespace at a time"),
                        // The node's pods are in it, or not.
                        namespace => Opinion::IfRelated(Key::cluster(Kind::Namespace, namespace)),
                    },
                ),
                ("certificates.k8s.io", "certificatesigningrequests") if *self.verb != Verb::Create => (
                    Rule::NodeCertificateSigningRequests,
                    self.related(Kind::CertificateSigningRequest),
                ),
                _ => return None,
            },
        )
    }

    /// One object that is related to the node, by get or as a collection of one.
    fn read_namespaced(self, kind: Kind) -> Opinion<'a> {
        if !matches!(self.verb, Verb::Get | Verb::List | Verb::Watch) {
            return no("can only read resources of this type");
        }
        if !self.request.subresource.is_empty() {
            return no("cannot read subresource");
        }
        if self.request.namespace.is_empty() {
            return no("can only read namespaced object of this type");
        }
        self.related(kind)
    }

    fn get(self, kind: Kind) -> Opinion<'a> {
        if *self.verb != Verb::Get {
            return no("can only get individual resources of this type");
        }
        if !self.request.subresource.is_empty() {
            return no("cannot get subresource");
        }
        self.related(kind)
    }

    /// The reason promises more than is given: `get` is refused too.
    fn update_status(self, kind: Kind) -> Opinion<'a> {
        match self.verb {
            Verb::Update | Verb::Patch => self.related(kind),
            _ => no("can only get/update/patch this type"),
        }
    }

    fn create_token(self) -> Opinion<'a> {
        if *self.verb != Verb::Create || self.request.name.is_empty() {
            return no("can only create tokens for individual service accounts");
        }
        if self.request.subresource != "token" {
            return no("can only create token subresource of serviceaccount");
        }
        self.related(Kind::ServiceAccount)
    }

    /// On create the name is in the body, where NodeRestriction looks at it. Subresources are not looked at.
    fn lease(self) -> Opinion<'a> {
        if !self.is_kept_by_its_node() {
            return no("can only get, create, update, patch, or delete a node lease");
        }
        if self.request.namespace != names::NODE_LEASES {
            return no("can only access leases in the \"kube-node-lease\" system namespace");
        }
        if *self.verb != Verb::Create && self.request.name != self.node {
            return no("can only access node lease with the same name as the requesting node");
        }
        Opinion::Allow
    }

    /// On create the name is in the body, where NodeRestriction looks at it.
    fn csi_node(self) -> Opinion<'a> {
        if !self.is_kept_by_its_node() {
            return no("can only get, create, update, patch, or delete a CSINode");
        }
        if !self.request.subresource.is_empty() {
            return no("cannot authorize CSINode subresources");
        }
        if *self.verb != Verb::Create && self.request.name != self.node {
            return no("can only access CSINode with the same name as the requesting node");
        }
        Opinion::Allow
    }

    /// Reads go by the name and not by the graph: a kubelet looks for its Node before there is one. NodeRestriction looks
    /// at whose Node is written.
    fn own_node(self) -> Opinion<'a> {
        match (self.request.subresource.as_str(), self.verb) {
            ("", Verb::Create | Verb::Update | Verb::Patch) | ("status", Verb::Update | Verb::Patch) => Opinion::Allow,
            ("", Verb::Get | Verb::List | Verb::Watch) => match self.request.name.as_str() {
                name if name == self.node => Opinion::Allow,
                "" => Opinion::None(Reason::AllNodes),
                _ => Opinion::None(Reason::OtherNode),
            },
            _ => Opinion::None(Reason::None),
        }
    }

    /// NodeRestriction looks at whose pods are written.
    fn pod(self) -> Opinion<'a> {
        match (self.request.subresource.as_str(), self.verb) {
            ("", Verb::Get) => self.related(Kind::Pod),
            ("", Verb::List | Verb::Watch) if self.selects_own() => Opinion::Allow,
            ("", Verb::List | Verb::Watch) if !self.request.name.is_empty() => self.related(Kind::Pod),
            ("", Verb::List | Verb::Watch) => no("can only list/watch pods with spec.nodeName field selector"),
            ("", Verb::Create | Verb::Delete) | ("status", Verb::Update | Verb::Patch) | ("eviction", Verb::Create) => {
                Opinion::Allow
            }
            _ => Opinion::None(Reason::None),
        }
    }

    /// The namespace is that of the path, also where the kind has none: such an object is in no graph.
    fn related(self, kind: Kind) -> Opinion<'a> {
        match self.request.name.as_str() {
            "" => no("No Object name found"),
            name => Opinion::IfRelated(Key::new(kind, &self.request.namespace, name)),
        }
    }

    /// Whether a collection is narrowed to what belongs to the node.
    fn selects_own(self) -> bool {
        self.request.selectors.require("spec.nodeName", self.node)
    }

    /// The verbs for an object that a node has one of.
    fn is_kept_by_its_node(self) -> bool {
        matches!(
            self.verb,
            Verb::Get | Verb::Create | Verb::Update | Verb::Patch | Verb::Delete
        )
    }
}

fn no(reason: &'static str) -> Opinion<'static> {
    Opinion::None(Reason::Text(reason))
}

#[cfg(test)]
pub(super) mod tests;
