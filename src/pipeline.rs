//! The request path: identify → describe → authorize → intend → admit → forward → record.
//!
//! [`Pipeline::serve`] is the frame around every request: its identifier, its record, its panics. What happens in
//! between is `Pipeline::handle`, top to bottom, one line a step.

mod intend;
mod outcome;

use std::{
    net::SocketAddr,
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::AtomicBool},
};

use futures_util::FutureExt as _;
use http::{Request, Response};
use hyper::body::Incoming;
use rustls::pki_types::UnixTime;

pub use self::outcome::{Metrics, RecordedBody};
use self::{intend::intend, outcome::Outcome};
use crate::{
    admission::admit,
    authorizer::Authorizer,
    identity::{Authenticator, Presented},
    observe::audit,
    rejection::Rejection,
    reply,
    request::Head,
    server::Peer,
    upstream::Upstream,
};

/// Everything a request needs on its way.
#[derive(Debug)]
pub struct Pipeline {
    pub authenticator: Authenticator,
    pub authorizer: Authorizer,
    pub upstream: Upstream,
    pub audit: audit::Sink,
    pub metrics: Metrics,
    /// Set when the gate is told to stop: what breaks off then was not the client's doing.
    pub stopping: Arc<AtomicBool>,
}

/// One client connection.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    presented: Presented,
}

impl Connection {
    pub fn new(peer: Peer) -> Self {
        Self {
            address: peer.address,
            presented: Presented::new(peer.certificates),
        }
    }
}

impl Pipeline {
    /// Answers one request. Whatever happens, and also if the client goes away and this future is dropped, exactly one
    /// audit event and one set of metrics come of it.
    pub async fn serve(
        self: Arc<Self>,
        connection: Arc<Connection>,
        request: Request<Incoming>,
    ) -> Response<RecordedBody> {
        let mut outcome = Outcome::begin(&self, connection.address, &request);
        let audit_id = outcome.audit_id();
        let handled = self.handle(&connection, request, &mut outcome);
        // A defect in the handling of one request must not end the others on its connection.
        let handled = AssertUnwindSafe(handled).catch_unwind().await;
        let mut response = match handled {
            Ok(Ok(response)) => outcome.forwarded(response),
            Ok(Err(rejection)) => outcome.rejected(&rejection),
            Err(_) => outcome.panicked(&Rejection::internal("panic while handling the request")),
        };
        response.headers_mut().insert(reply::AUDIT_ID, audit_id);
        response
    }

    async fn handle(
        &self,
        connection: &Connection,
        request: Request<Incoming>,
        outcome: &mut Outcome,
    ) -> Result<Response<Incoming>, Rejection> {
        let (parts, body) = request.into_parts();

        let caller = self.authenticator.identify(&connection.presented, UnixTime::now())?;
        outcome.identified(&caller);

        let head = Head::read(parts).map_err(|malformed| Rejection::bad_request(malformed.to_string()))?;
        outcome.described(&head);

        let decided = self.authorizer.authorize(caller, head);
        outcome.decided(&decided);

        let authorized = decided?;
        let intent = intend(&authorized, body)?;
        let admitted = admit(authorized, intent)?;
        self.upstream.forward(admitted, outcome.audit_id()).await
    }
}

#[cfg(test)]
mod tests;
