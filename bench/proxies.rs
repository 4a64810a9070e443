//! The gate, nginx and haproxy before the same API server: mutual TLS on both sides, and who the caller is told in the same headers.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use http::Request;
use scopegate::demo::site::FRONT_PROXY;

use crate::{
    cluster::{Cluster, free},
    gate::{self, Process},
    process::Watched,
    world::World,
};

/// What can be measured.
pub(crate) struct Contender {
    pub(crate) name: String,
    kind: Kind,
}

enum Kind {
    Nginx,
    Haproxy,
    /// A build of it.
    Gate(PathBuf),
}

/// One of them, running. It ends when this is dropped.
pub(crate) struct Proxy {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    pub(crate) used: Watched,
    running: Running,
}

enum Running {
    Gate { process: Process, admin: SocketAddr },
    Peer(Child),
}

/// What a part wants to be different from what is usual.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setup {
    /// The gate's `serving.limits`, as YAML in one line.
    pub(crate) limits: &'static str,
    /// More directives of nginx, where it passes requests on.
    pub(crate) nginx: &'static str,
}

const START: Duration = Duration::from_secs(10);

/// Those that are installed, the gate last.
///
/// `SCOPEGATE_BESIDE=before=path/to/one:after=path/to/another` has other builds of the gate measured instead of this one, in the same
/// rounds, so that a change can be seen beside what was before it. The last of them is the one whose ratio is told.
pub(crate) fn contenders() -> Vec<Contender> {
    let peers = [("nginx", Kind::Nginx), ("haproxy", Kind::Haproxy)];
    let mut all: Vec<Contender> = peers
        .into_iter()
        .filter(|(name, _)| is_installed(name))
        .map(|(name, kind)| Contender::new(name, kind))
        .collect();
    let builds = beside();
    all.extend(
        builds
            .iter()
            .map(|(name, program)| Contender::new(name, Kind::Gate(program.clone()))),
    );
    if builds.is_empty() {
        all.push(Contender::gate("scopegate"));
    }
    all
}

/// Where it is not, that is said.
fn is_installed(name: &str) -> bool {
    let found = Command::new(name).arg("-v").output().is_ok();
    if !found {
        eprintln!("SKIPPED: {name} is not installed, so that nothing is compared with it");
    }
    found
}

impl Contender {
    fn new(name: &str, kind: Kind) -> Self {
        let name = name.to_owned();
        Self { name, kind }
    }

    /// The gate, by a name of its own.
    pub(crate) fn gate(name: &str) -> Self {
        Self::new(name, Kind::Gate(program()))
    }

    pub(crate) fn is_gate(&self) -> bool {
        matches!(self.kind, Kind::Gate(_))
    }

    /// Best by itself: what else runs takes caches and CPUs, and to the informers of a gate every heartbeat is news, whoever passes it on.
    pub(crate) async fn start(&self, world: &World, setup: Setup) -> Proxy {
        match &self.kind {
            Kind::Nginx => nginx(&world.cluster, setup),
            Kind::Haproxy => haproxy(&world.cluster),
            Kind::Gate(program) => scopegate(world, &self.name, program, setup).await,
        }
    }
}

/// The build that is measured: this one, or the last of `SCOPEGATE_BESIDE`.
pub(crate) fn program() -> PathBuf {
    let last = beside().pop();
    last.map_or_else(|| gate::scopegate().to_owned(), |(_, program)| program)
}

/// Builds with their names.
fn beside() -> Vec<(String, PathBuf)> {
    let others = std::env::var("SCOPEGATE_BESIDE").unwrap_or_default();
    let others = others.split(':').filter(|other| !other.is_empty());
    let named = others.map(|other| other.split_once('=').expect("name=path/to/a/gate"));
    named.map(|(name, path)| (name.to_owned(), path.into())).collect()
}

/// With an audit log, metrics and every rule, as it comes.
async fn scopegate(world: &World, name: &str, program: &Path, setup: Setup) -> Proxy {
    let file = name.replace(' ', "-");
    let more = format!("audit: {{path: {file}-audit.log}}\n");
    let config = world.cluster.configuration(&format!("{file}.yaml"), FRONT_PROXY, &more);
    let limits = format!("\x20 limits: {{{}}}\n", setup.limits);
    gate::edit(&config, &[("clientCAFile: client-ca.crt\n", &limits)]);
    let process = Process::serve_with(program, &config);
    let (address, admin) = process.addresses().await;
    gate::ready(admin).await;
    Proxy {
        name: name.to_owned(),
        address,
        used: Watched::new(process.id()),
        running: Running::Gate { process, admin },
    }
}

/// It writes an access log, as it does unless told otherwise, through a buffer, as the gate does. Unless told so, it would not speak
/// TLS 1.3, as all others do.
fn nginx(cluster: &Cluster, setup: Setup) -> Proxy {
    let (address, api, more) = (free(), cluster.api, setup.nginx);
    let configuration = format!(
        "daemon off; user root; pid nginx.pid; error_log nginx-error.log; worker_processes auto;\n\
         worker_rlimit_nofile 65536;\n\
         events {{ worker_connections 16384; }}\n\
         http {{\n\
           access_log nginx-access.log combined buffer=64k flush=1s;\n\
           map $ssl_client_s_dn $caller {{ ~CN=(?<name>[^,]+) $name; }}\n\
           upstream api {{ server {api}; keepalive 1024; keepalive_requests 100000000; }}\n\
           server {{\n\
             listen {address} ssl http2;\n\
             ssl_certificate server.crt; ssl_certificate_key server.key;\n\
             ssl_protocols TLSv1.3; ssl_client_certificate client-ca.crt; ssl_verify_client on; ssl_session_cache shared:tls:10m;\n\
             keepalive_requests 100000000;\n\
             location = /handshake {{ return 204; }}\n\
             location / {{\n\
               proxy_pass https://api; proxy_http_version 1.1; proxy_set_header Connection '';\n\
               proxy_set_header X-Remote-User $caller; proxy_set_header X-Remote-Group system:nodes;\n\
               proxy_ssl_certificate front-proxy-client.crt; proxy_ssl_certificate_key front-proxy-client.key;\n\
               proxy_ssl_trusted_certificate server-ca.crt; proxy_ssl_verify on; proxy_ssl_name localhost;\n\
               proxy_ssl_protocols TLSv1.3; proxy_read_timeout 1h; {more}\n\
             }}\n\
           }}\n\
         }}\n"
    );
    fs::write(cluster.file("nginx.conf"), configuration).unwrap();
    let mut command = Command::new("nginx");
    command
        .arg("-p")
        .arg(cluster.file(""))
        .args(["-c", "nginx.conf", "-e", "nginx-error.log"]);
    peer(cluster, "nginx", address, &mut command)
}

fn haproxy(cluster: &Cluster) -> Proxy {
    let (address, api) = (free(), cluster.api);
    let joined = |name: &str| {
        let read = |ending: &str| fs::read_to_string(cluster.file(&format!("{name}.{ending}"))).unwrap();
        fs::write(cluster.file(&format!("{name}.pem")), read("crt") + &read("key")).unwrap();
    };
    joined("server");
    joined("front-proxy-client");
    let configuration = format!(
        "global\n nbthread 2\n maxconn 8000\n log stdout format raw local0\n\
         defaults\n mode http\n log global\n option httplog\n timeout connect 5s\n timeout client 1h\n timeout server 1h\n\
         frontend serving\n\
         \x20bind {address} ssl crt server.pem ca-file client-ca.crt verify required alpn h2,http/1.1\n\
         \x20http-request return status 204 if {{ path /handshake }}\n\
         \x20http-request set-header X-Remote-User %[ssl_c_s_dn(CN)]\n\
         \x20http-request set-header X-Remote-Group system:nodes\n\
         \x20default_backend api\n\
         backend api\n\
         \x20http-reuse always\n\
         \x20server api {api} ssl crt front-proxy-client.pem ca-file server-ca.crt verify required sni str(localhost)\n"
    );
    fs::write(cluster.file("haproxy.cfg"), configuration).unwrap();
    let mut command = Command::new("haproxy");
    command.args(["-db", "-f", "haproxy.cfg"]);
    peer(cluster, "haproxy", address, &mut command)
}

fn peer(cluster: &Cluster, name: &str, address: SocketAddr, command: &mut Command) -> Proxy {
    let log = fs::File::create(cluster.file(&format!("{name}.log"))).unwrap();
    command.current_dir(cluster.file("")).stdin(Stdio::null());
    command.stdout(log.try_clone().unwrap()).stderr(log);
    let child = command.spawn().unwrap();
    let used = Watched::new(child.id());
    let proxy = Proxy {
        name: name.to_owned(),
        address,
        used,
        running: Running::Peer(child),
    };
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        let log = || fs::read_to_string(cluster.file(&format!("{name}.log"))).unwrap_or_default();
        assert!(began.elapsed() < START, "{name} does not listen: {}", log());
        sleep(Duration::from_millis(20));
    }
    proxy
}

impl Proxy {
    /// The number behind a name on the gate's admin port.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let Running::Gate { admin, .. } = &self.running else {
            panic!("{} has no metrics", self.name);
        };
        let metrics = gate::admin(*admin, Request::get("/metrics"), "").await.body;
        let value = metrics
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0.0, |value| value.parse().unwrap())
    }

    /// What the gate has logged so far.
    pub(crate) fn log(&self) -> String {
        let Running::Gate { process, .. } = &self.running else {
            panic!("{} logs elsewhere", self.name);
        };
        process.stderr()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Self::Peer(child) = self {
            // nginx ends its workers with itself when it is asked to, and not when it is killed.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}
