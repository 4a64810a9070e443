//! Stands between the gate and kube-apiserver, sees what the gate sends, and lets something happen just before a write gets there.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use scopegate::server::tls;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{cluster::Cluster, gate::Client};

pub(super) struct Between {
    pub(super) address: SocketAddr,
    state: Arc<State>,
}

struct State {
    upstream: Client,
    seen: Mutex<Vec<Seen>>,
    before: Mutex<Option<Before>>,
}

/// A request of the gate, on its own behalf or a node's: in mode Own nobody can tell.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) target: String,
}

/// What happens before a write is passed on.
type Before = Box<dyn FnMut() -> BoxFuture<'static, ()> + Send>;

impl Between {
    pub(super) async fn start(cluster: &Cluster) -> Self {
        let state = Arc::new(State {
            upstream: Client::new(&cluster.file("gate.kubeconfig")).await,
            seen: Mutex::default(),
            before: Mutex::default(),
        });
        let read = |name: &str| std::fs::read(cluster.file(name)).unwrap();
        let (certificate, key, ca) = (read("server.crt"), read("server.key"), read("client-ca.crt"));
        let mut config = tls::server_config(&certificate, &key, &ca).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(stream) = acceptor.accept(stream).await {
                    tokio::spawn(serve(Arc::clone(&serving), stream));
                }
            }
        });
        Self { address, state }
    }

    /// What has come since the last time, except for what informers watch and probes look at.
    pub(super) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.state.seen.lock().unwrap())
    }

    /// The writes among them.
    pub(super) fn take_writes(&self) -> Vec<Seen> {
        let mut seen = self.take();
        seen.retain(Seen::is_write);
        seen
    }

    /// Before every write from now on.
    pub(super) fn before_writes(&self, before: impl FnMut() -> BoxFuture<'static, ()> + Send + 'static) {
        *self.state.before.lock().unwrap() = Some(Box::new(before));
    }

    pub(super) fn let_pass(&self) {
        *self.state.before.lock().unwrap() = None;
    }
}

impl Seen {
    /// Reviews ask; they change nothing.
    fn is_write(&self) -> bool {
        self.method != "GET" && !self.target.contains("accessreviews")
    }
}

async fn serve(state: Arc<State>, stream: TlsStream<TcpStream>) {
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { state.answer(request).await }
    });
    let _ = http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl State {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Incoming>, String> {
        let (head, body) = request.into_parts();
        let target = head.uri.path_and_query().unwrap().to_string();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        let seen = Seen {
            method: head.method.to_string(),
            target: target.clone(),
        };
        let write = seen.is_write();
        if target.starts_with("/api") && !target.contains("watch=") {
            self.seen.lock().unwrap().push(seen);
        }
        if write {
            let happening = self.before.lock().unwrap().as_mut().map(|before| before());
            if let Some(happening) = happening {
                happening.await;
            }
        }
        let mut forwarded = Request::builder().method(head.method).uri(&target);
        *forwarded.headers_mut().unwrap() = head.headers;
        self.upstream.open(forwarded, body).await
    }
}
