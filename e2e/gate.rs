//! A gate process in front of the stand-in, and clients for it.

mod client;

use std::{
    io::{BufRead as _, BufReader, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use scopegate::{demo::site::Site, identity::token::TOKEN_REVIEWS};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_rustls::{TlsConnector, client::TlsStream, rustls};

pub(crate) use self::client::Client;

/// A running gate process; it is killed when this is dropped.
pub(crate) struct Gate {
    pub(crate) site: Site,
    pub(crate) serving: SocketAddr,
    pub(crate) admin: SocketAddr,
    process: Process,
}

/// A process whose standard error is collected.
pub(crate) struct Process {
    child: Child,
    stderr: Arc<Mutex<String>>,
}

/// A client, and the connection that carries what it asks.
pub(crate) type Http2 = (SendRequest<Empty<Bytes>>, JoinHandle<hyper::Result<()>>);

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

/// Lets nodes do more than the rules do: upstream decides.
pub(crate) const FORWARD: &str = "callers: {nodes: {fallback: Upstream}}\n";
/// A request that does not end by itself.
pub(crate) const WATCH: &str = "GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: x\r\n\r\n";

/// The longest anything here is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

impl Gate {
    /// In front of a stand-in of its own, with audit events in `audit.log` and every request logged.
    pub(crate) async fn start(mode: &str, more: &str) -> Self {
        scopegate::server::tls::install_crypto();
        Self::start_at(Site::start().await.unwrap(), mode, more).await
    }

    pub(crate) async fn start_at(site: Site, mode: &str, more: &str) -> Self {
        Self::edited(site, mode, more, &[]).await
    }

    /// With lines put behind others in the configuration, for keys of sections that are there already.
    pub(crate) async fn edited(site: Site, mode: &str, more: &str, edits: &[(&str, &str)]) -> Self {
        let more = format!("audit: {{path: audit.log}}\nlog: {{level: debug}}\n{more}");
        let config = site.configuration(mode, &more).unwrap();
        edit(&config, edits);
        let process = Process::serve(&config);
        let (serving, admin) = process.addresses().await;
        for user in ["node-a", "node-b", "nobody"] {
            site.kubeconfig(user, serving).unwrap();
        }
        let gate = Self {
            site,
            serving,
            admin,
            process,
        };
        let (kubeconfig, standin) = (gate.site.file("gate.kubeconfig"), gate.site.upstream.address);
        let servers = edits.iter().any(|(_, added)| added.contains("servers:"));
        if !servers
            && std::fs::read_to_string(kubeconfig)
                .unwrap()
                .contains(&standin.to_string())
        {
            ready(gate.admin).await;
        } else {
            // Behind it is something that a test has made up, and that knows no pods.
            gate.process.line("upstream reached").await;
        }
        gate
    }

    pub(crate) async fn get(&self, user: &str, target: &str) -> Answer {
        self.send(user, Request::get(target), "").await
    }

    pub(crate) async fn send(&self, user: &str, request: http::request::Builder, body: &str) -> Answer {
        let kubeconfig = self.site.file(&format!("{user}.kubeconfig"));
        send(&kubeconfig, request, body).await
    }

    /// A TLS connection with the certificate of a user, for bytes that no client library would send.
    pub(crate) async fn connect(&self, user: &str, protocol: &[u8]) -> TlsStream<tokio::net::TcpStream> {
        connect(self.site.dir(), self.serving, user, protocol).await
    }

    /// An HTTP/2 connection with the certificate of a user.
    pub(crate) async fn http2(&self, user: &str) -> Http2 {
        http2(self.site.dir(), self.serving, user).await
    }

    /// What the admin port answers.
    pub(crate) async fn admin(&self, request: http::request::Builder, body: &str) -> Answer {
        admin(self.admin, request, body).await
    }

    /// The same for an operator, who has the token.
    pub(crate) async fn operate(&self, request: http::request::Builder, body: &str) -> Answer {
        self.admin(operator(request, &self.site.file("admin.token")), body)
            .await
    }

    /// The requests upstream saw, without the gate's own questions.
    pub(crate) fn forwarded(&self) -> Vec<String> {
        let seen = self.site.upstream.seen().into_iter();
        seen.map(|request| format!("{} {}", request.method, request.target))
            .filter(|request| request != &format!("POST {TOKEN_REVIEWS}"))
            .collect()
    }

    /// Waits until so many requests are being handled.
    pub(crate) async fn under_way(&self, count: usize) {
        let line = format!("scopegate_requests_in_flight {count}\n");
        for _ in 0..500 {
            if self.admin(Request::get("/metrics"), "").await.body.contains(&line) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("there never were {count} requests under way");
    }

    /// The audit event of a request, when it has been written.
    pub(crate) async fn event(&self, audit_id: &str) -> Value {
        self.event_where(|event| event["auditID"] == audit_id).await
    }

    pub(crate) async fn event_where(&self, matches: impl Fn(&Value) -> bool) -> Value {
        let path = self.site.file("audit.log");
        eventually("an audit event", || {
            let log = std::fs::read_to_string(&path).unwrap_or_default();
            let mut events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            events.find(&matches)
        })
        .await
    }

    pub(crate) fn log(&self) -> String {
        self.process.stderr()
    }

    pub(crate) async fn logged(&self, text: &str) -> String {
        self.process.line(text).await
    }

    pub(crate) fn signal(&self, signal: &str) {
        self.process.signal(signal);
    }

    pub(crate) async fn exited(&mut self) -> ExitStatus {
        self.process.exited().await
    }
}

impl Process {
    /// A gate with this configuration. What it logs is also written beside it.
    pub(crate) fn serve(config: &Path) -> Self {
        Self::serve_with(scopegate(), config)
    }

    /// The same of another build.
    pub(crate) fn serve_with(program: &Path, config: &Path) -> Self {
        let mut log = std::fs::File::options();
        let log = log.create(true).append(true).open(config.with_extension("log"));
        let mut log = log.unwrap();
        let mut command = Command::new(program);
        command.arg("serve").arg("--config").arg(config);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let collected = Arc::clone(&stderr);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = writeln!(log, "{line}");
                let mut stderr = collected.lock().unwrap();
                stderr.push_str(&line);
                stderr.push('\n');
            }
        });
        Self { child, stderr }
    }

    /// Where the gate listens: for kubelets, for operators.
    pub(crate) async fn addresses(&self) -> (SocketAddr, SocketAddr) {
        let listening = self.line("listening").await;
        let address = |key: &str| field(&listening, key).parse().unwrap();
        (address("serving"), address("admin"))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    /// The first line of standard error with this text, when there is one.
    pub(crate) async fn line(&self, text: &str) -> String {
        let began = Instant::now();
        let found = || {
            let stderr = self.stderr();
            let line = stderr.lines().find(|line| line.contains(text)).map(str::to_owned);
            assert!(
                line.is_some() || began.elapsed() < PATIENCE,
                "no line with {text:?} in:
{stderr}"
            );
            line
        };
        eventually("a log line", found).await
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", signal, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    pub(crate) async fn exited(&mut self) -> ExitStatus {
        eventually("the end of the process", || self.child.try_wait().unwrap()).await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    pub(crate) async fn read<B>(response: http::Response<B>) -> Self
    where
        B: hyper::body::Body,
        B::Error: std::fmt::Debug,
    {
        Self::try_read(response).await.unwrap()
    }

    /// The same where whoever answers may be killed over it.
    pub(crate) async fn try_read<B>(response: http::Response<B>) -> Result<Self, String>
    where
        B: hyper::body::Body,
        B::Error: std::fmt::Debug,
    {
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| format!("{error:?}"))?.to_bytes();
        Ok(Self {
            code: head.status,
            headers: head.headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn audit_id(&self) -> String {
        self.headers["audit-id"].to_str().unwrap().to_owned()
    }
}

/// A GET as HTTP/2 wants it.
pub(crate) fn get(target: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("https://localhost{target}"))
        .body(Empty::new())
        .unwrap()
}

/// Puts lines behind others in a file.
pub(crate) fn edit(file: &Path, edits: &[(&str, &str)]) {
    let mut text = std::fs::read_to_string(file).unwrap();
    for (behind, line) in edits {
        assert!(text.contains(behind), "{behind:?} is not in {text}");
        text = text.replace(behind, &format!("{behind}{line}"));
    }
    std::fs::write(file, text).unwrap();
}

/// The program under test.
/// The same, with an admin port where operators have certificates and no token.
pub(crate) fn with_admin_tls(config: &str) -> String {
    let tls = "  certFile: server.crt\n  keyFile: server.key\n  clientCAFile: client-ca.crt\n";
    let with = config.replace("  tokenFile: admin.token\n", tls);
    assert_ne!(with, config);
    with
}

/// What cargo has built for the tests, or another build: `SCOPEGATE_PROGRAM=target/shipped/scopegate`.
pub(crate) fn scopegate() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| match std::env::var_os("SCOPEGATE_PROGRAM") {
        Some(program) => Path::new(&program).canonicalize().expect("SCOPEGATE_PROGRAM is a gate"),
        None => env!("CARGO_BIN_EXE_scopegate").into(),
    });
    &PROGRAM
}

/// One request with the credentials of a kubeconfig, over HTTP/1.1, by a client that shares no code with the gate.
pub(crate) async fn send(kubeconfig: &Path, request: http::request::Builder, body: &str) -> Answer {
    try_send(kubeconfig, request, body)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The same, where there may be no answer.
pub(crate) async fn try_send(kubeconfig: &Path, request: http::request::Builder, body: &str) -> Result<Answer, String> {
    Client::new(kubeconfig).await.send(request, body).await
}

/// One request to an admin port.
pub(crate) async fn admin(address: SocketAddr, request: http::request::Builder, body: &str) -> Answer {
    let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http();
    let mut request = request.body(Full::<Bytes>::from(body.to_owned())).unwrap();
    *request.uri_mut() = format!("http://{address}{}", request.uri()).parse().unwrap();
    Answer::read(client.request(request).await.unwrap()).await
}

/// With the token that is in a file.
pub(crate) fn operator(request: http::request::Builder, token: &Path) -> http::request::Builder {
    let token = std::fs::read_to_string(token).unwrap();
    request.header("authorization", format!("Bearer {}", token.trim()))
}

/// Waits until a gate knows all that it needs to know.
pub(crate) async fn ready(address: SocketAddr) {
    let began = Instant::now();
    loop {
        let answer = admin(address, Request::get("/readyz?verbose"), "").await;
        if answer.code == StatusCode::OK {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "not ready:\n{}", answer.body);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// An HTTP/2 connection to a gate, with the certificate of a user.
pub(crate) async fn http2(dir: &Path, address: SocketAddr, user: &str) -> Http2 {
    let stream = TokioIo::new(connect(dir, address, user, b"h2").await);
    let (client, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    (client, tokio::spawn(connection))
}

/// A TLS connection to a gate, with the files of a folder.
pub(crate) async fn connect(
    dir: &Path,
    address: SocketAddr,
    user: &str,
    protocol: &[u8],
) -> TlsStream<tokio::net::TcpStream> {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
    let ca = std::fs::read(dir.join("server-ca.crt")).unwrap();
    let anchors = scopegate::server::tls::anchors(&ca).unwrap();
    let builder = rustls::ClientConfig::builder().with_root_certificates(anchors);
    let mut config = match user {
        "nobody" => builder.with_no_client_auth(),
        user => {
            let certificates = CertificateDer::pem_file_iter(dir.join(format!("{user}.crt"))).unwrap();
            let key = PrivateKeyDer::from_pem_file(dir.join(format!("{user}.key"))).unwrap();
            let certificates = certificates.collect::<Result<_, _>>().unwrap();
            builder.with_client_auth_cert(certificates, key).unwrap()
        }
    };
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let name = "localhost".try_into().unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .unwrap()
}

/// Waits until there is something, but not for ever.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Some(found) => return found,
            None if began.elapsed() < PATIENCE => tokio::time::sleep(Duration::from_millis(10)).await,
            None => panic!("{what} did not come within {PATIENCE:?}"),
        }
    }
}

/// The value of `key=value` in a log line.
fn field<'a>(line: &'a str, key: &str) -> &'a str {
    let start = format!(" {key}=");
    line.split_once(&start).unwrap().1.split(' ').next().unwrap()
}
