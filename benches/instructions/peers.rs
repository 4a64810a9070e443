//! What surrounds a gate that is counted: a folder with its files, clients as kubelets are, and an API server. They run in another
//! process than the gate, so that they may cost what they like.

/// Kubelets.
mod client;
/// The API server.
mod upstream;

use std::{fs, net::SocketAddr, path::Path};

use anyhow::Result;
use scopegate::{
    demo::site::{FRONT_PROXY, configuration, kubeconfig},
    pki::{Pki, Usage},
};
use tempfile::TempDir;

pub(crate) use self::{
    client::{Client, Http, Watch},
    upstream::Upstream,
};

/// What a kubelet sends with every request, and the host.
pub(crate) const HEADERS: [(&str, &str); 3] = [
    ("accept", "application/json, application/vnd.kubernetes.protobuf"),
    ("accept-encoding", "gzip"),
    ("user-agent", "kubelet/v1.36.3 (linux/amd64) kubernetes/0123456"),
];

/// The files of the gate and of a node.
pub(crate) struct Site(TempDir);

/// As it comes, but for what would have to be waited for: a refusal asks upstream at once, and as often as it wants to. Files are
/// looked at seldom, and silence of upstream is no matter.
const MORE: &str = "\
audit: {path: audit.log}
graph: {staleAfter: 3600s, lagWait: 0s, liveReads: {burst: 1000000, perSecond: 1000000}}
";

impl Site {
    pub(crate) fn new(pki: &Pki, upstream: SocketAddr) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        pki.write(folder.path(), &["localhost", "127.0.0.1"], &["n1"])?;
        let gate = pki.client_ca.issue("scopegate", None, Usage::Client)?;
        gate.write(folder.path(), "gate")?;
        fs::write(
            folder.path().join("gate.kubeconfig"),
            kubeconfig(upstream, Some("gate")),
        )?;
        let configuration =
            configuration(FRONT_PROXY, MORE).replace("serving:\n", "serving:\n  reloadInterval: 300s\n");
        fs::write(folder.path().join("gate.yaml"), configuration)?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        Ok(fs::read(self.path().join(name))?)
    }
}
