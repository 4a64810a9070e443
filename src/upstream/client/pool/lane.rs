//! Connections of one caller.
//!
//! Over HTTP/2 a connection carries as many requests as the server allows, and when all are full another one is opened:
//! a node's open watches never stand in the way of its lease. Picking one takes no lock.

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use http::{Request, Response};
use tower::BoxError;

use super::{
    Dials, SendError, Streaming,
    connection::{Http1, Http2, Slot},
};
use crate::{
    body::Body,
    upstream::client::{Carrier, dial::Dialed},
};

/// Cheap to clone; clones share the connections.
#[derive(Clone)]
pub(super) struct Lane(Arc<Shared>);

pub(super) struct Shared {
    dials: Arc<Dials>,
    multiplexed: ArcSwap<Vec<Arc<Http2>>>,
    /// HTTP/1.1 connections that carry nothing now, last used last.
    idle: Mutex<Vec<(Instant, Http1)>>,
    /// Held while a connection is opened that many may wait for; why the last one could not be.
    dialing: tokio::sync::Mutex<Option<(Instant, String)>>,
}

/// A connection that has room for one request.
enum Ready {
    Http1(Http1),
    Http2(Arc<Http2>, Slot),
}

/// Shorter than kube-apiserver keeps an idle connection (90 s), so that a request seldom meets a closing one.
const IDLE: Duration = Duration::from_secs(60);
const MAX_IDLE: usize = 256;
/// A connection that closes just when it is picked costs one more try; two in a row are bad luck.
const TRIES: usize = 3;

impl Lane {
    /// Without connections yet.
    pub(super) fn new(dials: Arc<Dials>) -> Self {
        Self(Arc::new(Shared {
            dials,
            multiplexed: ArcSwap::default(),
            idle: Mutex::default(),
            dialing: tokio::sync::Mutex::default(),
        }))
    }

    /// Sends a request with an absolute URI.
    pub(super) async fn send(
        &self,
        mut request: Request<Body>,
        carrier: Carrier,
    ) -> Result<Response<Streaming>, SendError> {
        let mut last: BoxError = "no connection stayed open".into();
        for _ in 0..TRIES {
            let connection = match self.connection(carrier).await {
                Ok(connection) => connection,
                Err(error) => return Err(SendError::Unsent(Box::new(request), error)),
            };
            let sent = match connection {
                Ready::Http2(connection, slot) => connection.send(request, slot).await,
                Ready::Http1(connection) => {
                    let pool = (carrier == Carrier::Shared).then(|| Arc::downgrade(&self.0));
                    connection.send(request, pool).await
                }
            };
            match sent {
                // It was closing already; the next one may not be.
                Err(SendError::Unsent(back, error)) => (request, last) = (*back, error),
                other => return other,
            }
        }
        Err(SendError::Unsent(Box::new(request), last))
    }

    async fn connection(&self, carrier: Carrier) -> Result<Ready, BoxError> {
        if carrier == Carrier::Alone {
            return Box::pin(self.open(carrier)).await;
        }
        if let Some(ready) = self.pick() {
            return Ok(ready);
        }
        // Seldom, and so large that every request would carry it along.
        Box::pin(self.opened(carrier)).await
    }

    /// A new one, or one that somebody else opens just now.
    async fn opened(&self, carrier: Carrier) -> Result<Ready, BoxError> {
        if self.0.dials.http1.load(Ordering::Relaxed) {
            return self.open(carrier).await;
        }
        let asked = Instant::now();
        // One at a time: whoever waits here may find room on the connection that the one before has opened.
        let mut failed = self.0.dialing.lock().await;
        if let Some(ready) = self.pick() {
            return Ok(ready);
        }
        if self.0.dials.http1.load(Ordering::Relaxed) {
            drop(failed);
            return self.open(carrier).await;
        }
        // Nor does everybody have to find out by himself that the server does not answer.
        if let Some((_, error)) = failed.as_ref().filter(|(at, _)| *at > asked) {
            return Err(error.clone().into());
        }
        let opened = self.open(carrier).await;
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
        self.0.take_idle().map(Ready::Http1)
    }

    async fn open(&self, carrier: Carrier) -> Result<Ready, BoxError> {
        let dialed = self.0.dials.dialer.dial(carrier).await?;
        if carrier == Carrier::Shared {
            let http1 = matches!(dialed, Dialed::Http1(_));
            self.0.dials.http1.store(http1, Ordering::Relaxed);
        }
        match dialed {
            Dialed::Http1(io) => Ok(Ready::Http1(Http1::open(io).await?)),
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

    fn take_idle(&self) -> Option<Http1> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((since, connection)) = idle.pop() {
            if since.elapsed() > IDLE {
                // Those below have waited even longer.
                idle.clear();
            } else if connection.is_ready() {
                return Some(connection);
            }
        }
        None
    }

    pub(super) fn put_idle(&self, connection: Http1) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push((Instant::now(), connection));
        }
    }
}
