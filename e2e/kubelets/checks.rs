//! What has to become so, and what has to stay so.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Scene, node::Node, sampler::is_ready, this_machine};
use crate::gate::PATIENCE;

pub(super) const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/// After which kube-controller-manager takes a node for lost, unless it is told otherwise.
const LEASE: Duration = Duration::from_secs(40);

impl Scene {
    /// All have registered and said that they are well.
    pub(super) async fn nodes_are_ready(&self) {
        self.until("nodes are ready", async || {
            let list = self.admin.get("/api/v1/nodes").await.json();
            let nodes = list["items"].as_array().unwrap();
            let missing = |node: &&Node| {
                !nodes
                    .iter()
                    .any(|found| found["metadata"]["name"] == node.name && is_ready(found))
            };
            self.nodes
                .iter()
                .filter(missing)
                .map(|node| node.name.clone())
                .collect()
        })
        .await;
    }

    /// What the gate has judged: the address of the machine, which is allowed although they all have it, and each its own name.
    pub(super) async fn addresses_are_told(&self) {
        let list = self.admin.get("/api/v1/nodes").await.json();
        for node in list["items"].as_array().unwrap() {
            let expected = json!([
                {"type": "InternalIP", "address": this_machine()},
                {"type": "Hostname", "address": node["metadata"]["name"]},
            ]);
            assert_eq!(node["status"]["addresses"], expected);
        }
    }

    /// Every node has a lease, and renews it.
    pub(super) async fn leases_are_renewed(&self) {
        let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        self.until("leases are renewed", async || {
            let list = self.admin.get(LEASES).await.json();
            for lease in list["items"].as_array().unwrap() {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let times = seen.entry(text(&lease["metadata"]["name"])).or_default();
                times.insert(text(&lease["spec"]["renewTime"]));
            }
            let once = |node: &&Node| seen.get(&node.name).is_none_or(|times| times.len() < 2);
            self.nodes.iter().filter(once).map(|node| node.name.clone()).collect()
        })
        .await;
    }

    /// Those who have joined ask for another certificate in time, with the first one, and go on with it. Upstream sees who asks,
    /// except in mode Own: there all requests but the first are the gate's, so that an approver has to believe the name in it.
    pub(super) async fn certificates_are_rotated(&self) {
        self.until("certificates are rotated", async || {
            let seen = self.seen();
            let rotated = |node: &&Node| {
                let mut signed = self.signer.of(&node.name).into_iter().skip(1);
                signed.any(|one| seen.served(&one.credential)) && self.signer.serving(&node.name) > 0
            };
            self.joining()
                .filter(|node| !rotated(node))
                .map(|node| node.name.clone())
                .collect()
        })
        .await;
        for node in self.joining() {
            let by: Vec<String> = self.signer.of(&node.name).into_iter().map(|signed| signed.by).collect();
            let name = format!("system:node:{}", node.name);
            assert_eq!(by, ["system:bootstrap:abcdef", self.mode.upstream.unwrap_or(&name)]);
        }
    }

    /// No lease has got older than it may, beyond the time for which kube-apiserver itself was down.
    pub(super) fn leases_are_fresh(&self, down: Duration) -> Duration {
        self.sampler.oldest_lease(LEASE + down)
    }

    /// Waits until there is nothing missing any more.
    pub(super) async fn until(&self, what: &str, mut missing: impl AsyncFnMut() -> Vec<String>) {
        let began = Instant::now();
        loop {
            let missing = missing().await;
            if missing.is_empty() {
                println!("{}: {what} after {:.1?}", self.mode.name, began.elapsed());
                return;
            }
            assert!(began.elapsed() < 6 * PATIENCE, "not yet so that {what}: {missing:?}");
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }
}
