//! Many watches that say nothing for most of the time: what each holds of memory, and what an event to all of them costs.
//!
//! Each node has one HTTP/2 connection, as a kubelet has, and ten watches on it. nginx and haproxy speak HTTP/1.1 to kube-apiserver
//! and hold a connection to it for every watch; the gate holds a few with many streams on each. What kube-apiserver itself needs is
//! not counted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, stream};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    compare::{Comparison, Target, Unit, median},
    load::{Protocol, Sender, request},
    options,
    page::Section,
    proxies::{self, Proxy, Setup},
    world::World,
};

pub(crate) const NODES: usize = 1000;
const PER_NODE: usize = 10;
/// All clients have one address here, so that it has to be allowed more connections than a node needs. What a caller may have
/// stays as it comes.
///
/// nginx keeps an answer until a buffer is full unless told otherwise, which no watch can be used with.
const SETUP: Setup = Setup {
    limits: "connectionsPerClient: 4000",
    nginx: "proxy_buffering off;",
};
/// Opened at a time.
const AT_A_TIME: usize = 16;
/// For what was opened or closed to come to rest.
const REST: Duration = Duration::from_secs(5);
const IDLE: Duration = Duration::from_secs(10);
/// The longest an event is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two changes, when all have the first.
const PAUSE: Duration = Duration::from_millis(50);
const SERVICE: &str = "/api/v1/namespaces/default/services/changing";

/// What has come of all watches.
#[derive(Default)]
struct Seen {
    all: AtomicU64,
    each: Vec<AtomicU32>,
}

/// All in bytes, seconds and cores.
struct Measured {
    connection: f64,
    watch: f64,
    watch_afterwards: f64,
    idle: f64,
    event: f64,
    spread: f64,
}

pub(crate) async fn watches(world: &World) -> Section {
    let (nodes, events) = (options::number("nodes", NODES), options::number("events", 50));
    let mut section = Section::new("watches");
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "changing"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "changing"}},
    });
    world.create("/api/v1/namespaces/default/services", &service).await;
    let contenders = proxies::contenders();
    let mut measured: Vec<Vec<Measured>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..options::number("rounds", options::ROUNDS) {
        for at in options::turns(round, contenders.len()) {
            eprintln!("watches through {}, round {}", contenders[at].name, round + 1);
            let proxy = contenders[at].start(world, SETUP).await;
            measured[at].push(measure(world, &proxy, nodes, events).await);
            drop(proxy);
            tokio::time::sleep(REST).await;
        }
    }
    let mut table = Comparison::of(&contenders);
    let mut row = |what: &str, unit, of: fn(&Measured) -> f64, target| {
        let figures: Vec<Option<f64>> = measured.iter().map(|all| Some(median(all.iter().map(of)))).collect();
        table.row(what, unit, &figures, target);
    };
    let most = Target::AtMost(20.0);
    row(
        "memory of a connection",
        Unit::Kibibytes,
        |m| m.connection / 1024.0,
        Target::None,
    );
    row(
        "memory of a watch, its part of the connection included",
        Unit::Kibibytes,
        |m| m.watch / 1024.0,
        most,
    );
    row(
        "the same after the events",
        Unit::Kibibytes,
        |m| m.watch_afterwards / 1024.0,
        most,
    );
    row(
        "CPU while nothing happens",
        Unit::Percent,
        |m| m.idle * 100.0,
        Target::None,
    );
    row(
        "CPU of an event to one watch",
        Unit::Micros,
        |m| m.event * 1e6,
        Target::OfNginx(1.0),
    );
    row(
        "until the last watch has it",
        Unit::Micros,
        |m| m.spread * 1e6,
        Target::None,
    );
    let heading = format!(
        "{} watches on {nodes} connections, an object changed {events} times:",
        nodes * PER_NODE
    );
    section.table(&heading, table);
    section
}

async fn measure(world: &World, proxy: &Proxy, nodes: usize, events: usize) -> Measured {
    let per = |bytes: u64, before: u64, count: usize| (bytes as f64 - before as f64) / count as f64;
    let before = proxy.used.resident();
    let open = async |node| Sender::open(world, proxy.address, node, Protocol::Http2).await;
    let connections: Vec<Sender> = stream::iter(0..nodes).map(open).buffered(AT_A_TIME).collect().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let connected = proxy.used.resident();

    // One event is there for each when it begins: nginx keeps the head of an answer back until there is something behind it.
    let version = world.admin.get("/api/v1/services").await.json()["metadata"]["resourceVersion"].clone();
    let target = format!(
        "/api/v1/services?watch=true&timeoutSeconds=3600&resourceVersion={}",
        version.as_str().unwrap()
    );
    change(world).await;
    let count = nodes * PER_NODE;
    let seen = Arc::new(Seen {
        all: AtomicU64::new(0),
        each: (0..count).map(|_| AtomicU32::new(0)).collect(),
    });
    let start = async |sender: &Sender| start(sender, &target).await;
    let watches: Vec<Incoming> = stream::iter((0..count).map(|watch| &connections[watch / PER_NODE]))
        .map(start)
        .buffered(AT_A_TIME)
        .collect()
        .await;
    let mut all = JoinSet::new();
    for (at, watch) in watches.into_iter().enumerate() {
        all.spawn(follow(watch, at, Arc::clone(&seen)));
    }
    seen.wait(count as u64, Instant::now()).await;
    tokio::time::sleep(REST).await;
    let opened = proxy.used.resident();
    let idle = proxy.used.cpu();
    tokio::time::sleep(IDLE).await;
    let idle = (proxy.used.cpu() - idle).as_secs_f64() / IDLE.as_secs_f64();

    let cpu = proxy.used.cpu();
    let mut spread = Vec::new();
    for event in 2..=events + 1 {
        let began = Instant::now();
        change(world).await;
        seen.wait((event * count) as u64, began).await;
        spread.push(began.elapsed().as_secs_f64());
        tokio::time::sleep(PAUSE).await;
    }
    let cpu = proxy.used.cpu() - cpu;
    let lacking = seen
        .each
        .iter()
        .filter(|seen| seen.load(Ordering::Relaxed) as usize != events + 1);
    assert_eq!(lacking.count(), 0, "every watch sees every event once");
    Measured {
        connection: per(connected, before, nodes),
        watch: per(opened, before, count),
        watch_afterwards: per(proxy.used.resident(), before, count),
        idle,
        event: cpu.as_secs_f64() / (events * count) as f64,
        spread: median(spread),
    }
}

async fn start(sender: &Sender, target: &str) -> Incoming {
    let request = request("GET", target).body(Default::default()).unwrap();
    let mut sender = sender.again();
    let response = tokio::time::timeout(PATIENCE, sender.send(request)).await;
    let response = response.expect("an answer in time").unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    response.into_body()
}

/// Every line is an event.
async fn follow(mut watch: Incoming, at: usize, seen: Arc<Seen>) {
    while let Some(frame) = watch.frame().await {
        let Ok(data) = frame.unwrap().into_data() else {
            continue;
        };
        let events = data.iter().filter(|byte| **byte == b'\n').count() as u32;
        seen.each[at].fetch_add(events, Ordering::Relaxed);
        seen.all.fetch_add(events.into(), Ordering::Relaxed);
    }
}

async fn change(world: &World) {
    static TURN: AtomicU32 = AtomicU32::new(0);
    let turn = TURN.fetch_add(1, Ordering::Relaxed).to_string();
    let patch = json!({"metadata": {"annotations": {"turn": turn}}}).to_string();
    let request = Request::patch(SERVICE).header("content-type", "application/merge-patch+json");
    let answer = world.admin.send(request, patch).await.unwrap();
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
}

impl Seen {
    async fn wait(&self, events: u64, since: Instant) {
        while self.all.load(Ordering::Relaxed) < events {
            let seen = self.all.load(Ordering::Relaxed);
            assert!(since.elapsed() < PATIENCE, "{seen} events of {events}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}
