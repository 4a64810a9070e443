//! What the configuration of a gardenlet says about the seed that it makes, and where its chart comes from.

use serde::{Deserialize, de::IgnoredAny};

use super::{
    LocalObjectReference, Visit, each,
    reference::{NamedResource, Reference},
};
use crate::{
    api::garden::GARDEN,
    graph::{Kind, Template},
};

/// Something of which the API server does not know the type: what cannot be read says nothing, and the object around it still does.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Lenient<T> {
    Read(T),
    Unread(IgnoredAny),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GardenletConfiguration {
    api_version: Option<String>,
    kind: Option<String>,
    seed_config: Option<SeedTemplate>,
}

/// A seed before there is one.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SeedTemplate {
    spec: Option<SeedTemplateSpec>,
}

#[derive(Clone, Debug, Deserialize)]
struct SeedTemplateSpec {
    backup: Option<Backup>,
    resources: Option<Vec<NamedResource>>,
}

/// Where a seed keeps backups. A `secretRef` is how it was written once.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Backup {
    credentials_ref: Option<Reference>,
    secret_ref: Option<Reference>,
}

/// Where a chart comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Helm {
    pub(super) oci_repository: Option<OciRepository>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OciRepository {
    ca_bundle_secret_ref: Option<LocalObjectReference>,
    pull_secret_ref: Option<LocalObjectReference>,
}

impl Lenient<GardenletConfiguration> {
    /// The configuration, if it is one. It need not say what it is, but must not say that it is something else.
    pub(super) fn read(&self) -> Option<&GardenletConfiguration> {
        let Self::Read(config) = self else { return None };
        let is = |text: &Option<String>, expected| text.as_deref().is_none_or(|text| text == expected);
        let is_known = is(&config.api_version, "gardenlet.config.gardener.cloud/v1alpha1");
        (is_known && is(&config.kind, "GardenletConfiguration")).then_some(config)
    }
}

impl GardenletConfiguration {
    pub(super) fn seed(&self) -> Option<&SeedTemplate> {
        self.seed_config.as_ref()
    }
}

impl SeedTemplate {
    pub(super) fn tell_backup(&self, visit: Visit<'_>, credentials: Template, secret: Template) {
        if let Some(backup) = self.spec.as_ref().and_then(|spec| spec.backup.as_ref()) {
            backup.tell(visit, credentials, secret);
        }
    }

    pub(super) fn tell_resources(&self, visit: Visit<'_>, template: Template) {
        let resources = self.spec.iter().flat_map(|spec| each(&spec.resources));
        for (at, resource) in resources {
            resource.tell(visit, GARDEN, template.at(at, 0));
        }
    }

    pub(super) fn has_resources(&self) -> bool {
        self.spec
            .as_ref()
            .is_some_and(|spec| each(&spec.resources).next().is_some())
    }
}

impl Backup {
    pub(super) fn tell(&self, visit: Visit<'_>, credentials: Template, secret: Template) {
        if let Some(reference) = &self.credentials_ref {
            reference.tell(visit, reference.credentials(), credentials.field());
        }
        if let Some(reference) = &self.secret_ref {
            reference.tell(visit, Some(Kind::Secret), secret.field());
        }
    }
}

impl OciRepository {
    pub(super) fn tell(&self, visit: Visit<'_>, namespace: &str, ca_bundle: Template, pull_secret: Template) {
        for (secret, template) in [
            (&self.ca_bundle_secret_ref, ca_bundle),
            (&self.pull_secret_ref, pull_secret),
        ] {
            let name = secret.as_ref().and_then(LocalObjectReference::name);
            super::tell(visit, Kind::Secret, namespace, name, template.field());
        }
    }
}
