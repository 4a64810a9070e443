//! The admin port: probes, metrics, and the log level.
//!
//! Probes answer anybody. The rest is for operators: on loopback whoever can reach it, elsewhere whoever has a
//! certificate of the admin CA.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use prometheus_client::registry::Registry;
use tokio::time::timeout;
use tracing::info;

use super::{log::Level, metrics};
use crate::{ready::Ready, server::Hangup};

/// What the admin port shows.
#[derive(Clone)]
pub struct Admin {
    pub ready: Ready,
    pub registry: Arc<Registry>,
    pub level: Level,
}

/// Whether the peer of a connection may use more than the probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    Operator,
    Probe,
}

const MAX_BODY: usize = 1024;
const BODY: Duration = Duration::from_secs(5);

impl Admin {
    pub async fn respond(
        &self,
        access: Access,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let verbose = request
            .uri()
            .query()
            .is_some_and(|query| query.split('&').any(|part| part.starts_with("verbose")));
        let path = request.uri().path().to_owned();
        Ok(match (request.method(), path.as_str()) {
            (&Method::GET, "/livez" | "/healthz") => health(&[], verbose),
            (&Method::GET, "/readyz") => health(&self.ready.conditions(), verbose),
            _ if access == Access::Probe => {
                let message = "this needs a client certificate of admin.clientCAFile, and not a node's\n";
                let mut response = text(StatusCode::UNAUTHORIZED, message);
                response.extensions_mut().insert(Hangup::TurnedAway);
                response
            }
            (&Method::GET, "/metrics") => self.metrics(),
            (&Method::GET, "/debug/log-level") => text(StatusCode::OK, self.level.get() + "\n"),
            (&Method::PUT, "/debug/log-level") => self.set_level(request).await,
            (_, "/livez" | "/healthz" | "/readyz" | "/metrics" | "/debug/log-level") => {
                text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n")
            }
            (_, "/") => text(StatusCode::OK, INDEX),
            _ => text(StatusCode::NOT_FOUND, "not found; GET / lists what there is\n"),
        })
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        let (content_type, body) = metrics::text(&self.registry);
        let mut response = text(StatusCode::OK, body);
        let value = http::HeaderValue::from_static(content_type);
        response.headers_mut().insert(header::CONTENT_TYPE, value);
        response
    }

    async fn set_level(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let body = timeout(BODY, Limited::new(request.into_body(), MAX_BODY).collect()).await;
        let Ok(Ok(body)) = body else {
            return text(StatusCode::BAD_REQUEST, "the body could not be read\n");
        };
        let body = body.to_bytes();
        let level = String::from_utf8_lossy(&body);
        match self.level.set(level.trim()) {
            Ok(()) => {
                info!(level = self.level.get(), "log level changed");
                text(StatusCode::OK, self.level.get() + "\n")
            }
            Err(error) => text(StatusCode::BAD_REQUEST, format!("{error}\n")),
        }
    }
}

const INDEX: &str = "\
scopegate admin
  GET /livez              whether the process answers
  GET /readyz?verbose     whether the gate is ready, and what it waits for
  GET /metrics            counters, OpenMetrics
  GET /debug/log-level    the log level; PUT changes it, e.g. curl -X PUT -d debug …
";

/// In the manner of kube-apiserver's probes: one line a condition when verbose or not met.
fn health(conditions: &[(&'static str, bool)], verbose: bool) -> Response<Full<Bytes>> {
    let met = conditions.iter().all(|(_, met)| *met);
    let code = if met {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    if met && !verbose {
        return text(code, "ok");
    }
    let mut lines = String::from("[+]ping ok\n");
    for (name, met) in conditions {
        let (mark, state) = if *met { ('+', "ok") } else { ('-', "pending") };
        lines += &format!("[{mark}]{name} {state}\n");
    }
    lines += if met { "check passed\n" } else { "check failed\n" };
    text(code, lines)
}

fn text(code: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        http::HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        http::HeaderValue::from_static("nosniff"),
    );
    response
}
