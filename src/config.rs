//! The configuration, checked: whatever is in a [`Config`] can be used as it stands.
//!
//! [`Config::load`] reads the YAML that people write and reports every problem in it at once. `config/example.yaml`
//! explains the keys.

mod features;
mod file;
mod section;

use std::{
    fmt, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use http::Uri;

pub use self::features::{Features, KubernetesVersion};
use crate::{
    admission::Admission,
    authorizer::{Authorizer, acting_as::ActingAs},
    body,
    observe::{audit, log},
    pipeline::{live, reviews, shares, ward},
    server, upstream, watch,
};

#[derive(Clone, Debug)]
pub struct Config {
    pub serving: Serving,
    pub admin: Admin,
    pub authentication: Authentication,
    pub upstream: Upstream,
    pub authorizer: Authorizer,
    /// Who may act as whom.
    pub acting_as: ActingAs,
    pub admission: Admission,
    pub graph: Graph,
    /// How long upstream's word on who may do what counts.
    pub reviews: reviews::Remember,
    pub kubernetes_version: KubernetesVersion,
    pub features: Features,
    /// Where it is kept who is in quarantine.
    pub quarantine: ward::Place,
    pub audit: audit::Config,
    pub log: log::Config,
}

/// The listener that kubelets use.
#[derive(Clone, Debug)]
pub struct Serving {
    pub address: SocketAddr,
    pub tls: TlsFiles,
    /// How long connections are still accepted after a stop was asked for and readiness has failed.
    pub shutdown_delay: Duration,
    /// How long running requests may take to finish after a stop was asked for.
    pub drain_timeout: Duration,
    /// How often files are looked at for changes.
    pub reload_interval: Duration,
    pub limits: server::Limits,
    pub body_limits: body::Limits,
    pub caller_limits: shares::Limits,
}

/// Who is believed besides the holders of certificates.
#[derive(Clone, Debug)]
pub struct Authentication {
    /// Whether bearer tokens are shown to upstream.
    pub token_review: bool,
    /// How long upstream's answer about a token is remembered.
    pub token_cache_ttl: Duration,
}

/// What nodes are related to.
#[derive(Clone, Copy, Debug)]
pub struct Graph {
    pub watch: watch::Config,
    /// How long a refusal waits for the graph to catch up.
    pub lag_wait: Duration,
    /// What a node may make the gate ask upstream before it is refused.
    pub live: live::Limits,
    /// How long a watch may go on after what had allowed it is gone.
    pub revoke_within: Duration,
}

/// The listener that operators use.
#[derive(Clone, Debug)]
pub struct Admin {
    pub address: SocketAddr,
    /// Required unless the address is loopback.
    pub tls: Option<TlsFiles>,
    /// What operators on this machine show who want to change something; with TLS they show certificates instead.
    pub token: Option<PathBuf>,
}

/// A serving pair, and the CA whose client certificates are believed.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub client_ca: PathBuf,
    /// Which of its certificates it has taken back.
    pub client_crl: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Upstream {
    /// Absent: the service account of the pod.
    pub kubeconfig: Option<PathBuf>,
    /// Instead of the one server that the credentials name.
    pub servers: Vec<Uri>,
    /// Until the head of an answer is there.
    pub response_timeout: Duration,
    pub identity: Identity,
}

impl Upstream {
    /// The files that clients for it are made of.
    pub fn files(&self) -> upstream::Files {
        upstream::Files {
            kubeconfig: self.kubeconfig.clone(),
            servers: self.servers.clone(),
            front_proxy: match &self.identity {
                Identity::FrontProxy { certificate, key } => Some((certificate.clone(), key.clone())),
                Identity::Impersonate | Identity::Own => None,
            },
        }
    }
}

/// How upstream learns who the caller is.
#[derive(Clone, Debug)]
pub enum Identity {
    FrontProxy { certificate: PathBuf, key: PathBuf },
    Impersonate,
    Own,
}

impl Identity {
    /// As it is written in the file.
    pub fn mode(&self) -> &'static str {
        match self {
            Self::FrontProxy { .. } => "FrontProxy",
            Self::Impersonate => "Impersonate",
            Self::Own => "Own",
        }
    }
}

/// Something in the file that has to be put right.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// Keys joined by dots, e.g. `serving.certFile`.
    pub path: String,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} has {} {}:\n{}", path.display(), problems.len(), plural(problems), list(problems))]
    Problems { path: PathBuf, problems: Vec<Problem> },
    #[error("cannot read the configuration {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not YAML: {message}", path.display())]
    Yaml { path: PathBuf, message: String },
}

impl Config {
    /// How upstream is told who the caller is.
    pub fn told_upstream(&self) -> upstream::Identity {
        match self.upstream.identity {
            Identity::FrontProxy { .. } => upstream::Identity::FrontProxy {
                uid: self.features.front_proxy_uid,
            },
            Identity::Impersonate => upstream::Identity::Impersonate,
            Identity::Own => upstream::Identity::Own,
        }
    }

    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        let value: serde_json::Value = serde_saphyr::from_str(&text).map_err(|error| Error::Yaml {
            path: path.to_owned(),
            message: error.to_string(),
        })?;
        // Relative paths in the file mean the same wherever the gate is started from.
        let base = path.parent().unwrap_or(Path::new(""));
        file::check(value, base).map_err(|problems| Error::Problems {
            path: path.to_owned(),
            problems,
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n      hint: {hint}"),
            None => Ok(()),
        }
    }
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| format!("  - {problem}")).collect();
    lines.join("\n")
}

fn plural(problems: &[Problem]) -> &'static str {
    match problems.len() {
        1 => "problem",
        _ => "problems",
    }
}

#[cfg(test)]
mod tests;
