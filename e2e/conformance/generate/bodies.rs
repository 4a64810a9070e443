//! Bodies as kubelets send them.

use serde_json::{Value, json};

use super::resources::named;
use crate::conformance::case::{Base, Body, Form};

const NOW: &str = "2026-11-16T12:00:00Z";

pub(in crate::conformance) fn body(value: Value, form: Form) -> Body {
    Body {
        base: Base::Value(value),
        mutations: Vec::new(),
        form,
    }
}

pub(in crate::conformance) fn stored(path: &str, form: Form) -> Body {
    Body {
        base: Base::Stored(path.to_owned()),
        mutations: Vec::new(),
        form,
    }
}

pub(in crate::conformance) fn registration(node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": node,
            "labels": {"kubernetes.io/hostname": node, "kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64", "round": "ROUND"},
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
        "spec": {"taints": [{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": "2", "pods": "110"}, "addresses": [{"type": "InternalIP", "address": "192.0.2.7"}],
            "conditions": [{"type": "Ready", "status": "False", "lastHeartbeatTime": NOW, "lastTransitionTime": NOW}]},
    })
}

pub(in crate::conformance) fn node_status(strategic: bool) -> Value {
    let mut status = json!({
        "metadata": {"annotations": {"csi.volume.kubernetes.io/nodeid": "{}"}, "labels": {"topology.kubernetes.io/zone": "z"}},
        "status": {
            "conditions": [
                {"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": NOW, "lastTransitionTime": NOW},
                {"type": "Ready", "status": "True", "lastHeartbeatTime": NOW},
            ],
            "nodeInfo": {"kubeletVersion": "v1.36.3"},
        },
    });
    if strategic {
        status["status"]["$setElementOrder/conditions"] = json!([{"type": "MemoryPressure"}, {"type": "Ready"}]);
        status["status"]["addresses"] = json!([{"address": "192.0.2.7", "type": "InternalIP"}, {"$patch": "replace"}]);
    }
    status
}

pub(in crate::conformance) fn pod_status(name: &str) -> Value {
    json!({
        "metadata": {"uid": format!("uid-of-{name}")},
        "status": {
            "conditions": [{"type": "Initialized", "status": "True", "lastProbeTime": null, "lastTransitionTime": NOW}],
            "hostIP": "192.0.2.7", "hostIPs": [{"ip": "192.0.2.7"}],
            "phase": "Running", "podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}],
        },
    })
}

pub(in crate::conformance) fn mirror(name: &str, node: &str, uid: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "ROUND",
            "annotations": {"kubernetes.io/config.mirror": "hash", "kubernetes.io/config.source": "file"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid, "controller": true}]},
        "spec": {"nodeName": node, "hostNetwork": true, "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "h", "hostPath": {"path": "/h"}}, {"name": "e"}],
            "tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}})
}

pub(in crate::conformance) fn lease(node: &str) -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": node, "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": "2026-11-16T12:00:00.000000Z"}})
}

pub(in crate::conformance) fn csi_node(node: &str) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node, "labels": {"round": "ROUND"}},
        "spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": ["k"]}]}})
}

pub(in crate::conformance) fn slice(name: &str, node: &str) -> Value {
    json!({
        "apiVersion": named("resourceslices.resource.k8s.io").api_version(), "kind": "ResourceSlice",
        "metadata": {"name": name, "labels": {"round": "ROUND"}},
        "spec": {"driver": "example.com", "nodeName": node,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}},
    })
}

pub(in crate::conformance) fn token(pod: &str, audience: &[&str]) -> Value {
    json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": audience,
        "expirationSeconds": 3607,
        "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": format!("uid-of-{pod}")}}})
}

pub(in crate::conformance) fn eviction(pod: &str) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": "ROUND"}})
}

pub(in crate::conformance) fn delete_options() -> Value {
    json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
}

pub(in crate::conformance) fn event(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "ROUND"}, "reason": "Pulled",
        "type": "Normal", "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "ROUND", "name": "p1"},
        "firstTimestamp": NOW, "lastTimestamp": NOW, "count": 1, "source": {"component": "kubelet", "host": "ROUND-n1"}})
}

/// The request itself is put in by whoever knows how the node is called in this round.
pub(in crate::conformance) fn signing_request(name: &str, signer: &str, request: &str) -> Value {
    json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": name, "labels": {"round": "ROUND"}},
        "spec": {"signerName": signer, "request": request, "usages": ["digital signature", "client auth"]}})
}

pub(in crate::conformance) fn access_review(local: bool) -> Value {
    let kind = if local {
        "LocalSubjectAccessReview"
    } else {
        "SubjectAccessReview"
    };
    json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind,
        "metadata": if local { json!({"namespace": "ROUND"}) } else { json!({}) },
        "spec": {"user": "somebody", "resourceAttributes": {"namespace": "ROUND", "verb": "get", "resource": "pods"}}})
}

pub(in crate::conformance) fn token_review() -> Value {
    json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "x"}})
}

pub(in crate::conformance) fn claim_status() -> Value {
    json!({"status": {"capacity": {"storage": "2Gi"}, "conditions": [{"type": "Resizing", "status": "True"}]}})
}
