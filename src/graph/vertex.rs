//! What the graph is about: objects, by kind, namespace and name.

use std::fmt;

/// The kinds that take part. Their order is that of the arrows: an edge leads only to a kind that stands before its own,
/// so nothing can refer to itself in a circle.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    Node,
    Pod,
    PersistentVolumeClaim,
    PersistentVolume,
    CertificateSigningRequest,
    ConfigMap,
    CsiDriver,
    Endpoints,
    Namespace,
    PodCertificateRequest,
    ResourceClaim,
    ResourceSlice,
    Secret,
    ServiceAccount,
    VolumeAttachment,
}

/// Names one object; the namespace is empty for those that have none.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key<'a> {
    pub kind: Kind,
    pub namespace: &'a str,
    pub name: &'a str,
}

impl Kind {
    /// In the order of their numbers.
    pub const ALL: &[Self] = &[
        Self::Node,
        Self::Pod,
        Self::PersistentVolumeClaim,
        Self::PersistentVolume,
        Self::CertificateSigningRequest,
        Self::ConfigMap,
        Self::CsiDriver,
        Self::Endpoints,
        Self::Namespace,
        Self::PodCertificateRequest,
        Self::ResourceClaim,
        Self::ResourceSlice,
        Self::Secret,
        Self::ServiceAccount,
        Self::VolumeAttachment,
    ];

    /// Whether a path can only begin at it: it asserts nothing, and nothing belongs to it. Namespaces have no edges: they are
    /// found by the pods in them.
    pub(super) fn is_leaf(self) -> bool {
        matches!(
            self,
            Self::ConfigMap | Self::Endpoints | Self::ResourceClaim | Self::Secret | Self::ServiceAccount
        )
    }

    /// Whether persistent volumes need such objects too, and not only pods.
    pub fn is_needed_by_volumes(self) -> bool {
        matches!(self, Self::Endpoints | Self::Secret)
    }

    /// The singular that people use, in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CertificateSigningRequest => "certificatesigningrequest",
            Self::ConfigMap => "configmap",
            Self::CsiDriver => "csidriver",
            Self::Endpoints => "endpoints",
            Self::Namespace => "namespace",
            Self::Node => "node",
            Self::PersistentVolume => "persistentvolume",
            Self::PersistentVolumeClaim => "persistentvolumeclaim",
            Self::Pod => "pod",
            Self::PodCertificateRequest => "podcertificaterequest",
            Self::ResourceClaim => "resourceclaim",
            Self::ResourceSlice => "resourceslice",
            Self::Secret => "secret",
            Self::ServiceAccount => "serviceaccount",
            Self::VolumeAttachment => "volumeattachment",
        }
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
        match self.namespace {
            "" => write!(f, "{} {}", self.kind.as_str(), self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind.as_str(), self.name),
        }
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
