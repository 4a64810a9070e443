//! What is created without a POST.

use test_case::test_case;

use super::{begin::binding, *};

const APPLY: &str = "application/apply-patch+yaml";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases";

fn lease(name: &str) -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}})
}

fn stored(name: &str) -> Value {
    json!({"kind": "Lease", "metadata": {"namespace": "gardener-system-seed-lease", "name": name, "uid": "u7"}})
}

#[test_case("PUT", JSON; "replaced")]
#[test_case("PATCH", APPLY; "applied")]
fn what_may_be_created_may_be_written(method: &str, content_type: &str) {
    let body = lease("seed-a").to_string();
    let target = format!("{method} {LEASES}/seed-a");
    // Whether it is there, nobody has to know.
    let found = world(Current, A).settle(&target, content_type, body.as_bytes());
    assert_eq!(found, ("passes".to_owned(), Vec::new()));
}

#[test_case("PUT", JSON; "replaced")]
#[test_case("PATCH", APPLY; "applied")]
fn what_may_not_be_created_is_tied_to_what_is_there(method: &str, content_type: &str) {
    let target = format!("{method} {LEASES}/x");
    let settle = |world: World, body: &Value| world.settle(&target, content_type, body.to_string().as_bytes()).0;
    assert_eq!(settle(world(Current, A), &lease("x")), FOREIGN);
    let there = || world(Current, A).with(stored("x"));
    let told = settle(there(), &lease("x"));
    assert!(
        told.starts_with("passes Uid(\"u7\") {") && told.contains(r#""uid":"u7""#),
        "{told}"
    );
    let mut own = lease("x");
    own["metadata"]["uid"] = json!("u7");
    assert_eq!(settle(there(), &own), "passes");
    own["metadata"]["uid"] = json!("u6");
    let told = settle(there(), &own);
    assert!(
        told.starts_with("409 Operation cannot be fulfilled on leases.coordination.k8s.io"),
        "{told}"
    );
    let mut other = lease("y");
    other["metadata"]["uid"] = json!("u7");
    assert!(settle(there(), &other).starts_with("400 the name of the object"));
}

#[test]
fn protobuf_is_tied_too() {
    let target = format!("PUT {LEASES}/x");
    let told = world(Current, A).with(stored("x")).told(&target, &lease("x"));
    assert!(told.starts_with("passes Uid(\"u7\")"), "{told}");
}

#[test]
fn a_binding_is_made_by_a_replacement() {
    let name = binding()["metadata"]["name"].as_str().unwrap().to_owned();
    let target = format!("PUT /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}");
    let mut body = binding();
    assert_eq!(world(Current, A).told(&target, &body), "passes");
    body["subjects"][0]["name"] = json!("default");
    let told = world(Current, A).told(&target, &body);
    assert!(told.starts_with("403 its only subject must be"), "{told}");
}

const CONFIG_MAPS: &str = "PATCH /api/v1/namespaces/garden-p1/configmaps";

#[test_case(APPLY, "s1.ca-cluster", "ConfigMap", "v1" => "passes"; "of a shoot")]
#[test_case(APPLY, "x", "ConfigMap", "v1" => FOREIGN; "of nothing")]
#[test_case(APPLY, "s1.ca-cluster", "Secret", "v1" => "400 the applied object has to be a ConfigMap of v1"; "another kind")]
#[test_case(APPLY, "s1.ca-cluster", "ConfigMap", "v2" => "400 the applied object has to be a ConfigMap of v1"; "another version")]
#[test_case("application/merge-patch+json", "x", "ConfigMap", "v1" => "passes"; "a patch creates nothing")]
#[test_case("application/json-patch+json", "x", "ConfigMap", "v1" => "passes"; "nor does this one")]
#[test_case("application/strategic-merge-patch+json", "x", "ConfigMap", "v1" => "passes"; "nor this one")]
fn patches(content_type: &str, name: &str, kind: &str, version: &str) -> String {
    let body = object(name, &json!({"apiVersion": version, "kind": kind}));
    let target = format!("{CONFIG_MAPS}/{name}");
    world(Current, A)
        .settle(&target, content_type, body.to_string().as_bytes())
        .0
}

#[test_case("application/apply-patch+cbor"; "in another form")]
#[test_case("application/Apply-Patch+yaml"; "in other letters")]
#[test_case(JSON; "no patch")]
#[test_case(""; "nothing")]
fn other_patches_are_not_taken(content_type: &str) {
    let body = object("s1.ca-cluster", &json!({"apiVersion": "v1", "kind": "ConfigMap"}));
    let target = format!("{CONFIG_MAPS}/s1.ca-cluster");
    let told = world(Current, A)
        .settle(&target, content_type, body.to_string().as_bytes())
        .0;
    assert!(told.starts_with("415 "), "{told}");
}

#[test]
fn yaml_is_applied_as_what_was_judged() {
    let target = format!("{CONFIG_MAPS}/s1.ca-cluster");
    let body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s1.ca-cluster\n";
    assert_eq!(world(Current, A).settle(&target, APPLY, body.as_bytes()).0, "passes");
}
