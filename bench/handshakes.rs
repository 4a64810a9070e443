//! Nodes that come anew: TLS 1.3 with client certificates, one request that the proxy answers by itself, and the end.
//!
//! Certificates are for P-256 on both sides, the key exchange is X25519 and the cipher AES-256-GCM with all of them. The gate verifies
//! certificates not in the handshake but with each request, so that there has to be one: it is malformed, and refused after
//! the caller is known. nginx and haproxy answer without asking anybody, too. Most of a handshake is the same elliptic curve for
//! all of them, so what is compared is mostly their libraries.

use std::{net::SocketAddr, sync::Arc};

use futures_util::{StreamExt as _, stream};
use rustls::{ClientConfig, HandshakeKind, NamedGroup, ProtocolVersion, client::Resumption};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use crate::{
    compare::{Comparison, Target, Unit, median},
    options,
    page::Section,
    proxies::{self, Proxy, Setup},
    world::World,
};

pub(crate) const NODES: usize = 1000;
/// At a time.
const AT_A_TIME: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Measured {
    /// Seconds of a CPU.
    full: f64,
    resumed: f64,
    /// How many of a hundred were resumed that wanted to be.
    share: f64,
}

pub(crate) async fn handshakes(world: &World) -> Section {
    let count = options::number("handshakes", NODES);
    let mut section = Section::new("handshakes");
    let contenders = proxies::contenders();
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); contenders.len()];
    for round in 0..options::number("rounds", options::ROUNDS) {
        for at in options::turns(round, contenders.len()) {
            let proxy = contenders[at].start(world, Setup::default()).await;
            measured[at].push(measure(world, &proxy, contenders[at].is_gate(), count).await);
        }
    }
    let mut table = Comparison::of(&contenders);
    let mut row = |what: &str, unit, of: fn(&Measured) -> f64, target| {
        let figures: Vec<Option<f64>> = measured.iter().map(|m| Some(median(m.iter().map(of)))).collect();
        table.row(what, unit, &figures, target);
    };
    row(
        "CPU of a full handshake",
        Unit::Micros,
        |m| m.full * 1e6,
        Target::OfNginx(1.0),
    );
    row(
        "CPU of one that is resumed",
        Unit::Micros,
        |m| m.resumed * 1e6,
        Target::None,
    );
    row(
        "resumed, of those that ask for it",
        Unit::Percent,
        |m| m.share,
        Target::AtLeast(100.0),
    );
    let heading = format!(
        "{count} nodes, {AT_A_TIME} handshakes at a time, each with one request and the end of the connection:"
    );
    section.table(&heading, table);
    section
}

/// Each node once anew, once more to get something to resume, and once resumed.
async fn measure(world: &World, proxy: &Proxy, is_gate: bool, count: usize) -> Measured {
    let configs: Vec<Arc<ClientConfig>> = (0..count)
        .map(|node| Arc::new(world.resuming(node, b"http/1.1")))
        .collect();
    let never = configs.iter().map(|config| {
        let mut config = ClientConfig::clone(config);
        config.resumption = Resumption::disabled();
        Arc::new(config)
    });
    let (full, resumed) = pass(proxy, is_gate, &never.collect::<Vec<_>>()).await;
    assert_eq!(resumed, 0, "who does not ask is not resumed");
    pass(proxy, is_gate, &configs).await;
    let (again, resumed) = pass(proxy, is_gate, &configs).await;
    Measured {
        full,
        resumed: again,
        share: resumed as f64 * 100.0 / count as f64,
    }
}

/// Seconds of a CPU for each, and how many were resumed.
async fn pass(proxy: &Proxy, is_gate: bool, configs: &[Arc<ClientConfig>]) -> (f64, usize) {
    let before = proxy.used.cpu();
    let kinds = stream::iter(configs).map(|config| visit(proxy.address, is_gate, Arc::clone(config)));
    let kinds: Vec<HandshakeKind> = kinds.buffer_unordered(AT_A_TIME).collect().await;
    let resumed = kinds.iter().filter(|kind| **kind == HandshakeKind::Resumed).count();
    let cpu = proxy.used.cpu() - before;
    (cpu.as_secs_f64() / configs.len() as f64, resumed)
}

async fn visit(server: SocketAddr, is_gate: bool, config: Arc<ClientConfig>) -> HandshakeKind {
    let (target, code) = if is_gate {
        ("/api/v1/%zz", "400")
    } else {
        ("/handshake", "204")
    };
    let tcp = TcpStream::connect(server).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    let connector = TlsConnector::from(config);
    let mut stream = connector.connect("localhost".try_into().unwrap(), tcp).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    // Else some of it may stay in the buffer of TLS.
    stream.flush().await.unwrap();
    let mut answer = Vec::new();
    // Not everybody says good-bye.
    let end = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    let answered = answer.starts_with(&format!("HTTP/1.1 {code} "));
    assert!(answered, "{answer:?}, and then {end:?}");
    let tls = stream.get_ref().1;
    assert_eq!(tls.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    if let Some(group) = tls.negotiated_key_exchange_group() {
        assert_eq!(group.name(), NamedGroup::X25519);
    }
    tls.handshake_kind().unwrap()
}
