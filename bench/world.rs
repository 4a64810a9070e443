//! A kube-apiserver that lets nodes do everything, and nodes with certificates, of which each has a pod with a secret of 1 KiB.

use std::sync::Arc;

use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use scopegate::pki::{Pair, Usage};
use serde_json::json;

use crate::cluster::{Cluster, Guard};

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pairs: Vec<Pair>,
}

/// As many as there are ever connections.
pub(crate) const NODES: usize = 64;

/// The API server is not what is measured: it does not queue, and has no opinion about nodes.
const ARGUMENTS: &[&str] = &[
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
];

impl World {
    /// Nothing where there is no kube-apiserver, which is then said.
    pub(crate) async fn start() -> Option<Self> {
        eprintln!("starting kube-apiserver");
        let cluster = Cluster::start(Guard::None, ARGUMENTS, "").await?;
        let issue = |node: usize| {
            let name = format!("system:node:n{node}");
            let issued = cluster.pki.client_ca.issue(&name, Some("system:nodes"), Usage::Client);
            issued.unwrap()
        };
        let pairs = (0..NODES).map(issue).collect();
        let world = Self { cluster, pairs };
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
        let create = async |path: &str, object| self.cluster.create(path, &object).await;
        create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding).await;
        create("/api/v1/namespaces/default/serviceaccounts", account).await;
        for node in 0..NODES {
            let (name, labels) = (
                format!("n{node}"),
                json!({"kubernetes.io/hostname": format!("n{node}")}),
            );
            let metadata = json!({"name": name, "labels": labels});
            create(
                "/api/v1/nodes",
                json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata}),
            )
            .await;
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("secret-{name}")},
                "stringData": {"value": "s".repeat(1024)},
            });
            create("/api/v1/namespaces/default/secrets", secret).await;
            let pod = json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("pod-{name}")},
                "spec": {
                    "nodeName": name, "automountServiceAccountToken": false,
                    "containers": [{"name": "c", "image": "i"}],
                    "volumes": [{"name": "v", "secret": {"secretName": format!("secret-{name}")}}],
                },
            });
            create("/api/v1/namespaces/default/pods", pod).await;
        }
    }

    /// TLS as a node, which never resumes a session.
    pub(crate) fn tls(&self, node: usize, protocol: &[u8]) -> Arc<ClientConfig> {
        let anchors = scopegate::server::tls::anchors(self.cluster.pki.server_ca.certificate.as_bytes()).unwrap();
        let Pair { certificate, key } = &self.pairs[node % self.pairs.len()];
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let mut config = ClientConfig::builder()
            .with_root_certificates(anchors)
            .with_client_auth_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        config.resumption = rustls::client::Resumption::disabled();
        Arc::new(config)
    }
}
