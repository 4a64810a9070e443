//! The request path: identify → describe → act → authorize → intend → admit → forward → record.
//!
//! [`Pipeline::serve`] is the frame around every request: its identifier, its record, its panics. What happens in
//! between is `Pipeline::handle`, top to bottom, one line a step.

pub mod acting;
pub mod gardenlets;
mod intend;
pub mod judge;
pub mod live;
mod outcome;
pub mod reviews;
pub mod shares;
mod streams;
pub mod ward;
pub mod writes;

use std::{
    net::SocketAddr,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt as _;
use http::{Request, Response, StatusCode, header::UPGRADE};
use hyper::body::Incoming;
use rustls::pki_types::UnixTime;
use tokio::time::sleep;

use self::{
    acting::Acting, intend::intend, judge::Judge, outcome::Outcome, reviews::Reviews, shares::Shares, writes::Writes,
};
pub use self::{
    outcome::{Metrics, RecordedBody},
    streams::Streams,
};
use crate::{
    body::Limits,
    identity::{Authenticator, Identified, Presented},
    observe::{audit, refusals::Refusals},
    rejection::Rejection,
    reply,
    request::Head,
    server::{Hangup, Peer},
    upstream::{Forwarded, Upstream},
};

/// Everything a request needs on its way.
#[derive(Debug)]
pub struct Pipeline {
    pub authenticator: Authenticator,
    pub acting: Acting,
    pub judge: Judge,
    pub writes: Writes,
    pub body_limits: Limits,
    pub shares: Shares,
    pub reviews: Reviews,
    pub upstream: Upstream,
    pub streams: Streams,
    pub audit: audit::Sink,
    pub refusals: Arc<Refusals>,
    pub metrics: Metrics,
}

/// One client connection.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    presented: Presented,
    /// Requests that were told at once to come again.
    sent_away: AtomicUsize,
}

/// How long an answer that says to come again is held back. Whoever does so at once would ask as fast as the gate can answer.
const HOLD: Duration = Duration::from_millis(500);
/// So many may be told at once on one connection, because their caller has as many as it may have held back already.
const MAX_SENT_AWAY: usize = 100;

impl Connection {
    pub fn new(peer: Peer) -> Self {
        Self {
            address: peer.address,
            presented: Presented::new(peer.certificates),
            sent_away: AtomicUsize::new(0),
        }
    }

    /// One more was told at once to come again.
    fn sends_away(&self) {
        self.sent_away.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether its client does not care how often it is told.
    fn is_deaf(&self) -> bool {
        self.sent_away.load(Ordering::Relaxed) > MAX_SENT_AWAY
    }
}

impl Pipeline {
    /// Answers one request. Whatever happens, and also if the client goes away and this future is dropped, be it before it was ever
    /// polled, exactly one audit event and one set of metrics come of it.
    pub fn serve(
        self: Arc<Self>,
        connection: Arc<Connection>,
        mut request: Request<Incoming>,
    ) -> impl Future<Output = Response<RecordedBody>> + Send + use<> {
        let mut outcome = Outcome::begin(&self, connection.address, &request);
        async move {
            let audit_id = outcome.audit_id();
            let (upgrades, client) = (
                request.headers().contains_key(UPGRADE),
                hyper::upgrade::on(&mut request),
            );
            let handled = self.handle(&connection, request, &mut outcome);
            // A defect in the handling of one request must not end the others on its connection.
            let handled = AssertUnwindSafe(handled).catch_unwind().await;
            if let Ok(Err(rejection)) = &handled
                && rejection.code == StatusCode::TOO_MANY_REQUESTS
            {
                if outcome.has_place() {
                    sleep(HOLD).await;
                } else {
                    connection.sends_away();
                }
            }
            let mut response = match handled {
                Ok(Ok(Forwarded::Answer(response))) => outcome.forwarded(response),
                Ok(Ok(Forwarded::Switched(response, tunnel))) => outcome.switched(response, tunnel, client),
                Ok(Err(rejection)) => outcome.rejected(&rejection),
                Err(_) => outcome.panicked(&Rejection::internal("panic while handling the request")),
            };
            response.headers_mut().insert(reply::AUDIT_ID, audit_id);
            if upgrades && response.status() != StatusCode::SWITCHING_PROTOCOLS {
                // What the client sent behind its wish was not meant as HTTP.
                response.extensions_mut().get_or_insert(Hangup::WhenDone);
            }
            if connection.is_deaf() {
                response.extensions_mut().get_or_insert(Hangup::WhenDone);
            }
            response
        }
    }

    async fn handle(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
        request: Request<Incoming>,
        outcome: &mut Outcome,
    ) -> Result<Forwarded, Rejection> {
        let (parts, body) = request.into_parts();

        let Connection { presented, address, .. } = &**connection;
        let identify = self
            .authenticator
            .identify(presented, &parts.headers, address.ip(), UnixTime::now());
        let Identified { caller, token } = identify.await?;
        outcome.identified(&caller);

        let head = Head::read(parts).map_err(|malformed| Rejection::bad_request(malformed.to_string()));
        if let Ok(head) = &head {
            outcome.described(head);
        }
        let (taken, full) = self.shares.take(&caller, head.as_ref().ok().map(|head| &**head.info()));
        outcome.takes(taken);
        full?;
        let head = head?;

        let long_running = head.info().is_long_running();
        let caller = self.act(caller, &head, outcome).await?;
        let (decided, word) = self.judge.authorize(caller, head).await?;
        outcome.decided(&decided);

        let authorized = Arc::new(decided?);
        if long_running {
            let depends = self.judge.dependency(&authorized, word);
            let of = (authorized.caller(), &**authorized.head().info());
            outcome.may_be_cut(self.streams.open(connection, token, depends, of));
        }

        let look = self.writes.admission.look(&authorized);
        let (payload, _large) = intend(
            &authorized,
            look,
            body,
            self.body_limits,
            &self.shares,
            &self.judge.ward,
        )
        .await?;
        self.admit_and_forward(&authorized, payload, outcome).await
    }
}

#[cfg(test)]
mod tests;
