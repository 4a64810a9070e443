//! Objects that nodes have to do with.

use serde_json::{Value, json};

use super::{admin_client, created};
use crate::{cluster::Cluster, release};

/// A namespace in which pods can be made.
pub(crate) async fn namespace(cluster: &Cluster, name: &str) {
    let admin = admin_client(cluster).await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    created(&admin, "/api/v1/namespaces", &namespace).await;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    created(&admin, &format!("/api/v1/namespaces/{name}/serviceaccounts"), &account).await;
}

/// A node, and the certificate of its kubelet.
pub(crate) async fn node(cluster: &Cluster, name: &str) {
    cluster.user(name, &format!("system:node:{name}"), Some("system:nodes"));
    let labels = json!({"kubernetes.io/hostname": name});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}});
    created(&admin_client(cluster).await, "/api/v1/nodes", &node).await;
}

/// With whatever else its spec has. It runs nowhere, so it is gone as soon as it is deleted.
pub(crate) fn pod(name: &str, node: &str, spec: &Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "i"}],
        },
    });
    if !node.is_empty() {
        pod["spec"]["nodeName"] = json!(node);
    }
    for (key, value) in spec.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}

/// One of every kind by which a pod gives its node something: `s1`, `cm1`, `pvc1`, a claim of the pod's own, and tokens for `aud1`.
pub(crate) fn volumes() -> Value {
    json!([
        {"name": "s", "secret": {"secretName": "s1"}},
        {"name": "cm", "configMap": {"name": "cm1"}},
        {"name": "pvc", "persistentVolumeClaim": {"claimName": "pvc1"}},
        {"name": "eph", "ephemeral": {"volumeClaimTemplate": {"spec": claim("")["spec"]}}},
        {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"audience": "aud1", "path": "t"}}]}},
    ])
}

/// That uses the secret of its name.
pub(crate) fn pod_with_secret(name: &str, node: &str) -> Value {
    let volume = json!({"name": "v", "secret": {"secretName": name}});
    pod(name, node, &json!({"volumes": [volume]}))
}

pub(crate) fn secret(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}})
}

pub(crate) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

pub(crate) fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    })
}

/// For a claim, with a source such as `csi`.
pub(crate) fn volume(name: &str, namespace: &str, claim: &str, source: &str, settings: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
            "claimRef": {"namespace": namespace, "name": claim},
            source: settings,
        },
    })
}

pub(crate) fn attachment(name: &str, node: &str, volume: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name},
        "spec": {"attacher": "example.com", "nodeName": node, "source": {"persistentVolumeName": volume}},
    })
}

pub(crate) fn slice(name: &str, node: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
        "spec": {
            "driver": "example.com", "nodeName": node,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        },
    })
}

pub(crate) fn resource_claim(name: &str) -> Value {
    let request = match release::resource_api() {
        "v1beta1" => json!({"name": "d", "deviceClassName": "example.com"}),
        _ => json!({"name": "d", "exactly": {"deviceClassName": "example.com"}}),
    };
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
        "spec": {"devices": {"requests": [request]}},
    })
}
