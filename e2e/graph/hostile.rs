//! A node that asks for what is not its own gets nothing, and costs nobody else anything.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    Gated, admin_client,
    between::Between,
    created,
    objects::{attachment, namespace, node, pod_with_secret, secret},
    open_cluster,
};
use crate::gate::Client;

/// What a node may make the gate ask.
const LIMITS: &str = "lagWait: 20ms, liveReads: {burst: 10, perSecond: 20}";
const BURST: f64 = 10.0;
const PER_SECOND: f64 = 20.0;

const VOLUME_ATTACHMENTS: &str = "/apis/storage.k8s.io/v1/volumeattachments";
const SECRETS: usize = 10_000;
/// Each is a question of its own, so they take longer.
const ATTACHMENTS: usize = 150;
/// As many as a node may have under way.
const AT_A_TIME: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn foreign_objects_are_refused_at_little_cost() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    namespace(&cluster, "hostile").await;
    for name in ["hostile-secrets", "hostile-attachments", "victim"] {
        node(&cluster, name).await;
    }
    let admin = admin_client(&cluster).await;
    created(&admin, "/api/v1/namespaces/hostile/secrets", &secret("used")).await;
    let pod = pod_with_secret("used", "victim");
    created(&admin, "/api/v1/namespaces/hostile/pods", &pod).await;
    created(&admin, VOLUME_ATTACHMENTS, &attachment("victims", "victim", "v")).await;
    let between = Between::start(&cluster).await;
    let gate = Gated::before(&cluster, "hostile", "gate", between.address, LIMITS).await;
    gate.ready().await;

    let attacked = Arc::new(AtomicBool::new(true));
    let victim = tokio::spawn(work(gate.client("victim").await, Arc::clone(&attacked)));
    // The first of each is there, and belongs to somebody else.
    let secrets = attack(&gate, "hostile-secrets", SECRETS, |at| match at {
        0 => "/api/v1/namespaces/hostile/secrets/used".to_owned(),
        at => format!("/api/v1/namespaces/hostile/secrets/foreign-{at}"),
    });
    let volumes = attack(&gate, "hostile-attachments", ATTACHMENTS, |at| match at {
        0 => format!("{VOLUME_ATTACHMENTS}/victims"),
        at => format!("{VOLUME_ATTACHMENTS}/foreign-{at}"),
    });
    let (secrets, volumes) = tokio::join!(secrets, volumes);
    attacked.store(false, Ordering::Relaxed);
    let (rounds, slowest) = victim.await.unwrap();
    println!("the victim did its work {rounds} times meanwhile, in {slowest:?} at worst");
    assert!(rounds > 0);

    let seen = between.seen();
    for (what, attack, question) in [
        (
            "secrets",
            secrets,
            "/api/v1/pods?fieldSelector=spec.nodeName%3Dhostile-secrets",
        ),
        (
            "volumeattachments",
            volumes,
            "/apis/storage.k8s.io/v1/volumeattachments?fieldSelector=metadata.name%3D",
        ),
    ] {
        let reads = seen
            .iter()
            .filter(|request| request.user.is_empty() && request.target.starts_with(question))
            .count();
        println!(
            "{what}: {:?} in {:?}, upstream was asked {reads} times",
            attack.codes, attack.took
        );
        assert!(
            attack.codes.keys().all(|code| [403, 429, 503].contains(code)),
            "{:?}",
            attack.codes
        );
        assert!(reads as f64 <= BURST + PER_SECOND * attack.took.as_secs_f64() + 1.0);
    }
    let forwarded = seen.iter().find(|request| request.user.contains("hostile"));
    assert!(forwarded.is_none(), "{forwarded:?}");
}

struct Attack {
    codes: BTreeMap<u16, usize>,
    took: Duration,
}

async fn attack(gate: &Gated<'_>, user: &str, count: usize, target: fn(usize) -> String) -> Attack {
    let began = Instant::now();
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..AT_A_TIME {
        let (client, next) = (gate.client(user).await, Arc::clone(&next));
        workers.spawn(async move {
            let mut codes = Vec::new();
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    at if at < count => codes.push(client.get(&target(at)).await.code.as_u16()),
                    _ => return codes,
                }
            }
        });
    }
    let mut codes = BTreeMap::new();
    for code in workers.join_all().await.into_iter().flatten() {
        *codes.entry(code).or_default() += 1;
    }
    let took = began.elapsed();
    Attack { codes, took }
}

/// What a node does all day, for as long as it is to; how often, and how long the longest round took.
async fn work(client: Client, go_on: Arc<AtomicBool>) -> (usize, Duration) {
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let spec = json!({"holderIdentity": "victim", "leaseDurationSeconds": 40});
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "victim"}, "spec": spec,
    });
    let json = |request: http::request::Builder| request.header("content-type", "application/json");
    let made = client
        .send(json(Request::post(leases)), &lease.to_string())
        .await
        .unwrap();
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
    let (mut rounds, mut slowest, mut held) = (0, Duration::ZERO, made.body);
    while go_on.load(Ordering::Relaxed) {
        let began = Instant::now();
        let lease = client
            .send(json(Request::put(format!("{leases}/victim"))), &held)
            .await
            .unwrap();
        assert_eq!(lease.code, StatusCode::OK, "{}", lease.body);
        held = lease.body;
        for target in [
            "/api/v1/namespaces/hostile/secrets/used",
            "/apis/storage.k8s.io/v1/volumeattachments/victims",
            "/api/v1/nodes/victim",
        ] {
            let answer = client.get(target).await;
            assert_eq!(answer.code, StatusCode::OK, "{target}: {}", answer.body);
        }
        (rounds, slowest) = (rounds + 1, slowest.max(began.elapsed()));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (rounds, slowest)
}
