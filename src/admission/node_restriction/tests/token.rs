use serde_json::json;
use test_case::test_case;

use super::*;

const TOKEN: &str = "/api/v1/namespaces/ns/serviceaccounts/sa1/token";

#[test_case("p1", "U-p1", &["aud1"] => "passes"; "audience of a projected volume")]
#[test_case("p1", "U-p1", &["vault"] => "passes"; "audience of a claim's driver")]
#[test_case("p1", "U-p1", &["inlined"] => "passes"; "audience of a driver")]
#[test_case("p1", "U-p1", &["granted"] => "passes"; "audience that upstream grants")]
#[test_case("p1", "U-p1", &["a"] => refused(r#"audience "a" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience"#); "foreign audience")]
#[test_case("p1", "U-p1", &[] => refused(r#"audience "" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience"#); "no audience")]
#[test_case("p1", "U-p1", &["aud1", "vault"] => refused("node may only request 0 or 1 audiences"); "two audiences")]
#[test_case("p2", "U-p2", &["aud2"] => refused("node requested token bound to a pod scheduled on a different node"); "pod of another node")]
#[test_case("p1", "V", &["aud1"] => refused("the UID in the bound object reference (V) does not match the UID in record. The object might have been deleted and then recreated"); "another of the name")]
#[test_case("p1", "", &["aud1"] => refused("node requested token with a pod binding without a uid"); "no uid")]
#[test_case("", "U-p1", &["aud1"] => refused("node requested token not bound to a pod"); "no name")]
#[test_case("nosuch", "V", &[] => r#"404 pod "nosuch" not found pod"#; "missing pod")]
#[test_case("bad", "U-bad", &["granted"] => refused(r#"error validating audience "granted": [persistentvolumeclaim "gone" not found, persistentvolume "" not found, csidriver.storage.k8s.io "nodriver" not found, persistentvolume "pv9" not found]"#); "what cannot be looked up")]
fn bound(name: &str, uid: &str, audiences: &[&str]) -> String {
    outcome(
        "POST",
        TOKEN,
        &request(
            &json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}),
            audiences,
        ),
    )
}

#[test_case(&json!(null); "to nothing")]
#[test_case(&json!({}); "to an empty reference")]
#[test_case(&json!({"apiVersion": "v1", "kind": "Secret", "name": "p1", "uid": "U-p1"}); "to a secret")]
#[test_case(&json!({"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "N1"}); "to a node")]
#[test_case(&json!({"apiVersion": "v2", "kind": "Pod", "name": "p1", "uid": "U-p1"}); "to another version")]
#[test_case(&json!({"kind": "Pod", "name": "p1", "uid": "U-p1"}); "to no version")]
fn not_bound(reference: &serde_json::Value) {
    let found = outcome("POST", TOKEN, &request(reference, &["aud1"]));
    assert_eq!(found, refused("node requested token not bound to a pod"));
}

#[test]
fn nothing_is_asked_where_the_graph_knows() {
    let world = World::default();
    let body = request(
        &json!({"apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": "U-p1"}),
        &["vault"],
    );
    assert_eq!(told(&world, &upstream(), "POST", TOKEN, &body).1, [""; 0]);
}

#[test]
fn one_error_stands_by_itself() {
    let mut world = World::default();
    world
        .objects
        .retain(|(kind, _)| *kind != crate::graph::Kind::PersistentVolumeClaim);
    let body = request(
        &json!({"apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": "U-p1"}),
        &["vault"],
    );
    let (found, _) = told(&world, &upstream(), "POST", TOKEN, &body);
    assert_eq!(
        found,
        refused(r#"error validating audience "vault": persistentvolumeclaim "pvc1" not found"#)
    );
}

#[test]
fn before_audiences_were_looked_at() {
    let rules = upstream_with(|rules| rules.audiences = false);
    let body = request(
        &json!({"apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": "U-p1"}),
        &["a", "b"],
    );
    assert_eq!(told(&World::default(), &rules, "POST", TOKEN, &body).0, "passes");
}

fn request(reference: &serde_json::Value, audiences: &[&str]) -> String {
    json!({"spec": {"audiences": audiences, "boundObjectRef": reference}}).to_string()
}

fn refused(why: &str) -> String {
    format!(r#"403 serviceaccounts "sa1" is forbidden: {why} serviceaccounts"#)
}

/// That a token is bound to no pod of the node, and that no pod of its has a use for it, are two things.
#[test_case(&json!(["nobody", "vault"]) => r#"403 serviceaccounts "sa1" is forbidden: node may only request 0 or 1 audiences serviceaccounts"#; "several")]
#[test_case(&json!(["vault"]) => r#"403 serviceaccounts "sa1" is forbidden: audience "vault" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience serviceaccounts"#; "one")]
#[test_case(&json!(["granted"]) => "passes"; "one that it may have")]
fn unbound_for_audiences(audiences: &serde_json::Value) -> String {
    let mut rules = upstream();
    rules.modes.set(Rule::RestrictionTokens, Mode::Audit);
    let body = json!({"spec": {"audiences": audiences}}).to_string();
    let found = told(&World::default(), &rules, "POST", TOKEN, &body).0;
    found.split(" [").next().unwrap().to_owned()
}
