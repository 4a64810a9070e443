//! What only the gate narrows, and what becomes of a refusal in each mode.

use serde_json::json;
use test_case::test_case;

use super::*;
use crate::{
    graph::{CertificateSigningRequest, PersistentVolume, Pod, Snapshot, Store, Watched},
    rules::{Mode, Modes, Rule},
};

const NARROWED: &[Rule] = &[
    Rule::NodeCertificateSigningRequests,
    Rule::NodeEndpoints,
    Rule::NodeServices,
];

fn apply<T: Watched>(store: &mut Store, object: serde_json::Value) {
    store.apply(&serde_json::from_value::<T>(object).unwrap());
}

/// n1 has a pod in ns that uses endpoints e1, and a volume that uses e2 of another namespace; its request is r1. n2 has those of 2.
fn cluster() -> std::sync::Arc<Snapshot> {
    let mut store = Store::default();
    for node in ["1", "2"] {
        let pod = json!({
            "metadata": {"namespace": format!("ns{node}"), "name": "p", "uid": format!("u{node}")},
            "spec": {"nodeName": format!("n{node}"), "volumes": [
                {"name": "a", "glusterfs": {"endpoints": "e1", "path": "/"}},
                {"name": "b", "persistentVolumeClaim": {"claimName": "c"}},
            ]},
        });
        apply::<Pod>(&mut store, pod);
        let volume = json!({
            "metadata": {"name": format!("v{node}")},
            "spec": {
                "claimRef": {"namespace": format!("ns{node}"), "name": "c"},
                "glusterfs": {"endpoints": "e2", "endpointsNamespace": format!("storage{node}")},
            },
        });
        apply::<PersistentVolume>(&mut store, volume);
        let request = json!({
            "metadata": {"name": format!("r{node}")},
            "spec": {"username": format!("system:node:n{node}"), "groups": ["system:nodes", "system:authenticated"]},
        });
        apply::<CertificateSigningRequest>(&mut store, request);
    }
    store.publish()
}

fn gate(mode: Mode) -> Authorizer {
    let mut gate = GATE;
    gate.modes = Modes::UPSTREAM;
    NARROWED.iter().for_each(|rule| gate.modes.set(*rule, mode));
    gate
}

fn decide(gate: &Authorizer, method: &str, target: &str) -> String {
    let (caller, head) = (Caller::from(node()), head(method, target));
    let decision = gate.decide(Attributes {
        caller: &caller,
        info: head.info(),
        impersonates: false,
        quarantine: Quarantine::nobody(),
        graph: &cluster(),
    });
    format!("{} {}", decision.annotation(), explain(&decision, &caller, head.info()))
}

const CSR: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const MISSING: &str = "no relationship found between node 'n1' and this object";

#[test_case("GET", "/api/v1/namespaces/ns1/endpoints/e1" => "allow rule node/endpoints, by the graph"; "endpoints of a pod")]
#[test_case("GET", "/api/v1/namespaces/storage1/endpoints/e2" => "allow rule node/endpoints, by the graph"; "endpoints of a volume")]
#[test_case("GET", "/api/v1/namespaces/ns1/endpoints/e3" => format!("forbid rule node/endpoints: {MISSING}"); "endpoints of nothing")]
#[test_case("GET", "/api/v1/namespaces/ns2/endpoints/e1" => format!("forbid rule node/endpoints: {MISSING}"); "endpoints of another's pod")]
#[test_case("GET", "/api/v1/namespaces/storage2/endpoints/e2" => format!("forbid rule node/endpoints: {MISSING}"); "endpoints of another's volume")]
#[test_case("GET", "/api/v1/namespaces/ns1/endpoints" => "forbid no rule has an opinion, callers.nodes.fallback decides"; "all endpoints")]
#[test_case("GET", &format!("{CSR}/r1") => "allow rule node/certificatesigningrequests, by the graph"; "own request")]
#[test_case("GET", &format!("{CSR}?fieldSelector=metadata.name%3Dr1&watch=1") => "allow rule node/certificatesigningrequests, by the graph"; "watch of the own request")]
#[test_case("GET", &format!("{CSR}/r2") => format!("forbid rule node/certificatesigningrequests: {MISSING}"); "another's request")]
#[test_case("GET", CSR => "forbid rule node/certificatesigningrequests: No Object name found"; "all requests")]
#[test_case("POST", CSR => "allow rule node/static"; "a new request")]
#[test_case("GET", "/api/v1/namespaces/ns1/services" => "allow rule node/services, by the graph"; "services beside the pods")]
#[test_case("GET", "/api/v1/namespaces/ns1/services/x?watch=1" => "allow rule node/services, by the graph"; "one of them")]
#[test_case("GET", "/api/v1/namespaces/ns2/services" => format!("forbid rule node/services: {MISSING}"); "services elsewhere")]
#[test_case("GET", "/api/v1/services" => "forbid rule node/services: can only read services of one namespace at a time"; "all services")]
fn narrowed(method: &str, target: &str) -> String {
    decide(&gate(Mode::Enforce), method, target)
}

/// Off is what upstream does.
#[test]
fn not_narrowed() {
    for target in ["/api/v1/namespaces/ns2/endpoints/e1", CSR, "/api/v1/services"] {
        assert_eq!(
            decide(&gate(Mode::Off), "GET", target),
            "allow rule node/static",
            "{target}"
        );
    }
}

/// What only the gate refuses, upstream would allow: so it is not left to upstream.
#[test]
fn a_fallback_does_not_undo_what_only_the_gate_refuses() {
    let mut gate = gate(Mode::Enforce);
    gate.nodes = Fallback::Upstream;
    assert!(decide(&gate, "GET", CSR).starts_with("forbid rule node/certificatesigningrequests"));
    assert!(decide(&gate, "GET", "/api/v1/secrets").starts_with("allow no rule has an opinion"));
}

#[test_case(Mode::Enforce, "forbid rule")]
#[test_case(Mode::Warn, "allow would be refused, but the rule's mode is Warn: rule")]
#[test_case(Mode::Audit, "allow would be refused, but the rule's mode is Audit: rule")]
#[test_case(Mode::Off, "allow would be refused, but the rule's mode is Off: rule")]
fn upstreams_rules_in(mode: Mode, expected: &str) {
    let mut gate = GATE;
    gate.modes.set(Rule::NodeSecrets, mode);
    let decided = decide(&gate, "GET", "/api/v1/namespaces/ns1/secrets/s");
    assert_eq!(decided, format!("{expected} node/secrets: {MISSING}"));
    // No other rule is softer for it.
    assert!(decide(&gate, "GET", "/api/v1/namespaces/ns1/configmaps/c").starts_with("forbid rule node/configmaps"));
}

/// A proof that a request was allowed comes of a refusal only where its rule is not enforced.
#[test]
fn only_what_is_not_enforced_is_condoned() {
    let mut gate = GATE;
    let denied = |gate: &Authorizer, target: &str| {
        let asked = (Caller::from(node()), head("GET", target));
        gate.authorize(asked.0, asked.1, Quarantine::nobody(), &cluster())
            .unwrap_err()
    };
    let (secret, other) = (
        "/api/v1/namespaces/ns1/secrets/s",
        "/api/v1/namespaces/ns1/configmaps/c",
    );
    assert!(gate.condone(denied(&gate, secret)).is_err());
    gate.modes.set(Rule::NodeSecrets, Mode::Audit);
    let condoned = gate.condone(denied(&gate, secret)).unwrap();
    assert_eq!(condoned.decision().condoned, Some(Mode::Audit));
    assert!(gate.condone(denied(&gate, other)).is_err());
}

/// Who is nobody's node is turned away in a dry run, too.
#[test]
fn a_dry_run_does_not_let_others_in() {
    let mut gate = GATE;
    gate.modes.dry_run();
    let master = User {
        groups: vec!["system:masters".to_owned(), "system:nodes".to_owned()],
        ..node()
    };
    for user in [master, User::default()] {
        let (caller, head) = (Caller::from(user), head("GET", "/api/v1/secrets"));
        let denied = gate
            .authorize(caller, head, Quarantine::nobody(), &cluster())
            .unwrap_err();
        assert!(gate.condone(denied).is_err());
    }
    assert!(decide(&gate, "GET", "/api/v1/secrets").starts_with("allow would be refused"));
}
