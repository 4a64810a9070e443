//! One connection, from the accepted socket to its end.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use futures_util::{
    FutureExt as _, StreamExt as _,
    stream::{self, SelectAll},
};
use http::{HeaderValue, header::CONNECTION};
use hyper::{
    Request, Response,
    body::Incoming,
    server::conn::{http1, http2},
    service::{Service, service_fn},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::{ServerConfig, pki_types::CertificateDer};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::watch,
    task::unconstrained,
    time::{Instant, Interval, MissedTickBehavior, interval, interval_at, timeout},
};
use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::{
    Ahead, Peer,
    life::{Life, Takeover},
    limits::Limits,
    metrics::Open,
    stream::Stream,
};

/// What carries HTTP.
#[derive(Clone, Debug)]
pub enum Transport {
    Plain,
    /// The newest configuration is used for every new connection.
    Tls(Arc<ArcSwap<ServerConfig>>),
}

/// An extension of a response: the connection ends with it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hangup {
    /// Its client was turned away: nothing of this answer is waited for.
    TurnedAway,
    /// When it, and what else runs on the connection, has finished.
    WhenDone,
}

/// How long a connection that is to end may take over it once nothing is under way: the client has to agree.
const HANGUP: Duration = Duration::from_secs(2);
/// How often a connection is looked at: more often where a limit is tighter, within reason.
const LOOK: Duration = Duration::from_secs(5);
const OFTEN: Duration = Duration::from_millis(50);
/// A silent peer is asked for a sign of life after this long, and cut if it gives none in the next: by HTTP/2 itself, and
/// by TCP for those that speak HTTP/1.1 or neither any more.
const PING: Duration = Duration::from_secs(30);
const PONG: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Protocol {
    Http1,
    Http2,
}

/// Something that concerns a connection, but for what comes on it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sign {
    /// The server is about to stop.
    Drain,
    Hangup,
    /// It is time to look at it.
    Look,
    /// It should have ended by now.
    Overdue,
}

type Signs<'a> = Pin<Box<dyn stream::Stream<Item = Sign> + Send + 'a>>;

pub(super) async fn serve<N, S, B>(
    stream: TcpStream,
    address: SocketAddr,
    transport: Transport,
    limits: Limits,
    new_service: N,
    draining: watch::Receiver<bool>,
    open: Open,
) where
    N: Fn(Peer) -> S,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: hyper::body::Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Answers are often small and always awaited; waiting to fill a packet only adds delay.
    let _ = stream.set_nodelay(true);
    let keepalive = TcpKeepalive::new()
        .with_time(PING)
        .with_interval(PONG / 3)
        .with_retries(3);
    let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
    let config = match transport {
        Transport::Tls(config) => config.load_full(),
        Transport::Plain => {
            let peer = Peer {
                address,
                certificates: Vec::new(),
            };
            return http(stream, Protocol::Http1, limits, new_service(peer), draining, &open).await;
        }
    };
    match timeout(limits.handshake, TlsAcceptor::from(config).accept(Ahead::new(stream))).await {
        Err(_) => {
            open.failed("handshake-timeout");
            debug!(peer = %address, deadline = ?limits.handshake, "TLS handshake not finished in time");
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
            http(stream, protocol, limits, new_service(peer), draining, &open).await;
        }
    }
}

async fn http<T, S, B>(
    stream: T,
    protocol: Protocol,
    limits: Limits,
    service: S,
    draining: watch::Receiver<bool>,
    open: &Open,
) where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: hyper::body::Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let life = Arc::new(Life::new(protocol == Protocol::Http2));
    let shared = Arc::clone(&life);
    let service = service_fn(move |request| {
        // HTTP/2 takes new streams until the client has acknowledged the end, which it may never do: none is served.
        // In one place of its own: hyper moves what it is given around, and answers to requests are large while they are made.
        let served = (!shared.is_ending()).then(|| (Box::pin(service.call(request)), shared.asked()));
        let shared = Arc::clone(&shared);
        async move {
            let Some((answer, asked)) = served else {
                // The client may be sure that nothing has come of it.
                shared.refuses();
                return Err(h2::Error::from(h2::Reason::REFUSED_STREAM));
            };
            let Ok(mut response) = answer.await;
            if let Some(takeover) = response.extensions_mut().remove::<Takeover>() {
                asked.life().take_over(takeover);
            }
            let hangup = response.extensions().get::<Hangup>().copied();
            if hangup != Some(Hangup::TurnedAway) {
                asked.life().welcomes();
            }
            if hangup.is_some() {
                asked.life().hang_up();
                // HTTP/1.1 says it in the answer, so that nothing behind this request is read; HTTP/2 has frames for it.
                if protocol == Protocol::Http1 {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(CONNECTION, close);
                }
            }
            Ok(response.map(|body| asked.answered(body)))
        }
    });
    let io = TokioIo::new(Stream::new(stream, limits.stall));
    match protocol {
        Protocol::Http1 => {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(limits.headers)
                .max_header_size(limits.header_bytes as usize)
                .max_buf_size(limits.header_bytes as usize)
                .serve_connection(io, service)
                .with_upgrades();
            let end = http1::UpgradeableConnection::graceful_shutdown;
            drive(connection, end, &life, limits, draining, open).await;
        }
        Protocol::Http2 => {
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_header_list_size(limits.header_bytes)
                .max_concurrent_streams(limits.streams)
                .keep_alive_interval(PING)
                .keep_alive_timeout(PONG)
                .serve_connection(io, service);
            let end = http2::Connection::graceful_shutdown;
            drive(connection, end, &life, limits, draining, open).await;
        }
    }
    if let Some(rest) = life.taken_over() {
        rest.await;
    }
}

/// Polls the connection until it ends, by itself or because it has to. `end` lets it finish what is under way.
///
/// Every request wakes this several times, a sign seldom: so signs are looked at only when there is one.
async fn drive<C>(
    connection: C,
    end: impl Fn(Pin<&mut C>),
    life: &Life,
    limits: Limits,
    mut draining: watch::Receiver<bool>,
    open: &Open,
) where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = pin!(connection);
    let tightest = limits.headers.min(limits.idle).min(limits.stall);
    let mut looks = interval(tightest.clamp(OFTEN, LOOK));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let drains = async move {
        // It only fails when the server is gone, which waits for its connections.
        let _ = draining.wait_for(|draining| *draining).await;
        Sign::Drain
    };
    let hangs_up = life.hangup.notified().map(|()| Sign::Hangup);
    let mut signs: SelectAll<Signs<'_>> = SelectAll::new();
    signs.push(Box::pin(again_and_again(looks, Sign::Look)));
    signs.push(Box::pin(stream::once(drains)));
    signs.push(Box::pin(stream::once(hangs_up)));
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    open.failed(cause(&error, life.is_multiplexed()));
                    debug!(%error, "connection ended with an error");
                }
                return;
            }
            // Even if what comes on the connection has used up what the task may do at a time: who keeps it busy has limits, too.
            Some(sign) = unconstrained(signs.next()) => match sign {
                Sign::Drain => end(connection.as_mut()),
                Sign::Hangup => {
                    end(connection.as_mut());
                    let mut patience = interval_at(Instant::now() + HANGUP, HANGUP);
                    patience.set_missed_tick_behavior(MissedTickBehavior::Delay);
                    signs.push(Box::pin(again_and_again(patience, Sign::Overdue)));
                }
                Sign::Look => {
                    if life.never_asked_for(limits.headers) {
                        return open.failed("no-request");
                    }
                    // First nothing more is begun, so that what others have under way on it can finish.
                    if life.stalled_for(limits.stall.saturating_mul(2)) {
                        return open.failed("stalled");
                    }
                    if life.stalled_for(limits.stall) || life.idle_for(limits.idle) {
                        life.hang_up();
                    }
                }
                Sign::Overdue => {
                    if !life.is_waited_for() {
                        return;
                    }
                }
            }
        }
    }
}

fn again_and_again(interval: Interval, sign: Sign) -> impl stream::Stream<Item = Sign> {
    stream::unfold(interval, move |mut interval| async move {
        interval.tick().await;
        Some((sign, interval))
    })
}

/// Why a connection broke, in a word for the metrics.
fn cause(error: &hyper::Error, http2: bool) -> &'static str {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    let stalled = causes
        .filter_map(|error| error.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::TimedOut);
    if stalled {
        "stalled"
    } else if error.is_timeout() && http2 {
        "ping-timeout"
    } else if error.is_timeout() {
        "header-timeout"
    } else if error.is_parse() {
        "http"
    } else {
        "aborted"
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Poll};

    use super::*;
    use crate::server::Metrics;

    /// A task may do so much at a time, and a client that always sends more than that uses up all of it.
    #[tokio::test]
    async fn who_keeps_a_connection_busy_has_limits_too() {
        let busy = poll_fn(|cx| {
            while pin!(tokio::task::consume_budget()).poll(cx).is_ready() {}
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        let limits = Limits {
            headers: Duration::from_millis(50),
            ..Limits::default()
        };
        let driven = tokio::spawn(async move {
            let (_drain, draining) = watch::channel(false);
            let open = Metrics::default().open("test");
            drive(busy, |_| {}, &Life::new(true), limits, draining, &open).await;
        });
        let cut = timeout(Duration::from_secs(10), driven).await;
        cut.expect("nobody looks at it").unwrap();
    }
}
