//! The admin port of a running gate, as commands speak to it.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context as _, bail};
use http::{
    HeaderValue, Method, Request, StatusCode, Uri,
    header::{AUTHORIZATION, CONTENT_TYPE},
    response::Parts,
    uri::Scheme,
};
use http_body_util::{BodyExt as _, Limited};
use kube::{client::Body, config::AuthInfo};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::{
    api::printable,
    config::Config,
    observe::admin::{CHALLENGE, OperatorToken, PROOF},
    upstream::chain,
};

/// Where the gate is, and who asks.
#[derive(Debug, clap::Args)]
pub(super) struct GateArgs {
    /// The admin port of a running gate [default: http://127.0.0.1:8444]
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    admin: Option<Uri>,
    /// A gate's configuration file, which says where its admin port is
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The token of the admin port, where that is http and something is changed [default: admin.tokenFile of --config]
    #[arg(long, value_name = "FILE", conflicts_with = "cacert")]
    token_file: Option<PathBuf>,
    /// The CA of the admin port's certificate, where that is https
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// Your client certificate for the admin port
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

/// The admin port of a running gate.
#[derive(Clone)]
pub(super) struct Gate {
    client: Box<kube::Config>,
    token_file: Option<PathBuf>,
}

const DEFAULT_ADMIN: &str = "http://127.0.0.1:8444";
/// Longer than a change may take to be kept.
const ANSWER: Duration = Duration::from_secs(60);
/// All the nodes of a large cluster, each with a path.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

impl GateArgs {
    /// What `--config` names, if it is given.
    pub(super) fn config(&self) -> anyhow::Result<Option<Config>> {
        Ok(self.config.as_deref().map(Config::load).transpose()?)
    }

    pub(super) fn has_config(&self) -> bool {
        self.config.is_some()
    }

    pub(super) fn open(self) -> anyhow::Result<Gate> {
        let config = self.config()?;
        let url = match (&self.admin, &config) {
            (Some(url), _) => url.clone(),
            (None, Some(config)) => url(&config.admin)?,
            (None, None) => Uri::from_static(DEFAULT_ADMIN),
        };
        let token_file = self.token_file.or(config.and_then(|config| config.admin.token));
        let secure = match url.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => bail!("--admin is like {DEFAULT_ADMIN}, not {url}"),
        };
        if secure && self.cacert.is_none() {
            bail!("{url} is asked over TLS: --cacert must say whose certificates it can have");
        }
        if !secure && (self.cacert.is_some() || self.cert.is_some()) {
            bail!("{url} is asked without TLS: --cacert, --cert and --key are for https");
        }
        let text = |path: PathBuf| path.display().to_string();
        let mut client = kube::Config::new(url);
        client.root_cert_file = self.cacert;
        client.auth_info = AuthInfo {
            client_certificate: self.cert.map(text),
            client_key: self.key.map(text),
            ..AuthInfo::default()
        };
        client.default_retry = false;
        Ok(Gate {
            client: Box::new(client),
            token_file,
        })
    }
}

impl Gate {
    /// Asks for JSON, whatever is printed in the end: so one version of the words is enough.
    pub(super) fn ask<T: DeserializeOwned>(self, path: &str, query: &str) -> anyhow::Result<T> {
        self.send(Request::get(format!("{path}?{query}&format=json")), String::new())
    }

    /// Sends JSON, or nothing, as an operator, and reads JSON.
    pub(super) fn change<T: DeserializeOwned>(self, method: Method, target: &str, body: String) -> anyhow::Result<T> {
        let Some(path) = &self.token_file else {
            return self.send(Request::builder().method(method).uri(target), body);
        };
        let text = std::fs::read(path).with_context(|| format!("cannot read the token in {}", path.display()))?;
        let token = OperatorToken::parse(&text).with_context(|| format!("cannot use {}", path.display()))?;
        self.prove(&token)?;
        let bearer = format!("Bearer {}", token.reveal());
        self.send(
            Request::builder()
                .method(method)
                .uri(target)
                .header(AUTHORIZATION, bearer),
            body,
        )
    }

    /// Whoever listens there must have the token already; else it would only get it from here.
    fn prove(&self, token: &OperatorToken) -> anyhow::Result<()> {
        let challenge = uuid::Uuid::new_v4().to_string();
        let request = Request::get("/livez")
            .header(CHALLENGE, &challenge)
            .body(Body::empty())?;
        let (head, _) = self.clone().answer(request)?;
        let proof = head.headers.get(PROOF).map(HeaderValue::as_bytes).unwrap_or_default();
        if token.is_proved(challenge.as_bytes(), proof) {
            return Ok(());
        }
        bail!(
            "{} is not the gate whose token this is; nothing was sent to it",
            self.client.cluster_url
        )
    }

    fn send<T: DeserializeOwned>(self, request: http::request::Builder, body: String) -> anyhow::Result<T> {
        let url = self.client.cluster_url.clone();
        let request = request
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body.into_bytes()))?;
        let (head, body) = self.answer(request)?;
        match head.status {
            StatusCode::OK => serde_json::from_slice(&body).with_context(|| format!("cannot read the answer of {url}")),
            code => bail!("{url} answered {code}: {}", lines(&body)),
        }
    }

    fn answer(self, request: Request<Body>) -> anyhow::Result<(Parts, bytes::Bytes)> {
        let url = self.client.cluster_url.clone();
        let answer = super::runtime()?.block_on(async { timeout(ANSWER, self.exchange(request)).await });
        answer
            .with_context(|| format!("{url} did not answer within {} s", ANSWER.as_secs()))?
            .with_context(|| format!("cannot ask {url}; is the gate running, and is that its admin port?"))
    }

    async fn exchange(self, request: Request<Body>) -> anyhow::Result<(Parts, bytes::Bytes)> {
        let client = kube::Client::try_from(*self.client)?;
        let response = client
            .send(request)
            .await
            .map_err(|error| anyhow::anyhow!(chain(&error)))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, MAX_ANSWER).collect().await;
        let body = body.map_err(anyhow::Error::from_boxed)?;
        Ok((head, body.to_bytes()))
    }
}

/// What somebody else has written is shown, and does not steer the terminal.
fn lines(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let lines: Vec<String> = text
        .trim_end()
        .lines()
        .map(|line| printable(line).to_string())
        .collect();
    lines.join("\n")
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
