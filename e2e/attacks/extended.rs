//! What kube-apiserver lets nodes do, and the extended rules do not: pods that other controllers take for theirs, and addresses of
//! others. Each is tried at a gate that only records it as well: upstream would have taken it.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};

use super::{audited, client, gate, upstream_saw};
use crate::{
    cluster::Cluster,
    gate::{Client, PATIENCE, Process, ready},
    graph::{admin_client, created, objects::pod, patched},
    restriction::encode::{PROTOBUF, encode_one},
};

const ENFORCED: &str = "
featureGates: {NodeRestrictionPods: true}
podRestriction: {mirrorPodNamespaces: [a5]}
rules: {modes: {nodes/addresses: Enforce}}
";
const JSON: &str = "application/json";
const PATCHES: [&str; 3] = [
    "application/strategic-merge-patch+json",
    "application/merge-patch+json",
    "application/json-patch+json",
];

/// A request of a node.
struct Attempt {
    about: String,
    method: &'static str,
    target: String,
    kind: &'static str,
    body: Vec<u8>,
}

/// The two gates, as one node sees them.
struct Gates {
    _processes: [Process; 2],
    enforcing: Client,
    recording: Client,
}

impl Gates {
    async fn start(cluster: &Cluster, node: &str) -> Self {
        let (first, enforcing) = gate(cluster, node, FRONT_PROXY, ENFORCED).await;
        let second = Process::serve(&cluster.configuration(&format!("{node}-recording.yaml"), FRONT_PROXY, ""));
        let (recording, admin) = second.addresses().await;
        ready(admin).await;
        let at = async |address: SocketAddr| client(cluster, node, address).await;
        Self {
            enforcing: at(enforcing).await,
            recording: at(recording).await,
            _processes: [first, second],
        }
    }

    /// Refused before upstream hears of it, which would have agreed.
    async fn refused(&self, cluster: &Cluster, attempt: &Attempt, message: &str) {
        let Attempt {
            about,
            method,
            target,
            kind,
            body,
        } = attempt;
        let request = |target: &str| {
            Request::builder()
                .method(*method)
                .uri(target)
                .header("content-type", *kind)
        };
        let answer = self.enforcing.send(request(target), body).await.unwrap();
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{about}: {}", answer.body);
        assert!(answer.message().contains(message), "{about}: {}", answer.body);
        let id = answer.audit_id();
        assert_eq!(
            upstream_saw(cluster, |event| event["auditID"] == id.as_str()),
            0,
            "{about}"
        );
        let answer = self
            .recording
            .send(request(&format!("{target}?dryRun=All")), body)
            .await
            .unwrap();
        assert!(answer.code.is_success(), "{about}: {}", answer.body);
    }
}

#[tokio::test]
async fn attack_5_pods_that_are_dressed_up() {
    let Some(cluster) = audited().await else { return };
    let gates = Gates::start(&cluster, "a5").await;
    let admin = admin_client(&cluster).await;
    let uid = admin.get("/api/v1/nodes/a5").await.json()["metadata"]["uid"].clone();
    let mirror = |path: &str, value: Value| {
        let mut pod = pod("m", "a5", &json!({"tolerations": [{"operator": "Exists"}]}));
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "h"});
        pod["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "v1", "kind": "Node", "name": "a5", "uid": uid, "controller": true}]);
        *pod.pointer_mut("/metadata")
            .unwrap()
            .as_object_mut()
            .unwrap()
            .entry(path)
            .or_insert(json!({})) = value;
        pod
    };
    let annotations = json!({"kubernetes.io/config.mirror": "h", "prometheus.io/scrape": "true"});
    let rows = [
        ("labels", json!({"app": "web"}), "a5", "labels app"),
        (
            "labels",
            json!({"pod-template-hash": "5d4f", "k8s-app": "dns"}),
            "a5",
            "labels k8s-app, pod-template-hash",
        ),
        ("annotations", annotations, "a5", "annotations prometheus.io/scrape"),
        (
            "finalizers",
            json!(["example.com/stay"]),
            "a5",
            "finalizers example.com/stay",
        ),
        ("labels", json!({}), "default", r#"in namespace "default""#),
    ];
    for (path, value, namespace, message) in rows {
        let pod = mirror(path, value);
        let mut bodies = vec![(JSON, pod.to_string().into_bytes())];
        bodies.extend(encode_one(&pod).map(|body| (PROTOBUF, body)));
        for (kind, body) in bodies {
            let target = format!("/api/v1/namespaces/{namespace}/pods");
            let about = format!("{message} as {kind}");
            let attempt = Attempt {
                about,
                method: "POST",
                target,
                kind,
                body,
            };
            gates.refused(&cluster, &attempt, message).await;
        }
    }

    created(&admin, "/api/v1/namespaces/a5/pods", &pod("p", "a5", &json!({}))).await;
    let own = "/api/v1/namespaces/a5/pods/p";
    patched(
        &admin,
        own,
        PATCHES[1],
        &json!({"metadata": {"finalizers": ["example.com/guard"], "annotations": {"a": "1"}}}),
    )
    .await;
    let stored = admin.get(own).await.json();
    let changes = [
        (json!({"annotations": {"a": "1", "b": "2"}}), "annotations b"),
        (json!({"annotations": {"a": "2"}}), "annotations a"),
        (
            json!({"finalizers": ["example.com/guard", "example.com/stay"]}),
            "finalizers example.com/stay",
        ),
    ];
    for (metadata, message) in changes {
        for attempt in writes(&format!("{own}/status"), &stored, "metadata", &metadata, message) {
            gates.refused(&cluster, &attempt, message).await;
        }
    }
    assert_eq!(admin.get(own).await.json()["metadata"], stored["metadata"]);
}

#[tokio::test]
async fn attack_6_addresses_of_others() {
    let Some(cluster) = audited().await else { return };
    let gates = Gates::start(&cluster, "a6").await;
    let admin = admin_client(&cluster).await;
    crate::graph::objects::node(&cluster, "a6-victim").await;
    let addresses = json!({"status": {"addresses": [{"type": "InternalIP", "address": "10.66.0.2"}]}});
    patched(&admin, "/api/v1/nodes/a6-victim/status", PATCHES[1], &addresses).await;
    let stored = admin.get("/api/v1/nodes/a6").await.json();
    known(&gates.enforcing, "10.66.0.2").await;
    for (kind, address) in [
        ("InternalIP", "127.0.0.1"),
        ("InternalIP", "169.254.169.254"),
        ("InternalIP", "::1"),
        ("InternalIP", "10.66.0.2"),
        ("InternalIP", "::ffff:10.66.0.2"),
        ("InternalIP", "[10.66.0.2]"),
        ("InternalIP", "64:ff9b::a42:2"),
        ("InternalIP", "2002:a42:2::1"),
        ("Hostname", "localhost"),
        ("Hostname", "127。0。0。1"),
        ("Hostname", "ⓛocalhost"),
        ("Hostname", "127.0.0.1.nip.io"),
        ("InternalDNS", "kubernetes.default.svc"),
    ] {
        let status = json!({"addresses": [{"type": kind, "address": address}]});
        for attempt in writes("/api/v1/nodes/a6/status", &stored, "status", &status, address) {
            gates.refused(&cluster, &attempt, "is not allowed to claim").await;
        }
    }
    assert_eq!(admin.get("/api/v1/nodes/a6").await.json()["status"], stored["status"]);
}

/// Waits until the gate knows whose an address is.
async fn known(node: &Client, address: &str) {
    let patch = json!({"status": {"addresses": [{"type": "InternalIP", "address": address}]}}).to_string();
    let began = Instant::now();
    loop {
        let request = Request::patch("/api/v1/nodes/a6/status?dryRun=All").header("content-type", PATCHES[1]);
        if node.send(request, &patch).await.unwrap().code == StatusCode::FORBIDDEN {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "the gate never learns of {address}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The same change of an object in every way that there is to make it.
fn writes(target: &str, stored: &Value, part: &str, fields: &Value, about: &str) -> Vec<Attempt> {
    let mut whole = stored.clone();
    let mut operations = Vec::new();
    for (key, value) in fields.as_object().unwrap() {
        whole[part][key] = value.clone();
        operations.push(json!({"op": "add", "path": format!("/{part}/{key}"), "value": value}));
    }
    let merged = json!({part: fields}).to_string().into_bytes();
    let bodies = [
        ("PATCH", PATCHES[0], merged.clone()),
        ("PATCH", PATCHES[1], merged),
        ("PATCH", PATCHES[2], Value::from(operations).to_string().into_bytes()),
        ("PUT", JSON, whole.to_string().into_bytes()),
    ];
    let in_protobuf = encode_one(&whole).map(|body| ("PUT", PROTOBUF, body));
    let attempts = bodies
        .into_iter()
        .chain(in_protobuf)
        .map(|(method, kind, body)| Attempt {
            about: format!("{about} by {method} of {kind}"),
            method,
            target: target.to_owned(),
            kind,
            body,
        });
    attempts.collect()
}
