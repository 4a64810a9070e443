//! Connections that are open, and the answers that stream from them.

use std::{
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use hyper::{
    body::{Body as HttpBody, Frame, Incoming, SizeHint},
    client::conn::{TrySendError, http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio_rustls::client::TlsStream;
use tower::BoxError;

use super::{
    SendError,
    plain::{Answering, absolute_form, origin_form},
};
use crate::{body::Body, server::Ahead};

/// As many requests as both sides allow.
pub(super) struct Http2 {
    sender: http2::SendRequest<Body>,
    load: Arc<Load>,
}

/// Room for one request on an HTTP/2 connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Load>);

/// An answer's body, from upstream.
#[derive(Debug)]
pub struct Streaming {
    body: Incoming,
    by: By,
}

/// What carries an answer.
enum By {
    Stream(#[expect(dead_code, reason = "it is taken until the answer ends")] Slot),
    Plain(Answering),
    /// A connection that ends with it, or with what it becomes.
    Alone,
}

#[derive(Debug)]
struct Load {
    streams: AtomicUsize,
    limit: AtomicUsize,
}

pub(super) type Io = TokioIo<TlsStream<Ahead>>;

/// Most streams a connection is given, even if the server would take more: what is lost with it, and how much one
/// connection's encryption has to carry, stays bounded.
const MAX_STREAMS: usize = 100;
/// What an answer may have under way. Together they fit into the window of the connection, so that answers which are not
/// read never stop others on it.
const STREAM_WINDOW: u32 = 128 * 1024;
const CONNECTION_WINDOW: u32 = STREAM_WINDOW * MAX_STREAMS as u32;
/// Of the head of an answer.
const MAX_HEADERS: u32 = 64 * 1024;
/// More than any server says; stands for "has not said yet".
const UNSAID: usize = u32::MAX as usize + 1;
/// How long the server may take to say how many streams it allows; it is the first thing it sends.
const SETTINGS: Duration = Duration::from_secs(2);
/// A silent server is asked for a sign of life after this long, and given up if it gives none in the next.
const PING: Duration = Duration::from_secs(20);
const PONG: Duration = Duration::from_secs(10);

/// Sends a request on a connection of its own.
pub(super) async fn send_alone(io: Io, mut request: Request<Body>) -> Result<Response<Streaming>, SendError> {
    let (mut sender, connection) = match http1::handshake(io).await {
        Ok(opened) => opened,
        Err(error) => return Err(SendError::Unsent(Box::new(request), error.into())),
    };
    tokio::spawn(connection.with_upgrades());
    let uri = origin_form(&mut request);
    let response = sender.try_send_request(request).await;
    let response = response.map_err(|error| absolute_form(failed(error), uri))?;
    Ok(response.map(|body| Streaming { body, by: By::Alone }))
}

impl Http2 {
    /// The connection, and what resolves when no more requests can be made on it.
    pub(super) async fn open(io: Io) -> Result<(Arc<Self>, impl Future<Output = ()> + use<>), BoxError> {
        let (sender, mut connection) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_max_send_streams(UNSAID)
            .max_header_list_size(MAX_HEADERS)
            // What still arrives for requests that were given up is no fault of the server.
            .max_local_error_reset_streams(None)
            .max_concurrent_reset_streams(MAX_STREAMS)
            .keep_alive_interval(PING)
            .keep_alive_timeout(PONG)
            .keep_alive_while_idle(true)
            .handshake(io)
            .await?;
        let mut patience = pin!(tokio::time::sleep(SETTINGS));
        let mut tick = tokio::time::interval(Duration::from_millis(1));
        while connection.current_max_send_streams() == UNSAID {
            tokio::select! {
                ended = &mut connection => {
                    ended?;
                    return Err("the connection was closed at once".into());
                }
                () = &mut patience => return Err("the server has not sent its settings".into()),
                _ = tick.tick() => {}
            }
        }
        let load = Arc::new(Load {
            streams: AtomicUsize::new(0),
            limit: AtomicUsize::new(connection.current_max_send_streams().min(MAX_STREAMS)),
        });
        let seen = Arc::clone(&load);
        let ended = async move {
            // An error concerns the requests under way, and they are told.
            let _ = poll_fn(|cx| {
                let polled = Pin::new(&mut connection).poll(cx);
                // The server may change its mind.
                let limit = connection.current_max_send_streams().min(MAX_STREAMS);
                seen.limit.store(limit, Ordering::Relaxed);
                polled
            })
            .await;
        };
        Ok((Arc::new(Self { sender, load }), ended))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    pub(super) fn reserve(&self) -> Option<Slot> {
        let Load { streams, limit } = &*self.load;
        let limit = limit.load(Ordering::Relaxed);
        let more = |streams| (streams < limit).then_some(streams + 1);
        if self.is_closed() {
            return None;
        }
        streams
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Slot(Arc::clone(&self.load)))
    }

    pub(super) async fn send(&self, request: Request<Body>, slot: Slot) -> Result<Response<Streaming>, SendError> {
        let response = self.sender.clone().try_send_request(request).await.map_err(failed)?;
        Ok(response.map(|body| Streaming {
            body,
            by: By::Stream(slot),
        }))
    }
}

impl Streaming {
    pub(super) fn plain(body: Incoming, mut answering: Answering) -> Self {
        answering.ends_with(&body);
        Self {
            body,
            by: By::Plain(answering),
        }
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        let Self { body, by } = self;
        if let By::Plain(answering) = by {
            answering.leave(body);
        }
    }
}

impl fmt::Debug for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stream(_) => "Stream",
            Self::Plain(_) => "Plain",
            Self::Alone => "Alone",
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HttpBody for Streaming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Self { body, by } = &mut *self;
        match by {
            By::Plain(answering) => answering.poll_frame(body, cx),
            By::Stream(_) | By::Alone => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(super) fn failed(mut error: TrySendError<Request<Body>>) -> SendError {
    let back = error.take_message();
    let error = error.into_error();
    match back {
        Some(request) => SendError::Unsent(Box::new(request), error.into()),
        None if refused(&error) => SendError::Refused(error.into()),
        None => SendError::Sent(error.into()),
    }
}

/// HTTP/2 lets a server say that it has not processed a stream, and will not.
fn refused(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<h2::Error>());
    source.is_some_and(|error| {
        let reason = error.reason();
        error.is_remote()
            && (reason == Some(h2::Reason::REFUSED_STREAM)
                || (error.is_go_away() && reason == Some(h2::Reason::NO_ERROR)))
    })
}
