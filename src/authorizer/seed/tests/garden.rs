//! Two seeds and one that is made of a shoot of the first, with a project and a shoot on each.

use std::sync::Arc;

use crate::graph::{Anchor, Asserts, Edge, Key, Kind, Snapshot, Store, Template};

/// An object that says what it is told to.
struct Object {
    key: Key<'static>,
    edges: Vec<Edge<'static>>,
}

impl Asserts for Object {
    fn key(&self) -> Key<'_> {
        self.key
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        self.edges.iter().copied().for_each(visit);
    }
}

pub(super) fn graph() -> Arc<Snapshot> {
    let mut store = Store::new(Anchor::Seed);
    let needs = |kind, namespace, name| Edge::new(Key::new(kind, namespace, name), Template::SECRET_VOLUME.at(0, 0));
    let to = |kind, namespace, name| Edge::new(Key::new(kind, namespace, name), Template::CLAIM_REF.field());
    let on = |seed| to(Kind::Seed, "", seed);
    let objects = [
        (
            Key::cluster(Kind::Seed, "seed-a"),
            vec![
                needs(Kind::Namespace, "", "seed-seed-a"),
                needs(Kind::Lease, "gardener-system-seed-lease", "seed-a"),
                needs(Kind::ConfigMap, "kube-system", "cluster-identity"),
                needs(Kind::WorkloadIdentity, "garden", "dns"),
            ],
        ),
        (
            Key::cluster(Kind::Seed, "seed-b"),
            vec![needs(Kind::Lease, "gardener-system-seed-lease", "seed-b")],
        ),
        (
            Key::new(Kind::Shoot, "garden-p1", "s1"),
            vec![
                on("seed-a"),
                needs(Kind::CloudProfile, "", "cp1"),
                needs(Kind::ConfigMap, "garden-p1", "aud1"),
                needs(Kind::CredentialsBinding, "garden-p1", "cb1"),
                needs(Kind::ExposureClass, "", "ec1"),
                needs(Kind::InternalSecret, "garden-p1", "s1.ca-client"),
                needs(Kind::Namespace, "", "garden-p1"),
                needs(Kind::NamespacedCloudProfile, "garden-p1", "ncp1"),
                needs(Kind::Secret, "garden-p1", "s1.monitoring"),
                needs(Kind::Secret, "gardener-system-shoot-issuer", "--u1"),
                needs(Kind::SecretBinding, "garden-p1", "sb1"),
                needs(Kind::ShootState, "garden-p1", "s1"),
            ],
        ),
        (
            Key::new(Kind::Shoot, "garden-p2", "s2"),
            vec![
                on("seed-b"),
                needs(Kind::CloudProfile, "", "cp2"),
                needs(Kind::Namespace, "", "garden-p2"),
            ],
        ),
        // On the seed that is made of the shoot of another.
        (Key::new(Kind::Shoot, "garden-p1", "s4"), vec![on("child")]),
        (
            Key::cluster(Kind::Project, "p1"),
            vec![to(Kind::Namespace, "", "garden-p1")],
        ),
        (
            Key::cluster(Kind::Project, "p2"),
            vec![to(Kind::Namespace, "", "garden-p2")],
        ),
        (
            Key::new(Kind::SecretBinding, "garden-p1", "sb1"),
            vec![needs(Kind::Secret, "garden-p1", "x")],
        ),
        (Key::new(Kind::Shoot, "garden", "child"), vec![on("seed-a")]),
        (
            Key::new(Kind::ManagedSeed, "garden", "child"),
            vec![
                needs(Kind::Seed, "", "child"),
                to(Kind::Shoot, "garden", "child"),
                on("child"),
                needs(Kind::ServiceAccount, "garden", "gardenlet-bootstrap-child"),
                needs(Kind::ClusterRoleBinding, "", CHILD_BINDING),
            ],
        ),
        (
            Key::new(Kind::BackupEntry, "garden-p1", "e1"),
            vec![
                on("seed-a"),
                needs(Kind::BackupBucket, "", "ua"),
                needs(Kind::BackupBucket, "", "ub"),
            ],
        ),
        (Key::cluster(Kind::BackupBucket, "ua"), vec![on("seed-a")]),
        (Key::cluster(Kind::BackupBucket, "ub"), vec![on("seed-b")]),
        (Key::new(Kind::Bastion, "garden-p1", "b1"), vec![on("seed-a")]),
        (
            Key::cluster(Kind::CertificateSigningRequest, "csr1"),
            vec![on("seed-a")],
        ),
        (
            Key::cluster(Kind::ControllerInstallation, "ci1"),
            vec![on("seed-a"), needs(Kind::ControllerDeployment, "", "cd1")],
        ),
        (Key::cluster(Kind::ControllerInstallation, "ci2"), vec![on("seed-b")]),
        (Key::new(Kind::Gardenlet, "garden", "seed-a"), vec![on("seed-a")]),
    ];
    for (key, edges) in objects {
        store.apply(&Object { key, edges });
    }
    store.publish()
}

pub(super) const CHILD_BINDING: &str = "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child";
