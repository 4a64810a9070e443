//! Request bodies on their way upstream.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Sleep;

/// A request body: nothing, bytes that are at hand, or what the client still sends.
#[derive(Debug, Default)]
pub struct Body(Source);

/// How much of a body is taken, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub bytes: u64,
    pub time: Duration,
}

/// What the client did to its body.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BodyError {
    #[error("the caller may not go on with its request")]
    Stopped,
    #[error("the request body broke off or is malformed")]
    Broken,
    #[error("the request body did not arrive within {0:?}")]
    Slow(Duration),
    #[error("the request body is larger than {0} bytes")]
    TooLarge(u64),
}

/// Whether the client may go on with what it sends.
#[derive(Clone)]
pub struct Guard(Arc<dyn Fn() -> bool + Send + Sync>);

/// Tells afterwards whether it was the client that spoilt a request: over HTTP/2 the client library reports a stream that was
/// reset, and no longer why.
#[derive(Clone, Debug, Default)]
pub struct Fault(Arc<Sent>);

/// How far the client has come.
#[derive(Debug, Default)]
struct Sent {
    over: AtomicBool,
    error: OnceLock<BodyError>,
}

#[derive(Debug, Default)]
enum Source {
    #[default]
    Nothing,
    Whole(Bytes),
    Client(Box<Client>),
}

#[derive(Debug)]
struct Client {
    /// What was read already.
    ahead: Bytes,
    incoming: Incoming,
    limits: Limits,
    taken: u64,
    deadline: Pin<Box<Sleep>>,
    fault: Fault,
    guard: Option<Guard>,
}

/// Larger than what nodes write, a status with hundreds of images included.
pub const MAX_SETTLED: usize = 256 * 1024;

impl Body {
    /// What the client sends, as it comes. More than is allowed, announced or not, is an error.
    pub fn client(incoming: Incoming, limits: Limits) -> Result<Self, BodyError> {
        if incoming.size_hint().lower() > limits.bytes {
            return Err(BodyError::TooLarge(limits.bytes));
        }
        if incoming.is_end_stream() {
            return Ok(Self::default());
        }
        Ok(Self(Source::Client(Box::new(Client {
            ahead: Bytes::new(),
            incoming,
            limits,
            taken: 0,
            deadline: Box::pin(tokio::time::sleep(limits.time)),
            fault: Fault::default(),
            guard: None,
        }))))
    }

    /// Waits for the whole body, if it is not too large to be kept: while a client trickles it, nothing upstream is held.
    pub async fn settled(mut self) -> Result<Self, BodyError> {
        let Source::Client(client) = &mut self.0 else {
            return Ok(self);
        };
        // Copied together: a piece of one byte keeps the whole buffer it was read into.
        let mut whole = BytesMut::new();
        while whole.len() <= MAX_SETTLED {
            match poll_fn(|cx| client.poll_data(cx)).await {
                None => return Ok(Self::from(whole.freeze())),
                Some(data) => whole.extend_from_slice(&data?),
            }
        }
        client.ahead = whole.freeze();
        Ok(self)
    }

    /// The rest of it is taken only for as long as the guard agrees.
    pub fn guarded(mut self, guard: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        if let Source::Client(client) = &mut self.0 {
            client.guard = Some(Guard(Arc::new(guard)));
        }
        self
    }

    /// Whether all of it is at hand.
    pub fn is_whole(&self) -> bool {
        !matches!(self.0, Source::Client(_))
    }

    /// All of it, however large it may be.
    pub async fn whole(self) -> Result<Bytes, BodyError> {
        match self.0 {
            Source::Nothing => Ok(Bytes::new()),
            Source::Whole(bytes) => Ok(bytes),
            Source::Client(mut client) => {
                // Copied together: a piece of one byte keeps the whole buffer it was read into.
                let mut whole = BytesMut::from(client.ahead.as_ref());
                while let Some(data) = poll_fn(|cx| client.poll_data(cx)).await {
                    whole.extend_from_slice(&data?);
                }
                Ok(whole.freeze())
            }
        }
    }

    pub fn fault(&self) -> Fault {
        match &self.0 {
            Source::Nothing | Source::Whole(_) => {
                let fault = Fault::default();
                fault.0.over.store(true, Ordering::Relaxed);
                fault
            }
            Source::Client(client) => client.fault.clone(),
        }
    }
}

impl Fault {
    pub fn get(&self) -> Option<BodyError> {
        self.0.error.get().copied()
    }

    /// Whether the client has sent everything.
    pub fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guard")
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(if bytes.is_empty() {
            Source::Nothing
        } else {
            Source::Whole(bytes)
        })
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.0 {
            Source::Nothing => Poll::Ready(None),
            Source::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.0 = Source::Nothing;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Source::Client(client) => {
                if !client.ahead.is_empty() {
                    let ahead = std::mem::take(&mut client.ahead);
                    return Poll::Ready(Some(Ok(Frame::data(ahead))));
                }
                let next = ready!(client.poll_data(cx)).map(|data| {
                    data.inspect_err(|error| _ = client.fault.0.error.set(*error))
                        .map(Frame::data)
                });
                Poll::Ready(next)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Source::Nothing => true,
            Source::Whole(_) => false,
            Source::Client(client) => client.ahead.is_empty() && client.incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Nothing => SizeHint::with_exact(0),
            Source::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Client(client) => {
                let (ahead, rest) = (client.ahead.len() as u64, client.incoming.size_hint());
                let mut hint = SizeHint::new();
                hint.set_lower(rest.lower() + ahead);
                if let Some(upper) = rest.upper() {
                    hint.set_upper(upper + ahead);
                }
                hint
            }
        }
    }
}

impl Client {
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(cx) else {
                ready!(self.deadline.as_mut().poll(cx));
                return Poll::Ready(Some(Err(BodyError::Slow(self.limits.time))));
            };
            // Also at its end: without that, what was sent before comes to nothing.
            if self.guard.as_ref().is_some_and(|Guard(agrees)| !agrees()) {
                return Poll::Ready(Some(Err(BodyError::Stopped)));
            }
            let data = match frame {
                None => {
                    self.fault.0.over.store(true, Ordering::Relaxed);
                    return Poll::Ready(None);
                }
                Some(Err(_)) => return Poll::Ready(Some(Err(BodyError::Broken))),
                Some(Ok(frame)) => frame.into_data(),
            };
            // Trailers are headers that nobody has looked at: they stay here.
            let Ok(data) = data else { continue };
            self.taken = self.taken.saturating_add(data.len() as u64);
            if self.incoming.is_end_stream() {
                self.fault.0.over.store(true, Ordering::Relaxed);
            }
            return Poll::Ready(Some(if self.taken > self.limits.bytes {
                Err(BodyError::TooLarge(self.limits.bytes))
            } else {
                Ok(data)
            }));
        }
    }
}
