//! A garden with two seeds, and a third one that is a shoot of the first.

use serde_json::{Value, json};

pub(super) const CORE: &str = "core.gardener.cloud";

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    /// The gardenlet of a seed.
    Gardenlet(&'static str),
    /// A service account of that name in the namespace of `seed-a`.
    Account(&'static str),
    /// The name of a gardenlet without its group.
    Impostor,
}

impl Who {
    /// The user as both kinds of question name it.
    pub(super) fn user(self) -> Value {
        match self {
            Self::Gardenlet(seed) => {
                json!({"user": format!("gardener.cloud:system:seed:{seed}"), "groups": ["gardener.cloud:system:seeds"]})
            }
            Self::Account(name) => json!({
                "user": format!("system:serviceaccount:seed-seed-a:{name}"),
                "groups": ["system:serviceaccounts", "system:serviceaccounts:seed-seed-a", "system:authenticated"],
            }),
            Self::Impostor => json!({"user": "gardener.cloud:system:seed:seed-a", "groups": ["system:authenticated"]}),
        }
    }
}

pub(super) fn world() -> Vec<Value> {
    let mut s1 = shoot("garden-p1", "s1", "seed-a", "cp1");
    s1["spec"]["secretBindingName"] = json!("sb1");
    s1["spec"]["kubernetes"] = json!({"version": "1.34.1", "kubeAPIServer": {"auditConfig": {"auditPolicy": {"configMapRef": {"name": "aud1"}}}}});
    vec![
        seed("seed-a", "ua"),
        seed("seed-b", "ub"),
        s1,
        shoot("garden-p2", "s2", "seed-b", "cp2"),
        binding("x"),
        core("Project", "", "p1", &json!({"spec": {"namespace": "garden-p1"}})),
        shoot("garden", "child", "seed-a", "cp1"),
        managed_seed(),
        bucket("ua", Some("seed-a")),
        bucket("ub", Some("seed-b")),
    ]
}

pub(super) fn seed(name: &str, uid: &str) -> Value {
    let mut seed = core("Seed", "", name, &json!({"spec": {}}));
    seed["metadata"]["uid"] = json!(uid);
    seed
}

pub(super) fn shoot(namespace: &str, name: &str, seed: &str, cloud_profile: &str) -> Value {
    let cloud_profile = json!({"kind": "CloudProfile", "name": cloud_profile});
    core(
        "Shoot",
        namespace,
        name,
        &json!({"spec": {"seedName": seed, "cloudProfile": cloud_profile}}),
    )
}

/// The SecretBinding of `s1`, for one Secret or another.
pub(super) fn binding(secret: &str) -> Value {
    let reference = json!({"namespace": "garden-p1", "name": secret});
    core("SecretBinding", "garden-p1", "sb1", &json!({"secretRef": reference}))
}

pub(super) fn bucket(name: &str, seed: Option<&str>) -> Value {
    let credentials = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": "backup"});
    let mut bucket = core(
        "BackupBucket",
        "",
        name,
        &json!({"spec": {"credentialsRef": credentials}}),
    );
    if let Some(seed) = seed {
        bucket["spec"]["seedName"] = json!(seed);
    }
    bucket
}

pub(super) fn entry(name: &str, seed: &str, bucket: &str) -> Value {
    let spec = json!({"spec": {"seedName": seed, "bucketName": bucket}});
    let mut entry = core("BackupEntry", "garden-p1", name, &spec);
    entry["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "name": "s1", "uid": "u"}]);
    entry
}

pub(super) fn managed_seed() -> Value {
    json!({
        "apiVersion": "seedmanagement.gardener.cloud/v1alpha1", "kind": "ManagedSeed",
        "metadata": {"namespace": "garden", "name": "child"},
        "spec": {"shoot": {"name": "child"}, "gardenlet": {"bootstrap": "BootstrapToken", "config": {"seedConfig": {"spec": {}}}}},
    })
}

/// An object of Gardener's own group, with these fields besides its name.
pub(super) fn core(kind: &str, namespace: &str, name: &str, fields: &Value) -> Value {
    let mut object = fields.clone();
    object["apiVersion"] = json!("core.gardener.cloud/v1beta1");
    object["kind"] = json!(kind);
    object["metadata"] = json!({"name": name});
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    object
}
