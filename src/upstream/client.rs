//! Pooled connections to the API server, with the gate's credentials on them.

use std::{fmt, time::Duration};

use http::{Request, Response, Uri, uri::PathAndQuery};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use kube::client::ConfigExt as _;
use tower::{BoxError, ServiceBuilder, ServiceExt as _, util::BoxCloneSyncService};

use super::Error;
use crate::body::Body;

/// Speaks HTTP/1.1: one request a connection at a time, so that an open watch never stands in the way of another
/// request. Cheap to clone; clones share the pool.
#[derive(Clone)]
pub struct Client {
    service: BoxCloneSyncService<Request<Body>, Response<Incoming>, BoxError>,
    server: Uri,
}

const CONNECT: Duration = Duration::from_secs(5);
/// Shorter than kube-apiserver keeps an idle connection (90 s), so that a request seldom meets a closing one.
const IDLE: Duration = Duration::from_secs(60);

impl Client {
    /// No connection is made yet.
    pub fn new(config: &kube::Config) -> Result<Self, Error> {
        let server = config.cluster_url.clone();
        if server.scheme_str() != Some("https") || server.authority().is_none() {
            return Err(Error::Url(server.to_string()));
        }
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        let broken = |error| Error::Credentials(Box::new(error));
        let tls = config.rustls_https_connector_with_connector(tcp).map_err(broken)?;
        let pool = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(tls);
        let service = ServiceBuilder::new()
            .option_layer(config.auth_layer().map_err(broken)?)
            .map_err(BoxError::from)
            .service(pool);
        Ok(Self {
            service: BoxCloneSyncService::new(service),
            server,
        })
    }

    /// Sends a request whose URI is a path and query; the server's address, and the path it is mounted under if any,
    /// come in front. Path and query are not touched.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, BoxError> {
        *request.uri_mut() = self.address(request.uri())?;
        self.service.clone().oneshot(request).await
    }

    fn address(&self, target: &Uri) -> Result<Uri, http::Error> {
        let asked = target.path_and_query().map_or("/", PathAndQuery::as_str);
        let mounted = self.server.path().trim_end_matches('/');
        let mut parts = self.server.clone().into_parts();
        parts.path_and_query = Some(match mounted {
            "" => PathAndQuery::try_from(asked)?,
            _ => PathAndQuery::try_from(format!("{mounted}{asked}"))?,
        });
        Ok(Uri::from_parts(parts)?)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
