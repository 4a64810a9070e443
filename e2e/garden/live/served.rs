//! Two kinds of garden: one where Gardener's kinds are custom resources, so that everything can be tried that a schema would not
//! let in, and one with a real gardener-apiserver behind kube-apiserver.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::{
    cluster::{AUDITED, Cluster, Guard},
    garden::server,
    gate::{Client, PATIENCE},
    graph::{admin_client, created},
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Served {
    Custom,
    Gardener,
}

pub(super) const CORE: &str = "/apis/core.gardener.cloud/v1beta1";
pub(super) const MANAGEMENT: &str = "/apis/seedmanagement.gardener.cloud/v1alpha1";
pub(super) const OPERATIONS: &str = "/apis/operations.gardener.cloud/v1alpha1";
pub(super) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const NAMES: &[&str] = &["garden", "gardener-system-seed-lease", "gardener-system-shoot-issuer"];

/// Group, version, plural, kind, whether it is namespaced, and a field that can be selected by.
type Definition = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    bool,
    &'static str,
);

#[rustfmt::skip]
const KINDS: &[Definition] = &[
    ("core", "v1beta1", "backupbuckets", "BackupBucket", false, ""),
    ("core", "v1beta1", "backupentries", "BackupEntry", true, ""),
    ("operations", "v1alpha1", "bastions", "Bastion", true, "seedName"),
    ("core", "v1beta1", "cloudprofiles", "CloudProfile", false, ""),
    ("core", "v1", "controllerdeployments", "ControllerDeployment", false, ""),
    ("core", "v1beta1", "controllerinstallations", "ControllerInstallation", false, "seedRef.name"),
    ("core", "v1beta1", "controllerregistrations", "ControllerRegistration", false, ""),
    ("security", "v1alpha1", "credentialsbindings", "CredentialsBinding", true, ""),
    ("seedmanagement", "v1alpha1", "gardenlets", "Gardenlet", true, ""),
    ("core", "v1beta1", "internalsecrets", "InternalSecret", true, ""),
    ("seedmanagement", "v1alpha1", "managedseeds", "ManagedSeed", true, ""),
    ("core", "v1beta1", "projects", "Project", false, ""),
    ("core", "v1beta1", "secretbindings", "SecretBinding", true, ""),
    ("core", "v1beta1", "seeds", "Seed", false, ""),
    ("core", "v1beta1", "shoots", "Shoot", true, ""),
    ("core", "v1beta1", "shootstates", "ShootState", true, ""),
];

/// One of each kind.
pub(super) struct Gardens {
    custom: Arc<Cluster>,
    /// Nothing without gardener-apiserver.
    gardener: Option<Arc<Cluster>>,
}

/// They serve all tests here that run at the same time, so each has seeds and namespaces of its own. Each holds on to both, as
/// otherwise one would end whenever all that run are in the other.
pub(super) async fn garden(served: Served) -> Option<(Arc<Cluster>, Arc<Gardens>)> {
    static SHARED: Mutex<Weak<Gardens>> = Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    let gardens = match shared.upgrade() {
        Some(gardens) => gardens,
        None => {
            let (custom, gardener) = tokio::join!(bare(), server::garden());
            let custom = custom?;
            let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.2).collect();
            define(&custom, &kinds).await;
            for cluster in [Some(&custom), gardener.as_ref()].into_iter().flatten() {
                granted(cluster).await;
            }
            let gardens = Arc::new(Gardens {
                custom: Arc::new(custom),
                gardener: gardener.map(Arc::new),
            });
            *shared = Arc::downgrade(&gardens);
            gardens
        }
    };
    let cluster = match served {
        Served::Custom => Arc::clone(&gardens.custom),
        Served::Gardener => Arc::clone(gardens.gardener.as_ref()?),
    };
    Some((cluster, gardens))
}

/// A cluster of its own for a test, with none of Gardener's kinds.
pub(super) async fn bare() -> Option<Cluster> {
    Cluster::start(Guard::None, AUDITED, "").await
}

/// With what the gate needs in every mode but Own, as it is shipped, and the namespaces that every garden has.
pub(super) async fn granted(cluster: &Cluster) {
    for manifest in [
        include_str!("../../../config/kubernetes/gardener.yaml"),
        include_str!("../../../config/kubernetes/gardener-impersonate.yaml"),
        include_str!("../../../config/kubernetes/impersonate.yaml"),
        include_str!("../../../config/kubernetes/tokens.yaml"),
    ] {
        cluster.grant(manifest).await;
    }
    for name in NAMES {
        let namespace = json!({"metadata": {"name": name}});
        cluster.create("/api/v1/namespaces", &namespace).await;
    }
}

/// Makes kinds of Gardener custom resources, and waits until they are served.
pub(super) async fn define(cluster: &Cluster, kinds: &[&str]) {
    let admin = admin_client(cluster).await;
    let kinds: Vec<&Definition> = KINDS.iter().filter(|kind| kinds.contains(&kind.2)).collect();
    for kind in &kinds {
        created(&admin, DEFINITIONS, &definition(kind)).await;
    }
    for (group, version, plural, ..) in kinds {
        let path = format!("/apis/{group}.gardener.cloud/{version}/{plural}");
        until(&format!("{plural} are not served"), async || {
            admin.get(&path).await.code == StatusCode::OK
        })
        .await;
    }
}

/// As little of a schema as there can be: these are no tests of Gardener's validation.
fn definition(&(group, version, plural, kind, namespaced, field): &Definition) -> Value {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut schema = any.clone();
    let mut versions = json!([{"name": version, "served": true, "storage": true, "subresources": {"status": {}}}]);
    if !field.is_empty() {
        let mut spec = any.clone();
        let mut fields = field.rsplit('.');
        let last = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {fields.next().unwrap(): {"type": "string"}}});
        let properties = fields.fold(last, |inner, name| {
            let mut outer = any.clone();
            outer["properties"] = json!({name: inner});
            outer
        });
        spec["properties"] = properties["properties"].clone();
        schema["properties"] = json!({"spec": spec});
        versions[0]["selectableFields"] = json!([{"jsonPath": format!(".spec.{field}")}]);
    }
    versions[0]["schema"] = json!({"openAPIV3Schema": schema});
    let scope = if namespaced { "Namespaced" } else { "Cluster" };
    let group = format!("{group}.gardener.cloud");
    json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": scope, "names": {"plural": plural, "kind": kind}, "versions": versions},
    })
}

/// Waits until something is so, but not for ever.
pub(super) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What is stored there, if anything is.
pub(super) async fn stored(admin: &Client, target: &str) -> Option<Value> {
    let answer = admin.get(target).await;
    match answer.code {
        StatusCode::OK => Some(answer.json()),
        StatusCode::NOT_FOUND => None,
        _ => panic!("{}", answer.body),
    }
}
