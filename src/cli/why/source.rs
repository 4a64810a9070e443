//! Where answers come from: a running gate, or the rules and a file of objects.

use std::{
    io::Read as _,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use http::{Request, StatusCode, Uri, uri::Scheme};
use http_body_util::{BodyExt as _, Limited};
use kube::{client::Body, config::AuthInfo};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::objects;
use crate::{
    authorizer::{Authorizer, ExtraRules, Fallback},
    config::{Config, Features, KubernetesVersion},
    rules::Modes,
    upstream::chain,
    why::Known,
};

/// A running gate unless --objects names a file.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// The admin port of a running gate [default: http://127.0.0.1:8444]
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "objects"])]
    admin: Option<Uri>,
    /// A gate's configuration file: whose admin port to ask or, with --objects, whose rules to use
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A file of objects to answer from instead, as `kubectl get pods,pv,volumeattachments,resourceslices,nodes -A
    /// -o json` or `-o yaml` writes it; - is standard input
    #[arg(long, value_name = "FILE")]
    objects: Option<PathBuf>,
    /// Whose rules to use with --objects, if no --config says it [default: the newest release]
    #[arg(long, value_name = "VERSION", value_parser = version, requires = "objects", conflicts_with = "config")]
    kubernetes_version: Option<KubernetesVersion>,
    /// The CA of the admin port's certificate, where that is https
    #[arg(long, value_name = "FILE", conflicts_with = "objects")]
    cacert: Option<PathBuf>,
    /// Your client certificate for the admin port
    #[arg(long, value_name = "FILE", requires = "key", conflicts_with = "objects")]
    cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "FILE", requires = "cert", conflicts_with = "objects")]
    key: Option<PathBuf>,
}

pub(super) enum Opened {
    Gate(Gate),
    Objects(Box<Authorizer>, Known),
}

/// The admin port of a running gate.
pub(super) struct Gate {
    client: Box<kube::Config>,
}

const DEFAULT_ADMIN: &str = "http://127.0.0.1:8444";
const ANSWER: Duration = Duration::from_secs(10);
/// All the nodes of a large cluster, each with a path.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

impl Source {
    pub(super) fn open(self) -> anyhow::Result<Opened> {
        let config = self.config.as_deref().map(Config::load).transpose()?;
        let Some(file) = self.objects else {
            return Ok(Opened::Gate(Gate::new(self, config.as_ref())?));
        };
        let authorizer = match config {
            Some(config) => config.authorizer,
            None => authorizer(self.kubernetes_version.unwrap_or(KubernetesVersion::NEWEST)),
        };
        let (name, text) = read(&file)?;
        let known = objects::read(&name, &text).with_context(|| format!("cannot use {name}"))?;
        Ok(Opened::Objects(Box::new(authorizer), known))
    }
}

impl Gate {
    fn new(source: Source, config: Option<&Config>) -> anyhow::Result<Self> {
        let url = match (source.admin, config) {
            (Some(url), _) => url,
            (None, Some(config)) => url(&config.admin)?,
            (None, None) => Uri::from_static(DEFAULT_ADMIN),
        };
        let secure = match url.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => bail!("--admin is like {DEFAULT_ADMIN}, not {url}"),
        };
        if secure && source.cacert.is_none() {
            bail!("{url} is asked over TLS: --cacert must say whose certificates it can have");
        }
        if !secure && (source.cacert.is_some() || source.cert.is_some()) {
            bail!("{url} is asked without TLS: --cacert, --cert and --key are for https");
        }
        let text = |path: PathBuf| path.display().to_string();
        let mut client = kube::Config::new(url);
        client.root_cert_file = source.cacert;
        client.auth_info = AuthInfo {
            client_certificate: source.cert.map(text),
            client_key: source.key.map(text),
            ..AuthInfo::default()
        };
        client.default_retry = false;
        Ok(Self {
            client: Box::new(client),
        })
    }

    /// Asks for JSON, whatever is printed in the end: so one version of the words is enough.
    pub(super) fn ask<T: DeserializeOwned>(self, path: &str, query: &str) -> anyhow::Result<T> {
        let url = self.client.cluster_url.clone();
        let target = format!("{path}?{query}&format=json");
        let answer = crate::cli::runtime()?.block_on(async { timeout(ANSWER, self.get(&target)).await });
        let (code, body) = answer
            .with_context(|| format!("{url} did not answer within {} s", ANSWER.as_secs()))?
            .with_context(|| format!("cannot ask {url}; is the gate running, and is that its admin port?"))?;
        match code {
            StatusCode::OK => serde_json::from_slice(&body).with_context(|| format!("cannot read the answer of {url}")),
            code => bail!("{url} answered {code}: {}", String::from_utf8_lossy(&body).trim_end()),
        }
    }

    async fn get(self, target: &str) -> anyhow::Result<(StatusCode, bytes::Bytes)> {
        let client = kube::Client::try_from(*self.client)?;
        let request = Request::get(target).body(Body::empty())?;
        let response = client
            .send(request)
            .await
            .map_err(|error| anyhow::anyhow!(chain(&error)))?;
        let code = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
        let body = body.map_err(anyhow::Error::from_boxed)?;
        Ok((code, body.to_bytes()))
    }
}

/// Where a gate with this configuration is asked, on its own machine.
fn url(admin: &crate::config::Admin) -> anyhow::Result<Uri> {
    let ip = match admin.address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    if admin.address.port() == 0 {
        bail!("admin.address has port 0, so --admin must say where the gate listens");
    }
    let scheme = if admin.tls.is_some() { "https" } else { "http" };
    let address = SocketAddr::new(ip, admin.address.port());
    Ok(format!("{scheme}://{address}").parse()?)
}

/// As a configuration for this release makes it that says nothing else.
fn authorizer(version: KubernetesVersion) -> Authorizer {
    Authorizer {
        nodes: Fallback::Deny,
        node_rules: Features::of(version).node_rules,
        modes: Modes::DEFAULT,
        bootstrap: Fallback::Upstream,
        others: Fallback::Deny,
        extra: ExtraRules::NONE,
        masters: Vec::new(),
        caller_known_upstream: true,
    }
}

fn read(file: &Path) -> anyhow::Result<(String, String)> {
    if file == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.context("cannot read standard input")?;
        return Ok(("standard input".to_owned(), text));
    }
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    Ok((name, text))
}

fn version(text: &str) -> Result<KubernetesVersion, String> {
    let (oldest, newest) = (KubernetesVersion::OLDEST, KubernetesVersion::NEWEST);
    text.parse().map_err(|()| format!("one of {oldest} to {newest}"))
}
