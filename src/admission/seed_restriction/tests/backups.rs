use test_case::test_case;

use super::*;

const ENTRIES: &str = "POST /apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/backupentries";

#[test_case(&json!({"seedName": "seed-a"}) => "passes"; "own")]
#[test_case(&json!({"seedName": "seed-b"}) => FOREIGN; "of another")]
#[test_case(&json!({}) => FOREIGN; "of nobody")]
fn buckets(spec: &Value) -> String {
    let body = object("x", &json!({"spec": spec}));
    let document = world(Document, A).told(BUCKETS, &body);
    assert_eq!(world(Current, A).told(BUCKETS, &body), document);
    document
}

#[test_case("ua" => "passes"; "of the name of the seed's uid")]
#[test_case("ub" => "403 cannot delete unrelated BackupBucket"; "of another")]
#[test_case("" => "403 cannot delete unrelated BackupBucket"; "all")]
fn bucket_deletions(name: &str) -> String {
    let target = match name {
        "" => "DELETE /apis/core.gardener.cloud/v1beta1/backupbuckets".to_owned(),
        name => format!("DELETE /apis/core.gardener.cloud/v1beta1/backupbuckets/{name}"),
    };
    let gone = world(Current, A).without("Seed", "seed-a").settle(&target, JSON, b"").0;
    assert_eq!(gone, "500 seeds.core.gardener.cloud \"seed-a\" not found");
    world(Current, A).settle(&target, JSON, b"").0
}

#[test_case("seed-a", "ua" => "passes"; "own in the own bucket")]
#[test_case("seed-a", "ub" => FOREIGN; "own in the bucket of another")]
#[test_case("seed-b", "ua" => FOREIGN; "of another in the own bucket")]
#[test_case("seed-a", "missing" => "500 backupbuckets.core.gardener.cloud \"missing\" not found"; "no bucket")]
#[test_case("seed-a", "" => "500 backupbuckets.core.gardener.cloud \"\" not found"; "none named")]
fn entries(seed: &str, bucket: &str) -> String {
    let body = object("e", &json!({"spec": {"seedName": seed, "bucketName": bucket}}));
    let document = world(Document, A).told(ENTRIES, &body);
    assert_eq!(world(Current, A).told(ENTRIES, &body), document);
    document
}

/// The copy of an entry, while its shoot is restored unless that is changed.
fn source(profile: Profile, name: &str, change: impl FnOnce(World, &mut Value) -> World) -> String {
    let spec = json!({"seedName": "seed-a", "bucketName": "ub"});
    let entry = json!({"kind": "BackupEntry", "metadata": {"namespace": "garden-p1", "name": "e"}, "spec": spec});
    let restored = world(profile, A).with(entry).but("Shoot", "s1", |shoot| {
        shoot["status"]["lastOperation"] = json!({"type": "Restore", "state": "Processing"});
    });
    let owners = json!([{"kind": "Other", "name": "x"}, {"kind": "Shoot", "name": "s1"}]);
    let mut body = object(name, &json!({"metadata": {"ownerReferences": owners}, "spec": spec}));
    body["spec"]["shootRef"] = Value::Null;
    change(restored, &mut body).told(ENTRIES, &body)
}

#[test]
fn a_source_is_a_copy_while_its_shoot_is_restored() {
    assert_eq!(source(Current, "source-e", |world, _| world), "passes");
    // The document knows of no such entries.
    assert_eq!(source(Document, "source-e", |world, _| world), FOREIGN);
    // It is in a bucket of another seed, where no other entry may be.
    assert_eq!(source(Current, "e2", |world, _| world), FOREIGN);
}

#[test_case("type", "Reconcile"; "another operation")]
#[test_case("state", "Succeeded"; "that is over")]
fn a_source_is_for_restoring(key: &str, value: &str) {
    let told = source(Current, "source-e", |world, _| {
        world.but("Shoot", "s1", |shoot| {
            shoot["status"]["lastOperation"][key] = json!(value);
        })
    });
    let why = "403 creation of source BackupEntry is only allowed during shoot Restore operation (shoot: s1)";
    assert_eq!(told, why);
}

#[test]
fn a_source_has_an_original_and_an_owner() {
    let told = source(Current, "source-e", |world, _| world.without("BackupEntry", "e"));
    assert_eq!(told, "403 could not find original BackupEntry e");
    let told = source(Current, "source-e", |world, body| {
        body["spec"]["bucketName"] = json!("ua");
        world
    });
    let why = "403 specification of source BackupEntry must equal specification of original BackupEntry e";
    assert_eq!(told, why);
    let told = source(Current, "source-e", |world, body| {
        body["metadata"]["ownerReferences"] = json!([]);
        world
    });
    assert_eq!(told, "500 shoots.core.gardener.cloud \"\" not found");
    // Of another seed it is not, whatever it copies.
    let told = source(Current, "source-e", |world, body| {
        body["spec"]["seedName"] = json!("seed-b");
        world
    });
    assert_eq!(told, FOREIGN);
}

#[test]
fn a_name_that_is_made_up_could_be_that_of_a_source() {
    let mut body = json!({"metadata": {"generateName": "source-"}});
    body["spec"] = json!({"seedName": "seed-a", "bucketName": "ua"});
    let told = world(Current, A).told(ENTRIES, &body);
    assert_eq!(told, "403 it needs a name, which generateName is not");
    assert_eq!(world(Document, A).told(ENTRIES, &body), "passes");
}
