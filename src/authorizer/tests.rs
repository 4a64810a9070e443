use http::{Method, Request};
use test_case::test_case;

use super::*;
use crate::caller::User;

const GATE: Authorizer = Authorizer {
    nodes: Fallback::Deny,
    bootstrap: Fallback::Upstream,
    others: Fallback::Deny,
    masters: Vec::new(),
    caller_known_upstream: true,
};

#[test_case("GET", "/version"; "version")]
#[test_case("GET", "/version/"; "version with slash")]
#[test_case("GET", "/healthz"; "healthz")]
#[test_case("GET", "/api"; "core versions")]
#[test_case("GET", "/api/v1"; "core resources")]
#[test_case("GET", "/apis/certificates.k8s.io/v1"; "group resources")]
#[test_case("GET", "/openapi/v3/apis/apps/v1"; "openapi")]
fn discovery_is_allowed(method: &str, target: &str) {
    assert_eq!(decide(&GATE, node(), method, target), "allow rule everyone/discovery");
}

#[test_case("/apis/authentication.k8s.io/v1/selfsubjectreviews")]
#[test_case("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")]
#[test_case("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews")]
#[test_case("/apis/authorization.k8s.io/v1beta1/selfsubjectaccessreviews"; "any version")]
fn self_reviews_are_allowed(target: &str) {
    assert_eq!(
        decide(&GATE, node(), "POST", target),
        "allow rule everyone/self-reviews"
    );
    let own = Authorizer {
        caller_known_upstream: false,
        ..GATE
    };
    assert!(
        decide(&own, node(), "POST", target).starts_with("forbid rule everyone/self-reviews: upstream sees the gate")
    );
}

#[test_case("HEAD", "/version"; "head is another verb")]
#[test_case("get", "/version"; "so is get in lower case")]
#[test_case("POST", "/version")]
#[test_case("GET", "/versions"; "longer path")]
#[test_case("GET", "/metrics")]
#[test_case("GET", "/logs/kubelet.log")]
#[test_case("GET", "/livez/ping"; "single checks")]
#[test_case("GET", "/apisx"; "prefix of a prefix")]
#[test_case("GET", "/api/v1/nodes/n1"; "own node")]
#[test_case("GET", "/api/v1/namespaces/ns/secrets/s1"; "secret")]
#[test_case("GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews"; "self review by get")]
#[test_case("POST", "/apis/authentication.k8s.io/v1/tokenreviews"; "review of another")]
#[test_case("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews/x/status"; "subresource of a self review")]
#[test_case("POST", "/apis/example.com/v1/selfsubjectreviews"; "self review of another group")]
fn everything_else_is_refused(method: &str, target: &str) {
    let refused = "forbid no rule has an opinion, callers.nodes.fallback decides";
    assert_eq!(decide(&GATE, node(), method, target), refused);
}

#[test]
fn a_node_that_is_not_authenticated_has_no_such_rights() {
    let user = User {
        groups: vec!["system:nodes".into(), "system:unauthenticated".into()],
        ..node()
    };
    assert!(decide(&GATE, user, "GET", "/version").starts_with("forbid"));
}

#[test]
fn fallback_upstream_allows_what_no_rule_knows() {
    let gate = Authorizer {
        nodes: Fallback::Upstream,
        ..GATE
    };
    let target = "/api/v1/namespaces/ns/secrets/s1";
    let allowed = "allow no rule has an opinion, callers.nodes.fallback decides";
    assert_eq!(decide(&gate, node(), "GET", target), allowed);
    assert!(
        decide(&gate, other(), "GET", target).starts_with("forbid"),
        "others are apart"
    );
}

#[test]
fn others_are_refused_unless_forwarded() {
    let refused = "forbid no rule has an opinion, callers.others decides: this gate serves nodes only";
    assert_eq!(decide(&GATE, other(), "GET", "/version"), refused);
    let gate = Authorizer {
        bootstrap: Fallback::Upstream,
        others: Fallback::Upstream,
        ..GATE
    };
    assert!(decide(&gate, other(), "GET", "/api/v1/pods").starts_with("allow"));
}

#[test]
fn masters_pass_only_by_name() {
    let gate = Authorizer {
        nodes: Fallback::Upstream,
        bootstrap: Fallback::Upstream,
        others: Fallback::Upstream,
        masters: vec!["admin".into()],
        ..GATE
    };
    let master = |user: User| User {
        groups: [user.groups, vec!["system:masters".into()]].concat(),
        ..user
    };
    let admin = User {
        name: "admin".into(),
        ..other()
    };
    assert!(decide(&gate, master(other()), "GET", "/version").starts_with("forbid rule callers/masters"));
    assert!(decide(&gate, master(node()), "GET", "/version").starts_with("forbid rule callers/masters"));
    assert!(decide(&gate, master(admin), "GET", "/version").starts_with("allow"));
}

#[test]
fn nobody_impersonates() {
    let gate = Authorizer {
        nodes: Fallback::Upstream,
        bootstrap: Fallback::Upstream,
        others: Fallback::Upstream,
        ..GATE
    };
    for user in [node(), other()] {
        let request = Request::get("/version").header("impersonate-user", "weaker").body(());
        let head = Head::read(request.unwrap().into_parts().0).unwrap();
        let denied = gate.authorize(user.into(), head).unwrap_err();
        assert_eq!(denied.decision().reason, "this gate does not let callers impersonate");
    }
}

#[test_case("GET", "/api/v1/namespaces/ns/secrets/s2" =>
    r#"secrets "s2" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "ns""#; "named")]
#[test_case("GET", "/api/v1/nodes" =>
    r#"nodes is forbidden: User "system:node:n1" cannot list resource "nodes" in API group "" at the cluster scope"#; "cluster scope")]
#[test_case("PUT", "/apis/coordination.k8s.io/v1/namespaces/x/leases/l/status" =>
    r#"leases.coordination.k8s.io "l" is forbidden: User "system:node:n1" cannot update resource "leases/status" in API group "coordination.k8s.io" in the namespace "x""#; "group and subresource")]
#[test_case("OPTIONS", "/api/v1/nodes" =>
    r#"nodes is forbidden: User "system:node:n1" cannot  resource "nodes" in API group "" at the cluster scope"#; "no verb")]
#[test_case("GET", "/metrics" =>
    r#"forbidden: User "system:node:n1" cannot get path "/metrics""#; "path")]
#[test_case("GET", "/a%3Cb%3E&c" =>
    r#"forbidden: User "system:node:n1" cannot get path "/a&lt;b&gt;&amp;c""#; "escaped")]
fn message(method: &str, target: &str) -> String {
    let denied = GATE.authorize(node().into(), head(method, target)).unwrap_err();
    Rejection::from(denied).message.into_owned()
}

fn decide(gate: &Authorizer, user: User, method: &str, target: &str) -> String {
    let caller = user.into();
    let head = head(method, target);
    let decision = gate.decide(Attributes {
        caller: &caller,
        info: head.info(),
        impersonates: head.impersonates(),
    });
    format!("{} {}", decision.annotation(), decision.explain())
}

fn head(method: &str, target: &str) -> Head {
    let request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).unwrap())
        .uri(target)
        .body(())
        .unwrap();
    Head::read(request.into_parts().0).unwrap()
}

fn node() -> User {
    User {
        name: "system:node:n1".into(),
        groups: vec!["system:nodes".into(), "system:authenticated".into()],
        ..User::default()
    }
}

fn other() -> User {
    User {
        name: "someone".into(),
        groups: vec!["system:authenticated".into()],
        ..User::default()
    }
}
