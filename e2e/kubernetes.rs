use std::{path::Path, process::Command};

use http::{Request, StatusCode};
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE, OWN};
use serde_json::{Value, json};
use test_case::test_case;

use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{Answer, FORWARD, scopegate, send},
};

const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get"];
const TARGETS: &[&str] = &[
    "/",
    "/api",
    "/api/",
    "/api/v1",
    "/apis",
    "/apis/apps",
    "/apis/apps/v1",
    "/apis/certificates.k8s.io/v1",
    "/healthz",
    "/livez",
    "/livez/ping",
    "/logs",
    "/metrics",
    "/openapi",
    "/openapi/v3",
    "/readyz",
    "/version",
    "/version/",
    "/versions",
    "/a%3Cb%3E",
    "/api/v1/nodes",
    "/api/v1/nodes/node-d",
    "/api/v1/nodes/node-d/",
    "/api/v1/nodes/node-d/status",
    "/api/v1/nodes?fieldSelector=metadata.name%3Dnode-d",
    "/api/v1/nodes?fieldSelector=metadata.name%3Dnode-d&watch=1&timeoutSeconds=1",
    "/api/v1/nodes?fieldSelector=metadata.name%3Dnode-d&limit=x",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/default/status",
    "/api/v1/namespaces/default/secrets",
    "/api/v1/namespaces/default/secrets/s",
    "/api/v1/namespaces/default/secrets/s?watch=true",
    "/api/v1/namespaces/default/pods?watch=false",
    "/api/v1/namespaces/default/pods?watch",
    "/api/v1/namespaces/default/pods/p/log",
    "/api/v1/namespaces/default/pods/p/exec?command=sh",
    "/api/v1/watch/nodes/node-d?timeoutSeconds=1",
    "/api/v1/watch/namespaces/default/pods",
    "/api/v1/proxy/nodes/node-d",
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-d",
    "/apis/example.com/v1/things/x",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews/x/y",
];

/// Whatever a node asks, the gate must answer as the API server with its Node authorizer does: the same code and, where it
/// refuses, the same words.
#[tokio::test]
async fn the_gate_answers_as_kube_apiserver_does() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    // Without it, an admission plugin that looks for it answers before NodeRestriction.
    let account = json!({"metadata": {"name": "default"}});
    cluster
        .create("/api/v1/namespaces/default/serviceaccounts", &account)
        .await;
    // A node that no other test knows: both ways must find the same.
    cluster.user("node-d", "system:node:node-d", Some("system:nodes"));
    let (_gate, through) = cluster.gate("differential", FRONT_PROXY, "").await;
    let text = std::fs::read_to_string(&through).unwrap();
    std::fs::write(&through, text.replace("node-a.", "node-d.")).unwrap();
    let mut different = Vec::new();
    let mut compared = 0;
    for method in METHODS {
        for target in TARGETS {
            let request = || {
                Request::builder()
                    .method(*method)
                    .uri(*target)
                    .header("content-type", "application/json")
            };
            let body = if ["POST", "PUT", "PATCH"].contains(method) {
                "{}"
            } else {
                ""
            };
            let direct = cluster.send("node-d", request(), body).await;
            let gated = send(&through, request(), body).await;
            compared += 1;
            if summary(&direct) != summary(&gated) && !stricter(method, &gated) {
                different.push(format!(
                    "{method} {target}\n  direct {}\n  gated  {}",
                    summary(&direct),
                    summary(&gated)
                ));
            }
        }
    }
    println!("{compared} requests compared");
    assert!(
        different.is_empty(),
        "{} of {compared} differ:\n{}",
        different.len(),
        different.join("\n")
    );
}

/// The one deliberate difference: kube-apiserver takes a lower-case `get` of a path that is not a resource for a GET, and
/// some of its handlers then answer. No client sends one; the gate refuses it.
fn stricter(method: &str, gated: &Answer) -> bool {
    method == "get" && gated.code == StatusCode::FORBIDDEN && gated.message().contains("cannot get path")
}

/// The code, and the whole answer where it is a refusal; other answers hold times and counters.
fn summary(answer: &Answer) -> String {
    match answer.code.as_u16() {
        403 => format!("403 {}", answer.body),
        code => code.to_string(),
    }
}

/// Refusals that come before any rule: a certificate of a stranger, and a body that is too large.
#[tokio::test]
async fn other_refusals_read_the_same_too() {
    let Some(cluster) = shared(Guard::None).await else {
        return;
    };
    let (_gate, through) = cluster.gate("refusals", FRONT_PROXY, "").await;
    let request = || Request::get("/version");
    let direct = cluster.send("stranger", request(), "").await;
    let gated = send(&cluster.stranger(&through), request(), "").await;
    assert_eq!(direct.code, StatusCode::UNAUTHORIZED);
    assert_eq!((gated.code, gated.json()), (direct.code, direct.json()));

    let target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let large = " ".repeat(3 * 1024 * 1024 + 1);
    let request = || Request::post(target).header("content-type", "application/json");
    let direct = cluster.send("node-a", request(), &large).await;
    let gated = send(&through, request(), &large).await;
    assert_eq!(direct.code, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!((gated.code, gated.json()), (direct.code, direct.json()));
}

/// Upstream takes the node for exactly the user it takes it for without the gate: name, groups, uid and extra.
#[test_case(FRONT_PROXY, "front-proxy"; "front proxy")]
#[test_case(IMPERSONATE, "impersonate"; "impersonate")]
#[tokio::test]
async fn upstream_sees_the_same_user(identity: &str, name: &str) {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    may_impersonate(&cluster).await;
    let (_gate, through) = cluster.gate(name, identity, "").await;
    let target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let request = || Request::post(target).header("content-type", "application/json");
    let direct = cluster.send("node-a", request(), &review).await.json();
    let gated = send(&through, request(), &review).await.json();
    let user = |answer: &Value| answer["status"]["userInfo"].clone();
    assert_eq!(user(&direct)["username"], "system:node:node-a");
    assert_eq!(user(&gated), user(&direct));
}

/// With `fallback: Upstream` a node does its work through the gate, and upstream's own guards say no where they must.
#[tokio::test]
async fn what_is_left_to_upstream_is_done_or_refused_there() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let (_gate, through) = cluster.gate("fallback", FRONT_PROXY, FORWARD).await;
    let ask = async |method: &str, target: &str, content_type: &str, body: Value| {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("content-type", content_type);
        send(&through, request, &body.to_string()).await
    };
    const JSON: &str = "application/json";
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}});
    let answer = ask("POST", "/api/v1/nodes", JSON, node).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    let status = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let strategic = "application/strategic-merge-patch+json";
    let answer = ask("PATCH", "/api/v1/nodes/node-a/status", strategic, status).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    assert_eq!(answer.json()["status"]["conditions"][0]["status"], "True");

    let watch = "/api/v1/nodes?fieldSelector=metadata.name%3Dnode-a&watch=true&timeoutSeconds=1";
    let answer = send(&through, Request::get(watch), "").await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    assert!(answer.body.starts_with("{\"type\":\"ADDED\""), "{}", answer.body);
    let protobuf = "application/vnd.kubernetes.protobuf";
    let answer = send(
        &through,
        Request::get("/api/v1/nodes/node-a").header("accept", protobuf),
        "",
    )
    .await;
    assert_eq!(answer.headers["content-type"], protobuf);
    assert!(answer.body.starts_with("k8s\0"), "{}", answer.body);

    let secret = "/api/v1/namespaces/default/secrets/of-another";
    let answer = send(&through, Request::get(secret), "").await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN);
    let reason = "no relationship found between node 'node-a' and this object";
    assert!(answer.message().ends_with(reason), "{}", answer.message());
    let other = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-b"}});
    let answer = ask("POST", "/api/v1/nodes", JSON, other).await;
    assert!(
        answer
            .message()
            .ends_with("node \"node-a\" is not allowed to modify node \"node-b\""),
        "{}",
        answer.message()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn check_finds_the_guards_behind_the_gate() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let printed = check(&cluster.configuration("check.yaml", FRONT_PROXY, ""));
    for part in [
        "identity mode FrontProxy (configured) works",
        "upstream runs the Node authorizer itself",
        "upstream runs NodeRestriction itself",
        "0 failed",
    ] {
        assert!(printed.contains(part), "missing {part} in\n{printed}");
    }
}

/// A cluster that gives nodes a broad role and runs neither guard; the probe leaves nothing behind.
#[tokio::test(flavor = "multi_thread")]
async fn check_finds_that_the_gate_is_the_only_guard() {
    let Some(cluster) = shared(Guard::None).await else {
        return;
    };
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "broad"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:node:scopegate-check"}],
    });
    cluster
        .create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding)
        .await;
    let printed = check(&cluster.configuration("check.yaml", FRONT_PROXY, ""));
    for part in [
        "upstream lets nodes read any secret: the gate is the only guard",
        "upstream does not run NodeRestriction; only the gate keeps nodes from writing what is not theirs",
    ] {
        assert!(printed.contains(part), "missing {part} in\n{printed}");
    }
    let probe = Request::get("/api/v1/nodes/scopegate-check-other");
    let probe = cluster.send("admin", probe, "").await;
    assert_eq!(probe.code, StatusCode::NOT_FOUND, "the dry run was stored");
}

/// Without rights to impersonate, check names each that is missing; the shipped manifest grants exactly these.
#[tokio::test(flavor = "multi_thread")]
async fn check_names_missing_rights_and_the_manifest_grants_them() {
    let Some(cluster) = shared(Guard::None).await else {
        return;
    };
    let config = cluster.configuration("impersonate-check.yaml", IMPERSONATE, "");
    let output = tokio::task::block_in_place(|| run_check(&config));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for part in [
        "identity mode Impersonate (configured) does not work",
        "the gate may not impersonate users \"system:node:scopegate-check\"",
        "the gate may not impersonate groups \"system:nodes\"",
        "the gate may not impersonate uids in authentication.k8s.io",
        "the gate may not impersonate userextras/authentication.kubernetes.io/credential-id",
        "the gate may not impersonate serviceaccounts in all namespaces: who acts as another gets 403",
        "the gate may not impersonate userextras/acting-as.scopegate.dev/actor in authentication.k8s.io",
        "acting as somebody else: 0 delegations, 0 deputies, and whom upstream lets; what both may do counts",
        "validated annotations of pods: nobody looks at them",
    ] {
        assert!(printed.contains(part), "missing {part} in\n{printed}");
    }
    may_impersonate(&cluster).await;
    let printed = check(&config);
    assert!(
        printed.contains("identity mode Impersonate (configured) works"),
        "{printed}"
    );
    cluster.grant(include_str!("../config/kubernetes/acting-as.yaml")).await;
    let printed = check(&config);
    let actor = "the gate may impersonate userextras/acting-as.scopegate.dev/actor";
    assert!(printed.contains(actor), "{printed}");
}

/// In mode Own nodes read with the gate's rights, so check looks at these.
#[tokio::test(flavor = "multi_thread")]
async fn check_looks_at_the_gates_own_rights() {
    let Some(cluster) = shared(Guard::None).await else {
        return;
    };
    cluster.grant(include_str!("../config/kubernetes/own.yaml")).await;
    let printed = check(&cluster.configuration("own-check.yaml", OWN, ""));
    for part in [
        "identity mode Own (configured) works: upstream sees \"scopegate\"",
        "the gate may get /openapi/v3",
        "the gate may do all that nodes may",
        "upstream sees only the gate",
    ] {
        assert!(printed.contains(part), "missing {part} in\n{printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_names_what_mode_own_lacks() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let config = cluster.configuration("own-check.yaml", OWN, "");
    let output = tokio::task::block_in_place(|| run_check(&config));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{printed}");
    let missing = "the gate may not create pods/eviction in all namespaces; see config/kubernetes/own.yaml";
    assert!(printed.contains(missing), "missing {missing} in\n{printed}");
}

/// What the gate lacks for the rules on events is an error if they are enforced, and nothing if they are off.
#[test_case("Enforce", "FAIL", "with events/object and events/source enforced, nodes that change events get 503"; "enforced")]
#[test_case("Warn", "warn", "events/object and events/source will not find what nodes change of events"; "recorded")]
#[test_case("Off", "", ""; "off")]
#[tokio::test(flavor = "multi_thread")]
async fn check_looks_at_events_for_the_rules_on_them(mode: &str, mark: &str, why: &str) {
    let Some(cluster) = shared(Guard::None).await else {
        return;
    };
    let modes = format!("rules: {{modes: {{events/object: {mode}, events/source: {mode}}}}}\n");
    let name = format!("events-{mode}");
    let config = cluster.configuration(&format!("{name}.yaml"), FRONT_PROXY, &modes);
    let printed = String::from_utf8(tokio::task::block_in_place(|| run_check(&config)).stdout).unwrap();
    let has = [
        "list events in all namespaces",
        "list events.events.k8s.io in all namespaces",
    ];
    for right in has {
        assert_eq!(
            printed.contains(&format!("the gate may {right}")),
            mode != "Off",
            "{printed}"
        );
    }
    cluster.user(&name, &name, None);
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("gate.kubeconfig", &format!("{name}.kubeconfig"))).unwrap();
    let printed = String::from_utf8(tokio::task::block_in_place(|| run_check(&config)).stdout).unwrap();
    for right in has {
        let line = printed
            .lines()
            .find(|line| line.contains(&format!("the gate may not {right}")));
        let line = line.unwrap_or_default();
        assert!(line.contains(why) && line.trim_start().starts_with(mark), "{printed}");
        assert_eq!(line.is_empty(), mode == "Off", "{printed}");
    }
}

async fn may_impersonate(cluster: &Cluster) {
    cluster
        .grant(include_str!("../config/kubernetes/impersonate.yaml"))
        .await;
}

fn check(config: &Path) -> String {
    let output = tokio::task::block_in_place(|| run_check(config));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    printed
}

fn run_check(config: &Path) -> std::process::Output {
    Command::new(scopegate())
        .arg("check")
        .arg("--config")
        .arg(config)
        .output()
        .unwrap()
}
