//! Writes that somebody of a seed could make.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use scopegate::api::garden::bootstrap_token_id;
use serde_json::{Value, json};

use super::generated::{NAMES, NAMESPACES, SEEDS, THINGS, object};
use crate::random::Random;

/// One write: the verb of admission, and an object of this resource.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) operation: &'static str,
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) resource: &'static str,
    pub(super) object: Value,
}

#[rustfmt::skip]
const KINDS: &[(&str, &str, &str)] = &[
    ("", "v1", "configmaps"),
    ("", "v1", "secrets"),
    ("", "v1", "secrets"),
    ("", "v1", "secrets"),
    ("", "v1", "serviceaccounts"),
    ("coordination.k8s.io", "v1", "leases"),
    ("core.gardener.cloud", "v1beta1", "backupbuckets"),
    ("core.gardener.cloud", "v1beta1", "backupentries"),
    ("core.gardener.cloud", "v1beta1", "internalsecrets"),
    ("core.gardener.cloud", "v1beta1", "seeds"),
    ("core.gardener.cloud", "v1beta1", "shootstates"),
    ("operations.gardener.cloud", "v1alpha1", "bastions"),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings"),
    ("seedmanagement.gardener.cloud", "v1alpha1", "gardenlets"),
];

/// One write of any kind that is restricted.
pub(super) fn write(random: &mut Random) -> Write {
    let kind = random.pick(KINDS);
    let (group, version, resource) = kind;
    let mut object = match resource {
        "backupbuckets" => object(random, "BackupBucket"),
        "backupentries" => object(random, "BackupEntry"),
        "bastions" => object(random, "Bastion"),
        "gardenlets" => object(random, "Gardenlet"),
        "seeds" => object(random, "Seed"),
        "secrets" => secret(random),
        "clusterrolebindings" => binding(random),
        "leases" => core(
            random.pick(&["gardener-system-seed-lease", "seed-seed-a", "seed-child", "garden"]),
            random.pick(&["seed-a", "seed-b", "child", "gardenlet-leader-election"]),
        ),
        "serviceaccounts" => core(
            random.pick(&["garden", "seed-seed-a", "kube-system"]),
            random.pick(&[
                "gardenlet-bootstrap-child",
                "gardenlet-bootstrap-seed-b",
                "gardenlet-bootstrap-none",
                "x",
            ]),
        ),
        "shootstates" => core(random.pick(NAMESPACES), random.pick(&["s1", "s2", "child", "none"])),
        "internalsecrets" => core(
            random.pick(NAMESPACES),
            random.pick(&["s1.ca-client", "none.ca-client", "x"]),
        ),
        _ => core(
            random.pick(NAMESPACES),
            random.pick(&[
                "s1.ca-cluster",
                "child.ca-kubelet",
                "none.ca-cluster",
                "s1.ca-client",
                "x",
            ]),
        ),
    };
    let operation = match resource {
        "seeds" => random.pick(&["CREATE", "UPDATE", "DELETE"]),
        "backupbuckets" => random.pick(&["CREATE", "DELETE"]),
        _ => "CREATE",
    };
    if resource == "backupentries" && random.one_in(3) {
        object["metadata"]["name"] = json!("source-e1");
    }
    if resource == "backupbuckets" && operation == "CREATE" {
        object["metadata"]["name"] = json!(random.pick(&["new", "ua"]));
    }
    Write {
        operation,
        group,
        version,
        resource,
        object,
    }
}

/// One of those that something decides about by its name, its labels or what it says.
fn secret(random: &mut Random) -> Value {
    match random.below(5) {
        0 => core(
            "garden",
            random.pick(&["generated-bucket-ua", "generated-bucket-ub", "generated-bucket-none"]),
        ),
        1 => core(
            random.pick(NAMESPACES),
            random.pick(&["s1.monitoring", "s2.ssh-keypair.old", "none.ca-cluster", "x.y"]),
        ),
        2 => {
            let (namespace, name) = (random.pick(NAMESPACES), random.pick(NAMES));
            let mut object = core(
                "gardener-system-shoot-issuer",
                &format!("p1--uid-of-{namespace}-{name}"),
            );
            object["metadata"]["labels"] = json!({
                "shoot.gardener.cloud/name": name, "shoot.gardener.cloud/namespace": namespace,
                "discovery.gardener.cloud/public": random.pick(&["serviceaccount", "serviceaccount", "x"]),
            });
            object
        }
        3 => token(random),
        _ => core(random.pick(NAMESPACES), random.pick(THINGS)),
    }
}

fn token(random: &mut Random) -> Value {
    let (kind, name) = (random.pick(&["ManagedSeed", "Gardenlet"]), random.pick(SEEDS));
    let id = match random.below(6) {
        0 => "abcdef".to_owned(),
        _ => bootstrap_token_id("garden", name),
    };
    let mut object = core("kube-system", &format!("bootstrap-token-{id}"));
    let description = match random.below(8) {
        0 => "for somebody".to_owned(),
        _ => format!(
            "A bootstrap token for the Gardenlet for seedmanagement.gardener.cloud/v1alpha1.{kind} resource garden/{name}."
        ),
    };
    object["type"] = json!(random.pick(&[
        "bootstrap.kubernetes.io/token",
        "bootstrap.kubernetes.io/token",
        "Opaque"
    ]));
    let encode = |text: &str| STANDARD.encode(text);
    object["data"] = json!({
        "description": encode(&description),
        "usage-bootstrap-authentication": encode("true"),
        "usage-bootstrap-signing": encode(random.pick(&["true", "true", "false"])),
    });
    if random.one_in(6) {
        object["data"]["auth-extra-groups"] = json!(encode("system:bootstrappers:x"));
    }
    object
}

fn binding(random: &mut Random) -> Value {
    let name = random.pick(&["child", "seed-b", "none"]);
    let account = format!("gardenlet-bootstrap-{name}");
    let role = random.pick(&[
        "gardener.cloud:system:seed-bootstrapper",
        "gardener.cloud:system:seed-bootstrapper",
        "cluster-admin",
    ]);
    let full = format!("gardener.cloud:system:seed-bootstrapper:garden:{account}");
    let mut object = core("", if random.one_in(5) { "x" } else { &full });
    object["roleRef"] = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role});
    let subject = if random.one_in(4) { "somebody" } else { &account };
    object["subjects"] = json!([{"kind": "ServiceAccount", "name": subject, "namespace": "garden"}]);
    object
}

fn core(namespace: &str, name: &str) -> Value {
    let mut object = json!({"metadata": {"name": name}});
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = json!(namespace);
    }
    object
}
