//! A gardenlet that is deployed by hand: which seed it makes, and what it needs for that.

use serde::Deserialize;

use super::{
    Asserts, Edge, Meta, Watched,
    config::{GardenletConfiguration, Helm, Lenient, OciRepository},
    tell, watched,
};
use crate::{
    api::garden,
    graph::{Begins, Facts, Key, Kind, Template},
};

#[derive(Clone, Debug, Deserialize)]
pub struct Gardenlet {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
struct Spec {
    config: Option<Lenient<GardenletConfiguration>>,
    deployment: Option<Deployment>,
}

#[derive(Clone, Debug, Deserialize)]
struct Deployment {
    helm: Option<Helm>,
}

impl Asserts for Gardenlet {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if garden::is_self_hosted(self.metadata.name()) {
            return;
        }
        let (namespace, name) = (self.metadata.namespace(), self.metadata.name());
        tell(visit, Kind::Seed, "", Some(name), Template::SAME_NAME.field());
        if !self.is_readable() {
            return;
        }
        let config = self.config().and_then(Lenient::read);
        if let Some(seed) = config.and_then(GardenletConfiguration::seed) {
            seed.tell_backup(visit, Template::GARDENLET_BACKUP, Template::GARDENLET_BACKUP_SECRET);
        }
        if let Some(repository) = self.repository() {
            let (ca_bundle, pull_secret) = (Template::GARDENLET_CA_BUNDLE, Template::GARDENLET_PULL_SECRET);
            repository.tell(visit, namespace, ca_bundle, pull_secret);
        }
    }

    fn facts(&self) -> Option<Facts> {
        let can_begin = !garden::is_self_hosted(self.metadata.name()) && self.is_readable();
        Some(Facts::Gardenlet {
            renews: self.metadata.renews(),
            begins: if can_begin { Begins::Token } else { Begins::None },
        })
    }
}

watched! { Gardenlet, }

impl Gardenlet {
    fn config(&self) -> Option<&Lenient<GardenletConfiguration>> {
        self.spec.as_ref()?.config.as_ref()
    }

    /// Whether it is known how the gardenlet is configured. One that has nothing to say is.
    fn is_readable(&self) -> bool {
        self.config().is_none_or(|config| config.read().is_some())
    }

    fn repository(&self) -> Option<&OciRepository> {
        let helm = self.spec.as_ref()?.deployment.as_ref()?.helm.as_ref()?;
        helm.oci_repository.as_ref()
    }
}
