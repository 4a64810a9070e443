//! What belongs to which seed changes while the gate runs, and the gate follows: in time, and in every way that upstream lets it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::json;
use test_case::test_case;

use super::{
    objects,
    served::{CORE, DEFINITIONS, MANAGEMENT, Served, bare, define, granted, stored, until},
    told::ask,
    world::{Gated, MERGE, Rules, World},
};
use crate::{
    gate::{Client, PATIENCE, ready},
    graph::{admin_client, created, deleted},
};

/// Refusals are the gate's own, and at once.
const STRICT: Rules = Rules::new("Current", "Deny", FRONT_PROXY);
const MARK: &str = r#"{"metadata":{"annotations":{"changed":"true"}}}"#;
/// A second, as it is configured, and what a busy machine needs.
const SOON: Duration = Duration::from_secs(4);

#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn a_shoot_that_moves_is_its_old_seeds_until_it_has_arrived(served: Served) {
    let Some(world) = World::open(served, "mv").await else {
        return;
    };
    let shoot = world.named("{core}/namespaces/garden-{t}1/shoots/s1");
    world.patch(&format!("{shoot}/status"), status(&world, "a")).await;
    let gate = world.gate_with("", STRICT, "").await;
    let (old, new) = (gate.client(&world.seed("a")).await, gate.client(&world.seed("b")).await);
    let writes = async |client: &Client| ask(client, ("PATCH", &shoot), (MERGE, MARK), "").await.code();
    assert_eq!((writes(&old).await, writes(&new).await), (200, 403));

    // Gardener has a place of its own for this.
    let binding = match served {
        Served::Custom => shoot.clone(),
        Served::Gardener => format!("{shoot}/binding"),
    };
    world
        .patch(&binding, json!({"spec": {"seedName": world.seed("b")}}))
        .await;
    // The new one may before the informers have said so; the old one goes on, since the status names it.
    assert_eq!(writes(&new).await, 200);
    assert_eq!(writes(&old).await, 200);
    let secret = format!("/api/v1/namespaces/{}/secrets/x", world.named("garden-{t}1"));
    assert_eq!(
        new.get(&secret).await.code,
        StatusCode::OK,
        "what the shoot needs comes along"
    );
    assert_eq!(old.get(&secret).await.code, StatusCode::OK);

    world.patch(&format!("{shoot}/status"), status(&world, "b")).await;
    until("the old seed may for ever", async || writes(&old).await == 403).await;
    assert_eq!(old.get(&secret).await.code, StatusCode::FORBIDDEN);
    assert_eq!(writes(&new).await, 200);
    assert_eq!(new.get(&secret).await.code, StatusCode::OK);
}

/// The other fields are those that Gardener wants in it.
fn status(world: &World, seed: &str) -> serde_json::Value {
    let gardener = json!({"id": "i", "name": "n", "version": "1"});
    json!({"status": {"seedName": world.seed(seed), "technicalID": "t", "gardener": gardener, "hibernated": false}})
}

#[test_case(Served::Custom, IMPERSONATE; "custom")]
#[test_case(Served::Gardener, FRONT_PROXY; "gardener")]
#[tokio::test]
async fn what_was_made_a_moment_ago_is_known(served: Served, identity: &'static str) {
    let Some(world) = World::open(served, "lg").await else {
        return;
    };
    let gate = world.gate_with("", Rules::new("Current", "Deny", identity), "").await;
    let client = gate.client(&world.seed("a")).await;
    let place = world.named("garden-{t}1");
    for at in 0..25 {
        let (name, bucket) = (format!("new{at}"), world.named(&format!("{{t}}-bucket{at}")));
        world.shoot(&place, &name, "a", "{t}-cp1").await;
        // Of itself, by what it owns, and by what others say of it: each without waiting for anything.
        let target = match at % 3 {
            0 => format!("{CORE}/namespaces/{place}/shoots/{name}"),
            1 => format!("{CORE}/namespaces/{place}/shootstates/{name}"),
            _ => format!("/api/v1/namespaces/{place}/secrets/{name}.ssh-keypair"),
        };
        let expected = if at % 3 == 0 {
            StatusCode::OK
        } else {
            StatusCode::NOT_FOUND
        };
        let answer = client.get(&target).await;
        assert_eq!(answer.code, expected, "{target}: {}", answer.body);
        let seed = world.seed("a");
        world
            .create("{core}/backupbuckets", objects::bucket(&bucket, Some(&seed)))
            .await;
        let target = format!("{CORE}/backupbuckets/{bucket}");
        let told = ask(&client, ("PATCH", &target), (MERGE, MARK), "").await;
        assert_eq!(told.code(), 200, "{target}: {}", told.answer.body);
        if at % 8 == 0 {
            let other = gate.client(&world.seed("b")).await;
            let told = ask(&other, ("PATCH", &target), (MERGE, MARK), "").await;
            told.is_refusal(403, &target);
        }
    }
}

#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn what_is_gone_counts_no_more_and_what_comes_back_counts_again(served: Served) {
    let Some(world) = World::open(served, "bk").await else {
        return;
    };
    let gate = world.gate_with("", STRICT, "").await;
    let client = gate.client(&world.seed("a")).await;
    let reads = async |target: &str| client.get(&world.named(target)).await.code.as_u16();
    let secrets = "/api/v1/namespaces/garden-{t}1/secrets";
    let binding = "{core}/namespaces/garden-{t}1/secretbindings";
    assert_eq!(reads(&format!("{secrets}/x")).await, 200);
    assert_eq!(reads(&format!("{secrets}/y")).await, 403);

    // Gardener itself is blind for it from here on, until the shoot changes.
    deleted(&world.admin, &world.named(&format!("{binding}/sb1"))).await;
    until("a secret that nothing names is readable", async || {
        reads(&format!("{secrets}/x")).await == 403
    })
    .await;
    world
        .create(binding, objects::binding(&world.named("garden-{t}1"), "y"))
        .await;
    assert_eq!(reads(&format!("{binding}/sb1")).await, 200);
    assert_eq!(reads(&format!("{secrets}/y")).await, 200);
    assert_eq!(reads(&format!("{secrets}/x")).await, 403);

    // Two shoots use the same profile; the project leads to one of them only.
    let profile = "{core}/cloudprofiles/{t}-cp1";
    assert_eq!(reads("{core}/projects/{t}p1").await, 200);
    deleted(&world.admin, &world.named("{core}/namespaces/garden-{t}1/shoots/s1")).await;
    until("a project without shoots is readable", async || {
        reads("{core}/projects/{t}p1").await == 403
    })
    .await;
    assert_eq!(reads(profile).await, 200);
    // Gardener keeps the shoot of a managed seed for as long as there is one, and that for as long as something is on its seed.
    let last = world.named("{core}/namespaces/garden-{t}1/shoots/s4");
    deleted(&world.admin, &last).await;
    let managed = world.named("{management}/namespaces/garden/managedseeds/{t}-child");
    world.patch(&managed, json!({"metadata": {"finalizers": null}})).await;
    deleted(&world.admin, &managed).await;
    assert_eq!(reads(profile).await, 200);
    deleted(&world.admin, &world.named("{core}/namespaces/garden/shoots/{t}-child")).await;
    until("a profile that nobody uses is readable", async || {
        reads(profile).await == 403
    })
    .await;
}

#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn a_watch_by_name_ends_with_the_last_reason_for_it(served: Served) {
    let Some(world) = World::open(served, "wt").await else {
        return;
    };
    let gate = world.gate_with("", STRICT, "").await;
    let client = gate.client(&world.seed("a")).await;
    let namespace = world.named("/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dgarden-{t}1");
    let profile = world.named("{core}/cloudprofiles?watch=true&fieldSelector=metadata.name%3D{t}-cp1");
    let mut ends = watch(&client, &namespace).await;
    let mut goes_on = watch(&client, &profile).await;
    deleted(&world.admin, &world.named("{core}/namespaces/garden-{t}1/shoots/s1")).await;
    let began = Instant::now();
    while next(&mut ends).await.is_some() {}
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    // The profile is still needed by another shoot, and nobody has to begin again for it.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let patch = json!({"metadata": {"annotations": {"seen": "by-the-watch"}}});
    world.patch("{core}/cloudprofiles/{t}-cp1", patch).await;
    let mut seen = String::new();
    while !seen.contains("by-the-watch") {
        seen += &next(&mut goes_on).await.expect("the watch has ended");
    }
    let again = client.open(Request::get(namespace), "").await.unwrap();
    assert_eq!(again.status(), StatusCode::FORBIDDEN);
}

async fn watch(client: &Client, target: &str) -> Incoming {
    let response = client.open(Request::get(target), "").await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{target}");
    response.into_body()
}

async fn next(body: &mut Incoming) -> Option<String> {
    let frame = tokio::time::timeout(PATIENCE, body.frame()).await;
    let frame = frame.expect("the watch stays open and says nothing")?.ok()?;
    Some(String::from_utf8_lossy(frame.data_ref().unwrap()).into_owned())
}

/// A garden that grows: at first the gate may not even look at it, then it has two kinds, then three, then one less.
#[tokio::test]
async fn a_garden_may_lack_what_the_gate_asks_for() {
    let Some(cluster) = bare().await.map(Arc::new) else {
        return;
    };
    let admin = admin_client(&cluster).await;
    define(&cluster, &["seeds", "shoots"]).await;
    cluster.user(
        "seed-a",
        "gardener.cloud:system:seed:seed-a",
        Some("gardener.cloud:system:seeds"),
    );
    let namespace = json!({"metadata": {"name": "garden"}});
    created(&admin, "/api/v1/namespaces", &namespace).await;
    created(&admin, &format!("{CORE}/seeds"), &objects::seed("seed-a")).await;
    let shoots = format!("{CORE}/namespaces/garden/shoots");
    created(&admin, &shoots, &objects::shoot("garden", "s1", "seed-a", "cp1")).await;

    let gate = Gated::start(&cluster, "lacking", STRICT, "graph: {staleAfter: 6s}\n").await;
    let client = gate.client("seed-a").await;
    let shoot = format!("{shoots}/s1");
    let told = ask(&client, ("PATCH", &shoot), (MERGE, MARK), "").await;
    told.is_refusal(503, "before anything is known");
    assert_eq!(told.answer.headers["retry-after"], "1");
    assert_eq!(gate.readyz().await.code, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        gate.readyz().await.body.contains("informer-shoots"),
        "{}",
        gate.readyz().await.body
    );

    granted(&cluster).await;
    ready(gate.admin).await;
    let told = ask(&client, ("PATCH", &shoot), (MERGE, MARK), "").await;
    assert_eq!(told.code(), 200, "{}", told.answer.body);
    let stored = stored(&admin, &shoot).await.unwrap();
    assert_eq!(stored["metadata"]["annotations"]["changed"], "true");

    // There is no such thing, but the gate cannot know what upstream will say, and it is not the seed's.
    let managed = format!("{MANAGEMENT}/namespaces/garden/managedseeds/seed-a");
    ask(&client, ("GET", &managed), ("", ""), "")
        .await
        .is_refusal(403, "a kind that is not served");
    define(&cluster, &["managedseeds"]).await;
    let path = format!("{MANAGEMENT}/namespaces/garden/managedseeds");
    let mut object = objects::managed_seed("other");
    object["spec"]["shoot"]["name"] = json!("s1");
    created(&admin, &path, &object).await;
    // What leads there is known only from the managed seed: a path, and not only an object.
    let seed = format!("{CORE}/seeds/other");
    let found = async || client.get(&seed).await.code == StatusCode::NOT_FOUND;
    until("a kind that came later is not found", found).await;
    assert_eq!(gate.readyz().await.code, StatusCode::OK);

    deleted(
        &admin,
        &format!("{DEFINITIONS}/managedseeds.seedmanagement.gardener.cloud"),
    )
    .await;
    let finalizers = json!({"metadata": {"finalizers": null}});
    let request = Request::patch(format!("{path}/other")).header("content-type", MERGE);
    let _ = admin.send(request, finalizers.to_string()).await;
    let gone = async || client.get(&seed).await.code == StatusCode::FORBIDDEN;
    until("a kind that is gone is still believed", gone).await;
    let told = ask(&client, ("PATCH", &shoot), (MERGE, MARK), "").await;
    assert_eq!(told.code(), 200, "the others are known as before: {}", told.answer.body);
}
