//! A volume of a pod: the secrets, config maps, endpoints and claims behind it.

use serde::{Deserialize, de::IgnoredAny};

use super::{
    super::driver::{AwsElasticBlockStore, AzureDisk, Migrated},
    LocalObjectReference, Needs, each, given,
};
use crate::graph::{Driver, Kind, Template, TokenSource};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Volume {
    name: Option<String>,
    aws_elastic_block_store: Option<AwsElasticBlockStore>,
    azure_disk: Option<AzureDisk>,
    azure_file: Option<SecretNameSource>,
    cephfs: Option<SecretRefSource>,
    cinder: Option<SecretRefSource>,
    config_map: Option<LocalObjectReference>,
    csi: Option<Csi>,
    ephemeral: Option<Ephemeral>,
    flex_volume: Option<SecretRefSource>,
    gce_persistent_disk: Option<IgnoredAny>,
    glusterfs: Option<Glusterfs>,
    iscsi: Option<SecretRefSource>,
    persistent_volume_claim: Option<Claim>,
    portworx_volume: Option<IgnoredAny>,
    projected: Option<Projected>,
    rbd: Option<SecretRefSource>,
    #[serde(rename = "scaleIO")]
    scale_io: Option<SecretRefSource>,
    secret: Option<SecretNameSource>,
    storageos: Option<SecretRefSource>,
    vsphere_volume: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SecretNameSource {
    secret_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SecretRefSource {
    secret_ref: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Csi {
    driver: Option<String>,
    node_publish_secret_ref: Option<LocalObjectReference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ephemeral {
    volume_claim_template: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claim {
    claim_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Glusterfs {
    endpoints: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Projected {
    sources: Option<Vec<Projection>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Projection {
    config_map: Option<LocalObjectReference>,
    secret: Option<LocalObjectReference>,
    service_account_token: Option<ServiceAccountToken>,
}

#[derive(Clone, Debug, Deserialize)]
struct ServiceAccountToken {
    audience: Option<String>,
}

impl Volume {
    /// A volume has one source. Of several, which the API server refuses, one counts for secrets, one for config maps and one
    /// for claims, each the first in an order of its own, as for Kubernetes' own authorizer. That one knows no endpoints, of
    /// which there is one source only.
    pub(super) fn references(&self, i: usize, needs: &mut Needs<'_>) {
        self.secrets(i, needs);
        self.config_maps(i, needs);
        self.endpoints(i, needs);
        self.claim(i, needs);
    }

    fn secrets(&self, i: usize, needs: &mut Needs<'_>) {
        let mut by_ref = |source: &SecretRefSource, template: Template| {
            needs.reference(Kind::Secret, &source.secret_ref, template.at(i, 0));
        };
        if let Some(source) = &self.azure_file {
            needs.add(
                Kind::Secret,
                given(&source.secret_name),
                Template::AZURE_FILE_VOLUME.at(i, 0),
            );
        } else if let Some(source) = &self.cephfs {
            by_ref(source, Template::CEPHFS_VOLUME);
        } else if let Some(source) = &self.cinder {
            by_ref(source, Template::CINDER_VOLUME);
        } else if let Some(source) = &self.flex_volume {
            by_ref(source, Template::FLEX_VOLUME);
        } else if let Some(source) = &self.projected {
            for (j, part) in each(&source.sources) {
                needs.reference(Kind::Secret, &part.secret, Template::PROJECTED_SECRET.at(i, j));
            }
        } else if let Some(source) = &self.rbd {
            by_ref(source, Template::RBD_VOLUME);
        } else if let Some(source) = &self.secret {
            needs.add(
                Kind::Secret,
                given(&source.secret_name),
                Template::SECRET_VOLUME.at(i, 0),
            );
        } else if let Some(source) = &self.scale_io {
            by_ref(source, Template::SCALE_IO_VOLUME);
        } else if let Some(source) = &self.iscsi {
            by_ref(source, Template::ISCSI_VOLUME);
        } else if let Some(source) = &self.storageos {
            by_ref(source, Template::STORAGEOS_VOLUME);
        } else if let Some(source) = &self.csi {
            let secret = &source.node_publish_secret_ref;
            needs.reference(Kind::Secret, secret, Template::CSI_VOLUME.at(i, 0));
        }
    }

    fn config_maps(&self, i: usize, needs: &mut Needs<'_>) {
        if let Some(source) = &self.projected {
            for (j, part) in each(&source.sources) {
                needs.reference(
                    Kind::ConfigMap,
                    &part.config_map,
                    Template::PROJECTED_CONFIG_MAP.at(i, j),
                );
            }
        } else {
            needs.reference(Kind::ConfigMap, &self.config_map, Template::CONFIG_MAP_VOLUME.at(i, 0));
        }
    }

    fn endpoints(&self, i: usize, needs: &mut Needs<'_>) {
        if let Some(source) = &self.glusterfs {
            let name = given(&source.endpoints);
            needs.add(Kind::Endpoints, name, Template::GLUSTERFS_VOLUME.at(i, 0));
        }
    }

    fn claim(&self, i: usize, needs: &mut Needs<'_>) {
        if let Some(claim) = &self.persistent_volume_claim {
            let name = given(&claim.claim_name);
            needs.add(Kind::PersistentVolumeClaim, name, Template::CLAIM_VOLUME.at(i, 0));
        } else if self.ephemeral.is_some() {
            let name = self.ephemeral_claim(needs.pod.name());
            needs.add(
                Kind::PersistentVolumeClaim,
                Some(&name),
                Template::EPHEMERAL_VOLUME.at(i, 0),
            );
        }
    }

    /// What the volume may want service account tokens for: audiences that it names, and a driver that may name some.
    pub(super) fn token_sources(&self, pod: &str, sources: &mut Vec<TokenSource>) {
        let projections = self.projected.iter().flat_map(|source| each(&source.sources));
        for token in projections.filter_map(|(_, part)| part.service_account_token.as_ref()) {
            let audience = token.audience.as_deref().unwrap_or_default();
            sources.push(TokenSource::Audience(audience.into()));
        }
        let templated = self
            .ephemeral
            .as_ref()
            .and_then(|source| source.volume_claim_template.as_ref());
        if templated.is_some() {
            sources.push(TokenSource::Claim(self.ephemeral_claim(pod).into()));
        } else if let Some(claim) = &self.persistent_volume_claim {
            sources.push(TokenSource::Claim(
                claim.claim_name.as_deref().unwrap_or_default().into(),
            ));
        } else {
            let driver = match &self.csi {
                Some(csi) => Driver::Named(csi.driver.as_deref().unwrap_or_default().into()),
                None => self.migrated().driver(),
            };
            if driver != Driver::None {
                sources.push(TokenSource::Driver(driver));
            }
        }
    }

    fn migrated(&self) -> Migrated<'_> {
        Migrated {
            aws_elastic_block_store: self.aws_elastic_block_store.as_ref(),
            azure_disk: self.azure_disk.as_ref(),
            azure_file: self.azure_file.is_some(),
            cinder: self.cinder.is_some(),
            gce_persistent_disk: self.gce_persistent_disk.is_some(),
            portworx_volume: self.portworx_volume.is_some(),
            vsphere_volume: self.vsphere_volume.is_some(),
        }
    }

    /// Kubernetes makes a claim for such a volume, and names it so.
    fn ephemeral_claim(&self, pod: &str) -> String {
        format!("{pod}-{}", self.name.as_deref().unwrap_or_default())
    }
}
