//! What every authenticated user may do: the cluster roles that Kubernetes binds to `system:authenticated`.
//!
//! Follows `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go` (1.36): `system:discovery`,
//! `system:public-info-viewer` and `system:basic-user`. The Node authorizer does not grant these; nodes have them
//! through RBAC, which the gate does not run.

use super::{Attributes, extra::is_path};
use crate::{
    api::{Verb, names},
    decision::{Decision, Evidence, Reason},
    request::{ResourceRequest, Target},
    rules::Rule,
};

/// Paths that may be read. A trailing `*` stands for any rest, as in RBAC.
const DISCOVERY_PATHS: &[&str] = &[
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
];

/// Reviews about oneself; they store nothing.
const SELF_REVIEW_RESOURCES: &[(&str, &str)] = &[
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
];

/// A decision, or nothing where these roles say nothing.
pub(super) fn decide(attributes: Attributes<'_>, caller_known_upstream: bool) -> Option<Decision> {
    let Attributes { caller, info, .. } = attributes;
    if !caller.user.in_group(names::AUTHENTICATED_GROUP) {
        return None;
    }
    match &info.target {
        Target::Path(path) if info.verb == Verb::Get && is_discovery(path) => {
            Some(Decision::allow(Evidence::Rule(Rule::EveryoneDiscovery)))
        }
        Target::Resource(request) if info.verb == Verb::Create && is_self_review(request) => {
            Some(if caller_known_upstream {
                Decision::allow(Evidence::Rule(Rule::EveryoneSelfReviews))
            } else {
                Decision::deny(
                    Reason::Text("upstream sees the gate instead of the caller and would answer about the gate"),
                    Evidence::Rule(Rule::EveryoneSelfReviews),
                )
            })
        }
        _ => None,
    }
}

fn is_discovery(path: &str) -> bool {
    DISCOVERY_PATHS.iter().any(|pattern| is_path(pattern, path))
}

/// Any version and any name, as a role without resource names has it; but no subresource.
fn is_self_review(request: &ResourceRequest) -> bool {
    let is = |(group, resource): &(&str, &str)| request.resource.is(group, resource);
    request.subresource.is_empty() && SELF_REVIEW_RESOURCES.iter().any(is)
}
