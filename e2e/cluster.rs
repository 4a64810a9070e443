//! etcd and kube-apiserver on free loopback ports, with a PKI of their own. No root, no containers.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use scopegate::{
    demo::site,
    pki::{Authority, Pki, Usage},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gate::{Answer, Process, ready, send, try_send};

/// A control plane. It ends when this is dropped; its logs are in its folder until then.
pub(crate) struct Cluster {
    pub(crate) api: SocketAddr,
    pub(crate) pki: Pki,
    etcd: [SocketAddr; 2],
    guard: Guard,
    arguments: &'static [&'static str],
    dir: TempDir,
    children: Mutex<Vec<Child>>,
}

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

const START: Duration = Duration::from_secs(120);

/// The binaries, or nothing where tests that need them are to be skipped. `make test` sets the variable.
pub(crate) fn assets() -> Option<PathBuf> {
    match std::env::var_os("KUBEBUILDER_ASSETS") {
        Some(dir) => Some(dir.into()),
        None => {
            let required = std::env::var("SCOPEGATE_E2E").is_ok_and(|value| value == "required");
            assert!(
                !required,
                "SCOPEGATE_E2E=required, but KUBEBUILDER_ASSETS is not set; run `make e2e`"
            );
            println!("SKIPPED: needs kube-apiserver; set KUBEBUILDER_ASSETS or install Go and run `make e2e`");
            None
        }
    }
}

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
        let dir = tempfile::Builder::new().prefix("scopegate-e2e-").tempdir().unwrap();
        let pki = Pki::new().unwrap();
        pki.write(dir.path(), &["localhost", "127.0.0.1"], &[]).unwrap();
        // Keys for service accounts are read from certificates, too, but not from a bundle.
        fs::copy(dir.path().join("client-ca.crt"), dir.path().join("service-account.crt")).unwrap();
        let client_cas = pki.client_ca.certificate.clone() + client_cas;
        fs::write(dir.path().join("client-ca.crt"), client_cas).unwrap();
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

    /// Starts the processes, on what there is in the folder, and waits until they serve.
    pub(crate) async fn run(&self, assets: &Path) {
        let [etcd, peer] = self.etcd;
        let etcd_url = format!("http://{etcd}");
        self.spawn(
            Command::new(assets.join("etcd"))
                .args(["--listen-client-urls", &etcd_url, "--advertise-client-urls", &etcd_url])
                .args(["--listen-peer-urls", &format!("http://{peer}"), "--data-dir", "etcd"])
                .args(["--unsafe-no-fsync", "--log-level", "error"]),
            "etcd.log",
        );
        let (modes, plugins) = match self.guard {
            Guard::Node => ("Node,RBAC", "NodeRestriction"),
            Guard::None => ("RBAC", ""),
        };
        let port = self.api.port().to_string();
        self.spawn(
            Command::new(assets.join("kube-apiserver"))
                .args(["--etcd-servers", &etcd_url, "--bind-address", "127.0.0.1"])
                .args(["--secure-port", &port])
                .args(["--tls-cert-file", "server.crt", "--tls-private-key-file", "server.key"])
                .args(["--client-ca-file", "client-ca.crt"])
                .args(["--requestheader-client-ca-file", "front-proxy-ca.crt"])
                .args(["--requestheader-allowed-names", "front-proxy-client"])
                .args(["--requestheader-username-headers", "X-Remote-User"])
                .args(["--requestheader-group-headers", "X-Remote-Group"])
                .args(["--requestheader-extra-headers-prefix", "X-Remote-Extra-"])
                .args(["--requestheader-uid-headers", "X-Remote-Uid"])
                .args(["--service-account-key-file", "service-account.crt"])
                .args(["--service-account-signing-key-file", "client-ca.key"])
                .args(["--service-account-issuer", "https://kubernetes.default.svc"])
                .args(["--service-cluster-ip-range", "10.0.0.0/24"])
                .args(["--enable-bootstrap-token-auth"])
                .args(["--authorization-mode", modes, "--enable-admission-plugins", plugins])
                .args(self.arguments),
            "kube-apiserver.log",
        );
        self.ready().await;
    }

    /// Ends the processes and keeps what they have stored.
    pub(crate) fn stop(&self) {
        for mut child in self.children.lock().unwrap().drain(..).rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
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

    /// Applies one of the manifests that are shipped, with the gate's user of these tests as its subject.
    pub(crate) async fn grant(&self, manifest: &str) {
        for document in manifest.split("\n---\n") {
            let mut object: Value = serde_saphyr::from_str(document).unwrap();
            let resource = match object["kind"].as_str().unwrap() {
                "ClusterRole" => "clusterroles",
                "ClusterRoleBinding" => {
                    let user = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "scopegate"});
                    object["subjects"] = json!([user]);
                    "clusterrolebindings"
                }
                kind => panic!("{kind} in the manifest"),
            };
            self.create(&format!("/apis/rbac.authorization.k8s.io/v1/{resource}"), &object)
                .await;
        }
    }

    pub(crate) fn configuration(&self, name: &str, identity: &str, more: &str) -> PathBuf {
        let path = self.file(name);
        fs::write(&path, site::configuration(identity, more)).unwrap();
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

    fn spawn(&self, command: &mut Command, log: &str) {
        let log = fs::File::create(self.file(log)).unwrap();
        let errors = log.try_clone().unwrap();
        let command = command
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        self.children.lock().unwrap().push(command.spawn().unwrap());
    }

    async fn ready(&self) {
        let began = Instant::now();
        loop {
            let answer = try_send(&self.file("admin.kubeconfig"), Request::get("/readyz"), "").await;
            if answer.is_ok_and(|answer| answer.code == StatusCode::OK) {
                return;
            }
            let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
            if self.children.lock().unwrap().iter_mut().any(ended) || began.elapsed() > START {
                let log = fs::read_to_string(self.file("kube-apiserver.log")).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(20).collect();
                panic!("the cluster did not start:\n{}", tail.join("\n"));
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A port nobody listens on now.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
