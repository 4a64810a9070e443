//! What is watched.

use kube::core::ApiResource;

/// One collection of upstream.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) kind: &'static str,
    pub(super) group: &'static str,
    /// The versions that can be read, best first.
    pub(super) versions: &'static [&'static str],
    /// The plural; informers go by it.
    pub(super) resource: &'static str,
    /// What readiness calls the informer.
    pub(super) task: &'static str,
    /// Whether there are clusters without it, so that the version has to be found out.
    pub(super) optional: bool,
}

macro_rules! collection {
    ($name:ident, $kind:literal, $group:literal, $versions:expr, $resource:literal, optional: $optional:literal) => {
        pub(super) static $name: Collection = Collection {
            kind: $kind,
            group: $group,
            versions: &$versions,
            resource: $resource,
            task: concat!("informer-", $resource),
            optional: $optional,
        };
    };
}

collection!(
    CERTIFICATE_SIGNING_REQUESTS, "CertificateSigningRequest", "certificates.k8s.io", ["v1"],
    "certificatesigningrequests", optional: false
);
collection!(CSI_DRIVERS, "CSIDriver", "storage.k8s.io", ["v1"], "csidrivers", optional: false);
collection!(NODES, "Node", "", ["v1"], "nodes", optional: false);
collection!(PERSISTENT_VOLUME_CLAIMS, "PersistentVolumeClaim", "", ["v1"], "persistentvolumeclaims", optional: false);
collection!(PERSISTENT_VOLUMES, "PersistentVolume", "", ["v1"], "persistentvolumes", optional: false);
collection!(
    POD_CERTIFICATE_REQUESTS, "PodCertificateRequest", "certificates.k8s.io", ["v1", "v1beta1", "v1alpha1"],
    "podcertificaterequests", optional: true
);
collection!(PODS, "Pod", "", ["v1"], "pods", optional: false);
collection!(
    RESOURCE_SLICES, "ResourceSlice", "resource.k8s.io", ["v1", "v1beta2", "v1beta1"], "resourceslices", optional: true
);
collection!(SERVICE_ACCOUNTS, "ServiceAccount", "", ["v1"], "serviceaccounts", optional: false);
collection!(VOLUME_ATTACHMENTS, "VolumeAttachment", "storage.k8s.io", ["v1"], "volumeattachments", optional: false);

impl Collection {
    pub(super) fn in_version(&self, version: &str) -> ApiResource {
        ApiResource {
            group: self.group.to_owned(),
            version: version.to_owned(),
            api_version: match self.group {
                "" => version.to_owned(),
                group => format!("{group}/{version}"),
            },
            kind: self.kind.to_owned(),
            plural: self.resource.to_owned(),
        }
    }
}
