//! Connections to one API server: a lane of their own for every caller, and some that all share, one request at a time.
//!
//! What ends soon goes by one of those, which costs least. What stays open has a stream of HTTP/2 in the caller's lane, as has what
//! a caller does more of than others should bear: whatever it does to its connections (opens and cancels requests until the server has
//! enough of it, does not read what it asked for) is done to nobody else's. Without the gate every node would have connections of its
//! own, too.

mod connection;
mod lane;
mod plain;
mod turn;

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use http::{Request, Response};
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;
use tower::BoxError;

pub use self::connection::Streaming;
use self::{
    connection::send_alone,
    lane::Lane,
    plain::{Answering, Idle, Plain},
    turn::{Turn, now},
};
use super::{
    Affinity, Carrier,
    dial::{Dialer, Speak},
};
use crate::body::Body;

/// Cheap to clone; clones share the connections.
#[derive(Clone)]
pub(super) struct Pool {
    dials: Arc<Dials>,
    lanes: Arc<Cache<Affinity, Lane>>,
}

/// How connections to the server are made, and those that are for anybody.
struct Dials {
    dialer: Dialer,
    /// Whether the server was last found to speak no HTTP/2: then nobody can share what another one opens.
    http1: AtomicBool,
    idle: Arc<Idle>,
    /// For connections that are shared, and for those who open one. When many want one at a time, most are better off in their lanes.
    shared: Arc<Semaphore>,
    opening: Semaphore,
    /// When one may be opened again, in milliseconds since the process began: the last could not be.
    again: AtomicU64,
}

/// No answer.
pub(super) enum SendError {
    /// Nothing has left the gate; here is the request again.
    Unsent(Box<Request<Body>>, BoxError),
    /// The server says that it has not looked at the request, but part of it is spent.
    Refused(BoxError),
    Sent(BoxError),
}

/// A lane on which nothing was asked for so long, in milliseconds, is forgotten; its connections end with what is under way on them.
const UNUSED: u64 = 120_000;
/// Callers are known users, of whom there are not so many.
const MAX_LANES: usize = 100_000;
/// Connections that are shared. An API server that is slow has no use for more of them.
const MAX_SHARED: usize = 1024;
const MAX_OPENING: usize = 4;
/// Milliseconds for which nobody finds out again that the server does not answer, or not in HTTP/1.1; in the lanes it may.
const PAUSE: u64 = 5000;

impl Pool {
    /// Without connections yet.
    pub(super) fn new(dialer: Dialer) -> Self {
        let dials = Dials {
            dialer,
            http1: AtomicBool::new(false),
            idle: Arc::default(),
            shared: Arc::new(Semaphore::new(MAX_SHARED)),
            opening: Semaphore::new(MAX_OPENING),
            again: AtomicU64::new(0),
        };
        Self {
            dials: Arc::new(dials),
            lanes: Arc::new(Cache::new(MAX_LANES)),
        }
    }

    /// Sends a request with an absolute URI.
    pub(super) async fn send(
        &self,
        mut request: Request<Body>,
        affinity: Affinity,
        carrier: Carrier,
    ) -> Result<Response<Streaming>, SendError> {
        if carrier == Carrier::Alone {
            return Box::pin(self.dials.send_alone(request)).await;
        }
        let now = now();
        let lane = self.lane(affinity, now);
        if carrier == Carrier::Brief
            && let Some(turn) = lane.turn(now)
        {
            match self.dials.send_brief(request, turn).await {
                Ok(sent) => return sent,
                Err(back) => request = back,
            }
        }
        lane.send(request).await
    }

    fn lane(&self, affinity: Affinity, now: u64) -> Lane {
        let new = || Ok::<_, Infallible>(Lane::new(Arc::clone(&self.dials), now));
        let Ok(lane) = self.lanes.get_or_insert_with(&affinity, new);
        lane.is_used(now);
        lane
    }

    /// Forgets lanes that nobody uses any more.
    pub(super) fn tidy(&self) {
        self.tidy_at(now());
    }

    fn tidy_at(&self, now: u64) {
        let unused = |lane: &Lane| lane.is_unused(now, UNUSED);
        // Dropped when nobody waits for a lock, since connections end with them.
        for (caller, _lane) in self.lanes.iter().filter(|(_, lane)| unused(lane)) {
            self.lanes.remove_if(&caller, unused);
        }
    }
}

impl Dials {
    async fn send_alone(&self, request: Request<Body>) -> Result<Response<Streaming>, SendError> {
        match self.dialer.dial(Speak::Http1).await {
            Ok(dialed) => send_alone(dialed.into_io(), request).await,
            Err(error) => Err(SendError::Unsent(Box::new(request), error)),
        }
    }

    /// By a connection that all share. The request comes back where there is none for it.
    async fn send_brief(
        &self,
        mut request: Request<Body>,
        turn: Turn,
    ) -> Result<Result<Response<Streaming>, SendError>, Request<Body>> {
        if let Some(connection) = self.idle.take() {
            match connection.send(request).await {
                Ok((response, connection)) => return Ok(Ok(self.answering(response, connection, Some(turn)))),
                Err(SendError::Unsent(back, _)) => {
                    self.idle.forget();
                    request = *back;
                }
                Err(error) => {
                    turn.end();
                    return Ok(Err(error));
                }
            }
        }
        // Seldom, and so large that every request would carry it along.
        let Some(opened) = Box::pin(self.open_shared()).await else {
            turn.end();
            return Err(request);
        };
        let sent = match opened {
            Err(error) => Err(SendError::Unsent(Box::new(request), error)),
            Ok(connection) => connection.send(request).await,
        };
        match sent {
            Ok((response, connection)) => Ok(Ok(self.answering(response, connection, Some(turn)))),
            Err(error) => {
                turn.end();
                Ok(Err(error))
            }
        }
    }

    /// Nothing if there should be none: there are enough, or the server was not to be had for one.
    async fn open_shared(&self) -> Option<Result<Box<Plain>, BoxError>> {
        if now() < self.again.load(Ordering::Relaxed) {
            return None;
        }
        let _opening = self.opening.try_acquire().ok()?;
        let place = Arc::clone(&self.shared).try_acquire_owned().ok()?;
        match self.dialer.dial(Speak::Http1).await {
            Ok(dialed) => Some(Plain::open(dialed.into_io(), Some(place)).await),
            Err(error) => {
                self.again.store(now() + PAUSE, Ordering::Relaxed);
                // A server that is there may still speak something else.
                (!is_tls(error.as_ref())).then_some(Err(error))
            }
        }
    }

    /// The answer, whose connection is for others when it has ended.
    fn answering(
        &self,
        response: Response<hyper::body::Incoming>,
        connection: Box<Plain>,
        turn: Option<Turn>,
    ) -> Response<Streaming> {
        let answering = Answering::new(connection, Arc::clone(&self.idle), turn);
        response.map(|body| Streaming::plain(body, answering))
    }

    /// What the server speaks.
    fn found(&self, http1: bool) {
        self.http1.store(http1, Ordering::Relaxed);
    }

    fn is_http1(&self) -> bool {
        self.http1.load(Ordering::Relaxed)
    }
}

/// Whether the server was reached, and then there was no agreement.
fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some()
}

#[cfg(test)]
mod tests {
    use http::Uri;
    use rustls::{ClientConfig, RootCertStore};

    use super::*;

    #[test]
    fn lanes_that_nobody_uses_are_forgotten() {
        crate::server::tls::install_crypto();
        let tls = ClientConfig::builder()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let server = Uri::from_static("https://localhost:6443");
        let pool = Pool::new(Dialer::new(&server, None, &tls).unwrap());
        for (caller, now) in [("early", 0), ("late", UNUSED / 2), ("both", 0), ("both", UNUSED / 2)] {
            pool.lane(Affinity::of(caller), now);
        }
        let left = |now| {
            pool.tidy_at(now);
            let left = |caller: &&str| pool.lanes.contains_key(&Affinity::of(caller));
            ["early", "late", "both"].into_iter().filter(left).collect::<Vec<_>>()
        };
        assert_eq!(left(UNUSED - 1), ["early", "late", "both"]);
        assert_eq!(left(UNUSED), ["late", "both"]);
        let slow = pool.lane(Affinity::of("late"), UNUSED / 2).turn(UNUSED / 2).unwrap();
        assert_eq!(left(2 * UNUSED), ["late"], "it has a connection that all share");
        slow.end();
        assert!(left(2 * UNUSED).is_empty());
    }
}
