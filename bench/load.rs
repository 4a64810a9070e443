//! Connections that each ask, wait for the whole answer, and ask again.
//!
//! oha and wrk show one client certificate on all of their connections, which would be one node of the gate's; here every
//! connection is a node of its own, and patches are as easy to send as reads.

use std::{
    error::Error,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Request, Response, StatusCode, header::HOST};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
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

/// How much of it there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) protocol: Protocol,
    pub(crate) connections: usize,
    /// From one request of a connection to its next; at once if there is none.
    pub(crate) pace: Option<Duration>,
    pub(crate) length: Duration,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// From asking to the last byte, in the order of their length.
    pub(crate) latencies: Vec<Duration>,
}

/// Asked before anything is counted, so that every connection is open and every cache warm: those to kube-apiserver, too, of which
/// the gate opens few at a time.
const WARM: Duration = Duration::from_secs(2);
const OPENED_AT_A_TIME: usize = 16;

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
        Self::over(world.tls(node, protocol.alpn()), server, protocol).await
    }

    /// With a configuration that speaks the protocol.
    pub(crate) async fn over(tls: Arc<ClientConfig>, server: SocketAddr, protocol: Protocol) -> Self {
        Self::try_over(tls, server, protocol).await.unwrap()
    }

    /// The same where the server may not want it.
    pub(crate) async fn try_over(
        tls: Arc<ClientConfig>,
        server: SocketAddr,
        protocol: Protocol,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let tcp = TcpStream::connect(server).await?;
        tcp.set_nodelay(true)?;
        let stream = TlsConnector::from(tls).connect("localhost".try_into()?, tcp).await?;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.alpn()));
        let io = TokioIo::new(stream);
        Ok(match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(io).await?;
                tokio::spawn(connection);
                Self::Http1(sender)
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                Self::Http2(sender)
            }
        })
    }

    /// Whether the server has ended it.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Http1(sender) => sender.is_closed(),
            Self::Http2(sender) => sender.is_closed(),
        }
    }

    /// The same connection once more, for requests at the same time.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Http1(_) => panic!("HTTP/1.1 has one at a time"),
            Self::Http2(sender) => Self::Http2(sender.clone()),
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

/// As kubelets write them.
pub(crate) fn request(method: &str, target: &str) -> http::request::Builder {
    Request::builder()
        .method(method)
        .uri(target)
        .header("host", "localhost")
        .header("accept", "application/json")
        .header("user-agent", "kubelet/v1.36.3 (linux/amd64) kubernetes/0000000")
}

/// `measured` is told when counting begins and when it ends.
pub(crate) async fn run(
    world: &World,
    server: SocketAddr,
    load: Load,
    ask: &Ask,
    mut measured: impl FnMut(),
) -> Answers {
    let open = async |node| Sender::open(world, server, node, load.protocol).await;
    let opened = stream::iter(0..load.connections).map(open);
    let opened: Vec<Sender> = opened.buffered(OPENED_AT_A_TIME).collect().await;
    let (counting, stopped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let mut all = JoinSet::new();
    for (at, mut sender) in opened.into_iter().enumerate() {
        let (ask, counting, stopped) = (Arc::clone(ask), Arc::clone(&counting), Arc::clone(&stopped));
        all.spawn(async move {
            let mut latencies = Vec::with_capacity(1 << 14);
            let mut ticks = load.pace.map(|pace| {
                // Not all of them at the same moment.
                let first = pace * at as u32 / load.connections as u32;
                tokio::time::interval_at(tokio::time::Instant::now() + first, pace)
            });
            for turn in 0.. {
                if let Some(ticks) = &mut ticks {
                    ticks.tick().await;
                }
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
    tokio::time::sleep(load.length).await;
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
