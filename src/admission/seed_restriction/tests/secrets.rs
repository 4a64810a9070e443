use base64::{Engine as _, engine::general_purpose::STANDARD};
use test_case::test_case;

use super::*;

fn secret(world: &World, namespace: &str, body: &Value) -> String {
    world.told(&format!("POST /api/v1/namespaces/{namespace}/secrets"), body)
}

#[test_case("garden", "generated-bucket-ua" => "passes"; "of the own bucket")]
#[test_case("garden", "generated-bucket-ub" => FOREIGN; "of the bucket of another")]
#[test_case("garden", "generated-bucket-x" => "403 backupbuckets.core.gardener.cloud \"x\" not found"; "of no bucket")]
#[test_case("garden", "generated-bucket-" => "403 backupbuckets.core.gardener.cloud \"\" not found"; "of a bucket without a name")]
#[test_case("garden-p1", "s1.ca-cluster" => "passes"; "of a shoot")]
#[test_case("garden-p1", "s1.ssh-keypair" => "passes"; "its keys")]
#[test_case("garden-p1", "s1.ssh-keypair.old" => "passes"; "its old keys")]
#[test_case("garden-p1", "s1.monitoring" => "passes"; "who may see how it is")]
#[test_case("garden-p1", "s1.kubeconfig" => FOREIGN; "nothing of a shoot")]
#[test_case("garden-p2", "s2.monitoring" => FOREIGN; "of a shoot of another")]
#[test_case("garden-p2", "s1.monitoring" => "403 shoots.core.gardener.cloud \"s1\" not found"; "of no shoot there")]
#[test_case("gardener-system-shoot-issuer", "x.monitoring" => "403 shoots.core.gardener.cloud \"x\" not found"; "the name goes before the namespace")]
#[test_case("garden", "x" => FOREIGN; "of nothing")]
#[test_case("seed-seed-a", "x" => FOREIGN; "in the namespace of the seed")]
#[test_case("garden", "" => "403 it needs a name, which generateName is not"; "made up")]
fn by_name(namespace: &str, name: &str) -> String {
    let body = json!({"metadata": {"name": name, "generateName": "generated-bucket-ua"}});
    secret(&world(Current, A), namespace, &body)
}

#[test]
fn no_secret_is_filled_with_the_token_of_an_account() {
    let body = object("s1.monitoring", &json!({"type": "kubernetes.io/service-account-token"}));
    let told = secret(&world(Current, A), "garden-p1", &body);
    assert_eq!(
        told,
        "403 a seed gets tokens of service accounts by asking for them, and not in secrets"
    );
}

#[test_case(|_| () => "passes"; "of the own shoot")]
#[test_case(|labels| labels["shoot.gardener.cloud/name"] = Value::Null => "422 Secret \"p1--uid-s1\" is invalid: metadata.labels[shoot.gardener.cloud/name]: Invalid value: \"\": label is missing"; "no name")]
#[test_case(|labels| labels["shoot.gardener.cloud/namespace"] = Value::Null => "422 Secret \"p1--uid-s1\" is invalid: metadata.labels[shoot.gardener.cloud/namespace]: Invalid value: \"\": label is missing"; "no namespace")]
#[test_case(|labels| labels["discovery.gardener.cloud/public"] = Value::Null => "422 Secret \"p1--uid-s1\" is invalid: metadata.labels[discovery.gardener.cloud/public]: Invalid value: \"\": label is missing"; "not public")]
#[test_case(|labels| labels["discovery.gardener.cloud/public"] = json!("x") => "422 Secret \"p1--uid-s1\" is invalid: metadata.labels[discovery.gardener.cloud/public]: Invalid value: \"x\": must be \"serviceaccount\""; "public as something else")]
#[test_case(|labels| labels["shoot.gardener.cloud/name"] = json!("x") => "403 shoots.core.gardener.cloud \"x\" not found"; "no shoot")]
#[test_case(|labels| labels["shoot.gardener.cloud/namespace"] = json!("") => "403 shoots.core.gardener.cloud \"s1\" not found"; "an empty namespace")]
#[test_case(|labels| { labels["shoot.gardener.cloud/name"] = json!("s2"); labels["shoot.gardener.cloud/namespace"] = json!("garden-p2") } => FOREIGN; "the shoot of another")]
fn issuers(change: fn(&mut Value)) -> String {
    let mut labels = json!({
        "shoot.gardener.cloud/name": "s1",
        "shoot.gardener.cloud/namespace": "garden-p1",
        "discovery.gardener.cloud/public": "serviceaccount",
    });
    change(&mut labels);
    // A label without a value is there; so it has to be left out.
    labels.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let body = object("p1--uid-s1", &json!({"metadata": {"labels": labels}}));
    secret(&world(Current, A), "gardener-system-shoot-issuer", &body)
}

#[test_case("p1--uid-s1" => "passes"; "of the shoot")]
#[test_case("p2--uid-s2" => "403 its name must end with the uid of shoot garden-p1/s1"; "of another")]
#[test_case("uid-s1" => "403 its name must end with the uid of shoot garden-p1/s1"; "without a project")]
fn issuers_are_found_by_name(name: &str) -> String {
    let labels = json!({
        "shoot.gardener.cloud/name": "s1",
        "shoot.gardener.cloud/namespace": "garden-p1",
        "discovery.gardener.cloud/public": "serviceaccount",
    });
    let body = object(name, &json!({"metadata": {"labels": labels}}));
    secret(&world(Current, A), "gardener-system-shoot-issuer", &body)
}

/// `printf %s garden--child | sha256sum`
const TOKEN: &str = "bootstrap-token-872184";
const MANAGED_SEED: &str = "seedmanagement.gardener.cloud/v1alpha1.ManagedSeed resource";
const GARDENLET: &str = "seedmanagement.gardener.cloud/v1alpha1.Gardenlet resource";

fn token(name: &str, description: &str) -> Value {
    let data = [
        ("usage-bootstrap-authentication", "true"),
        ("usage-bootstrap-signing", "true"),
        ("description", description),
    ];
    let data: serde_json::Map<_, _> = data
        .map(|(key, value)| (key.into(), STANDARD.encode(value).into()))
        .into_iter()
        .collect();
    object(name, &json!({"type": "bootstrap.kubernetes.io/token", "data": data}))
}

fn token_for(kind: &str, rest: &str) -> String {
    format!("A bootstrap token for the Gardenlet for {kind} {rest}")
}

fn told_of(user: &'static str, change: impl FnOnce(&mut Value)) -> String {
    let mut body = token(TOKEN, &token_for(MANAGED_SEED, "garden/child."));
    change(&mut body);
    let told = secret(&world(Current, user), "kube-system", &body);
    told.replace("422 Secret \"bootstrap-token-872184\" is invalid: ", "422 … ")
}

#[test_case(|_| () => "passes"; "as it should be")]
#[test_case(|body| body["type"] = json!("Opaque") => "422 … type: Invalid value: \"Opaque\": must be \"bootstrap.kubernetes.io/token\""; "another type")]
#[test_case(|body| { body["data"].as_object_mut().unwrap().remove("usage-bootstrap-authentication"); } => "422 … data[usage-bootstrap-authentication]: Invalid value: \"\": must be set to 'true'"; "not to authenticate")]
#[test_case(|body| body["data"]["usage-bootstrap-signing"] = json!("ZmFsc2U=") => "422 … data[usage-bootstrap-signing]: Invalid value: \"false\": must be set to 'true'"; "not to sign")]
#[test_case(|body| body["stringData"] = json!({"usage-bootstrap-signing": "false"}) => "422 … data[usage-bootstrap-signing]: Invalid value: \"false\": must be set to 'true'"; "a text goes before bytes")]
#[test_case(|body| body["data"]["auth-extra-groups"] = json!("") => "422 … data[auth-extra-groups]: Forbidden: must not be set"; "groups")]
#[test_case(|body| body["stringData"] = json!({"auth-extra-groups": "system:bootstrappers:x"}) => "422 … data[auth-extra-groups]: Forbidden: must not be set"; "groups in a text")]
#[test_case(|body| body["stringData"] = json!({"description": "x"}) => "400 unknown kind found in bootstrap token secret description \"x\""; "for nothing")]
#[test_case(|body| { body["data"].as_object_mut().unwrap().remove("description"); } => "400 unknown kind found in bootstrap token secret description \"\""; "without a description")]
#[test_case(|body| body["metadata"]["name"] = json!("bootstrap-token-000000") => "403 it is not called like the bootstrap token of garden/child"; "another name")]
fn tokens(change: fn(&mut Value)) -> String {
    told_of(A, change)
}

#[test_case("A token for seedmanagement.gardener.cloud/v1alpha1.ManagedSeed resource garden/child." => "403 its description names no object that it is for"; "other words")]
#[test_case(&token_for(MANAGED_SEED, "garden/child") => "403 its description names no object that it is for"; "no full stop")]
#[test_case(&token_for(MANAGED_SEED, "child.") => "403 its description names no object that it is for"; "no namespace")]
#[test_case(&token_for(MANAGED_SEED, "garden/other.") => "403 it is not called like the bootstrap token of garden/other"; "another one")]
#[test_case(&token_for(GARDENLET, &format!("x/y. {}", token_for(MANAGED_SEED, "garden/child."))) => "403 it is not called like the bootstrap token of x/y. A bootstrap token for the Gardenlet for seedmanagement.gardener.cloud/v1alpha1.ManagedSeed resource garden/child"; "two of them")]
fn descriptions(description: &str) -> String {
    told_of(A, |body| *body = token(TOKEN, description))
}

#[test_case(B => "403 object does not belong to seed \"seed-b\""; "not the parent")]
#[test_case(C => "403 object does not belong to seed \"child\""; "the seed itself")]
fn tokens_of_others(user: &'static str) -> String {
    told_of(user, |_| ())
}

#[test]
fn a_token_is_no_token_elsewhere() {
    let body = token(TOKEN, &token_for(MANAGED_SEED, "garden/child."));
    assert_eq!(secret(&world(Current, A), "garden", &body), FOREIGN);
}

/// A token by which seed-a begins anew.
fn anew(world: &World, namespace: &str, name: &str) -> String {
    // `printf %s garden--seed-a | sha256sum`, and the same of what is asked for here.
    let secret_name = crate::api::garden::bootstrap_token_secret(namespace, name);
    let body = token(&secret_name, &token_for(GARDENLET, &format!("{namespace}/{name}.")));
    secret(world, "kube-system", &body)
}

#[test]
fn a_gardenlet_begins_anew() {
    let gardenlet = json!({"kind": "Gardenlet", "metadata": {"namespace": "garden", "name": "seed-a"}});
    let there = || world(Current, A).with(gardenlet.clone());
    let already = "400 gardenlet garden/seed-a is already bootstrapped";
    assert_eq!(anew(&there(), "garden", "seed-a"), already);
    let expired = there().but("Seed", "seed-a", |seed| {
        seed["status"] = json!({"clientCertificateExpirationTimestamp": "2025-01-01T00:00:00Z"});
    });
    assert_eq!(anew(&expired, "garden", "seed-a"), "passes");
    let renewed = there().but("Gardenlet", "seed-a", |gardenlet| {
        gardenlet["metadata"]["annotations"] = json!({"gardener.cloud/operation": "renew-kubeconfig"});
    });
    assert_eq!(anew(&renewed, "garden", "seed-a"), "passes");
    let no_gardenlet = "403 gardenlets.seedmanagement.gardener.cloud \"seed-a\" not found";
    assert_eq!(anew(&world(Current, A), "garden", "seed-a"), no_gardenlet);
    let no_seed = anew(&there().without("Seed", "seed-a"), "garden", "seed-a");
    assert_eq!(no_seed, "403 seeds.core.gardener.cloud \"seed-a\" not found");
    let other = "403 gardenlet garden/seed-b does not belong to seed \"seed-a\"";
    assert_eq!(anew(&expired, "garden", "seed-b"), other);
    let elsewhere = "403 gardenlet garden-p1/seed-a does not belong to seed \"seed-a\"";
    assert_eq!(anew(&expired, "garden-p1", "seed-a"), elsewhere);
}

/// The backup of seed child was kept with a Secret when the graph was last told, and is kept with this.
fn backed_up(user: &'static str, backup: &Value) -> World {
    let with = |backup: &Value| {
        world(Current, user).but("ManagedSeed", "child", |managed_seed| {
            managed_seed["spec"]["gardenlet"]["config"]["seedConfig"]["spec"]["backup"] = backup.clone();
        })
    };
    World {
        watched: Some(with(&credentials("Secret")).stored),
        ..with(backup)
    }
}

fn credentials(kind: &str) -> Value {
    json!({"credentialsRef": {"apiVersion": "v1", "kind": kind, "namespace": "garden", "name": "backup"}})
}

#[test_case(A, &credentials("Secret") => "passes"; "of a managed seed of the seed")]
#[test_case(A, &json!({"secretRef": {"namespace": "garden", "name": "backup"}}) => "passes"; "as it was written before")]
#[test_case(C, &credentials("Secret") => "403 object does not belong to seed \"child\""; "the managed seed itself")]
#[test_case(B, &credentials("Secret") => "403 object does not belong to seed \"seed-b\""; "another one")]
#[test_case(A, &credentials("WorkloadIdentity") => FOREIGN; "of another kind")]
#[test_case(A, &json!({}) => FOREIGN; "not any more")]
fn backups(user: &'static str, backup: &Value) -> String {
    secret(&backed_up(user, backup), "garden", &object("backup", &json!({})))
}

#[test]
fn what_the_graph_does_not_know_is_waited_for() {
    let target = "POST /api/v1/namespaces/garden/secrets";
    let world = backed_up(A, &credentials("Secret"));
    let (told, asked) = world.settle(target, JSON, br#"{"metadata": {"name": "other"}}"#);
    assert_eq!(told, FOREIGN);
    assert_eq!(asked, ["secret garden/other", "secrets garden/other"]);
    let gone = world
        .without("Shoot", "child")
        .settle(target, JSON, br#"{"metadata": {"name": "backup"}}"#)
        .0;
    assert_eq!(gone, "500 shoots.core.gardener.cloud \"child\" not found");
}

#[test_case(Rule::SeedRestrictionSecrets => ("passes", false); "secrets")]
#[test_case(Rule::SeedRestrictionBootstrap => (FOREIGN, true); "tokens")]
fn rules_are_set_apart(off: Rule) -> (&'static str, bool) {
    let world = World {
        off: if off == Rule::SeedRestrictionSecrets {
            &[Rule::SeedRestrictionSecrets]
        } else {
            &[Rule::SeedRestrictionBootstrap]
        },
        ..world(Current, A)
    };
    let told = secret(&world, "garden", &object("x", &json!({})));
    let token = secret(&world, "kube-system", &object(TOKEN, &json!({})));
    (if told == FOREIGN { FOREIGN } else { "passes" }, token == "passes")
}
