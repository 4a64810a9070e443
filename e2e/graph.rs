mod between;
mod freshness;
mod hostile;
mod lag;
pub(crate) mod objects;
mod references;
mod restored;
mod revocation;
mod rows;
mod troubles;

use std::{
    net::SocketAddr,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::{
    cluster::Cluster,
    gate::{Answer, Client, PATIENCE, Process, admin, ready},
};

/// A gate before a cluster, or before whatever stands between the two. It has the rights that are shipped, and no more.
struct Gated<'a> {
    cluster: &'a Cluster,
    name: &'static str,
    process: Process,
    serving: SocketAddr,
    admin: SocketAddr,
}

/// A cluster that refuses nodes nothing, so that only the gate does. It serves all tests here that run at the same time.
async fn open_cluster() -> Option<Arc<Cluster>> {
    static SHARED: Mutex<Weak<Cluster>> = Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(cluster) = shared.upgrade() {
        return Some(cluster);
    }
    let cluster = Arc::new(Cluster::with_client_cas("").await?);
    open(&cluster).await;
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

/// Lets nodes do everything.
pub(crate) async fn open(cluster: &Cluster) {
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "everything"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
    });
    cluster
        .create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding)
        .await;
}

impl<'a> Gated<'a> {
    /// Ready to decide.
    async fn start(cluster: &'a Cluster, name: &'static str, graph: &str) -> Self {
        let gate = Self::before(cluster, name, "gate", cluster.api, graph).await;
        gate.ready().await;
        gate
    }

    /// With the credentials of this user, before whatever listens there.
    async fn before(cluster: &'a Cluster, name: &'static str, user: &str, upstream: SocketAddr, graph: &str) -> Self {
        cluster.kubeconfig(&format!("{name}-upstream"), user, upstream);
        let more = format!("graph: {{{graph}}}\ncallers: {{others: Forward}}\n");
        let config = cluster.configuration(&format!("{name}.yaml"), FRONT_PROXY, &more);
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(
            &config,
            text.replace("gate.kubeconfig", &format!("{name}-upstream.kubeconfig")),
        )
        .unwrap();
        let process = Process::serve(&config);
        let (serving, admin) = process.addresses().await;
        Self {
            cluster,
            name,
            process,
            serving,
            admin,
        }
    }

    /// A client of the gate, with the certificate of a user.
    async fn client(&self, user: &str) -> Client {
        let file = format!("{}-{user}", self.name);
        Client::new(&self.cluster.kubeconfig(&file, user, self.serving)).await
    }

    async fn readyz(&self) -> Answer {
        admin(self.admin, Request::get("/readyz?verbose"), "").await
    }

    async fn ready(&self) {
        ready(self.admin).await;
    }

    /// Waits until something is so, but not for ever.
    async fn until(&self, what: &str, mut is_so: impl AsyncFnMut() -> bool) -> Duration {
        let began = Instant::now();
        while !is_so().await {
            assert!(
                began.elapsed() < 2 * PATIENCE,
                "no {what} within {:?}; the gate says:\n{}",
                2 * PATIENCE,
                self.process.stderr()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        began.elapsed()
    }

    /// The sum of a metric over all labels that contain the text.
    async fn metric(&self, name: &str, label: &str) -> f64 {
        let metrics = admin(self.admin, Request::get("/metrics"), "").await.body;
        let lines = metrics.lines().filter(|line| {
            let of_name = line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
            of_name && line.contains(label)
        });
        lines
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .fold(0.0, |sum, value| sum + value)
    }

    /// How many requests the graph could not allow at once.
    async fn misses(&self) -> f64 {
        self.metric("scopegate_graph_misses_total", "").await
    }

    /// How many of them were settled in this way.
    async fn settled(&self, by: &str) -> f64 {
        self.metric("scopegate_graph_misses_total", &format!("by=\"{by}\""))
            .await
    }
}

/// As admin, whatever comes of it.
pub(crate) async fn admin_client(cluster: &Cluster) -> Client {
    Client::new(&cluster.file("admin.kubeconfig")).await
}

pub(crate) async fn post(client: &Client, path: &str, object: &Value) -> Answer {
    let request = Request::post(path).header("content-type", "application/json");
    client.send(request, &object.to_string()).await.unwrap()
}

pub(crate) async fn created(client: &Client, path: &str, object: &Value) {
    let answer = post(client, path, object).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
}

pub(crate) async fn patched(client: &Client, path: &str, kind: &str, patch: &Value) {
    let request = Request::patch(path).header("content-type", kind);
    let answer = client.send(request, &patch.to_string()).await.unwrap();
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
}

pub(crate) async fn deleted(client: &Client, path: &str) {
    let request = Request::delete(format!("{path}?gracePeriodSeconds=0"));
    let answer = client.send(request, "").await.unwrap();
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
}
