//! Rules that are enforced, warned of, recorded or off: what the client, upstream and the operator see of each.

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};

use crate::gate::{Answer, Gate};

const FOREIGN: &str = "/api/v1/namespaces/default/secrets/secret-of-web-on-node-b";
const PODS: &str = "/api/v1/namespaces/kube-system/pods";

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
