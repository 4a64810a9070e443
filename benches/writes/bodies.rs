//! Bodies as kubelets send them.

/// Those that are not JSON.
#[path = "protobuf.rs"]
pub(super) mod protobuf;

use bytes::Bytes;
use scopegate::patch;
use serde_json::{Value, json};

/// A write.
pub(super) struct Body {
    pub(super) about: &'static str,
    pub(super) method: &'static str,
    pub(super) target: String,
    pub(super) content_type: &'static str,
    pub(super) patch: Option<patch::Type>,
    pub(super) bytes: Vec<u8>,
}

pub(super) const NODE_STATUS: &str = "/api/v1/nodes/n1/status";
pub(super) const POD_STATUS: &str = "/api/v1/namespaces/ns/pods/p1/status";
const TOKEN: &str = "/api/v1/namespaces/ns/serviceaccounts/sa/token";
pub(super) const POD_UID: &str = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

impl Body {
    pub(super) fn patch(about: &'static str, target: &str, body: &str) -> Self {
        Self {
            about,
            method: "PATCH",
            target: target.to_owned(),
            content_type: "application/strategic-merge-patch+json",
            patch: Some(patch::Type::Strategic),
            bytes: body.as_bytes().to_vec(),
        }
    }
}

pub(super) fn ordinary() -> Vec<Body> {
    vec![
        Body::patch("node status, every five minutes", NODE_STATUS, &node_status(0)),
        Body::patch("node status with 50 images", NODE_STATUS, &node_status(50)),
        Body::patch("pod status, one container", POD_STATUS, &pod_status(1)),
        Body::patch("pod status, ten containers", POD_STATUS, &pod_status(10)),
        Body {
            about: "token for the API server",
            method: "POST",
            target: TOKEN.to_owned(),
            content_type: "application/json",
            patch: None,
            bytes: json!({"spec": {"audiences": [], "expirationSeconds": 3607, "boundObjectRef": {
                "apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": POD_UID}}})
            .to_string()
            .into_bytes(),
        },
        Body {
            about: "the same in protobuf",
            method: "POST",
            target: TOKEN.to_owned(),
            content_type: protobuf::CONTENT_TYPE,
            patch: None,
            bytes: protobuf::token("p1", POD_UID),
        },
    ]
}

/// A heartbeat: conditions in order. Addresses are left out as long as they stay the same.
fn node_status(images: usize) -> String {
    let types = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];
    let order: Vec<Value> = types.iter().map(|kind| json!({"type": kind})).collect();
    let conditions: Vec<Value> = types
        .iter()
        .map(|kind| json!({"lastHeartbeatTime": "2026-01-02T03:04:05Z", "type": kind}))
        .collect();
    let mut status = json!({"$setElementOrder/conditions": order, "conditions": conditions});
    if images > 0 {
        status["images"] = (0..images).map(image).collect();
    }
    json!({ "status": status }).to_string()
}

fn image(number: usize) -> Value {
    json!({"names": [format!("registry.example.com/team/image-{number}@sha256:{number:064x}"),
        format!("registry.example.com/team/image-{number}:1.{number}.0")], "sizeBytes": 123_456_789 + number})
}

fn pod_status(containers: usize) -> String {
    let types = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ];
    let order: Vec<Value> = types.iter().map(|kind| json!({"type": kind})).collect();
    let conditions: Vec<Value> = types
        .iter()
        .map(|kind| json!({"lastProbeTime": null, "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1, "status": "True", "type": kind}))
        .collect();
    let statuses: Vec<Value> = (0..containers)
        .map(|number| {
            json!({"containerID": format!("containerd://{number:064x}"), "image": "registry.example.com/team/image:1.0.0",
                "imageID": format!("registry.example.com/team/image@sha256:{number:064x}"), "lastState": {}, "name": format!("c{number}"),
                "ready": true, "restartCount": 0, "started": true, "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}},
                "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "t", "readOnly": true, "recursiveReadOnly": "Disabled"}]})
        })
        .collect();
    json!({"metadata": {"uid": POD_UID}, "status": {
        "$setElementOrder/conditions": order, "conditions": conditions, "containerStatuses": statuses,
        "hostIP": "10.0.0.1", "phase": "Running", "podIP": "10.1.0.7", "podIPs": [{"ip": "10.1.0.7"}]}})
    .to_string()
}

/// A status with nothing but images, of about so many bytes.
pub(super) fn images(bytes: usize) -> String {
    let one = image(0).to_string().len() + 1;
    let images: Vec<Value> = (0..bytes / one).map(image).collect();
    json!({"status": {"images": images}}).to_string()
}

/// As it is stored, and the same with another heartbeat and without a version.
pub(super) fn large_node() -> (Bytes, Body) {
    let images: Vec<Value> = (0..5_480).map(image).collect();
    let node = |heartbeat: &str| {
        json!({"metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1", "node-role.kubernetes.io/worker": ""}},
            "spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule", "timeAdded": "2026-01-02T03:04:05Z"}]},
            "status": {"images": images, "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": heartbeat}]}})
    };
    let mut stored = node("2026-01-02T03:04:05Z");
    stored["metadata"]["resourceVersion"] = "4711".into();
    stored["metadata"]["uid"] = POD_UID.into();
    let body = Body {
        about: "a node of a mebibyte",
        method: "PUT",
        target: "/api/v1/nodes/n1".to_owned(),
        content_type: "application/json",
        patch: None,
        bytes: node("2026-01-02T03:05:05Z").to_string().into_bytes(),
    };
    (stored.to_string().into(), body)
}
