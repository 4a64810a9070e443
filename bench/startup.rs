//! The gate before a large cluster: how long it takes until it is ready, how much memory it needs for what it knows, what it costs
//! to keep up, and whether any of that shows when a request is made.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::{
    cluster::assets,
    etcd::{self, Etcd},
    gate::{self, Process},
    listing::{self, Came},
    load::Protocol,
    objects::{self, Objects, PODS_PER_NODE},
    options,
    page::{Section, docs},
    plot::{Plot, Series},
    process::Watched,
    proxies, requests,
    table::Table,
    world::World,
};

/// At thirty pods each: 10,000, 50,000 and 150,000.
const NODES: [usize; 3] = [334, 1667, 5000];
const ROUNDS: usize = 3;
/// After which the gate has given back what it only needed for the lists.
const SETTLED: Duration = Duration::from_secs(30);
const UPDATES: u32 = 500;
const UPDATED: Duration = Duration::from_secs(20);
/// Updates that are on their way to etcd at the same time.
const UPDATERS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(300);

/// What is promised, of the largest.
const RATIO: f64 = 1.5;
const RESIDENT: f64 = 300.0;
const SHARE: f64 = 10.0;

/// One build of the gate before one size of the cluster.
#[derive(Debug, Default)]
struct Measured {
    lists: Vec<Duration>,
    ready: Vec<Duration>,
    /// MiB: when it was ready, later, and the most that it ever was.
    resident: Vec<f64>,
    settled: f64,
    peak: Vec<f64>,
    /// Updates that were made in a second, and what of a core went into them.
    updates: f64,
    share: f64,
    /// Microseconds of CPU for one read of a secret.
    read: f64,
}

/// Nothing where there is no kube-apiserver.
pub(crate) async fn startup() -> Option<Section> {
    let world = World::start(requests::NODES).await?;
    let (etcd, objects) = (etcd::enlarge(&world.cluster).await, Arc::new(Objects::new()));
    let mut section = Section::new("startup");
    let (pod, node) = (objects.pod(0, 0, 0).1.len(), objects.of_node(0)[0].1.len());
    section.add(format!("A pod is {pod} bytes of JSON, a node {node}:"));
    let heads = [
        "",
        "listed",
        "ready",
        "ratio",
        "MiB ready",
        "30 s later",
        "at most",
        "updates/s",
        "CPU of it",
        "CPU µs per read",
    ];
    let mut table = Table::new(&heads);
    let mut series = ["seconds until ready", "MiB of memory", "µs of a CPU for a read"].map(Series::new);
    let mut filled = 0;
    for nodes in NODES {
        eprintln!("writing {}", objects::said(&(filled..nodes)));
        let (made, first) = (Arc::clone(&objects), filled);
        etcd::fill(etcd, "nodes", nodes - filled, move |node| made.of_node(first + node)).await;
        filled = nodes;
        eprintln!("starting kube-apiserver");
        world.cluster.serve(&assets().unwrap(), world.cluster.api).await;
        let all = warm(&world).await;
        eprintln!("{} objects and bookmarks, {} MB", all.objects, all.bytes / 1_000_000);
        let pods = nodes * PODS_PER_NODE;
        let measured = measure(&world, etcd, &objects, nodes).await;
        measured.print(&mut table, &format!("{pods} pods"));
        if nodes == NODES[NODES.len() - 1] {
            measured.judge(&mut table);
        }
        let figures = [seconds(&measured.ready), measured.settled, measured.read];
        for (series, figure) in series.iter_mut().zip(figures) {
            series.point(pods as f64 / 1000.0, figure);
        }
        world.cluster.kill(world.cluster.api);
    }
    section.add(table);
    if options::writes() {
        let mut plot = Plot::new("Cost against the size of the cluster", "thousands of pods", "");
        plot.series.extend(series);
        plot.write(&docs("performance/size.svg"));
    }
    section.add("![cost against the size of the cluster](performance/size.svg)");
    Some(section)
}

/// An API server that has just begun asks to come again.
async fn warm(world: &World) -> Came {
    let began = Instant::now();
    loop {
        match listing::list(&world.cluster).await {
            Ok(came) => return came,
            Err(why) => assert!(began.elapsed() < PATIENCE, "{why}"),
        }
        sleep(Duration::from_secs(1)).await;
    }
}

async fn measure(world: &World, etcd: SocketAddr, objects: &Arc<Objects>, nodes: usize) -> Measured {
    let mut measured = Measured::default();
    let audit = "audit: {path: startup-audit.log}\n";
    let config = world.cluster.configuration("startup.yaml", FRONT_PROXY, audit);
    let mut running = None;
    for round in 0..ROUNDS {
        // It is gone before the next one begins.
        drop(running.take());
        measured.lists.push(listing::list(&world.cluster).await.unwrap().within);
        let began = Instant::now();
        let process = Process::serve_with(&proxies::program(), &config);
        let (serving, admin) = process.addresses().await;
        ready(admin, began).await;
        let used = Watched::new(process.id());
        measured.ready.push(began.elapsed());
        measured.resident.push(mebibytes(used.resident()));
        measured.peak.push(mebibytes(used.peak()));
        eprintln!(
            "round {}: listed in {:.1?}, ready in {:.1?} with {:.1?} on a CPU, {:.0} MiB",
            round + 1,
            measured.lists[round],
            measured.ready[round],
            used.cpu(),
            measured.resident[round],
        );
        running = Some((process, serving, used));
    }
    let (_process, serving, used) = running.unwrap();
    sleep(SETTLED).await;
    measured.settled = mebibytes(used.resident());
    let (before, began) = (used.cpu(), Instant::now());
    let updates = update(etcd, objects, nodes).await;
    let passed = began.elapsed().as_secs_f64();
    measured.updates = f64::from(updates) / passed;
    measured.share = (used.cpu() - before).as_secs_f64() / passed * 100.0;
    let secrets = requests::get_secret();
    let load = requests::usual(Protocol::Http2, requests::NODES, None);
    measured.read = requests::measure(world, serving, Some(used), load, &secrets).await.cpu;
    measured
}

async fn ready(admin: SocketAddr, began: Instant) {
    while gate::admin(admin, Request::get("/readyz"), "").await.code != StatusCode::OK {
        assert!(began.elapsed() < PATIENCE, "the gate does not become ready");
        sleep(Duration::from_millis(10)).await;
    }
}

/// Changes the status of pods all over the cluster, evenly; returns how often. They are written into etcd, where the API server
/// sees them as it sees what another one has written: that leaves the processors to those who are told of it.
async fn update(etcd: SocketAddr, objects: &Arc<Objects>, nodes: usize) -> u32 {
    let updaters = (0..UPDATERS).map(|at| {
        let objects = Arc::clone(objects);
        tokio::spawn(async move {
            let mut etcd = Etcd::open(etcd).await.unwrap();
            let mut tick = interval(Duration::from_secs(1) * UPDATERS as u32 / UPDATES);
            tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
            let (began, mut made) = (Instant::now(), 0);
            while began.elapsed() < UPDATED {
                tick.tick().await;
                let number = made as usize * UPDATERS + at;
                let pod = objects.pod(number * 7 % nodes, number % PODS_PER_NODE, 1 + number);
                etcd.put(&[pod]).await.unwrap();
                made += 1;
            }
            made
        })
    });
    let mut made = 0;
    for updater in updaters.collect::<Vec<_>>() {
        made += updater.await.unwrap();
    }
    made
}

impl Measured {
    fn ratio(&self) -> f64 {
        seconds(&self.ready) / seconds(&self.lists)
    }

    fn print(&self, table: &mut Table, name: &str) {
        table.row(&[
            &name,
            &format!("{:.1} s", seconds(&self.lists)),
            &format!("{:.1} s", seconds(&self.ready)),
            &format!("{:.2} ×", self.ratio()),
            &format!("{:.0}", median(&self.resident)),
            &format!("{:.0}", self.settled),
            &format!("{:.0}", median(&self.peak)),
            &format!("{:.0}", self.updates),
            &format!("{:.1} %", self.share),
            &format!("{:.1}", self.read),
        ]);
    }

    fn judge(&self, table: &mut Table) {
        let judged = |is: f64, at_most: f64, unit: &str| {
            let met = if is <= at_most { "met" } else { "MISSED" };
            format!("≤ {at_most}{unit}, {met}")
        };
        let ratio = judged(self.ratio(), RATIO, " ×");
        let resident = judged(median(&self.resident), RESIDENT, "");
        let settled = judged(self.settled, RESIDENT, "");
        let peak = judged(median(&self.peak), RESIDENT, "");
        let share = judged(self.share, SHARE, " %");
        table.row(&[
            &"target", &"", &"", &ratio, &resident, &settled, &peak, &UPDATES, &share, &"",
        ]);
    }
}

fn seconds(all: &[Duration]) -> f64 {
    median(&all.iter().map(Duration::as_secs_f64).collect::<Vec<_>>())
}

fn median(all: &[f64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
