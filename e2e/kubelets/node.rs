//! Kubelets without containers, each in a folder of its own.

use std::{
    fs,
    io::ErrorKind,
    net::SocketAddr,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use scopegate::demo::site;
use serde_json::Value;

use crate::cluster::{Cluster, free};

/// It ends when this is dropped.
pub(super) struct Node {
    pub(super) name: String,
    /// With a bootstrap token; else it has had a certificate from the beginning.
    pub(super) joins: bool,
    dir: PathBuf,
    child: Child,
}

const STATIC_POD: &str = "static.json";

impl Node {
    /// One of kubemark's, with a certificate.
    pub(super) fn hollow(cluster: &Cluster, kubemark: &Path, name: &str, server: SocketAddr) -> Self {
        cluster.user(name, &format!("system:node:{name}"), Some("system:nodes"));
        let kubeconfig = cluster.kubeconfig(name, name, server);
        let mut command = Command::new(kubemark);
        command
            .args(["--morph=kubelet", "--use-host-image-service=false"])
            .args(["--kubelet-port=0", "--kubelet-read-only-port=0"])
            .arg(format!("--name={name}"))
            .arg(format!("--kubeconfig={}", kubeconfig.display()));
        Self::start(cluster, name, false, &mut command)
    }

    /// One that has nothing but a bootstrap token.
    pub(super) fn joining(cluster: &Cluster, kubelet: &Path, name: &str, server: SocketAddr, token: &str) -> Self {
        let kubeconfig = cluster.file(&format!("{name}-bootstrap.kubeconfig"));
        let nobody = site::kubeconfig(server, None);
        let text = nobody.replace("user: {}", &format!("user: {{token: {token}}}"));
        assert_ne!(text, nobody);
        fs::write(&kubeconfig, text).unwrap();
        let mut command = Command::new(kubelet);
        command
            .arg(format!("--name={name}"))
            .arg(format!("--port={}", free().port()))
            .arg(format!("--bootstrap-kubeconfig={}", kubeconfig.display()));
        Self::start(cluster, name, true, &mut command)
    }

    fn start(cluster: &Cluster, name: &str, joins: bool, command: &mut Command) -> Self {
        let dir = cluster.file(name);
        fs::create_dir(&dir).unwrap();
        let log = fs::File::create(dir.join("log")).unwrap();
        let child = command
            // The files that a kubeconfig names are beside it.
            .current_dir(cluster.file(""))
            .env("TMPDIR", &dir)
            // So that the times of what it logs can be compared.
            .env("TZ", "UTC")
            // They are many, and the machine is small.
            .env("GOMAXPROCS", "1")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        Self {
            name: name.to_owned(),
            joins,
            dir,
            child: child.unwrap(),
        }
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap()
    }

    /// What a container of a pod would find in one of its volumes.
    pub(super) fn mounted(&self, pod: &Value, plugin: &str, volume: &str, file: &str) -> Option<String> {
        let uid = pod["metadata"]["uid"].as_str().unwrap();
        let volumes = self.root().join("pods").join(uid).join("volumes");
        fs::read_to_string(volumes.join(format!("kubernetes.io~{plugin}")).join(volume).join(file)).ok()
    }

    pub(super) fn add_static_pod(&self, pod: &Value) {
        let folder = self.static_pods();
        // The kubelet passes over names with a dot, so that it sees the file whole or not at all.
        let hidden = folder.join(format!(".{STATIC_POD}"));
        fs::write(&hidden, pod.to_string()).unwrap();
        fs::rename(hidden, folder.join(STATIC_POD)).unwrap();
    }

    pub(super) fn remove_static_pod(&self) {
        fs::remove_file(self.static_pods().join(STATIC_POD)).unwrap();
    }

    fn static_pods(&self) -> PathBuf {
        beginning_with(&self.root(), "static-pods")
    }

    fn root(&self) -> PathBuf {
        root(&self.log()).unwrap_or_else(|| panic!("{} has not told its root folder", self.name))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        sweep();
        // Whoever wants to know why a test has failed may want to look at it.
        if let Some(root) = root(&self.log()).filter(|_| !std::thread::panicking()) {
            let _ = fs::remove_dir_all(root);
        }
    }
}

/// kubemark leaves the socket of its runtime behind, in the system's folder and under a name that it does not tell. It is rubbish
/// when nobody listens any more.
fn sweep() {
    for entry in fs::read_dir("/tmp").into_iter().flatten().flatten() {
        let dead =
            || UnixStream::connect(entry.path()).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        if entry.file_name().to_string_lossy().starts_with("kubelet_remote_") && dead() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// kubemark makes it up, in the system's folder for such things, and logs it.
fn root(log: &str) -> Option<PathBuf> {
    let named = log.split_once("Using ")?.1.split_once(" as root dir")?.0;
    named.contains("/hollow-kubelet.").then(|| named.into())
}

/// The rest of the name is made up.
fn beginning_with(dir: &Path, prefix: &str) -> PathBuf {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    let mut named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let found = named.next();
    found
        .unwrap_or_else(|| panic!("{} has no {prefix}", dir.display()))
        .path()
}
