//! Which CSI driver mounts a volume.
//!
//! Kinds of volumes that Kubernetes once mounted itself are mounted by CSI drivers now; the fields are still those of old.
//! Follows `k8s.io/csi-translation-lib` (1.36), as far as the name of the driver depends on it.

use serde::Deserialize;

use crate::graph::Driver;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct AwsElasticBlockStore {
    #[serde(rename = "volumeID")]
    volume_id: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct AzureDisk {
    kind: Option<String>,
}

/// The sources of a volume that drivers have taken over, as far as they are there.
#[derive(Default)]
pub(super) struct Migrated<'a> {
    pub(super) aws_elastic_block_store: Option<&'a AwsElasticBlockStore>,
    pub(super) azure_disk: Option<&'a AzureDisk>,
    pub(super) azure_file: bool,
    pub(super) cinder: bool,
    pub(super) gce_persistent_disk: bool,
    pub(super) portworx_volume: bool,
    pub(super) vsphere_volume: bool,
}

impl Migrated<'_> {
    /// A volume has one source; of several, which the API server refuses, any will do.
    pub(super) fn driver(&self) -> Driver {
        if let Some(source) = self.aws_elastic_block_store {
            return source.driver();
        }
        if let Some(source) = self.azure_disk {
            return source.driver();
        }
        let named = [
            (self.azure_file, "file.csi.azure.com"),
            (self.cinder, "cinder.csi.openstack.org"),
            (self.gce_persistent_disk, "pd.csi.storage.gke.io"),
            (self.portworx_volume, "pxd.portworx.com"),
            (self.vsphere_volume, "csi.vsphere.vmware.com"),
        ];
        let named = named.into_iter().find(|(is_there, _)| *is_there);
        named.map_or(Driver::None, |(_, name)| Driver::Named(name.into()))
    }
}

impl AwsElasticBlockStore {
    /// A bare volume id, or one behind a zone, which is then looked at.
    fn driver(&self) -> Driver {
        let id = self.volume_id.as_deref().unwrap_or_default();
        let fits = id.strip_prefix("aws://").is_none_or(|rest| {
            let path = rest.split_once('/').map_or("", |(_, path)| path).trim_matches('/');
            path.strip_prefix("vol-").is_some_and(|number| !number.contains('/'))
        });
        if fits {
            return Driver::Named("ebs.csi.aws.com".into());
        }
        let why = format!("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({id})");
        Driver::Untranslatable(why.into())
    }
}

impl AzureDisk {
    fn driver(&self) -> Driver {
        match &self.kind {
            Some(kind) if !kind.eq_ignore_ascii_case("Managed") => {
                Driver::Untranslatable(format!("kind({kind}) is not supported in csi migration").into())
            }
            _ => Driver::Named("disk.csi.azure.com".into()),
        }
    }
}
