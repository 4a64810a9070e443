//! The admin port: probes, metrics, the log level, why a caller may do something or not, the pages of [`super::page`], and who is in
//! quarantine.
//!
//! Probes answer anybody. With TLS the rest is for operators, who have a certificate of the admin CA. Without it the port is on
//! loopback: whoever is on this machine may look, and whoever can read the token may change something.

mod quarantine;
mod record;
mod token;

use std::{convert::Infallible, fmt::Display, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use prometheus_client::registry::Registry;
use serde::Serialize;
use tokio::time::timeout;
use tracing::info;

pub use self::{
    quarantine::{Changed, Desk, Hold, Quarantined},
    token::{CHALLENGE, NoToken, OperatorToken, PROOF},
};
use super::{
    audit,
    log::Level,
    metrics,
    page::{self, Pages},
};
use crate::{
    authorizer::Authorizer,
    caller::Caller,
    ready::Ready,
    request::Query,
    server::Hangup,
    why::{self, Known},
};

/// What the admin port shows.
#[derive(Clone)]
pub struct Admin {
    pub ready: Ready,
    pub registry: Arc<Registry>,
    pub level: Level,
    pub authorizer: Arc<Authorizer>,
    /// What requests are decided from now.
    pub known: Arc<dyn Fn() -> Known + Send + Sync>,
    /// What browsers show of it.
    pub pages: Pages,
    /// Who is in quarantine, and how that is changed.
    pub quarantine: Arc<dyn Desk>,
    /// Where changes are recorded.
    pub audit: audit::Sink,
}

/// What the peer of a connection may use.
#[derive(Clone, Debug)]
pub enum Access {
    /// What there is to see: it is on this machine, and may be anybody there.
    Local,
    /// Everything.
    Operator(Operator),
    /// The probes.
    Probe,
}

/// Somebody who has shown a certificate, or the token.
#[derive(Clone, Debug)]
pub struct Operator {
    pub name: String,
    /// Whom the certificate stands for.
    pub caller: Option<Caller>,
    pub address: SocketAddr,
}

const MAX_BODY: usize = 4096;
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
            _ if matches!(access, Access::Probe) => {
                let message = "this needs a client certificate of admin.clientCAFile, and not a node's; on a port without TLS, the \
                               name localhost or an address\n";
                let mut response = text(StatusCode::UNAUTHORIZED, message);
                response.extensions_mut().insert(Hangup::TurnedAway);
                response
            }
            (&Method::GET, "/metrics") => self.metrics(),
            (&Method::GET, "/debug/log-level") => text(StatusCode::OK, self.level.get() + "\n"),
            (&Method::PUT, "/debug/log-level") => self.set_level(&access, request).await,
            (&Method::GET, "/debug/who-can") => self.who_can(&request),
            (&Method::GET, page::WHY) => self.why(&request).await,
            (&Method::GET, page::GRAPH | page::REFUSALS) => self.page(&request).await,
            (&Method::GET, "/quarantine") => self.quarantined(&request),
            (&Method::PUT | &Method::DELETE, "/quarantine") => self.change_quarantine(access, request).await,
            (
                _,
                "/livez"
                | "/healthz"
                | "/readyz"
                | "/metrics"
                | "/debug/log-level"
                | "/debug/who-can"
                | page::WHY
                | page::GRAPH
                | page::REFUSALS
                | "/quarantine",
            ) => text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n"),
            (_, "/") => text(StatusCode::OK, INDEX),
            _ => text(StatusCode::NOT_FOUND, "not found; GET / lists what there is\n"),
        })
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        let (content_type, body) = metrics::text(&self.registry);
        typed(content_type, body)
    }

    async fn page<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        match query(request) {
            Err(unclear) => text(StatusCode::BAD_REQUEST, unclear + "\n"),
            Ok(query) if request.uri().path() == page::REFUSALS => self.pages.refusals(&query),
            Ok(query) => self.pages.graph(query).await,
        }
    }

    async fn why<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if let Ok(query) = query(request)
            && query.get("format") == Some("html")
        {
            let authorizer = Arc::clone(&self.authorizer);
            return self.pages.why(query, authorizer, (self.known)()).await;
        }
        answer(request, |query| {
            let asked = why::Question::read(query)
                .parse()
                .map_err(|unclear| unclear.to_string())?;
            Ok(why::explain(&asked, &self.authorizer, &(self.known)()))
        })
    }

    fn who_can<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        answer(request, |query| {
            let asked = why::Object::read(query)
                .parse()
                .map_err(|unclear| unclear.to_string())?;
            why::who_can(&asked, &self.authorizer, &(self.known)()).map_err(|unclear| unclear.to_string())
        })
    }

    async fn set_level(&self, access: &Access, request: Request<Incoming>) -> Response<Full<Bytes>> {
        // Whoever can make the log silent can hide in it.
        if !matches!(access, Access::Operator(_)) {
            let message =
                "this needs the token in admin.tokenFile: curl -H \"Authorization: Bearer $(cat admin.token)\" …\n";
            return text(StatusCode::UNAUTHORIZED, message);
        }
        let body = match whole(request).await {
            Ok(body) => body,
            Err(response) => return response,
        };
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
  GET /debug/log-level    the log level; PUT changes it, e.g. curl -X PUT -d debug …, with the token of admin.tokenFile
  GET /debug/why          why a caller may do something or not: ?caller=…&verb=…&resource=…&namespace=…&name=…, and
                          &fieldSelector=… and &labelSelector=… for list and watch; the caller is the name of a node,
                          seed/<name>, or a user; &format=json for programs, &format=html for browsers
  GET /debug/who-can      the nodes and seeds that can read an object: ?resource=…&namespace=…&name=…
  GET /debug/resource-dependency-graph
                          the graph, for browsers: ?kind=…&namespace=…&name=…
  GET /debug/refusals     who was refused what of late, for browsers; &refresh=5 keeps it up to date
  GET /quarantine         who is in quarantine; PUT and DELETE change it, see scopegate quarantine --help
";

/// A body, which is a line or two, or what to say if it cannot be had.
async fn whole(request: Request<Incoming>) -> Result<Bytes, Response<Full<Bytes>>> {
    match timeout(BODY, Limited::new(request.into_body(), MAX_BODY).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        _ => Err(text(StatusCode::BAD_REQUEST, "the body could not be read\n")),
    }
}

/// Answers a question that stands in the query, in the form that is asked for.
fn answer<B, A: Display + Serialize>(
    request: &Request<B>,
    answer: impl FnOnce(&Query) -> Result<A, String>,
) -> Response<Full<Bytes>> {
    let answered = query(request).and_then(|query| match query.get("format").unwrap_or("text") {
        "text" => Ok(text(StatusCode::OK, answer(&query)?.to_string())),
        "json" => {
            let body = serde_json::to_vec_pretty(&answer(&query)?).map_err(|error| error.to_string())?;
            Ok(typed("application/json", body))
        }
        other => Err(format!("format is json or text, not {other:?}")),
    });
    answered.unwrap_or_else(|unclear| text(StatusCode::BAD_REQUEST, unclear + "\n"))
}

fn query<B>(request: &Request<B>) -> Result<Query, String> {
    let query = request.uri().query().unwrap_or_default();
    Query::parse(query).map_err(|malformed| malformed.to_string())
}

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

fn typed(content_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = text(StatusCode::OK, body);
    let value = http::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, value);
    response
}

pub(super) fn text(code: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
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
