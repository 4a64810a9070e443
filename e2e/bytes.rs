//! The gate and real kube-apiservers make the same of whatever bytes a node sends.
//!
//! Each request is written by hand to a TLS connection, directly to an API server that guards itself, and through the gate to one
//! that refuses nodes nothing. Either the gate refuses it and nothing of it gets through, or both servers answer alike and
//! took it for the same, as their audit logs tell; and for what the gate took it for, as its own tells. `readings` compares
//! with a program made of kube-apiserver's code; here the servers themselves decide, over the wire and with bodies.

mod bodies;
mod case;
mod compare;
mod events;
mod frames;
mod framing;
mod generate;
mod headers;
mod pipelined;
mod targets;
mod wire;

use std::{collections::BTreeMap, net::SocketAddr};

use futures_util::{StreamExt as _, stream};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;

use self::{
    case::Case,
    compare::{Tally, compare},
    events::{Events, Logs},
};
use crate::{
    cluster::{AUDITED, Cluster, Guard},
    gate::{Process, ready},
    graph::{
        admin_client, created,
        objects::{config_map, namespace, node, pod_with_secret, secret},
        open,
    },
    random::{self, Random},
    report,
    restriction::EAGER,
};

/// A cluster that guards itself, and a gate before one that does not; both with an audit log.
struct Servers {
    guarded: Cluster,
    open: Cluster,
    _gate: Process,
    serving: SocketAddr,
    admin: SocketAddr,
}

/// What was answered to one case: the code, if there was one.
struct Sent {
    case: Case,
    id: String,
    direct: Option<u16>,
    gated: Option<u16>,
}

/// Requests that are put together at random; `SCOPEGATE_REQUESTS` says how many.
const GENERATED: usize = 1_500;
/// Connections at a time.
const AT_ONCE: usize = 8;

#[tokio::test]
async fn the_same_bytes_are_the_same_request() {
    let Some(servers) = Servers::start().await else { return };
    let pipelined = pipelined::nothing_is_smuggled(&servers).await;
    let seed = random::seed();
    let mut random = Random::new(seed);
    let number = std::env::var("SCOPEGATE_REQUESTS").map_or(GENERATED, |number| number.parse().unwrap());
    let mut cases = [
        targets::cases(),
        headers::cases(),
        framing::cases(),
        bodies::cases(),
        frames::cases(),
    ]
    .concat();
    cases.extend((0..number).map(|_| generate::case(&mut random)));

    let sent = servers.send_all(cases).await;
    let logs = servers.settled().await;
    let mut tallies = BTreeMap::<&str, Tally>::new();
    let mut failures = Vec::new();
    for sent in &sent {
        let tally = tallies.entry(sent.case.class).or_default();
        if let Err(why) = compare(sent, &logs, tally) {
            failures.push(format!("{why}\n  {}", sent.case.shown()));
        }
    }
    failures.extend(logs.unaccounted());
    let alike = tallies.values().map(|tally| tally.alike).sum::<usize>();
    report::note(
        "bytes",
        &json!({"seed": seed, "requests": sent.len(), "classes": tallies, "pipelined": pipelined}),
    );
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
    // A gate that refuses everything would agree with anybody.
    assert!(alike * 4 > sent.len(), "only {alike} of {} were forwarded", sent.len());
}

impl Servers {
    async fn start() -> Option<Self> {
        let (guarded, open_cluster) = tokio::join!(
            Cluster::start(Guard::Node, AUDITED, ""),
            Cluster::start(Guard::None, AUDITED, "")
        );
        let (guarded, open_cluster) = (guarded?, open_cluster?);
        open(&open_cluster).await;
        tokio::join!(fill(&guarded), fill(&open_cluster));
        let more = format!("{EAGER}audit: {{path: audit.log}}\nlog: {{level: debug}}\n");
        let gate = Process::serve(&open_cluster.configuration("bytes.yaml", FRONT_PROXY, &more));
        let (serving, admin) = gate.addresses().await;
        ready(admin).await;
        let servers = Self {
            guarded,
            open: open_cluster,
            _gate: gate,
            serving,
            admin,
        };
        servers.known().await;
        Some(servers)
    }

    /// Waits until both sides know the last of what was made.
    async fn known(&self) {
        for side in [(&self.guarded, self.guarded.api), (&self.open, self.serving)] {
            let kubeconfig = side.0.kubeconfig("bytes-node", "by1", side.1);
            let client = crate::gate::Client::new(&kubeconfig).await;
            let began = std::time::Instant::now();
            while client.get("/api/v1/namespaces/bytes/secrets/p1").await.code != 200 {
                assert!(began.elapsed() < crate::gate::PATIENCE, "the pod is not known");
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        }
    }

    async fn send_all(&self, cases: Vec<Case>) -> Vec<Sent> {
        let sent = cases
            .into_iter()
            .enumerate()
            .map(|(number, case)| self.send(number, case));
        stream::iter(sent).buffered(AT_ONCE).collect().await
    }

    async fn send(&self, number: usize, case: Case) -> Sent {
        let id = case::id(number);
        let direct = wire::exchange(&self.guarded, self.guarded.api, &case.as_read(), &id).await;
        let gated = wire::exchange(&self.open, self.serving, &case, &id).await;
        Sent {
            case,
            id,
            direct,
            gated,
        }
    }

    /// The audit logs, when nothing is under way any more and everything is written.
    async fn settled(&self) -> Logs {
        let last = Case::get("last", "/version");
        for (cluster, address) in [(&self.guarded, self.guarded.api), (&self.open, self.serving)] {
            wire::idle(self.admin).await;
            assert_eq!(wire::exchange(cluster, address, &last, "bytes-last").await, Some(200));
        }
        let guarded = Events::read(&self.guarded, crate::cluster::AUDIT_LOG).await;
        let gate = Events::read(&self.open, "audit.log").await;
        let open = Events::read_all_of(&self.open, &gate).await;
        Logs { guarded, gate, open }
    }
}

/// Two nodes, and a pod with a secret on each.
async fn fill(cluster: &Cluster) {
    let admin = admin_client(cluster).await;
    namespace(cluster, "bytes").await;
    let core = "/api/v1/namespaces/bytes";
    created(&admin, &format!("{core}/configmaps"), &config_map("cm1")).await;
    // A PUT would make it, on whichever side it comes first.
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1"},
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "by1", "namespace": "bytes"},
    });
    created(&admin, bodies::EVENTS, &event).await;
    for (name, on) in [("p2", "by2"), ("p1", "by1")] {
        node(cluster, on).await;
        created(&admin, &format!("{core}/secrets"), &secret(name)).await;
        created(&admin, &format!("{core}/pods"), &pod_with_secret(name, on)).await;
    }
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "by1"},
        "spec": {"holderIdentity": "by1", "leaseDurationSeconds": 40},
    });
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    cluster
        .create(
            "/api/v1/namespaces",
            &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}}),
        )
        .await;
    created(&admin, leases, &lease).await;
}
