//! What every node may do, whichever it is: the cluster role `system:node`, without what the rules for single resources
//! have taken over.
//!
//! Follows `NodeRules` in `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go` (1.36).

use super::{NodeRules, Opinion};
use crate::{api::Verb, decision::Reason, request::ResourceRequest};

/// A rule as RBAC knows one. It is for any version, namespace and name, and not for subresources that it does not name.
struct Rule {
    verbs: &'static [Verb],
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
}

const READ: &[Verb] = &[Verb::Get, Verb::List, Verb::Watch];
const WRITE_EVENTS: &[Verb] = &[Verb::Create, Verb::Update, Verb::Patch];

const ALWAYS: &[Rule] = &[
    // Reviews; they store nothing.
    rule(&[Verb::Create], "authentication.k8s.io", "tokenreviews", ""),
    rule(&[Verb::Create], "authorization.k8s.io", "localsubjectaccessreviews", ""),
    rule(&[Verb::Create], "authorization.k8s.io", "subjectaccessreviews", ""),
    rule(READ, "", "services", ""),
    rule(WRITE_EVENTS, "", "events", ""),
    rule(&[Verb::Get], "", "endpoints", ""),
    // A node renews its certificate. NodeRestriction looks at the name in it.
    rule(
        &[Verb::Create, Verb::Get, Verb::List, Verb::Watch],
        "certificates.k8s.io",
        "certificatesigningrequests",
        "",
    ),
    rule(READ, "storage.k8s.io", "csidrivers", ""),
    rule(READ, "node.k8s.io", "runtimeclasses", ""),
];

const EVENTS_GROUP: &[Rule] = &[rule(WRITE_EVENTS, "events.k8s.io", "events", "")];

const TRUST_BUNDLES: &[Rule] = &[rule(READ, "certificates.k8s.io", "clustertrustbundles", "")];

/// Nodes and pods of anybody. NodeRestriction looks at what is written.
const WITHOUT_SELECTORS: &[Rule] = &[
    rule(
        &[
            Verb::Create,
            Verb::Get,
            Verb::List,
            Verb::Watch,
            Verb::Update,
            Verb::Patch,
        ],
        "",
        "nodes",
        "",
    ),
    rule(&[Verb::Update, Verb::Patch], "", "nodes", "status"),
    rule(
        &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Delete],
        "",
        "pods",
        "",
    ),
    rule(&[Verb::Update, Verb::Patch], "", "pods", "status"),
    rule(&[Verb::Create], "", "pods", "eviction"),
];

pub(super) fn judge(rules: &NodeRules, verb: &Verb, request: &ResourceRequest) -> Opinion<'static> {
    let allowed = [
        (true, ALWAYS),
        (rules.events_group, EVENTS_GROUP),
        (rules.trust_bundles, TRUST_BUNDLES),
        (!rules.selectors, WITHOUT_SELECTORS),
    ]
    .into_iter()
    .any(|(applies, table)| applies && table.iter().any(|rule| rule.matches(verb, request)));
    if allowed {
        Opinion::Allow
    } else {
        Opinion::None(Reason::None)
    }
}

const fn rule(verbs: &'static [Verb], group: &'static str, resource: &'static str, subresource: &'static str) -> Rule {
    Rule {
        verbs,
        group,
        resource,
        subresource,
    }
}

impl Rule {
    fn matches(&self, verb: &Verb, request: &ResourceRequest) -> bool {
        request.resource.is(self.group, self.resource)
            && request.subresource == self.subresource
            && self.verbs.contains(verb)
    }
}
