//! What the graphs are made of. Other kinds in a file say nothing about who refers to whom.

use serde_json::Value;

use crate::{
    api::garden::{CORE, OPERATIONS, SECURITY, SEED_MANAGEMENT},
    authorizer::Profile,
    graph::{
        Anchor, BackupBucket, BackupEntry, Bastion, BootstrapServiceAccount, CertificateSigningRequest,
        ControllerDeployment, ControllerInstallation, CredentialsBinding, Gardenlet, ManagedSeed, Node,
        PersistentVolume, PersistentVolumeClaim, Pod, PodCertificateRequest, Project, ResourceSlice, SecretBinding,
        Seed, SeedClientRequest, ServiceAccount, Shoot, Store, VolumeAttachment, Watched,
    },
};

/// A kind in one of the graphs; some are in both.
pub(super) struct Row {
    pub(super) anchor: Anchor,
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    /// What people call many of them.
    pub(super) plural: &'static str,
    /// Whether answers are poorer without them.
    pub(super) expected: bool,
    /// The oldest rules that know it.
    since: Profile,
    pub(super) apply: fn(&Value, &mut Store) -> anyhow::Result<()>,
}

const CERTIFICATES: &str = "certificates.k8s.io";

#[rustfmt::skip]
pub(super) const KINDS: &[Row] = &[
    row::<Pod>("", "Pod", "pods").expected(),
    row::<PersistentVolume>("", "PersistentVolume", "persistentvolumes").expected(),
    row::<VolumeAttachment>("storage.k8s.io", "VolumeAttachment", "volumeattachments").expected(),
    row::<ResourceSlice>("resource.k8s.io", "ResourceSlice", "resourceslices").expected(),
    row::<PodCertificateRequest>(CERTIFICATES, "PodCertificateRequest", "podcertificaterequests"),
    row::<CertificateSigningRequest>(CERTIFICATES, "CertificateSigningRequest", "certificatesigningrequests"),
    row::<Node>("", "Node", "nodes"),
    row::<PersistentVolumeClaim>("", "PersistentVolumeClaim", "persistentvolumeclaims"),
    row::<ServiceAccount>("", "ServiceAccount", "serviceaccounts"),

    row::<Seed>(CORE, "Seed", "seeds").of_seeds(Profile::Document).expected(),
    row::<Shoot>(CORE, "Shoot", "shoots").of_seeds(Profile::Document).expected(),
    row::<ManagedSeed>(SEED_MANAGEMENT, "ManagedSeed", "managedseeds").of_seeds(Profile::Document),
    row::<Project>(CORE, "Project", "projects").of_seeds(Profile::Document),
    row::<SecretBinding>(CORE, "SecretBinding", "secretbindings").of_seeds(Profile::Document),
    row::<CredentialsBinding>(SECURITY, "CredentialsBinding", "credentialsbindings").of_seeds(Profile::Current),
    row::<BackupBucket>(CORE, "BackupBucket", "backupbuckets").of_seeds(Profile::Document),
    row::<BackupEntry>(CORE, "BackupEntry", "backupentries").of_seeds(Profile::Document),
    row::<ControllerInstallation>(CORE, "ControllerInstallation", "controllerinstallations").of_seeds(Profile::Document),
    row::<ControllerDeployment>(CORE, "ControllerDeployment", "controllerdeployments").of_seeds(Profile::Current),
    row::<Bastion>(OPERATIONS, "Bastion", "bastions").of_seeds(Profile::Current),
    row::<Gardenlet>(SEED_MANAGEMENT, "Gardenlet", "gardenlets").of_seeds(Profile::Current),
    row::<BootstrapServiceAccount>("", "ServiceAccount", "serviceaccounts").of_seeds(Profile::Current),
    row::<SeedClientRequest>(CERTIFICATES, "CertificateSigningRequest", "certificatesigningrequests").of_seeds(Profile::Current),
];

const fn row<T: Watched>(group: &'static str, kind: &'static str, plural: &'static str) -> Row {
    Row {
        anchor: Anchor::Node,
        group,
        kind,
        plural,
        expected: false,
        since: Profile::Document,
        apply: apply::<T>,
    }
}

impl Row {
    const fn expected(self) -> Self {
        Self { expected: true, ..self }
    }

    const fn of_seeds(self, since: Profile) -> Self {
        Self {
            anchor: Anchor::Seed,
            since,
            ..self
        }
    }

    /// Whether it counts where these are the rules for seeds.
    pub(super) fn is_for(&self, profile: Option<Profile>) -> bool {
        match (self.anchor, profile) {
            (Anchor::Node, _) | (Anchor::Seed, Some(Profile::Current)) => true,
            (Anchor::Seed, Some(Profile::Document)) => self.since == Profile::Document,
            (Anchor::Seed, None) => false,
        }
    }
}

fn apply<T: Watched>(object: &Value, store: &mut Store) -> anyhow::Result<()> {
    let object = T::deserialize(object)?;
    if object.meta().name().is_empty() {
        anyhow::bail!("it has no name");
    }
    store.apply(&object);
    Ok(())
}
