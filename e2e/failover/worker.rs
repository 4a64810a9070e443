//! What a node does meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::NODES;
use crate::gate::Client;

pub(super) const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/// An answer, and what it should have been.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) expected: u16,
    pub(super) code: u16,
    /// What was asked and answered.
    pub(super) what: String,
}

/// What a node has heard of its pods.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) opened: usize,
    /// Names of pods, in the order in which they came.
    pub(super) added: Vec<String>,
}

pub(super) fn lease(node: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": node, "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": node, "leaseDurationSeconds": 40},
    })
}

pub(super) fn secret_of(node: &str, number: usize) -> String {
    format!("/api/v1/namespaces/failover/secrets/{node}-{number}")
}

/// Reads, renews its lease, and tries what it may not.
pub(super) async fn work(client: Client, node: &'static str, go_on: Arc<AtomicBool>) -> Vec<Seen> {
    let foreign = NODES.into_iter().find(|other| *other != node).unwrap();
    let renewed = json!({"spec": {"leaseDurationSeconds": 40}}).to_string();
    let mut seen = Vec::new();
    while go_on.load(Ordering::Relaxed) {
        for (method, target, expected) in [
            ("GET", secret_of(node, 0), 200),
            ("PATCH", format!("{LEASES}/{node}"), 200),
            ("GET", secret_of(foreign, 0), 403),
            ("GET", format!("/api/v1/nodes/{node}"), 200),
        ] {
            let body = if method == "PATCH" { renewed.as_str() } else { "" };
            let request = Request::builder()
                .method(method)
                .uri(&target)
                .header("content-type", "application/merge-patch+json");
            let began = Instant::now();
            // The gate itself is there all the time.
            let answer = client.send(request, body).await.unwrap();
            seen.push(Seen {
                began,
                ended: Instant::now(),
                expected,
                code: answer.code.as_u16(),
                what: format!("{method} {target}: {}", answer.body),
            });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    seen
}

/// Watches its pods as client-go does: goes on where it was when a watch ends.
pub(super) async fn watch(client: Client, node: &'static str, go_on: Arc<AtomicBool>) -> Watched {
    let mut watched = Watched::default();
    let mut version = "0".to_owned();
    while go_on.load(Ordering::Relaxed) {
        let of_node = format!("fieldSelector=spec.nodeName%3D{node}&timeoutSeconds=60");
        let target = format!("/api/v1/pods?watch=true&{of_node}&resourceVersion={version}");
        let answer = client.open(Request::get(target), "").await.unwrap();
        if answer.status() != StatusCode::OK {
            assert!(matches!(answer.status().as_u16(), 502 | 503), "{}", answer.status());
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        }
        watched.opened += 1;
        let mut body = answer.into_body();
        let mut line = Vec::new();
        while go_on.load(Ordering::Relaxed) {
            let frame = match tokio::time::timeout(Duration::from_millis(200), body.frame()).await {
                Err(_) => continue,
                Ok(Some(Ok(frame))) => frame,
                Ok(_) => break,
            };
            line.extend_from_slice(frame.data_ref().unwrap());
            while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                let event: Value = serde_json::from_slice(&line[..end]).unwrap();
                line.drain(..=end);
                let metadata = &event["object"]["metadata"];
                assert_ne!(event["type"], "ERROR", "{event}");
                version = metadata["resourceVersion"].as_str().unwrap().to_owned();
                if event["type"] == "ADDED" {
                    watched.added.push(metadata["name"].as_str().unwrap().to_owned());
                }
            }
        }
        assert!(line.is_empty(), "a watch ended in the middle of an event");
    }
    watched
}
