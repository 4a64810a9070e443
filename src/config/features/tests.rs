use http::{Method, Request};
use test_case::test_case;

use super::*;
use crate::{
    authorizer::{Attributes, Authorizer, ExtraRules, Fallback, explain},
    caller::{Caller, User},
    graph::Snapshot,
    quarantine::Quarantine,
    request::Head,
    rules::Modes,
};

const NO_REASON: &str = "forbid no rule has an opinion, callers.nodes.fallback decides";
const UNRELATED: &str = "no relationship found between node 'n1' and this object";
const TOKENS: &str = "can only create tokens for individual service accounts";

/// What differs between the releases, oldest first.
#[test_case("POST", "/apis/events.k8s.io/v1/namespaces/ns/events",
    [NO_REASON, NO_REASON, NO_REASON, "allow", "allow"]; "events of the newer group")]
#[test_case("POST", "/api/v1/namespaces/ns/events", ["allow"; 5]; "events")]
#[test_case("GET", "/api/v1/namespaces/ns/serviceaccounts/sa",
    [TOKENS, "not allowed to get service accounts", UNRELATED, UNRELATED, UNRELATED]; "service account")]
#[test_case("GET", "/api/v1/nodes", ["node 'n1' cannot read all nodes, only its own Node object"; 5]; "nodes")]
#[test_case("GET", "/api/v1/namespaces/ns/pods/p", [UNRELATED; 5]; "pod")]
#[test_case("GET", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c", [UNRELATED; 5]; "resource claim")]
#[test_case("POST", "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests", [NO_REASON; 5]; "pod certificate request")]
#[test_case("GET", "/apis/certificates.k8s.io/v1beta1/clustertrustbundles", [NO_REASON; 5]; "trust bundles")]
fn by_default(method: &str, target: &str, expected: [&str; 5]) {
    for (version, expected) in versions().zip(expected) {
        let decided = decide(Features::of(version), method, target);
        assert!(matches(&decided, expected), "{version}: {decided}");
    }
}

/// What a gate changes where it can be set to this, oldest release first; an empty text where it cannot.
#[test_case("AuthorizeNodeWithSelectors", false, "GET", "/api/v1/nodes", ["allow", "allow", "", "", ""]; "nodes")]
#[test_case("AuthorizeNodeWithSelectors", false, "GET", "/api/v1/pods", ["allow", "allow", "", "", ""]; "pods")]
#[test_case("ClusterTrustBundle", true, "GET", "/apis/certificates.k8s.io/v1beta1/clustertrustbundles", ["allow"; 5]; "trust bundles")]
#[test_case("KubeletServiceAccountTokenForCredentialProviders", true, "GET", "/api/v1/namespaces/ns/serviceaccounts/sa",
    ["", UNRELATED, UNRELATED, UNRELATED, UNRELATED]; "service account")]
#[test_case("KubeletServiceAccountTokenForCredentialProviders", false, "GET", "/api/v1/namespaces/ns/serviceaccounts/sa",
    ["", "not allowed to get service accounts", "not allowed to get service accounts", "not allowed to get service accounts",
     "not allowed to get service accounts"]; "no service account")]
#[test_case("PodCertificateRequest", true, "POST", "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests",
    ["", "", "allow", "allow", "allow"]; "pod certificate request")]
fn by_gate(gate: &str, on: bool, method: &str, target: &str, expected: [&str; 5]) {
    for (version, expected) in versions().zip(expected) {
        let mut features = Features::of(version);
        let set = features.set(version, gate, on);
        assert_eq!(set.is_ok(), !expected.is_empty(), "{version}: {set:?}");
        if set.is_ok() {
            let decided = decide(features, method, target);
            assert!(matches(&decided, expected), "{version}: {decided}");
        }
    }
}

#[test]
fn gates_are_in_order() {
    assert!(Features::names().is_sorted());
}

fn versions() -> impl Iterator<Item = KubernetesVersion> {
    (KubernetesVersion::OLDEST.minor..=KubernetesVersion::NEWEST.minor).map(|minor| KubernetesVersion { minor })
}

fn matches(decided: &str, expected: &str) -> bool {
    match expected {
        "allow" => decided.starts_with("allow"),
        NO_REASON => decided == NO_REASON,
        reason => decided.starts_with("forbid") && decided.ends_with(&format!(": {reason}")),
    }
}

fn decide(features: Features, method: &str, target: &str) -> String {
    let gate = Authorizer {
        nodes: Fallback::Deny,
        seeds: None,
        node_rules: features.node_rules,
        modes: Modes::UPSTREAM,
        bootstrap: Fallback::Deny,
        others: Fallback::Deny,
        extra: ExtraRules::NONE,
        masters: Vec::new(),
        caller_known_upstream: true,
    };
    let caller = Caller::from(User {
        name: "system:node:n1".to_owned(),
        groups: vec!["system:nodes".to_owned(), "system:authenticated".to_owned()],
        ..User::default()
    });
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = Request::builder().method(method).uri(target).body(()).unwrap();
    let head = Head::read(request.into_parts().0).unwrap();
    let decision = gate.decide(Attributes {
        caller: &caller,
        info: head.info(),
        impersonates: false,
        quarantine: Quarantine::nobody(),
        graph: &Snapshot::default(),
    });
    format!("{} {}", decision.annotation(), explain(&decision, &caller, head.info()))
}
