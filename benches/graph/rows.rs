//! The questions, those of `e2e/oracle/authorizer/bench.go`, and how the gate is asked.

use anyhow::{Context as _, Result};
use http::Request;
use scopegate::{
    authorizer::{Attributes, Authorizer, ExtraRules, Fallback},
    caller::{Caller, User},
    config::{Features, KubernetesVersion},
    decision::Verdict,
    graph::Snapshot,
    quarantine::Quarantine,
    request::Head,
};

/// A question with a known answer.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) asked: Asked,
}

/// Who asks for what.
pub(super) struct Asked {
    pub(super) caller: Caller,
    pub(super) head: Head,
}

/// The name, and behind the colon what is asked. Those that are not to be allowed say so.
const ROWS: &[&str] = &[
    "allowed secret via pod: GET /api/v1/namespaces/ns0/secrets/secret0-pod0-node0",
    "allowed shared secret: GET /api/v1/namespaces/ns0/secrets/secret0-shared",
    "allowed configmap: GET /api/v1/namespaces/ns0/configmaps/configmap0-pod0-node0",
    "allowed pvc: GET /api/v1/namespaces/ns0/persistentvolumeclaims/pvc0-pod0-node0",
    "allowed pv: GET /api/v1/persistentvolumes/pv0-pod0-node0-ns0",
    "allowed pv secret: GET /api/v1/namespaces/ns0/secrets/secret-pv0-pod0-node0-ns0",
    "foreign secret refused: GET /api/v1/namespaces/ns0/secrets/secret0-pod0-node1",
    "unknown secret refused: GET /api/v1/namespaces/ns0/secrets/secret0-unknown",
    "allowed attachment: GET /apis/storage.k8s.io/v1/volumeattachments/attachment0-node0",
    "foreign attachment refused: GET /apis/storage.k8s.io/v1/volumeattachments/attachment0-node1",
    "own pod get: GET /api/v1/namespaces/ns0/pods/pod0-node0",
    "pods list with selector: GET /api/v1/pods?fieldSelector=spec.nodeName%3Dnode0",
    "lease update: PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node0",
    "node status patch: PATCH /api/v1/nodes/node0/status",
];

/// All of them, in the name of node0.
pub(super) fn rows() -> Result<Vec<Row>> {
    read(ROWS, &node("node0"))
}

/// Those that are written like these, in somebody's name.
pub(super) fn read(rows: &[&'static str], caller: &Caller) -> Result<Vec<Row>> {
    let rows = rows.iter().map(|row| {
        let (name, asked) = row.split_once(": ").context("a row without a question")?;
        let verdict = if name.ends_with("refused") {
            Verdict::Deny
        } else {
            Verdict::Allow
        };
        let asked = Asked::by(caller.clone(), asked)?;
        Ok(Row { name, verdict, asked })
    });
    rows.collect()
}

/// Who decides.
pub(super) fn gate() -> Authorizer {
    Authorizer {
        nodes: Fallback::Deny,
        seeds: None,
        node_rules: Features::of(KubernetesVersion::NEWEST).node_rules,
        modes: scopegate::rules::Modes::DEFAULT,
        bootstrap: Fallback::Upstream,
        others: Fallback::Deny,
        extra: ExtraRules::NONE,
        masters: Vec::new(),
        caller_known_upstream: true,
    }
}

fn node(name: &str) -> Caller {
    Caller::from(User {
        name: format!("system:node:{name}"),
        groups: vec!["system:nodes".to_owned(), "system:authenticated".to_owned()],
        ..User::default()
    })
}

impl Asked {
    /// By a node.
    pub(super) fn new(name: &str, asked: &str) -> Result<Self> {
        Self::by(node(name), asked)
    }

    /// A method and a target, e.g. `GET /version`.
    pub(super) fn by(caller: Caller, asked: &str) -> Result<Self> {
        let (method, target) = asked.split_once(' ').context("a request without a target")?;
        let request = Request::builder().method(method).uri(target).body(())?;
        let head = Head::read(request.into_parts().0).with_context(|| asked.to_owned())?;
        Ok(Self { caller, head })
    }

    pub(super) fn attributes<'a>(&'a self, graph: &'a Snapshot) -> Attributes<'a> {
        Attributes {
            caller: &self.caller,
            info: self.head.info(),
            impersonates: self.head.wish().is_some(),
            quarantine: Quarantine::nobody(),
            graph,
        }
    }
}
