//! A persistent volume: whose it is, and the secrets and endpoints it takes to mount it.

use serde::{Deserialize, de::IgnoredAny};

use super::{
    Asserts, Edge, Meta, Watched,
    driver::{AwsElasticBlockStore, AzureDisk, Migrated},
    given,
};
use crate::graph::{Driver, Facts, Key, Kind, Template};

#[derive(Clone, Debug, Deserialize)]
pub struct PersistentVolume {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    claim_ref: Option<ObjectReference>,
    aws_elastic_block_store: Option<AwsElasticBlockStore>,
    azure_disk: Option<AzureDisk>,
    azure_file: Option<AzureFile>,
    cephfs: Option<SecretRefSource>,
    cinder: Option<SecretRefSource>,
    csi: Option<Csi>,
    flex_volume: Option<SecretRefSource>,
    gce_persistent_disk: Option<IgnoredAny>,
    glusterfs: Option<Glusterfs>,
    iscsi: Option<SecretRefSource>,
    portworx_volume: Option<IgnoredAny>,
    rbd: Option<SecretRefSource>,
    #[serde(rename = "scaleIO")]
    scale_io: Option<SecretRefSource>,
    storageos: Option<SecretRefSource>,
    vsphere_volume: Option<IgnoredAny>,
}

#[derive(Clone, Debug, Deserialize)]
struct ObjectReference {
    namespace: Option<String>,
    name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AzureFile {
    secret_name: Option<String>,
    secret_namespace: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SecretRefSource {
    secret_ref: Option<ObjectReference>,
}

/// The secrets of the driver's controller are not for nodes, and not read here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Csi {
    driver: Option<String>,
    node_expand_secret_ref: Option<ObjectReference>,
    node_publish_secret_ref: Option<ObjectReference>,
    node_stage_secret_ref: Option<ObjectReference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Glusterfs {
    endpoints: Option<String>,
    endpoints_namespace: Option<String>,
}

/// What one volume needs, as it is told of.
struct Needs<'a> {
    /// Where the claim is, and so is all that does not say where it is.
    claim_namespace: &'a str,
    visit: &'a mut dyn FnMut(Edge<'_>),
}

impl Asserts for PersistentVolume {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    /// A volume that nobody claims is nobody's, and so is what it needs.
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let Some(spec) = &self.spec else { return };
        let Some((namespace, name)) = spec.claim_ref.as_ref().and_then(ObjectReference::whole) else {
            return;
        };
        let claim = Key::new(Kind::PersistentVolumeClaim, namespace, name);
        visit(Edge::new(claim, Template::CLAIM_REF.field()));
        let mut needs = Needs {
            claim_namespace: namespace,
            visit,
        };
        spec.secrets(&mut needs);
        spec.endpoints(&mut needs);
    }

    fn facts(&self) -> Option<Facts> {
        let driver = self.spec.as_ref().map_or(Driver::None, Spec::driver);
        Some(Facts::PersistentVolume { driver })
    }
}

impl Watched for PersistentVolume {
    const KIND: Kind = Kind::PersistentVolume;

    fn meta(&self) -> &Meta {
        &self.metadata
    }
}

impl Spec {
    fn driver(&self) -> Driver {
        if let Some(csi) = &self.csi {
            return Driver::Named(csi.driver.as_deref().unwrap_or_default().into());
        }
        if let Some(azure_file) = &self.azure_file {
            // Only what is not said at all is looked for elsewhere.
            let namespace = azure_file.secret_namespace.as_ref();
            let claimed = || self.claim_ref.as_ref().and_then(|claim| claim.namespace.as_ref());
            if namespace.or_else(claimed).is_none_or(String::is_empty) {
                let why = "could not find a secret namespace in PersistentVolumeSource or ClaimRef";
                return Driver::Untranslatable(why.into());
            }
        }
        let driver = Migrated {
            aws_elastic_block_store: self.aws_elastic_block_store.as_ref(),
            azure_disk: self.azure_disk.as_ref(),
            azure_file: self.azure_file.is_some(),
            cinder: self.cinder.is_some(),
            gce_persistent_disk: self.gce_persistent_disk.is_some(),
            portworx_volume: self.portworx_volume.is_some(),
            vsphere_volume: self.vsphere_volume.is_some(),
        };
        driver.driver()
    }

    /// A volume has one source. Of several, which the API server refuses, the first in this order counts, as for Kubernetes'
    /// own authorizer; some kinds have always named the namespace of their secret, others have not.
    fn secrets(&self, needs: &mut Needs<'_>) {
        if let Some(source) = &self.azure_file {
            let namespace = needs.namespace(&source.secret_namespace);
            needs.add(
                Kind::Secret,
                namespace,
                given(&source.secret_name),
                Template::AZURE_FILE_SECRET,
            );
        } else if let Some(source) = &self.cephfs {
            needs.near(&source.secret_ref, Template::CEPHFS_SECRET);
        } else if let Some(source) = &self.cinder {
            needs.exact(&source.secret_ref, Template::CINDER_SECRET);
        } else if let Some(source) = &self.flex_volume {
            needs.near(&source.secret_ref, Template::FLEX_SECRET);
        } else if let Some(source) = &self.rbd {
            needs.near(&source.secret_ref, Template::RBD_SECRET);
        } else if let Some(source) = &self.scale_io {
            needs.near(&source.secret_ref, Template::SCALE_IO_SECRET);
        } else if let Some(source) = &self.iscsi {
            needs.near(&source.secret_ref, Template::ISCSI_SECRET);
        } else if let Some(source) = &self.storageos {
            needs.exact(&source.secret_ref, Template::STORAGEOS_SECRET);
        } else if let Some(source) = &self.csi {
            needs.exact(&source.node_publish_secret_ref, Template::CSI_NODE_PUBLISH_SECRET);
            needs.exact(&source.node_stage_secret_ref, Template::CSI_NODE_STAGE_SECRET);
            needs.exact(&source.node_expand_secret_ref, Template::CSI_NODE_EXPAND_SECRET);
        }
    }

    fn endpoints(&self, needs: &mut Needs<'_>) {
        if let Some(source) = &self.glusterfs {
            let namespace = needs.namespace(&source.endpoints_namespace);
            needs.add(
                Kind::Endpoints,
                namespace,
                given(&source.endpoints),
                Template::GLUSTERFS_ENDPOINTS,
            );
        }
    }
}

impl ObjectReference {
    /// Namespace and name, if there are both.
    fn whole(&self) -> Option<(&str, &str)> {
        given(&self.namespace).zip(given(&self.name))
    }
}

impl<'a> Needs<'a> {
    /// The namespace that is named, else that of the claim.
    fn namespace<'b>(&self, named: &'b Option<String>) -> Option<&'b str>
    where
        'a: 'b,
    {
        given(named).or(Some(self.claim_namespace))
    }

    /// A secret in the namespace it names, else in that of the claim.
    fn near(&mut self, secret: &Option<ObjectReference>, template: Template) {
        if let Some(secret) = secret {
            let namespace = self.namespace(&secret.namespace);
            self.add(Kind::Secret, namespace, given(&secret.name), template);
        }
    }

    /// A secret in the namespace it names; there is no such secret without one.
    fn exact(&mut self, secret: &Option<ObjectReference>, template: Template) {
        if let Some(secret) = secret {
            self.add(Kind::Secret, given(&secret.namespace), given(&secret.name), template);
        }
    }

    fn add(&mut self, kind: Kind, namespace: Option<&str>, name: Option<&str>, template: Template) {
        if let Some((namespace, name)) = namespace.zip(name) {
            let other = Key::new(kind, namespace, name);
            (self.visit)(Edge::new(other, template.field()));
        }
    }
}
