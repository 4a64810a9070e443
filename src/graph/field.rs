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
    // Of pods; the first also of shoots, the second of all else that belongs to a node.
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
    // Of several kinds of Gardener. Some objects go by the name of another, and have no field that says so.
    SAME_NAME = "the same metadata.name",
    NAMED_AFTER = "metadata.name",
    SEED_NAME = "spec.seedName",
    STATUS_SEED_NAME = "status.seedName",
    SHOOT_REF = "spec.shootRef",
    SECRET_REF = "spec.secretRef",
    RESOURCE_REF = "spec.resources[].resourceRef",
    // Of backup buckets and entries.
    CREDENTIALS_REF = "spec.credentialsRef",
    GENERATED_SECRET = "status.generatedSecretRef",
    BUCKET_NAME = "spec.bucketName",
    OWNER_REFERENCE = "metadata.ownerReferences[].name",
    // Of certificate signing requests for seeds.
    SIGNING_REQUEST = "spec.request",
    // Of controller deployments and installations.
    DEPLOYMENT_CA_BUNDLE = "helm.ociRepository.caBundleSecretRef.name",
    DEPLOYMENT_PULL_SECRET = "helm.ociRepository.pullSecretRef.name",
    DEPLOYMENT_RESOURCE = "resources[].resourceRef",
    DEPLOYMENT_REF = "spec.deploymentRef.name",
    REGISTRATION_REF = "spec.registrationRef.name",
    SEED_REF = "spec.seedRef.name",
    // Of bindings.
    BINDING_CREDENTIALS = "credentialsRef",
    BINDING_SECRET = "secretRef",
    // Of gardenlets.
    GARDENLET_BACKUP = "spec.config.seedConfig.spec.backup.credentialsRef",
    GARDENLET_BACKUP_SECRET = "spec.config.seedConfig.spec.backup.secretRef",
    GARDENLET_CA_BUNDLE = "spec.deployment.helm.ociRepository.caBundleSecretRef.name",
    GARDENLET_PULL_SECRET = "spec.deployment.helm.ociRepository.pullSecretRef.name",
    // Of managed seeds.
    MANAGED_SHOOT = "spec.shoot.name",
    MANAGED_BACKUP = "spec.gardenlet.config.seedConfig.spec.backup.credentialsRef",
    MANAGED_BACKUP_SECRET = "spec.gardenlet.config.seedConfig.spec.backup.secretRef",
    MANAGED_RESOURCE = "spec.gardenlet.config.seedConfig.spec.resources[].resourceRef",
    TEMPLATE_BACKUP = "spec.seedTemplate.spec.backup.credentialsRef",
    TEMPLATE_BACKUP_SECRET = "spec.seedTemplate.spec.backup.secretRef",
    TEMPLATE_RESOURCE = "spec.seedTemplate.spec.resources[].resourceRef",
    // Of projects.
    PROJECT_NAMESPACE = "spec.namespace",
    // Of seeds. They all need what tells who the garden is, whatever they are called.
    SEED_KIND = "kind",
    SEED_BACKUP = "spec.backup.credentialsRef",
    SEED_BACKUP_SECRET = "spec.backup.secretRef",
    SEED_DNS = "spec.dns.provider.credentialsRef",
    SEED_DNS_SECRET = "spec.dns.provider.secretRef",
    SEED_DNS_DEFAULT = "spec.dns.defaults[].credentialsRef",
    SEED_DNS_INTERNAL = "spec.dns.internal.credentialsRef",
    // Of service accounts.
    ACCOUNT_SECRET = "secrets[].name",
    // Of shoots.
    AUDIT_POLICY = "spec.kubernetes.kubeAPIServer.auditConfig.auditPolicy.configMapRef.name",
    AUTHENTICATION_CONFIG = "spec.kubernetes.kubeAPIServer.structuredAuthentication.configMapName",
    AUTHORIZATION_CONFIG = "spec.kubernetes.kubeAPIServer.structuredAuthorization.configMapName",
    AUTHORIZATION_KUBECONFIG = "spec.kubernetes.kubeAPIServer.structuredAuthorization.kubeconfigs[].secretName",
    CLOUD_PROFILE = "spec.cloudProfile",
    CLOUD_PROFILE_NAME = "spec.cloudProfileName",
    CREDENTIALS_BINDING = "spec.credentialsBindingName",
    EXPOSURE_CLASS = "spec.exposureClassName",
    SHOOT_ISSUER = "metadata.uid",
    SECRET_BINDING = "spec.secretBindingName",
    SHOOT_DNS = "spec.dns.providers[].credentialsRef",
    SHOOT_DNS_SECRET = "spec.dns.providers[].secretName",
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
            Template::CLAIM_REF
            | Template::MANAGED_SHOOT
            | Template::NODE_NAME
            | Template::OWNER_REFERENCE
            | Template::PROJECT_NAMESPACE
            | Template::SIGNING_REQUEST
            | Template::SAME_NAME
            | Template::SEED_NAME
            | Template::SEED_REF
            | Template::SHOOT_REF
            | Template::STATUS_SEED_NAME
            | Template::USER_NAME => Relation::BelongsTo,
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
            f.write_str("[")?;
            fmt::Display::fmt(&indexes.next().unwrap_or_default(), f)?;
            f.write_str("]")?;
            f.write_str(part)?;
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
