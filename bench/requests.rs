//! Requests one after the other on connections that stay open: what each costs of a CPU, and how much later its answer comes.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::{
    load::{self, Answers, Ask, Protocol},
    process::Watched,
    proxies::{self, Proxy},
    table::Table,
    world::World,
};

/// `rounds=5 seconds=10` makes it more.
fn option(name: &str, usual: u64) -> u64 {
    let given = std::env::args().find_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
    given.map_or(usual, |given| given.parse().unwrap())
}

/// A node reads its secret of 1 KiB.
pub(crate) async fn reads(world: &World) {
    let proxies = proxies::all(world).await;
    println!("## CPU per read\n");
    for protocol in [Protocol::Http1, Protocol::Http2]
        .into_iter()
        .skip(option("skip", 0) as usize)
        .take(option("protocols", 2) as usize)
    {
        compare(world, &proxies, protocol, 32, &get_secret()).await;
    }
}

/// A kubelet's status patch, with its body judged.
pub(crate) async fn patches(world: &World) {
    let proxies = proxies::all(world).await;
    println!("## CPU per node status patch\n");
    for protocol in [Protocol::Http1, Protocol::Http2]
        .into_iter()
        .skip(option("skip", 0) as usize)
        .take(option("protocols", 2) as usize)
    {
        compare(world, &proxies, protocol, 32, &patch_status()).await;
    }
}

pub(crate) async fn latency(world: &World) {
    let proxies = proxies::all(world).await;
    println!("## Latency at 8 connections\n");
    for protocol in [Protocol::Http1, Protocol::Http2]
        .into_iter()
        .skip(option("skip", 0) as usize)
        .take(option("protocols", 2) as usize)
    {
        compare(world, &proxies, protocol, 8, &get_secret()).await;
    }
}

async fn compare(world: &World, proxies: &[Proxy], protocol: Protocol, connections: usize, ask: &Ask) {
    println!("{}, {connections} connections", protocol.name());
    let mut table = Table::new(&["", "CPU µs", "user", "p50 µs", "p99 µs", "requests/s"]);
    let mut rows: Vec<(&str, Vec<Measured>)> = vec![("direct", Vec::new())];
    rows.extend(proxies.iter().map(|proxy| (proxy.name.as_str(), Vec::new())));
    for _ in 0..option("rounds", 3) {
        rows[0]
            .1
            .push(measure(world, world.cluster.api, None, (protocol, connections), ask).await);
        for (proxy, (_, measured)) in proxies.iter().zip(rows.iter_mut().skip(1)) {
            measured.push(measure(world, proxy.address, Some(proxy.used), (protocol, connections), ask).await);
        }
    }
    for (name, measured) in &rows {
        let all: Vec<String> = measured.iter().map(|m| format!("{:.1}", m.cpu)).collect();
        table.row(&[
            name,
            &format!("{:.1}", median(measured, |m| m.cpu)),
            &all.join(" "),
            &format!("{:.0}", median(measured, |m| m.p50)),
            &format!("{:.0}", median(measured, |m| m.p99)),
            &format!("{:.0}", median(measured, |m| m.rate)),
        ]);
    }
    table.print();
}

#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// Microseconds, all of them.
    pub(crate) cpu: f64,
    p50: f64,
    p99: f64,
    rate: f64,
}

fn median(measured: &[Measured], of: impl Fn(&Measured) -> f64) -> f64 {
    let mut all: Vec<f64> = measured.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

pub(crate) async fn measure(
    world: &World,
    server: SocketAddr,
    used: Option<Watched>,
    load: (Protocol, usize),
    ask: &Ask,
) -> Measured {
    let mut cpu = Vec::new();
    let length = Duration::from_secs(option("seconds", 4));
    let answers: Answers = load::run(world, server, load, ask, length, || {
        cpu.push(used.map(Watched::cpu).unwrap_or_default())
    })
    .await;
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    Measured {
        cpu: micros(cpu[1] - cpu[0]) / answers.count() as f64,
        p50: micros(answers.percentile(50)),
        p99: micros(answers.percentile(99)),
        rate: answers.count() as f64 / length.as_secs_f64(),
    }
}

pub(crate) fn get_secret() -> Ask {
    Arc::new(|node, _| {
        request("GET", &format!("/api/v1/namespaces/default/secrets/secret-n{node}"))
            .body(Full::default())
            .unwrap()
    })
}

/// What a kubelet sends every ten seconds when nothing has changed but the time.
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

/// As kubelets write them.
fn request(method: &str, target: &str) -> http::request::Builder {
    Request::builder()
        .method(method)
        .uri(target)
        .header("host", "localhost")
        .header("accept", "application/json")
        .header("user-agent", "kubelet/v1.36.3 (linux/amd64) kubernetes/0000000")
}
