//! What kube-apiserver lets every node read, and the rules of the first proposal's future work do not: endpoints that no pod of its
//! needs, certificate requests of others, services of namespaces that it has no pods in.

use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;

use super::{audited, client, gate};
use crate::{
    gate::{Client, PATIENCE, Process, ready},
    graph::{
        admin_client, created,
        objects::{namespace, pod},
        post,
    },
    restriction::request_of,
};

const ENFORCED: &str = "
rules: {modes: {node/endpoints: Enforce, node/certificatesigningrequests: Enforce, node/services: Enforce}}
";
const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

#[tokio::test]
async fn reads_that_only_the_gate_narrows() {
    let Some(cluster) = audited().await else { return };
    let (_enforcing, serving) = gate(&cluster, "narrow", FRONT_PROXY, ENFORCED).await;
    let recording = Process::serve(&cluster.configuration("narrow-recording.yaml", FRONT_PROXY, ""));
    let (open, recording_admin) = recording.addresses().await;
    ready(recording_admin).await;
    let (node, unnarrowed) = (
        client(&cluster, "narrow", serving).await,
        client(&cluster, "narrow", open).await,
    );
    let admin = admin_client(&cluster).await;
    namespace(&cluster, "narrow-elsewhere").await;
    for name in ["needed", "foreign"] {
        let endpoints = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": name}});
        created(&admin, "/api/v1/namespaces/narrow/endpoints", &endpoints).await;
    }
    let volume = json!({"name": "v", "glusterfs": {"endpoints": "needed", "path": "p"}});
    created(
        &admin,
        "/api/v1/namespaces/narrow/pods",
        &pod("p", "narrow", &json!({"volumes": [volume]})),
    )
    .await;
    let own = request(&node, "narrow-own").await;
    let foreign = request(&admin, "narrow-foreign").await;

    let allowed = [
        "/api/v1/namespaces/narrow/endpoints/needed".to_owned(),
        own,
        "/api/v1/namespaces/narrow/services".to_owned(),
    ];
    for target in &allowed {
        until_ok(&node, target).await;
    }
    let refused = [
        "/api/v1/namespaces/narrow/endpoints/foreign".to_owned(),
        "/api/v1/namespaces/narrow-elsewhere/endpoints/needed".to_owned(),
        foreign,
        REQUESTS.to_owned(),
        "/api/v1/namespaces/narrow-elsewhere/services".to_owned(),
        "/api/v1/services".to_owned(),
    ];
    for target in &refused {
        let answer = node.get(target).await;
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{target}: {}", answer.body);
        let answer = unnarrowed.get(target).await;
        assert_ne!(answer.code, StatusCode::FORBIDDEN, "{target}: {}", answer.body);
    }
}

/// A request for a certificate, by whoever it is, and where it is read.
async fn request(by: &Client, name: &str) -> String {
    let spec = json!({
        "request": BASE64_STANDARD.encode(request_of("system:node:narrow")),
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
        "usages": ["digital signature", "client auth"],
    });
    let object = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name}, "spec": spec});
    let answer = post(by, REQUESTS, &object).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    format!("{REQUESTS}/{name}")
}

async fn until_ok(node: &Client, target: &str) {
    let began = Instant::now();
    loop {
        let answer = node.send(Request::get(target), "").await.unwrap();
        if answer.code == StatusCode::OK {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{target}: {}", answer.body);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
