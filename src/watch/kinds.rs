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
    ($name:ident, $kind:literal, $group:expr, $versions:expr, $resource:literal, optional: $optional:literal) => {
        collection!($name, $kind, $group, $versions, $resource, optional: $optional, task: "");
    };
    ($name:ident, $kind:literal, $group:expr, $versions:expr, $resource:literal, optional: $optional:literal, task: $task:literal) => {
        pub(in crate::watch) static $name: Collection = Collection {
            kind: $kind,
            group: $group,
            versions: &$versions,
            resource: $resource,
            task: concat!("informer-", $task, $resource),
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

/// What a garden has. A server without some of it is older than that, or newer, or not quite a garden yet.
pub(super) mod garden {
    use super::Collection;
    use crate::api::garden::{CORE, OPERATIONS, SECURITY, SEED_MANAGEMENT};

    collection!(BACKUP_BUCKETS, "BackupBucket", CORE, ["v1beta1"], "backupbuckets", optional: true);
    collection!(BACKUP_ENTRIES, "BackupEntry", CORE, ["v1beta1"], "backupentries", optional: true);
    collection!(BASTIONS, "Bastion", OPERATIONS, ["v1alpha1"], "bastions", optional: true);
    collection!(
        CERTIFICATE_SIGNING_REQUESTS, "CertificateSigningRequest", "certificates.k8s.io", ["v1"],
        "certificatesigningrequests", optional: false, task: "garden-"
    );
    collection!(
        CONTROLLER_DEPLOYMENTS, "ControllerDeployment", CORE, ["v1", "v1beta1"], "controllerdeployments", optional: true
    );
    collection!(
        CONTROLLER_INSTALLATIONS, "ControllerInstallation", CORE, ["v1beta1"], "controllerinstallations", optional: true
    );
    collection!(
        CREDENTIALS_BINDINGS, "CredentialsBinding", SECURITY, ["v1alpha1"], "credentialsbindings", optional: true
    );
    collection!(GARDENLETS, "Gardenlet", SEED_MANAGEMENT, ["v1alpha1"], "gardenlets", optional: true);
    collection!(MANAGED_SEEDS, "ManagedSeed", SEED_MANAGEMENT, ["v1alpha1"], "managedseeds", optional: true);
    collection!(PROJECTS, "Project", CORE, ["v1beta1"], "projects", optional: true);
    collection!(SECRET_BINDINGS, "SecretBinding", CORE, ["v1beta1"], "secretbindings", optional: true);
    collection!(SEEDS, "Seed", CORE, ["v1beta1"], "seeds", optional: true);
    collection!(
        SERVICE_ACCOUNTS, "ServiceAccount", "", ["v1"], "serviceaccounts", optional: false, task: "garden-"
    );
    collection!(SHOOTS, "Shoot", CORE, ["v1beta1"], "shoots", optional: true);
}

impl Collection {
    /// The file in `config/kubernetes` that has the right to watch it.
    pub(super) fn manifest(&self) -> &'static str {
        if self.group.ends_with("gardener.cloud") {
            "gardener.yaml"
        } else {
            "informers.yaml"
        }
    }

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
