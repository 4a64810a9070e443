//! Where answers come from: a running gate, or the rules and a file of objects.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::objects;
use crate::{
    authorizer::{Authorizer, ExtraRules, Fallback},
    cli::gate::{Gate, GateArgs},
    config::{Features, KubernetesVersion},
    rules::Modes,
    why::Known,
};

/// A running gate unless --objects names a file.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    #[command(flatten)]
    gate: GateArgs,
    /// A file of objects to answer from instead, as `kubectl get pods,pv,volumeattachments,resourceslices,nodes -A
    /// -o json` or `-o yaml` writes it, with the rules of --config; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["admin", "token_file", "cacert", "cert", "key"])]
    objects: Option<PathBuf>,
    /// Whose rules to use with --objects, if no --config says it [default: the newest release]
    #[arg(long, value_name = "VERSION", value_parser = version, requires = "objects", conflicts_with = "config")]
    kubernetes_version: Option<KubernetesVersion>,
}

pub(super) enum Opened {
    Gate(Gate),
    Objects(Box<Authorizer>, Known),
}

impl Source {
    pub(super) fn open(self) -> anyhow::Result<Opened> {
        let Some(file) = self.objects else {
            return Ok(Opened::Gate(self.gate.open()?));
        };
        let config = self.gate.config()?;
        let authorizer = match config {
            Some(config) => config.authorizer,
            None => authorizer(self.kubernetes_version.unwrap_or(KubernetesVersion::NEWEST)),
        };
        let (name, text) = read(&file)?;
        let known = objects::read(&name, &text).with_context(|| format!("cannot use {name}"))?;
        Ok(Opened::Objects(Box::new(authorizer), known))
    }
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
