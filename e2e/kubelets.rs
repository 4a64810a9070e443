mod balancer;
mod checks;
mod faults;
mod migration;
mod node;
mod quarantine;
mod sampler;
mod seen;
mod signer;
mod workload;

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    path::PathBuf,
    time::{Duration, Instant},
};

use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE, OWN};
use serde_json::json;
use test_case::test_case;
use tokio::sync::Mutex;

use self::{
    balancer::Balancer, faults::Outage, node::Node, sampler::Sampler, seen::Seen, signer::Signer, workload::End,
};
use crate::{
    cluster::{AUDIT_LOG, AUDITED, Cluster, Guard, free, program},
    gate::{Client, Process, ready},
    graph::admin_client,
    oracle, report,
    traffic::{TOKENS, bootstrap_token},
};

/// How the gate tells upstream who asks, and what that takes.
#[derive(Clone, Copy)]
struct Mode {
    name: &'static str,
    identity: &'static str,
    /// The rights that the gate needs.
    manifest: Option<&'static str>,
    /// Whom upstream takes a node for; the node itself where there is nothing.
    upstream: Option<&'static str>,
    /// What static pods are labelled with.
    labels: [&'static str; 2],
    /// What makes the gate enforce all the extended rules that kubelets can live with. On one machine they share its address.
    enforced: &'static str,
}

/// A cluster that does not restrict nodes, a gate before it, and kubelets that know nothing but the gate.
struct Scene {
    nodes: Vec<Node>,
    sampler: Sampler,
    signer: Signer,
    balancer: Balancer,
    gate: Process,
    admin: Client,
    mode: Mode,
    cluster: Cluster,
    /// Of kube-apiserver.
    outage: Option<Outage>,
}

const AS_FRONT_PROXY: Mode = Mode {
    name: "front-proxy",
    identity: FRONT_PROXY,
    manifest: None,
    upstream: None,
    labels: KUBEADM,
    enforced: "
featureGates: {NodeRestrictionPods: true}
podRestriction: {allowedLabels: [component, tier], mirrorPodNamespaces: [kubelets]}
nodeAddresses: {allow: [THIS_MACHINE]}
rules: {modes: {events/object: Enforce, events/source: Enforce, node/certificatesigningrequests: Enforce,
    node/endpoints: Enforce, nodes/addresses: Enforce}}
",
};
const BY_IMPERSONATION: Mode = Mode {
    name: "impersonate",
    identity: IMPERSONATE,
    manifest: Some(include_str!("../config/kubernetes/impersonate.yaml")),
    upstream: None,
    labels: MIGRATED,
    enforced: "
featureGates: {NodeRestrictionPods: true}
podRestriction: {mirrorPodNamespaces: [kubelets]}
nodeAddresses: {allow: [THIS_MACHINE]}
rules: {modes: {events/object: Enforce, events/source: Enforce, node/certificatesigningrequests: Enforce,
    node/endpoints: Enforce, nodes/addresses: Enforce}}
",
};
const AS_ITSELF: Mode = Mode {
    name: "own",
    identity: OWN,
    manifest: Some(include_str!("../config/kubernetes/own.yaml")),
    upstream: Some("scopegate"),
    labels: MIGRATED,
    // Upstream does not know who has asked for a certificate.
    enforced: "
featureGates: {NodeRestrictionPods: true}
nodeAddresses: {allow: [THIS_MACHINE]}
rules: {modes: {events/object: Enforce, events/source: Enforce, node/endpoints: Enforce, nodes/addresses: Enforce}}
",
};

/// As kubeadm labels its static pods, before and after the proposal's migration.
const KUBEADM: [&str; 2] = ["component", "tier"];
const MIGRATED: [&str; 2] = [
    "unrestricted.node.kubernetes.io/component",
    "unrestricted.node.kubernetes.io/tier",
];

/// Replicas, by name.
const GATES: [&str; 2] = ["gate-1", "gate-2"];

const HOLLOW: usize = 20;
const JOINING: usize = 2;

/// What kubelets cannot do without, so that pods which run prove that they were given it.
const ASKED: &[&str] = &[
    "get persistentvolumeclaims",
    "get persistentvolumes",
    "watch secrets",
    "watch configmaps",
    "create serviceaccounts/token",
    "patch pods/status",
    "create pods",
    "delete pods",
    "patch nodes/status",
    "update leases",
];

/// Nodes work as if the gate were the API server, whatever becomes of the gate, and nobody is refused anything that is there.
#[test_case(AS_FRONT_PROXY; "front proxy")]
#[test_case(BY_IMPERSONATION; "impersonate")]
#[test_case(AS_ITSELF; "own")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubelets_live_behind_the_gate(mode: Mode) {
    // They are many, and the machine is small.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());
    let _alone = ONE_AT_A_TIME.lock().await;
    let began = Instant::now();
    let Some(mut scene) = Scene::start(mode).await else {
        return;
    };
    scene.nodes_are_ready().await;
    scene.addresses_are_told().await;
    let joined = scene.seen().len();
    scene.staying_pods().await;
    tokio::join!(
        scene.static_pods(),
        scene.secrets_change(),
        scene.leases_are_renewed(),
        async {
            scene.passing_pods("evicted", End::Eviction).await;
            scene.passing_pods("deleted", End::Deletion).await;
        }
    );
    scene.certificates_are_rotated().await;
    let oldest = scene.leases_are_fresh(Duration::ZERO).max(scene.faults().await);
    let pods = scene.nothing_stuck().await;
    scene.gate.signal("TERM");
    scene.gate.exited().await;
    let seen = scene.seen();
    let forbidden = seen.forbidden(scene.outage);
    let complaints = seen::complaints(&scene.nodes, &forbidden, scene.outage);
    report::note(
        &format!("kubelets-{}", mode.name),
        &json!({
            "nodes": scene.nodes.len(), "joined": scene.joining().count(), "pods": pods,
            "requests": seen.len(), "requestsBy": seen.requests(), "refusals": seen.refusals(),
            "forbidden": {"podsThatAreGone": forbidden.gone.len(), "upstreamStarting": forbidden.starting},
            "oldestLeaseSeconds": oldest.as_secs_f64(), "seconds": began.elapsed().as_secs(),
        }),
    );
    for asked in ASKED {
        assert!(seen.requests().contains_key(*asked), "nobody has asked to {asked}");
    }
    // Whatever kubelets send can be read.
    assert_eq!(seen.answered(400), [] as [&str; 0]);
    assert_eq!(forbidden.unexpected, [] as [&str; 0]);
    let upstream = Seen::read(&[scene.cluster.file(AUDIT_LOG)]);
    assert!(upstream.len() > seen.len() / 2, "its log has {} events", upstream.len());
    assert_eq!(upstream.refused_upstream(scene.outage), [] as [&str; 0]);
    // Whoever joins is nobody before it has a certificate.
    assert_eq!(seen.after(joined).answered(401), [] as [&str; 0]);
    assert_eq!(complaints, [] as [&str; 0]);
}

impl Scene {
    /// Nothing where the test is to be skipped.
    async fn start(mode: Mode) -> Option<Self> {
        let kubemark = program("kubemark")?;
        // Where there is none, nobody joins; the others have enough to do.
        let kubelet = oracle::path("kubelet").map(PathBuf::from);
        let cluster = Cluster::start(Guard::None, AUDITED, "").await?;
        cluster.grant(TOKENS).await;
        if let Some(manifest) = mode.manifest {
            cluster.grant(manifest).await;
        }
        if mode.upstream.is_none() {
            rights_of_nodes(&cluster).await;
        }
        let token = bootstrap_token(&cluster).await;
        let admin = admin_client(&cluster).await;
        let (gate, serving) = gate(&cluster, mode, GATES[0]).await;
        let balancer = Balancer::before(serving).await;
        let signer = Signer::start(&cluster, admin.clone());
        let server = balancer.address;
        let joining = kubelet
            .iter()
            .flat_map(|kubelet| (1..=JOINING).map(move |n| (kubelet, n)));
        let joining = joining.map(|(kubelet, n)| Node::joining(&cluster, kubelet, &format!("join-{n}"), server, token));
        let hollow = (1..=HOLLOW).map(|n| Node::hollow(&cluster, &kubemark, &format!("hollow-{n}"), server));
        let nodes = joining.chain(hollow).collect();
        Some(Self {
            nodes,
            sampler: Sampler::start(admin.clone()),
            signer,
            balancer,
            gate,
            admin,
            mode,
            cluster,
            outage: None,
        })
    }

    /// Starts a gate and sends everybody there. The one that was there before is handed back.
    async fn serve(&mut self, name: &str) -> Process {
        let (gate, serving) = gate(&self.cluster, self.mode, name).await;
        self.balancer.switch(serving);
        std::mem::replace(&mut self.gate, gate)
    }

    fn joining(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.joins)
    }

    /// What the gates have written so far.
    fn seen(&self) -> Seen {
        Seen::read(&GATES.map(|name| self.cluster.file(&audit_log(name))))
    }
}

/// A gate of that name, at the same address whenever it is started.
async fn gate(cluster: &Cluster, mode: Mode, name: &str) -> (Process, SocketAddr) {
    let file = format!("{name}.yaml");
    let config = cluster.file(&file);
    if !config.exists() {
        let enforced = mode.enforced.replace("THIS_MACHINE", &this_machine().to_string());
        let more = format!("audit: {{path: {}}}\n{enforced}", audit_log(name));
        cluster.configuration(&file, mode.identity, &more);
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, text.replacen("127.0.0.1:0", &free().to_string(), 1)).unwrap();
    }
    let process = Process::serve(&config);
    let (serving, admin) = process.addresses().await;
    ready(admin).await;
    (process, serving)
}

/// The address that every kubelet here says it has: that of the way out.
fn this_machine() -> IpAddr {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent, and nobody is there.
    socket.connect("198.51.100.1:9").unwrap();
    socket.local_addr().unwrap().ip()
}

fn audit_log(gate: &str) -> String {
    format!("{gate}-audit.log")
}

/// Upstream gives nodes the role that they have where it has no Node authorizer.
async fn rights_of_nodes(cluster: &Cluster) {
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "nodes"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
    });
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    cluster.create(path, &binding).await;
}
