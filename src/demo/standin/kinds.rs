//! The kinds the stand-in serves: one table, one row a kind. Routes, discovery and the store all
//! read it; nothing else names a resource.

use Scope::{Cluster, Namespaced};

/// Whether objects of a kind live in a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    Cluster,
    Namespaced,
}

/// One row of the table.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) plural: &'static str,
    pub(super) kind: &'static str,
    pub(super) scope: Scope,
    pub(super) short: &'static [&'static str],
    pub(super) subresources: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
}

/// Every kind served; the rows of a group stand together.
#[rustfmt::skip]
pub(super) const KINDS: &[Kind] = &[
    row("", "pods", "Pod", Namespaced, &["po"], &["eviction", "status"]),
    row("", "nodes", "Node", Cluster, &["no"], STATUS),
    row("", "secrets", "Secret", Namespaced, &[], &[]),
    row("", "configmaps", "ConfigMap", Namespaced, &["cm"], &[]),
    row("", "services", "Service", Namespaced, &["svc"], STATUS),
    row("", "endpoints", "Endpoints", Namespaced, &["ep"], &[]),
    row("", "serviceaccounts", "ServiceAccount", Namespaced, &["sa"], &[]),
    row("", "persistentvolumes", "PersistentVolume", Cluster, &["pv"], STATUS),
    row("", "persistentvolumeclaims", "PersistentVolumeClaim", Namespaced, &["pvc"], STATUS),
    row("", "namespaces", "Namespace", Cluster, &["ns"], STATUS),
    row("", "events", "Event", Namespaced, &["ev"], &[]),
    row("coordination.k8s.io", "leases", "Lease", Namespaced, &[], &[]),
    row("storage.k8s.io", "csinodes", "CSINode", Cluster, &[], &[]),
    row("storage.k8s.io", "csidrivers", "CSIDriver", Cluster, &[], &[]),
    row("storage.k8s.io", "volumeattachments", "VolumeAttachment", Cluster, &[], STATUS),
    row("resource.k8s.io", "resourceclaims", "ResourceClaim", Namespaced, &[], STATUS),
    row("resource.k8s.io", "resourceslices", "ResourceSlice", Cluster, &[], &[]),
    row("certificates.k8s.io", "certificatesigningrequests", "CertificateSigningRequest", Cluster,
        &["csr"], &["approval", "status"]),
    row("node.k8s.io", "runtimeclasses", "RuntimeClass", Cluster, &[], &[]),
    row("events.k8s.io", "events", "Event", Namespaced, &["ev"], &[]),
    review("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    review("authentication.k8s.io", "tokenreviews", "TokenReview"),
    review("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    review("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
];

const STATUS: &[&str] = &["status"];
const STORED: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
const REVIEWED: &[&str] = &["create"];

impl Kind {
    /// The kind served at a path's group, version and plural.
    pub(super) fn at(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        KINDS
            .iter()
            .find(|k| k.group == group && k.version == version && k.plural == plural)
    }

    /// The kind an object says it is.
    pub(super) fn named(api_version: &str, kind: &str) -> Option<&'static Self> {
        KINDS.iter().find(|k| k.kind == kind && k.api_version() == api_version)
    }

    /// Group and version as objects write them: `v1`, `coordination.k8s.io/v1`.
    pub(super) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Plural and group as messages write them: `pods`, `leases.coordination.k8s.io`.
    pub(super) fn qualified(&self) -> String {
        match self.group {
            "" => self.plural.to_owned(),
            group => format!("{}.{group}", self.plural),
        }
    }

    pub(super) fn namespaced(&self) -> bool {
        self.scope == Namespaced
    }

    /// Whether the kind is answered on the spot, and never stored.
    pub(super) fn is_review(&self) -> bool {
        self.verbs == REVIEWED
    }

    /// Whether `status` is written through its own subresource only.
    pub(super) fn has_status(&self) -> bool {
        self.subresources.contains(&"status")
    }
}

const fn row(
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    scope: Scope,
    short: &'static [&'static str],
    subresources: &'static [&'static str],
) -> Kind {
    Kind {
        group,
        version: "v1",
        plural,
        kind,
        scope,
        short,
        subresources,
        verbs: STORED,
    }
}

const fn review(group: &'static str, plural: &'static str, kind: &'static str) -> Kind {
    Kind {
        verbs: REVIEWED,
        ..row(group, plural, kind, Cluster, &[], &[])
    }
}
