//! What the nodes have to run. There is no scheduler and no controller: pods name their node, claims are bound by hand.

use http::{Request, StatusCode};
use serde_json::{Value, json};

use super::{Scene, node::Node};
use crate::{
    gate::Client,
    graph::{
        created,
        objects::{claim, namespace, pod, volume},
        patched,
    },
};

const NAMESPACE: &str = "kubelets";
const BASE: &str = "/api/v1/namespaces/kubelets";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// How a pod ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    Eviction,
    Deletion,
}

impl Scene {
    /// On every node a pod with a secret, a config map, a token and a claim, which stays until the end.
    pub(super) async fn staying_pods(&self) {
        namespace(&self.cluster, NAMESPACE).await;
        let root = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"},
            "data": {"ca.crt": self.cluster.pki.server_ca.certificate}});
        created(&self.admin, &format!("{BASE}/configmaps"), &root).await;
        for node in &self.nodes {
            references(&self.admin, &node.name).await;
            let token = json!({"serviceAccountToken": {"audience": "vault", "path": "token"}});
            let spec = with_volumes(&json!([
                {"name": "secret", "secret": {"secretName": node.name}},
                {"name": "map", "configMap": {"name": node.name}},
                {"name": "claim", "persistentVolumeClaim": {"claimName": node.name}},
                {"name": "token", "projected": {"sources": [token]}},
            ]));
            created(
                &self.admin,
                &format!("{BASE}/pods"),
                &pod(&staying(node), &node.name, &spec),
            )
            .await;
        }
        let names: Vec<String> = self.nodes.iter().map(staying).collect();
        self.until_running(&names).await;
        self.until_mounted("old").await;
    }

    /// Every node hears of it by its watch.
    pub(super) async fn secrets_change(&self) {
        for node in &self.nodes {
            let patch = json!({"stringData": {"key": "new"}});
            patched(
                &self.admin,
                &format!("{BASE}/secrets/{}", node.name),
                MERGE_PATCH,
                &patch,
            )
            .await;
        }
        self.until_mounted("new").await;
    }

    /// Files on every node, which it shows to the API server as mirror pods.
    pub(super) async fn static_pods(&self) {
        let mut manifest = pod("static", "", &json!({}));
        manifest["metadata"]["namespace"] = json!(NAMESPACE);
        let [component, tier] = self.mode.labels;
        manifest["metadata"]["labels"] = json!({component: "etcd", tier: "control-plane"});
        for node in &self.nodes {
            node.add_static_pod(&manifest);
        }
        let mirrors: Vec<String> = self.nodes.iter().map(|node| format!("static-{}", node.name)).collect();
        self.until_running(&mirrors).await;
        for node in &self.nodes {
            node.remove_static_pod();
        }
        self.until_gone(&mirrors).await;
    }

    /// On every node a new pod, which comes and goes.
    pub(super) async fn passing_pods(&self, prefix: &str, end: End) {
        let names: Vec<String> = self
            .nodes
            .iter()
            .map(|node| format!("{prefix}-{}", node.name))
            .collect();
        for (name, node) in names.iter().zip(&self.nodes) {
            let spec = with_volumes(&json!([{"name": "secret", "secret": {"secretName": node.name}}]));
            created(&self.admin, &format!("{BASE}/pods"), &pod(name, &node.name, &spec)).await;
        }
        self.until_running(&names).await;
        for name in &names {
            let path = format!("{BASE}/pods/{name}");
            let answer = match end {
                End::Eviction => {
                    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
                    let request = Request::post(format!("{path}/eviction")).header("content-type", "application/json");
                    self.admin.send(request, eviction.to_string()).await
                }
                End::Deletion => self.admin.send(Request::delete(path), "").await,
            };
            let answer = answer.unwrap();
            let taken = matches!(answer.code, StatusCode::OK | StatusCode::CREATED);
            assert!(taken, "{name}: {}", answer.body);
        }
        self.until_gone(&names).await;
    }

    /// Only what is to stay is there, and runs.
    pub(super) async fn nothing_stuck(&self) -> usize {
        let pods = self.pods().await;
        let stuck =
            |pod: &&Value| pod["status"]["phase"] != "Running" || !pod["metadata"]["deletionTimestamp"].is_null();
        let stuck: Vec<&Value> = pods.iter().filter(stuck).collect();
        assert!(stuck.is_empty(), "stuck: {stuck:#?}");
        assert_eq!(pods.len(), self.nodes.len());
        pods.len()
    }

    async fn until_running(&self, names: &[String]) {
        self.until("pods run", async || {
            let pods = self.pods().await;
            let running = |name: &&String| {
                !pods
                    .iter()
                    .any(|pod| is(pod, name) && pod["status"]["phase"] == "Running")
            };
            names.iter().filter(running).cloned().collect()
        })
        .await;
    }

    async fn until_gone(&self, names: &[String]) {
        self.until("pods are gone", async || {
            let pods = self.pods().await;
            let there = |name: &&String| pods.iter().any(|pod| is(pod, name));
            names.iter().filter(there).cloned().collect()
        })
        .await;
    }

    /// What the containers of the staying pods would find.
    async fn until_mounted(&self, secret: &str) {
        self.until(&format!("volumes have {secret} in them"), async || {
            let pods = self.pods().await;
            let lacking = |node: &&Node| {
                let pod = pods.iter().find(|pod| is(pod, &staying(node))).unwrap();
                node.mounted(pod, "secret", "secret", "key").as_deref() != Some(secret)
                    || node.mounted(pod, "configmap", "map", "key").as_deref() != Some("value")
                    || node.mounted(pod, "projected", "token", "token").is_none()
            };
            self.nodes.iter().filter(lacking).map(staying).collect()
        })
        .await;
    }

    async fn pods(&self) -> Vec<Value> {
        let list = self.admin.get(&format!("{BASE}/pods")).await.json();
        list["items"].as_array().unwrap().clone()
    }
}

/// A secret, a config map, and a claim bound to a volume, all called like the node.
async fn references(admin: &Client, name: &str) {
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"key": "old"}});
    created(admin, &format!("{BASE}/secrets"), &secret).await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "value"}});
    created(admin, &format!("{BASE}/configmaps"), &map).await;
    let mut claimed = claim(name);
    claimed["spec"]["volumeName"] = json!(name);
    claimed["spec"]["storageClassName"] = json!("");
    created(admin, &format!("{BASE}/persistentvolumeclaims"), &claimed).await;
    let path = format!("{BASE}/persistentvolumeclaims/{name}");
    let uid = admin.get(&path).await.json()["metadata"]["uid"].clone();
    let mut bound = volume(
        name,
        NAMESPACE,
        name,
        "nfs",
        &json!({"server": "192.0.2.1", "path": "/"}),
    );
    bound["spec"]["claimRef"]["uid"] = uid;
    created(admin, "/api/v1/persistentvolumes", &bound).await;
    let status =
        json!({"status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}});
    patched(admin, &format!("{path}/status"), MERGE_PATCH, &status).await;
}

/// All of them mounted, since a kubelet passes over those that are not; and the usual token.
fn with_volumes(volumes: &Value) -> Value {
    let names = volumes.as_array().unwrap().iter().map(|volume| &volume["name"]);
    let mount = |name: &Value| json!({"name": name, "mountPath": format!("/{}", name.as_str().unwrap())});
    let mounts: Vec<Value> = names.map(mount).collect();
    json!({
        "automountServiceAccountToken": true,
        "containers": [{"name": "c", "image": "i", "volumeMounts": mounts}],
        "volumes": volumes,
    })
}

fn staying(node: &Node) -> String {
    format!("stays-{}", node.name)
}

fn is(pod: &Value, name: &str) -> bool {
    pod["metadata"]["name"] == name
}
