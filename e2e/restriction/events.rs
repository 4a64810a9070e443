//! Events, with the rules on them enforced and no rights but those that are shipped: a node writes its own, in both groups and every
//! way, and nobody else's, whatever they are called.

use std::sync::Arc;

use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};
use test_case::test_case;

use super::{JSON, JSON_PATCH, MERGE_PATCH, Names, STRATEGIC, Side, gate, state};
use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{Process, ready},
    graph::{admin_client, created},
};

const NAMES: Names = Names {
    namespace: "events",
    nodes: ["ev1", "ev2"],
};
const ENFORCED: &str = "rules: {modes: {events/object: Enforce, events/source: Enforce}}\n";
const CORE: &str = "/api/v1/namespaces/events/events";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/events/events";

/// As a node reports on a pod.
fn event(collection: &str, name: &str, pod: &str, node: &str) -> Value {
    let about = json!({"apiVersion": "v1", "kind": "Pod", "namespace": NAMES.namespace, "name": pod});
    let metadata = json!({"name": name, "namespace": NAMES.namespace});
    if collection == CORE {
        return json!({
            "apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about, "reason": "r", "message": "m",
            "type": "Normal", "source": {"component": "kubelet", "host": node}, "count": 1,
        });
    }
    json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": metadata, "regarding": about, "reason": "r", "note": "n",
        "type": "Normal", "action": "a", "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "kubelet", "reportingInstance": node,
    })
}

/// That it has happened again: what kubelets change of an event.
fn again(collection: &str, count: u32) -> (Value, Value) {
    let (key, value) = match collection {
        CORE => ("count", json!(count)),
        _ => (
            "series",
            json!({"count": count, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}),
        ),
    };
    (
        json!({key: value}),
        json!([{"op": "add", "path": format!("/{key}"), "value": value}]),
    )
}

/// Every way to change an event that is there; gives back the codes.
async fn change(side: &Side, collection: &str, name: &str) -> Vec<u16> {
    let target = format!("{collection}/{name}");
    let mut codes = Vec::new();
    let (merge, _) = again(collection, 2);
    codes.push(side.send_json("PATCH", &target, STRATEGIC, &merge).await);
    let (merge, _) = again(collection, 3);
    codes.push(side.send_json("PATCH", &target, MERGE_PATCH, &merge).await);
    let (_, operations) = again(collection, 4);
    codes.push(side.send_json("PATCH", &target, JSON_PATCH, &operations).await);
    let mut stored = side.admin.get(&target).await.json();
    let (merge, _) = again(collection, 5);
    for (key, value) in merge.as_object().unwrap() {
        stored[key] = value.clone();
    }
    codes.push(side.send_json("PUT", &target, JSON, &stored).await);
    codes.iter().map(|answer| answer.code.as_u16()).collect()
}

#[tokio::test]
async fn a_node_writes_its_own_events_and_no_others() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    state::fill(&cluster, NAMES).await;
    let (_gate, serving) = gate(&cluster, NAMES.namespace, (FRONT_PROXY, ENFORCED), cluster.api).await;
    let [own, other] = NAMES.nodes;
    let through = cluster.kubeconfig("events-gated", own, serving);
    let side = Side::new(Arc::clone(&cluster), through, NAMES).await;
    side.known(NAMES).await;
    for (number, collection) in [CORE, EVENTS].into_iter().enumerate() {
        // The core API takes any letters in the name of an event.
        let names: &[&str] = match collection {
            CORE => &["plain", "Odd_Name:1,a=b"],
            _ => &["plain"],
        };
        for name in names {
            let named = |what: &str| format!("{what}.{number}.{name}");
            let sent = event(collection, &named("own"), "p1", own);
            let answer = side.send_json("POST", collection, JSON, &sent).await;
            assert_eq!(answer.code, 201, "{collection}: {}", answer.body);
            assert_eq!(change(&side, collection, &named("own")).await, [200; 4], "{collection}");

            created(
                &side.admin,
                collection,
                &event(collection, &named("foreign"), "p2", other),
            )
            .await;
            let changed = change(&side, collection, &named("foreign")).await;
            assert_eq!(changed, [403; 4], "{collection}, {name}");
            let target = format!("{collection}/{}", named("foreign"));
            let stolen = event(collection, &named("foreign"), "p1", own);
            let answer = side.send_json("PUT", &target, JSON, &stolen).await;
            assert_eq!(answer.code, 403, "{collection}, {name}: {}", answer.body);

            let target = format!("{collection}/{}", named("put"));
            let answer = side
                .send_json("PATCH", &target, MERGE_PATCH, &again(collection, 2).0)
                .await;
            assert_eq!(answer.code, 404, "{collection}, {name}: {}", answer.body);
            let sent = event(collection, &named("put"), "p1", own);
            let answer = side.send_json("PUT", &target, JSON, &sent).await;
            assert_eq!(answer.code, 201, "{collection}, {name}: {}", answer.body);
        }
        for (pod, host) in [("p2", own), ("p1", other), ("nosuch", own)] {
            let sent = event(collection, &format!("refused.{number}"), pod, host);
            let answer = side.send_json("POST", collection, JSON, &sent).await;
            assert_eq!(answer.code, 403, "{collection}, {pod}, {host}: {}", answer.body);
        }
    }
}

/// Without the right to read events, those who change them are refused by rules that are enforced, and by no others.
#[test_case("evr", "", 200; "recorded")]
#[test_case("eve", ENFORCED, 503; "enforced")]
#[tokio::test]
async fn a_gate_that_may_not_read_events(name: &'static str, more: &str, code: u16) {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    cluster.user(name, &format!("system:node:{name}"), Some("system:nodes"));
    let (_gate, serving) = blind_gate(&cluster, name, more).await;
    let through = cluster.kubeconfig(&format!("{name}-gated"), name, serving);
    let node = crate::gate::Client::new(&through).await;
    let about = json!({"apiVersion": "v1", "kind": "Node", "name": name});
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"}, "involvedObject": about,
        "reason": "r", "type": "Normal", "source": {"host": name},
    });
    let events = "/api/v1/namespaces/default/events";
    let answer = crate::graph::post(&node, events, &event).await;
    assert_eq!(answer.code, 201, "{}", answer.body);
    let patch = http::Request::patch(format!("{events}/{name}")).header("content-type", MERGE_PATCH);
    let answer = node.send(patch, r#"{"source":{"component":"x"}}"#).await.unwrap();
    assert_eq!(answer.code, code, "{}", answer.body);
}

/// A gate whose credentials have the rights of informers, but for events.
async fn blind_gate(cluster: &Cluster, name: &str, more: &str) -> (Process, std::net::SocketAddr) {
    let manifest = include_str!("../../config/kubernetes/informers.yaml");
    let mut role: Value = serde_saphyr::from_str(manifest.split("\n---\n").next().unwrap()).unwrap();
    let (user, rules) = (format!("{name}-gate"), role["rules"].as_array_mut().unwrap());
    rules.retain(|rule| rule["resources"][0] != "events");
    role["metadata"]["name"] = json!(user);
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    let admin = admin_client(cluster).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    created(&admin, &format!("{rbac}/clusterroles"), &role).await;
    created(&admin, &format!("{rbac}/clusterrolebindings"), &binding).await;
    cluster.user(&user, &user, None);
    let config = cluster.configuration(&format!("{name}.yaml"), FRONT_PROXY, more);
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("gate.kubeconfig", &format!("{user}.kubeconfig"))).unwrap();
    let process = Process::serve(&config);
    let (serving, admin) = process.addresses().await;
    ready(admin).await;
    (process, serving)
}
