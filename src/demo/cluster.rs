//! The sample cluster: two nodes, each with one pod, and what the pods and their volumes refer to. Names tell the relation.

use serde_json::{Value, json};

/// Nodes of the sample, each with a kubeconfig in the demo's folder.
pub const NODES: &[&str] = &["node-a", "node-b"];

/// All objects of the sample cluster.
pub fn objects() -> Vec<Value> {
    let mut objects: Vec<Value> = ["default", "kube-system", "kube-node-lease"]
        .into_iter()
        .map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
        .collect();
    for node in NODES {
        let pod = format!("web-on-{node}");
        let secret = format!("secret-of-{pod}");
        let config = format!("config-of-{pod}");
        let (claim, volume) = (format!("claim-of-{pod}"), format!("volume-of-{pod}"));
        let key = format!("secret-of-{volume}");
        objects.extend([
            json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": node, "labels": {"kubernetes.io/hostname": node}},
                "spec": {"taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}]},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
            json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"name": node, "namespace": "kube-node-lease"},
                "spec": {"holderIdentity": node, "leaseDurationSeconds": 40}}),
            json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": pod, "namespace": "default", "labels": {"app": "web"}},
                "spec": {"nodeName": node, "serviceAccountName": "default",
                    "containers": [{"name": "web", "image": "web:1"}],
                    "volumes": [
                        {"name": "secret", "secret": {"secretName": secret}},
                        {"name": "config", "configMap": {"name": config}},
                        {"name": "data", "persistentVolumeClaim": {"claimName": claim}},
                    ]},
                "status": {"phase": "Running"}}),
            json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {"name": secret, "namespace": "default"}, "data": {"password": "aHVudGVyMg=="}}),
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": config, "namespace": "default"}, "data": {"greeting": "hello"}}),
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "metadata": {"name": claim, "namespace": "default"}, "spec": {"volumeName": volume}}),
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
                "spec": {"claimRef": {"namespace": "default", "name": claim},
                    "csi": {"driver": "csi.example.com", "volumeHandle": volume,
                        "nodeStageSecretRef": {"namespace": "kube-system", "name": key}}}}),
            json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {"name": key, "namespace": "kube-system"}, "data": {"key": "aHVudGVyMg=="}}),
        ]);
    }
    objects.push(json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": "default"}}));
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::standin::Standin;

    #[test]
    fn the_stand_in_holds_every_object() {
        assert_eq!(Standin::new(objects()).left_out(), &[] as &[String]);
    }
}
