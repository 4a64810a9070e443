//! What a kubelet of 1.36 sends from its start on, in the encodings it uses: everything passes, and the same is stored.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::Request;
use serde_json::{Value, json};

use super::{
    Names, STRATEGIC, Side, Sides,
    encode::{PROTOBUF, encode_one},
    request_of,
};
use crate::{gate::Answer, oracle};

const NAMES: Names = Names {
    namespace: "kubelet",
    nodes: ["kl1", "kl2"],
};
const NODE: &str = "/api/v1/nodes/kl1";
const PODS: &str = "/api/v1/namespaces/kubelet/pods";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const CSI_NODES: &str = "/apis/storage.k8s.io/v1/csinodes";
const NOW: &str = "2026-11-16T12:00:00Z";

#[tokio::test]
async fn a_kubelet_does_its_work_through_the_gate() {
    if oracle::path("protobuf").is_none() {
        return;
    }
    let Some(sides) = Sides::start(NAMES).await else { return };
    let steps = [work(&sides.guarded).await, work(&sides.gated).await];
    let [direct, gated] = &steps;
    for ((step, direct), (_, gated)) in direct.iter().zip(gated) {
        assert_eq!(gated, direct, "{step}");
    }
}

/// Status writes, which come all the time, are passed on as they are and cost upstream nothing else.
#[tokio::test]
async fn status_writes_cost_no_other_request() {
    let names = Names {
        namespace: "kubelet-cost",
        nodes: ["kc1", "kc2"],
    };
    let Some(sides) = Sides::start(names).await else { return };
    let pods = "/api/v1/namespaces/kubelet-cost/pods";
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "kc1"},
        "spec": {"holderIdentity": "kc1", "leaseDurationSeconds": 40}});
    // Kubelets send their addresses when these have changed, and then they are looked at for the record.
    let mut heartbeat = node_status();
    heartbeat["status"].as_object_mut().unwrap().remove("addresses");
    for (method, target, kind, body) in [
        ("PATCH", "/api/v1/nodes/kc1/status".to_owned(), STRATEGIC, heartbeat),
        ("PATCH", format!("{pods}/p1/status"), STRATEGIC, pod_status("uid-of-p1")),
        (
            "PATCH",
            format!("{pods}/m1/status"),
            STRATEGIC,
            json!({"status": {"phase": "Running"}}),
        ),
        ("POST", LEASES.to_owned(), super::JSON, lease),
    ] {
        sides.between.take();
        let answer = sides.gated.send_json(method, &target, kind, &body).await;
        assert!(answer.code.is_success(), "{target}: {}", answer.body);
        let seen = sides.between.take();
        assert_eq!(seen.len(), 1, "{target}: {seen:?}");
    }
}

/// A heartbeat: conditions in their order, and addresses that replace those that were there.
fn node_status() -> Value {
    json!({
        "metadata": {"annotations": {"csi.volume.kubernetes.io/nodeid": "{}"}, "labels": {"topology.kubernetes.io/zone": "z"}},
        "status": {
            "$setElementOrder/conditions": [{"type": "MemoryPressure"}, {"type": "Ready"}],
            "addresses": [
                {"address": "192.0.2.7", "type": "InternalIP"}, {"address": "kl1", "type": "Hostname"}, {"$patch": "replace"},
            ],
            "conditions": [
                {"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": NOW, "lastTransitionTime": NOW},
                {"type": "Ready", "lastHeartbeatTime": NOW},
            ],
            "images": [{"names": ["i@sha256:1"], "sizeBytes": 5}],
            "nodeInfo": {"kubeletVersion": "v1.36.3"},
        },
    })
}

fn pod_status(uid: &str) -> Value {
    json!({
        "metadata": {"uid": uid},
        "status": {
            "$setElementOrder/conditions": [{"type": "Initialized"}, {"type": "Ready"}],
            "conditions": [{"type": "Initialized", "status": "True", "lastProbeTime": null, "lastTransitionTime": NOW}],
            "containerStatuses": [{
                "name": "c", "image": "i", "imageID": "i", "ready": true, "restartCount": 0, "started": true,
                "state": {"running": {"startedAt": NOW}},
            }],
            "hostIP": "192.0.2.7", "hostIPs": [{"ip": "192.0.2.7"}],
            "phase": "Running", "podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}],
        },
    })
}

struct Work<'a> {
    side: &'a Side,
    done: Vec<(&'static str, (u16, Value))>,
}

/// Everything in turn, with what was answered.
async fn work(side: &Side) -> Vec<(&'static str, (u16, Value))> {
    let mut work = Work { side, done: Vec::new() };
    let uid = work.register().await;
    work.lease().await;
    work.pods(&uid).await;
    work.csi_node().await;
    for path in [NODE, &format!("{PODS}/p1"), &format!("{LEASES}/kl1")] {
        let stored = side.admin.get(path).await;
        work.done.push(("stored", side.summary(&stored)));
    }
    work.done
}

impl Work<'_> {
    async fn step(&mut self, step: &'static str, code: u16, answer: Answer) -> Value {
        assert_eq!(answer.code.as_u16(), code, "{step}: {}", answer.body);
        self.done.push((step, self.side.summary(&answer)));
        answer.json()
    }

    async fn protobuf(&mut self, step: &'static str, code: u16, method: &str, target: &str, object: &Value) -> Value {
        let body = encode_one(&self.side.here_json(object)).unwrap();
        let answer = self.side.send(method, target, PROTOBUF, &body).await;
        self.step(step, code, answer).await
    }

    async fn patch(&mut self, step: &'static str, target: &str, patch: &Value) {
        let answer = self.side.send_json("PATCH", target, STRATEGIC, patch).await;
        self.step(step, 200, answer).await;
    }

    /// Its uid.
    async fn register(&mut self) -> String {
        let gone = self.side.admin.send(Request::delete(NODE), "").await.unwrap();
        assert_eq!(gone.code, 200);
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "kl1",
                "labels": {"kubernetes.io/hostname": "kl1", "kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64"},
                "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
            "spec": {"taints": [{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}]},
            "status": {"capacity": {"cpu": "2", "pods": "110"}, "addresses": [{"type": "InternalIP", "address": "192.0.2.7"}],
                "conditions": [{"type": "Ready", "status": "False", "lastHeartbeatTime": NOW, "lastTransitionTime": NOW}]},
        });
        let made = self.protobuf("registration", 201, "POST", "/api/v1/nodes", &node).await;
        self.protobuf("registration again", 409, "POST", "/api/v1/nodes", &node)
            .await;
        self.patch(
            "default labels",
            &format!("{NODE}/status"),
            &json!({"metadata": {"labels": {"kubernetes.io/arch": "amd64"}}}),
        )
        .await;
        self.patch("node status", &format!("{NODE}/status"), &node_status())
            .await;
        made["metadata"]["uid"].as_str().unwrap().to_owned()
    }

    async fn lease(&mut self) {
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "kl1", "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": "kl1", "leaseDurationSeconds": 40, "renewTime": "2026-11-16T12:00:00.000000Z"}});
        let missing = self.side.node.get(&format!("{LEASES}/kl1")).await;
        self.step("lease is missing", 404, missing).await;
        let mut made = self.protobuf("lease", 201, "POST", LEASES, &lease).await;
        made["spec"]["renewTime"] = json!("2026-11-16T12:00:10.000000Z");
        self.protobuf("lease renewed", 200, "PUT", &format!("{LEASES}/kl1"), &made)
            .await;
        self.protobuf("lease renewed twice", 409, "PUT", &format!("{LEASES}/kl1"), &made)
            .await;
    }

    async fn pods(&mut self, uid: &str) {
        self.patch("pod status", &format!("{PODS}/p1/status"), &pod_status("uid-of-p1"))
            .await;
        let mirror = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "static-kl1", "namespace": "kubelet", "annotations": {"kubernetes.io/config.mirror": "hash",
                "kubernetes.io/config.hash": "hash", "kubernetes.io/config.source": "file"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "kl1", "uid": uid, "controller": true}]},
            "spec": {"nodeName": "kl1", "hostNetwork": true, "containers": [{"name": "c", "image": "i"}],
                "tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}});
        // Upstream's informer may not know yet that the node is another one.
        let body = encode_one(&mirror).unwrap();
        let mut made = self.side.send("POST", PODS, PROTOBUF, &body).await;
        for _ in 0..100 {
            if made.code == 201 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            made = self.side.send("POST", PODS, PROTOBUF, &body).await;
        }
        let made = self.step("mirror pod", 201, made).await;
        let options = |uid: &Value| {
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
            "preconditions": {"uid": uid}})
        };
        self.protobuf(
            "mirror pod goes",
            200,
            "DELETE",
            &format!("{PODS}/static-kl1"),
            &options(&made["metadata"]["uid"]),
        )
        .await;
        self.protobuf(
            "pod goes",
            200,
            "DELETE",
            &format!("{PODS}/p3"),
            &options(&json!("uid-of-p3")),
        )
        .await;
        let token = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["aud1"],
            "expirationSeconds": 3607, "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": "uid-of-p1"}}});
        let target = "/api/v1/namespaces/kubelet/serviceaccounts/sa1/token";
        self.protobuf("token", 201, "POST", target, &token).await;
        let claim = "/api/v1/namespaces/kubelet/persistentvolumeclaims/pvc1";
        let stored = self.side.admin.get(claim).await.json();
        let resized = json!({"metadata": {"resourceVersion": stored["metadata"]["resourceVersion"]},
            "status": {"capacity": {"storage": "2Gi"}, "conditions": [{"type": "Resizing", "$patch": "delete"}]}});
        self.patch("claim status", &format!("{claim}/status"), &resized).await;
        // The answer tells who asks, which is the gate in mode Own.
        let request = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"generateName": "csr-"}, "spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "request": BASE64_STANDARD.encode(request_of("system:node:kl1")), "usages": ["digital signature", "client auth"]}});
        self.protobuf(
            "certificate",
            201,
            "POST",
            "/apis/certificates.k8s.io/v1/certificatesigningrequests",
            &request,
        )
        .await;
        self.done.pop();
    }

    async fn csi_node(&mut self) {
        let node = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "kl1"},
            "spec": {"drivers": []}});
        let mut made = self.protobuf("CSI node", 201, "POST", CSI_NODES, &node).await;
        made["spec"]["drivers"] = json!([{"name": "d", "nodeID": "n", "topologyKeys": ["k"]}]);
        self.protobuf("CSI node changed", 200, "PUT", &format!("{CSI_NODES}/kl1"), &made)
            .await;
        let gone = self.side.send("DELETE", &format!("{CSI_NODES}/kl1"), "", b"").await;
        self.step("CSI node goes", 200, gone).await;
        let slices = "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dkl1";
        let gone = self.side.send("DELETE", slices, "", b"").await;
        self.step("slices go", 200, gone).await;
    }
}
