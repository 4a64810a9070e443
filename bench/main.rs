//! What the gate costs on the way of a request, beside what people would put there instead: nginx and haproxy, which only pass
//! requests on, before the same kube-apiserver, in the same run. `make bench` runs it; docs/performance.md has what came of it.
//!
//! `cargo bench --bench proxies -- reads watches` runs these parts alone. Nothing fails over a time or a ratio: a part ends the
//! program only if something was not answered as it should be.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a program for people to read, which may end with a message"
)]

/// kube-apiserver and the gate as processes, as the end-to-end tests start them.
#[path = "../e2e"]
#[allow(dead_code, unused_imports, reason = "the tests do more with them")]
mod shared {
    pub(crate) mod cluster;
    pub(crate) mod gate;
    pub(crate) mod release;
}
/// Several of them in one table.
mod compare;
/// Many objects, where an API server finds them.
mod etcd;
/// One node that asks for too much.
mod flood;
/// Nodes that come anew.
mod handshakes;
/// What an API server needs to list them.
mod listing;
/// Requests, and what became of them.
mod load;
/// What there is in a large cluster.
mod objects;
/// What is asked for on the command line.
mod options;
/// Where results go.
mod page;
/// Pictures of them.
mod plot;
/// What a process has used.
mod process;
/// The gate, nginx and haproxy.
mod proxies;
/// CPU and time of requests that are read or written.
mod requests;
/// The gate before a large cluster.
mod startup;
/// How it is printed.
#[path = "../benches/graph/table.rs"]
#[allow(dead_code, reason = "other benchmarks print each table by itself")]
mod table;
/// Many that are open and quiet.
mod watches;
/// The cluster and its nodes.
mod world;

use self::shared::{cluster, gate, release};

/// What can be asked for beside `startup`, and how many nodes it needs.
const PARTS: &[(&str, usize)] = &[
    ("reads", requests::NODES),
    ("patches", requests::NODES),
    ("large", requests::NODES),
    ("latency", requests::NODES),
    ("connections", requests::MOST_NODES),
    ("watches", watches::NODES),
    ("handshakes", handshakes::NODES),
    ("flood", flood::NODES),
];

#[tokio::main]
async fn main() {
    let wanted = options::parts();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    let parts: Vec<_> = PARTS.iter().filter(|(part, _)| is_wanted(part)).collect();
    let machine = page::machine();
    println!("{machine}\n");
    // The part with a cluster of its own comes first, and is gone when the others begin.
    if is_wanted("startup") {
        let Some(section) = startup::startup().await else {
            return;
        };
        if options::writes() {
            section.write(&machine);
        }
    }
    let Some(nodes) = parts.iter().map(|(_, nodes)| *nodes).max() else {
        return;
    };
    let Some(world) = world::World::start(nodes).await else {
        return;
    };
    for (part, _) in parts {
        let section = match *part {
            "reads" => requests::reads(&world).await,
            "patches" => requests::patches(&world).await,
            "large" => requests::large(&world).await,
            "latency" => requests::latency(&world).await,
            "connections" => requests::connections(&world).await,
            "watches" => watches::watches(&world).await,
            "handshakes" => handshakes::handshakes(&world).await,
            "flood" => flood::flood(&world).await,
            part => panic!("there is no part {part}"),
        };
        if options::writes() {
            section.write(&machine);
        }
    }
}
