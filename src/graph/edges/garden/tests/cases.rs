//! What follows from the edges, in a garden like the one that Gardener's document describes.

use serde_json::{Value, json};

use super::{super::*, annotated, object, seed_request};
use crate::graph::{Anchor, Snapshot, Store};

struct Garden(Store);

impl Garden {
    /// Two seeds with a shoot each, and a third seed that is a shoot of the first.
    fn new() -> Self {
        let mut garden = Self(Store::new(Anchor::Seed));
        for seed in ["seed-a", "seed-b", "child"] {
            garden.put::<Seed>(object("", seed, json!({})));
        }
        garden.put::<Shoot>(s1());
        let s2 = json!({"spec": {"seedName": "seed-b", "cloudProfileName": "cp2"}});
        garden.put::<Shoot>(object("garden-p2", "s2", s2));
        garden.put::<SecretBinding>(binding("x"));
        garden.put::<Project>(object("", "p1", json!({"spec": {"namespace": "garden-p1"}})));
        garden.put::<Shoot>(object("garden", "child", json!({"spec": {"seedName": "seed-a"}})));
        garden.put::<ManagedSeed>(managed());
        for (bucket, seed) in [("UA", "seed-a"), ("UB", "seed-b")] {
            garden.put::<BackupBucket>(object("", bucket, json!({"spec": {"seedName": seed}})));
        }
        garden
    }

    fn put<T: Watched>(&mut self, object: Value) {
        self.0.apply(&serde_json::from_value::<T>(object).unwrap());
    }

    fn delete(&mut self, kind: Kind, namespace: &str, name: &str) {
        self.0.delete(Key::new(kind, namespace, name));
    }

    /// Which of the seeds the object leads to.
    fn readers(&mut self, kind: Kind, namespace: &str, name: &str) -> Vec<&'static str> {
        let snapshot = self.0.publish();
        let mut seeds = vec!["child", "seed-a", "seed-b"];
        seeds.retain(|seed| snapshot.reaches(seed, Key::new(kind, namespace, name)));
        seeds
    }

    fn snapshot(&mut self) -> std::sync::Arc<Snapshot> {
        self.0.publish()
    }
}

fn s1() -> Value {
    let audit = json!({"auditConfig": {"auditPolicy": {"configMapRef": {"name": "aud1"}}}});
    let spec = json!({
        "seedName": "seed-a", "cloudProfileName": "cp1", "secretBindingName": "sb1", "kubernetes": {"kubeAPIServer": audit},
    });
    object("garden-p1", "s1", json!({"spec": spec}))
}

fn binding(secret: &str) -> Value {
    object(
        "garden-p1",
        "sb1",
        json!({"secretRef": {"namespace": "garden-p1", "name": secret}}),
    )
}

fn managed() -> Value {
    let reference = |name: &str| json!({"apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": name});
    let seed_config = json!({"spec": {
        "backup": {"credentialsRef": reference("backup")}, "resources": [{"name": "r", "resourceRef": reference("for-child")}],
    }});
    let gardenlet = json!({"bootstrap": "BootstrapToken", "config": {"seedConfig": seed_config}});
    object(
        "garden",
        "child",
        json!({"spec": {"shoot": {"name": "child"}, "gardenlet": gardenlet}}),
    )
}

#[test]
fn a_seed_reaches_what_its_shoots_need() {
    let mut garden = Garden::new();
    for (kind, namespace, name, readers) in [
        (Kind::CloudProfile, "", "cp1", vec!["seed-a"]),
        (Kind::CloudProfile, "", "cp2", vec!["seed-b"]),
        (Kind::Namespace, "", "garden-p1", vec!["seed-a"]),
        (Kind::Namespace, "", "garden-p2", vec!["seed-b"]),
        (Kind::Namespace, "", "seed-seed-a", vec!["seed-a"]),
        (Kind::Project, "", "p1", vec!["seed-a"]),
        (Kind::SecretBinding, "garden-p1", "sb1", vec!["seed-a"]),
        (Kind::Secret, "garden-p1", "x", vec!["seed-a"]),
        (Kind::Secret, "garden-p1", "s1.monitoring", vec!["seed-a"]),
        (Kind::ConfigMap, "garden-p1", "aud1", vec!["seed-a"]),
        (
            Kind::ConfigMap,
            "kube-system",
            "cluster-identity",
            vec!["child", "seed-a", "seed-b"],
        ),
        (Kind::Lease, "gardener-system-seed-lease", "seed-b", vec!["seed-b"]),
        (Kind::ShootState, "garden-p1", "s1", vec!["seed-a"]),
        (Kind::BackupBucket, "", "UB", vec!["seed-b"]),
        (Kind::Secret, "garden", "u", vec![]),
    ] {
        assert_eq!(garden.readers(kind, namespace, name), readers, "{kind:?} {name}");
    }
    let snapshot = garden.snapshot();
    let path = snapshot
        .path("seed-a", Key::new(Kind::Secret, "garden-p1", "x"))
        .unwrap();
    let expected = "seed-a ← shoot garden-p1/s1 (spec.secretBindingName) ← secretbinding garden-p1/sb1 (secretRef) ← secret garden-p1/x";
    assert_eq!(path.to_string(), expected);
}

/// A project is there for whoever has a shoot in it, and not because of its namespace alone.
#[test]
fn the_last_shoot_takes_the_project_with_it() {
    let mut garden = Garden::new();
    garden.delete(Kind::Shoot, "garden-p1", "s1");
    assert_eq!(garden.readers(Kind::Project, "", "p1"), [""; 0]);
    assert_eq!(garden.readers(Kind::Namespace, "", "garden-p1"), [""; 0]);
    garden.put::<Shoot>(s1());
    assert_eq!(garden.readers(Kind::Project, "", "p1"), ["seed-a"]);
}

#[test]
fn a_binding_changes_goes_and_comes_again() {
    let mut garden = Garden::new();
    garden.put::<SecretBinding>(binding("y"));
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "x"), [""; 0]);
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "y"), ["seed-a"]);
    assert_eq!(garden.readers(Kind::SecretBinding, "garden-p1", "sb1"), ["seed-a"]);
    garden.delete(Kind::SecretBinding, "garden-p1", "sb1");
    assert_eq!(
        garden.readers(Kind::SecretBinding, "garden-p1", "sb1"),
        ["seed-a"],
        "still named"
    );
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "y"), [""; 0]);
    garden.put::<SecretBinding>(binding("y"));
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "y"), ["seed-a"], "at once");
}

#[test]
fn what_two_shoots_share_stays_for_the_other() {
    let mut garden = Garden::new();
    let spec = json!({"seedName": "seed-a", "cloudProfileName": "cp1", "secretBindingName": "sb1"});
    garden.put::<Shoot>(object("garden-p1", "s3", json!({"spec": spec})));
    garden.delete(Kind::Shoot, "garden-p1", "s1");
    assert_eq!(garden.readers(Kind::CloudProfile, "", "cp1"), ["seed-a"]);
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "x"), ["seed-a"]);
    assert_eq!(garden.readers(Kind::ConfigMap, "garden-p1", "aud1"), [""; 0]);
    garden.delete(Kind::Shoot, "garden-p1", "s3");
    assert_eq!(garden.readers(Kind::CloudProfile, "", "cp1"), [""; 0]);
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "x"), [""; 0]);
}

/// The shoot goes and comes again while the ManagedSeed stays, and the other way round.
#[test]
fn a_managed_seed_does_not_lose_its_shoot() {
    let mut garden = Garden::new();
    let managed_seed = |garden: &mut Garden| garden.readers(Kind::ManagedSeed, "garden", "child");
    assert_eq!(managed_seed(&mut garden), ["child", "seed-a"]);
    garden.delete(Kind::Shoot, "garden", "child");
    assert_eq!(managed_seed(&mut garden), ["child"]);
    garden.put::<Shoot>(object("garden", "child", json!({"spec": {"seedName": "seed-b"}})));
    assert_eq!(managed_seed(&mut garden), ["child", "seed-b"]);
    garden.delete(Kind::ManagedSeed, "garden", "child");
    assert_eq!(managed_seed(&mut garden), [""; 0]);
    assert_eq!(
        garden.readers(Kind::Secret, "garden", "for-child"),
        [""; 0],
        "nothing stays behind"
    );
    assert_eq!(garden.readers(Kind::Secret, "garden", "backup"), [""; 0]);
    garden.put::<ManagedSeed>(managed());
    assert_eq!(managed_seed(&mut garden), ["child", "seed-b"]);
}

/// Who has the shoot that a seed is has the seed and what belongs to its making, and nothing that is on it.
#[test]
fn nothing_leads_through_a_seed() {
    let mut garden = Garden::new();
    let spec = json!({"seedName": "child", "cloudProfileName": "cp4", "secretBindingName": "sb4"});
    garden.put::<Shoot>(object("garden-p4", "s4", json!({"spec": spec})));
    garden.put::<BackupBucket>(object("", "UC", json!({"spec": {"seedName": "child"}})));
    garden.put::<SeedClientRequest>(object(
        "",
        "csr",
        json!({"spec": {
            "request": seed_request("child"), "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth", "digital signature", "key encipherment"],
        }}),
    ));
    for (kind, namespace, name) in [
        (Kind::Shoot, "garden-p4", "s4"),
        (Kind::CloudProfile, "", "cp4"),
        (Kind::SecretBinding, "garden-p4", "sb4"),
        (Kind::BackupBucket, "", "UC"),
        (Kind::Namespace, "", "seed-child"),
        (Kind::Lease, "gardener-system-seed-lease", "child"),
        (Kind::CertificateSigningRequest, "", "csr"),
        (Kind::Secret, "garden", "for-child"),
    ] {
        assert_eq!(garden.readers(kind, namespace, name), ["child"], "{kind:?} {name}");
    }
    for (kind, namespace, name) in [
        (Kind::Seed, "", "child"),
        (Kind::ManagedSeed, "garden", "child"),
        (Kind::Secret, "garden", "backup"),
    ] {
        assert_eq!(
            garden.readers(kind, namespace, name),
            ["child", "seed-a"],
            "{kind:?} {name}"
        );
    }
    assert_eq!(garden.readers(Kind::Shoot, "garden", "child"), ["seed-a"]);
    assert_eq!(garden.readers(Kind::Seed, "", "seed-a"), ["seed-a"]);
    let snapshot = garden.snapshot();
    let seed = snapshot.path("seed-a", Key::cluster(Kind::Seed, "child")).unwrap();
    let expected =
        "seed-a ← shoot garden/child ← managedseed garden/child (spec.shoot.name, metadata.name) ← seed child";
    assert_eq!(seed.to_string(), expected);
}

/// Only the field for backups makes a secret one of the ManagedSeed itself.
#[test]
fn the_backup_of_a_managed_seed_is_told_from_the_rest() {
    let mut garden = Garden::new();
    garden.0.settle_bootstrap("garden", "child", 0);
    let snapshot = garden.snapshot();
    let by = |name| snapshot.reaches_by("seed-a", Key::new(Kind::Secret, "garden", name), Kind::ManagedSeed);
    assert!(by("backup") && !by("for-child"));
}

#[test]
fn a_shoot_that_moves_is_on_both_seeds() {
    let mut garden = Garden::new();
    let mut moving = s1();
    moving["spec"]["seedName"] = json!("seed-b");
    moving["status"] = json!({"seedName": "seed-a"});
    garden.put::<Shoot>(moving.clone());
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "x"), ["seed-a", "seed-b"]);
    moving["status"]["seedName"] = json!("seed-b");
    garden.put::<Shoot>(moving);
    assert_eq!(garden.readers(Kind::Secret, "garden-p1", "x"), ["seed-b"]);
    assert_eq!(garden.readers(Kind::Project, "", "p1"), ["seed-b"]);
}

#[test]
fn a_bucket_is_found_by_its_entry() {
    let mut garden = Garden::new();
    let spec = json!({"bucketName": "UB", "seedName": "seed-a"});
    garden.put::<BackupEntry>(object("garden-p1", "e1", json!({"spec": spec})));
    assert_eq!(garden.readers(Kind::BackupBucket, "", "UB"), ["seed-a", "seed-b"]);
    let snapshot = garden.snapshot();
    let bucket = Key::cluster(Kind::BackupBucket, "UB");
    assert!(!snapshot.reaches_by("seed-a", bucket, Kind::Seed) && snapshot.reaches_by("seed-b", bucket, Kind::Seed));
    garden.delete(Kind::BackupEntry, "garden-p1", "e1");
    assert_eq!(garden.readers(Kind::BackupBucket, "", "UB"), ["seed-b"]);
}

#[test]
fn an_issuer_is_found_without_its_project() {
    let mut garden = Garden::new();
    let secret = ("gardener-system-shoot-issuer", "--uid-s1");
    assert_eq!(garden.readers(Kind::Secret, secret.0, secret.1), [""; 0]);
    garden.put::<Shoot>(annotated(s1(), "authentication.gardener.cloud/issuer", "managed"));
    assert_eq!(garden.readers(Kind::Secret, secret.0, secret.1), ["seed-a"]);
}
