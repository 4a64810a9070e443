//! The gate, nginx and haproxy before the same API server: mutual TLS on both sides, and who the caller is told in the same headers.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    path::Path,
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
/// `SCOPEGATE_BESIDE=path/to/before:path/to/after` has other builds of the gate measured instead of this one, in the same rounds,
/// so that a change can be seen beside what was before it. The last of them is the one whose ratio is told.
pub(crate) async fn all(world: &World, setup: Setup) -> Vec<Proxy> {
    let mut all: Vec<Proxy> = [nginx(&world.cluster, setup), haproxy(&world.cluster)]
        .into_iter()
        .flatten()
        .collect();
    for other in beside() {
        let name = other.rsplit('/').next().unwrap();
        all.push(scopegate(world, name, Some(Path::new(&other)), setup).await);
    }
    if beside().is_empty() {
        all.push(scopegate(world, "scopegate", None, setup).await);
    }
    all
}

/// The gate by itself: this build, or the last of `SCOPEGATE_BESIDE`.
pub(crate) async fn gate(world: &World, name: &str, setup: Setup) -> Proxy {
    let others = beside();
    scopegate(world, name, others.last().map(Path::new), setup).await
}

fn beside() -> Vec<String> {
    let others = std::env::var("SCOPEGATE_BESIDE").unwrap_or_default();
    let others = others.split(':').filter(|path| !path.is_empty());
    others.map(str::to_owned).collect()
}

/// With an audit log, metrics and every rule, as it comes.
async fn scopegate(world: &World, name: &str, program: Option<&Path>, setup: Setup) -> Proxy {
    let file = name.replace(' ', "-");
    let more = format!("audit: {{path: {file}-audit.log}}\n");
    let config = world.cluster.configuration(&format!("{file}.yaml"), FRONT_PROXY, &more);
    let limits = format!("\x20 limits: {{{}}}\n", setup.limits);
    gate::edit(&config, &[("clientCAFile: client-ca.crt\n", &limits)]);
    let process = match program {
        None => Process::serve(&config),
        Some(program) => Process::serve_with(program, &config),
    };
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
fn nginx(cluster: &Cluster, setup: Setup) -> Option<Proxy> {
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

fn haproxy(cluster: &Cluster) -> Option<Proxy> {
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

/// Nothing if it is not installed, which is said.
fn peer(cluster: &Cluster, name: &'static str, address: SocketAddr, command: &mut Command) -> Option<Proxy> {
    let log = fs::File::create(cluster.file(&format!("{name}.log"))).unwrap();
    command.current_dir(cluster.file("")).stdin(Stdio::null());
    command.stdout(log.try_clone().unwrap()).stderr(log);
    let Ok(child) = command.spawn() else {
        eprintln!("SKIPPED: {name} is not installed, so that nothing is compared with it");
        return None;
    };
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
    Some(proxy)
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
