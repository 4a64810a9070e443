//! Objects of every generation of Gardener's API, and what they say.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{CertificateParams, DnType, KeyPair};
use serde_json::{Value, json};
use test_case::test_case;

use super::{super::tests::told, *};
use crate::graph::{Begins, Facts};

mod cases;

/// The JSON of an object with that metadata, and all that the graph does not want.
pub(crate) fn object(namespace: &str, name: &str, mut rest: Value) -> Value {
    let metadata = json!({
        "name": name, "uid": format!("uid-{name}"), "resourceVersion": "7", "generation": 1,
        "labels": {"gardener.cloud/operation": "renew-kubeconfig", "name.seed.gardener.cloud/a": "true"},
        "managedFields": [{"manager": "gardenlet", "fieldsV1": {"f:spec": {"f:seedName": {}}}}],
    });
    rest["metadata"] = metadata;
    if !namespace.is_empty() {
        rest["metadata"]["namespace"] = json!(namespace);
    }
    rest
}

pub(crate) fn annotated(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["annotations"] = json!({"a": "b", key: value, "z": "{}"});
    object
}

fn credentials(kind: &str, namespace: &str, name: &str) -> Value {
    let api_version = match kind {
        "Secret" | "ConfigMap" => "v1",
        "InternalSecret" => "core.gardener.cloud/v1beta1",
        _ => "security.gardener.cloud/v1alpha1",
    };
    json!({"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name})
}

fn resource(kind: &str, name: &str) -> Value {
    json!({"name": "any", "resourceRef": credentials(kind, "not-looked-at", name)})
}

/// A request for the certificate of a seed, as it stands in an object.
pub(crate) fn seed_request(seed: &str) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name = Default::default();
    let name = &mut params.distinguished_name;
    name.push(DnType::OrganizationName, "gardener.cloud:system:seeds");
    name.push(DnType::CommonName, format!("gardener.cloud:system:seed:{seed}"));
    let key = KeyPair::generate().unwrap();
    STANDARD.encode(params.serialize_request(&key).unwrap().pem().unwrap())
}

/// What every part of an object says, in order.
fn all_told<T: Watched>(object: &Value) -> Vec<String> {
    let mut all = told::<T>(object);
    let slim: T = serde_json::from_value(object.clone()).unwrap();
    if let Some(part) = slim.part() {
        part.edges(&mut |edge| {
            let (key, relation) = (part.key(), edge.field.relation());
            all.push(format!("{key}: {relation:?} {} by {}", edge.other, edge.field));
        });
    }
    all.sort();
    all
}

fn facts<T: Watched>(object: &Value) -> Option<Facts> {
    serde_json::from_value::<T>(object.clone()).unwrap().facts()
}

#[track_caller]
fn assert_told<T: Watched>(object: &Value, expected: &[&str]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(all_told::<T>(object), expected, "{object:#}");
}

fn bucket() -> Value {
    object(
        "",
        "b1",
        json!({
            "spec": {
                "provider": {"type": "x", "region": "y"}, "seedName": "a",
                "shootRef": {"kind": "Shoot", "namespace": "garden", "name": "s1"},
                "credentialsRef": credentials("Secret", "garden", "c1"),
                "secretRef": {"namespace": "garden", "name": "old"},
            },
            "status": {"generatedSecretRef": {"namespace": "garden", "name": "generated-bucket-b1"}, "lastOperation": null},
        }),
    )
}

#[test]
fn a_backup_bucket() {
    assert_told::<BackupBucket>(
        &bucket(),
        &[
            "BelongsTo seed a by spec.seedName",
            "BelongsTo shoot garden/s1 by spec.shootRef",
            "Needs secret garden/c1 by spec.credentialsRef",
            "Needs secret garden/old by spec.secretRef",
            "Needs secret garden/generated-bucket-b1 by status.generatedSecretRef",
        ],
    );
    // The seed writes the status, and must not reach other secrets by it.
    let mut foreign = object("", "b1", json!({"spec": {"seedName": "a"}}));
    foreign["status"] = json!({"generatedSecretRef": {"namespace": "garden", "name": "generated-bucket-b2"}});
    assert_told::<BackupBucket>(&foreign, &["BelongsTo seed a by spec.seedName"]);
    let mut workload = object("", "b1", json!({"spec": {"seedName": "a"}}));
    workload["spec"]["credentialsRef"] = credentials("WorkloadIdentity", "garden", "w1");
    assert_told::<BackupBucket>(
        &workload,
        &[
            "BelongsTo seed a by spec.seedName",
            "Needs workloadidentity garden/w1 by spec.credentialsRef",
        ],
    );
}

fn entry() -> Value {
    let mut entry = object(
        "garden-p1",
        "e1",
        json!({"spec": {"bucketName": "b1", "seedName": "a"}, "status": {"seedName": "b"}}),
    );
    entry["metadata"]["ownerReferences"] = json!([
        {"kind": "Other", "name": "o"},
        {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "name": "s1", "uid": "u"},
        {"kind": "Shoot", "name": "s2"},
    ]);
    entry
}

#[test]
fn a_backup_entry() {
    assert_told::<BackupEntry>(
        &entry(),
        &[
            "BelongsTo seed a by spec.seedName",
            "BelongsTo seed b by status.seedName",
            "BelongsTo shoot garden-p1/s1 by metadata.ownerReferences[1].name",
            "Needs backupbucket b1 by spec.bucketName",
        ],
    );
    let slim: BackupEntry = serde_json::from_value(entry()).unwrap();
    assert_eq!(
        (slim.meta().uid(), slim.meta().resource_version()),
        ("uid-e1", "7"),
        "read beside the owners"
    );
    let mut nameless = entry();
    nameless["metadata"]["ownerReferences"] = json!([{"kind": "Shoot"}, {"kind": "Shoot", "name": "s2"}]);
    assert!(
        !all_told::<BackupEntry>(&nameless)
            .iter()
            .any(|edge| edge.contains("shoot"))
    );
}

#[test]
fn a_bastion() {
    let bastion = object(
        "garden-p1",
        "x",
        json!({"spec": {"seedName": "a", "shootRef": {"name": "s1"}}}),
    );
    assert_told::<Bastion>(&bastion, &["BelongsTo seed a by spec.seedName"]);
}

fn request(seed: &str) -> Value {
    let usages = ["digital signature", "key encipherment", "client auth"];
    let spec = json!({
        "request": seed_request(seed), "signerName": "kubernetes.io/kube-apiserver-client", "usages": usages,
        "username": "gardener.cloud:system:seed:b", "groups": ["gardener.cloud:system:seeds"], "expirationSeconds": 3600,
    });
    object("", "csr-1", json!({"spec": spec}))
}

#[test]
fn a_request_is_of_the_seed_that_it_names() {
    assert_told::<SeedClientRequest>(&request("a"), &["BelongsTo seed a by spec.request"]);
    for (field, value) in [
        ("request", json!("no base64")),
        ("request", json!("bm8gUEVN")),
        ("request", json!(null)),
        ("signerName", json!("kubernetes.io/kubelet-serving")),
        ("signerName", json!(null)),
        ("usages", json!(["client auth"])),
        ("usages", json!(null)),
    ] {
        let mut other = request("a");
        other["spec"][field] = value;
        assert_told::<SeedClientRequest>(&other, &[]);
    }
    assert_told::<SeedClientRequest>(&request(""), &[]);
}

fn deployment() -> Value {
    object(
        "",
        "d1",
        json!({
            "helm": {"rawChart": "eA==", "values": {"a": 1}, "ociRepository": {
                "ref": "example.org/chart:1", "pullSecretRef": {"name": "pull"}, "caBundleSecretRef": {"name": "ca"},
            }},
            "resources": [
                resource("Secret", "s"), resource("ConfigMap", "c"), resource("WorkloadIdentity", "w"),
                {"name": "any", "resourceRef": {"apiVersion": "other/v9", "kind": "Secret", "name": "any-group"}}, {},
            ],
        }),
    )
}

#[test]
fn a_controller_deployment() {
    assert_told::<ControllerDeployment>(
        &deployment(),
        &[
            "Needs configmap garden/c by resources[1].resourceRef",
            "Needs secret garden/any-group by resources[3].resourceRef",
            "Needs secret garden/ca by helm.ociRepository.caBundleSecretRef.name",
            "Needs secret garden/pull by helm.ociRepository.pullSecretRef.name",
            "Needs secret garden/s by resources[0].resourceRef",
        ],
    );
    let mut packed = deployment();
    packed["helm"]["ociRepository"] = json!(null);
    assert_told::<ControllerDeployment>(&packed, &[]);
    let old = json!({"type": "helm", "providerConfig": {"chart": "eA==", "values": {"image": "x"}}});
    assert_told::<ControllerDeployment>(&object("", "d1", old), &[]);
}

fn installation() -> Value {
    object(
        "",
        "i1",
        json!({"spec": {
            "registrationRef": {"name": "r1"}, "deploymentRef": {"name": "d1"}, "seedRef": {"name": "a", "resourceVersion": "1"},
            "shootRef": {"namespace": "garden", "name": "s1"},
        }}),
    )
}

#[test]
fn a_controller_installation() {
    assert_told::<ControllerInstallation>(
        &installation(),
        &[
            "BelongsTo seed a by spec.seedRef.name",
            "BelongsTo shoot garden/s1 by spec.shootRef",
            "Needs controllerdeployment d1 by spec.deploymentRef.name",
            "Needs controllerregistration r1 by spec.registrationRef.name",
        ],
    );
}

#[test_case("Secret" => vec!["Needs secret there/x by credentialsRef"]; "secret")]
#[test_case("InternalSecret" => vec!["Needs internalsecret there/x by credentialsRef"]; "internal secret")]
#[test_case("WorkloadIdentity" => vec!["Needs workloadidentity there/x by credentialsRef"]; "workload identity")]
#[test_case("ConfigMap" => Vec::<String>::new(); "no credentials")]
#[test_case("Pod" => Vec::<String>::new(); "something else")]
fn a_credentials_binding(kind: &str) -> Vec<String> {
    let binding = json!({"credentialsRef": credentials(kind, "there", "x"), "provider": {"type": "x"}, "quotas": []});
    all_told::<CredentialsBinding>(&object("garden-p1", "cb", binding))
}

#[test]
fn a_secret_binding() {
    let binding =
        json!({"secretRef": {"namespace": "there", "name": "x"}, "quotas": [{"name": "q", "namespace": "n"}]});
    assert_told::<SecretBinding>(
        &object("garden-p1", "sb", binding),
        &["Needs secret there/x by secretRef"],
    );
}

fn seed_config() -> Value {
    json!({
        "apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration", "featureGates": {"X": true},
        "seedConfig": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "backup": {"provider": "x", "credentialsRef": credentials("Secret", "garden", "backup"), "secretRef": {"namespace": "garden", "name": "old"}},
            "resources": [resource("Secret", "s"), resource("ConfigMap", "c"), resource("WorkloadIdentity", "w"), resource("Pod", "p")],
        }},
    })
}

fn gardenlet() -> Value {
    let repository = json!({"ref": "r", "pullSecretRef": {"name": "pull"}, "caBundleSecretRef": {"name": "ca"}});
    let deployment = json!({"replicaCount": 2, "helm": {"ociRepository": repository}});
    let spec =
        json!({"deployment": deployment, "config": seed_config(), "kubeconfigSecretRef": {"name": "not this one"}});
    object("garden", "a", json!({"spec": spec}))
}

#[test]
fn a_gardenlet() {
    assert_told::<Gardenlet>(
        &gardenlet(),
        &[
            "BelongsTo seed a by the same metadata.name",
            "Needs secret garden/backup by spec.config.seedConfig.spec.backup.credentialsRef",
            "Needs secret garden/ca by spec.deployment.helm.ociRepository.caBundleSecretRef.name",
            "Needs secret garden/old by spec.config.seedConfig.spec.backup.secretRef",
            "Needs secret garden/pull by spec.deployment.helm.ociRepository.pullSecretRef.name",
        ],
    );
    let begins = |renews, begins| Some(Facts::Gardenlet { renews, begins });
    assert_eq!(facts::<Gardenlet>(&gardenlet()), begins(false, Begins::Token));
    let renewing = annotated(gardenlet(), "gardener.cloud/operation", "renew-kubeconfig");
    assert_eq!(facts::<Gardenlet>(&renewing), begins(true, Begins::Token));
    let reconciling = annotated(gardenlet(), "gardener.cloud/operation", "reconcile");
    assert_eq!(facts::<Gardenlet>(&reconciling), begins(false, Begins::Token));

    let mut self_hosted = gardenlet();
    self_hosted["metadata"]["name"] = json!("self-hosted-shoot-root");
    assert_told::<Gardenlet>(&self_hosted, &[]);
    assert_eq!(facts::<Gardenlet>(&self_hosted), begins(false, Begins::None));

    for (unread, _) in unreadable() {
        let mut odd = gardenlet();
        odd["spec"]["config"] = unread;
        assert_told::<Gardenlet>(&odd, &["BelongsTo seed a by the same metadata.name"]);
        assert_eq!(facts::<Gardenlet>(&odd), begins(false, Begins::None));
    }
}

/// Configurations that are none, and why.
fn unreadable() -> Vec<(Value, &'static str)> {
    let mut other_kind = seed_config();
    other_kind["kind"] = json!("SchedulerConfiguration");
    let mut other_version = seed_config();
    other_version["apiVersion"] = json!("gardenlet.config.gardener.cloud/v2");
    let mut odd = seed_config();
    odd["seedConfig"]["spec"]["backup"] = json!("somewhere");
    vec![
        (other_kind, "of another kind"),
        (other_version, "of another version"),
        (odd, "of another form"),
        (json!("seedConfig: {}"), "a text"),
        (json!(5), "a number"),
    ]
}

fn managed_seed() -> Value {
    let template = json!({"spec": {
        "backup": {"secretRef": {"namespace": "garden", "name": "t-old"}, "credentialsRef": credentials("WorkloadIdentity", "garden", "t-new")},
        "resources": [resource("Secret", "t-s")], "secretRef": {"namespace": "garden", "name": "kubeconfig"},
    }});
    object(
        "garden",
        "child",
        json!({"spec": {
            "shoot": {"name": "shoot"}, "seedTemplate": template,
            "gardenlet": {"bootstrap": "BootstrapToken", "mergeWithParent": true, "deployment": {"replicaCount": 1}, "config": seed_config()},
        }}),
    )
}

const MANAGED_SEED: [&str; 12] = [
    "BelongsTo seed child by the same metadata.name",
    "BelongsTo shoot garden/shoot by spec.shoot.name",
    "Needs secret garden/backup by spec.gardenlet.config.seedConfig.spec.backup.credentialsRef",
    "Needs secret garden/old by spec.gardenlet.config.seedConfig.spec.backup.secretRef",
    "Needs secret garden/t-old by spec.seedTemplate.spec.backup.secretRef",
    "Needs seed child by metadata.name",
    "Needs workloadidentity garden/t-new by spec.seedTemplate.spec.backup.credentialsRef",
    "seedconfig garden/child: BelongsTo seed child by the same metadata.name",
    "seedconfig garden/child: Needs configmap garden/c by spec.gardenlet.config.seedConfig.spec.resources[1].resourceRef",
    "seedconfig garden/child: Needs secret garden/s by spec.gardenlet.config.seedConfig.spec.resources[0].resourceRef",
    "seedconfig garden/child: Needs secret garden/t-s by spec.seedTemplate.spec.resources[0].resourceRef",
    "seedconfig garden/child: Needs workloadidentity garden/w by spec.gardenlet.config.seedConfig.spec.resources[2].resourceRef",
];

#[test]
fn a_managed_seed() {
    assert_told::<ManagedSeed>(&managed_seed(), &MANAGED_SEED);
    let basic = [MANAGED_SEED[0], MANAGED_SEED[1], MANAGED_SEED[5]];
    let mut plain = managed_seed();
    plain["spec"]["seedTemplate"] = json!(null);
    for (unread, why) in unreadable() {
        plain["spec"]["gardenlet"]["config"] = unread;
        assert_told::<ManagedSeed>(&plain, &basic);
        let begins = Begins::None;
        let expected = Facts::ManagedSeed { renews: false, begins };
        assert_eq!(facts::<ManagedSeed>(&plain), Some(expected), "{why}");
    }
    for read in [
        json!({}),
        json!(null),
        json!({"seedConfig": null}),
        json!({"seedConfig": {"spec": {"backup": null}}}),
    ] {
        plain["spec"]["gardenlet"]["config"] = read;
        assert_told::<ManagedSeed>(&plain, &basic);
        let begins = Begins::Token;
        let expected = Facts::ManagedSeed { renews: false, begins };
        assert_eq!(facts::<ManagedSeed>(&plain), Some(expected));
    }
    plain["spec"] = json!(null);
    assert_told::<ManagedSeed>(&plain, &[MANAGED_SEED[0], MANAGED_SEED[5]]);
}

#[test_case(json!("BootstrapToken") => Begins::Token; "by token")]
#[test_case(json!("ServiceAccount") => Begins::ServiceAccount; "by account")]
#[test_case(json!("None") => Begins::None; "by itself")]
#[test_case(json!("Other") => Begins::None; "in another way")]
#[test_case(json!(null) => Begins::None; "not said")]
fn a_managed_seed_begins(bootstrap: Value) -> Begins {
    let mut object = managed_seed();
    object["spec"]["gardenlet"]["bootstrap"] = bootstrap;
    let object = annotated(object, "gardener.cloud/operation", "renew-kubeconfig");
    match facts::<ManagedSeed>(&object) {
        Some(Facts::ManagedSeed { renews: true, begins }) => begins,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_project() {
    let project = |namespace| {
        object(
            "",
            "p1",
            json!({"spec": {"namespace": namespace, "owner": {"name": "o"}}}),
        )
    };
    assert_told::<Project>(
        &project(json!("garden-p1")),
        &["BelongsTo namespace garden-p1 by spec.namespace"],
    );
    assert_told::<Project>(&project(json!(null)), &[]);
}

fn seed() -> Value {
    let dns = |name| json!({"type": "x", "credentialsRef": credentials("Secret", "garden", name)});
    object(
        "",
        "a",
        json!({
            "spec": {
                "backup": {"credentialsRef": credentials("Secret", "garden", "backup"), "secretRef": {"namespace": "garden", "name": "old-backup"}},
                "dns": {
                    "provider": {"credentialsRef": credentials("WorkloadIdentity", "garden", "dns"), "secretRef": {"namespace": "garden", "name": "old-dns"}},
                    "internal": dns("internal"), "defaults": [dns("d0"), dns("d1")],
                },
                "resources": [resource("Secret", "s"), resource("ConfigMap", "c"), resource("WorkloadIdentity", "w")],
                "secretRef": {"namespace": "garden", "name": "kubeconfig"},
            },
            "status": {"clientCertificateExpirationTimestamp": "1970-01-01T00:16:40Z", "conditions": []},
        }),
    )
}

const OF_EVERY_SEED: [&str; 3] = [
    "Needs configmap kube-system/cluster-identity by kind",
    "Needs lease gardener-system-seed-lease/a by metadata.name",
    "Needs namespace seed-a by metadata.name",
];

#[test]
fn a_seed() {
    let mut expected = vec![
        "Needs configmap garden/c by spec.resources[1].resourceRef",
        "Needs secret garden/backup by spec.backup.credentialsRef",
        "Needs secret garden/d0 by spec.dns.defaults[0].credentialsRef",
        "Needs secret garden/d1 by spec.dns.defaults[1].credentialsRef",
        "Needs secret garden/internal by spec.dns.internal.credentialsRef",
        "Needs secret garden/kubeconfig by spec.secretRef",
        "Needs secret garden/old-backup by spec.backup.secretRef",
        "Needs secret garden/old-dns by spec.dns.provider.secretRef",
        "Needs secret garden/s by spec.resources[0].resourceRef",
        "Needs workloadidentity garden/dns by spec.dns.provider.credentialsRef",
        "Needs workloadidentity garden/w by spec.resources[2].resourceRef",
    ];
    expected.extend(OF_EVERY_SEED);
    assert_told::<Seed>(&seed(), &expected);
    let bare = object("", "a", json!({"spec": {"dns": {}, "backup": {"provider": "x"}}}));
    assert_told::<Seed>(&bare, &OF_EVERY_SEED);
}

#[test_case(json!("1970-01-01T00:16:40Z") => Some(1000); "at a time")]
#[test_case(json!("1970-01-01T02:16:40+02:00") => Some(1000); "in another zone")]
#[test_case(json!(null) => None; "null")]
#[test_case(json!("soon") => None; "no time")]
fn a_seed_has_a_certificate(expires: Value) -> Option<i64> {
    let mut object = seed();
    object["status"]["clientCertificateExpirationTimestamp"] = expires;
    match facts::<Seed>(&object) {
        Some(Facts::Seed { expires }) => expires,
        other => panic!("{other:?}"),
    }
}

fn account(name: &str) -> Value {
    let secrets = json!([{"name": "t0"}, {}, {"name": null}, {"name": "t3"}]);
    object(
        "garden",
        name,
        json!({"secrets": secrets, "imagePullSecrets": [{"name": "i"}]}),
    )
}

#[test]
fn a_service_account() {
    let expected = [
        "Needs secret garden/t0 by secrets[0].name",
        "Needs secret garden/t3 by secrets[3].name",
    ];
    for name in ["gardenlet-bootstrap-child", "extension-shoot--s1--x"] {
        assert_told::<BootstrapServiceAccount>(&account(name), &expected);
    }
    for name in [
        "default",
        "extension-x",
        "gardenlet-bootstrap",
        "x-gardenlet-bootstrap-child",
    ] {
        assert_told::<BootstrapServiceAccount>(&account(name), &[]);
    }
    assert_eq!(
        serde_json::from_value::<BootstrapServiceAccount>(account("x"))
            .unwrap()
            .key()
            .to_string(),
        "serviceaccount garden/x"
    );
}

fn shoot() -> Value {
    object(
        "garden-p1",
        "s1",
        json!({
            "spec": {
                "seedName": "a", "secretBindingName": "sb", "credentialsBindingName": "cb", "exposureClassName": "ec",
                "cloudProfile": {"kind": "NamespacedCloudProfile", "name": "ncp"}, "cloudProfileName": "cp",
                "kubernetes": {"version": "1.33.0", "kubeAPIServer": {
                    "auditConfig": {"auditPolicy": {"configMapRef": {"name": "audit", "namespace": "not-looked-at"}}},
                    "structuredAuthentication": {"configMapName": "authn"},
                    "structuredAuthorization": {"configMapName": "authz", "kubeconfigs": [{"authorizerName": "x", "secretName": "k0"}, {}]},
                    "admissionPlugins": [{"name": "x", "kubeconfigSecretName": "not looked at"}],
                }},
                "dns": {"domain": "x", "providers": [
                    {"credentialsRef": credentials("Secret", "", "dns0"), "secretName": "old0"},
                    {"credentialsRef": credentials("WorkloadIdentity", "", "dns1")},
                    {"credentialsRef": credentials("ConfigMap", "", "foreign")},
                    {},
                ]},
                "resources": [resource("Secret", "r0"), resource("ConfigMap", "r1"), resource("WorkloadIdentity", "r2"), resource("Pod", "r3"), {}],
                "provider": {"type": "x", "workers": [{"name": "w"}]},
            },
            "status": {"seedName": "b", "technicalID": "shoot--p1--s1"},
        }),
    )
}

const OF_EVERY_SHOOT: [&str; 9] = [
    "Needs configmap garden-p1/s1.ca-cluster by metadata.name",
    "Needs configmap garden-p1/s1.ca-kubelet by metadata.name",
    "Needs internalsecret garden-p1/s1.ca-client by metadata.name",
    "Needs namespace garden-p1 by metadata.namespace",
    "Needs secret garden-p1/s1.ca-cluster by metadata.name",
    "Needs secret garden-p1/s1.monitoring by metadata.name",
    "Needs secret garden-p1/s1.ssh-keypair by metadata.name",
    "Needs secret garden-p1/s1.ssh-keypair.old by metadata.name",
    "Needs shootstate garden-p1/s1 by metadata.name",
];

#[test]
fn a_shoot() {
    let mut expected = vec![
        "BelongsTo seed a by spec.seedName",
        "BelongsTo seed b by status.seedName",
        "Needs configmap garden-p1/audit by spec.kubernetes.kubeAPIServer.auditConfig.auditPolicy.configMapRef.name",
        "Needs configmap garden-p1/authn by spec.kubernetes.kubeAPIServer.structuredAuthentication.configMapName",
        "Needs configmap garden-p1/authz by spec.kubernetes.kubeAPIServer.structuredAuthorization.configMapName",
        "Needs configmap garden-p1/r1 by spec.resources[1].resourceRef",
        "Needs credentialsbinding garden-p1/cb by spec.credentialsBindingName",
        "Needs exposureclass ec by spec.exposureClassName",
        "Needs namespacedcloudprofile garden-p1/ncp by spec.cloudProfile",
        "Needs secret garden-p1/dns0 by spec.dns.providers[0].credentialsRef",
        "Needs secret garden-p1/k0 by spec.kubernetes.kubeAPIServer.structuredAuthorization.kubeconfigs[0].secretName",
        "Needs secret garden-p1/old0 by spec.dns.providers[0].secretName",
        "Needs secret garden-p1/r0 by spec.resources[0].resourceRef",
        "Needs secretbinding garden-p1/sb by spec.secretBindingName",
        "Needs workloadidentity garden-p1/dns1 by spec.dns.providers[1].credentialsRef",
        "Needs workloadidentity garden-p1/r2 by spec.resources[2].resourceRef",
    ];
    expected.extend(OF_EVERY_SHOOT);
    assert_told::<Shoot>(&shoot(), &expected);
    assert_told::<Shoot>(&object("garden-p1", "s1", json!({})), &OF_EVERY_SHOOT);
}

#[test_case(&json!({"cloudProfileName": "cp"}) => vec!["Needs cloudprofile cp by spec.cloudProfileName"]; "as it was")]
#[test_case(&json!({"cloudProfile": {"name": "cp"}}) => vec!["Needs cloudprofile cp by spec.cloudProfile"]; "without a kind")]
#[test_case(&json!({"cloudProfile": {"kind": "CloudProfile", "name": "cp"}}) => vec!["Needs cloudprofile cp by spec.cloudProfile"]; "with its kind")]
#[test_case(&json!({"cloudProfile": {"name": "new"}, "cloudProfileName": "old"}) => vec!["Needs cloudprofile new by spec.cloudProfile"]; "both")]
#[test_case(&json!({"cloudProfile": {"kind": "Other", "name": "x"}}) => Vec::<String>::new(); "of another kind")]
#[test_case(&json!({"cloudProfile": {}, "cloudProfileName": "old"}) => Vec::<String>::new(); "without a name")]
#[test_case(&json!({"cloudProfile": null, "cloudProfileName": "cp"}) => vec!["Needs cloudprofile cp by spec.cloudProfileName"]; "null")]
fn a_cloud_profile(spec: &Value) -> Vec<String> {
    let mut told = all_told::<Shoot>(&object("garden-p1", "s1", json!({"spec": spec})));
    told.retain(|edge| edge.contains("cloudprofile"));
    told
}

#[test_case("managed" => true; "managed")]
#[test_case("other" => false; "not managed")]
fn an_issuer_has_a_secret(value: &str) -> bool {
    let shoot = annotated(shoot(), "authentication.gardener.cloud/issuer", value);
    let secret = "Needs secret gardener-system-shoot-issuer/--uid-s1 by metadata.uid".to_owned();
    all_told::<Shoot>(&shoot).contains(&secret)
}

/// References that name nothing that there could be.
#[test_case(&json!(null); "null")]
#[test_case(&json!({}); "empty")]
#[test_case(&json!({"apiVersion": "v1", "kind": "Secret", "namespace": "n"}); "no name")]
#[test_case(&json!({"apiVersion": "v1", "kind": "Secret", "namespace": "n", "name": ""}); "an empty name")]
#[test_case(&json!({"apiVersion": "v1", "kind": "Secret", "name": "x"}); "no namespace")]
#[test_case(&json!({"namespace": "n", "name": "x"}); "no kind")]
#[test_case(&json!({"apiVersion": "v2", "kind": "Secret", "namespace": "n", "name": "x"}); "another version")]
#[test_case(&json!({"apiVersion": "v1", "kind": "WorkloadIdentity", "namespace": "n", "name": "x"}); "another group")]
#[test_case(&json!({"apiVersion": "v1", "kind": "Pod", "namespace": "n", "name": "x"}); "another kind")]
fn a_foreign_reference_leads_nowhere(reference: &Value) {
    let bucket = object("", "b", json!({"spec": {"credentialsRef": reference}, "status": null}));
    assert_told::<BackupBucket>(&bucket, &[]);
    let binding = object("n", "b", json!({"credentialsRef": reference}));
    assert_told::<CredentialsBinding>(&binding, &[]);
    let dns = json!({"provider": {"credentialsRef": reference}, "internal": {"credentialsRef": reference},
        "defaults": [{"credentialsRef": reference}, {}]});
    let seed = object(
        "",
        "a",
        json!({"spec": {"backup": {"credentialsRef": reference}, "dns": dns}}),
    );
    assert_told::<Seed>(&seed, &OF_EVERY_SEED);
    let config = json!({"seedConfig": {"spec": {"backup": {"credentialsRef": reference}}}});
    let managed = object("garden", "child", json!({"spec": {"gardenlet": {"config": config}}}));
    assert_told::<ManagedSeed>(&managed, &[MANAGED_SEED[0], MANAGED_SEED[5]]);
    let gardenlet = object("garden", "a", json!({"spec": {"config": config}}));
    assert_told::<Gardenlet>(&gardenlet, &["BelongsTo seed a by the same metadata.name"]);
}

#[test]
fn every_field_may_be_missing_or_null() {
    fn check<T: Watched>(full: &Value) {
        serde_json::from_value::<T>(json!({"metadata": {"name": "x"}})).unwrap();
        nulls(full, &mut |object| {
            let slim: T = serde_json::from_value(object.clone()).unwrap_or_else(|error| panic!("{error}: {object}"));
            slim.edges(&mut |_| ());
        });
    }
    check::<BackupBucket>(&bucket());
    check::<BackupEntry>(&entry());
    check::<Bastion>(&object("n", "b", json!({"spec": {"seedName": "a"}})));
    check::<BootstrapServiceAccount>(&account("gardenlet-bootstrap-x"));
    check::<ControllerDeployment>(&deployment());
    check::<ControllerInstallation>(&installation());
    check::<CredentialsBinding>(&object(
        "n",
        "b",
        json!({"credentialsRef": credentials("Secret", "n", "x")}),
    ));
    check::<Gardenlet>(&gardenlet());
    check::<ManagedSeed>(&managed_seed());
    check::<Project>(&object("", "p", json!({"spec": {"namespace": "n"}})));
    check::<SecretBinding>(&object("n", "b", json!({"secretRef": {"namespace": "n", "name": "x"}})));
    check::<Seed>(&seed());
    check::<SeedClientRequest>(&request("a"));
    check::<Shoot>(&shoot());
}

/// The object with one field after the other set to null, at every depth.
fn nulls(object: &Value, visit: &mut dyn FnMut(&Value)) {
    fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value))
                .collect(),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .map(|(at, value)| (at.to_string(), value))
                .collect(),
            _ => Vec::new(),
        };
        for (key, child) in children {
            let at = format!("{at}/{key}");
            // Lists of objects have no nulls in them, and an object has metadata.
            if value.is_object() && at != "/metadata" {
                all.push(at.clone());
            }
            pointers(child, &at, all);
        }
    }
    let mut all = Vec::new();
    pointers(object, "", &mut all);
    for pointer in all {
        let mut changed = object.clone();
        *changed.pointer_mut(&pointer).unwrap() = Value::Null;
        visit(&changed);
    }
}

/// The paths of all fields that these objects make edges of.
pub(crate) fn paths() -> BTreeSet<String> {
    let mut old_profile = shoot();
    old_profile["spec"]["cloudProfile"] = json!(null);
    let issuing = annotated(shoot(), "authentication.gardener.cloud/issuer", "managed");
    let told = [
        all_told::<BackupBucket>(&bucket()),
        all_told::<BackupEntry>(&entry()),
        all_told::<BootstrapServiceAccount>(&account("gardenlet-bootstrap-x")),
        all_told::<ControllerDeployment>(&deployment()),
        all_told::<ControllerInstallation>(&installation()),
        all_told::<CredentialsBinding>(&object(
            "n",
            "b",
            json!({"credentialsRef": credentials("Secret", "n", "x")}),
        )),
        all_told::<Gardenlet>(&gardenlet()),
        all_told::<ManagedSeed>(&managed_seed()),
        all_told::<Project>(&object("", "p", json!({"spec": {"namespace": "n"}}))),
        all_told::<SecretBinding>(&object("n", "b", json!({"secretRef": {"namespace": "n", "name": "x"}}))),
        all_told::<Seed>(&seed()),
        all_told::<SeedClientRequest>(&request("a")),
        all_told::<Shoot>(&old_profile),
        all_told::<Shoot>(&issuing),
    ];
    let fields = told.iter().flatten().map(|edge| edge.split_once(" by ").unwrap().1);
    let unnumbered = fields.map(|field| {
        let mut path = field.to_owned();
        path.retain(|c| !c.is_ascii_digit());
        path
    });
    unnumbered.collect()
}
