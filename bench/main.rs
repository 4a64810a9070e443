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
/// Many objects, where an API server finds them.
mod etcd;
/// What an API server needs to list them.
mod listing;
/// Closed loops of requests, and what became of them.
mod load;
/// What there is in a large cluster.
mod objects;
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
mod table;
/// The cluster and its nodes.
mod world;

use self::shared::{cluster, gate, release};

#[tokio::main]
async fn main() {
    let words = std::env::args().skip(1);
    let wanted: Vec<String> = words
        .filter(|word| !word.starts_with('-') && !word.contains('='))
        .collect();
    let runs = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    if ["reads", "patches", "latency"].into_iter().any(runs) {
        let Some(world) = world::World::start().await else {
            return;
        };
        if runs("reads") {
            requests::reads(&world).await;
        }
        if runs("patches") {
            requests::patches(&world).await;
        }
        if runs("latency") {
            requests::latency(&world).await;
        }
    }
    // With a cluster of its own, which is large.
    if runs("startup") {
        startup::startup().await;
    }
}
