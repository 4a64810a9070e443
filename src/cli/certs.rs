//! `scopegate certs`: a development PKI on disk.

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;

use crate::pki::Pki;

/// Everything is signed by CAs made on the spot, and all keys are written too: fine to try things out with, never for
/// production.
#[derive(Debug, clap::Args)]
pub(super) struct Certs {
    /// Where to write; made if it is not there
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// A node to make a client certificate for; may be repeated
    #[arg(long = "node", value_name = "NAME", default_values = ["node-a", "node-b"])]
    nodes: Vec<String>,
    /// A DNS name or IP address clients reach the gate by; may be repeated
    #[arg(long = "host", value_name = "HOST", default_values = ["localhost", "127.0.0.1", "::1"])]
    hosts: Vec<String>,
    /// Replace a PKI that is already there
    #[arg(long)]
    force: bool,
}

/// What the directory holds besides the nodes' pairs.
const FILES: &[(&str, &str)] = &[
    ("server-ca.crt", "what clients of the gate trust"),
    ("server.crt", "serving.certFile; its key is serving.keyFile"),
    ("client-ca.crt", "serving.clientCAFile"),
    (
        "front-proxy-client.crt",
        "upstream.identity.certFile; its key is upstream.identity.keyFile",
    ),
    ("front-proxy-ca.crt", "kube-apiserver's --requestheader-client-ca-file"),
];

impl Certs {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let marker = self.dir.join("client-ca.key");
        if marker.exists() && !self.force {
            bail!(
                "{} exists; --force makes a new PKI, and every certificate of the old one useless",
                marker.display()
            );
        }
        if let Some(name) = self
            .nodes
            .iter()
            .find(|name| name.is_empty() || name.contains(['/', '\\']))
        {
            bail!("{name:?} cannot be a node name");
        }
        let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        let nodes: Vec<&str> = self.nodes.iter().map(String::as_str).collect();
        Pki::new()?.write(&self.dir, &hosts, &nodes)?;
        anstream::println!("wrote a development PKI to {}", self.dir.display());
        for (file, role) in FILES {
            anstream::println!("  {file:<24} {role}");
        }
        for node in nodes {
            anstream::println!(
                "  {:<24} client certificate of system:node:{node}",
                format!("{node}.crt")
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
