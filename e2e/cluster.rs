//! etcd and kube-apiserver on free loopback ports, with a PKI of their own. No root, no containers.

mod kept;
mod processes;
mod programs;

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Child,
    sync::{Arc, Mutex, Weak},
};

use http::{Request, StatusCode};
use scopegate::{
    demo::site,
    pki::{Authority, Pki, Usage},
};
use serde_json::{Value, json};

use self::kept::Folder;
pub(crate) use self::programs::{assets, missing, program};
use crate::{
    gate::{Answer, Process, ready, send},
    release,
};

/// A control plane. It ends when this is dropped. What it has written goes with it, unless a test has failed, which then says
/// where it is.
pub(crate) struct Cluster {
    pub(crate) api: SocketAddr,
    pub(crate) pki: Pki,
    etcd: [SocketAddr; 2],
    guard: Guard,
    arguments: &'static [&'static str],
    dir: Folder,
    /// In the order of their start, by where they listen.
    children: Mutex<Vec<(SocketAddr, Child)>>,
}

/// Arguments for an API server that writes an audit event of every request, with its body, to [`AUDIT_LOG`] when it has ended.
/// Of a patch it has none: one that is no JSON would be lost with its event.
pub(crate) const AUDITED: &[&str] = &[
    "--audit-policy-file=audit-policy.yaml",
    "--audit-log-path=kube-apiserver-audit.log",
];
pub(crate) const AUDIT_LOG: &str = "kube-apiserver-audit.log";

const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, verbs: [patch]}
- level: Request
";

/// What a cluster enforces itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guard {
    /// `--authorization-mode=Node,RBAC` and NodeRestriction, as kubeadm has it.
    Node,
    /// Neither.
    None,
}

/// Users with a client certificate and a kubeconfig: name, common name, organization.
const USERS: &[(&str, &str, Option<&str>)] = &[
    ("admin", "admin", Some("system:masters")),
    ("gate", "scopegate", None),
    ("node-a", "system:node:node-a", Some("system:nodes")),
];

/// One cluster of each kind serves all tests that run at the same time.
pub(crate) async fn shared(guard: Guard) -> Option<Arc<Cluster>> {
    static NODE: tokio::sync::Mutex<Weak<Cluster>> = tokio::sync::Mutex::const_new(Weak::new());
    static NONE: tokio::sync::Mutex<Weak<Cluster>> = tokio::sync::Mutex::const_new(Weak::new());
    let mut shared = match guard {
        Guard::Node => NODE.lock().await,
        Guard::None => NONE.lock().await,
    };
    if let Some(cluster) = shared.upgrade() {
        return Some(cluster);
    }
    let cluster = Arc::new(Cluster::start(guard, &[], "").await?);
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

impl Cluster {
    /// A cluster of its own for a test, which believes client certificates of more CAs (PEM).
    pub(crate) async fn with_client_cas(more: &str) -> Option<Self> {
        Self::start(Guard::None, &[], more).await
    }

    /// The same with more arguments of kube-apiserver.
    pub(crate) async fn start(guard: Guard, arguments: &'static [&'static str], client_cas: &str) -> Option<Self> {
        let assets = assets()?;
        scopegate::server::tls::install_crypto();
        let dir = Folder::new();
        let pki = Pki::new().unwrap();
        pki.write(dir.path(), &["localhost", "127.0.0.1"], &[]).unwrap();
        // Keys for service accounts are read from certificates, too, but not from a bundle.
        fs::copy(dir.path().join("client-ca.crt"), dir.path().join("service-account.crt")).unwrap();
        let client_cas = pki.client_ca.certificate.clone() + client_cas;
        fs::write(dir.path().join("client-ca.crt"), client_cas).unwrap();
        fs::write(dir.path().join("audit-policy.yaml"), AUDIT_POLICY).unwrap();
        for (file, name, group) in USERS {
            let pair = pki.client_ca.issue(name, *group, Usage::Client).unwrap();
            pair.write(dir.path(), file).unwrap();
        }
        let stranger = Authority::new("stranger").unwrap();
        let stranger = stranger
            .issue("system:node:node-a", Some("system:nodes"), Usage::Client)
            .unwrap();
        stranger.write(dir.path(), "stranger").unwrap();

        let cluster = Self {
            api: free(),
            pki,
            etcd: [free(), free()],
            guard,
            arguments,
            dir,
            children: Mutex::default(),
        };
        for user in USERS.iter().map(|(user, _, _)| *user).chain(["stranger"]) {
            cluster.kubeconfig(user, user, cluster.api);
        }
        cluster.run(&assets).await;
        cluster.grant(include_str!("../config/kubernetes/informers.yaml")).await;
        Some(cluster)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// One request as a user, straight to the API server.
    pub(crate) async fn send(&self, user: &str, request: http::request::Builder, body: &str) -> Answer {
        send(&self.file(&format!("{user}.kubeconfig")), request, body).await
    }

    /// Creates an object as admin; it may be there already.
    pub(crate) async fn create(&self, path: &str, object: &Value) {
        let request = Request::post(path).header("content-type", "application/json");
        let answer = self.send("admin", request, &object.to_string()).await;
        assert!(
            matches!(answer.code, StatusCode::CREATED | StatusCode::CONFLICT),
            "{}",
            answer.body
        );
    }

    /// Applies one of the manifests that are shipped, with the gate's user of these tests in place of its service account.
    pub(crate) async fn grant(&self, manifest: &str) {
        for document in manifest.split("\n---\n") {
            let mut object: Value = serde_saphyr::from_str(document).unwrap();
            let resource = match object["kind"].as_str().unwrap() {
                "ClusterRole" => "clusterroles",
                "ClusterRoleBinding" => "clusterrolebindings",
                "Role" => "roles",
                "RoleBinding" => "rolebindings",
                kind => panic!("{kind} in the manifest"),
            };
            // Other subjects are those whom the gate speaks for.
            if object["subjects"][0]["kind"] == "ServiceAccount" {
                let user = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "scopegate"});
                object["subjects"] = json!([user]);
            }
            let place = match object["metadata"]["namespace"].as_str() {
                Some(namespace) => format!("namespaces/{namespace}/"),
                None => String::new(),
            };
            self.create(
                &format!("/apis/rbac.authorization.k8s.io/v1/{place}{resource}"),
                &object,
            )
            .await;
        }
    }

    /// With the preset of the release that runs here.
    pub(crate) fn configuration(&self, name: &str, identity: &str, more: &str) -> PathBuf {
        let path = self.file(name);
        let release = release::preset();
        let text = site::configuration(identity, &format!("kubernetesVersion: '{release}'\n{more}"));
        fs::write(&path, text).unwrap();
        path
    }

    /// A gate before this cluster, and the kubeconfig of a node that uses it.
    pub(crate) async fn gate(&self, name: &str, identity: &str, more: &str) -> (Process, PathBuf) {
        let process = Process::serve(&self.configuration(&format!("{name}.yaml"), identity, more));
        let (serving, admin) = process.addresses().await;
        ready(admin).await;
        let kubeconfig = self.kubeconfig(&format!("{name}-node-a"), "node-a", serving);
        (process, kubeconfig)
    }

    /// The same as a kubeconfig of [`Self::gate`], but with a certificate that nobody knows.
    pub(crate) fn stranger(&self, kubeconfig: &Path) -> PathBuf {
        let text = fs::read_to_string(kubeconfig).unwrap();
        let path = kubeconfig.with_extension("stranger");
        fs::write(&path, text.replace("node-a.", "stranger.")).unwrap();
        path
    }

    /// The same as a kubeconfig, but with no certificate at all.
    pub(crate) fn without_certificate(&self, kubeconfig: &Path) -> PathBuf {
        let text = fs::read_to_string(kubeconfig).unwrap();
        let path = kubeconfig.with_extension("nobody");
        let without = text.replace("client-certificate: node-a.crt, client-key: node-a.key", "");
        assert_ne!(text, without);
        fs::write(&path, without).unwrap();
        path
    }

    /// One more user with a client certificate.
    pub(crate) fn user(&self, file: &str, name: &str, group: Option<&str>) {
        let pair = self.pki.client_ca.issue(name, group, Usage::Client).unwrap();
        pair.write(self.dir.path(), file).unwrap();
        self.kubeconfig(file, file, self.api);
    }

    /// For a user, and whatever listens at the address.
    pub(crate) fn kubeconfig(&self, file: &str, user: &str, server: SocketAddr) -> PathBuf {
        let path = self.file(&format!("{file}.kubeconfig"));
        fs::write(&path, site::kubeconfig(server, Some(user))).unwrap();
        path
    }

    fn log_of(&self, address: SocketAddr) -> String {
        if address == self.api {
            return "kube-apiserver.log".to_owned();
        }
        format!("kube-apiserver-{}.log", address.port())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A port nobody listens on now.
pub(crate) fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
