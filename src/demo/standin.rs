//! A stand-in for kube-apiserver: an in-memory, Kubernetes-like API that `scopegate demo` and the
//! tests put behind the gate.
//!
//! It is small enough to read and an authority on nothing: where it and Kubernetes differ,
//! Kubernetes is right. It authenticates and authorizes nothing, believes whatever the gate says
//! about the caller and allows every request, so whatever is refused as forbidden in the demo was
//! refused by the gate. Not done, on purpose: strategic merge, server-side apply, protobuf, dry
//! runs, admission, validation of `spec`, finalizers and graceful deletion, paging, OpenAPI.

mod answer;
mod discovery;
mod kinds;
mod object;
mod prepare;
mod reviews;
mod routes;
mod select;
mod store;
pub mod tokens;
mod verbs;
mod watch;

use std::{convert::Infallible, fmt::Display, sync::Arc};

use bytes::Bytes;
use http::{Method, Request, Response, header, request::Parts};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use serde_json::Value;

use self::{
    answer::Refusal,
    routes::{Query, Route},
    store::Store,
    verbs::Call,
};
use crate::caller::User;

/// A response body: one JSON document, or a watch that goes on.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The stand-in API server.
#[derive(Debug)]
pub struct Standin {
    store: Arc<Store>,
    left_out: Vec<String>,
}

impl Standin {
    /// A stand-in that holds `objects`: complete Kubernetes objects with `apiVersion`, `kind` and
    /// `metadata`. What it cannot hold is left out and named by [`Standin::left_out`].
    pub fn new(objects: Vec<Value>) -> Arc<Self> {
        let store = Arc::new(Store::default());
        let left_out = objects
            .into_iter()
            .filter_map(|object| verbs::seed(&store, object).err())
            .map(|refusal| refusal.message)
            .collect();
        Arc::new(Self { store, left_out })
    }

    /// Why each object given to [`Standin::new`] that is not held was left out.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Answers one request; a refusal is a `metav1.Status`.
    ///
    /// The body is read whole: how large it may be is for the gate in front to say.
    /// A watch is fed by a task, so this runs inside a tokio runtime.
    pub async fn respond<B>(self: &Arc<Self>, user: &User, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Display,
    {
        let (head, body) = request.into_parts();
        let answer = match body.collect().await {
            Ok(body) => self.answer(user, &head, body.to_bytes()),
            Err(error) => Err(Refusal::bad_request(format!("reading the body: {error}"))),
        };
        answer.unwrap_or_else(|refusal| refusal.response())
    }

    fn answer(&self, user: &User, head: &Parts, body: Bytes) -> Result<Response<Body>, Refusal> {
        if head.method == Method::GET
            && let Some(document) = discovery::document(head.uri.path())
        {
            return Ok(document);
        }
        let route = Route::parse(head.uri.path())?;
        let query = Query::parse(head.uri.query().unwrap_or_default());
        let content_type = head
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let call = Call {
            store: &self.store,
            user,
            route,
            query,
            content_type,
            body,
        };
        call.answer(&head.method)
    }
}

#[cfg(test)]
mod tests;
