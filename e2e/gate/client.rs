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

/// A client with the credentials of a kubeconfig, over HTTP/1.1, which keeps its connections.
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
        let mut request = request.body(Full::from(Bytes::copy_from_slice(body.as_ref()))).unwrap();
        let target = request.uri().path_and_query().unwrap();
        *request.uri_mut() = format!("https://{}{target}", self.server).parse().unwrap();
        let sent = (self.request)(request).await;
        sent.map_err(|error| upstream::chain(&error))
    }

    pub(crate) async fn send(&self, request: http::request::Builder, body: impl AsRef<[u8]>) -> Result<Answer, String> {
        Ok(Answer::read(self.open(request, body).await?).await)
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        let answer = self.send(Request::get(target), "").await;
        answer.unwrap_or_else(|error| panic!("{error}"))
    }
}
