//! The way to kube-apiserver. [`Upstream::forward`] takes an `Admitted`, and nothing else is ever forwarded.

mod ask;
mod client;
mod forward;
mod headers;
mod metrics;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arc_swap::ArcSwap;
use kube::config::{KubeConfigOptions, Kubeconfig};

pub use self::{client::Client, metrics::Metrics};

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

/// kube-apiserver, and how the gate speaks to it.
#[derive(Clone, Debug)]
pub struct Upstream {
    client: Arc<ArcSwap<Client>>,
    identity: Identity,
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
    pub fn new(client: Arc<ArcSwap<Client>>, identity: Identity, metrics: Metrics) -> Self {
        Self {
            client,
            identity,
            metrics,
        }
    }
}

/// The gate's own credentials: of a kubeconfig, else of the service account of the pod it runs in.
pub async fn credentials(kubeconfig: Option<&Path>) -> Result<kube::Config, Error> {
    let mut config = match kubeconfig {
        None => kube::Config::incluster().map_err(Error::InCluster)?,
        Some(path) => {
            let broken = |source| Error::Kubeconfig {
                path: path.to_owned(),
                source: Box::new(source),
            };
            let file = Kubeconfig::read_from(path).map_err(broken)?;
            let clusters = file.clusters.iter().filter_map(|named| named.cluster.as_ref());
            if clusters.clone().any(|cluster| cluster.proxy_url.is_some()) {
                return Err(Error::Proxy);
            }
            kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                .await
                .map_err(broken)?
        }
    };
    if config.accept_invalid_certs {
        return Err(Error::Insecure);
    }
    // Taken from the environment, where it is meant for other programs.
    config.proxy_url = None;
    Ok(config)
}

/// The same API server, spoken to with a client certificate and nothing of the gate's own credentials.
pub fn with_certificate(config: &kube::Config, certificate: &Path, key: &Path) -> kube::Config {
    let mut config = config.clone();
    config.auth_info = kube::config::AuthInfo {
        client_certificate: Some(certificate.display().to_string()),
        client_key: Some(key.display().to_string()),
        ..kube::config::AuthInfo::default()
    };
    config
}

/// An error with all its causes in one line: the outermost alone seldom says what happened.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
