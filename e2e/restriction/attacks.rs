//! Known ways around node isolation, and some of our own: each is refused, and upstream sees nothing of it.

mod disguised;
mod doubtful;

use std::sync::Mutex;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{JSON, JSON_PATCH, MERGE_PATCH, Names, STRATEGIC, Sides, encode::PROTOBUF, request_of};
use crate::{gate::Client, release};

const NAMES: Names = Names {
    namespace: "attacks",
    nodes: ["at1", "at2"],
};
const APPLY: &str = "application/apply-patch+yaml";
const NODE: &str = "/api/v1/nodes/at1";
const STATUS: &str = "/api/v1/nodes/at1/status";
const PODS: &str = "/api/v1/namespaces/attacks/pods";

#[tokio::test]
async fn attacks_come_to_nothing() {
    let Some(sides) = Sides::start(NAMES).await else { return };
    let attack = Attack {
        sides: &sides,
        before: sides.gated.admin.get(NODE).await.json(),
        failures: Mutex::default(),
    };
    attack.owners().await;
    attack.labels_and_taints().await;
    attack.without_version().await;
    attack.in_another_case().await;
    attack.mirrors().await;
    attack.tokens_and_certificates().await;
    attack.bodies().await;
    attack.field_twice().await;
    attack.field_of_the_future().await;
    attack.headers().await;
    attack.terminating().await;
    attack.nobody().await;
    let failures = attack.failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

struct Attack<'a> {
    sides: &'a Sides,
    /// The node as it is.
    before: Value,
    failures: Mutex<Vec<String>>,
}

impl Attack<'_> {
    /// With one of these codes, and without a word to upstream.
    async fn refused(&self, codes: &[u16], method: &str, target: &str, kind: &str, body: &[u8]) {
        let (sides, told) = (self.sides, String::from_utf8_lossy(body).into_owned());
        let text = String::from_utf8(body.to_vec());
        let body = |side: &super::Side| match &text {
            Ok(text) => side.here(text).into_bytes(),
            Err(_) => body.to_vec(),
        };
        // Nothing is stored, so that one that succeeds does not stand in the way of the next.
        let target = format!("{target}{}dryRun=All", if target.contains('?') { '&' } else { '?' });
        sides.between.take();
        let gated = sides.gated.send(method, &target, kind, &body(&sides.gated)).await;
        let (code, writes) = (gated.code.as_u16(), sides.between.take_writes());
        if !codes.contains(&code) || !writes.is_empty() {
            let mut failures = self.failures.lock().unwrap();
            let (told, answer) = (&told[..told.len().min(300)], &gated.body[..gated.body.len().min(300)]);
            failures.push(format!(
                "{method} {target} {kind} {told}: {code} {answer}; upstream saw {}",
                writes.len()
            ));
        }
    }

    async fn patched(&self, target: &str, fields: &Value) {
        let operations: Value = super::rows::operations(fields);
        let applied = {
            let mut applied = fields.clone();
            applied["apiVersion"] = json!("v1");
            applied["kind"] = json!("Node");
            applied["metadata"]["name"] = json!("at1");
            applied
        };
        for (kind, body) in [(MERGE_PATCH, fields), (STRATEGIC, fields), (JSON_PATCH, &operations)] {
            self.refused(&[403], "PATCH", target, kind, body.to_string().as_bytes())
                .await;
        }
        let forced = format!("{target}?fieldManager=kubelet&force=true");
        self.refused(&[403, 415], "PATCH", &forced, APPLY, applied.to_string().as_bytes())
            .await;
    }

    /// CVE-2025-5187: the garbage collector removes a node whose owner is missing, and the node makes itself anew.
    async fn owners(&self) {
        let owner = json!({"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u"});
        for target in [NODE, STATUS] {
            self.patched(target, &json!({"metadata": {"ownerReferences": [owner]}}))
                .await;
        }
    }

    /// CVE-2023-5408, CVE-2021-25735.
    async fn labels_and_taints(&self) {
        for key in [
            "node-role.kubernetes.io/x",
            "node-restriction.kubernetes.io/a",
            "a.node-restriction.kubernetes.io/b",
            "foo.k8s.io/x",
        ] {
            for target in [NODE, STATUS] {
                self.patched(target, &json!({"metadata": {"labels": {key: "x"}}})).await;
            }
        }
        let gone = json!({"metadata": {"labels": {"node-role.kubernetes.io/worker": null}}});
        for (target, kind) in [(NODE, MERGE_PATCH), (STATUS, STRATEGIC)] {
            self.refused(&[403], "PATCH", target, kind, gone.to_string().as_bytes())
                .await;
        }
        for target in [NODE, STATUS] {
            self.patched(target, &json!({"spec": {"taints": []}})).await;
        }
    }

    /// CVE-2025-4563, CVE-2023-2728: what a mirror pod refers to, the node could read.
    async fn mirrors(&self) {
        for more in [
            json!({"resourceClaims": [{"name": "r", "resourceClaimName": "rc1"}]}),
            json!({"volumes": [{"name": "v", "secret": {"secretName": "s1"}}]}),
            json!({"volumes": [{"name": "v", "fromTheFuture": {"secretName": "s1"}}]}),
            json!({"volumes": [{"name": "v", "projected": {"sources": [{"fromTheFuture": {}}]}}]}),
            json!({"ephemeralContainers": [{"name": "e", "image": "i", "envFrom": [{"secretRef": {"name": "s1"}}]}]}),
        ] {
            self.refused(&[403], "POST", PODS, JSON, mirror(&more).to_string().as_bytes())
                .await;
        }
        let once = mirror(&json!({})).to_string();
        let secret = json!([{"name": "v", "secret": {"secretName": "s1"}}]);
        let twice = once.replacen(
            "\"spec\":{",
            &format!("\"spec\":{{\"volumes\":{secret}}},\"spec\":{{"),
            1,
        );
        assert_ne!(once, twice);
        self.refused(&[400], "POST", PODS, JSON, twice.as_bytes()).await;
    }

    async fn tokens_and_certificates(&self) {
        let token = |pod: &str, uid: &str, audience: &str| {
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"audiences": [audience], "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid}}})
        };
        let target = "/api/v1/namespaces/attacks/serviceaccounts/sa1/token";
        let unbound =
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["aud1"]}});
        let mut bodies = vec![unbound, token("p1", "other", "aud1"), token("p2", "uid-of-p2", "aud1")];
        // Before, nobody looks at audiences.
        if release::minor() >= 33 {
            bodies.push(token("p1", "uid-of-p1", "vault"));
        }
        for body in bodies {
            self.refused(&[403], "POST", target, JSON, body.to_string().as_bytes())
                .await;
        }
        let request = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"generateName": "csr-"}, "spec": {"signerName": "kubernetes.io/kubelet-serving",
            "request": BASE64_STANDARD.encode(request_of("system:node:at2")), "usages": ["server auth"]}});
        let target = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
        self.refused(&[403], "POST", target, JSON, request.to_string().as_bytes())
            .await;
    }

    /// Bodies that two readers could take for different things.
    async fn bodies(&self) {
        let taints = json!({"spec": {"taints": []}}).to_string();
        for kind in [
            "application/json",
            "text/plain",
            "",
            "application/merge-patch+yaml",
            "application/Merge-Patch+JSON",
            APPLY,
        ] {
            self.refused(&[400, 403, 415], "PATCH", NODE, kind, taints.as_bytes())
                .await;
        }
        let other = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "at2"}}).to_string();
        for kind in [PROTOBUF, "application/yaml", "application/cbor"] {
            self.refused(&[400, 415], "POST", "/api/v1/nodes", kind, other.as_bytes())
                .await;
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let deep = format!("{{\"metadata\":{{\"name\":\"at1\"}},\"x\":{deep}}}");
        self.refused(&[400], "POST", "/api/v1/nodes", JSON, deep.as_bytes())
            .await;
        let copies = vec![json!({"op": "copy", "from": "/metadata", "path": "/metadata/labels/x"}); 40];
        self.refused(
            &[400, 403, 413, 422],
            "PATCH",
            NODE,
            JSON_PATCH,
            json!(copies).to_string().as_bytes(),
        )
        .await;
        self.refused(
            &[400],
            "POST",
            "/api/v1/nodes",
            PROTOBUF,
            b"k8s\0\x0a\xff\xff\xff\xff\x0f",
        )
        .await;
    }

    /// A node without a name.
    async fn nobody(&self) {
        let (cluster, serving) = (&self.sides.gated.cluster, self.sides.serving);
        cluster.user("unnamed", "system:node:", Some("system:nodes"));
        let client = Client::new(&cluster.kubeconfig("unnamed-gated", "unnamed", serving)).await;
        let request = http::Request::post("/api/v1/nodes").header("content-type", JSON);
        let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}}).to_string();
        self.sides.between.take();
        let answer = client.send(request, &body).await.unwrap();
        assert_eq!(answer.code, 403, "{}", answer.body);
        assert!(self.sides.between.take_writes().is_empty());
    }
}

/// A good mirror pod, with whatever else its spec is to have.
fn mirror(more: &Value) -> Value {
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "at1", "uid": "uid-of-at1", "controller": true});
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "static", "annotations": {"kubernetes.io/config.mirror": "h"}, "ownerReferences": [owner]},
        "spec": {"nodeName": "at1", "containers": [{"name": "c", "image": "i"}]},
    });
    for (key, value) in more.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}
