//! Gardens that nobody has thought of: objects of every kind, which refer to each other at random.

use serde_json::{Value, json};

use crate::random::Random;

pub(super) const SEEDS: &[&str] = &["seed-a", "seed-b", "child"];
pub(super) const NAMESPACES: &[&str] = &["garden-p1", "garden-p2", "garden"];
pub(super) const NAMES: &[&str] = &["s1", "s2", "child"];
/// Of what others refer to.
pub(super) const THINGS: &[&str] = &["x", "y", "z"];

/// Every kind that a graph is made of.
pub(super) const KINDS: &[&str] = &[
    "BackupBucket",
    "BackupEntry",
    "Bastion",
    "ControllerDeployment",
    "ControllerInstallation",
    "CredentialsBinding",
    "Gardenlet",
    "ManagedSeed",
    "Project",
    "SecretBinding",
    "Seed",
    "ServiceAccount",
    "Shoot",
];

/// One of a kind, with fields that Gardener has today.
pub(super) fn object(random: &mut Random, kind: &str) -> Value {
    let namespace = random.pick(NAMESPACES);
    let name = random.pick(NAMES);
    match kind {
        "BackupBucket" => made(
            "core.gardener.cloud/v1beta1",
            kind,
            "",
            random.pick(&["ua", "ub"]),
            |object| {
                object["spec"] = json!({
                    "seedName": random.pick(SEEDS), "credentialsRef": credentials(random),
                    "shootRef": {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "namespace": namespace, "name": name},
                });
                if random.one_in(2) {
                    object["spec"].as_object_mut().unwrap().remove("shootRef");
                }
                if random.one_in(2) {
                    let generated = format!("generated-bucket-{}", object["metadata"]["name"].as_str().unwrap());
                    object["status"] = json!({"generatedSecretRef": {"namespace": "garden", "name": generated}});
                }
            },
        ),
        "BackupEntry" => made(
            "core.gardener.cloud/v1beta1",
            kind,
            namespace,
            random.pick(&["e1", "e2"]),
            |object| {
                object["spec"] = json!({"seedName": random.pick(SEEDS), "bucketName": random.pick(&["ua", "ub"])});
                if random.one_in(2) {
                    object["status"] = json!({"seedName": random.pick(SEEDS)});
                }
                let owner = random.pick(&["Shoot", "Seed"]);
                object["metadata"]["ownerReferences"] =
                    json!([{"apiVersion": "core.gardener.cloud/v1beta1", "kind": owner, "name": name, "uid": "u"}]);
            },
        ),
        "Bastion" => made("operations.gardener.cloud/v1alpha1", kind, namespace, "b1", |object| {
            object["spec"] = json!({"shootRef": {"name": name}, "seedName": random.pick(SEEDS)});
        }),
        "ControllerDeployment" => made(
            "core.gardener.cloud/v1",
            kind,
            "",
            random.pick(&["cd1", "cd2"]),
            |object| {
                object["helm"] = json!({"ociRepository": {
                    "ref": "r", "pullSecretRef": {"name": random.pick(THINGS)}, "caBundleSecretRef": {"name": random.pick(THINGS)},
                }});
                object["resources"] = resources(random);
            },
        ),
        "ControllerInstallation" => made(
            "core.gardener.cloud/v1beta1",
            kind,
            "",
            random.pick(&["ci1", "ci2"]),
            |object| {
                object["spec"] = json!({
                    "registrationRef": {"name": random.pick(THINGS)},
                    "deploymentRef": {"name": random.pick(&["cd1", "cd2"])},
                    "seedRef": {"name": random.pick(SEEDS)},
                });
            },
        ),
        "CredentialsBinding" => made(
            "security.gardener.cloud/v1alpha1",
            kind,
            namespace,
            random.pick(THINGS),
            |object| {
                object["credentialsRef"] = credentials(random);
                object["provider"] = json!({"type": "t"});
            },
        ),
        "Gardenlet" => made(
            "seedmanagement.gardener.cloud/v1alpha1",
            kind,
            "garden",
            random.pick(SEEDS),
            |object| {
                object["spec"] = json!({
                    "deployment": {"helm": {"ociRepository": {"ref": "r", "pullSecretRef": {"name": random.pick(THINGS)}}}},
                    "config": configuration(random),
                });
            },
        ),
        "ManagedSeed" => made(
            "seedmanagement.gardener.cloud/v1alpha1",
            kind,
            "garden",
            random.pick(SEEDS),
            |object| {
                object["spec"] = json!({
                    "shoot": {"name": random.pick(NAMES)},
                    "gardenlet": {
                        "bootstrap": random.pick(&["BootstrapToken", "ServiceAccount", "None"]), "config": configuration(random),
                    },
                });
                if random.one_in(4) {
                    object["metadata"]["annotations"] = json!({"gardener.cloud/operation": "renew-kubeconfig"});
                }
            },
        ),
        "Project" => made(
            "core.gardener.cloud/v1beta1",
            kind,
            "",
            random.pick(&["p1", "p2"]),
            |object| {
                object["spec"] = json!({"namespace": namespace});
            },
        ),
        "SecretBinding" => made(
            "core.gardener.cloud/v1beta1",
            kind,
            namespace,
            random.pick(THINGS),
            |object| {
                object["secretRef"] = json!({"namespace": random.pick(NAMESPACES), "name": random.pick(THINGS)});
            },
        ),
        "Seed" => made("core.gardener.cloud/v1beta1", kind, "", random.pick(SEEDS), |object| {
            object["spec"] = json!({
                "backup": {"credentialsRef": credentials(random)},
                "dns": {
                    "provider": {"type": "t", "credentialsRef": credentials(random)},
                    "internal": {"type": "t", "domain": "d", "credentialsRef": credentials(random)},
                    "defaults": [{"type": "t", "domain": "d", "credentialsRef": credentials(random)}],
                },
                "resources": resources(random),
            });
            let expires = random.pick(&["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]);
            object["status"] = json!({"clientCertificateExpirationTimestamp": expires});
        }),
        "ServiceAccount" => made(
            "v1",
            kind,
            "garden",
            random.pick(&["gardenlet-bootstrap-child", "gardenlet-bootstrap-seed-b"]),
            |object| {
                object["secrets"] = json!([{"name": random.pick(THINGS)}]);
            },
        ),
        "Shoot" => made("core.gardener.cloud/v1beta1", kind, namespace, name, |object| {
            shoot(random, object);
        }),
        kind => panic!("no {kind} is made"),
    }
}

fn shoot(random: &mut Random, object: &mut Value) {
    let (namespace, name) = (&object["metadata"]["namespace"], &object["metadata"]["name"]);
    let uid = format!("uid-of-{}-{}", namespace.as_str().unwrap(), name.as_str().unwrap());
    object["metadata"]["uid"] = json!(uid);
    object["spec"] = json!({
        "cloudProfile": {"kind": random.pick(&["CloudProfile", "NamespacedCloudProfile"]), "name": random.pick(THINGS)},
        "secretBindingName": random.pick(THINGS),
        "credentialsBindingName": random.pick(THINGS),
        "exposureClassName": random.pick(THINGS),
        "dns": {"providers": [{"credentialsRef": local(random)}]},
        "kubernetes": {"version": "1.34.1", "kubeAPIServer": {
            "auditConfig": {"auditPolicy": {"configMapRef": {"name": random.pick(THINGS)}}},
            "structuredAuthentication": {"configMapName": random.pick(THINGS)},
            "structuredAuthorization": {
                "configMapName": random.pick(THINGS),
                "kubeconfigs": [{"authorizerName": "a", "secretName": random.pick(THINGS)}],
            },
        }},
        "resources": resources(random),
    });
    for (part, key) in [("spec", "seedName"), ("status", "seedName")] {
        if !random.one_in(3) {
            object[part][key] = json!(random.pick(SEEDS));
        }
    }
    for name in [
        "secretBindingName",
        "credentialsBindingName",
        "exposureClassName",
        "dns",
        "resources",
    ] {
        if random.one_in(2) {
            object["spec"].as_object_mut().unwrap().remove(name);
        }
    }
    if random.one_in(2) {
        object["metadata"]["annotations"] = json!({"authentication.gardener.cloud/issuer": "managed"});
    }
}

/// The configuration of a gardenlet, with the seed that it is for.
fn configuration(random: &mut Random) -> Value {
    json!({
        "apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration",
        "seedConfig": {"spec": {"backup": {"credentialsRef": credentials(random)}, "resources": resources(random)}},
    })
}

fn credentials(random: &mut Random) -> Value {
    let (version, kind) = random.pick(&[
        ("v1", "Secret"),
        ("security.gardener.cloud/v1alpha1", "WorkloadIdentity"),
    ]);
    json!({"apiVersion": version, "kind": kind, "namespace": random.pick(NAMESPACES), "name": random.pick(THINGS)})
}

/// In the namespace of whoever refers to it.
fn local(random: &mut Random) -> Value {
    let mut credentials = credentials(random);
    credentials.as_object_mut().unwrap().remove("namespace");
    credentials
}

fn resources(random: &mut Random) -> Value {
    let kinds = [
        ("v1", "Secret"),
        ("v1", "ConfigMap"),
        ("security.gardener.cloud/v1alpha1", "WorkloadIdentity"),
    ];
    let some = (0..random.below(3)).map(|at| {
        let (version, kind) = random.pick(&kinds);
        json!({"name": format!("r{at}"), "resourceRef": {"apiVersion": version, "kind": kind, "name": random.pick(THINGS)}})
    });
    some.collect()
}

fn made(version: &str, kind: &str, namespace: &str, name: &str, fill: impl FnOnce(&mut Value)) -> Value {
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    fill(&mut object);
    object
}
