use http::{Method, Request};
use test_case::test_case;

use super::*;
use crate::{
    caller::{Leave, Semantics, User},
    quarantine::{self, Entry, Target},
};

/// As a configuration for 1.36 makes it.
pub(super) const GATE: Authorizer = Authorizer {
    nodes: Fallback::Deny,
    seeds: None,
    node_rules: NodeRules {
        selectors: true,
        trust_bundles: false,
        pod_certificates: false,
        service_accounts: Some(true),
        events_group: true,
    },
    modes: Modes::UPSTREAM,
    bootstrap: Fallback::Upstream,
    others: Fallback::Deny,
    extra: ExtraRules::NONE,
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
#[test_case("GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews"; "self review by get")]
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
    let allowed = "allow no rule has an opinion, callers.nodes.fallback decides";
    for target in [
        "/metrics",
        "/api/v1/nodes",
        "/api/v1/namespaces/ns/secrets/s1",
        "/apis/apps/v1/deployments",
    ] {
        assert_eq!(decide(&gate, node(), "GET", target), allowed);
        assert!(
            decide(&gate, other(), "GET", target).starts_with("forbid"),
            "others are apart"
        );
    }
    assert_eq!(
        decide(&gate, node(), "GET", "/version"),
        "allow rule everyone/discovery"
    );
    assert_eq!(
        decide(&gate, node(), "GET", "/api/v1/nodes/n1"),
        "allow rule node/nodes"
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
        let denied = gate
            .authorize(user.into(), head, Quarantine::nobody(), &Snapshot::default())
            .unwrap_err();
        let reason = Reason::Text("nobody lets it act as somebody else");
        assert_eq!(denied.decision().reason, reason);
    }
}

/// Whoever was let is judged as the one it acts as.
#[test]
fn an_actor_is_judged_as_its_subject() {
    let request = Request::get("/version").header("acting-as", "system:node:n1").body(());
    let head = Head::read(request.unwrap().into_parts().0).unwrap();
    let leave = Leave::Delegation(0);
    let acted = Caller::acted(node(), &other().into(), leave, Semantics::Intersection);
    let judged = GATE.authorize(acted, head, Quarantine::nobody(), &Snapshot::default());
    assert!(judged.is_ok());
}

/// Everything to everybody, but for what is refused before.
fn generous() -> Authorizer {
    let rule = |target| ExtraRule {
        verbs: vec!["*".into()],
        target,
    };
    let all = || vec!["*".to_owned()];
    let everything = vec![
        rule(ExtraTarget::Paths(all())),
        rule(ExtraTarget::Resources(ExtraResources {
            groups: all(),
            resources: all(),
            names: Vec::new(),
            namespaces: Vec::new(),
        })),
    ];
    Authorizer {
        bootstrap: Fallback::Deny,
        extra: ExtraRules {
            nodes: everything.clone(),
            bootstrap: everything.clone(),
            others: everything,
        },
        ..GATE
    }
}

#[test_case("GET", "/version" => "allow rule everyone/discovery"; "what everybody may")]
#[test_case("GET", "/api/v1/nodes/n1" => "allow rule node/nodes"; "what nodes may")]
#[test_case("GET", "/metrics" => "allow extraRules.nodes[0]"; "a path")]
#[test_case("GET", "/api/v1/nodes" => "allow extraRules.nodes[1]"; "what a rule has a reason against")]
#[test_case("GET", "/api/v1/namespaces/ns/secrets/s1" => "allow extraRules.nodes[1]"; "what the graph does not lead to")]
fn extra_rules_come_last(method: &str, target: &str) -> String {
    decide(&generous(), node(), method, target)
}

#[test]
fn extra_rules_are_for_one_kind_of_caller() {
    let target = "/api/v1/namespaces/ns/secrets/s1";
    assert_eq!(
        decide(&generous(), other(), "GET", target),
        "allow extraRules.others[1]"
    );
    let only = |extra: ExtraRules| Authorizer { extra, ..generous() };
    let rules = generous().extra;
    let nodes = only(ExtraRules {
        nodes: rules.nodes,
        ..ExtraRules::NONE
    });
    assert!(decide(&nodes, node(), "GET", target).starts_with("allow"));
    assert!(decide(&nodes, other(), "GET", target).starts_with("forbid"));
    let joining = User {
        name: "system:bootstrap:abcdef".into(),
        groups: vec!["system:bootstrappers".into()],
        ..User::default()
    };
    let joining = Caller::with_token(joining, &crate::caller::Token::new("abcdef.0123456789abcdef"));
    let bootstrap = only(ExtraRules {
        bootstrap: rules.bootstrap,
        ..ExtraRules::NONE
    });
    for (gate, verdict) in [(&bootstrap, Verdict::Allow), (&nodes, Verdict::Deny)] {
        let head = head("GET", target);
        let decision = gate.decide(Attributes {
            caller: &joining,
            info: head.info(),
            impersonates: false,
            quarantine: Quarantine::nobody(),
            graph: &Snapshot::default(),
        });
        assert_eq!(decision.verdict, verdict, "{decision:?}");
    }
}

/// Nothing that the configuration says lets pass whom an operator has stopped: no fallback, extra rule, named master or dry run.
#[test]
fn quarantine_comes_first() {
    let mut gate = Authorizer {
        nodes: Fallback::Upstream,
        others: Fallback::Upstream,
        masters: vec!["system:node:n1".to_owned()],
        ..generous()
    };
    gate.modes.dry_run();
    let entry = Entry {
        target: Target::Node("n1".to_owned()),
        mode: quarantine::Mode::Deny,
        reason: "ticket 4711".to_owned(),
        by: "alice".to_owned(),
        since: jiff::Timestamp::UNIX_EPOCH,
        until: None,
    };
    let quarantine: Quarantine = [entry].into_iter().collect();
    let master = User {
        groups: vec!["system:nodes".into(), "system:masters".into()],
        ..node()
    };
    for user in [node(), master] {
        for target in [
            "/metrics",
            "/version",
            "/api/v1/nodes/n1",
            "/api/v1/namespaces/ns/secrets/s",
        ] {
            let denied = gate.authorize(
                user.clone().into(),
                head("GET", target),
                &quarantine,
                &Snapshot::default(),
            );
            let denied = gate.condone(denied.unwrap_err()).unwrap_err();
            let told = explain(denied.decision(), denied.caller(), denied.head().info());
            assert_eq!(
                told,
                "node n1 is in quarantine (Deny), by alice: ticket 4711: the caller is in quarantine"
            );
            let rejection = Rejection::from(denied);
            assert_eq!(rejection.rule, Some(Rule::CallersQuarantine));
            assert!(!rejection.message.contains("4711"), "{}", rejection.message);
        }
    }
    // What was allowed before is not any more.
    let allowed = gate.authorize(
        node().into(),
        head("GET", "/version"),
        Quarantine::nobody(),
        &Snapshot::default(),
    );
    let allowed = allowed.unwrap();
    assert!(allowed.holds(Quarantine::nobody()).is_ok());
    let rejection = allowed.holds(&quarantine).unwrap_err();
    assert_eq!(
        (rejection.code.as_u16(), rejection.rule),
        (403, Some(Rule::CallersQuarantine))
    );
    assert!(rejection.log.unwrap().contains("ticket 4711"));
}

#[test]
fn extra_rules_undo_no_refusal_that_is_meant() {
    let gate = generous();
    let master = User {
        groups: vec!["system:nodes".into(), "system:masters".into()],
        ..node()
    };
    assert!(decide(&gate, master, "GET", "/metrics").starts_with("forbid rule callers/masters"));
    let request = Request::get("/metrics").header("impersonate-user", "weaker").body(());
    let head = Head::read(request.unwrap().into_parts().0).unwrap();
    assert!(
        gate.authorize(node().into(), head, Quarantine::nobody(), &Snapshot::default())
            .is_err()
    );
    let nameless = User {
        name: "system:node:".into(),
        ..node()
    };
    assert!(decide(&gate, nameless.clone(), "GET", "/metrics").starts_with("forbid rule node/name"));
    // No other rule can be asked about it.
    let mut dry = gate.clone();
    dry.modes.dry_run();
    assert!(decide(&dry, nameless, "GET", "/metrics").starts_with("forbid rule node/name"));
    let own = Authorizer {
        caller_known_upstream: false,
        ..gate
    };
    let review = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    assert!(decide(&own, node(), "POST", review).starts_with("forbid rule everyone/self-reviews"));
}

#[test_case("GET", "/api/v1/namespaces/ns/secrets/s2" =>
    r#"secrets "s2" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "ns": no relationship found between node 'n1' and this object"#; "named")]
#[test_case("GET", "/api/v1/nodes" =>
    r#"nodes is forbidden: User "system:node:n1" cannot list resource "nodes" in API group "" at the cluster scope: node 'n1' cannot read all nodes, only its own Node object"#; "cluster scope")]
#[test_case("GET", "/api/v1/nodes/x'%22%3Cy" =>
    r#"nodes "x'\"<y" is forbidden: User "system:node:n1" cannot get resource "nodes" in API group "" at the cluster scope: node 'n1' cannot read 'x'"<y', only its own Node object"#; "quotes are the reasons own")]
#[test_case("PUT", "/apis/coordination.k8s.io/v1/namespaces/x/leases/l/status" =>
    r#"leases.coordination.k8s.io "l" is forbidden: User "system:node:n1" cannot update resource "leases/status" in API group "coordination.k8s.io" in the namespace "x": can only access leases in the "kube-node-lease" system namespace"#; "group and subresource")]
#[test_case("DELETE", "/api/v1/nodes/n1" =>
    r#"nodes "n1" is forbidden: User "system:node:n1" cannot delete resource "nodes" in API group "" at the cluster scope"#; "no reason")]
#[test_case("OPTIONS", "/api/v1/nodes" =>
    r#"nodes is forbidden: User "system:node:n1" cannot  resource "nodes" in API group "" at the cluster scope"#; "no verb")]
#[test_case("GET", "/metrics" =>
    r#"forbidden: User "system:node:n1" cannot get path "/metrics""#; "path")]
#[test_case("GET", "/a%3Cb%3E&c" =>
    r#"forbidden: User "system:node:n1" cannot get path "/a&lt;b&gt;&amp;c""#; "escaped")]
fn message(method: &str, target: &str) -> String {
    refusal(node(), method, target).message.into_owned()
}

#[test]
fn details_name_the_object() {
    let details = *refusal(node(), "GET", "/apis/storage.k8s.io/v1/volumeattachments/va/status")
        .details
        .unwrap();
    assert_eq!(details.name, "va");
    assert_eq!(details.group, "storage.k8s.io");
    assert_eq!(details.kind, "volumeattachments");
}

/// Nodes whose names would matter to whoever puts texts together carelessly.
#[test_case("system:node:", "unknown node for user \"system:node:\""; "no name")]
#[test_case("system:node:a'b", "no relationship found between node 'a'b' and this object"; "quote")]
#[test_case("system:node:a\"<b", "no relationship found between node 'a\"<b' and this object"; "double quote")]
fn odd_nodes(user: &str, reason: &str) {
    let user = User {
        name: user.into(),
        ..node()
    };
    let refusal = refusal(user, "GET", "/api/v1/namespaces/ns/secrets/s1");
    assert!(refusal.message.ends_with(&format!(": {reason}")), "{}", refusal.message);
}

#[test]
fn a_path_that_was_found_is_told() {
    let (caller, head) = (node().into(), head("GET", "/api/v1/namespaces/ns/secrets/s1"));
    let told = |path: Option<&str>| {
        let rule = Rule::NodeSecrets;
        let path = path.map(str::to_owned);
        explain(&Decision::allow(Evidence::Related { rule, path }), &caller, head.info())
    };
    assert_eq!(told(None), "rule node/secrets, by the graph");
    assert_eq!(
        told(Some("node n1 ← secret s1")),
        "rule node/secrets, by the graph: node n1 ← secret s1"
    );
}

fn refusal(user: User, method: &str, target: &str) -> Rejection {
    let denied = GATE.authorize(
        user.into(),
        head(method, target),
        Quarantine::nobody(),
        &Snapshot::default(),
    );
    denied.unwrap_err().into()
}

fn decide(gate: &Authorizer, user: User, method: &str, target: &str) -> String {
    let caller = user.into();
    let head = head(method, target);
    let decision = gate.decide(Attributes {
        caller: &caller,
        info: head.info(),
        impersonates: head.wish().is_some(),
        quarantine: Quarantine::nobody(),
        graph: &Snapshot::default(),
    });
    format!("{} {}", decision.annotation(), explain(&decision, &caller, head.info()))
}

pub(super) fn head(method: &str, target: &str) -> Head {
    let request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).unwrap())
        .uri(target)
        .body(())
        .unwrap();
    Head::read(request.into_parts().0).unwrap()
}

pub(super) fn node() -> User {
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
