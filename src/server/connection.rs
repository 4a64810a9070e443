//! One connection, from the accepted socket to its end.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use http::{HeaderValue, header::CONNECTION};
use hyper::{
    Request, Response,
    body::Incoming,
    server::conn::{http1, http2},
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::graceful::GracefulConnection,
};
use rustls::{ServerConfig, pki_types::CertificateDer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::{Notify, watch},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::{Peer, metrics::Open};

/// What carries HTTP.
#[derive(Clone, Debug)]
pub enum Transport {
    Plain,
    /// The newest configuration is used for every new connection.
    Tls(Arc<ArcSwap<ServerConfig>>),
}

/// An extension of a response: the connection ends with it, as soon as what else runs on it has finished.
#[derive(Clone, Copy, Debug)]
pub struct Hangup;

/// One deadline over the whole handshake: a client that trickles bytes gets no more.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Until the first request of a connection. A client that has nothing to ask holds no place.
const FIRST_REQUEST: Duration = Duration::from_secs(20);
/// From the first byte of a request head to its last, and between requests on an HTTP/1.1 connection.
const HEADERS: Duration = Duration::from_secs(30);
/// For answers under way on a connection that is to end.
const HANGUP: Duration = Duration::from_secs(2);
/// kube-apiserver reads heads of up to 1 MiB; no Kubernetes client needs a tenth of this. (Over HTTP/1.1 it is looked at
/// between reads, so that a burst may bring somewhat more.)
const MAX_HEADERS_SIZE: u32 = 64 * 1024;
/// What Go allows by default. Clients that want more open a second connection.
const MAX_STREAMS: u32 = 250;
/// A silent HTTP/2 peer is asked for a sign of life after this long, and cut if it gives none in the next.
const PING: Duration = Duration::from_secs(30);
const PONG: Duration = Duration::from_secs(15);

/// What happens on a connection, as far as it decides how long the connection lives.
#[derive(Debug, Default)]
struct State {
    asked: AtomicBool,
    hung_up: AtomicBool,
    hangup: Notify,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Protocol {
    Http1,
    Http2,
}

pub(super) async fn serve<N, S, B>(
    stream: TcpStream,
    address: SocketAddr,
    transport: Transport,
    new_service: N,
    draining: watch::Receiver<bool>,
    open: Open,
) where
    N: Fn(Peer) -> S,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: hyper::body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Answers are often small and always awaited; waiting to fill a packet only adds delay.
    let _ = stream.set_nodelay(true);
    let config = match transport {
        Transport::Tls(config) => config.load_full(),
        Transport::Plain => {
            let peer = Peer {
                address,
                certificates: Vec::new(),
            };
            return http(stream, Protocol::Http1, new_service(peer), draining, &open).await;
        }
    };
    match timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream)).await {
        Err(_) => {
            open.failed("handshake-timeout");
            debug!(peer = %address, deadline = ?HANDSHAKE, "TLS handshake not finished in time");
        }
        Ok(Err(error)) => {
            open.failed("handshake");
            debug!(peer = %address, %error, "TLS handshake failed");
        }
        Ok(Ok(stream)) => {
            let (_, session) = stream.get_ref();
            let certificates = session.peer_certificates().unwrap_or_default();
            let peer = Peer {
                address,
                certificates: certificates.iter().map(CertificateDer::clone).collect(),
            };
            // What was agreed on, never what the first bytes look like.
            let protocol = match session.alpn_protocol() {
                Some(b"h2") => Protocol::Http2,
                _ => Protocol::Http1,
            };
            http(stream, protocol, new_service(peer), draining, &open).await;
        }
    }
}

async fn http<T, S, B>(stream: T, protocol: Protocol, service: S, draining: watch::Receiver<bool>, open: &Open)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: hyper::body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let state = Arc::new(State::default());
    let shared = Arc::clone(&state);
    let service = service_fn(move |request| {
        shared.asked.store(true, Ordering::Relaxed);
        // HTTP/2 takes new streams until the client has acknowledged the end, which it may never do: none is served.
        let over = shared.hung_up.load(Ordering::Relaxed);
        let (answer, state) = ((!over).then(|| service.call(request)), Arc::clone(&shared));
        async move {
            let Some(answer) = answer else {
                return std::future::pending().await;
            };
            let mut response = answer.await?;
            if response.extensions().get::<Hangup>().is_some() {
                state.hung_up.store(true, Ordering::Relaxed);
                state.hangup.notify_one();
                // HTTP/1.1 says it in the answer, so that nothing behind this request is read; HTTP/2 has frames for it.
                if protocol == Protocol::Http1 {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(CONNECTION, close);
                }
            }
            Ok::<_, Infallible>(response)
        }
    });
    let io = TokioIo::new(stream);
    match protocol {
        Protocol::Http1 => {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS)
                .max_buf_size(MAX_HEADERS_SIZE as usize)
                .serve_connection(io, service);
            drive(connection, &state, draining, open).await;
        }
        Protocol::Http2 => {
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_header_list_size(MAX_HEADERS_SIZE)
                .max_concurrent_streams(MAX_STREAMS)
                .keep_alive_interval(PING)
                .keep_alive_timeout(PONG)
                .serve_connection(io, service);
            drive(connection, &state, draining, open).await;
        }
    }
}

/// Polls the connection until it ends, by itself or because it has to.
async fn drive<C>(connection: C, state: &State, mut draining: watch::Receiver<bool>, open: &Open)
where
    C: GracefulConnection,
    C::Error: std::fmt::Display,
{
    let mut connection = pin!(connection);
    let mut first_request = pin!(sleep(FIRST_REQUEST));
    let mut hung_up = pin!(sleep(Duration::MAX));
    let (mut waiting, mut ending, mut drained) = (true, false, false);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    open.failed("http");
                    debug!(%error, "connection ended with an error");
                }
                return;
            }
            () = first_request.as_mut(), if waiting => {
                waiting = false;
                if !state.asked.load(Ordering::Relaxed) {
                    return open.failed("no-request");
                }
            }
            () = state.hangup.notified(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
                hung_up.set(sleep(HANGUP));
            }
            () = hung_up.as_mut(), if ending => return,
            _ = draining.wait_for(|draining| *draining), if !drained => {
                drained = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
