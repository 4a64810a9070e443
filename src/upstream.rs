//! The way to kube-apiserver. [`Upstream::forward`] takes an `Admitted`, and nothing else is ever forwarded.

mod ask;
mod client;
mod credentials;
mod forward;
mod headers;
mod health;
mod metrics;
mod tunnel;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;

pub use self::{
    ask::Line,
    client::{Affinity, Carrier, Client, ClientError, Servers, Streaming},
    credentials::{Files, credentials},
    forward::Forwarded,
    metrics::Metrics,
    tunnel::{Tunnel, Unjoined},
};

/// How upstream learns who the caller is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Identity {
    /// Headers that upstream believes because the gate shows a certificate of its request-header CA. `uid` says
    /// whether upstream reads a UID there; if it does not, none is sent.
    FrontProxy { uid: bool },
    /// Impersonation headers on top of the gate's own credentials.
    Impersonate,
    /// Not at all: upstream sees the gate, which is then the only guard.
    Own,
}

/// The ways to upstream, told apart by what the gate shows there.
#[derive(Clone, Debug)]
pub struct Clients {
    /// The gate's own credentials.
    pub own: Client,
    /// What makes upstream believe who the caller is: in mode FrontProxy its certificate, else the gate's own.
    pub told: Client,
    /// Nothing: for callers that go with a token of their own. On a connection with the gate's certificate that would
    /// count, and not the token.
    pub bare: Client,
}

/// kube-apiserver, and how the gate speaks to it.
#[derive(Clone, Debug)]
pub struct Upstream {
    clients: Arc<ArcSwap<Clients>>,
    identity: Identity,
    /// Until the head of an answer is there.
    patience: Duration,
    metrics: Metrics,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot use the upstream credentials: {0}")]
    Credentials(#[source] Box<kube::Error>),
    #[error("{0}; set upstream.kubeconfig, or run in a pod with a service account")]
    InCluster(#[source] kube::config::InClusterError),
    #[error("cannot use the kubeconfig {}: {source}", path.display())]
    Kubeconfig {
        path: PathBuf,
        source: Box<kube::config::KubeconfigError>,
    },
    #[error("the kubeconfig sets insecure-skip-tls-verify; scopegate does not speak to an API server it cannot verify")]
    Insecure,
    #[error("the kubeconfig sets proxy-url, which scopegate does not support")]
    Proxy,
    #[error("the API server address {0:?} is not an https URL")]
    Url(String),
}

impl Upstream {
    pub fn new(clients: Arc<ArcSwap<Clients>>, identity: Identity, patience: Duration, metrics: Metrics) -> Self {
        Self {
            clients,
            identity,
            patience,
            metrics,
        }
    }
}

impl Error {
    fn kubeconfig(path: &Path, source: kube::config::KubeconfigError) -> Self {
        Self::Kubeconfig {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }
}

/// An error with all its causes in one line: the outermost alone seldom says what happened.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
