//! The state that the rows are about.

use serde_json::json;

use super::super::{
    admin_client, created,
    objects::{
        attachment, claim, config_map, namespace, node, pod, pod_with_secret, resource_claim, secret, slice, volume,
        volumes,
    },
    patched,
};
use crate::{
    cluster::Cluster,
    pki::{CN, Entity, O, Template, UTF8, rdn},
};

/// Users that are no nodes, though something of them is like one: file, common name, organization.
const NO_NODES: &[(&str, &str, Option<&str>)] = &[
    ("no-group", "system:node:n1", None),
    ("no-name", "kubelet-n1", Some("system:nodes")),
];

pub(super) async fn fill(cluster: &Cluster) {
    for (file, name, group) in NO_NODES {
        cluster.user(file, name, *group);
    }
    two_names(cluster);
    for name in ["n1", "n2"] {
        node(cluster, name).await;
    }
    namespace(cluster, "ns").await;
    let admin = admin_client(cluster).await;
    let (core, resource) = (
        "/api/v1/namespaces/ns",
        "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims",
    );
    for name in ["sa1", "sa2"] {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
        created(&admin, &format!("{core}/serviceaccounts"), &account).await;
    }
    for name in ["s1", "s2", "s9"] {
        created(&admin, &format!("{core}/secrets"), &secret(name)).await;
    }
    for name in ["stg", "ctl"] {
        created(&admin, "/api/v1/namespaces/kube-system/secrets", &secret(name)).await;
    }
    for name in ["cm1", "cmm"] {
        created(&admin, &format!("{core}/configmaps"), &config_map(name)).await;
    }
    for name in ["pvc1", "pvcm", "p1-eph"] {
        created(&admin, &format!("{core}/persistentvolumeclaims"), &claim(name)).await;
    }
    for name in ["rc1", "rt-abc"] {
        created(&admin, resource, &resource_claim(name)).await;
    }
    let csi = json!({
        "driver": "example.com", "volumeHandle": "h",
        "nodeStageSecretRef": {"namespace": "kube-system", "name": "stg"},
        "controllerPublishSecretRef": {"namespace": "kube-system", "name": "ctl"},
    });
    let pv1 = volume("pv1", "ns", "pvc1", "csi", &csi);
    created(&admin, "/api/v1/persistentvolumes", &pv1).await;

    let spec = json!({
        "serviceAccountName": "sa1",
        "containers": [{
            "name": "c", "image": "i",
            "env": [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "sx", "key": "k", "optional": true}}}],
        }],
        "volumes": volumes(),
        "resourceClaims": [
            {"name": "rc", "resourceClaimName": "rc1"},
            {"name": "rt", "resourceClaimTemplateName": "template"},
        ],
    });
    let pods = format!("{core}/pods");
    created(&admin, &pods, &pod("p1", "n1", &spec)).await;
    let status = json!({"status": {"resourceClaimStatuses": [{"name": "rt", "resourceClaimName": "rt-abc"}]}});
    patched(
        &admin,
        &format!("{pods}/p1/status"),
        "application/merge-patch+json",
        &status,
    )
    .await;
    let mut p2 = pod_with_secret("p2", "n2");
    p2["spec"]["volumes"][0]["secret"]["secretName"] = json!("s2");
    p2["spec"]["serviceAccountName"] = json!("sa2");
    created(&admin, &pods, &p2).await;
    created(&admin, &pods, &pod_with_secret("p0", "")).await;
    let volumes = json!([
        {"name": "cm", "configMap": {"name": "cmm"}},
        {"name": "pvc", "persistentVolumeClaim": {"claimName": "pvcm"}},
    ]);
    let mut mirror = pod("m1", "n1", &json!({"volumes": volumes}));
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": ""});
    created(&admin, &pods, &mirror).await;

    let attachments = "/apis/storage.k8s.io/v1/volumeattachments";
    created(&admin, attachments, &attachment("va1", "n1", "pv1")).await;
    for (name, node) in [("sl1", "n1"), ("sl2", "n2")] {
        created(&admin, "/apis/resource.k8s.io/v1/resourceslices", &slice(name, node)).await;
    }
}

/// A certificate with two common names, of which the last counts.
fn two_names(cluster: &Cluster) {
    let name = |oid, text: &str| rdn(oid, UTF8, text.as_bytes());
    let subject = [
        name(CN, "system:node:n2"),
        name(CN, "system:node:n1"),
        name(O, "system:nodes"),
    ];
    let ca = &cluster.pki.client_ca;
    let leaf = Entity::from_pem(&ca.certificate, &ca.key).sign(Template::client("").subject(&subject));
    std::fs::write(cluster.file("two-names.crt"), leaf.pem()).unwrap();
    std::fs::write(cluster.file("two-names.key"), leaf.key_pem()).unwrap();
    cluster.kubeconfig("two-names", "two-names", cluster.api);
}
