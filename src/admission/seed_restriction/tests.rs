mod applied;
mod backups;
mod begin;
mod own;
mod secrets;
mod world;

use serde_json::{Value, json};
use test_case::test_case;

use self::world::{A, B, C, JSON, World, X, world};
use crate::{
    authorizer::Profile::{self, Current, Document},
    rules::Rule,
};

const FOREIGN: &str = "403 object does not belong to seed \"seed-a\"";

const BUCKETS: &str = "POST /apis/core.gardener.cloud/v1beta1/backupbuckets";

/// An object of this name with this in it.
fn object(name: &str, rest: &Value) -> Value {
    let mut object = rest.clone();
    object["metadata"]["name"] = json!(name);
    object
}

/// A bucket of seed-b, which only strangers can create through A.
fn bucket_of_b(world: &World) -> String {
    world.told(BUCKETS, &object("x", &json!({"spec": {"seedName": "seed-b"}})))
}

#[test_case(A, &["gardener.cloud:system:seeds"] => FOREIGN; "a gardenlet")]
#[test_case(A, &[] => "passes"; "without the group")]
#[test_case("seed-a", &["gardener.cloud:system:seeds"] => "passes"; "without the prefix")]
#[test_case("gardener.cloud:system:seed:<ambiguous>", &["gardener.cloud:system:seeds"] => "passes"; "of several seeds")]
#[test_case("admin", &["system:authenticated"] => "passes"; "somebody else")]
fn who_is_a_seed(user: &'static str, groups: &'static [&'static str]) -> String {
    let told = |profile| {
        bucket_of_b(&World {
            groups,
            ..world(profile, user)
        })
    };
    assert_eq!(told(Document), told(Current));
    told(Current)
}

#[test_case(Document => "passes"; "nobody to the document")]
#[test_case(Current => FOREIGN; "a seed today")]
fn an_extension(profile: Profile) -> String {
    bucket_of_b(&world(profile, X))
}

#[test]
fn whoever_only_upstream_allows_something_is_restricted_too() {
    let world = World {
        fallback: true,
        ..world(Current, A)
    };
    assert_eq!(bucket_of_b(&world), FOREIGN);
}

#[test]
fn a_rule_that_is_not_enforced_asks_for_nothing() {
    let world = World {
        off: &[Rule::SeedRestrictionBackups],
        ..world(Current, A)
    };
    assert_eq!(bucket_of_b(&world), "passes");
    // Not even for a body that can be read.
    assert_eq!(world.settle(BUCKETS, JSON, b"{").0, "passes");
}

#[test_case("POST /apis/core.gardener.cloud/v1beta1/namespaces/garden-p2/backupentries", Document => true; "document")]
#[test_case("POST /apis/operations.gardener.cloud/v1alpha1/namespaces/garden-p2/bastions", Document => false; "not in the document")]
#[test_case("POST /apis/operations.gardener.cloud/v1alpha1/namespaces/garden-p2/bastions", Current => true; "today")]
#[test_case("POST /api/v1/namespaces/garden-p2/secrets", Document => false; "secrets are not in the document")]
#[test_case("POST /api/v1/namespaces/garden-p2/secrets", Current => true; "secrets")]
#[test_case("POST /api/v1/namespaces/garden-p2/events", Current => false; "events")]
#[test_case("POST /apis/events.k8s.io/v1/namespaces/garden-p2/events", Current => false; "other events")]
#[test_case("POST /api/v1/namespaces/seed-seed-b/serviceaccounts/x/token", Current => false; "subresources")]
#[test_case("PUT /apis/core.gardener.cloud/v1beta1/seeds/seed-b/status", Document => true; "status of a seed")]
#[test_case("PUT /apis/core.gardener.cloud/v1beta1/namespaces/garden-p2/backupentries/e/status", Document => false; "status of something else")]
#[test_case("PUT /api/v1/namespaces/garden-p2/secrets/x", Current => false; "what a PUT cannot create")]
#[test_case("PUT /apis/coordination.k8s.io/v1/namespaces/x/leases/x", Current => true; "what it can")]
#[test_case("DELETE /api/v1/namespaces/garden-p2/secrets/x", Current => false; "deletion")]
#[test_case("DELETE /apis/core.gardener.cloud/v1beta1/backupbuckets/ub", Document => false; "deletion of a bucket in the document")]
#[test_case("DELETE /apis/core.gardener.cloud/v1beta1/backupbuckets/ub", Current => true; "deletion of a bucket")]
#[test_case("DELETE /apis/core.gardener.cloud/v1beta1/backupbuckets", Current => true; "deletion of buckets")]
#[test_case("DELETE /apis/core.gardener.cloud/v1beta1/seeds", Document => true; "deletion of seeds")]
#[test_case("GET /api/v1/namespaces/garden-p2/secrets/x", Current => false; "a read")]
fn what_is_looked_at(target: &str, profile: Profile) -> bool {
    let (told, asked) = world(profile, A).settle(target, JSON, b"{}");
    assert!(
        told == "passes" || told.starts_with("40") || told.starts_with("500"),
        "{told}"
    );
    told != "passes" || !asked.is_empty()
}

#[test_case("POST /api/v1/secrets" => "405"; "no namespace")]
#[test_case("PUT /apis/coordination.k8s.io/v1/leases/x" => "405"; "no namespace for one that may be there")]
#[test_case("POST /api/v1/namespaces/garden/secrets/x" => "405"; "a name")]
fn nowhere(target: &str) -> String {
    let told = world(Current, A).settle(target, JSON, b"{}").0;
    told.split(' ').next().unwrap().to_owned()
}

#[test_case(JSON, "{" => "400"; "broken")]
#[test_case(JSON, "[]" => "400"; "no object")]
#[test_case(JSON, r#"{"spec":{"seedName":"seed-a"},"spec":{"seedName":"seed-b"}}"# => "400"; "a key twice")]
#[test_case(JSON, r#"{"kind":"BackupEntry","spec":{"seedName":"seed-a"}}"# => "400"; "another kind")]
#[test_case(JSON, r#"{"apiVersion":"core.gardener.cloud/v1","spec":{"seedName":"seed-a"}}"# => "400"; "another version")]
#[test_case(JSON, r#"{"Kind":"X","spec":{"seedName":"seed-a"}}"# => "400"; "another kind in other letters")]
#[test_case(JSON, r#"{"spec":{"seedName":["seed-a"]}}"# => "400"; "another type")]
#[test_case(JSON, r#"{"spec":{"SeedName":"seed-a"}}"# => "403"; "a field in other letters")]
#[test_case(JSON, r#"{"spec":{"seedName":null}}"# => "403"; "null")]
#[test_case("application/yaml", "{spec: {seedName: seed-a}}" => "passes"; "yaml")]
#[test_case("application/yaml", "{spec: {seedName: seed-b}}" => "403"; "yaml for another")]
#[test_case("application/cbor", "x" => "415"; "cbor")]
#[test_case("application/vnd.kubernetes.protobuf", "k8s\0" => "415"; "protobuf of a kind of Gardener")]
fn bodies(content_type: &str, body: &str) -> String {
    let told = world(Current, A).settle(BUCKETS, content_type, body.as_bytes()).0;
    told.split(' ').next().unwrap().to_owned()
}

#[test]
fn the_namespace_is_that_of_the_url() {
    let target = "POST /apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases";
    let elsewhere = json!({"metadata": {"name": "seed-a", "namespace": "kube-system"}});
    let told = world(Current, A).told(target, &elsewhere);
    assert!(told.starts_with("400 the namespace of the provided object"), "{told}");
}

#[test]
fn what_is_there_is_not_created() {
    let body = object("x", &json!({"spec": {"seedName": "seed-b"}}));
    let there = || world(Current, A).with(json!({"kind": "BackupBucket", "metadata": {"name": "x"}}));
    let exists = "409 backupbuckets.core.gardener.cloud \"x\" already exists";
    assert_eq!(there().told(BUCKETS, &body), exists);
    // Nobody need look where it is good: upstream says the same.
    let own = object("x", &json!({"spec": {"seedName": "seed-a"}}));
    assert_eq!(
        there().settle(BUCKETS, JSON, own.to_string().as_bytes()),
        ("passes".to_owned(), Vec::new())
    );
    // Whom only upstream lets create it, upstream tells.
    let fallback = World {
        fallback: true,
        ..there()
    };
    assert_eq!(fallback.told(BUCKETS, &body), FOREIGN);
}

#[test]
fn names_that_nothing_has_are_not_asked_for() {
    for name in ["", ".", "..", "a/b.ca-cluster", "../../x.ca-cluster", "A.ca-cluster"] {
        let body = object(name, &json!({}));
        let target = "POST /api/v1/namespaces/garden-p1/configmaps";
        let (told, asked) = world(Current, A).settle(target, JSON, body.to_string().as_bytes());
        assert!(told.starts_with("403 "), "{name}: {told}");
        assert!(
            asked.iter().all(|asked| asked.starts_with("configmaps")),
            "{name}: {asked:?}"
        );
    }
}
