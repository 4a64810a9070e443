//! Questions the gate asks upstream itself, apart from what it forwards.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::{BodyExt as _, Limited, combinators::UnsyncBoxBody};
use serde_json::Value;
use tokio::time::timeout;
use tower::{BoxError, service_fn, util::BoxCloneSyncService};

use super::{Client, ClientError, Upstream, headers};
use crate::{body::Body, caller::User};

/// Requests with a path and query and no body.
pub type Line = BoxCloneSyncService<Request<()>, Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>;

const ANSWER: Duration = Duration::from_secs(10);
/// The largest answer that any question of ours has is a few kilobytes.
const MAX_ANSWER: usize = 1024 * 1024;

impl Upstream {
    /// Reaches upstream once; any answer will do.
    pub async fn probe(&self) -> Result<StatusCode, BoxError> {
        Ok(timeout(ANSWER, readyz(&self.clients.load_full().own)).await??)
    }

    /// Asks as `user`, or as the gate itself. The answer is null where it is not JSON.
    pub async fn ask(
        &self,
        method: Method,
        target: &str,
        user: Option<&User>,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value), BoxError> {
        let clients = self.clients.load_full();
        let (client, mut headers) = match user {
            Some(user) => (&clients.told, headers::told(user, self.identity)?),
            None => (&clients.own, HeaderMap::new()),
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut request = Request::new(Body::from(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = target.parse()?;
        *request.headers_mut() = headers;
        let (code, body) = whole(client, request, MAX_ANSWER).await?;
        Ok((code, serde_json::from_slice(&body).unwrap_or(Value::Null)))
    }

    /// For informers, which ask as the gate itself, on connections that have nothing else. Answers are handed on as they come.
    pub fn line(&self) -> Line {
        let upstream = self.clone();
        BoxCloneSyncService::new(service_fn(move |request: Request<()>| {
            let clients = upstream.clients.load_full();
            async move {
                let response = clients.own.follow(request.map(|()| Body::default())).await?;
                Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
            }
        }))
    }

    /// Reads as the gate itself, and not more than so much.
    pub async fn read(&self, target: &str, at_most: usize) -> Result<(StatusCode, Bytes), BoxError> {
        let mut request = Request::new(Body::default());
        *request.uri_mut() = target.parse()?;
        whole(&self.clients.load_full().own, request, at_most).await
    }
}

async fn whole(client: &Client, request: Request<Body>, at_most: usize) -> Result<(StatusCode, Bytes), BoxError> {
    let answer = async {
        let response = client.ask(request).await?;
        let code = response.status();
        let body = Limited::new(response.into_body(), at_most).collect().await?;
        Ok((code, body.to_bytes()))
    };
    timeout(ANSWER, answer).await?
}

pub(super) async fn readyz(client: &Client) -> Result<StatusCode, ClientError> {
    let mut request = Request::new(Body::default());
    *request.uri_mut() = http::Uri::from_static("/readyz");
    let response = client.ask(request).await?;
    let code = response.status();
    // Read to its end, so that the connection can be used again.
    let _ = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
    Ok(code)
}
