//! Connections to one API server: a lane of their own for every caller.
//!
//! Whatever a caller does to its connections (opens and cancels requests until the server has enough of it, does not read
//! what it asked for) is done to nobody else's. Without the gate every node would have connections of its own, too.

mod connection;
mod lane;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use http::{Request, Response};
use moka::sync::Cache;
use tower::BoxError;

pub use self::connection::Streaming;
use self::lane::Lane;
use super::{Affinity, Carrier, dial::Dialer};
use crate::body::Body;

/// Cheap to clone; clones share the connections.
#[derive(Clone)]
pub(super) struct Pool {
    dials: Arc<Dials>,
    lanes: Cache<Affinity, Lane>,
}

/// How connections to the server are made.
struct Dials {
    dialer: Dialer,
    /// Whether the server was last found to speak no HTTP/2: then nobody can share what another one opens.
    http1: AtomicBool,
}

/// No answer.
pub(super) enum SendError {
    /// Nothing has left the gate; here is the request again.
    Unsent(Box<Request<Body>>, BoxError),
    /// The server says that it has not looked at the request, but part of it is spent.
    Refused(BoxError),
    Sent(BoxError),
}

/// A lane on which nothing was asked for so long is forgotten; its connections end with what is under way on them.
const UNUSED: Duration = Duration::from_secs(120);

impl Pool {
    /// Without connections yet.
    pub(super) fn new(dialer: Dialer) -> Self {
        let http1 = AtomicBool::new(false);
        Self {
            dials: Arc::new(Dials { dialer, http1 }),
            lanes: Cache::builder().time_to_idle(UNUSED).build(),
        }
    }

    /// Sends a request with an absolute URI.
    pub(super) async fn send(
        &self,
        request: Request<Body>,
        affinity: Affinity,
        carrier: Carrier,
    ) -> Result<Response<Streaming>, SendError> {
        let lane = match self.lanes.get(&affinity) {
            Some(lane) => lane,
            None => self.lanes.get_with(affinity, || Lane::new(Arc::clone(&self.dials))),
        };
        lane.send(request, carrier).await
    }
}
