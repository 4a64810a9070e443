//! Rules that are enforced, warned of, recorded or off: what the client, upstream and the operator see of each.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::gate::{Answer, Client, Gate};

const FOREIGN: &str = "/api/v1/namespaces/default/secrets/secret-of-web-on-node-b";
const PODS: &str = "/api/v1/namespaces/kube-system/pods";
const EVENTS: &str = "/api/v1/namespaces/default/events";

/// What the audit event says that rules had against a request.
async fn findings(gate: &Gate, answer: &Answer) -> Vec<(String, String)> {
    let event = gate.event(&answer.audit_id()).await;
    let Some(findings) = event["annotations"]["scopegate.dev/findings"].as_str() else {
        return Vec::new();
    };
    let findings: Vec<Value> = serde_json::from_str(findings).unwrap();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    findings
        .iter()
        .map(|finding| {
            assert!(!text(finding, "message").is_empty());
            (text(finding, "rule"), text(finding, "mode"))
        })
        .collect()
}

fn finding(rule: &str, mode: &str) -> (String, String) {
    (rule.to_owned(), mode.to_owned())
}

async fn metric(gate: &Gate, rule: &str, mode: &str) -> bool {
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    let line = format!("scopegate_rule_violations_total{{rule=\"{rule}\",mode=\"{mode}\"}} 1\n");
    metrics.contains(&line)
}

async fn create(gate: &Gate, target: &str, object: &Value) -> Answer {
    let request = Request::post(target).header("content-type", "application/json");
    gate.send("node-a", request, &object.to_string()).await
}

/// A mirror pod as kubelets send it for a static pod of kubeadm's.
async fn mirror(gate: &Gate, labels: Value) -> Value {
    let node = gate.get("node-a", "/api/v1/nodes/node-a").await.json();
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "etcd-node-a", "namespace": "kube-system", "labels": labels,
            "annotations": {"kubernetes.io/config.mirror": "hash", "kubernetes.io/config.hash": "hash"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "node-a", "uid": node["metadata"]["uid"], "controller": true}],
        },
        "spec": {"nodeName": "node-a", "containers": [{"name": "c", "image": "i"}]},
    })
}

#[tokio::test]
async fn a_rule_that_is_enforced_refuses_and_is_named() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let answer = gate.get("node-a", FOREIGN).await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN);
    let event = gate.event(&answer.audit_id()).await;
    assert_eq!(event["annotations"]["scopegate.dev/rule"], "node/secrets");
    assert_eq!(findings(&gate, &answer).await, []);
    assert!(metric(&gate, "node/secrets", "Enforce").await);
    assert!(!gate.forwarded().contains(&format!("GET {FOREIGN}")));
}

#[tokio::test]
async fn a_rule_that_warns_forwards_with_a_warning() {
    let gate = Gate::start(FRONT_PROXY, "rules: {modes: {node/secrets: Warn}}\n").await;
    let answer = gate.get("node-a", FOREIGN).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    let warning = answer.headers["warning"].to_str().unwrap();
    assert!(
        warning.starts_with("299 - \"scopegate will refuse this by rule node/secrets: ")
            && warning.ends_with("no relationship found between node 'node-a' and this object\""),
        "{warning}"
    );
    assert!(
        warning.contains(r#"secrets \"secret-of-web-on-node-b\" is forbidden"#),
        "{warning}"
    );
    let event = gate.event(&answer.audit_id()).await;
    assert_eq!(event["annotations"]["authorization.k8s.io/decision"], "allow");
    assert_eq!(findings(&gate, &answer).await, [finding("node/secrets", "Warn")]);
    assert!(metric(&gate, "node/secrets", "Warn").await);
    gate.logged("findings=[\"node/secrets\"]").await;
    // Another rule is not softer for it.
    let answer = gate
        .get("node-a", "/api/v1/namespaces/default/configmaps/foreign")
        .await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_rule_that_audits_forwards_and_records() {
    let gate = Gate::start(FRONT_PROXY, "rules: {modes: {node/secrets: Audit}}\n").await;
    let answer = gate.get("node-a", FOREIGN).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    assert!(!answer.headers.contains_key("warning"));
    assert_eq!(findings(&gate, &answer).await, [finding("node/secrets", "Audit")]);
    assert!(metric(&gate, "node/secrets", "Audit").await);
}

#[tokio::test]
async fn a_rule_that_is_off_is_not_there() {
    let gate = Gate::start(FRONT_PROXY, "rules: {modes: {node/secrets: Off}}\n").await;
    let answer = gate.get("node-a", FOREIGN).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    assert_eq!(findings(&gate, &answer).await, []);
    assert!(!metric(&gate, "node/secrets", "Off").await);
}

/// Nothing that works without the gate breaks with it; all that would break is on record.
#[tokio::test]
async fn a_dry_run_refuses_no_node() {
    let gate = Gate::start(FRONT_PROXY, "rules: {dryRun: true}\n").await;
    let audited = |rule: &str| vec![finding(rule, "Audit")];
    let answer = gate.get("node-a", FOREIGN).await;
    assert_eq!(answer.code, StatusCode::OK);
    assert_eq!(findings(&gate, &answer).await, audited("node/secrets"));
    let answer = gate.get("node-a", "/apis/apps/v1/deployments").await;
    assert_ne!(answer.code, StatusCode::FORBIDDEN);
    assert_eq!(findings(&gate, &answer).await, audited("node/static"));
    let taints = Request::patch("/api/v1/nodes/node-a").header("content-type", "application/merge-patch+json");
    let answer = gate
        .send(
            "node-a",
            taints,
            r#"{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}"#,
        )
        .await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    assert_eq!(findings(&gate, &answer).await, audited("restriction/node-taints"));
    // A body that the gate cannot read is upstream's to read.
    let answer = create(&gate, PODS, &json!([])).await;
    assert!(gate.forwarded().contains(&format!("POST {PODS}")), "{}", answer.body);
    // But nobody comes in who does not, and nothing that could be read in two ways.
    assert_eq!(gate.get("nobody", "/version").await.code, StatusCode::UNAUTHORIZED);
    assert_eq!(
        gate.get("node-a", "/api/v1//secrets").await.code,
        StatusCode::BAD_REQUEST
    );
}

/// The extended rules only record, until a feature gate or a mode enforces them.
#[tokio::test]
async fn the_extended_rules_record_until_they_are_enforced() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let pod = mirror(&gate, json!({"component": "etcd", "tier": "control-plane"})).await;
    let answer = create(&gate, PODS, &pod).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    assert_eq!(findings(&gate, &answer).await, [finding("pods/mirror-labels", "Audit")]);
    let event = gate.event(&answer.audit_id()).await;
    let observed: Value =
        serde_json::from_str(event["annotations"]["scopegate.dev/mirror-pod"].as_str().unwrap()).unwrap();
    assert_eq!(
        observed,
        json!({
            "namespace": "kube-system", "name": "etcd-node-a", "labels": ["component", "tier"],
            "annotations": ["kubernetes.io/config.hash", "kubernetes.io/config.mirror"], "finalizers": [], "owner": "Upstream",
        })
    );

    let gate = Gate::start(FRONT_PROXY, "featureGates: {NodeRestrictionPods: true}\n").await;
    let pod = mirror(&gate, json!({"component": "etcd", "tier": "control-plane"})).await;
    let answer = create(&gate, PODS, &pod).await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN);
    assert!(
        answer.body.contains("mirror pods with labels component, tier"),
        "{}",
        answer.body
    );
    let migrated = mirror(&gate, json!({"unrestricted.node.kubernetes.io/component": "etcd"})).await;
    assert_eq!(create(&gate, PODS, &migrated).await.code, StatusCode::CREATED);

    let allowed = "featureGates: {NodeRestrictionPods: true}\npodRestriction: {allowedLabels: [component, tier]}\n";
    let gate = Gate::start(FRONT_PROXY, allowed).await;
    let pod = mirror(&gate, json!({"component": "etcd", "tier": "control-plane"})).await;
    assert_eq!(create(&gate, PODS, &pod).await.code, StatusCode::CREATED);
}

/// A watch that a rule in mode Audit let begin is not cut for what that rule says.
#[tokio::test]
async fn what_is_only_recorded_is_not_cut() {
    let more = "rules: {modes: {node/secrets: Audit}}\ngraph: {revokeWithin: 100ms}\n";
    let gate = Gate::start(FRONT_PROXY, more).await;
    let (mut client, _connection) = gate.http2("node-a").await;
    let target =
        "https://x/api/v1/namespaces/default/secrets?watch=1&fieldSelector=metadata.name%3Dsecret-of-web-on-node-b";
    let request = Request::get(target).body(http_body_util::Empty::new()).unwrap();
    let answer = client.send_request(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let ended = tokio::time::timeout(std::time::Duration::from_secs(1), async {
        let mut body = answer.into_body();
        while http_body_util::BodyExt::frame(&mut body).await.is_some() {}
    });
    assert!(ended.await.is_err(), "the watch was cut");
}

/// An event of node-a about itself.
fn event(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": "node-a"}, "source": {"component": "kubelet", "host": "node-a"}, "count": 1,
    })
}

/// The sum of a metric over all its labels.
async fn total(gate: &Gate, name: &str) -> f64 {
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    let lines = metrics.lines().filter(|line| line.starts_with(name));
    lines
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}

/// Sends patches of an event all at once, and gives back how many passed.
async fn burst(client: &Arc<Client>, target: &str, patch: &'static str, count: usize) -> usize {
    let mut sending = JoinSet::new();
    for _ in 0..8 {
        let (client, target) = (Arc::clone(client), target.to_owned());
        sending.spawn(async move {
            let mut passed = 0;
            for _ in 0..count / 8 {
                let request = Request::patch(&target).header("content-type", "application/strategic-merge-patch+json");
                let answer = client.send(request, patch).await.unwrap();
                passed += usize::from(answer.code == StatusCode::OK);
            }
            passed
        });
    }
    sending.join_all().await.into_iter().sum()
}

/// By default events are only looked at for the record: that one has happened again is one request to upstream, and neither that
/// nor what is asked for the record keeps a read waiting that has to be made sure of.
#[tokio::test(flavor = "multi_thread")]
async fn events_cost_what_they_would_without_the_gate() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let answer = create(&gate, EVENTS, &event("e")).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    let client = Arc::new(Client::new(&gate.site.file("node-a.kubeconfig")).await);
    let target = format!("{EVENTS}/e");
    let before = gate.forwarded().len();
    let again = r#"{"count":2,"message":"again","lastTimestamp":"2026-01-01T00:00:00Z"}"#;
    assert_eq!(burst(&client, &target, again, 200).await, 200);
    assert_eq!(gate.forwarded().len() - before, 200);
    assert_eq!(total(&gate, "scopegate_graph_live_reads_total").await, 0.0);

    // These want to know what is stored: more of them than are asked for. None of them is refused.
    let moved = r#"{"involvedObject":{"name":"node-b"}}"#;
    let sending = {
        let (client, target) = (Arc::clone(&client), target.clone());
        tokio::spawn(async move { burst(&client, &target, moved, 200).await })
    };
    let began = Instant::now();
    for _ in 0..5 {
        let answer = gate.get("node-a", FOREIGN).await;
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    }
    // Each waits for the graph once.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(sending.await.unwrap(), 200);
    let missed = total(&gate, "scopegate_node_write_findings_missed_total{why=\"limited\"}").await;
    let found = total(&gate, "scopegate_rule_violations_total{rule=\"events/object\"").await;
    assert!(missed > 0.0 && found > 0.0, "{missed} missed, {found} found");
    assert_eq!(missed + found, 200.0);
}

/// With a rule at Audit nobody waits for the graph, whatever it is that it does not know.
#[tokio::test]
async fn what_is_only_recorded_waits_for_nothing() {
    let more = "rules: {modes: {node/secrets: Audit}}\ngraph: {lagWait: 5s}\n";
    let gate = Gate::start(FRONT_PROXY, more).await;
    let began = Instant::now();
    let answer = gate.get("node-a", FOREIGN).await;
    assert_eq!(findings(&gate, &answer).await, [finding("node/secrets", "Audit")]);
    let mut about = event("e");
    about["involvedObject"] = json!({"kind": "Pod", "namespace": "default", "name": "web-on-node-b"});
    let answer = create(&gate, EVENTS, &about).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    assert_eq!(findings(&gate, &answer).await, [finding("events/object", "Audit")]);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

/// Nothing can come of looking at an event but a record: one that is large is not kept for that, however many there are.
#[tokio::test(flavor = "multi_thread")]
async fn large_events_are_not_looked_at() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let client = Arc::new(Client::new(&gate.site.file("node-a.kubeconfig")).await);
    let mut sending = JoinSet::new();
    for number in 0..6 {
        let client = Arc::clone(&client);
        sending.spawn(async move {
            let mut event = event(&format!("large-{number}"));
            event["involvedObject"]["name"] = json!("node-b");
            event["message"] = json!("m".repeat(900_000));
            let request = Request::post(EVENTS).header("content-type", "application/json");
            client.send(request, event.to_string()).await.unwrap()
        });
    }
    for answer in sending.join_all().await {
        assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.message());
    }
    let missed = total(&gate, "scopegate_node_write_findings_missed_total{why=\"large\"}").await;
    assert_eq!(missed, 6.0);
}

/// The gate takes no YAML, but the API server does: what only a recorded rule cannot read is not the gate's to refuse.
#[tokio::test]
async fn what_only_a_recorded_rule_cannot_read_passes() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let request = Request::post(EVENTS).header("content-type", "application/yaml");
    let answer = gate.send("node-a", request, "kind: Event").await;
    assert!(gate.forwarded().contains(&format!("POST {EVENTS}")), "{}", answer.body);
    let missed = total(&gate, "scopegate_node_write_findings_missed_total{why=\"unread\"}").await;
    assert_eq!(missed, 1.0);
}

/// What is written where there is no such place is not looked for in the whole cluster.
#[tokio::test]
async fn what_is_nowhere_is_not_looked_for() {
    let enforced = "rules: {modes: {events/object: Enforce, events/source: Enforce}}\n";
    for more in ["", enforced] {
        let gate = Gate::start(FRONT_PROXY, more).await;
        let about = json!({"kind": "Node", "name": "node-a"});
        let event =
            json!({"metadata": {"name": "x"}, "involvedObject": about, "source": {"host": "node-a"}}).to_string();
        for target in [
            "/api/v1/events/x",
            "/apis/events.k8s.io/v1/events/x",
            "/api/v1/pods/x/status",
        ] {
            for (method, kind) in [("PUT", "application/json"), ("PATCH", "application/merge-patch+json")] {
                let request = Request::builder()
                    .method(method)
                    .uri(target)
                    .header("content-type", kind);
                gate.send("node-a", request, &event).await;
            }
        }
        let metrics = gate.admin(Request::get("/metrics"), "").await.body;
        assert!(metrics.contains("\nscopegate_graph_live_reads_total 0\n"), "{metrics}");
    }
}
