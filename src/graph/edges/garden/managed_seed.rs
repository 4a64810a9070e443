//! A shoot that becomes a seed: whose shoot it is, and what its gardenlet is to begin with.

use serde::Deserialize;

use super::{
    Asserts, Edge, LocalObjectReference, Meta, Watched,
    config::{GardenletConfiguration, Lenient, SeedTemplate},
    given, tell,
};
use crate::graph::{Begins, Facts, Key, Kind, Template};

#[derive(Clone, Debug, Deserialize)]
pub struct ManagedSeed(SeedConfig);

/// The part of it that is for the seed it becomes, and not for the one that the shoot is on. It would otherwise have to lead through
/// the seed, as nothing may.
#[derive(Clone, Debug, Deserialize)]
struct SeedConfig {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

/// A seed was once given by a template, without a gardenlet of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    gardenlet: Option<GardenletSpec>,
    seed_template: Option<SeedTemplate>,
    shoot: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, Deserialize)]
struct GardenletSpec {
    bootstrap: Option<String>,
    config: Option<Lenient<GardenletConfiguration>>,
}

impl Asserts for ManagedSeed {
    fn key(&self) -> Key<'_> {
        self.meta().key(Self::KIND)
    }

    /// Both ways between it and its seed: the seed may read it, and whoever has the shoot may read the seed. What its gardenlet may
    /// begin with depends on more than itself: see [`crate::graph::Store::settle_bootstrap`].
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let (namespace, name) = (self.meta().namespace(), Some(self.meta().name()));
        tell(visit, Kind::Seed, "", name, Template::SAME_NAME.field());
        tell(visit, Kind::Seed, "", name, Template::NAMED_AFTER.field());
        let Some(spec) = &self.0.spec else { return };
        let shoot = spec.shoot.as_ref().and_then(LocalObjectReference::name);
        tell(visit, Kind::Shoot, namespace, shoot, Template::MANAGED_SHOOT.field());
        if let Some(seed) = spec.configured() {
            seed.tell_backup(visit, Template::MANAGED_BACKUP, Template::MANAGED_BACKUP_SECRET);
        }
        if let Some(seed) = &spec.seed_template {
            seed.tell_backup(visit, Template::TEMPLATE_BACKUP, Template::TEMPLATE_BACKUP_SECRET);
        }
    }

    fn facts(&self) -> Option<Facts> {
        Some(Facts::ManagedSeed {
            renews: self.meta().renews(),
            begins: self.0.spec.as_ref().map_or(Begins::None, Spec::begins),
        })
    }

    fn part(&self) -> Option<&dyn Asserts> {
        let spec = self.0.spec.as_ref()?;
        let mut seeds = spec.configured().into_iter().chain(&spec.seed_template);
        seeds.any(SeedTemplate::has_resources).then_some(&self.0)
    }
}

impl Watched for ManagedSeed {
    const KIND: Kind = Kind::ManagedSeed;

    fn meta(&self) -> &Meta {
        &self.0.metadata
    }
}

impl Asserts for SeedConfig {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Kind::SeedConfig)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let name = Some(self.metadata.name());
        tell(visit, Kind::Seed, "", name, Template::SAME_NAME.field());
        let Some(spec) = &self.spec else { return };
        if let Some(seed) = spec.configured() {
            seed.tell_resources(visit, Template::MANAGED_RESOURCE);
        }
        if let Some(seed) = &spec.seed_template {
            seed.tell_resources(visit, Template::TEMPLATE_RESOURCE);
        }
    }
}

impl Spec {
    fn configured(&self) -> Option<&SeedTemplate> {
        self.gardenlet.as_ref()?.config.as_ref()?.read()?.seed()
    }

    /// A gardenlet of which nobody knows how it is configured begins with nothing.
    fn begins(&self) -> Begins {
        let Some(gardenlet) = &self.gardenlet else {
            return Begins::None;
        };
        let is_readable = gardenlet.config.as_ref().is_none_or(|config| config.read().is_some());
        match given(&gardenlet.bootstrap).filter(|_| is_readable) {
            Some("BootstrapToken") => Begins::Token,
            Some("ServiceAccount") => Begins::ServiceAccount,
            _ => Begins::None,
        }
    }
}
