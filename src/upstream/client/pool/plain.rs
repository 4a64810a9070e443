//! HTTP/1.1 connections, each driven by whoever waits for its answer.
//!
//! Nothing runs beside a request: no task of the connection that would have to be woken for it and to wake it in turn. That, and
//! none of the bookkeeping of HTTP/2, is why a request takes a third less than on a stream (docs/performance.md). What hyper would
//! wake that task for, giving it a request or asking for the first piece of an answer, is done by who drives the connection a moment
//! later, and must not wake him as well: so it knows him only while he waits ([`Waiting`]).

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http::{HeaderValue, Request, Response, Uri, header::HOST, uri::PathAndQuery};
use hyper::{
    body::{Body as _, Frame, Incoming},
    client::conn::http1,
};
use tokio::{sync::OwnedSemaphorePermit, task::unconstrained};
use tower::BoxError;

use super::{
    SendError,
    connection::{Io, failed},
    turn::Turn,
};
use crate::body::Body;

/// One request at a time.
pub(super) struct Plain {
    sender: http1::SendRequest<Body>,
    driven: Driven,
    used: Instant,
    /// Among those that are shared.
    _place: Option<OwnedSemaphorePermit>,
}

/// A connection, and who is to be woken when it can go on.
struct Driven {
    /// Until it has ended. What it still had to send comes back when it is dropped, and not before.
    connection: Option<http1::Connection<Io, Body>>,
    waiting: Arc<Waiting>,
    /// Wakes who is waiting.
    waker: Waker,
}

/// Whoever waits for a connection, as long as he does.
#[derive(Default)]
struct Waiting(AtomicWaker);

/// Connections that carry nothing now. What was used on a thread is used there again, whose runtime watches it; so nobody waits for
/// the lock of one of these either.
#[derive(Default)]
pub(super) struct Idle([Mutex<VecDeque<Box<Plain>>>; THREADS]);

/// A connection from the head of an answer to its end.
pub(super) struct Answering {
    /// Until it goes back to the others.
    connection: Option<Box<Plain>>,
    idle: Arc<Idle>,
    /// Of a caller that shares it with others.
    turn: Option<Turn>,
    /// Why there is no more of it.
    broken: Option<hyper::Error>,
}

/// Shorter than kube-apiserver keeps an idle connection (90 s), so that a request seldom meets a closing one.
const IDLE: Duration = Duration::from_secs(60);
/// On one thread.
const MAX_IDLE: usize = 256;
/// With more of them, some share.
const THREADS: usize = 32;
/// Pieces of an answer that are read though nobody wants them.
const MAX_LEFT: usize = 4;
/// Of the head of an answer.
const MAX_HEADERS: usize = 64 * 1024;

impl Plain {
    pub(super) async fn open(io: Io, place: Option<OwnedSemaphorePermit>) -> Result<Box<Self>, BoxError> {
        let (sender, connection) = http1::Builder::new().max_buf_size(MAX_HEADERS).handshake(io).await?;
        Ok(Box::new(Self {
            sender,
            driven: Driven::new(connection),
            used: Instant::now(),
            _place: place,
        }))
    }

    /// Sends a request with an absolute URI. The answer's body comes as the connection is driven.
    pub(super) async fn send(
        mut self: Box<Self>,
        mut request: Request<Body>,
    ) -> Result<(Response<Incoming>, Box<Self>), SendError> {
        let uri = origin_form(&mut request);
        // Only the connection can bring an answer, so that nobody needs to be woken for one. That it is there must be told at once,
        // however much the task has done already: nobody would be woken to look again.
        let mut answer = pin!(unconstrained(self.sender.try_send_request(request)));
        let answered = poll_fn(|cx| {
            self.driven.drive(cx);
            answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        });
        match answered.await {
            Ok(response) => Ok((response, self)),
            Err(error) => Err(absolute_form(failed(error), uri)),
        }
    }

    /// Takes note of the end of an answer, and tells whether there can be another.
    fn is_ready(&mut self) -> bool {
        self.driven.is_left();
        if !self.sender.is_ready() {
            self.driven.go_on();
        }
        self.driven.connection.is_some() && self.sender.is_ready()
    }
}

impl Driven {
    fn new(connection: http1::Connection<Io, Body>) -> Self {
        let waiting = Arc::<Waiting>::default();
        Self {
            connection: Some(connection),
            waker: Waker::from(Arc::clone(&waiting)),
            waiting,
        }
    }

    /// Makes it send and receive what there is. Who drives it is woken when there is more.
    fn drive(&mut self, cx: &mut Context<'_>) {
        self.waiting.0.register(cx.waker());
        self.go_on();
    }

    /// The same, but nobody new is woken.
    fn go_on(&mut self) {
        if let Some(open) = &mut self.connection
            && Pin::new(open).poll(&mut Context::from_waker(&self.waker)).is_ready()
        {
            // An error concerns the request under way, which is told.
            self.connection = None;
        }
    }

    /// Nobody waits for it, until it is driven again. Nothing is missed: then it is asked whatever has happened.
    fn is_left(&self) {
        self.waiting.0.take();
    }
}

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake();
    }
}

/// As HTTP/1.1 has it: the server in a header, and only the path in front. Gives back what was there.
pub(super) fn origin_form(request: &mut Request<Body>) -> Uri {
    let path = request.uri().path_and_query().cloned().map(Uri::from);
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/").into());
    let uri = std::mem::replace(request.uri_mut(), path);
    let host = uri
        .authority()
        .and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    host.map(|host| request.headers_mut().insert(HOST, host));
    uri
}

/// A request that comes back is as it was.
pub(super) fn absolute_form(mut error: SendError, uri: Uri) -> SendError {
    if let SendError::Unsent(back, _) = &mut error {
        *back.uri_mut() = uri;
        back.headers_mut().remove(HOST);
    }
    error
}

impl Idle {
    /// The one that was used last, so that those that are not needed grow old.
    pub(super) fn take(&self) -> Option<Box<Plain>> {
        let last = self.of_thread()?.pop_back();
        last.filter(|connection| connection.used.elapsed() < IDLE)
    }

    /// One of them was closed by the server: the others will be, too.
    pub(super) fn forget(&self) {
        if let Some(mut idle) = self.of_thread() {
            idle.clear();
        }
    }

    fn put(&self, mut connection: Box<Plain>) {
        connection.used = Instant::now();
        let Some(mut idle) = self.of_thread() else { return };
        while idle.len() >= MAX_IDLE || idle.front().is_some_and(|first| first.used.elapsed() >= IDLE) {
            idle.pop_front();
        }
        idle.push_back(connection);
    }

    fn of_thread(&self) -> Option<std::sync::MutexGuard<'_, VecDeque<Box<Plain>>>> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static AT: usize = NEXT.fetch_add(1, Ordering::Relaxed) % THREADS;
        }
        let of_thread = self.0.get(AT.with(|at| *at))?;
        Some(of_thread.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Answering {
    pub(super) fn new(connection: Box<Plain>, idle: Arc<Idle>, turn: Option<Turn>) -> Self {
        Self {
            connection: Some(connection),
            idle,
            turn,
            broken: None,
        }
    }

    /// Nobody wants the rest. If it has arrived already, and is not large, the connection can be used again.
    pub(super) fn leave(&mut self, body: &mut Incoming) {
        let mut nobody = Context::from_waker(Waker::noop());
        for _ in 0..MAX_LEFT {
            if self.connection.is_none() || !matches!(self.poll_frame(body, &mut nobody), Poll::Ready(Some(Ok(_)))) {
                return;
            }
        }
    }

    /// If there is nothing of the answer to wait for.
    pub(super) fn ends_with(&mut self, body: &Incoming) {
        if body.is_end_stream() {
            self.end();
        }
    }

    pub(super) fn poll_frame(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(error) = self.broken.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(Plain { driven, .. }) = self.connection.as_deref() {
            driven.is_left();
        }
        // Only the connection can bring more of it, as above.
        let mut nobody = Context::from_waker(Waker::noop());
        let mut frame = Pin::new(&mut *body).poll_frame(&mut nobody);
        if frame.is_pending()
            && let Some(Plain { driven, .. }) = self.connection.as_deref_mut()
        {
            driven.drive(cx);
            frame = Pin::new(&mut *body).poll_frame(&mut nobody);
        }
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) || body.is_end_stream() {
            self.end();
        }
        match frame {
            // In a moment: what came before it is only on its way to the client, and would be lost with it.
            Poll::Ready(Some(Err(error))) => {
                self.broken = Some(error);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            frame => frame,
        }
    }

    fn end(&mut self) {
        if let Some(turn) = self.turn.take() {
            turn.end();
        }
        if let Some(mut connection) = self.connection.take()
            && connection.is_ready()
        {
            self.idle.put(connection);
        }
    }
}
