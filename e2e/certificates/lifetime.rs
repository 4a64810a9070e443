//! When a certificate stops to be good, its next request is refused: also on a connection that is open already.

use std::{fs, net::SocketAddr, path::Path, process::Command, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use scopegate::{
    demo::site::{FRONT_PROXY, Site},
    pki::{Authority, Usage},
    server::tls,
};
use test_case::test_case;
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, HandshakeKind,
        pki_types::{PrivateKeyDer, pem::PemObject as _},
    },
};

use crate::{
    gate::{Answer, Process, admin, eventually, scopegate},
    pki::{CN, O, Template, UTF8, rdn},
};

/// An open connection.
enum Connection {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// How a file is replaced.
#[derive(Clone, Copy)]
enum Swap {
    Rename,
    /// As a Kubernetes volume does it.
    Symlink,
}

const LIFE: Duration = Duration::from_secs(8);

#[test_case(b"http/1.1"; "HTTP 1")]
#[test_case(b"h2"; "HTTP 2")]
#[tokio::test]
async fn a_certificate_expires_on_a_live_connection(protocol: &[u8]) {
    let site = Site::start().await.unwrap();
    let (_gate, serving, _) = serve(&site, "").await;
    let config = short_lived(&site, protocol);
    let mut connection = Connection::over(connect(serving, &config).await).await;
    assert_eq!(connection.ask().await, StatusCode::OK);
    tokio::time::sleep(LIFE).await;
    assert_eq!(connection.ask().await, StatusCode::UNAUTHORIZED);
}

/// A session that is resumed brings the certificate of its first handshake along, not the verdict.
#[tokio::test]
async fn a_resumed_session_does_not_outlive_its_certificate() {
    let site = Site::start().await.unwrap();
    let (_gate, serving, _) = serve(&site, "").await;
    let config = short_lived(&site, b"http/1.1");
    assert_eq!(visit(serving, &config).await, (HandshakeKind::Full, StatusCode::OK));
    assert_eq!(visit(serving, &config).await, (HandshakeKind::Resumed, StatusCode::OK));
    tokio::time::sleep(LIFE).await;
    let refused = (HandshakeKind::Resumed, StatusCode::UNAUTHORIZED);
    assert_eq!(visit(serving, &config).await, refused);
}

/// Nor does it know less of revocations than others: the lists are those of the request.
#[tokio::test]
async fn a_resumed_session_does_not_outlive_a_revocation() {
    let site = Site::start().await.unwrap();
    let ca = Template::ca("revoking").self_signed();
    fs::write(site.file("client-ca.crt"), ca.pem()).unwrap();
    fs::write(site.file("ca.crl"), ca.list(&[])).unwrap();
    let (gate, serving, _) = serve(&site, "\x20 clientCRLFile: ca.crl\n").await;
    let node = ca.sign(node(5));
    let config = client(&site, &node.pem(), &node.key_pem(), b"http/1.1");
    assert_eq!(visit(serving, &config).await, (HandshakeKind::Full, StatusCode::OK));
    assert_eq!(visit(serving, &config).await, (HandshakeKind::Resumed, StatusCode::OK));
    fs::write(site.file("ca.crl"), ca.list(&[&[5]])).unwrap();
    gate.line("reloaded what=\"client-ca\"").await;
    let refused = (HandshakeKind::Resumed, StatusCode::UNAUTHORIZED);
    assert_eq!(visit(serving, &config).await, refused);
}

/// Every CA of the bundle counts, until it is taken out; the others are not touched by that.
#[tokio::test]
async fn a_ca_is_taken_out_of_the_bundle() {
    let site = Site::start().await.unwrap();
    let second = Authority::new("second").unwrap();
    let both = site.pki.client_ca.certificate.clone() + &second.certificate;
    fs::write(site.file("client-ca.crt"), &both).unwrap();
    let (gate, serving, _) = serve(&site, "").await;
    let mut connections = Vec::new();
    for ca in [&site.pki.client_ca, &second] {
        for protocol in [b"http/1.1" as &[u8], b"h2"] {
            let pair = ca
                .issue("system:node:node-a", Some("system:nodes"), Usage::Client)
                .unwrap();
            let config = client(&site, &pair.certificate, &pair.key, protocol);
            let mut connection = Connection::over(connect(serving, &config).await).await;
            assert_eq!(connection.ask().await, StatusCode::OK);
            connections.push(connection);
        }
    }
    fs::write(site.file("client-ca.crt"), &site.pki.client_ca.certificate).unwrap();
    gate.line("reloaded what=\"client-ca\"").await;
    let mut codes = Vec::new();
    for connection in &mut connections {
        codes.push(connection.ask().await.as_u16());
    }
    assert_eq!(codes, [200, 200, 401, 401]);
}

#[test_case(Swap::Rename; "rename")]
#[test_case(Swap::Symlink; "symlink")]
#[tokio::test]
async fn a_certificate_is_revoked_on_a_live_connection(swap: Swap) {
    let site = Site::start().await.unwrap();
    let ca = Template::ca("revoking").self_signed();
    fs::write(site.file("client-ca.crt"), ca.pem()).unwrap();
    let dir = site.file("lists");
    fs::create_dir(&dir).unwrap();
    swap.put(&dir, "first", &ca.list(&[]));
    let (gate, serving, operators) = serve(&site, "\x20 clientCRLFile: lists/ca.crl\n").await;
    let mut connections = Vec::new();
    for serial in [5, 6] {
        let node = ca.sign(node(serial));
        let config = client(&site, &node.pem(), &node.key_pem(), b"h2");
        connections.push(Connection::over(connect(serving, &config).await).await);
    }
    let mut codes = async || {
        let mut codes = Vec::new();
        for connection in &mut connections {
            codes.push(connection.ask().await.as_u16());
        }
        codes
    };
    assert_eq!(codes().await, [200, 200]);

    // A list that the CA has not signed changes nothing, but somebody hears of it.
    let impostor = Template::ca("revoking").self_signed();
    swap.put(&dir, "second", &impostor.list(&[&[6]]));
    let line = gate
        .line("not reloaded; the last good version stays in use what=\"client-ca\"")
        .await;
    assert!(
        line.contains("revocation list of CN=revoking: is not signed by the CA"),
        "{line}"
    );
    assert_eq!(codes().await, [200, 200]);
    let metrics = admin(operators, Request::get("/metrics"), "").await.body;
    let failed = "scopegate_reloads_total{what=\"client-ca\",result=\"error\"} 1";
    assert!(metrics.contains(failed), "missing {failed} in\n{metrics}");

    swap.put(&dir, "third", &ca.list(&[&[5]]));
    gate.line("reloaded what=\"client-ca\"").await;
    assert_eq!(codes().await, [401, 200]);
    eventually("the reason in the log", || {
        gate.stderr().contains("was revoked").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_reports_the_lists() {
    let site = Site::start().await.unwrap();
    let ca = Template::ca("revoking").self_signed();
    fs::write(site.file("client-ca.crt"), ca.pem()).unwrap();
    let config = configuration(&site, "\x20 clientCRLFile: ca.crl\n");
    let check = |lists: &str| {
        fs::write(site.file("ca.crl"), lists).unwrap();
        let mut command = Command::new(scopegate());
        let output = tokio::task::block_in_place(|| command.arg("check").arg("--config").arg(&config).output());
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let printed = check(&(ca.list(&[&[1], &[2]]) + &ca.list(&[])));
    for part in ["CN=revoking, 2 revoked", "CN=revoking, 0 revoked"] {
        assert!(printed.contains(&format!("serving.clientCRLFile: {part}")), "{printed}");
    }
    let printed = check("");
    assert!(
        printed.contains("clientCRLFile: the file has no PEM block"),
        "{printed}"
    );
}

impl Connection {
    async fn over(stream: TlsStream<TcpStream>) -> Self {
        let second = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream = TokioIo::new(stream);
        if second {
            let (client, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
            tokio::spawn(connection);
            Self::Http2(client)
        } else {
            let (client, connection) = http1::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            Self::Http1(client)
        }
    }

    async fn ask(&mut self) -> StatusCode {
        let request = |target: &str| {
            Request::get(target)
                .header("host", "localhost")
                .body(Empty::new())
                .unwrap()
        };
        let response = match self {
            Self::Http1(client) => {
                client.ready().await.unwrap();
                client.send_request(request("/version")).await
            }
            Self::Http2(client) => client.send_request(request("https://localhost/version")).await,
        };
        Answer::read(response.unwrap()).await.code
    }
}

impl Swap {
    /// Makes `ca.crl` in a folder say something else, in one step.
    fn put(self, dir: &Path, version: &str, content: &str) {
        match self {
            Self::Rename => {
                fs::write(dir.join(version), content).unwrap();
                fs::rename(dir.join(version), dir.join("ca.crl")).unwrap();
            }
            Self::Symlink => {
                fs::create_dir(dir.join(version)).unwrap();
                fs::write(dir.join(version).join("ca.crl"), content).unwrap();
                std::os::unix::fs::symlink(version, dir.join("..data_tmp")).unwrap();
                fs::rename(dir.join("..data_tmp"), dir.join("..data")).unwrap();
                // There from the second time on.
                let _ = std::os::unix::fs::symlink("..data/ca.crl", dir.join("ca.crl"));
            }
        }
    }
}

fn node(serial: u8) -> Template {
    let subject = [rdn(O, UTF8, b"system:nodes"), rdn(CN, UTF8, b"system:node:node-a")];
    Template {
        serial: vec![serial],
        ..Template::client("").subject(&subject)
    }
}

/// A client whose certificate is about to expire.
fn short_lived(site: &Site, protocol: &[u8]) -> Arc<ClientConfig> {
    let life = time::Duration::try_from(LIFE).unwrap();
    let ca = &site.pki.client_ca;
    let pair = ca
        .issue_for(life, "system:node:node-a", Some("system:nodes"), Usage::Client)
        .unwrap();
    client(site, &pair.certificate, &pair.key, protocol)
}

fn client(site: &Site, certificate: &str, key: &str, protocol: &[u8]) -> Arc<ClientConfig> {
    let anchors = tls::anchors(site.pki.server_ca.certificate.as_bytes()).unwrap();
    let chain = tls::certificates(certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let builder = ClientConfig::builder().with_root_certificates(anchors);
    let mut config = builder.with_client_auth_cert(chain, key).unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    Arc::new(config)
}

/// A connection for one request: how it began, and how that was answered.
async fn visit(address: SocketAddr, config: &Arc<ClientConfig>) -> (HandshakeKind, StatusCode) {
    let stream = connect(address, config).await;
    let kind = stream.get_ref().1.handshake_kind().unwrap();
    (kind, Connection::over(stream).await.ask().await)
}

async fn connect(address: SocketAddr, config: &Arc<ClientConfig>) -> TlsStream<TcpStream> {
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = TlsConnector::from(Arc::clone(config));
    connector
        .connect("localhost".try_into().unwrap(), stream)
        .await
        .unwrap()
}

/// A gate that notices changes at once: its process and ports.
async fn serve(site: &Site, serving: &str) -> (Process, SocketAddr, SocketAddr) {
    let gate = Process::serve(&configuration(site, serving));
    let (serving, admin) = gate.addresses().await;
    gate.line("upstream reached").await;
    (gate, serving, admin)
}

fn configuration(site: &Site, serving: &str) -> std::path::PathBuf {
    tls::install_crypto();
    let path = site.configuration(FRONT_PROXY, "audit: {path: audit.log}\n").unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let more = format!("serving:\n\x20 reloadInterval: 50ms\n{serving}");
    fs::write(&path, text.replace("serving:\n", &more)).unwrap();
    path
}
