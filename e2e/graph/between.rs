//! Stands between the gate and kube-apiserver, sees what the gate asks, and gets in the way of its informers.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use scopegate::server::tls;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{broadcast, watch},
    time::sleep,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::{cluster::Cluster, gate::Client};

pub(super) struct Between {
    pub(super) address: SocketAddr,
    state: Arc<State>,
}

struct State {
    /// To the API server, as the gate and as its front proxy.
    own: Client,
    front_proxy: Client,
    seen: Mutex<Vec<Seen>>,
    manner: watch::Sender<Manner>,
    events: broadcast::Sender<(&'static str, Event)>,
}

/// A request of the gate.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// On whose behalf; nobody's if it is the gate that wants to know.
    pub(super) user: String,
    pub(super) method: String,
    pub(super) target: String,
}

/// How informers are treated. Whatever else the gate asks or forwards passes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// Nothing comes on watches and lists of paths that begin like this, nor do they end.
    pub(super) held: Option<&'static str>,
    /// Requests to paths that begin like this are answered with this code.
    pub(super) refused: Option<(&'static str, StatusCode)>,
}

/// What happens once, to watches that are open on paths that begin with the text before it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Cut,
    Say(&'static str),
}

type Body = UnsyncBoxBody<Bytes, String>;

impl Manner {
    fn holds(&self, target: &str) -> bool {
        self.held.is_some_and(|path| target.starts_with(path))
    }
}

impl Between {
    pub(super) async fn start(cluster: &Cluster) -> Self {
        let front_proxy = cluster.kubeconfig("front-proxy", "front-proxy-client", cluster.api);
        let state = Arc::new(State {
            own: Client::new(&cluster.file("gate.kubeconfig")).await,
            front_proxy: Client::new(&front_proxy).await,
            seen: Mutex::default(),
            manner: watch::Sender::default(),
            events: broadcast::Sender::new(16),
        });
        let read = |name: &str| std::fs::read(cluster.file(name)).unwrap();
        let (certificate, key, ca) = (read("server.crt"), read("server.key"), read("front-proxy-ca.crt"));
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

    /// From now on.
    pub(super) fn treat(&self, manner: Manner) {
        self.state.manner.send_replace(manner);
    }

    pub(super) fn happen(&self, path: &'static str, event: Event) {
        self.state.events.send((path, event)).unwrap();
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }
}

async fn serve(state: Arc<State>, stream: TlsStream<TcpStream>) {
    let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
    let own = certificates.first().is_none_or(|certificate| {
        let (_, certificate) = X509Certificate::from_der(certificate).unwrap();
        !certificate.subject().to_string().contains("front-proxy-client")
    });
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move { state.answer(own, request).await }
    });
    let _ = http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl State {
    async fn answer(&self, own: bool, request: Request<Incoming>) -> Result<Response<Body>, String> {
        let (head, body) = request.into_parts();
        let target = head.uri.path_and_query().unwrap().to_string();
        let user = head
            .headers
            .get("x-remote-user")
            .map_or("", |user| user.to_str().unwrap());
        self.seen.lock().unwrap().push(Seen {
            user: user.to_owned(),
            method: head.method.to_string(),
            target: target.clone(),
        });
        let informer = own && (target.contains("watch=") || target.contains("limit="));
        let mut manner = self.manner.subscribe();
        if informer {
            let _ = manner.wait_for(|manner| !manner.holds(&target)).await;
        }
        let now = *manner.borrow();
        if let Some((path, code)) = now.refused
            && own
            && target.starts_with(path)
        {
            let body = Full::from(format!("{code}\n")).map_err(|never| match never {});
            return Ok(Response::builder().status(code).body(body.boxed_unsync()).unwrap());
        }
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        let mut forwarded = Request::builder().method(head.method).uri(&target);
        *forwarded.headers_mut().unwrap() = head.headers;
        let client = if own { &self.own } else { &self.front_proxy };
        let response = client.open(forwarded, &body).await?;
        let events = self.events.subscribe();
        Ok(response.map(|body| {
            let body = body.map_err(|error| error.to_string());
            if informer && target.contains("watch=") {
                let watched = Watched {
                    body,
                    target,
                    manner,
                    events,
                    whole: true,
                };
                watched.body().boxed_unsync()
            } else {
                body.boxed_unsync()
            }
        }))
    }
}

/// A watch, and what happens to it.
struct Watched<B> {
    body: B,
    target: String,
    manner: watch::Receiver<Manner>,
    events: broadcast::Receiver<(&'static str, Event)>,
    /// Whether the last line is complete, so that something can be said behind it.
    whole: bool,
}

/// An empty line that is passed over, more often than any informer here wants to hear something.
const BEAT: Duration = Duration::from_millis(500);

impl<B> Watched<B>
where
    B: hyper::body::Body<Data = Bytes, Error = String> + Send + Unpin,
{
    fn body(self) -> impl hyper::body::Body<Data = Bytes, Error = String> + Send {
        StreamBody::new(stream::unfold(self, |mut watched| async {
            let frame = watched.frame().await?;
            Some((frame, watched))
        }))
    }

    async fn frame(&mut self) -> Option<Result<Frame<Bytes>, String>> {
        loop {
            let held = self.manner.borrow_and_update().holds(&self.target);
            let said = tokio::select! {
                _ = self.manner.changed() => continue,
                event = self.events.recv(), if self.whole => match event {
                    Ok((path, event)) if self.target.starts_with(path) => event,
                    _ => continue,
                },
                frame = self.body.frame(), if !held => {
                    let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
                    self.whole = data.is_none_or(|data| data.ends_with(b"\n"));
                    return frame;
                }
                () = sleep(BEAT), if self.whole && !held => Event::Say("\n"),
            };
            return Some(match said {
                Event::Cut => Err("cut".to_owned()),
                Event::Say(line) => Ok(Frame::data(Bytes::from(line))),
            });
        }
    }
}
