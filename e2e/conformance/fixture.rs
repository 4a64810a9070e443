//! What there is at the beginning of a round: what the table of known cases speaks of, and something to delete.

use futures_util::{StreamExt as _, stream};
use http::Request;
use serde_json::{Value, json};

use crate::{
    gate::Client,
    graph::{
        created,
        objects::{attachment, claim, config_map, pod, resource_claim, secret, slice, volume, volumes},
        patched,
    },
    release,
};

/// Made at once, since none of a group needs another one.
type Group = Vec<(String, Value)>;

pub(super) const RUNTIME_CLASSES: &str = "/apis/node.k8s.io/v1/runtimeclasses";

/// What all rounds share.
pub(super) async fn shared(admin: &Client) {
    let class =
        json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "shared"}, "handler": "h"});
    created(admin, RUNTIME_CLASSES, &class).await;
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shared"},
        "spec": {"clusterIP": "10.0.0.77", "ports": [{"port": 80}]}});
    created(admin, "/api/v1/namespaces/default/services", &service).await;
    let endpoints = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "shared"}});
    created(admin, "/api/v1/namespaces/default/endpoints", &endpoints).await;
}

/// All names that are not in the namespace `<round>` begin with `<round>-`. There is this certificate signing request.
pub(super) async fn fill(admin: &Client, round: &str, request: &str) {
    for group in [base(round), used(round, request), pods(round)] {
        stream::iter(group)
            .for_each_concurrent(6, async |(path, mut object)| {
                object["metadata"]["labels"]["round"] = json!(round);
                created(admin, &path, &object).await;
            })
            .await;
    }
    let status = json!({"status": {
        "resourceClaimStatuses": [
            {"name": "rt", "resourceClaimName": "rt-abc"},
            {"name": "ru", "resourceClaimName": "ru-abc"},
        ],
        "conditions": [{"type": "Ready", "status": "True"}],
    }});
    let pods = format!("/api/v1/namespaces/{round}/pods");
    patched(
        admin,
        &format!("{pods}/p1/status"),
        "application/merge-patch+json",
        &status,
    )
    .await;
    let container = json!({"name": "debug", "image": "i", "envFrom": [{"secretRef": {"name": "s9"}}]});
    let debug = json!({"spec": {"ephemeralContainers": [container]}});
    let target = format!("{pods}/p3/ephemeralcontainers");
    patched(admin, &target, "application/strategic-merge-patch+json", &debug).await;
}

/// Takes away what would be in lists for ever.
pub(super) async fn clear(admin: &Client, round: &str) {
    let slices = format!("/apis/resource.k8s.io/{}/resourceslices", release::resource_api());
    let pods = format!("/api/v1/namespaces/{round}/pods");
    for collection in [
        &pods,
        "/api/v1/nodes",
        "/api/v1/persistentvolumes",
        "/apis/storage.k8s.io/v1/csidrivers",
        "/apis/storage.k8s.io/v1/csinodes",
        "/apis/storage.k8s.io/v1/volumeattachments",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        &slices,
    ] {
        let target = format!("{collection}?labelSelector=round%3D{round}&gracePeriodSeconds=0");
        admin.send(Request::delete(target), "").await.unwrap();
    }
}

fn base(round: &str) -> Group {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": round}});
    let mut group = vec![("/api/v1/namespaces".to_owned(), namespace)];
    for name in ["n1", "n2"] {
        group.push(("/api/v1/nodes".to_owned(), node(&format!("{round}-{name}"))));
    }
    for name in ["stg", "ctl"] {
        let secret = secret(&format!("{round}-{name}"));
        group.push(("/api/v1/namespaces/kube-system/secrets".to_owned(), secret));
    }
    let driver = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": format!("{round}-driver")},
        "spec": {"attachRequired": false, "tokenRequests": [{"audience": "csi-aud"}]},
    });
    group.push(("/apis/storage.k8s.io/v1/csidrivers".to_owned(), driver));
    group
}

fn used(round: &str, request: &str) -> Group {
    let core = format!("/api/v1/namespaces/{round}");
    let mut group = Vec::new();
    for name in ["default", "sa1", "sa2", "sa3"] {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
        group.push((format!("{core}/serviceaccounts"), account));
    }
    for name in ["s1", "s2", "s9"] {
        group.push((format!("{core}/secrets"), secret(name)));
    }
    for name in ["cm1", "cm2", "cmm"] {
        group.push((format!("{core}/configmaps"), config_map(name)));
    }
    for name in ["pvc1", "pvc2", "pvcm", "p1-eph"] {
        let mut claim = claim(name);
        if name == "pvc1" {
            claim["spec"]["volumeName"] = json!(format!("{round}-pv1"));
        }
        group.push((format!("{core}/persistentvolumeclaims"), claim));
    }
    let api = release::resource_api();
    for name in ["rc1", "rc2", "rt-abc", "ru-abc"] {
        let mut claim = of_release(resource_claim(name));
        if api == "v1beta1" {
            claim["spec"]["devices"]["requests"] = json!([{"name": "d", "deviceClassName": "example.com"}]);
        }
        group.push((
            format!("/apis/resource.k8s.io/{api}/namespaces/{round}/resourceclaims"),
            claim,
        ));
    }
    let csi = json!({
        "driver": format!("{round}-driver"), "volumeHandle": "h",
        "nodeStageSecretRef": {"namespace": "kube-system", "name": format!("{round}-stg")},
        "controllerPublishSecretRef": {"namespace": "kube-system", "name": format!("{round}-ctl")},
    });
    let pv = volume(&format!("{round}-pv1"), round, "pvc1", "csi", &csi);
    group.push(("/api/v1/persistentvolumes".to_owned(), pv));
    for number in [1, 2] {
        let node = format!("{round}-n{number}");
        let va = attachment(&format!("{round}-va{number}"), &node, &format!("{round}-pv1"));
        group.push(("/apis/storage.k8s.io/v1/volumeattachments".to_owned(), va));
        let slices = format!("/apis/resource.k8s.io/{api}/resourceslices");
        for slice_name in ["sl", "sx"] {
            group.push((
                slices.clone(),
                of_release(slice(&format!("{round}-{slice_name}{number}"), &node)),
            ));
        }
    }
    // The first node has none yet.
    let node = format!("{round}-n2");
    let csi_node = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node}, "spec": {"drivers": []}});
    group.push(("/apis/storage.k8s.io/v1/csinodes".to_owned(), csi_node));
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": node},
        "spec": {"holderIdentity": node, "leaseDurationSeconds": 40}});
    group.push((
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases".to_owned(),
        lease,
    ));
    let csr = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": format!("{round}-csr")}, "spec": {"signerName": "example.com/s", "request": request,
        "usages": ["digital signature", "client auth"]}});
    group.push((
        "/apis/certificates.k8s.io/v1/certificatesigningrequests".to_owned(),
        csr,
    ));
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1"}, "reason": "R", "type": "Normal",
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": round, "name": "p1"}, "count": 1});
    group.push((format!("{core}/events"), event));
    group
}

/// In base64, as it stands in JSON.
pub(super) fn signing_request(name: &str) -> String {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    BASE64_STANDARD.encode(crate::restriction::request_of(name))
}

fn of_release(mut object: Value) -> Value {
    object["apiVersion"] = json!(format!("resource.k8s.io/{}", release::resource_api()));
    object
}

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "node-role.kubernetes.io/worker": "", "example.com/kept": "x"},
            "annotations": {"a": "b"},
        },
        "spec": {"taints": [{"key": "t", "value": "v", "effect": "NoSchedule"}]},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}, {"type": "Hostname", "address": name}],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

/// `p1`, `p3`, `d1` to `d4` and the mirror `m1` are bound to the first node, `p2` and `d5` to the second one, `p0` to none.
fn pods(round: &str) -> Group {
    let (own, other) = (format!("{round}-n1"), format!("{round}-n2"));
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
            {"name": "ru", "resourceClaimTemplateName": "template"},
        ],
    });
    let mut p1 = pod("p1", &own, &spec);
    p1["metadata"]["labels"] = json!({"app": "one"});
    p1["metadata"]["annotations"] = json!({"a": "b"});
    let account = |name: &str| json!({"serviceAccountName": name});
    let token = json!({"sources": [{"serviceAccountToken": {"audience": "aud3", "path": "t"}}]});
    let p3 = json!({"serviceAccountName": "sa3", "volumes": [{"name": "t", "projected": token}]});
    let mut m1 = pod(
        "m1",
        &own,
        &json!({"volumes": [
            {"name": "cm", "configMap": {"name": "cmm"}},
            {"name": "pvc", "persistentVolumeClaim": {"claimName": "pvcm"}},
        ]}),
    );
    m1["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "hash"});
    let secret = json!({"serviceAccountName": "sa2", "volumes": [{"name": "s", "secret": {"secretName": "s2"}}]});
    let mut pods = vec![
        p1,
        m1,
        pod("p2", &other, &secret),
        pod("p0", "", &account("sa2")),
        pod("p3", &own, &p3),
    ];
    for name in ["d1", "d2", "d3", "d4"] {
        pods.push(pod(name, &own, &json!({})));
    }
    pods.push(pod("d5", &other, &json!({})));
    let path = format!("/api/v1/namespaces/{round}/pods");
    pods.into_iter().map(|pod| (path.clone(), pod)).collect()
}

/// Things whose uid is spoken of as `uid-of-<name>`, and where they are.
pub(super) fn with_uids(round: &str) -> Vec<(String, String)> {
    let core = format!("/api/v1/namespaces/{round}");
    let nodes = ["n1", "n2"].map(|name| (name.to_owned(), format!("/api/v1/nodes/{round}-{name}")));
    let pods = ["p0", "p1", "p2", "p3", "m1", "d1", "d2", "d3", "d4", "d5"]
        .map(|name| (name.to_owned(), format!("{core}/pods/{name}")));
    let accounts = ["sa1", "sa2"].map(|name| (name.to_owned(), format!("{core}/serviceaccounts/{name}")));
    nodes.into_iter().chain(pods).chain(accounts).collect()
}

/// What the first node can read as soon as informers have seen the last of the objects, and what the second one can.
pub(super) fn made_last(round: &str) -> (Vec<String>, Vec<String>) {
    let api = release::resource_api();
    let core = format!("/api/v1/namespaces/{round}");
    let pods = format!("{core}/pods");
    let mut first = vec![
        format!("{pods}/p1"),
        format!("{pods}/m1"),
        format!("{pods}/d4"),
        format!("/api/v1/persistentvolumes/{round}-pv1"),
        format!("/apis/resource.k8s.io/{api}/namespaces/{round}/resourceclaims/rt-abc"),
        format!("/apis/resource.k8s.io/{api}/resourceslices/{round}-sl1"),
        format!("/apis/storage.k8s.io/v1/volumeattachments/{round}-va1"),
    ];
    if release::minor() >= 33 {
        first.push(format!("{core}/secrets/s9"));
    }
    let second = vec![
        format!("{pods}/p2"),
        format!("{pods}/d5"),
        format!("/apis/resource.k8s.io/{api}/resourceslices/{round}-sx2"),
    ];
    (first, second)
}
