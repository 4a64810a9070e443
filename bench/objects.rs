//! A cluster as large as the one that upstream measures its own authorizer with, and with objects as large as in a cluster that is
//! used: pods with managed fields and a status, nodes with images and conditions.

use std::ops::Range;

use serde_json::{Value, json};

use crate::etcd::Stored;

/// Objects as JSON, with words in place of what differs between them.
pub(crate) struct Objects {
    pod: String,
    pod_with_claim: String,
    node: String,
}

pub(crate) const PODS_PER_NODE: usize = 30;
const NAMESPACES: usize = 200;
/// Pods that share a service account.
const PODS_PER_ACCOUNT: usize = 10;
/// Of so many pods of a node, one has a claim.
const PODS_PER_CLAIM: usize = 5;
/// That a kubelet tells of.
const IMAGES: usize = 50;

const TIME: &str = "2026-05-04T08:15:30Z";

impl Objects {
    pub(crate) fn new() -> Self {
        Self {
            pod: pod(false).to_string(),
            pod_with_claim: pod(true).to_string(),
            node: node().to_string(),
        }
    }

    /// A pod as it was at some time, of which there are sixty.
    pub(crate) fn pod(&self, node: usize, pod: usize, time: usize) -> Stored {
        let (namespace, name) = (namespace(node, pod), pod_name(node, pod));
        let template = if has_claim(pod) {
            &self.pod_with_claim
        } else {
            &self.pod
        };
        let text = template
            .replace("@pod", &name)
            .replace("@namespace", &namespace)
            .replace("@uid", &uid(0xa, node * PODS_PER_NODE + pod))
            .replace("@node", &node_name(node))
            .replace("@account", &account(node, pod))
            .replace("@time", &format!("2026-05-04T08:15:{:02}Z", time % 60));
        (format!("/registry/pods/{namespace}/{name}"), text)
    }

    /// A node with all that is on it.
    pub(crate) fn of_node(&self, node: usize) -> Vec<Stored> {
        let name = node_name(node);
        let text = self.node.replace("@node", &name).replace("@uid", &uid(0xb, node));
        let text = text.replace(
            "@address",
            &format!("10.{}.{}.{}", node >> 16 & 255, node >> 8 & 255, node & 255),
        );
        let mut all = vec![(format!("/registry/minions/{name}"), text)];
        for pod in 0..PODS_PER_NODE {
            all.push(self.pod(node, pod, 0));
            if pod.is_multiple_of(PODS_PER_ACCOUNT) {
                all.push(service_account(node, pod));
            }
            if has_claim(pod) {
                all.extend([claim(node, pod), volume(node, pod)]);
            }
        }
        all
    }
}

/// What there is of each in a range of nodes, for people.
pub(crate) fn said(nodes: &Range<usize>) -> String {
    let pods = nodes.len() * PODS_PER_NODE;
    let (accounts, claims) = (pods / PODS_PER_ACCOUNT, pods / PODS_PER_CLAIM);
    format!(
        "{} nodes, {pods} pods, {accounts} service accounts, {claims} claims with volumes",
        nodes.len()
    )
}

/// The nodes that the rest of the benchmark knows are among them.
fn node_name(node: usize) -> String {
    format!("n{node}")
}

fn pod_name(node: usize, pod: usize) -> String {
    format!("checkout-7c5ddbdf54-n{node:04}p{pod:02}")
}

fn namespace(node: usize, pod: usize) -> String {
    format!("team-shop-{:03}", (node + pod / PODS_PER_ACCOUNT) % NAMESPACES)
}

fn account(node: usize, pod: usize) -> String {
    format!("checkout-n{node:04}g{}", pod / PODS_PER_ACCOUNT)
}

fn has_claim(pod: usize) -> bool {
    pod.is_multiple_of(PODS_PER_CLAIM)
}

fn uid(kind: usize, number: usize) -> String {
    format!("{kind:08x}-6f0e-4d0e-9d6f-{number:012x}")
}

fn pod(claim: bool) -> Value {
    let mut pod: Value = serde_json::from_str(include_str!("../benches/graph/rest.json")).unwrap();
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    for (key, value) in [("name", "@pod"), ("namespace", "@namespace"), ("uid", "@uid")] {
        pod["metadata"][key] = json!(value);
    }
    pod["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    for (key, value) in [
        ("nodeName", "@node"),
        ("serviceAccountName", "@account"),
        ("serviceAccount", "@account"),
    ] {
        pod["spec"][key] = json!(value);
    }
    let data = if claim {
        json!({"name": "data", "persistentVolumeClaim": {"claimName": "data-@pod"}})
    } else {
        json!({"name": "data", "emptyDir": {}})
    };
    let token = json!({"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}});
    let ca = json!({"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}});
    pod["spec"]["volumes"] = json!([
        {"name": "config", "configMap": {"name": "config-@pod", "defaultMode": 420}},
        data,
        {"name": "own", "secret": {"secretName": "tls-@pod", "defaultMode": 420}},
        {"name": "shared", "secret": {"secretName": "registry-credentials", "defaultMode": 420}},
        {"name": "kube-api-access-7zq4x", "projected": {"defaultMode": 420, "sources": [token, ca]}},
    ]);
    pod["status"]["conditions"][2]["lastTransitionTime"] = json!("@time");
    pod
}

fn node() -> Value {
    let condition = |kind: &str, reason: &str| {
        json!({
            "type": kind, "status": if kind == "Ready" { "True" } else { "False" }, "reason": reason,
            "message": format!("kubelet has {reason}"), "lastHeartbeatTime": TIME, "lastTransitionTime": TIME,
        })
    };
    let image = |number: usize| {
        let digest = format!("{number:02x}").repeat(32);
        let name = format!("registry.example.com/shop/service-{number}");
        json!({"names": [format!("{name}@sha256:{digest}"), format!("{name}:2.14.{number}")], "sizeBytes": 91_234_567 + number})
    };
    let resources = json!({
        "cpu": "16", "memory": "65536Mi", "pods": "110", "ephemeral-storage": "203056560Ki", "hugepages-2Mi": "0",
    });
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": "@node", "uid": "@uid", "creationTimestamp": TIME,
            "labels": {
                "kubernetes.io/hostname": "@node", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/instance-type": "m.4xlarge", "topology.kubernetes.io/zone": "zone-a",
            },
            "annotations": {"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"podCIDR": "10.244.7.0/24", "podCIDRs": ["10.244.7.0/24"], "providerID": "example:///zone-a/@node"},
        "status": {
            "capacity": resources, "allocatable": resources,
            "conditions": [
                condition("MemoryPressure", "KubeletHasSufficientMemory"), condition("DiskPressure", "KubeletHasNoDiskPressure"),
                condition("PIDPressure", "KubeletHasSufficientPID"), condition("Ready", "KubeletReady"),
            ],
            "addresses": [{"type": "InternalIP", "address": "@address"}, {"type": "Hostname", "address": "@node"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "machineID": "ec2e1c0d9e8f7a6b5c4d3e2f1a0b6a1f", "systemUUID": "ec2e1c0d-9e8f-7a6b-5c4d-3e2f1a0b6a1f",
                "bootID": "1c0d9e8f-7a6b-5c4d-3e2f-1a0b6a1f0c9d", "kernelVersion": "6.12.9", "osImage": "Example Linux 12",
                "containerRuntimeVersion": "containerd://2.0.2", "kubeletVersion": "v1.36.3", "kubeProxyVersion": "",
                "operatingSystem": "linux", "architecture": "amd64",
            },
            "images": (0..IMAGES).map(image).collect::<Vec<_>>(),
        },
    })
}

fn service_account(node: usize, pod: usize) -> Stored {
    let (namespace, name) = (namespace(node, pod), account(node, pod));
    let metadata = json!({
        "name": name, "namespace": namespace, "uid": uid(0xc, node * PODS_PER_NODE + pod), "creationTimestamp": TIME,
        "labels": {"app.kubernetes.io/name": "checkout", "app.kubernetes.io/managed-by": "Helm"},
    });
    let object = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    (
        format!("/registry/serviceaccounts/{namespace}/{name}"),
        object.to_string(),
    )
}

fn claim(node: usize, pod: usize) -> Stored {
    let (namespace, name) = (namespace(node, pod), format!("data-{}", pod_name(node, pod)));
    let object = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name, "namespace": namespace, "uid": uid(0xd, node * PODS_PER_NODE + pod), "creationTimestamp": TIME,
            "annotations": {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"},
            "finalizers": ["kubernetes.io/pvc-protection"],
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}, "storageClassName": "fast",
            "volumeMode": "Filesystem", "volumeName": volume_name(node, pod),
        },
        "status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "10Gi"}},
    });
    (
        format!("/registry/persistentvolumeclaims/{namespace}/{name}"),
        object.to_string(),
    )
}

fn volume(node: usize, pod: usize) -> Stored {
    let name = volume_name(node, pod);
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace(node, pod),
        "name": format!("data-{}", pod_name(node, pod)), "uid": uid(0xd, node * PODS_PER_NODE + pod),
    });
    let object = json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {
            "name": name, "uid": uid(0xe, node * PODS_PER_NODE + pod), "creationTimestamp": TIME,
            "annotations": {"pv.kubernetes.io/provisioned-by": "csi.example.com"},
            "finalizers": ["kubernetes.io/pv-protection"],
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "10Gi"}, "claimRef": claim, "storageClassName": "fast",
            "persistentVolumeReclaimPolicy": "Delete", "volumeMode": "Filesystem",
            "csi": {
                "driver": "csi.example.com", "volumeHandle": name, "fsType": "ext4",
                "nodeStageSecretRef": {"namespace": "kube-system", "name": "csi-credentials"},
            },
        },
        "status": {"phase": "Bound"},
    });
    (format!("/registry/persistentvolumes/{name}"), object.to_string())
}

fn volume_name(node: usize, pod: usize) -> String {
    format!("pvc-{}", uid(0xd, node * PODS_PER_NODE + pod))
}
