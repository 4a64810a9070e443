//! A folder with everything a gate before the stand-in needs: PKI, kubeconfigs, configuration.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use tempfile::TempDir;

use super::{cluster, standin::Standin, upstream::Upstream};
use crate::pki::{Pki, Usage};

/// The stand-in, running, and a folder for its gate. Both go when this is dropped.
#[derive(Debug)]
pub struct Site {
    pub pki: Pki,
    pub upstream: Upstream,
    dir: TempDir,
}

/// `upstream.identity` of each mode, with the files of a site.
pub const FRONT_PROXY: &str = "{mode: FrontProxy, certFile: front-proxy-client.crt, keyFile: front-proxy-client.key}";
pub const IMPERSONATE: &str = "{mode: Impersonate}";
pub const OWN: &str = "{mode: Own}";

/// A kubeconfig for a server, in a folder with `server-ca.crt`; with the pair of a name, or without credentials.
pub fn kubeconfig(server: SocketAddr, pair: Option<&str>) -> String {
    let user = pair.map_or(String::new(), |name| {
        format!("client-certificate: {name}.crt, client-key: {name}.key")
    });
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         current-context: c\n\
         contexts:\n\
         - {{name: c, context: {{cluster: c, user: u}}}}\n\
         clusters:\n\
         - {{name: c, cluster: {{server: \"https://{server}\", certificate-authority: server-ca.crt}}}}\n\
         users:\n\
         - {{name: u, user: {{{user}}}}}\n"
    )
}

/// A gate configuration in a folder with a PKI and `gate.kubeconfig`: free loopback ports, and whatever `more` adds at the
/// top level.
pub fn configuration(identity: &str, more: &str) -> String {
    format!(
        "apiVersion: scopegate.dev/v1alpha1\n\
         kind: GateConfiguration\n\
         serving:\n\
         \x20 address: 127.0.0.1:0\n\
         \x20 certFile: server.crt\n\
         \x20 keyFile: server.key\n\
         \x20 clientCAFile: client-ca.crt\n\
         admin:\n\
         \x20 address: 127.0.0.1:0\n\
         \x20 tokenFile: admin.token\n\
         upstream:\n\
         \x20 kubeconfig: gate.kubeconfig\n\
         \x20 identity: {identity}\n\
         {more}"
    )
}

impl Site {
    pub async fn start() -> anyhow::Result<Self> {
        let pki = Pki::new()?;
        let upstream = Upstream::start(&pki, Standin::new(cluster::objects())).await?;
        let dir = tempfile::Builder::new()
            .prefix("scopegate-")
            .tempdir()
            .context("cannot make a folder for the demo")?;
        pki.write(dir.path(), &["localhost", "127.0.0.1"], cluster::NODES)?;
        let gate = pki.client_ca.issue("scopegate", None, Usage::Client)?;
        gate.write(dir.path(), "gate")?;
        let site = Self { pki, upstream, dir };
        site.kubeconfig("gate", site.upstream.address)?;
        Ok(site)
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes `<user>.kubeconfig`, with the pair of that name if there is one.
    pub fn kubeconfig(&self, user: &str, server: SocketAddr) -> anyhow::Result<PathBuf> {
        let pair = self.file(&format!("{user}.crt")).exists().then_some(user);
        self.write(&format!("{user}.kubeconfig"), &kubeconfig(server, pair))
    }

    /// Writes `gate.yaml`.
    pub fn configuration(&self, identity: &str, more: &str) -> anyhow::Result<PathBuf> {
        self.write("gate.yaml", &configuration(identity, more))
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.file(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}
