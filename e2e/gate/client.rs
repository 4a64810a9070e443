//! A client that shares no code with the gate.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use http::{Request, uri::Authority};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{client::legacy::ResponseFuture, rt::TokioExecutor};
use kube::client::ConfigExt as _;
use scopegate::upstream;

use super::Answer;
use crate::release;

/// A client with the credentials of a kubeconfig, over HTTP/1.1, which keeps its connections. Tests speak of APIs in their
/// newest version; it asks for the one that the release serves.
#[derive(Clone)]
pub(crate) struct Client {
    server: Authority,
    request: Arc<dyn Fn(Request<Full<Bytes>>) -> ResponseFuture + Send + Sync>,
}

impl Client {
    pub(crate) async fn new(kubeconfig: &Path) -> Self {
        let credentials = upstream::credentials(Some(kubeconfig)).await.unwrap();
        let connector = credentials.rustls_https_connector().unwrap();
        let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(connector);
        Self {
            server: credentials.cluster_url.authority().unwrap().clone(),
            request: Arc::new(move |request| client.request(request)),
        }
    }

    /// The answer from its beginning.
    pub(crate) async fn open(
        &self,
        request: http::request::Builder,
        body: impl AsRef<[u8]>,
    ) -> Result<http::Response<Incoming>, String> {
        let body = body.as_ref();
        let body = match str::from_utf8(body) {
            Ok(text) if text.starts_with('{') => Bytes::from(release::served(text)),
            _ => Bytes::copy_from_slice(body),
        };
        let mut request = request.body(Full::from(body)).unwrap();
        let target = release::served(request.uri().path_and_query().unwrap().as_str());
        *request.uri_mut() = format!("https://{}{target}", self.server).parse().unwrap();
        let sent = (self.request)(request).await;
        sent.map_err(|error| upstream::chain(&error))
    }

    pub(crate) async fn send(&self, request: http::request::Builder, body: impl AsRef<[u8]>) -> Result<Answer, String> {
        Answer::try_read(self.open(request, body).await?).await
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        let answer = self.send(Request::get(target), "").await;
        answer.unwrap_or_else(|error| panic!("{error}"))
    }
}
