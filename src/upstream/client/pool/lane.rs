//! Connections of one caller.
//!
//! Over HTTP/2 a connection carries as many requests as the server allows, and when all are full another one is opened:
//! a node's open watches never stand in the way of its lease. Picking one takes no lock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use arc_swap::ArcSwap;
use http::{Request, Response};
use tower::BoxError;

use super::{
    Dials, SendError, Streaming,
    connection::{Http2, Slot},
    plain::Plain,
    turn::{Turn, Turns},
};
use crate::{
    body::Body,
    upstream::client::dial::{Dialed, Speak},
};

/// Cheap to clone; clones share the connections.
#[derive(Clone)]
pub(super) struct Lane(Arc<Shared>);

pub(super) struct Shared {
    dials: Arc<Dials>,
    multiplexed: ArcSwap<Vec<Arc<Http2>>>,
    /// What the caller has of the connections that all share.
    turns: Arc<Turns>,
    /// When something was last asked for, in milliseconds since the process began.
    used: AtomicU64,
    /// Held while a connection is opened that many may wait for; why the last one could not be.
    dialing: tokio::sync::Mutex<Option<(Instant, String)>>,
}

/// A connection that has room for one request.
enum Ready {
    Http1(Box<Plain>),
    Http2(Arc<Http2>, Slot),
}

/// A connection that closes just when it is picked costs one more try; two in a row are bad luck.
const TRIES: usize = 3;

impl Lane {
    /// Without connections yet.
    pub(super) fn new(dials: Arc<Dials>, now: u64) -> Self {
        Self(Arc::new(Shared {
            dials,
            multiplexed: ArcSwap::default(),
            turns: Arc::default(),
            used: AtomicU64::new(now),
            dialing: tokio::sync::Mutex::default(),
        }))
    }

    /// Leave to use a connection that all share, if the caller has not had too many of them.
    pub(super) fn turn(&self, now: u64) -> Option<Turn> {
        self.0.turns.take_at(now)
    }

    pub(super) fn is_used(&self, now: u64) {
        self.0.used.store(now, Ordering::Relaxed);
    }

    /// Whether nothing was asked for within so many milliseconds, and none of the shared connections is taken: with the lane it would be
    /// forgotten how many the caller has of them.
    pub(super) fn is_unused(&self, now: u64, within: u64) -> bool {
        now.saturating_sub(self.0.used.load(Ordering::Relaxed)) >= within && !self.0.turns.are_taken()
    }

    /// Sends a request with an absolute URI.
    pub(super) async fn send(&self, mut request: Request<Body>) -> Result<Response<Streaming>, SendError> {
        let mut last: BoxError = "no connection stayed open".into();
        for _ in 0..TRIES {
            let ready = match self.pick() {
                Some(ready) => Ok(ready),
                // Seldom, and so large that every request would carry it along.
                None => Box::pin(self.opened()).await,
            };
            let sent = match ready {
                Err(error) => return Err(SendError::Unsent(Box::new(request), error)),
                Ok(Ready::Http2(connection, slot)) => connection.send(request, slot).await,
                Ok(Ready::Http1(connection)) => {
                    let sent = connection.send(request).await;
                    sent.map(|(response, connection)| self.0.dials.answering(response, connection, None))
                }
            };
            match sent {
                // It was closing already; the next one may not be.
                Err(SendError::Unsent(back, error)) => {
                    self.0.dials.idle.forget();
                    (request, last) = (*back, error);
                }
                other => return other,
            }
        }
        Err(SendError::Unsent(Box::new(request), last))
    }

    /// A new one, or one that somebody else opens just now.
    async fn opened(&self) -> Result<Ready, BoxError> {
        if self.0.dials.is_http1() {
            return self.open().await;
        }
        let asked = Instant::now();
        // One at a time: whoever waits here may find room on the connection that the one before has opened.
        let mut failed = self.0.dialing.lock().await;
        if let Some(ready) = self.pick() {
            return Ok(ready);
        }
        if self.0.dials.is_http1() {
            drop(failed);
            return self.open().await;
        }
        // Nor does everybody have to find out by himself that the server does not answer.
        if let Some((_, error)) = failed.as_ref().filter(|(at, _)| *at > asked) {
            return Err(error.clone().into());
        }
        let opened = self.open().await;
        *failed = opened
            .as_ref()
            .err()
            .map(|error| (Instant::now(), crate::upstream::chain(error.as_ref())));
        opened
    }

    fn pick(&self) -> Option<Ready> {
        for connection in self.0.multiplexed.load().iter() {
            if let Some(slot) = connection.reserve() {
                return Some(Ready::Http2(Arc::clone(connection), slot));
            }
        }
        let idle = &self.0.dials.idle;
        self.0.dials.is_http1().then(|| idle.take())?.map(Ready::Http1)
    }

    async fn open(&self) -> Result<Ready, BoxError> {
        let dialed = self.0.dials.dialer.dial(Speak::Http2).await?;
        self.0.dials.found(matches!(dialed, Dialed::Http1(_)));
        match dialed {
            Dialed::Http1(io) => Ok(Ready::Http1(Plain::open(io, None).await?)),
            Dialed::Http2(io) => {
                let (connection, ended) = Http2::open(io).await?;
                let slot = connection.reserve().ok_or("the server allows no streams")?;
                self.0.replace_closed(Some(&connection));
                let pool = Arc::downgrade(&self.0);
                tokio::spawn(async move {
                    ended.await;
                    if let Some(pool) = pool.upgrade() {
                        pool.replace_closed(None);
                    }
                });
                Ok(Ready::Http2(connection, slot))
            }
        }
    }
}

impl Shared {
    fn replace_closed(&self, by: Option<&Arc<Http2>>) {
        self.multiplexed.rcu(|all| {
            let open = all.iter().filter(|connection| !connection.is_closed());
            open.chain(by).cloned().collect::<Vec<_>>()
        });
    }
}
