//! Every field of a pod or a persistent volume that lets a node read something, with objects that kube-apiserver takes.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Gated, admin_client, created, deleted,
    objects::{claim, config_map, namespace, node, pod, resource_claim, secret, volume},
    open_cluster, patched,
};
use crate::{
    cluster::{Cluster, Guard, shared},
    gate::Client,
    release, report,
};

const NAMESPACE: &str = "refs";
const CORE: &str = "/api/v1/namespaces/refs";
const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/refs/resourceclaims";

/// Volumes of a pod: the name of the source, its settings, and what they let read. Secrets are called like the source.
fn pod_volumes() -> Vec<Value> {
    let named = |name: &str| json!({"name": name});
    let sources = [
        ("azureFile", json!({"secretName": "azurefile", "shareName": "s"})),
        ("cephfs", json!({"monitors": ["m"], "secretRef": named("cephfs")})),
        ("cinder", json!({"volumeID": "v", "secretRef": named("cinder")})),
        ("flexVolume", json!({"driver": "d/d", "secretRef": named("flexvolume")})),
        (
            "rbd",
            json!({"monitors": ["m"], "image": "i", "secretRef": named("rbd")}),
        ),
        (
            "scaleIO",
            json!({"gateway": "g", "system": "s", "volumeName": "v", "secretRef": named("scaleio")}),
        ),
        (
            "iscsi",
            json!({"targetPortal": "127.0.0.1", "iqn": "iqn.2000-01.com.example:x", "lun": 0,
            "chapAuthSession": true, "secretRef": named("iscsi")}),
        ),
        ("storageos", json!({"volumeName": "v", "secretRef": named("storageos")})),
        (
            "csi",
            json!({"driver": "example.com", "nodePublishSecretRef": named("csi")}),
        ),
        ("secret", json!({"secretName": "secret"})),
        ("configMap", json!({"name": "configmap"})),
        ("persistentVolumeClaim", json!({"claimName": "pvc"})),
        ("ephemeral", json!({"volumeClaimTemplate": {"spec": claim("")["spec"]}})),
        (
            "projected",
            json!({"sources": [{"secret": named("projected")}, {"configMap": named("projected")}]}),
        ),
    ];
    let volume = |(source, settings): (&str, Value)| json!({"name": source.to_lowercase(), source: settings});
    sources.into_iter().map(volume).collect()
}

/// A container of a kind, with everything that it can name.
fn container(kind: &str) -> Value {
    let name = |what: &str| json!({"name": format!("{kind}-{what}")});
    let key = |what: &str| json!({"name": format!("{kind}-{what}"), "key": "k"});
    json!({
        "name": kind, "image": "i",
        "env": [
            {"name": "A", "valueFrom": {"secretKeyRef": key("env")}},
            {"name": "B", "valueFrom": {"configMapKeyRef": key("env")}},
        ],
        "envFrom": [{"secretRef": name("envfrom")}, {"configMapRef": name("envfrom")}],
    })
}

/// Persistent volumes, each with a claim of the pod: the source, and the secrets that it names, which are in kube-system or
/// where the claim is.
fn persistent_volumes() -> Vec<(&'static str, Value)> {
    let elsewhere = |name: &str| json!({"name": name, "namespace": "kube-system"});
    vec![
        ("azureFile", json!({"secretName": "pv-azurefile", "shareName": "s"})),
        ("cephfs", json!({"monitors": ["m"], "secretRef": {"name": "pv-cephfs"}})),
        (
            "cinder",
            json!({"volumeID": "v", "secretRef": elsewhere("refs-cinder")}),
        ),
        (
            "flexVolume",
            json!({"driver": "d/d", "secretRef": elsewhere("refs-flexvolume")}),
        ),
        (
            "rbd",
            json!({"monitors": ["m"], "image": "i", "secretRef": {"name": "pv-rbd"}}),
        ),
        (
            "scaleIO",
            json!({"gateway": "g", "system": "s", "volumeName": "v", "secretRef": {"name": "pv-scaleio"}}),
        ),
        (
            "iscsi",
            json!({"targetPortal": "127.0.0.1", "iqn": "iqn.2000-01.com.example:x", "lun": 0,
            "chapAuthSession": true, "secretRef": elsewhere("refs-iscsi")}),
        ),
        (
            "storageos",
            json!({"volumeName": "v", "secretRef": elsewhere("refs-storageos")}),
        ),
        (
            "csi",
            json!({"driver": "example.com", "volumeHandle": "h",
                "nodePublishSecretRef": elsewhere("refs-publish"), "nodeStageSecretRef": elsewhere("refs-stage"),
                "nodeExpandSecretRef": elsewhere("refs-expand"),
                "controllerPublishSecretRef": elsewhere("refs-controller"),
                "controllerExpandSecretRef": elsewhere("refs-controller"),
            }),
        ),
    ]
}

#[tokio::test]
async fn every_reference_lets_its_node_read_as_long_as_its_pod_is_there() {
    let (Some(guarded), Some(open)) = (shared(Guard::Node).await, open_cluster().await) else {
        return;
    };
    prepare(&guarded).await;
    prepare(&open).await;
    // Every refusal asks upstream here, and these are many.
    let graph = "lagWait: 20ms, liveReads: {burst: 1000, perSecond: 1000}";
    let gate = Gated::start(&open, "references", graph).await;
    let (own, other) = (gate.client("refs-a").await, gate.client("refs-b").await);
    let direct = Client::new(&guarded.file("refs-a.kubeconfig")).await;
    let targets = targets();
    let same = async |when: &str, target: &str| {
        let (direct, gated) = (direct.get(target).await, own.get(target).await);
        assert_eq!(gated.code, direct.code, "{target} {when}: {}", gated.body);
        if gated.code == StatusCode::FORBIDDEN {
            assert_eq!(gated.body, direct.body, "{target} {when}");
        }
        gated.code.as_u16()
    };
    for target in &targets {
        assert_eq!(same("before there is a pod", target).await, 403, "{target}");
    }

    bind(&guarded).await;
    bind(&open).await;
    for target in &targets {
        let known = async || direct.get(target).await.code != StatusCode::FORBIDDEN;
        gate.until("path in kube-apiserver's own graph", known).await;
        // Whether it is there is for upstream to say.
        assert!(matches!(same("with the pod", target).await, 200 | 404), "{target}");
        let answer = other.get(target).await;
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{target}: {}", answer.body);
    }
    let controller = "/api/v1/namespaces/kube-system/secrets/refs-controller";
    assert_eq!(same("with the pod", controller).await, 403);

    // What a pod is given by its status, it can lose while it stays, and another pod elsewhere keep.
    let spec = json!({
        "containers": [{"name": "c", "image": "i"}],
        "resourceClaims": [{"name": "a", "resourceClaimName": "by-template"}],
    });
    for cluster in [&guarded, &open] {
        let admin = admin_client(cluster).await;
        created(&admin, &format!("{CORE}/pods"), &pod("keeps", "refs-b", &spec)).await;
    }
    let kept = format!("{CLAIMS}/by-template");
    let keeps = async || other.get(&kept).await.code != StatusCode::FORBIDDEN;
    gate.until("claim of another pod", keeps).await;
    let status = json!({"status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made-anew"}]}});
    for cluster in [&guarded, &open] {
        let (admin, pod) = (admin_client(cluster).await, format!("{CORE}/pods/all/status"));
        patched(&admin, &pod, "application/merge-patch+json", &status).await;
    }
    for (claim, is_gone) in [("by-template", true), ("made-anew", false)] {
        let target = format!("{CLAIMS}/{claim}");
        let settled = async |client: &Client| (client.get(&target).await.code == StatusCode::FORBIDDEN) == is_gone;
        gate.until("another claim", async || settled(&direct).await && settled(&own).await)
            .await;
        same("with another claim", &target).await;
    }
    assert!(keeps().await, "{kept}");

    for cluster in [&guarded, &open] {
        deleted(&admin_client(cluster).await, &format!("{CORE}/pods/all")).await;
    }
    for target in &targets {
        let gone = async |client: &Client| client.get(target).await.code == StatusCode::FORBIDDEN;
        gate.until("refusal", async || gone(&direct).await && gone(&own).await)
            .await;
        same("after the pod", target).await;
    }
    report::compared(
        "references",
        "fields by which a pod lets its node read something",
        targets.len(),
    );
}

/// All that the pod and its volumes let read.
fn targets() -> Vec<String> {
    let mut targets = vec![
        format!("{CORE}/secrets/pull"),
        format!("{CORE}/pods/all"),
        format!("{CORE}/persistentvolumeclaims/pvc"),
        format!("{CORE}/persistentvolumeclaims/all-ephemeral"),
        format!("{CLAIMS}/direct"),
        format!("{CLAIMS}/by-template"),
    ];
    if release::minor() >= 34 {
        targets.push(format!("{CORE}/serviceaccounts/account"));
    }
    if release::minor() >= 36 {
        targets.push(format!("{CLAIMS}/extended"));
    }
    let secrets = [
        "azurefile",
        "cephfs",
        "cinder",
        "flexvolume",
        "rbd",
        "scaleio",
        "iscsi",
        "storageos",
        "csi",
        "secret",
        "projected",
        "pv-azurefile",
        "pv-cephfs",
        "pv-rbd",
        "pv-scaleio",
    ];
    targets.extend(secrets.map(|name| format!("{CORE}/secrets/{name}")));
    targets.extend(["configmap", "projected"].map(|name| format!("{CORE}/configmaps/{name}")));
    // Before 1.33 kube-apiserver's own graph passes over ephemeral containers.
    let kinds = if release::minor() < 33 { 2 } else { 3 };
    for kind in ["init", "ordinary", "ephemeral"].into_iter().take(kinds) {
        for what in ["env", "envfrom"] {
            targets.push(format!("{CORE}/secrets/{kind}-{what}"));
            targets.push(format!("{CORE}/configmaps/{kind}-{what}"));
        }
    }
    for name in [
        "cinder",
        "flexvolume",
        "iscsi",
        "storageos",
        "publish",
        "stage",
        "expand",
    ] {
        targets.push(format!("/api/v1/namespaces/kube-system/secrets/refs-{name}"));
    }
    let volumes = 0..persistent_volumes().len();
    targets.extend(volumes.map(|at| format!("/api/v1/persistentvolumes/refs-{at}")));
    targets
}

/// All but the pod.
async fn prepare(cluster: &Cluster) {
    namespace(cluster, NAMESPACE).await;
    for name in ["refs-a", "refs-b"] {
        node(cluster, name).await;
    }
    let admin = admin_client(cluster).await;
    for (at, (source, settings)) in persistent_volumes().into_iter().enumerate() {
        let persistent = volume(
            &format!("refs-{at}"),
            NAMESPACE,
            &format!("of-pv-{at}"),
            source,
            &settings,
        );
        created(&admin, "/api/v1/persistentvolumes", &persistent).await;
    }
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "account"}});
    created(&admin, &format!("{CORE}/serviceaccounts"), &account).await;
    // Of some kinds there is one, so that they are read and not only looked for.
    created(&admin, &format!("{CORE}/secrets"), &secret("secret")).await;
    created(&admin, &format!("{CORE}/configmaps"), &config_map("configmap")).await;
    created(&admin, &format!("{CORE}/persistentvolumeclaims"), &claim("pvc")).await;
    created(&admin, CLAIMS, &resource_claim("direct")).await;
}

/// The pod, with what is added to it later.
async fn bind(cluster: &Cluster) {
    let admin = admin_client(cluster).await;
    let mut volumes = pod_volumes();
    for at in 0..persistent_volumes().len() {
        let claim = format!("of-pv-{at}");
        volumes.push(json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}}));
    }
    let mut ordinary = container("ordinary");
    ordinary["resources"] = json!({"limits": {"example.com/x": "1"}, "requests": {"example.com/x": "1"}});
    let spec = json!({
        "serviceAccountName": "account",
        "imagePullSecrets": [{"name": "pull"}],
        "initContainers": [container("init")],
        "containers": [ordinary],
        "volumes": volumes,
        "resourceClaims": [
            {"name": "a", "resourceClaimName": "direct"},
            {"name": "b", "resourceClaimTemplateName": "t"},
        ],
    });
    let path = format!("{CORE}/pods/all");
    created(&admin, &format!("{CORE}/pods"), &pod("all", "refs-a", &spec)).await;
    let status = json!({"status": {
        "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "by-template"}],
        "extendedResourceClaimStatus": {
            "resourceClaimName": "extended",
            "requestMappings": [{"containerName": "ordinary", "resourceName": "example.com/x", "requestName": "r"}],
        },
    }});
    patched(
        &admin,
        &format!("{path}/status"),
        "application/merge-patch+json",
        &status,
    )
    .await;
    let debug = json!({"spec": {"ephemeralContainers": [container("ephemeral")]}});
    let strategic = "application/strategic-merge-patch+json";
    patched(&admin, &format!("{path}/ephemeralcontainers"), strategic, &debug).await;
}
