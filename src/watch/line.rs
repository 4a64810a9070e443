//! The way from an informer to upstream, which sees what kube does not show: every byte that comes, and every request.
//!
//! Five things happen here, each because of what would otherwise become a graph that is old without anybody knowing:
//!
//! - Whatever comes on a watch is noted, bookmarks included, so that silence can be told from quiet.
//! - An answer that stops coming is broken off, and asked for again.
//! - A watch is not resumed from a version that upstream has not reached: it was restored from a backup, and would say nothing
//!   of what it holds now. Nor is it after a long silence, which would go on for as long as nothing happens, and end with a
//!   graph that counts as stale.
//! - An event that kube would pass over ends the watch, as one that it cannot read.
//! - A streaming list asks for what is true now, not for what the API server happens to remember.

mod body;

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header::ACCEPT, uri::PathAndQuery};
use http_body_util::{BodyExt as _, Full, Limited, combinators::UnsyncBoxBody};
use kube::client::Body as Outgoing;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, sleep_until, timeout};
use tower::{BoxError, Service, ServiceExt as _, util::BoxCloneSyncService};
use tracing::{debug, warn};

use self::body::Body;
pub(super) use self::body::Garbled;
use super::state::Own;

/// How upstream is asked: requests have a path and query, and no body.
pub type Upstream = BoxCloneSyncService<Request<()>, Response<Answer>, BoxError>;
/// What comes back, as it comes.
pub type Answer = UnsyncBoxBody<Bytes, BoxError>;

/// One informer's.
#[derive(Clone)]
pub(super) struct Line {
    upstream: Upstream,
    own: Own,
    /// How long an answer may stop coming.
    patience: Duration,
    /// When the next watch may begin: kube begins the next as soon as one ends, and some end at once.
    next: Instant,
}

/// What a request is to the line.
#[derive(Debug, Eq, PartialEq)]
enum Asked {
    /// All there is, and then what happens.
    Everything,
    /// What has happened since this version.
    Since(u64),
    /// A watch of another kind.
    Watch,
    Other,
}

/// A list, as far as it says how far upstream is.
#[derive(Deserialize)]
struct List {
    metadata: ListMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMeta {
    resource_version: String,
}

/// Between the beginnings of two watches.
const PAUSE: Duration = Duration::from_secs(1);
/// One object at most, of which only the metadata is asked for.
const MAX_LIST: usize = 16 * 1024 * 1024;
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Why a watch ends that nothing was heard on. A server without events of a kind may send no bookmarks either.
pub(super) const SILENT: &str = "upstream was silent for long";

impl Line {
    pub(super) fn new(upstream: Upstream, own: Own, patience: Duration) -> Self {
        Self {
            upstream,
            own,
            patience,
            next: Instant::now(),
        }
    }

    async fn ask(self, request: Request<()>, begin: Instant) -> Result<Response<Answer>, BoxError> {
        let asked = Asked::of(request.uri());
        let request = match asked {
            Asked::Everything => consistent(request)?,
            _ => request,
        };
        if asked != Asked::Other {
            sleep_until(begin).await;
        }
        let refusal = match asked {
            Asked::Since(version) => self.refusal(request.uri(), version).await?,
            // It would leave out what was deleted in the meantime.
            Asked::Watch => Some(gone("a watch has to begin at a version")),
            Asked::Everything | Asked::Other => None,
        };
        if let Some(refusal) = refusal {
            return Ok(refusal);
        }
        let response = self.send(request).await?;
        let watch = asked != Asked::Other && response.status().is_success();
        let silence = if watch { self.own.silence() } else { Duration::ZERO };
        let own = watch.then_some(self.own);
        let list = asked == Asked::Everything;
        Ok(response.map(|body| {
            let body = Body::new(body, self.patience, own, list);
            // A watch that goes on does not begin a new silence.
            body.first_within(self.patience.saturating_sub(silence).max(PAUSE))
                .boxed_unsync()
        }))
    }

    async fn send(&self, request: Request<()>) -> Result<Response<Answer>, BoxError> {
        match timeout(self.patience, self.upstream.clone().oneshot(request)).await {
            Ok(answer) => answer,
            Err(elapsed) => Err(elapsed.into()),
        }
    }

    /// The answer to a watch that must not be resumed. Upstream is asked for its most recent state, so no cache that lags
    /// behind looks like a backup.
    async fn refusal(&self, watch: &Uri, version: u64) -> Result<Option<Response<Answer>>, BoxError> {
        let mut request = Request::new(());
        *request.uri_mut() = with_query(watch, "limit=1")?;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(METADATA));
        let (head, body) = self.send(request).await?.into_parts();
        let body = Body::new(body, self.patience, None, false);
        let body = Limited::new(body, MAX_LIST).collect().await?.to_bytes();
        if !head.status.is_success() {
            return Ok(Some(Response::from_parts(head, whole(body))));
        }
        let list: List = serde_json::from_slice(&body)?;
        // Versions that are no numbers cannot be compared.
        let Ok(reached) = list.metadata.resource_version.parse::<u64>() else {
            return Ok(None);
        };
        if reached == version {
            // Nothing has happened since, so nothing is missing, whether or not upstream sends bookmarks.
            self.own.heard();
        }
        let path = watch.path();
        let message = if reached < version {
            warn!(path, version, reached, "upstream has gone back in time; listing again");
            format!("upstream is at resource version {reached}, before {version}")
        } else if self.own.silence() >= self.patience.mul_f64(0.9) {
            // A watch that goes on says nothing until something happens. A list is known at once, before what the graph holds
            // counts as stale: some upstreams send no bookmarks while a kind is quiet.
            debug!(path, "upstream has said nothing for long; listing again");
            SILENT.to_owned()
        } else {
            return Ok(None);
        };
        Ok(Some(gone(&message)))
    }
}

impl Service<Request<Outgoing>> for Line {
    type Response = Response<Answer>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Answer>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Outgoing>) -> Self::Future {
        let request = request.map(drop);
        let begin = self.next.max(Instant::now());
        if Asked::of(request.uri()) != Asked::Other {
            self.next = begin + PAUSE;
        }
        Box::pin(self.clone().ask(request, begin))
    }
}

/// What makes kube list again.
fn gone(message: &str) -> Response<Answer> {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": "Gone",
        "code": StatusCode::GONE.as_u16(),
    });
    let mut response = Response::new(whole(Bytes::from(status.to_string())));
    *response.status_mut() = StatusCode::GONE;
    response
}

impl Asked {
    fn of(uri: &Uri) -> Self {
        let value = |wanted: &str| {
            let pairs = pairs(uri).filter_map(|pair| pair.split_once('='));
            pairs.filter(|(name, _)| *name == wanted).map(|(_, value)| value).last()
        };
        let version = value("resourceVersion").unwrap_or_default();
        match value("watch") {
            None | Some("false" | "0") => Self::Other,
            Some(_) if value("sendInitialEvents").is_some() => Self::Everything,
            Some(_) => version.parse().map_or(Self::Watch, |version| match version {
                0 => Self::Watch,
                version => Self::Since(version),
            }),
        }
    }
}

/// kube asks for any version, which a lagging API server answers with an old one: what is seen there may have been taken away
/// long ago. Without a version the API server catches up first.
fn consistent(mut request: Request<()>) -> Result<Request<()>, BoxError> {
    let kept: Vec<&str> = pairs(request.uri())
        .filter(|pair| !pair.starts_with("resourceVersion="))
        .collect();
    *request.uri_mut() = with_query(request.uri(), &kept.join("&"))?;
    Ok(request)
}

fn pairs(uri: &Uri) -> impl Iterator<Item = &str> {
    uri.query().unwrap_or_default().split('&')
}

fn with_query(uri: &Uri, query: &str) -> Result<Uri, BoxError> {
    let target: PathAndQuery = format!("{}?{query}", uri.path()).parse()?;
    Ok(Uri::from(target))
}

fn whole(body: Bytes) -> Answer {
    Full::new(body).map_err(|never| match never {}).boxed_unsync()
}

#[cfg(test)]
mod tests;
