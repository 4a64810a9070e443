//! Who may do what at the admin port, and what operators change there.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, header};
use rustls::pki_types::UnixTime;

use crate::{
    caller::{Caller, Kind},
    identity::{Authenticator, Presented},
    observe::admin::{Access, CHALLENGE, Desk, Operator, OperatorToken},
    pipeline::ward::Ward,
    quarantine::{Change, List},
};

/// What operators are known by: certificates where there is TLS, else the token.
#[derive(Clone)]
pub(super) struct Operators {
    pub(super) authenticator: Option<Authenticator>,
    pub(super) token: Option<Arc<ArcSwap<OperatorToken>>>,
    pub(super) ward: Arc<Ward>,
}

/// Where operators say who is in quarantine.
pub(super) struct QuarantineDesk(pub(super) Arc<Ward>);

/// Longer than any challenge of a command.
const MAX_CHALLENGE: usize = 128;

impl Operators {
    pub(super) fn access<B>(&self, presented: &Presented, request: &Request<B>, address: SocketAddr) -> Access {
        match &self.authenticator {
            Some(authenticator) => self.by_certificate(authenticator, presented, address),
            // A page from elsewhere that a browser on this machine shows speaks to a name which was made to mean this machine.
            None if !is_meant(request) => Access::Probe,
            None => self.by_token(request, address),
        }
    }

    /// Nodes are no operators, even if their certificates are of the same CA; nor is anybody who is in quarantine.
    fn by_certificate(&self, authenticator: &Authenticator, presented: &Presented, address: SocketAddr) -> Access {
        match authenticator.by_certificate(presented, UnixTime::now()) {
            Ok(caller) if caller.kind == Kind::Other && !self.ward.current().is_about(&caller) => {
                Access::Operator(Operator {
                    name: caller.user.name.clone(),
                    caller: Some(caller),
                    address,
                })
            }
            _ => Access::Probe,
        }
    }

    /// Without TLS the admin port is on loopback: whoever is on this machine may look, and whoever can read the token may do more.
    fn by_token<B>(&self, request: &Request<B>, address: SocketAddr) -> Access {
        match &self.token {
            Some(token) if token.load().is_in(request.headers()) => Access::Operator(Operator {
                name: "the holder of admin.tokenFile".to_owned(),
                caller: None,
                address,
            }),
            _ => Access::Local,
        }
    }

    /// What shows a client that it has come to the right place, if it wants to know.
    pub(super) fn proof<B>(&self, request: &Request<B>) -> Option<HeaderValue> {
        let challenge = request.headers().get(CHALLENGE)?.as_bytes();
        let proof = self.token.as_ref()?.load().prove(challenge);
        (challenge.len() <= MAX_CHALLENGE).then_some(proof)?.parse().ok()
    }
}

impl Desk for QuarantineDesk {
    fn list(&self) -> Option<List> {
        self.0.is_known().then(|| self.0.list())
    }

    fn doubt(&self) -> Option<String> {
        self.0.doubt()
    }

    fn holds(&self, caller: &Caller) -> bool {
        self.0.current().is_about(caller)
    }

    fn lasts(&self) -> bool {
        self.0.lasts()
    }

    fn change(&self, change: Change) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { self.0.change(change).await.map_err(|error| error.to_string()) })
    }
}

/// Whether a request is for this machine by an address, or by the name that it has everywhere.
fn is_meant<B>(request: &Request<B>) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().host()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_address = |text: &str| text.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    // HTTP/1.0 need not say.
    host.is_empty() || name == "localhost" || is_address(name) || is_address(host)
}
