//! A kube-apiserver that lets nodes do everything, and nodes with certificates, of which each has a pod with a secret of 1 KiB
//! and a lease.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use http::{Request, StatusCode};
use rustls::{
    ClientConfig,
    client::Resumption,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use scopegate::pki::{Pair, Usage};
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, Guard},
    gate::Client,
};

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) admin: Client,
    pairs: Vec<Pair>,
}

/// The API server is not what is measured: it does not queue, and has no opinion about nodes.
const ARGUMENTS: &[&str] = &[
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
];
/// Objects that are created at a time.
const AT_A_TIME: usize = 32;

impl World {
    /// Nothing where there is no kube-apiserver, which is then said.
    pub(crate) async fn start(nodes: usize) -> Option<Self> {
        eprintln!("starting kube-apiserver, with {nodes} nodes");
        let cluster = Cluster::start(Guard::None, ARGUMENTS, "").await?;
        let issue = |node: usize| {
            let name = format!("system:node:n{node}");
            let issued = cluster.pki.client_ca.issue(&name, Some("system:nodes"), Usage::Client);
            issued.unwrap()
        };
        let pairs = (0..nodes).map(issue).collect();
        let admin = Client::new(&cluster.file("admin.kubeconfig")).await;
        let world = Self { cluster, admin, pairs };
        world.fill().await;
        Some(world)
    }

    async fn fill(&self) {
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "nodes"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
        });
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
        self.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding)
            .await;
        self.create("/api/v1/namespaces/default/serviceaccounts", &account)
            .await;
        // kube-apiserver makes it, but not before it is ready.
        let leases = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-node-lease"}});
        self.create("/api/v1/namespaces", &leases).await;
        let all = (0..self.pairs.len()).map(|node| async move {
            for (path, object) in of_node(&format!("n{node}")) {
                self.create(path, &object).await;
            }
        });
        stream::iter(all).buffer_unordered(AT_A_TIME).collect::<()>().await;
    }

    /// As admin; it may be there already.
    pub(crate) async fn create(&self, path: &str, object: &Value) {
        let request = Request::post(path).header("content-type", "application/json");
        let answer = self.admin.send(request, object.to_string()).await.unwrap();
        let created = matches!(answer.code, StatusCode::CREATED | StatusCode::CONFLICT);
        assert!(created, "{}", answer.body);
    }

    /// TLS as a node, which never resumes a session.
    pub(crate) fn tls(&self, node: usize, protocol: &[u8]) -> Arc<ClientConfig> {
        let mut config = self.resuming(node, protocol);
        config.resumption = Resumption::disabled();
        Arc::new(config)
    }

    /// The same, which resumes what it has begun with this configuration.
    pub(crate) fn resuming(&self, node: usize, protocol: &[u8]) -> ClientConfig {
        let anchors = scopegate::server::tls::anchors(self.cluster.pki.server_ca.certificate.as_bytes()).unwrap();
        let Pair { certificate, key } = &self.pairs[node];
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let mut config = ClientConfig::builder()
            .with_root_certificates(anchors)
            .with_client_auth_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        config
    }
}

/// What there is because of a node, and where it is created.
fn of_node(name: &str) -> [(&'static str, Value); 4] {
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
    });
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("secret-{name}")},
        "stringData": {"value": "s".repeat(1024)},
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("pod-{name}")},
        "spec": {
            "nodeName": name, "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "secret": {"secretName": format!("secret-{name}")}}],
        },
    });
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name, "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": "2026-01-01T00:00:00.000000Z"},
    });
    [
        ("/api/v1/nodes", node),
        ("/api/v1/namespaces/default/secrets", secret),
        ("/api/v1/namespaces/default/pods", pod),
        ("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", lease),
    ]
}
