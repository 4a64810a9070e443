//! Objects that gardener-apiserver accepts, with as little in them as it takes.

use serde_json::{Value, json};

use crate::garden::server;

/// With the label by which gardenlets list their own. Gardener puts it there itself, custom resources do not.
pub(super) fn seed(name: &str) -> Value {
    labelled(server::seed(name), name)
}

pub(super) fn labelled(mut object: Value, seed: &str) -> Value {
    object["metadata"]["labels"] = json!({format!("name.seed.gardener.cloud/{seed}"): "true"});
    object
}

/// With workers, as only those have a binding; with a config map for its audit policy.
pub(super) fn shoot(namespace: &str, name: &str, seed: &str, profile: &str) -> Value {
    let mut shoot = server::shoot(namespace, name, seed);
    shoot["spec"]["cloudProfile"]["name"] = json!(profile);
    shoot["spec"]["secretBindingName"] = json!("sb1");
    let policy = json!({"auditConfig": {"auditPolicy": {"configMapRef": {"name": "aud1"}}}});
    shoot["spec"]["kubernetes"] = json!({"version": "1.33.0", "kubeAPIServer": policy});
    shoot["spec"]["networking"] = json!({"type": "calico", "nodes": "10.4.0.0/16"});
    let image = json!({"name": "i", "version": "1.0.0"});
    let worker = json!({"name": "w", "minimum": 1, "maximum": 1, "machine": {"type": "t", "image": image}});
    shoot["spec"]["provider"]["workers"] = json!([worker]);
    labelled(shoot, seed)
}

pub(super) fn cloud_profile(name: &str) -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": name}, "spec": {
        "type": "local",
        "regions": [{"name": "r"}],
        "kubernetes": {"versions": [{"version": "1.33.0"}]},
        "machineImages": [{"name": "i", "updateStrategy": "major", "versions": [{"version": "1.0.0", "cri": [{"name": "containerd"}]}]}],
        "machineTypes": [{"name": "t", "cpu": "1", "gpu": "0", "memory": "1Gi"}],
    }})
}

pub(super) fn binding(namespace: &str, secret: &str) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": {"name": "sb1", "namespace": namespace},
        "provider": {"type": "local"}, "secretRef": {"name": secret, "namespace": namespace},
    })
}

pub(super) fn project(name: &str, namespace: &str) -> Value {
    let owner = json!({"kind": "User", "name": "admin", "apiGroup": "rbac.authorization.k8s.io"});
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project", "metadata": {"name": name},
        "spec": {"namespace": namespace, "owner": owner},
    })
}

/// It stays when it is deleted, and is in deletion from then on.
pub(super) fn managed_seed(name: &str) -> Value {
    let credentials = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": "dns"});
    let internal = json!({"type": "local", "domain": "internal.example.com", "credentialsRef": credentials});
    let spec = json!({
        "provider": {"type": "local", "region": "r"},
        "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16", "nodes": "10.3.0.0/16"},
        "dns": {"internal": internal},
    });
    let config = json!({"apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration", "seedConfig": {"spec": spec}});
    let object = json!({
        "apiVersion": "seedmanagement.gardener.cloud/v1alpha1", "kind": "ManagedSeed",
        "metadata": {"namespace": "garden", "name": name, "finalizers": ["example.com/test"]},
        "spec": {"shoot": {"name": name}, "gardenlet": {"bootstrap": "BootstrapToken", "config": config}},
    });
    labelled(object, name)
}

pub(super) fn bucket(name: &str, seed: Option<&str>) -> Value {
    let credentials = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": "backup"});
    let mut bucket = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "BackupBucket", "metadata": {"name": name},
        "spec": {"provider": {"type": "local", "region": "r"}, "credentialsRef": credentials},
    });
    if let Some(seed) = seed {
        bucket["spec"]["seedName"] = json!(seed);
    }
    bucket
}

pub(super) fn entry(namespace: &str, name: &str, seed: &str, bucket: &str) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "BackupEntry", "metadata": {"name": name, "namespace": namespace},
        "spec": {"seedName": seed, "bucketName": bucket},
    })
}

pub(super) fn bastion(namespace: &str, name: &str, seed: &str) -> Value {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMVNAeEypmrlOrkiCyAo9BkjhGyLtnhM6qvKhx6IGh6G";
    json!({
        "apiVersion": "operations.gardener.cloud/v1alpha1", "kind": "Bastion", "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "shootRef": {"name": "s1"}, "seedName": seed, "providerType": "local", "sshPublicKey": key,
            "ingress": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
        },
    })
}

pub(super) fn installation(name: &str, seed: &str) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "ControllerInstallation", "metadata": {"name": name},
        "spec": {"registrationRef": {"name": "cr1"}, "deploymentRef": {"name": "cd1"}, "seedRef": {"name": seed}},
    })
}
