//! Which field of an object asserts an edge, in four bytes.

use std::fmt;

use super::Relation;

/// A field path with its list indexes, e.g. `spec.volumes[1].secret.secretName`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Field(u32);

/// A field path without its indexes, e.g. `spec.volumes[].secret.secretName`; at most two lists deep.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Template(u8);

/// Indexes beyond are written as this one, which is more than any object of Kubernetes' size limit needs in earnest.
const MAX_INDEX: u32 = 0xfff;

/// A constant for every path, and the table to write them by.
macro_rules! templates {
    ($($name:ident = $path:literal,)*) => {
        #[expect(non_camel_case_types, reason = "only counts the constants")]
        #[repr(u8)]
        enum Number { $($name,)* }

        impl Template {
            $(pub const $name: Self = Self(Number::$name as u8);)*
        }

        const PATHS: &[&str] = &[$($path,)*];
    };
}

templates! {
    // Of pods; the second also of all else that belongs to a node.
    POD_NAMESPACE = "metadata.namespace",
    NODE_NAME = "spec.nodeName",
    SERVICE_ACCOUNT_NAME = "spec.serviceAccountName",
    IMAGE_PULL_SECRET = "spec.imagePullSecrets[].name",
    CONTAINER_ENV_CONFIG_MAP = "spec.containers[].env[].valueFrom.configMapKeyRef.name",
    CONTAINER_ENV_SECRET = "spec.containers[].env[].valueFrom.secretKeyRef.name",
    CONTAINER_ENV_FROM_CONFIG_MAP = "spec.containers[].envFrom[].configMapRef.name",
    CONTAINER_ENV_FROM_SECRET = "spec.containers[].envFrom[].secretRef.name",
    EPHEMERAL_CONTAINER_ENV_CONFIG_MAP = "spec.ephemeralContainers[].env[].valueFrom.configMapKeyRef.name",
    EPHEMERAL_CONTAINER_ENV_SECRET = "spec.ephemeralContainers[].env[].valueFrom.secretKeyRef.name",
    EPHEMERAL_CONTAINER_ENV_FROM_CONFIG_MAP = "spec.ephemeralContainers[].envFrom[].configMapRef.name",
    EPHEMERAL_CONTAINER_ENV_FROM_SECRET = "spec.ephemeralContainers[].envFrom[].secretRef.name",
    INIT_CONTAINER_ENV_CONFIG_MAP = "spec.initContainers[].env[].valueFrom.configMapKeyRef.name",
    INIT_CONTAINER_ENV_SECRET = "spec.initContainers[].env[].valueFrom.secretKeyRef.name",
    INIT_CONTAINER_ENV_FROM_CONFIG_MAP = "spec.initContainers[].envFrom[].configMapRef.name",
    INIT_CONTAINER_ENV_FROM_SECRET = "spec.initContainers[].envFrom[].secretRef.name",
    RESOURCE_CLAIM = "spec.resourceClaims[].resourceClaimName",
    RESOURCE_CLAIM_STATUS = "status.resourceClaimStatuses[].resourceClaimName",
    EXTENDED_RESOURCE_CLAIM = "status.extendedResourceClaimStatus.resourceClaimName",
    // Of the volumes of pods.
    AZURE_FILE_VOLUME = "spec.volumes[].azureFile.secretName",
    CEPHFS_VOLUME = "spec.volumes[].cephfs.secretRef.name",
    CINDER_VOLUME = "spec.volumes[].cinder.secretRef.name",
    CLAIM_VOLUME = "spec.volumes[].persistentVolumeClaim.claimName",
    CONFIG_MAP_VOLUME = "spec.volumes[].configMap.name",
    CSI_VOLUME = "spec.volumes[].csi.nodePublishSecretRef.name",
    EPHEMERAL_VOLUME = "spec.volumes[].ephemeral",
    FLEX_VOLUME = "spec.volumes[].flexVolume.secretRef.name",
    GLUSTERFS_VOLUME = "spec.volumes[].glusterfs.endpoints",
    ISCSI_VOLUME = "spec.volumes[].iscsi.secretRef.name",
    PROJECTED_CONFIG_MAP = "spec.volumes[].projected.sources[].configMap.name",
    PROJECTED_SECRET = "spec.volumes[].projected.sources[].secret.name",
    RBD_VOLUME = "spec.volumes[].rbd.secretRef.name",
    SCALE_IO_VOLUME = "spec.volumes[].scaleIO.secretRef.name",
    SECRET_VOLUME = "spec.volumes[].secret.secretName",
    STORAGEOS_VOLUME = "spec.volumes[].storageos.secretRef.name",
    // Of persistent volumes.
    CLAIM_REF = "spec.claimRef",
    AZURE_FILE_SECRET = "spec.azureFile.secretName",
    CEPHFS_SECRET = "spec.cephfs.secretRef",
    CINDER_SECRET = "spec.cinder.secretRef",
    CSI_NODE_EXPAND_SECRET = "spec.csi.nodeExpandSecretRef",
    CSI_NODE_PUBLISH_SECRET = "spec.csi.nodePublishSecretRef",
    CSI_NODE_STAGE_SECRET = "spec.csi.nodeStageSecretRef",
    FLEX_SECRET = "spec.flexVolume.secretRef",
    GLUSTERFS_ENDPOINTS = "spec.glusterfs.endpoints",
    ISCSI_SECRET = "spec.iscsi.secretRef",
    RBD_SECRET = "spec.rbd.secretRef",
    SCALE_IO_SECRET = "spec.scaleIO.secretRef",
    STORAGEOS_SECRET = "spec.storageos.secretRef",
    // Of certificate signing requests.
    USER_NAME = "spec.username",
}

impl Template {
    /// The field at these indexes; those that the path has no list for do not count.
    pub fn at(self, outer: usize, inner: usize) -> Field {
        let index = |index: usize| u32::try_from(index).unwrap_or(MAX_INDEX).min(MAX_INDEX);
        Field(u32::from(self.0) << 24 | index(outer) << 12 | index(inner))
    }

    /// The field, where the path has no list in it.
    pub fn field(self) -> Field {
        self.at(0, 0)
    }

    fn path(self) -> &'static str {
        PATHS.get(usize::from(self.0)).copied().unwrap_or_default()
    }

    /// Every path there is.
    pub fn paths() -> &'static [&'static str] {
        PATHS
    }
}

impl Field {
    /// What the field says of the object that has it.
    pub fn relation(self) -> Relation {
        match self.template() {
            Template::CLAIM_REF | Template::NODE_NAME | Template::USER_NAME => Relation::BelongsTo,
            _ => Relation::Needs,
        }
    }

    pub fn template(self) -> Template {
        Template((self.0 >> 24) as u8)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut indexes = [self.0 >> 12 & MAX_INDEX, self.0 & MAX_INDEX].into_iter();
        let mut parts = self.template().path().split("[]");
        f.write_str(parts.next().unwrap_or_default())?;
        for part in parts {
            write!(f, "[{}]{part}", indexes.next().unwrap_or_default())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_written_with_its_indexes() {
        assert_eq!(Template::NODE_NAME.field().to_string(), "spec.nodeName");
        let field = Template::SECRET_VOLUME.at(3, 0);
        assert_eq!(field.to_string(), "spec.volumes[3].secret.secretName");
        assert_eq!(field.template(), Template::SECRET_VOLUME);
        let far = Template::SECRET_VOLUME.at(usize::MAX, 0).to_string();
        assert_eq!(far, "spec.volumes[4095].secret.secretName");
    }
}
