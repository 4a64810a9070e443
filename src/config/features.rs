//! Feature gates by their upstream names, with the default each has in the Kubernetes release upstream runs.

use std::{fmt, str::FromStr};

use crate::authorizer::NodeRules;

/// A supported release, e.g. `1.36`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct KubernetesVersion {
    minor: u32,
}

/// Which gates are on, and what else depends on the release.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Features {
    /// `AllowParsingUserUIDFromCertAuth`: a client certificate may carry a UID.
    pub certificate_uid: bool,
    /// `RemoteRequestHeaderUID`: upstream reads a UID from its front proxy.
    pub front_proxy_uid: bool,
    /// What nodes may do.
    pub node_rules: NodeRules,
    /// `ServiceAccountNodeAudienceRestriction`: nodes get tokens only for audiences that volumes of the pod are for.
    pub token_audiences: bool,
    /// `AllowInsecureKubeletCertificateSigningRequests`: nodes may ask for certificates of other nodes.
    pub any_certificate: bool,
    /// `ConstrainedImpersonation`: upstream knows rights to impersonate for some requests only.
    pub constrained_impersonation: bool,
    /// `NodeRestrictionPods`: the extended rules on pods are enforced. Upstream has proposed it, and no release has it.
    pub restrict_pods: bool,
}

/// Why a gate cannot be set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unsettable {
    /// Upstream refuses to start with another value than this.
    Locked(bool),
    /// It came with this release.
    NotYet(KubernetesVersion),
    Unknown,
}

/// A gate: its name, its history as far as it concerns the releases that are supported, and where its value goes.
struct Gate {
    name: &'static str,
    /// The first release that has it.
    since: u32,
    /// The first release in which it is on by default.
    on_since: u32,
    /// The first release in which it cannot be set any more.
    locked_since: u32,
    field: fn(&mut Features) -> &mut bool,
}

/// In no release yet.
const NEVER: u32 = u32::MAX;
/// The first release whose nodes may write events in group `events.k8s.io`. No gate is for that.
const EVENTS_GROUP_SINCE: u32 = 35;

const GATES: &[Gate] = &[
    Gate {
        name: "AllowInsecureKubeletCertificateSigningRequests",
        since: 31,
        on_since: NEVER,
        locked_since: NEVER,
        field: |features| &mut features.any_certificate,
    },
    Gate {
        name: "AllowParsingUserUIDFromCertAuth",
        since: 33,
        on_since: 33,
        locked_since: NEVER,
        field: |features| &mut features.certificate_uid,
    },
    Gate {
        name: "AuthorizeNodeWithSelectors",
        since: 31,
        on_since: 32,
        locked_since: 34,
        field: |features| &mut features.node_rules.selectors,
    },
    Gate {
        name: "ClusterTrustBundle",
        since: 27,
        on_since: NEVER,
        locked_since: NEVER,
        field: |features| &mut features.node_rules.trust_bundles,
    },
    Gate {
        name: "ConstrainedImpersonation",
        since: 35,
        on_since: 36,
        locked_since: NEVER,
        field: |features| &mut features.constrained_impersonation,
    },
    Gate {
        name: "KubeletServiceAccountTokenForCredentialProviders",
        since: 33,
        on_since: 34,
        locked_since: NEVER,
        field: |features| features.node_rules.service_accounts.get_or_insert(false),
    },
    Gate {
        name: "NodeRestrictionPods",
        since: 0,
        on_since: NEVER,
        locked_since: NEVER,
        field: |features| &mut features.restrict_pods,
    },
    Gate {
        name: "PodCertificateRequest",
        since: 34,
        on_since: NEVER,
        locked_since: NEVER,
        field: |features| &mut features.node_rules.pod_certificates,
    },
    Gate {
        name: "RemoteRequestHeaderUID",
        since: 32,
        on_since: 33,
        locked_since: NEVER,
        field: |features| &mut features.front_proxy_uid,
    },
    Gate {
        name: "ServiceAccountNodeAudienceRestriction",
        since: 32,
        on_since: 33,
        locked_since: NEVER,
        field: |features| &mut features.token_audiences,
    },
];

impl KubernetesVersion {
    pub const OLDEST: Self = Self { minor: 32 };
    pub const NEWEST: Self = Self { minor: 36 };
}

impl Features {
    /// The defaults of a release.
    pub fn of(version: KubernetesVersion) -> Self {
        let mut features = Self {
            certificate_uid: false,
            front_proxy_uid: false,
            node_rules: NodeRules {
                selectors: false,
                trust_bundles: false,
                pod_certificates: false,
                service_accounts: None,
                events_group: version.minor >= EVENTS_GROUP_SINCE,
            },
            token_audiences: false,
            any_certificate: false,
            constrained_impersonation: false,
            restrict_pods: false,
        };
        for gate in GATES.iter().filter(|gate| gate.since <= version.minor) {
            *(gate.field)(&mut features) = gate.default(version);
        }
        features
    }

    /// Sets a gate by name, if the release lets anybody.
    pub(super) fn set(&mut self, version: KubernetesVersion, name: &str, on: bool) -> Result<(), Unsettable> {
        let gate = GATES.iter().find(|gate| gate.name == name).ok_or(Unsettable::Unknown)?;
        let default = gate.default(version);
        if version.minor < gate.since {
            return Err(Unsettable::NotYet(KubernetesVersion { minor: gate.since }));
        }
        if version.minor >= gate.locked_since && on != default {
            return Err(Unsettable::Locked(default));
        }
        *(gate.field)(self) = on;
        Ok(())
    }

    pub(super) fn names() -> Vec<&'static str> {
        GATES.iter().map(|gate| gate.name).collect()
    }
}

impl Gate {
    fn default(&self, version: KubernetesVersion) -> bool {
        version.minor >= self.on_since
    }
}

impl FromStr for KubernetesVersion {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok()).ok_or(())?;
        let version = Self { minor };
        (Self::OLDEST..=Self::NEWEST)
            .contains(&version)
            .then_some(version)
            .ok_or(())
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

#[cfg(test)]
mod tests;
