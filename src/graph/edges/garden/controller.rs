//! Extensions: what is installed on which seed, and what it is installed from.

use serde::Deserialize;

use super::{
    Asserts, Edge, LocalObjectReference, Meta, Watched,
    config::Helm,
    each,
    reference::{NamedResource, Reference},
    tell, watched,
};
use crate::{
    api::garden::GARDEN,
    graph::{Key, Kind, Template},
};

/// As `v1` has it. `v1beta1` keeps the same in a field whose type nobody knows; servers that have nothing newer know no references
/// in it.
#[derive(Clone, Debug, Deserialize)]
pub struct ControllerDeployment {
    #[serde(default)]
    metadata: Meta,
    helm: Option<Helm>,
    resources: Option<Vec<NamedResource>>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ControllerInstallation {
    #[serde(default)]
    metadata: Meta,
    spec: Option<InstallationSpec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InstallationSpec {
    deployment_ref: Option<LocalObjectReference>,
    registration_ref: Option<LocalObjectReference>,
    seed_ref: Option<LocalObjectReference>,
    shoot_ref: Option<Reference>,
}

impl Asserts for ControllerDeployment {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    /// Gardener looks at the resources only if the chart comes from a repository, and at their kind without its group.
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let Some(repository) = self.helm.as_ref().and_then(|helm| helm.oci_repository.as_ref()) else {
            return;
        };
        let (ca_bundle, pull_secret) = (Template::DEPLOYMENT_CA_BUNDLE, Template::DEPLOYMENT_PULL_SECRET);
        repository.tell(visit, GARDEN, ca_bundle, pull_secret);
        for (at, resource) in each(&self.resources) {
            let Some(reference) = resource.reference() else {
                continue;
            };
            let kind = match reference.bare_kind() {
                Some("ConfigMap") => Some(Kind::ConfigMap),
                Some("Secret") => Some(Kind::Secret),
                _ => None,
            };
            reference.tell_in(visit, GARDEN, kind, Template::DEPLOYMENT_RESOURCE.at(at, 0));
        }
    }
}

impl Asserts for ControllerInstallation {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let Some(spec) = &self.spec else { return };
        for (reference, kind, template) in [
            (
                &spec.deployment_ref,
                Kind::ControllerDeployment,
                Template::DEPLOYMENT_REF,
            ),
            (
                &spec.registration_ref,
                Kind::ControllerRegistration,
                Template::REGISTRATION_REF,
            ),
            (&spec.seed_ref, Kind::Seed, Template::SEED_REF),
        ] {
            let name = reference.as_ref().and_then(LocalObjectReference::name);
            tell(visit, kind, "", name, template.field());
        }
        if let Some(shoot) = &spec.shoot_ref {
            shoot.tell(visit, Some(Kind::Shoot), Template::SHOOT_REF.field());
        }
    }
}

watched! { ControllerDeployment, ControllerInstallation, }
