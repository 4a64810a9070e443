//! Which writes of nodes are allowed only because the NodeRestriction admission plugin looks at them.
//!
//! Follows `Admit` in `plugin/pkg/admission/noderestriction/admission.go` (1.36). The plugin lets pass a
//! few writes of these resources without a look; here all of them count.

use crate::{api::Verb, request::ResourceRequest};

/// What a node reads whose write nobody could look at. Upstream's plugin knows nodes by their user.
pub(super) const MISSING: &str = "upstream sees the gate instead of the node and would not restrict this write to the node, \
                                  and this gate cannot judge yet what nodes write";

const RESTRICTED: &[(&str, &str)] = &[
    ("", "nodes"),
    ("", "persistentvolumeclaims"),
    ("", "pods"),
    ("", "serviceaccounts"),
    ("certificates.k8s.io", "certificatesigningrequests"),
    ("certificates.k8s.io", "podcertificaterequests"),
    ("coordination.k8s.io", "leases"),
    ("resource.k8s.io", "resourceslices"),
    ("storage.k8s.io", "csinodes"),
];

/// Subresources included.
pub(super) fn applies(verb: &Verb, request: &ResourceRequest) -> bool {
    let is = |(group, resource): &(&str, &str)| request.resource.is(group, resource);
    !matches!(verb, Verb::Get | Verb::List | Verb::Watch) && RESTRICTED.iter().any(is)
}
