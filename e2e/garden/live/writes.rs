//! What gardenlets create, before servers that would store it: only what is their seed's own. Nothing is stored of what is refused,
//! and upstream has not even seen it.

use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::{Value, json};
use test_case::test_case;

use super::{
    objects,
    served::{Served, stored},
    told::ask,
    world::{Gated, JSON, Rules, World},
};
use crate::graph::deleted;

pub(super) const CURRENT: Rules = Rules::new("Current", "Deny", FRONT_PROXY);
pub(super) const BY_IMPERSONATION: Rules = Rules::new("Current", "Upstream", IMPERSONATE);
const DOCUMENT: Rules = Rules::new("Document", "Upstream", FRONT_PROXY);

/// One gate, and one who creates things through it.
pub(super) struct Creator<'a> {
    pub(super) world: &'a World,
    pub(super) gate: &'a Gated,
    pub(super) seed: String,
}

impl Creator<'_> {
    /// Creates an object and says what came of it. If it is stored it goes again, so that the next one finds the same garden.
    pub(super) async fn posts(&self, path: &str, object: &Value, expected: u16) {
        self.sends(("POST", path), (JSON, object.to_string().as_bytes()), object, expected)
            .await;
    }

    pub(super) async fn sends(&self, (method, path): (&str, &str), body: (&str, &[u8]), object: &Value, expected: u16) {
        let (world, path) = (self.world, self.world.named(path));
        let what = format!("{} {method} {path} {object}", self.seed);
        let name = object["metadata"]["name"].as_str().unwrap_or("none");
        let target = match method {
            "POST" => format!("{path}/{name}"),
            _ => path.clone(),
        };
        let before = stored(&world.admin, &target).await;
        let client = self.gate.client(&self.seed).await;
        let told = ask(&client, (method, &path), body, "").await;
        let after = stored(&world.admin, &target).await;
        if expected < 300 {
            assert_eq!(told.code(), expected, "{what}: {}", told.answer.body);
            assert!(after.is_some(), "{what}: it is not stored");
            deleted(&world.admin, &target).await;
            return;
        }
        told.is_refusal(expected, &what);
        assert_eq!(after, before, "{what}: stored all the same");
        told.is_not_forwarded(&world.cluster, &world.admin).await;
    }
}

pub(super) fn core(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": kind, "metadata": {"name": name}})
}

#[test_case(Served::Custom, "bu", CURRENT; "current, custom")]
#[test_case(Served::Gardener, "bu", BY_IMPERSONATION; "current, gardener")]
#[test_case(Served::Custom, "bd", DOCUMENT; "document, custom")]
#[test_case(Served::Gardener, "bd", DOCUMENT; "document, gardener")]
#[tokio::test]
async fn backups_and_states_are_made_for_ones_own_seed(served: Served, test: &'static str, rules: Rules) {
    let Some(world) = World::open(served, test).await else {
        return;
    };
    let gate = world.gate(rules).await;
    let (a, b) = (world.seed("a"), world.seed("b"));
    let creator = Creator {
        world: &world,
        gate: &gate,
        seed: a.clone(),
    };
    // 13
    let new = world.named("{t}-new");
    let buckets = "{core}/backupbuckets";
    for (seed, code) in [(Some(a.as_str()), 201), (Some(b.as_str()), 403), (None, 403)] {
        creator.posts(buckets, &objects::bucket(&new, seed), code).await;
    }
    let broken = br#"{"spec": {"seedName": "#;
    creator
        .sends(("POST", buckets), (JSON, broken), &core("BackupBucket", &new), 400)
        .await;
    // 14
    let (own, other) = (world.bucket("a").await, world.bucket("b").await);
    let (place, entries) = (
        world.named("garden-{t}1"),
        "{core}/namespaces/garden-{t}1/backupentries",
    );
    for (seed, bucket, code) in [(&a, &own, 201), (&a, &other, 403), (&b, &own, 403), (&a, &new, 500)] {
        let entry = objects::entry(&place, "e", seed, bucket);
        creator.posts(entries, &entry, code).await;
    }
    // 17: a shoot that is still where it comes from.
    world.shoot("garden-{t}1", "s3", "b", "{t}-cp2").await;
    let gardener = json!({"id": "i", "name": "n", "version": "1"});
    let status = json!({"status": {"seedName": a, "technicalID": "t", "gardener": gardener, "hibernated": false}});
    world
        .patch("{core}/namespaces/garden-{t}1/shoots/s3/status", status)
        .await;
    let moving = if rules.profile == "Current" { 201 } else { 403 };
    for (place, name, code) in [
        ("garden-{t}1", "s1", 201),
        ("garden-{t}2", "s2", 403),
        ("garden-{t}1", "none", 500),
        ("garden-{t}1", "s3", moving),
    ] {
        let path = format!("{{core}}/namespaces/{place}/shootstates");
        creator.posts(&path, &core("ShootState", name), code).await;
    }
    if rules.profile == "Current" {
        copies(&world, &creator).await;
    }
}

/// 16: only while its shoot is being restored, and only a copy of the entry that the shoot has.
async fn copies(world: &World, creator: &Creator<'_>) {
    let (place, seed, bucket) = (world.named("garden-{t}1"), world.seed("a"), world.bucket("b").await);
    let shoot = "{core}/namespaces/garden-{t}1/shoots/s1";
    let uid = stored(&world.admin, &world.named(shoot)).await.unwrap()["metadata"]["uid"].clone();
    let owner = json!([{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "name": "s1", "uid": uid}]);
    let entries = "{core}/namespaces/garden-{t}1/backupentries";
    let mut source = objects::entry(&place, "source-e", &seed, &bucket);
    source["metadata"]["ownerReferences"] = owner.clone();
    let doing = async |what: &str| {
        let gardener = json!({"id": "i", "name": "n", "version": "1"});
        let time = "2026-01-01T00:00:00Z";
        let last =
            json!({"type": what, "state": "Processing", "description": "", "lastUpdateTime": time, "progress": 1});
        let status =
            json!({"status": {"technicalID": "t", "gardener": gardener, "hibernated": false, "lastOperation": last}});
        world.patch(&format!("{shoot}/status"), status).await;
    };
    doing("Reconcile").await;
    creator.posts(entries, &source, 403).await;
    doing("Restore").await;
    creator.posts(entries, &source, 403).await;
    let mut original = objects::entry(&place, "e", &seed, &bucket);
    original["metadata"]["ownerReferences"] = owner;
    world.create(entries, original).await;
    creator.posts(entries, &source, 201).await;
    let mut other = source.clone();
    other["spec"]["bucketName"] = json!(world.bucket("a").await);
    creator.posts(entries, &other, 403).await;
}
