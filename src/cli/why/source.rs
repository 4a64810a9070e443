//! Where answers come from: a running gate, or the rules and a file of objects.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::objects;
use crate::{
    authorizer::{Authorizer, ExtraRules, Fallback, Profile, SeedRules},
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
    /// -o json` or `-o yaml` writes it, of a garden also its seeds, shoots, managedseeds, projects, bindings, backups and
    /// controllerinstallations, with the rules of --config; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["admin", "token_file", "cacert", "cert", "key"])]
    objects: Option<PathBuf>,
    /// Whose rules to use with --objects, if no --config says it [default: the newest release]
    #[arg(long, value_name = "VERSION", value_parser = version, requires = "objects", conflicts_with = "config")]
    kubernetes_version: Option<KubernetesVersion>,
    /// Which rules for seeds to use with --objects, if no --config says it: those of Gardener's document, or of Gardener today
    /// [default: current if there are seeds or shoots among the objects, else none]
    #[arg(
        long,
        value_enum,
        value_name = "PROFILE",
        requires = "objects",
        conflicts_with = "config"
    )]
    seeds: Option<Seeds>,
}

/// As callers.seeds.profile has them.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Seeds {
    Document,
    Current,
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
        let mut authorizer = match config {
            Some(config) => config.authorizer,
            None => authorizer(
                self.kubernetes_version.unwrap_or(KubernetesVersion::NEWEST),
                match self.seeds {
                    Some(Seeds::Document) => Profile::Document,
                    Some(Seeds::Current) | None => Profile::Current,
                },
            ),
        };
        let (name, text) = read(&file)?;
        let profile = authorizer.seeds.map(|rules| rules.profile);
        let mut known = objects::read(&name, &text, profile).with_context(|| format!("cannot use {name}"))?;
        // A cluster that is no garden has no seeds, unless somebody says so.
        let said = self.seeds.is_some() || self.gate.has_config();
        let is_garden = known.seeds.as_ref().is_some_and(|seeds| seeds.graph.sizes().nodes > 0);
        if !said && !is_garden {
            authorizer.seeds = None;
            known.seeds = None;
        }
        Ok(Opened::Objects(Box::new(authorizer), known))
    }
}

/// As a configuration for this release makes it that says nothing else but that there are seeds.
fn authorizer(version: KubernetesVersion, profile: Profile) -> Authorizer {
    Authorizer {
        nodes: Fallback::Deny,
        seeds: Some(SeedRules {
            profile,
            fallback: Fallback::Upstream,
        }),
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
