//! One set of credentials, and pooled connections with them to every API server.
//!
//! A request goes to one server. Another one is tried only if nothing of the request has left the gate; what may have
//! been acted on is never repeated.

mod dial;
mod pool;
mod servers;

use std::{fmt, sync::Arc};

use http::{Request, Response, Uri, uri::PathAndQuery};
use kube::client::ConfigExt as _;
use tower::{BoxError, Layer as _, ServiceExt as _, service_fn, util::BoxCloneSyncService};
use tracing::warn;

pub(super) use self::servers::Server;
use self::{
    dial::Dialer,
    pool::{Pool, SendError},
};
pub use self::{
    pool::Streaming,
    servers::{Affinity, Servers},
};
use super::{Error, chain};
use crate::body::Body;

/// Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct Client {
    servers: Arc<Servers>,
    pools: Arc<[Pool]>,
    /// Adds the token of the credentials, if they have one.
    authorize: Option<Authorize>,
}

/// What carries a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Carrier {
    /// An HTTP/1.1 connection of its own, which may stop being HTTP with the answer.
    Alone,
    /// Whatever costs least, since all of it is there and the answer ends by itself.
    Brief,
    /// A stream beside others of the caller.
    Stream,
}

/// No answer, and whether that means that nothing has happened.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The gate's own credentials cannot be had.
    #[error("cannot get the token for upstream: {0}")]
    Credentials(BoxError),
    /// Upstream has not looked at the request.
    #[error(transparent)]
    Unsent(BoxError),
    /// Upstream may have acted on it.
    #[error(transparent)]
    Sent(BoxError),
}

/// Answers with the headers of the request, and what it has added to them.
type Authorize = BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>;

impl Client {
    /// To the one server of the configuration. No connection is made yet.
    pub fn new(config: &kube::Config) -> Result<Self, Error> {
        Self::to(Arc::new(Servers::new(vec![config.cluster_url.clone()])?), config)
    }

    /// With the credentials of a configuration, to these servers.
    pub fn to(servers: Arc<Servers>, config: &kube::Config) -> Result<Self, Error> {
        let broken = |error| Error::Credentials(Box::new(error));
        let tls = config.rustls_client_config().map_err(broken)?;
        let name = config.tls_server_name.as_deref();
        let pools = servers
            .iter()
            .map(|server| Ok(Pool::new(Dialer::new(server.url(), name, &tls)?)))
            .collect::<Result<_, Error>>()?;
        let authorize = config
            .auth_layer()
            .map_err(broken)?
            .map(|layer| BoxCloneSyncService::new(layer.layer(service_fn(echo))));
        Ok(Self {
            servers,
            pools,
            authorize,
        })
    }

    /// Sends a request whose URI is a path and query; the server's address, and the path it is mounted under if any,
    /// come in front. Path and query are not touched.
    pub async fn send(
        &self,
        request: Request<Body>,
        affinity: Affinity,
        carrier: Carrier,
    ) -> Result<Response<Streaming>, ClientError> {
        let mut request = match &self.authorize {
            None => request,
            Some(authorize) => Box::pin(authorized(authorize.clone(), request)).await?,
        };
        let target = request.uri().clone();
        let mut order = self.servers.order(affinity);
        let mut last: BoxError = "there is no API server".into();
        while let Some((server, pool)) = order.next().and_then(|at| self.servers.get(at).zip(self.pools.get(at))) {
            *request.uri_mut() = mounted(server.url(), &target).map_err(|error| ClientError::Unsent(error.into()))?;
            match pool.send(request, affinity, carrier).await {
                Ok(response) => return Ok(response),
                Err(SendError::Refused(error)) => return Err(ClientError::Unsent(error)),
                Err(SendError::Sent(error)) => return Err(ClientError::Sent(error)),
                Err(SendError::Unsent(back, error)) => {
                    // A connection of one's own is of another kind, and says nothing about the others.
                    if carrier != Carrier::Alone && server.is(false) {
                        let why = chain(error.as_ref());
                        warn!(server = %server.url(), why, "API server cannot be reached; others, if any, come first");
                    }
                    (request, last) = (*back, error);
                }
            }
        }
        Err(ClientError::Unsent(last))
    }

    /// Sends a request of one's own, whose answer ends by itself.
    pub async fn ask(&self, request: Request<Body>) -> Result<Response<Streaming>, ClientError> {
        self.send(request, Affinity::of(""), Carrier::Stream).await
    }

    /// The same for what may go on. Its connections are those of nobody else: the thread that opens them is seldom awake.
    pub async fn follow(&self, request: Request<Body>) -> Result<Response<Streaming>, ClientError> {
        self.send(request, Affinity::of("\n"), Carrier::Stream).await
    }

    /// The same client, but to one of its servers alone.
    pub fn only(&self, at: usize) -> Option<Self> {
        let (server, pool) = self.servers.get(at).zip(self.pools.get(at))?;
        Some(Self {
            servers: Arc::new(Servers::one(server)),
            pools: Arc::new([pool.clone()]),
            authorize: self.authorize.clone(),
        })
    }

    /// Ends connections of callers that have not asked for anything for long.
    pub fn tidy(&self) {
        self.pools.iter().for_each(Pool::tidy);
    }

    pub fn servers(&self) -> &Servers {
        &self.servers
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("servers", &self.servers)
            .finish_non_exhaustive()
    }
}

async fn authorized(authorize: Authorize, mut request: Request<Body>) -> Result<Request<Body>, ClientError> {
    let mut head = Request::new(Body::default());
    *head.headers_mut() = std::mem::take(request.headers_mut());
    let echoed = authorize.oneshot(head).await;
    *request.headers_mut() = echoed.map_err(ClientError::Credentials)?.into_parts().0.headers;
    Ok(request)
}

async fn echo(request: Request<Body>) -> Result<Response<Body>, BoxError> {
    let mut response = Response::new(Body::default());
    *response.headers_mut() = request.into_parts().0.headers;
    Ok(response)
}

/// A target at a server.
fn mounted(server: &Uri, target: &Uri) -> Result<Uri, http::Error> {
    let mut parts = server.clone().into_parts();
    let path = server.path().trim_end_matches('/');
    parts.path_and_query = match (path, target.path_and_query()) {
        (_, None) => Some(PathAndQuery::from_static("/")),
        ("", Some(asked)) => Some(asked.clone()),
        (path, Some(asked)) => Some(PathAndQuery::try_from(format!("{path}{asked}"))?),
    };
    Ok(Uri::from_parts(parts)?)
}
