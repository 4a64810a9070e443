//! The stand-in API server on a socket: TLS, who the client is, and a record of what arrived.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use http::{HeaderMap, Method, Request, Response, StatusCode, header::AUTHORIZATION};
use hyper::{body::Incoming, service::service_fn};
use percent_encoding::percent_decode_str;
use rustls::pki_types::UnixTime;
use tokio::task::JoinHandle;

use super::standin::{Body, Standin, tokens};
use crate::{
    api::accounts,
    caller::User,
    identity::x509::{ClientCa, Options},
    pki::{Pki, Usage},
    server::{self, Peer, Server, Transport, tls},
};

/// A running stand-in. Dropping it stops it.
#[derive(Debug)]
pub struct Upstream {
    pub address: SocketAddr,
    seen: Seen,
    task: JoinHandle<()>,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub method: Method,
    pub target: String,
    pub headers: HeaderMap,
    /// Whether the connection was made with a client certificate.
    pub certificate: bool,
}

type Seen = Arc<Mutex<Vec<Arrived>>>;

/// Whom the stand-in believes, like kube-apiserver: its front proxy about anybody, others about themselves, and without
/// a certificate whoever has a token.
struct Trust {
    front_proxy: ClientCa,
    clients: ClientCa,
}

/// The record is for looking at a handful of requests, not for keeping.
const MAX_SEEN: usize = 10_000;

impl Upstream {
    /// Starts on a free loopback port, trusting the CAs of `pki`.
    pub async fn start(pki: &Pki, standin: Arc<Standin>) -> anyhow::Result<Self> {
        let server = Server::bind("stand-in", SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let address = server.address();
        let options = Options { uid: true };
        let trust = Arc::new(Trust {
            front_proxy: ClientCa::from_pem(pki.front_proxy_ca.certificate.as_bytes(), options)?,
            clients: ClientCa::from_pem(pki.client_ca.certificate.as_bytes(), options)?,
        });
        let pair = pki
            .server_ca
            .issue("stand-in", None, Usage::Server(&["localhost", "127.0.0.1"]))?;
        let authorities = [
            pki.front_proxy_ca.certificate.as_str(),
            pki.client_ca.certificate.as_str(),
        ]
        .concat();
        let config = tls::server_config(pair.certificate.as_bytes(), pair.key.as_bytes(), authorities.as_bytes())?;

        let seen = Seen::default();
        let record = Arc::clone(&seen);
        let new_service = move |peer: Peer| {
            let (trust, standin, record) = (Arc::clone(&trust), Arc::clone(&standin), Arc::clone(&record));
            service_fn(move |request: Request<Incoming>| {
                remember(&record, &peer, &request);
                let user = trust.user(&peer, request.headers());
                let standin = Arc::clone(&standin);
                async move {
                    Ok::<_, Infallible>(match user {
                        Some(user) => standin.respond(&user, request).await,
                        None => unauthorized(),
                    })
                }
            })
        };
        let task = tokio::spawn(server.run(
            Transport::Tls(Arc::new(ArcSwap::from_pointee(config))),
            new_service,
            server::Metrics::default(),
            std::future::pending(),
            Duration::ZERO,
        ));
        Ok(Self { address, seen, task })
    }

    /// What has arrived so far, oldest first. What the gate reads for its own sake is left out: whether the server is
    /// healthy, and what its informers list and watch.
    pub fn seen(&self) -> Vec<Arrived> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |arrived: &Arrived| arrived.method == Method::GET && !arrived.headers.contains_key("audit-id");
        seen.iter().filter(|arrived| !own(arrived)).cloned().collect()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Trust {
    fn user(&self, peer: &Peer, headers: &HeaderMap) -> Option<User> {
        let Some((leaf, intermediates)) = peer.certificates.split_first() else {
            let token = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
            return tokens::user(token);
        };
        let now = UnixTime::now();
        if self.front_proxy.verify(leaf, intermediates, now).is_ok() {
            return told(headers, "x-remote-");
        }
        let verified = self.clients.verify(leaf, intermediates, now).ok()?;
        let own = || User::clone(&verified.caller.user);
        Some(told(headers, "impersonate-").map_or_else(own, with_groups))
    }
}

/// Whoever impersonates a service account and says no groups gets those that follow from its name.
fn with_groups(mut user: User) -> User {
    if let ([], Some((namespace, _))) = (user.groups.as_slice(), accounts::split(&user.name)) {
        user.groups = accounts::groups(namespace).into();
    }
    user.authenticated()
}

/// The user that headers of the given prefix tell of.
fn told(headers: &HeaderMap, prefix: &str) -> Option<User> {
    let values = |name: &str| -> Vec<String> {
        let values = headers.get_all(format!("{prefix}{name}")).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    };
    let extra_prefix = format!("{prefix}extra-");
    let extra = headers.keys().filter_map(|name| {
        let key = name.as_str().strip_prefix(&extra_prefix)?;
        let decoded = percent_decode_str(key).decode_utf8_lossy().into_owned();
        Some((decoded, values(&format!("extra-{key}"))))
    });
    Some(User {
        name: values("user").into_iter().next()?,
        uid: values("uid").into_iter().next(),
        groups: values("group"),
        extra: extra.collect(),
    })
}

fn remember(seen: &Seen, peer: &Peer, request: &Request<Incoming>) {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.len() < MAX_SEEN {
        seen.push(Arrived {
            method: request.method().clone(),
            target: request
                .uri()
                .path_and_query()
                .map(ToString::to_string)
                .unwrap_or_default(),
            headers: request.headers().clone(),
            certificate: !peer.certificates.is_empty(),
        });
    }
}

fn unauthorized() -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response
}
