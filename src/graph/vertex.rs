//! What the graph is about: objects, by kind, namespace and name.

use std::fmt;

/// The name of every kind: the singular that people use, in lower case, and what Kubernetes writes.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $singular:literal, $title:literal;)*) => {
        /// The kinds that take part. Their order is that of the arrows: an edge leads only to a kind that stands before its own,
        /// or from the end of a path, so nothing can refer to itself in a circle.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Kind {
            $($(#[$doc])* $name,)*
        }

        impl Kind {
            /// In the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The singular that people use, in lower case.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $singular,)* }
            }

            /// As Kubernetes writes it.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }
        }
    };
}

kinds! {
    Node = "node", "Node";
    Seed = "seed", "Seed";
    Pod = "pod", "Pod";
    PersistentVolumeClaim = "persistentvolumeclaim", "PersistentVolumeClaim";
    PersistentVolume = "persistentvolume", "PersistentVolume";
    Shoot = "shoot", "Shoot";
    BackupEntry = "backupentry", "BackupEntry";
    BackupBucket = "backupbucket", "BackupBucket";
    ControllerInstallation = "controllerinstallation", "ControllerInstallation";
    ManagedSeed = "managedseed", "ManagedSeed";
    Gardenlet = "gardenlet", "Gardenlet";
    /// What the configuration in a ManagedSeed names for the Seed that it is to become. It is no object of its own: it comes and
    /// goes with the ManagedSeed.
    SeedConfig = "seedconfig", "SeedConfig";
    /// The leave of a gardenlet to begin anew, for as long as it has it.
    Bootstrap = "bootstrap", "Bootstrap";
    Bastion = "bastion", "Bastion";
    CertificateSigningRequest = "certificatesigningrequest", "CertificateSigningRequest";
    ControllerDeployment = "controllerdeployment", "ControllerDeployment";
    ControllerRegistration = "controllerregistration", "ControllerRegistration";
    CredentialsBinding = "credentialsbinding", "CredentialsBinding";
    SecretBinding = "secretbinding", "SecretBinding";
    CloudProfile = "cloudprofile", "CloudProfile";
    NamespacedCloudProfile = "namespacedcloudprofile", "NamespacedCloudProfile";
    ExposureClass = "exposureclass", "ExposureClass";
    Namespace = "namespace", "Namespace";
    Project = "project", "Project";
    ServiceAccount = "serviceaccount", "ServiceAccount";
    ClusterRoleBinding = "clusterrolebinding", "ClusterRoleBinding";
    ConfigMap = "configmap", "ConfigMap";
    CsiDriver = "csidriver", "CSIDriver";
    Endpoints = "endpoints", "Endpoints";
    InternalSecret = "internalsecret", "InternalSecret";
    Lease = "lease", "Lease";
    PodCertificateRequest = "podcertificaterequest", "PodCertificateRequest";
    ResourceClaim = "resourceclaim", "ResourceClaim";
    ResourceSlice = "resourceslice", "ResourceSlice";
    Secret = "secret", "Secret";
    ShootState = "shootstate", "ShootState";
    VolumeAttachment = "volumeattachment", "VolumeAttachment";
    WorkloadIdentity = "workloadidentity", "WorkloadIdentity";
}

/// Where paths end: whose graph it is.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Anchor {
    #[default]
    Node,
    Seed,
}

/// Names one object; the namespace is empty for those that have none.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key<'a> {
    pub kind: Kind,
    pub namespace: &'a str,
    pub name: &'a str,
}

impl Kind {
    /// Whether paths end at it.
    pub(super) fn is_anchor(self) -> bool {
        matches!(self, Self::Node | Self::Seed)
    }

    /// The kind of what comes and goes with an object of this kind, under the same name.
    pub(super) fn part(self) -> Option<Self> {
        (self == Self::ManagedSeed).then_some(Self::SeedConfig)
    }

    /// Whether such objects are in a namespace.
    pub fn is_namespaced(self) -> bool {
        !matches!(
            self,
            Self::BackupBucket
                | Self::CertificateSigningRequest
                | Self::CloudProfile
                | Self::ClusterRoleBinding
                | Self::ControllerDeployment
                | Self::ControllerInstallation
                | Self::ControllerRegistration
                | Self::CsiDriver
                | Self::ExposureClass
                | Self::Namespace
                | Self::Node
                | Self::PersistentVolume
                | Self::Project
                | Self::ResourceSlice
                | Self::Seed
                | Self::VolumeAttachment
        )
    }

    /// Whether persistent volumes need such objects too, and not only pods.
    pub fn is_needed_by_volumes(self) -> bool {
        matches!(self, Self::Endpoints | Self::Secret)
    }
}

impl Anchor {
    pub fn kind(self) -> Kind {
        match self {
            Self::Node => Kind::Node,
            Self::Seed => Kind::Seed,
        }
    }

    /// Whether a path can only begin at the kind: it asserts nothing, and nothing belongs to it. Namespaces have no edges in the
    /// graph of nodes: they are found by the pods in them.
    pub(super) fn is_leaf(self, kind: Kind) -> bool {
        matches!(
            (self, kind),
            (
                _,
                Kind::ConfigMap | Kind::Endpoints | Kind::ResourceClaim | Kind::Secret
            ) | (Self::Node, Kind::ServiceAccount)
                | (
                    Self::Seed,
                    Kind::CloudProfile
                        | Kind::ClusterRoleBinding
                        | Kind::ControllerRegistration
                        | Kind::ExposureClass
                        | Kind::InternalSecret
                        | Kind::Lease
                        | Kind::NamespacedCloudProfile
                        | Kind::ShootState
                        | Kind::WorkloadIdentity
                )
        )
    }
}

impl<'a> Key<'a> {
    pub fn new(kind: Kind, namespace: &'a str, name: &'a str) -> Self {
        Self { kind, namespace, name }
    }

    /// Of a kind without namespaces.
    pub fn cluster(kind: Kind, name: &'a str) -> Self {
        Self::new(kind, "", name)
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())?;
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            f.write_str(self.namespace)?;
            f.write_str("/")?;
        }
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_at_its_number() {
        for (number, kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, number, "{kind:?}");
        }
    }
}
