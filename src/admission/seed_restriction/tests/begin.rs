//! Seeds, and what gardenlets begin with.

use test_case::test_case;

use super::*;

const SEEDS: &str = "/apis/core.gardener.cloud/v1beta1/seeds";
const DELETED_FIRST: &str = "403 object can only be deleted if corresponding ManagedSeed has a deletion timestamp";
const FOREIGN_TO_B: &str = "403 object does not belong to seed \"seed-b\"";

fn write(world: &World, method: &str, name: &str) -> String {
    match method {
        "POST" => world.told(&format!("POST {SEEDS}"), &object(name, &json!({}))),
        "APPLY" => {
            world
                .settle(&format!("PATCH {SEEDS}/{name}"), "application/apply-patch+yaml", b"{}")
                .0
        }
        "PATCH" => {
            world
                .settle(&format!("PATCH {SEEDS}/{name}"), "application/merge-patch+json", b"{}")
                .0
        }
        "STATUS" => world.settle(&format!("PUT {SEEDS}/{name}/status"), JSON, b"{}").0,
        method => world.settle(&format!("{method} {SEEDS}/{name}"), JSON, b"{}").0,
    }
}

#[test_case("POST"; "create")]
#[test_case("PUT"; "replace")]
#[test_case("PATCH"; "patch")]
#[test_case("APPLY"; "apply")]
#[test_case("STATUS"; "status")]
fn seeds(method: &str) {
    let template = |world: World| world.but("ManagedSeed", "child", |ms| ms["spec"]["seedTemplate"] = json!({}));
    for profile in [Document, Current] {
        let world = || world(profile, A);
        assert_eq!(write(&world(), method, "seed-a"), "passes");
        assert_eq!(write(&world(), method, "child"), FOREIGN);
        let parent = write(&template(world()), method, "child");
        assert_eq!(parent, if profile == Document { "passes" } else { FOREIGN });
    }
    let told = |user, change: fn(World) -> World| write(&change(template(world(Document, user))), method, "child");
    assert_eq!(told(B, |world| world), FOREIGN_TO_B);
    assert_eq!(told(C, |world| world), "passes");
    assert_eq!(told(A, |world| world.without("ManagedSeed", "child")), FOREIGN);
    let no_shoot = told(A, |world| {
        world.but("ManagedSeed", "child", |ms| ms["spec"]["shoot"] = Value::Null)
    });
    assert_eq!(no_shoot, FOREIGN);
    let gone = told(A, |world| world.without("Shoot", "child"));
    assert_eq!(gone, "500 shoots.core.gardener.cloud \"child\" not found");
}

#[test]
fn a_seed_needs_a_name() {
    let body = json!({"metadata": {"generateName": "seed-"}});
    let told = world(Current, A).told(&format!("POST {SEEDS}"), &body);
    assert_eq!(told, "403 it needs a name, which generateName is not");
}

#[test_case(Document; "document")]
#[test_case(Current; "today")]
fn deletions(profile: Profile) {
    let going = |user| {
        world(profile, user).but("ManagedSeed", "child", |ms| {
            ms["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        })
    };
    assert_eq!(write(&world(profile, A), "DELETE", "child"), DELETED_FIRST);
    assert_eq!(write(&going(A), "DELETE", "child"), "passes");
    assert_eq!(write(&going(B), "DELETE", "child"), FOREIGN_TO_B);
    assert_eq!(write(&world(profile, B), "DELETE", "child"), DELETED_FIRST);
    assert_eq!(write(&world(profile, C), "DELETE", "child"), "passes");
    assert_eq!(write(&world(profile, A), "DELETE", "seed-a"), "passes");
    assert_eq!(write(&world(profile, A), "DELETE", "seed-b"), FOREIGN);
    let no_shoot = going(A).but("ManagedSeed", "child", |ms| ms["spec"]["shoot"] = Value::Null);
    assert_eq!(write(&no_shoot, "DELETE", "child"), FOREIGN);
    let gone = going(A).without("Shoot", "child");
    assert_eq!(
        write(&gone, "DELETE", "child"),
        "500 shoots.core.gardener.cloud \"child\" not found"
    );
    // As if it were the whole collection, which it is.
    let own = format!("DELETE {SEEDS}?fieldSelector=metadata.name%3Dseed-a");
    assert_eq!(going(A).settle(&own, JSON, b"").0, FOREIGN);
}

const ACCOUNTS: &str = "POST /api/v1/namespaces/garden/serviceaccounts";

/// The account that the gardenlet of seed child begins with.
fn account(world: &World) -> String {
    world.told(ACCOUNTS, &object("gardenlet-bootstrap-child", &json!({})))
}

fn seed(status: &Value) -> Value {
    json!({"kind": "Seed", "metadata": {"name": "child"}, "status": status})
}

#[test]
fn a_managed_seed_begins_once() {
    let already = "400 managed seed garden/child is already bootstrapped";
    let expires = |at: &str| seed(&json!({"clientCertificateExpirationTimestamp": at}));
    let world = || world(Current, A);
    assert_eq!(account(&world()), "passes");
    assert_eq!(account(&world().with(seed(&json!({})))), already);
    assert_eq!(account(&world().with(expires("2025-12-31T23:59:59Z"))), "passes");
    assert_eq!(account(&world().with(expires("2026-01-01T00:00:00Z"))), already);
    let renewed = |operation: &str| {
        let operation = json!({"gardener.cloud/operation": operation});
        let world = world().with(seed(&json!({})));
        account(&world.but("ManagedSeed", "child", |ms| ms["metadata"]["annotations"] = operation))
    };
    assert_eq!(renewed("renew-kubeconfig"), "passes");
    assert_eq!(renewed("reconcile"), already);
    let missing = "403 managedseeds.seedmanagement.gardener.cloud \"child\" not found";
    assert_eq!(account(&world().without("ManagedSeed", "child")), missing);
    let no_shoot = account(&world().without("Shoot", "child"));
    assert_eq!(no_shoot, "500 shoots.core.gardener.cloud \"child\" not found");
}

#[test_case(B => FOREIGN_TO_B; "not the parent")]
#[test_case(C => "403 object does not belong to seed \"child\""; "the seed itself")]
#[test_case(X => "403 extension client may not create ServiceAccounts"; "an extension")]
fn only_the_parent_lets_begin(user: &'static str) -> String {
    account(&world(Current, user))
}

#[test_case("seed-seed-a", "x" => "passes"; "in the namespace of the seed")]
#[test_case("seed-seed-b", "x" => FOREIGN; "in that of another")]
#[test_case("garden", "x" => FOREIGN; "elsewhere")]
#[test_case("seed-seed-a", "" => "403 it needs a name, which generateName is not"; "made up")]
#[test_case("kube-system", "gardenlet-bootstrap-child" => "403 managedseeds.seedmanagement.gardener.cloud \"child\" not found"; "no managed seed there")]
#[test_case("garden", "gardenlet-bootstrap-" => FOREIGN; "of no managed seed")]
fn accounts(namespace: &str, name: &str) -> String {
    let target = format!("POST /api/v1/namespaces/{namespace}/serviceaccounts");
    let body = json!({"metadata": {"name": name, "generateName": "gardenlet-bootstrap-"}});
    world(Current, A).told(&target, &body)
}

const BINDINGS: &str = "POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const BINDING: &str = "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child";
const SUBJECT: &str = "403 its only subject must be ServiceAccount \"gardenlet-bootstrap-child\" in namespace garden";
const ROLE: &str = "403 can only create bindings referring to the bootstrapper role";

pub(super) fn binding() -> Value {
    object(
        BINDING,
        &json!({
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "gardener.cloud:system:seed-bootstrapper"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "garden", "name": "gardenlet-bootstrap-child"}],
        }),
    )
}

#[test_case(|_| () => "passes"; "as it should be")]
#[test_case(|body| body["roleRef"]["apiGroup"] = json!("") => "passes"; "upstream puts in the group")]
#[test_case(|body| body["roleRef"]["apiGroup"] = json!("x") => ROLE; "another group")]
#[test_case(|body| body["roleRef"]["kind"] = json!("Role") => ROLE; "another kind")]
#[test_case(|body| body["roleRef"]["name"] = json!("cluster-admin") => ROLE; "another role")]
#[test_case(|body| body["roleRef"] = Value::Null => ROLE; "no role")]
#[test_case(|body| body["subjects"] = json!([]) => SUBJECT; "nobody")]
#[test_case(|body| { let one = body["subjects"][0].clone(); body["subjects"].as_array_mut().unwrap().push(one) } => SUBJECT; "twice")]
#[test_case(|body| body["subjects"][0]["kind"] = json!("User") => SUBJECT; "a user")]
#[test_case(|body| body["subjects"][0]["apiGroup"] = json!("rbac.authorization.k8s.io") => SUBJECT; "of another group")]
#[test_case(|body| body["subjects"][0]["name"] = json!("default") => SUBJECT; "another account")]
#[test_case(|body| body["subjects"][0]["namespace"] = json!("seed-seed-a") => SUBJECT; "in another namespace")]
#[test_case(|body| body["metadata"]["name"] = json!("x") => FOREIGN; "another name")]
#[test_case(|body| body["metadata"]["name"] = json!("gardener.cloud:system:seed-bootstrapper:garden:child") => FOREIGN; "another name of the same managed seed")]
#[test_case(|body| { body["metadata"] = json!({"generateName": BINDING}) } => "403 it needs a name, which generateName is not"; "made up")]
fn bindings(change: fn(&mut Value)) -> String {
    let mut body = binding();
    change(&mut body);
    world(Current, A).told(BINDINGS, &body)
}

#[test_case(A => "400 managed seed garden/child is already bootstrapped"; "the parent, too late")]
#[test_case(B => FOREIGN_TO_B; "not the parent")]
#[test_case(X => "403 extension client may not create ClusterRoleBindings"; "an extension")]
fn bindings_of(user: &'static str) -> String {
    world(Current, user).with(seed(&json!({}))).told(BINDINGS, &binding())
}

const BOUND: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child";
// Made with `printf %s garden--child | sha256sum`.
const TOKEN: &str = "/api/v1/namespaces/kube-system/secrets/bootstrap-token-872184";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";

/// What was looked at when it was created stays so, whoever may change the rest.
#[test_case(BOUND, MERGE, r#"{"metadata":{"labels":{"a":"b"}}}"# => "passes"; "labels of a binding")]
#[test_case(BOUND, MERGE, r#"{"subjects":[{"kind":"Group","name":"system:authenticated"}]}"# => "403 a seed does not change subjects"; "another subject")]
#[test_case(BOUND, JSON_PATCH, r#"[{"op":"add","path":"/subjects/-","value":{}}]"# => "403 a seed does not change subjects"; "one more subject")]
#[test_case(BOUND, JSON_PATCH, r#"[{"op":"copy","from":"/metadata","path":"/subjects"}]"# => "403 a seed does not change subjects"; "a copied subject")]
#[test_case(BOUND, MERGE, r#"{"roleRef":{"name":"cluster-admin"}}"# => "403 a seed does not change roleRef"; "another role")]
#[test_case(TOKEN, MERGE, r#"{"data":{"expiration":"eA=="}}"# => "passes"; "a token that lasts longer")]
#[test_case(TOKEN, MERGE, r#"{"data":{"auth-extra-groups":"eA=="}}"# => "403 a seed does not change data.auth-extra-groups"; "more groups")]
#[test_case(TOKEN, MERGE, r#"{"stringData":{"auth-extra-groups":"x"}}"# => "403 a seed does not change stringData.auth-extra-groups"; "more groups as text")]
#[test_case(TOKEN, JSON_PATCH, r#"[{"op":"replace","path":"/data","value":{}}]"# => "403 a seed does not change data.auth-extra-groups"; "all of it")]
#[test_case("/api/v1/namespaces/kube-system/secrets/other", MERGE, r#"{"data":{"auth-extra-groups":"eA=="}}"# => "passes"; "what is no token")]
fn who_begins_stays_the_same(target: &str, form: &str, patch: &str) -> String {
    world(Current, A)
        .settle(&format!("PATCH {target}"), form, patch.as_bytes())
        .0
}

#[test_case("ServiceAccount", "gardenlet-bootstrap-child" => "passes Uid(\"u\")"; "the same")]
#[test_case("ServiceAccount", "default" => "403 its only subject must be ServiceAccount \"gardenlet-bootstrap-child\" in namespace garden"; "another account")]
#[test_case("Group", "system:authenticated" => "403 its only subject must be ServiceAccount \"gardenlet-bootstrap-child\" in namespace garden"; "everybody")]
fn a_binding_is_replaced(kind: &str, name: &str) -> String {
    let mut body = binding();
    body["subjects"] = json!([{"kind": kind, "namespace": "garden", "name": name}]);
    // The gardenlet has begun, so that it cannot be created any more.
    let there = json!({"kind": "ClusterRoleBinding", "metadata": {"name": BINDING, "uid": "u"}});
    let world = world(Current, A).with(seed(&json!({}))).with(there);
    let (told, _) = world.settle(&format!("PUT {BOUND}"), JSON, body.to_string().as_bytes());
    told.split(" {").next().unwrap().to_owned()
}
