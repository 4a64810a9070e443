//! A cluster that guards itself, one that refuses nodes nothing with the gate before it, and what a round has of both.

mod summary;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    time::{Duration, Instant},
};

use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;
use tokio::sync::OnceCell;

use super::{
    case::{ROUND, Who},
    encode::Encoder,
    fixture,
};
use crate::{
    cluster::{Cluster, Guard},
    gate::{Client, PATIENCE, Process, ready},
    graph::admin_client,
    pki::{CN, Entity, O, Template, UTF8, rdn},
    restriction::EAGER,
};

pub(super) struct World {
    pub(super) guarded: Cluster,
    open: Cluster,
    admins: [Client; 2],
    /// Before the open cluster. The other one stands before the guarded cluster, for those that are no nodes: about them
    /// upstream decides, and the gate is to be out of its way.
    gates: [(Process, SocketAddr); 2],
    pub(super) encoder: Encoder,
}

/// The objects of one round on both sides.
pub(super) struct Round<'a> {
    pub(super) world: &'a World,
    pub(super) name: String,
    /// The guarded one, and the gated one.
    pub(super) sides: [Side; 2],
    clients: BTreeMap<Who, OnceCell<[Client; 2]>>,
    /// What stands for a certificate signing request of a node, and the request.
    requests: Vec<(String, String)>,
}

pub(super) struct Side {
    pub(super) admin: Client,
    /// What stands for a uid, and the uid it has here.
    uids: Vec<(String, String)>,
}

/// Of those in `system:masters`, the node of the known cases may pass: for a node.
const NAMED: &str = "callers: {allowMasters: ['system:node:rows-n1']}\n";

const WHO: &[Who] = &[
    Who::N1,
    Who::N2,
    Who::N3,
    Who::NoGroup,
    Who::NoPrefix,
    Who::Empty,
    Who::Master,
];

impl World {
    pub(super) async fn start() -> Option<Self> {
        let clusters = tokio::join!(
            Cluster::start(Guard::Node, &[], ""),
            Cluster::start(Guard::None, &[], "")
        );
        let (guarded, unguarded) = (clusters.0?, clusters.1?);
        broad_role(&unguarded).await;
        let admins = [admin_client(&guarded).await, admin_client(&unguarded).await];
        for admin in &admins {
            fixture::shared(admin).await;
        }
        let gates = [
            gate(&unguarded, NAMED).await,
            gate(&guarded, "callers: {others: Forward}\n").await,
        ];
        Some(Self {
            guarded,
            open: unguarded,
            admins,
            gates,
            encoder: Encoder::start(),
        })
    }

    /// With objects of its own, known to everybody who decides.
    pub(super) async fn round(&self, name: String) -> Round<'_> {
        let request = |node| fixture::signing_request(&format!("system:node:{name}-{node}"));
        let requests = ["n1", "n2", "n3"].map(|node| (format!("request-of-{node}"), request(node)));
        let [guarded, gated] = &self.admins;
        let known = &requests[1].1;
        let sides = tokio::join!(Side::fill(guarded, &name, known), Side::fill(gated, &name, known));
        let clients = WHO.iter().map(|who| (*who, OnceCell::new())).collect();
        let round = Round {
            world: self,
            requests: requests.into(),
            name,
            sides: sides.into(),
            clients,
        };
        let (first, second) = fixture::made_last(&round.name);
        for (who, paths) in [(Who::N1, first), (Who::N2, second)] {
            for path in paths {
                round.until(who, &[path.clone(), path], 200).await;
            }
        }
        round
    }

    /// A client of the guarded cluster itself, and one of a gate.
    async fn clients(&self, round: &str, who: Who) -> [Client; 2] {
        let (cluster, (_, serving)) = if who.is_node() {
            (&self.open, &self.gates[0])
        } else {
            (&self.guarded, &self.gates[1])
        };
        let file = format!("{round}-{who:?}").to_lowercase();
        for cluster in [&self.guarded, &self.open] {
            certificate(cluster, &file, round, who);
        }
        let direct = self.guarded.kubeconfig(&file, &file, self.guarded.api);
        let gated = cluster.kubeconfig(&format!("{file}-gated"), &file, *serving);
        [Client::new(&direct).await, Client::new(&gated).await]
    }
}

/// Nodes may do whatever the gate lets pass. It does not have all verbs: whether some audience is granted to nodes is asked of RBAC.
async fn broad_role(cluster: &Cluster) {
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let verbs = [
        "get",
        "list",
        "watch",
        "create",
        "update",
        "patch",
        "delete",
        "deletecollection",
    ];
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "broad"},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}, {"nonResourceURLs": ["*"], "verbs": ["*"]}]});
    cluster.create(&format!("{rbac}/clusterroles"), &role).await;
    let group = "rbac.authorization.k8s.io";
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "broad"}, "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "broad"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "system:nodes"}]});
    cluster.create(&format!("{rbac}/clusterrolebindings"), &binding).await;
}

async fn gate(cluster: &Cluster, more: &str) -> (Process, SocketAddr) {
    let config = cluster.configuration("conformance.yaml", FRONT_PROXY, &format!("{EAGER}{more}"));
    let process = Process::serve(&config);
    let (serving, admin) = process.addresses().await;
    ready(admin).await;
    (process, serving)
}

fn certificate(cluster: &Cluster, file: &str, round: &str, who: Who) {
    let (name, groups): (String, &[&str]) = match who {
        Who::N1 | Who::N2 | Who::N3 => (format!("system:node:{round}-{}", who.node()), &["system:nodes"]),
        Who::NoGroup => (format!("system:node:{round}-n1"), &[]),
        Who::NoPrefix => (format!("kubelet-{round}-n1"), &["system:nodes"]),
        Who::Empty => ("system:node:".to_owned(), &["system:nodes"]),
        Who::Master => (format!("system:node:{round}-n1"), &["system:nodes", "system:masters"]),
    };
    let mut subject = vec![rdn(CN, UTF8, name.as_bytes())];
    subject.extend(groups.iter().map(|group| rdn(O, UTF8, group.as_bytes())));
    let ca = &cluster.pki.client_ca;
    let leaf = Entity::from_pem(&ca.certificate, &ca.key).sign(Template::client("").subject(&subject));
    std::fs::write(cluster.file(&format!("{file}.crt")), leaf.pem()).unwrap();
    std::fs::write(cluster.file(&format!("{file}.key")), leaf.key_pem()).unwrap();
}

impl Round<'_> {
    pub(super) async fn clients(&self, who: Who) -> &[Client; 2] {
        self.clients[&who]
            .get_or_init(|| self.world.clients(&self.name, who))
            .await
    }

    /// A text with the names and the certificate signing requests of this round.
    pub(super) fn named(&self, text: &str) -> String {
        let requests = self.requests.iter();
        requests.fold(text.replace(ROUND, &self.name), |text, (name, request)| {
            text.replace(name, request)
        })
    }

    /// Waits until both sides answer a read with this code.
    pub(super) async fn until(&self, who: Who, paths: &[String; 2], code: u16) {
        let began = Instant::now();
        for (client, path) in self.clients(who).await.iter().zip(paths) {
            loop {
                let answer = client.get(path).await;
                if answer.code == code {
                    break;
                }
                let late = began.elapsed() > PATIENCE;
                assert!(
                    !late,
                    "as {who:?}: {path} is not {code}: {} {}",
                    answer.code, answer.body
                );
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    /// Takes away what would be in everybody's lists.
    pub(super) async fn end(self) {
        let [guarded, gated] = &self.sides;
        tokio::join!(
            fixture::clear(&guarded.admin, &self.name),
            fixture::clear(&gated.admin, &self.name)
        );
    }
}

impl Side {
    async fn fill(admin: &Client, round: &str, request: &str) -> Self {
        fixture::fill(admin, round, request).await;
        let mut uids = Vec::new();
        for (name, path) in fixture::with_uids(round) {
            let object = admin.get(&path).await.json();
            let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
            uids.push((format!("uid-of-{name}"), uid));
        }
        Self {
            admin: admin.clone(),
            uids,
        }
    }

    /// A text with the uids that things have here.
    pub(super) fn here(&self, text: &str) -> String {
        let uids = self.uids.iter();
        uids.fold(text.to_owned(), |text, (name, uid)| text.replace(name, uid))
    }
}
