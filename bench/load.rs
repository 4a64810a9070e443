//! Connections that each ask, wait for the whole answer, and ask again.
//!
//! oha and wrk show one client certificate on all of their connections, which would be one node of the gate's; here every
//! connection is a node of its own, and patches are as easy to send as reads.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::HOST};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{net::TcpStream, task::JoinSet};
use tokio_rustls::TlsConnector;

use crate::world::World;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// A connection that carries HTTP.
pub(crate) enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// What all of them ask, each with its own number, and the number of the turn.
pub(crate) type Ask = Arc<dyn Fn(usize, u64) -> Request<Full<Bytes>> + Send + Sync>;

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// From asking to the last byte, in the order of their length.
    pub(crate) latencies: Vec<Duration>,
}

/// Asked before anything is counted, so that every connection is open and every cache warm.
const WARM: Duration = Duration::from_millis(700);

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        }
    }

    pub(crate) fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }
}

impl Sender {
    /// As a node.
    pub(crate) async fn open(world: &World, server: SocketAddr, node: usize, protocol: Protocol) -> Self {
        let tcp = TcpStream::connect(server).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let tls = TlsConnector::from(world.tls(node, protocol.alpn()));
        let stream = tls.connect("localhost".try_into().unwrap(), tcp).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.alpn()));
        let io = TokioIo::new(stream);
        match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(io).await.unwrap();
                tokio::spawn(connection);
                Self::Http1(sender)
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
                tokio::spawn(connection);
                Self::Http2(sender)
            }
        }
    }

    /// A request whose target is a path.
    pub(crate) async fn send(&mut self, mut request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Http2(sender) => {
                *request.uri_mut() = format!("https://localhost{}", request.uri()).parse().unwrap();
                request.headers_mut().remove(HOST);
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

/// `measured` is told when counting begins and when it ends.
pub(crate) async fn run(
    world: &World,
    server: SocketAddr,
    (protocol, connections): (Protocol, usize),
    ask: &Ask,
    length: Duration,
    mut measured: impl FnMut(),
) -> Answers {
    let mut opened = Vec::new();
    for node in 0..connections {
        opened.push(Sender::open(world, server, node, protocol).await);
    }
    let (counting, stopped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let mut all = JoinSet::new();
    for (at, mut sender) in opened.into_iter().enumerate() {
        let (ask, counting, stopped) = (Arc::clone(ask), Arc::clone(&counting), Arc::clone(&stopped));
        all.spawn(async move {
            let mut latencies = Vec::with_capacity(1 << 14);
            for turn in 0.. {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let (counts, began) = (counting.load(Ordering::Relaxed), Instant::now());
                let response = sender.send(ask(at, turn)).await.unwrap();
                let code = response.status();
                let body = response.into_body().collect().await.unwrap().to_bytes();
                assert_eq!(code, StatusCode::OK, "{}", String::from_utf8_lossy(&body));
                if counts {
                    latencies.push(began.elapsed());
                }
            }
            latencies
        });
    }
    tokio::time::sleep(WARM).await;
    measured();
    counting.store(true, Ordering::Relaxed);
    tokio::time::sleep(length).await;
    measured();
    stopped.store(true, Ordering::Relaxed);
    let mut latencies = all.join_all().await.concat();
    latencies.sort_unstable();
    Answers { latencies }
}

impl Answers {
    pub(crate) fn count(&self) -> usize {
        self.latencies.len()
    }

    /// The time within which so much of a hundred was answered.
    pub(crate) fn percentile(&self, of_hundred: usize) -> Duration {
        let at = self.latencies.len() * of_hundred / 100;
        self.latencies[at.min(self.latencies.len() - 1)]
    }
}
