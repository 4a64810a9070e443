//! Releases of Kubernetes, and the gates that can be set in them.

use std::{collections::BTreeMap, fs, ops::RangeInclusive};

use scopegate::{authorizer::Authorizer, config::Config, rules::Modes};
use serde_json::json;

use crate::random::Random;

#[derive(Clone, Debug)]
pub(super) struct Release {
    pub(super) minor: u32,
    gates: BTreeMap<&'static str, bool>,
}

/// Gates, and the releases in which they can be set.
const GATES: &[(&str, RangeInclusive<u32>)] = &[
    ("AuthorizeNodeWithSelectors", 32..=33),
    ("ClusterTrustBundle", 32..=36),
    ("KubeletServiceAccountTokenForCredentialProviders", 33..=36),
    ("PodCertificateRequest", 34..=36),
    (DRA, 32..=33),
];
/// Without it there are no slices to watch. The gate sees that when there are none, and so has no such gate.
const DRA: &str = "DynamicResourceAllocation";
const DRA_SINCE: u32 = 34;

/// The releases that there are rules for.
pub(super) const MINORS: &[u32] = &[32, 33, 34, 35, 36];

const CONFIGURATION: &str = "
apiVersion: scopegate.dev/v1alpha1
kind: GateConfiguration
serving: {address: '127.0.0.1:0', certFile: a, keyFile: a, clientCAFile: a}
admin: {address: '127.0.0.1:0'}
upstream: {kubeconfig: a, identity: {mode: FrontProxy, certFile: a, keyFile: a}}
";

impl Release {
    /// With one gate on.
    pub(super) fn with(minor: u32, gate: &'static str) -> Self {
        let gates = BTreeMap::from([(gate, true)]);
        Self { minor, gates }
    }

    /// With every other gate set, one way or the other.
    pub(super) fn some(random: &mut Random, minor: u32) -> Self {
        let settable = GATES.iter().filter(|(_, minors)| minors.contains(&minor));
        let set = settable.filter_map(|(gate, _)| Some((*gate, random.pick(&[None, None, Some(true), Some(false)])?)));
        let gates = set.collect();
        Self { minor, gates }
    }

    pub(super) fn has_slices(&self) -> bool {
        let default = self.minor >= DRA_SINCE;
        self.gates.get(DRA).copied().unwrap_or(default)
    }

    /// What the oracle is told.
    pub(super) fn line(&self) -> String {
        json!({"op": "gates", "version": format!("1.{}", self.minor), "gates": self.gates}).to_string()
    }

    /// As the gate makes it from its configuration.
    pub(super) fn authorizer(&self) -> Authorizer {
        let mut gates = self.gates.clone();
        gates.remove(DRA);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        let path = dir.path().join("gate.yaml");
        let text = format!(
            "{CONFIGURATION}kubernetesVersion: '1.{}'\nfeatureGates: {}\n",
            self.minor,
            json!(gates)
        );
        fs::write(&path, text).unwrap();
        let authorizer = Config::load(&path).unwrap().authorizer;
        // What only the gate has is not compared.
        Authorizer {
            modes: Modes::UPSTREAM,
            ..authorizer
        }
    }
}
