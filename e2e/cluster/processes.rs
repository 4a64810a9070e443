//! etcd and kube-apiserver as processes: started, killed, started again.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use tokio::net::TcpStream;

use super::{Cluster, Guard};
use crate::{gate::try_send, release};

const START: Duration = Duration::from_secs(120);

impl Cluster {
    /// Starts the processes, on what there is in the folder, and waits until they serve.
    pub(crate) async fn run(&self, assets: &Path) {
        let [etcd, peer] = self.etcd;
        let etcd_url = format!("http://{etcd}");
        self.spawn(
            etcd,
            Command::new(assets.join("etcd"))
                .args(["--listen-client-urls", &etcd_url, "--advertise-client-urls", &etcd_url])
                .args(["--listen-peer-urls", &format!("http://{peer}"), "--data-dir", "etcd"])
                .args(["--unsafe-no-fsync", "--log-level", "error"]),
            "etcd.log",
        );
        // On a slow disk it may take longer than an API server waits for it.
        let began = Instant::now();
        while TcpStream::connect(etcd).await.is_err() {
            self.are_running("etcd.log", began);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.serve(assets, self.api).await;
    }

    /// Starts one of the API servers that share what is stored, and waits until it serves.
    pub(crate) async fn serve(&self, assets: &Path, address: SocketAddr) {
        let etcd_url = self.etcd();
        let (modes, plugins) = match self.guard {
            Guard::Node => ("Node,RBAC", "NodeRestriction"),
            Guard::None => ("RBAC", ""),
        };
        let port = address.port().to_string();
        let log = self.log_of(address);
        self.spawn(
            address,
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
                .args(release::uid_header())
                .args(["--service-account-key-file", "service-account.crt"])
                .args(["--service-account-signing-key-file", "client-ca.key"])
                .args(["--service-account-issuer", "https://kubernetes.default.svc"])
                .args(["--service-cluster-ip-range", "10.0.0.0/24"])
                .args(["--enable-bootstrap-token-auth"])
                .args(["--authorization-mode", modes, "--enable-admission-plugins", plugins])
                .args(release::arguments())
                .args(self.arguments),
            &log,
        );
        self.ready(address).await;
    }

    /// Kills what listens there.
    pub(crate) fn kill(&self, address: SocketAddr) {
        let mut children = self.children.lock().unwrap();
        let at = children.iter().position(|(listening, _)| *listening == address);
        let (_, mut child) = children.remove(at.unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Ends the processes and keeps what they have stored.
    pub(crate) fn stop(&self) {
        for (_, mut child) in self.children.lock().unwrap().drain(..).rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Where its etcd listens.
    pub(crate) fn etcd(&self) -> String {
        format!("http://{}", self.etcd[0])
    }

    /// Starts a program in the cluster's folder, which ends with the cluster.
    pub(crate) fn spawn(&self, address: SocketAddr, command: &mut Command, log: &str) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.file(log))
            .unwrap();
        let errors = log.try_clone().unwrap();
        let command = command
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        let child = command.spawn().unwrap();
        self.children.lock().unwrap().push((address, child));
    }

    async fn ready(&self, address: SocketAddr) {
        let began = Instant::now();
        let kubeconfig = self.kubeconfig(&format!("admin-{}", address.port()), "admin", address);
        loop {
            let answer = try_send(&kubeconfig, Request::get("/readyz"), "").await;
            if answer.is_ok_and(|answer| answer.code == StatusCode::OK) {
                return;
            }
            self.are_running(&self.log_of(address), began);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Or the test ends, with what the log says last.
    fn are_running(&self, log: &str, began: Instant) {
        let ended = |(_, child): &mut (SocketAddr, Child)| child.try_wait().unwrap().is_some();
        if self.children.lock().unwrap().iter_mut().any(ended) || began.elapsed() > START {
            let log = fs::read_to_string(self.file(log)).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(20).collect();
            panic!("the cluster did not start:\n{}", tail.join("\n"));
        }
    }
}
