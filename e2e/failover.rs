//! Two API servers on one etcd: either may be killed, and nodes hardly notice.

mod worker;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;

use self::worker::{Seen, watch, work};
use crate::{
    cluster::{Cluster, Guard, assets, free},
    gate::{Client, PATIENCE, Process, edit, ready},
    graph::{
        created,
        objects::{namespace, node, pod_with_secret, secret},
        open,
    },
    report,
    restriction::EAGER,
};

/// As many as it takes for each server to have some: a node stays with one.
const NODES: [&str; 6] = ["fo0", "fo1", "fo2", "fo3", "fo4", "fo5"];
/// The longest that anything may be answered with 502 or 503 behind a kill.
const TROUBLE: Duration = Duration::from_secs(10);

struct Pair {
    cluster: Cluster,
    second: SocketAddr,
    gate: Process,
    serving: SocketAddr,
}

#[tokio::test]
async fn either_of_two_api_servers_may_be_killed() {
    let Some(pair) = Pair::start().await else { return };
    let go_on = Arc::new(AtomicBool::new(true));
    let mut tasks = Vec::new();
    for name in NODES {
        let client = pair.client(name, pair.serving).await;
        let works = tokio::spawn(work(client.clone(), name, Arc::clone(&go_on)));
        tasks.push((works, tokio::spawn(watch(client, name, Arc::clone(&go_on)))));
    }
    let (first, second) = (pair.cluster.api, pair.second);
    let mut kills = Vec::new();
    for (round, killed, other) in [(1, first, second), (2, second, first)] {
        pair.bind(round * 2 - 1, killed).await;
        pair.cluster.kill(killed);
        kills.push(Instant::now());
        // What is new is learned from the other one.
        pair.bind(round * 2, other).await;
        pair.cluster.serve(&assets().unwrap(), killed).await;
        pair.healthy_again(round).await;
    }
    go_on.store(false, Ordering::Relaxed);
    let (mut seen, mut watched) = (Vec::new(), Vec::new());
    for (works, watches) in tasks {
        seen.extend(works.await.unwrap());
        watched.push(watches.await.unwrap());
    }
    let requests = seen.len();
    let troubled = judge(&seen, &kills);
    for (name, watched) in NODES.into_iter().zip(&watched) {
        // Each pod that was bound to the node, whichever server told of it.
        assert_eq!(
            watched.added,
            (0..=4).map(|at| format!("{name}-{at}")).collect::<Vec<_>>(),
            "{name}"
        );
    }
    let reopened: usize = watched.iter().map(|watched| watched.opened - 1).sum();
    assert!(reopened >= NODES.len(), "each node was with one of the two: {reopened}");
    report::note(
        "failover",
        &json!({"requests": requests, "troubled": troubled.len(), "troubledMilliseconds": longest(&troubled, &kills),
            "watchesReopened": reopened}),
    );
}

/// What was answered with 502 or 503, all of it soon behind a kill; everything else is right.
fn judge<'a>(seen: &'a [Seen], kills: &[Instant]) -> Vec<&'a Seen> {
    let mut troubled = Vec::new();
    for seen in seen {
        let soon = kills
            .iter()
            .any(|kill| seen.began < *kill + TROUBLE && seen.ended > *kill);
        match seen.code {
            code if code == seen.expected => {}
            502 | 503 if soon => troubled.push(seen),
            code => {
                let behind = kills.iter().map(|kill| seen.ended.checked_duration_since(*kill));
                let behind: Vec<_> = behind.collect();
                panic!(
                    "{code} instead of {}, {behind:?} behind the kills: {}",
                    seen.expected, seen.what
                )
            }
        }
    }
    troubled
}

/// How long after a kill there still was trouble.
fn longest(troubled: &[&Seen], kills: &[Instant]) -> u128 {
    let behind = |seen: &&Seen| {
        kills
            .iter()
            .filter_map(|kill| seen.ended.checked_duration_since(*kill))
            .min()
    };
    troubled.iter().filter_map(behind).max().unwrap_or_default().as_millis()
}

impl Pair {
    async fn start() -> Option<Self> {
        let cluster = Cluster::start(Guard::None, &[], "").await?;
        open(&cluster).await;
        let second = free();
        cluster.serve(&assets()?, second).await;
        namespace(&cluster, "failover").await;
        let lease_namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}});
        cluster.create("/api/v1/namespaces", &lease_namespace).await;
        for name in NODES {
            node(&cluster, name).await;
            let lease = worker::lease(name);
            cluster.create(worker::LEASES, &lease).await;
        }
        let config = cluster.configuration("failover.yaml", FRONT_PROXY, EAGER);
        let servers = format!("  servers: [\"https://{}\", \"https://{second}\"]\n", cluster.api);
        edit(&config, &[("upstream:\n", &servers)]);
        let gate = Process::serve(&config);
        let (serving, admin) = gate.addresses().await;
        ready(admin).await;
        let pair = Self {
            cluster,
            second,
            gate,
            serving,
        };
        pair.bind(0, pair.second).await;
        Some(pair)
    }

    async fn client(&self, user: &str, server: SocketAddr) -> Client {
        let file = format!("{user}-{}", server.port());
        Client::new(&self.cluster.kubeconfig(&file, user, server)).await
    }

    /// A pod with a secret on every node, made at this server; and waits until each node can read its own.
    async fn bind(&self, number: usize, server: SocketAddr) {
        let admin = self.client("admin", server).await;
        for node in NODES {
            let name = format!("{node}-{number}");
            created(&admin, "/api/v1/namespaces/failover/secrets", &secret(&name)).await;
            created(
                &admin,
                "/api/v1/namespaces/failover/pods",
                &pod_with_secret(&name, node),
            )
            .await;
        }
        for node in NODES {
            let client = self.client(node, self.serving).await;
            let began = Instant::now();
            while client.get(&worker::secret_of(node, number)).await.code != 200 {
                assert!(
                    began.elapsed() < PATIENCE,
                    "{node} cannot read its new secret:\n{}",
                    self.gate.stderr()
                );
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Waits until the gate has noticed so many times that a server is back.
    async fn healthy_again(&self, times: usize) {
        let began = Instant::now();
        while self.gate.stderr().matches("API server is healthy again").count() < times {
            assert!(began.elapsed() < 2 * PATIENCE, "not noticed:\n{}", self.gate.stderr());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
