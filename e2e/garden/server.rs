//! A cluster that has Gardener's resources: gardener-apiserver behind kube-apiserver's aggregation layer, on the same etcd.

use std::{
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::cluster::{AUDITED, Cluster, Guard, free, missing};

/// What kube-apiserver shows to servers behind it, and [`AUDITED`].
const AGGREGATING: &[&str] = &[
    "--proxy-client-cert-file=front-proxy-client.crt",
    "--proxy-client-key-file=front-proxy-client.key",
    AUDITED[0],
    AUDITED[1],
];

/// Off, since they want more of an object, and more objects around it, than a test of who may do what needs; the last one
/// wants an annotation before anything is deleted.
const WITHOUT: &str = "ResourceReferenceManager,ExtensionValidator,ShootDNS,ShootQuotaValidator,ShootMutator,ShootValidator,\
    ShootTolerationRestriction,ManagedSeed,DeletionConfirmation";

/// Group, version, and a resource that it serves.
const SERVED: &[(&str, &str, &str)] = &[
    ("core.gardener.cloud", "v1", "controllerdeployments"),
    ("core.gardener.cloud", "v1beta1", "seeds"),
    ("operations.gardener.cloud", "v1alpha1", "bastions"),
    ("security.gardener.cloud", "v1alpha1", "credentialsbindings"),
    ("seedmanagement.gardener.cloud", "v1alpha1", "managedseeds"),
];

const START: Duration = Duration::from_secs(60);

/// A cluster of its own for a test, with the namespaces `garden` and `garden-p1`, and no seeds yet.
pub(super) async fn garden() -> Option<Cluster> {
    let Some(program) = std::env::var_os("SCOPEGATE_GARDENER_APISERVER").map(PathBuf::from) else {
        missing("SCOPEGATE_GARDENER_APISERVER, gardener-apiserver");
        return None;
    };
    let cluster = Cluster::start(Guard::None, AGGREGATING, "").await?;
    let address = free();
    let port = address.port().to_string();
    cluster.spawn(
        address,
        Command::new(program)
            .args(["--etcd-servers", &cluster.etcd(), "--bind-address", "127.0.0.1"])
            .args(["--secure-port", &port])
            .args(["--tls-cert-file", "server.crt", "--tls-private-key-file", "server.key"])
            .args(["--kubeconfig", "admin.kubeconfig"])
            .args(["--authentication-kubeconfig", "admin.kubeconfig"])
            .args(["--authorization-kubeconfig", "admin.kubeconfig"])
            .args(["--cluster-identity", "garden", "--disable-admission-plugins", WITHOUT]),
        "gardener-apiserver.log",
    );
    for (name, project) in [("garden", "garden"), ("garden-p1", "p1")] {
        let labels = json!({"gardener.cloud/role": "project", "project.gardener.cloud/name": project});
        let namespace = json!({"metadata": {"name": name, "labels": labels}});
        cluster.create("/api/v1/namespaces", &namespace).await;
    }
    let service = json!({"metadata": {"name": "gardener-apiserver"}, "spec": {"type": "ExternalName", "externalName": "localhost"}});
    cluster.create("/api/v1/namespaces/garden/services", &service).await;
    for (group, version, _) in SERVED {
        let service = json!({"namespace": "garden", "name": "gardener-apiserver", "port": address.port()});
        let spec = json!({"group": group, "version": version, "groupPriorityMinimum": 9999, "versionPriority": 19,
            "insecureSkipTLSVerify": true, "service": service});
        let registration = json!({"metadata": {"name": format!("{version}.{group}")}, "spec": spec});
        cluster
            .create("/apis/apiregistration.k8s.io/v1/apiservices", &registration)
            .await;
    }
    // It says that it is ready before it knows whose certificates to believe, so only an answer tells.
    let began = Instant::now();
    for (group, version, resource) in SERVED {
        let path = format!("/apis/{group}/{version}/{resource}");
        loop {
            let answer = cluster.send("admin", Request::get(&path), "").await;
            if answer.code == StatusCode::OK {
                break;
            }
            assert!(began.elapsed() < START, "{path}: {}", answer.body);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    Some(cluster)
}

/// As little of a Seed as Gardener accepts.
pub(super) fn seed(name: &str) -> Value {
    let credentials = json!({"apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": "dns"});
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed", "metadata": {"name": name}, "spec": {
        "provider": {"type": "local", "region": "r"},
        "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
        "dns": {
            "internal": {"type": "local", "domain": "internal.example.com", "credentialsRef": credentials},
            "provider": {"type": "local", "credentialsRef": credentials},
        },
        "ingress": {"domain": "ingress.example.com", "controller": {"kind": "nginx"}},
    }})
}

/// The same of a Shoot, without workers.
pub(super) fn shoot(namespace: &str, name: &str, seed: &str) -> Value {
    let metadata = json!({"namespace": namespace, "name": name});
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": metadata, "spec": {
        "cloudProfile": {"kind": "CloudProfile", "name": "cp1"},
        "region": "r",
        "seedName": seed,
        "kubernetes": {"version": "1.34.1"},
        "provider": {"type": "local"},
    }})
}

#[tokio::test]
async fn a_cluster_has_gardeners_resources() {
    let Some(cluster) = garden().await else {
        return;
    };
    let core = "/apis/core.gardener.cloud/v1beta1";
    cluster.create(&format!("{core}/seeds"), &seed("seed-a")).await;
    for (name, seed) in [("s1", "seed-a"), ("s2", "seed-b")] {
        let shoot = shoot("garden-p1", name, seed);
        cluster
            .create(&format!("{core}/namespaces/garden-p1/shoots"), &shoot)
            .await;
    }
    // Gardener puts the label there by which a gardenlet lists what is its own.
    for (resource, own) in [("seeds", "seed-a"), ("shoots", "s1")] {
        let path = format!("{core}/{resource}?labelSelector=name.seed.gardener.cloud%2Fseed-a%3Dtrue");
        let answer = cluster.send("admin", Request::get(&path), "").await;
        let list: Value = serde_json::from_str(&answer.body).unwrap();
        let names: Vec<&Value> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| &item["metadata"]["name"])
            .collect();
        assert_eq!(names, [own], "{resource}");
    }
}
