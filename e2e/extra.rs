//! Extra rules mean what RBAC's rules mean: the same rule is given to a gate and, as a role, to a real kube-apiserver, and both
//! are asked the same. The rest is before the stand-in: what becomes of a request that only an extra rule allows.

mod generate;

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use scopegate::{
    authorizer::{Attributes, Authorizer, ExtraRules},
    caller::{Caller, User},
    config::Config,
    decision::Verdict,
    demo::{
        cluster,
        site::{FRONT_PROXY, configuration},
    },
    graph::Snapshot,
    quarantine::Quarantine,
};
use serde_json::{Value, json};
use test_case::test_case;

use self::generate::{NAMESPACES, Question, question, rule};
use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{Client, Gate, PATIENCE, scopegate},
    graph::{admin_client, created, post},
    random::{self, Random},
    report,
};

const RULES: usize = 150;
const QUESTIONS: usize = 40;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
/// A resource that no other rule is for.
const SENTINEL: &str = "extra-sentinels";

#[tokio::test]
async fn an_extra_rule_allows_what_rbac_allows() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let seed = random::seed();
    let mut random = Random::new(seed);
    let rules: Vec<Value> = (0..RULES).map(|_| rule(&mut random)).collect();
    let gate = load(&json!({ "others": rules })).unwrap();
    let admin = admin_client(&cluster).await;
    install(&cluster, &admin, &rules).await;
    let (mut asked, mut allowed) = (0, 0);
    for (number, rule) in rules.iter().enumerate() {
        let gate = Authorizer {
            extra: ExtraRules {
                others: vec![gate.extra.others[number].clone()],
                ..ExtraRules::NONE
            },
            ..gate.clone()
        };
        for _ in 0..QUESTIONS {
            let question = question(&mut random, rule);
            let (ours, theirs) = (
                ours(&gate, &question),
                theirs(&admin, &user(number), &question.spec()).await,
            );
            assert_eq!(ours, theirs, "seed {seed}, by rule {rule}: {}", question.spec());
            asked += 1;
            allowed += usize::from(theirs);
        }
    }
    println!("seed {seed}: asked {asked} questions about {RULES} rules, {allowed} allowed");
    let what = "decisions by extra rules of the gate, and by the same rules as RBAC's of kube-apiserver";
    report::compared("extra", what, asked);
    // Two that refuse everything agree too.
    assert!(allowed * 5 > asked && allowed * 5 < asked * 4);
}

/// What RBAC does not take for a rule the gate does not take either.
#[test_case(r#"{"apiGroups": [""], "resources": ["pods"]}"#; "no verbs")]
#[test_case(r#"{"apiGroups": [""], "resources": ["pods"], "verbs": []}"#; "empty verbs")]
#[test_case(r#"{"resources": ["pods"], "verbs": ["get"]}"#; "no groups")]
#[test_case(r#"{"apiGroups": [""], "verbs": ["get"]}"#; "no resources")]
#[test_case(r#"{"resourceNames": ["a"], "verbs": ["get"]}"#; "names alone")]
#[test_case(r#"{"nonResourceURLs": ["/metrics"]}"#; "path without verbs")]
#[test_case(r#"{"nonResourceURLs": ["/metrics"], "apiGroups": [""], "verbs": ["get"]}"#; "path and group")]
#[test_case(r#"{"nonResourceURLs": ["/metrics"], "resources": ["pods"], "verbs": ["get"]}"#; "path and resource")]
#[test_case(r#"{"nonResourceURLs": ["/metrics"], "resourceNames": ["a"], "verbs": ["get"]}"#; "path and name")]
#[tokio::test]
async fn what_is_no_rule_is_none_here(rule: &str) {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let rule: Value = serde_json::from_str(rule).unwrap();
    let role = json!({"metadata": {"generateName": "extra-bad-"}, "rules": [rule]});
    let answer = post(&admin_client(&cluster).await, &format!("{RBAC}/clusterroles"), &role).await;
    assert_eq!(answer.code, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.body);
    assert!(load(&json!({"nodes": [rule]})).is_err());
}

/// A rule of its own for everything that is tried.
const EXTRA: &str = "
graph: {lagWait: 10s}
extraRules:
  nodes:
    - {apiGroups: [''], resources: [secrets], resourceNames: [secret-of-web-on-node-b], namespaces: [default], verbs: [get]}
    - {apiGroups: [''], resources: [pods], verbs: [delete, create]}
    - {nonResourceURLs: [/metrics], verbs: [get]}
";
const FOREIGN: &str = "/api/v1/namespaces/default/secrets/secret-of-web-on-node-b";

#[tokio::test(flavor = "multi_thread")]
async fn what_an_extra_rule_allows_passes_at_once() {
    let gate = Gate::start(FRONT_PROXY, EXTRA).await;
    let began = Instant::now();
    let answer = gate.get("node-a", FOREIGN).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "the graph is not waited for: {:?}",
        began.elapsed()
    );
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    assert!(
        !metrics.contains("scopegate_graph_misses_total{"),
        "nor is upstream asked: {metrics}"
    );
    assert_ne!(gate.get("node-a", "/metrics").await.code, StatusCode::FORBIDDEN);

    let why = gate
        .admin(
            Request::get("/debug/why?node=node-a&verb=get&resource=secrets&name=secret-of-web-on-node-b"),
            "",
        )
        .await;
    assert!(
        why.body.starts_with("ALLOWED") && why.body.contains("  rule      extraRules.nodes[0]\n"),
        "{}",
        why.body
    );
    let event = gate.event(&answer.audit_id()).await;
    assert_eq!(
        event["annotations"]["authorization.k8s.io/reason"],
        "extraRules.nodes[0]"
    );
}

/// What nodes write is looked at, whichever rule lets them write it.
#[tokio::test]
async fn an_extra_rule_does_not_undo_node_restriction() {
    let gate = Gate::start(FRONT_PROXY, EXTRA).await;
    let target = "/api/v1/namespaces/default/pods/web-on-node-b";
    let answer = gate.send("node-a", Request::delete(target), "").await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "node-a"}});
    let create = Request::post("/api/v1/namespaces/default/pods").header("content-type", "application/json");
    let answer = gate.send("node-a", create, &pod.to_string()).await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_knows_extra_rules() {
    scopegate::server::tls::install_crypto();
    let site = scopegate::demo::site::Site::start().await.unwrap();
    let more = "
extraRules:
  nodes:
    - {apiGroups: [''], resources: [secrets], verbs: [get]}
    - {apiGroups: [''], resources: [services], verbs: [list]}
";
    let config = site.configuration(FRONT_PROXY, more).unwrap().display().to_string();
    let run = |words: &[&str]| {
        let mut command = Command::new(scopegate());
        let command = command.args(words).args(["--config", &config]).stdin(Stdio::null());
        let output = tokio::task::block_in_place(|| command.output()).unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let check = run(&["check"]);
    for expected in [
        "extraRules: 2 for nodes, 0 for bootstrap, 0 for others",
        "extraRules.nodes[0]: get secrets in every namespace: all of them with their contents",
        "extraRules.nodes[1]: gives nothing new",
    ] {
        assert!(check.contains(expected), "missing {expected:?} in:\n{check}");
    }
    let objects = site.file("objects.json");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": cluster::objects()});
    fs::write(&objects, list.to_string()).unwrap();
    let objects = objects.display().to_string();
    let secret = "secret-of-web-on-node-b";
    let why = run(&["why", "node-a", "get", "secret", secret, "--objects", &objects]);
    assert!(
        why.starts_with("ALLOWED") && why.contains("extraRules.nodes[0]"),
        "{why}"
    );
    let who = run(&["who-can", "secret", secret, "--objects", &objects]);
    assert!(who.starts_with("every node can read"), "{who}");
}

/// As a gate makes it from its configuration.
fn load(rules: &Value) -> Result<Authorizer, String> {
    let dir = tempfile::tempdir().unwrap();
    for file in [
        "server.crt",
        "server.key",
        "client-ca.crt",
        "gate.kubeconfig",
        "front-proxy-client.crt",
    ] {
        fs::write(dir.path().join(file), "").unwrap();
    }
    fs::write(dir.path().join("front-proxy-client.key"), "").unwrap();
    let path = dir.path().join("gate.yaml");
    fs::write(&path, configuration(FRONT_PROXY, &format!("extraRules: {rules}\n"))).unwrap();
    Config::load(&path)
        .map(|config| config.authorizer)
        .map_err(|error| error.to_string())
}

fn user(number: usize) -> String {
    format!("extra-{number}")
}

/// Every rule as a role of a user of its own. What is last has been seen when everything before has.
async fn install(cluster: &Cluster, admin: &Client, rules: &[Value]) {
    for namespace in NAMESPACES {
        let namespace = json!({"metadata": {"name": namespace}});
        cluster.create("/api/v1/namespaces", &namespace).await;
    }
    for (number, rule) in rules.iter().enumerate() {
        bind(admin, &user(number), rule).await;
    }
    let sentinel = json!({"apiGroups": ["example.com"], "resources": [SENTINEL], "verbs": ["get"]});
    let mut namespaced = sentinel.clone();
    namespaced["namespaces"] = json!([NAMESPACES[0]]);
    bind(admin, "extra-last", &sentinel).await;
    bind(admin, "extra-last-namespaced", &namespaced).await;
    let attributes = json!({"verb": "get", "group": "example.com", "resource": SENTINEL, "namespace": NAMESPACES[0]});
    let spec = json!({ "resourceAttributes": attributes });
    let began = Instant::now();
    for user in ["extra-last", "extra-last-namespaced"] {
        while !theirs(admin, user, &spec).await {
            assert!(
                began.elapsed() < PATIENCE,
                "kube-apiserver has not seen the role of {user}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A rule that names namespaces is a role in each of them.
async fn bind(admin: &Client, user: &str, rule: &Value) {
    let mut plain = rule.clone();
    plain.as_object_mut().unwrap().remove("namespaces");
    let namespaces = rule["namespaces"].as_array().cloned().unwrap_or_default();
    let bind = async |below: &str, cluster: &str, kind: &str| {
        let role = json!({"metadata": {"name": user}, "rules": [plain]});
        created(admin, &format!("{RBAC}{below}/{cluster}roles"), &role).await;
        let binding = json!({
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": user},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        });
        created(admin, &format!("{RBAC}{below}/{cluster}rolebindings"), &binding).await;
    };
    if namespaces.is_empty() {
        bind("", "cluster", "ClusterRole").await;
    }
    for namespace in &namespaces {
        bind(&format!("/namespaces/{}", namespace.as_str().unwrap()), "", "Role").await;
    }
}

fn ours(gate: &Authorizer, question: &Question) -> bool {
    let caller = Caller::from(User {
        name: "somebody".to_owned(),
        ..User::default()
    });
    let decision = gate.decide(Attributes {
        caller: &caller,
        info: &question.info(),
        impersonates: false,
        quarantine: Quarantine::nobody(),
        graph: &Snapshot::default(),
    });
    decision.verdict == Verdict::Allow
}

async fn theirs(admin: &Client, user: &str, spec: &Value) -> bool {
    let mut spec = spec.clone();
    spec["user"] = json!(user);
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
    let answer = post(admin, "/apis/authorization.k8s.io/v1/subjectaccessreviews", &review).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    answer.json()["status"]["allowed"].as_bool().unwrap()
}
