//! What there is before anything is written: two nodes, pods on both, and what these pods use.

use serde_json::{Value, json};

use super::Names;
use crate::{
    cluster::Cluster,
    graph::{
        admin_client, created,
        objects::{claim, config_map, namespace, pod, resource_claim, secret, slice, volume, volumes},
        patched,
    },
};

/// `<node>` writes; `p1`, `p3` and the mirror `m1` are bound to it, `p2` to the other node, `p0` to none.
pub(super) async fn fill(cluster: &Cluster, names: Names) {
    let ns = names.namespace;
    let admin = admin_client(cluster).await;
    for name in names.nodes {
        cluster.user(name, &format!("system:node:{name}"), Some("system:nodes"));
        created(&admin, "/api/v1/nodes", &node(name)).await;
    }
    namespace(cluster, ns).await;
    let core = format!("/api/v1/namespaces/{ns}");
    for name in ["sa1", "sa2", "sa3"] {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
        created(&admin, &format!("{core}/serviceaccounts"), &account).await;
    }
    created(&admin, &format!("{core}/secrets"), &secret("s1")).await;
    created(&admin, &format!("{core}/configmaps"), &config_map("cm1")).await;
    for name in ["pvc1", "pvc2", "p1-eph"] {
        let mut claim = claim(name);
        if name == "pvc1" {
            claim["spec"]["volumeName"] = json!(format!("{ns}-pv1"));
        }
        created(&admin, &format!("{core}/persistentvolumeclaims"), &claim).await;
    }
    let claims = format!("/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaims");
    for name in ["rc1", "rt-abc", "ru-abc"] {
        created(&admin, &claims, &resource_claim(name)).await;
    }
    let driver = format!("{ns}.example.com");
    let csi_driver = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": driver},
        "spec": {"attachRequired": false, "tokenRequests": [{"audience": "csi-aud"}]},
    });
    created(&admin, "/apis/storage.k8s.io/v1/csidrivers", &csi_driver).await;
    let csi = json!({"driver": driver, "volumeHandle": "h"});
    let pv = volume(&format!("{ns}-pv1"), ns, "pvc1", "csi", &csi);
    created(&admin, "/api/v1/persistentvolumes", &pv).await;
    for (number, node) in (1..).zip(names.nodes) {
        let slice = slice(&format!("{ns}-sl{number}"), node);
        created(&admin, "/apis/resource.k8s.io/v1/resourceslices", &slice).await;
    }
    pods(cluster, names).await;
}

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "node-role.kubernetes.io/worker": ""},
            "annotations": {"a": "b"},
        },
        "spec": {"taints": [{"key": "t", "value": "v", "effect": "NoSchedule"}]},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}, {"type": "Hostname", "address": name}],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

async fn pods(cluster: &Cluster, names: Names) {
    let [own, other] = names.nodes;
    let admin = admin_client(cluster).await;
    let pods = format!("/api/v1/namespaces/{}/pods", names.namespace);
    let spec = json!({
        "serviceAccountName": "sa1",
        "volumes": volumes(),
        "resourceClaims": [
            {"name": "rc", "resourceClaimName": "rc1"},
            {"name": "rt", "resourceClaimTemplateName": "template"},
            {"name": "ru", "resourceClaimTemplateName": "template"},
        ],
    });
    let mut p1 = pod("p1", own, &spec);
    p1["metadata"]["labels"] = json!({"app": "one"});
    p1["metadata"]["annotations"] = json!({"a": "b"});
    created(&admin, &pods, &p1).await;
    let status = json!({"status": {
        "resourceClaimStatuses": [
            {"name": "rt", "resourceClaimName": "rt-abc"},
            {"name": "ru", "resourceClaimName": "ru-abc"},
        ],
        "conditions": [{"type": "Ready", "status": "True"}],
    }});
    patched(&admin, &format!("{pods}/p1/status"), super::MERGE_PATCH, &status).await;
    let account = |name: &str| json!({"serviceAccountName": name});
    created(&admin, &pods, &pod("p2", other, &account("sa2"))).await;
    created(&admin, &pods, &pod("p0", "", &account("sa2"))).await;
    // Neither claims anything that does not exist, so that all audiences are known to be none of its own.
    created(&admin, &pods, &pod("p3", own, &account("sa3"))).await;
    let mut m1 = pod("m1", own, &json!({}));
    m1["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "hash"});
    created(&admin, &pods, &m1).await;
}

/// Things whose uid is spoken of as `uid-of-<name>`, and where they are.
pub(super) fn with_uids(names: Names) -> Vec<(String, String)> {
    let nodes = names
        .nodes
        .map(|name| (name.to_owned(), format!("/api/v1/nodes/{name}")));
    let pods = ["p0", "p1", "p2", "p3", "m1"].map(|name| {
        let path = format!("/api/v1/namespaces/{}/pods/{name}", names.namespace);
        (name.to_owned(), path)
    });
    let accounts = ["sa1", "sa2"].map(|name| {
        let path = format!("/api/v1/namespaces/{}/serviceaccounts/{name}", names.namespace);
        (name.to_owned(), path)
    });
    nodes.into_iter().chain(pods).chain(accounts).collect()
}

/// What the node can read as soon as informers have seen the last of the objects.
pub(super) fn made_last(names: Names) -> [String; 3] {
    let ns = names.namespace;
    [
        format!("/api/v1/namespaces/{ns}/pods/m1"),
        format!("/api/v1/persistentvolumes/{ns}-pv1"),
        format!("/apis/resource.k8s.io/v1/resourceslices/{ns}-sl1"),
    ]
}
