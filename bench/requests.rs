//! Requests one after the other on connections that stay open: what each costs of a CPU, and how much later its answer comes.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use serde_json::json;

use crate::{
    compare::{Comparison, DIRECT, Target, Unit, median},
    load::{self, Answers, Ask, Load, Protocol, request},
    options,
    page::{Section, docs},
    plot::{Plot, Series},
    process::Watched,
    proxies::{self, Contender, Setup},
    world::World,
};

pub(crate) const NODES: usize = 32;
/// Of the part `large`.
const FEW: usize = 8;
/// A mebibyte as it is sent.
const LARGE: usize = 768 * 1024;
/// Of the part `connections`.
const CONNECTIONS: [usize; 4] = [8, 32, 128, 512];
pub(crate) const MOST_NODES: usize = 512;
/// Of one connection to its next request, where kube-apiserver is not to be what is waited for.
const PACE: Duration = Duration::from_millis(10);

/// A node reads its secret of 1 KiB.
pub(crate) async fn reads(world: &World) -> Section {
    let mut section = Section::new("reads");
    let targets = Targets {
        cpu: Target::OfNginx(1.0),
        ..Targets::default()
    };
    let load = (Setup::default(), NODES);
    closed_loops(
        world,
        &mut section,
        load,
        ("A read of a secret", targets),
        &get_secret(),
    )
    .await;
    section
}

/// A kubelet's status patch, with its body judged.
pub(crate) async fn patches(world: &World) -> Section {
    let mut section = Section::new("patches");
    let targets = Targets {
        cpu: Target::OfNginx(1.3),
        ..Targets::default()
    };
    let (load, what) = ((Setup::default(), NODES), "A patch of a node's status");
    closed_loops(world, &mut section, load, (what, targets), &patch_status()).await;
    section
}

/// A large secret, which passes through unread.
pub(crate) async fn large(world: &World) -> Section {
    for node in 0..FEW {
        let name = format!("large-n{node}");
        let metadata = json!({"name": name});
        let data = json!({"value": "s".repeat(LARGE)});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data});
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
            "spec": {
                "nodeName": format!("n{node}"), "automountServiceAccountToken": false,
                "containers": [{"name": "c", "image": "i"}],
                "volumes": [{"name": "v", "secret": {"secretName": name}}],
            },
        });
        world.create("/api/v1/namespaces/default/secrets", &secret).await;
        world.create("/api/v1/namespaces/default/pods", &pod).await;
    }
    let mut section = Section::new("large");
    // Into memory, and not into files.
    let setup = Setup {
        nginx: "proxy_max_temp_file_size 0;",
        ..Setup::default()
    };
    let what = ("A read of a secret of a mebibyte", Targets::default());
    let load = (setup, FEW);
    closed_loops(world, &mut section, load, what, &get("large")).await;
    section
}

/// What the gate adds where nobody waits for a CPU.
pub(crate) async fn latency(world: &World) -> Section {
    let mut section = Section::new("latency");
    let contenders = proxies::contenders();
    for protocol in options::protocols() {
        let load = usual(protocol, 8, Some(PACE));
        let measured = rounds(world, (&contenders, Setup::default()), load, &get_secret()).await;
        let heading = format!("{}, 8 connections, a read on each every 10 ms:", protocol.name());
        let targets = Targets {
            added: Target::AtMost(300.0),
            p99: Target::OfNginx(2.0),
            ..Targets::default()
        };
        section.table(&heading, table(&contenders, &measured, targets));
    }
    section
}

/// What a read costs when there are more and more connections.
pub(crate) async fn connections(world: &World) -> Section {
    let mut section = Section::new("connections");
    let contenders = proxies::contenders();
    let mut table = Comparison::of(&contenders);
    let mut plot = Plot::new("CPU per read", "connections", "µs of a CPU");
    for protocol in options::protocols() {
        let name = |contender: &Contender| format!("{}, {}", contender.name, protocol.name());
        let mut series: Vec<Series> = contenders.iter().map(|one| Series::new(&name(one))).collect();
        for connections in CONNECTIONS {
            let load = usual(protocol, connections, None);
            let measured = rounds(world, (&contenders, Setup::default()), load, &get_secret()).await;
            let cpu = figures(&measured[1..], |m| m.cpu);
            for (series, cpu) in series.iter_mut().zip(cpu.iter().flatten()) {
                series.point(connections as f64, *cpu);
            }
            let what = format!("{}, {connections} connections", protocol.name());
            table.row(&what, Unit::Micros, &cpu, Target::None);
        }
        plot.series.extend(series);
    }
    section.table("CPU of a read:", table);
    if options::writes() {
        plot.write(&docs("performance/connections.svg"));
    }
    section.add("![CPU per read against connections](performance/connections.svg)");
    section
}

async fn closed_loops(
    world: &World,
    section: &mut Section,
    (setup, connections): (Setup, usize),
    (what, targets): (&str, Targets),
    ask: &Ask,
) {
    let contenders = proxies::contenders();
    for protocol in options::protocols() {
        let measured = rounds(world, (&contenders, setup), usual(protocol, connections, None), ask).await;
        let heading = format!("{what}, {}, {connections} connections:", protocol.name());
        section.table(&heading, table(&contenders, &measured, targets));
    }
}

/// What is promised of the rows.
#[derive(Clone, Copy, Default)]
struct Targets {
    cpu: Target,
    added: Target,
    p99: Target,
}

pub(crate) fn usual(protocol: Protocol, connections: usize, pace: Option<Duration>) -> Load {
    let length = Duration::from_secs(options::number("seconds", options::SECONDS) as u64);
    Load {
        protocol,
        connections,
        pace,
        length,
    }
}

/// The first is of no proxy at all.
fn table(contenders: &[Contender], measured: &[Vec<Measured>], targets: Targets) -> Comparison {
    let names = contenders.iter().map(|contender| contender.name.as_str());
    let names: Vec<&str> = std::iter::once(DIRECT).chain(names).collect();
    let mut table = Comparison::new(&names);
    let mut cpu = figures(measured, |m| m.cpu);
    cpu[0] = None;
    table.row("CPU of a request", Unit::Micros, &cpu, targets.cpu);
    let p50 = figures(measured, |m| m.p50);
    let mut added: Vec<Option<f64>> = p50.iter().map(|p50| Some((*p50)? - p50_of(measured))).collect();
    added[0] = None;
    table.row("p50", Unit::Micros, &p50, Target::None);
    table.row("p50 without what direct has", Unit::Micros, &added, targets.added);
    table.row("p99", Unit::Micros, &figures(measured, |m| m.p99), targets.p99);
    table.row(
        "requests",
        Unit::PerSecond,
        &figures(measured, |m| m.rate),
        Target::None,
    );
    table
}

fn p50_of(measured: &[Vec<Measured>]) -> f64 {
    median(measured[0].iter().map(|m| m.p50))
}

/// One of each, the median of its rounds.
fn figures(measured: &[Vec<Measured>], of: impl Fn(&Measured) -> f64) -> Vec<Option<f64>> {
    measured
        .iter()
        .map(|rounds| Some(median(rounds.iter().map(&of))))
        .collect()
}

/// All of them in turn, several times forth and back, so that what else the machine does meets all of them. The first is kube-apiserver
/// without anything before it.
async fn rounds(
    world: &World,
    (contenders, setup): (&[Contender], Setup),
    load: Load,
    ask: &Ask,
) -> Vec<Vec<Measured>> {
    let mut all: Vec<Vec<Measured>> = vec![Vec::new(); contenders.len() + 1];
    for round in 0..options::number("rounds", options::ROUNDS) {
        for at in options::turns(round, all.len()) {
            all[at].push(match at.checked_sub(1) {
                None => measure(world, world.cluster.api, None, load, ask).await,
                Some(contender) => {
                    let proxy = contenders[contender].start(world, setup).await;
                    measure(world, proxy.address, Some(proxy.used), load, ask).await
                }
            });
        }
    }
    all
}

/// In microseconds.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) cpu: f64,
    p50: f64,
    p99: f64,
    rate: f64,
}

pub(crate) async fn measure(
    world: &World,
    server: SocketAddr,
    used: Option<Watched>,
    load: Load,
    ask: &Ask,
) -> Measured {
    let mut cpu = Vec::new();
    let answers: Answers = load::run(world, server, load, ask, || {
        cpu.push(used.map(Watched::cpu).unwrap_or_default());
    })
    .await;
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    Measured {
        cpu: micros(cpu[1] - cpu[0]) / answers.count() as f64,
        p50: micros(answers.percentile(50)),
        p99: micros(answers.percentile(99)),
        rate: answers.count() as f64 / load.length.as_secs_f64(),
    }
}

pub(crate) fn get_secret() -> Ask {
    get("secret")
}

/// The secret of this kind that a node has.
fn get(kind: &'static str) -> Ask {
    Arc::new(move |node, _| {
        request("GET", &format!("/api/v1/namespaces/default/secrets/{kind}-n{node}"))
            .body(Full::default())
            .unwrap()
    })
}

/// What a kubelet sends every five minutes when nothing has changed but the time, and sooner when something has.
fn patch_status() -> Ask {
    Arc::new(|node, turn| {
        let time = format!(
            "2026-01-01T{:02}:{:02}:{:02}Z",
            turn / 3600 % 24,
            turn / 60 % 60,
            turn % 60
        );
        let condition = |kind: &str, reason: &str| {
            format!(
                r#"{{"lastHeartbeatTime":"{time}","lastTransitionTime":"2026-01-01T00:00:00Z","message":"kubelet has {reason}","reason":"{reason}","status":"False","type":"{kind}"}}"#
            )
        };
        let conditions = [
            condition("MemoryPressure", "KubeletHasSufficientMemory"),
            condition("DiskPressure", "KubeletHasNoDiskPressure"),
            condition("PIDPressure", "KubeletHasSufficientPID"),
            condition("Ready", "KubeletReady"),
        ];
        let body = format!(
            r#"{{"status":{{"$setElementOrder/conditions":[{{"type":"MemoryPressure"}},{{"type":"DiskPressure"}},{{"type":"PIDPressure"}},{{"type":"Ready"}}],"conditions":[{}]}}}}"#,
            conditions.join(",")
        );
        request("PATCH", &format!("/api/v1/nodes/n{node}/status"))
            .header("content-type", "application/strategic-merge-patch+json")
            .body(Full::new(Bytes::from(body)))
            .unwrap()
    })
}
