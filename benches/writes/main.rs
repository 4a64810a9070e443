//! What it costs to judge what nodes write, stage by stage, beside reading the same body into serde_json's own tree, which
//! judges nothing. `make bench` runs it; docs/performance.md has what came of it once.
//!
//! It fails if a write is not judged as it should be, and never over a time.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for people to read, which may end with a message"
)]

/// What is sent.
mod bodies;
/// Bodies that are meant to cost much.
mod bombs;
/// A gate with one node and one pod.
mod gate;
/// Time and memory.
#[path = "../graph/measure.rs"]
#[allow(dead_code, reason = "the graph's benchmark measures more")]
mod measure;
/// How it is printed.
#[path = "../graph/table.rs"]
mod table;

use std::hint::black_box;

use scopegate::{json::Json, patch::Patch};

use self::{
    bodies::{Body, POD_STATUS, protobuf},
    gate::Gate,
    measure::{Cost, measure},
    table::Table,
};

fn main() {
    let gate = Gate::new();
    ordinary(&gate);
    large(&gate);
    bombs::print(&gate);
}

/// What kubelets send all the time, which needs nothing from upstream.
fn ordinary(gate: &Gate) {
    println!("What kubelets write all the time, without a question to upstream");
    let mut table = Table::new(&[
        "",
        "bytes",
        "read",
        "read as a patch",
        "judged in all",
        "serde_json::Value",
        "ratio",
        "target",
    ]);
    for body in bodies::ordinary() {
        let bytes = body.bytes.as_slice();
        let in_json = body.content_type != protobuf::CONTENT_TYPE;
        let read = in_json.then(|| measure_each(|| drop(black_box(Json::parse(bytes)))));
        let patch = body
            .patch
            .map(|kind| measure_each(|| drop(black_box(Patch::read(kind, bytes)))));
        let request = gate.request(&body);
        let judged = measure_each(|| assert!(gate.admits(&request, None), "{} is refused", body.about));
        let peer =
            in_json.then(|| measure_each(|| drop(black_box(serde_json::from_slice::<serde_json::Value>(bytes)))));
        let target = match judged.nanoseconds {
            _ if body.patch.is_none() => "",
            nanoseconds if nanoseconds <= 30_000.0 => "≤ 30 µs, met",
            _ => "≤ 30 µs, NOT MET",
        };
        let ratio = peer.map(|peer| format!("{:.1} ×", judged.nanoseconds / peer.nanoseconds));
        let time = |cost: Option<Cost>| cost.map(|cost| cost.time().to_string()).unwrap_or_default();
        table.row(&[
            &body.about,
            &bytes.len(),
            &time(read),
            &time(patch),
            &judged,
            &time(peer),
            &ratio.unwrap_or_default(),
            &target,
        ]);
    }
    table.print();
}

/// A Node of a mebibyte, replaced as a whole, with the stored one at hand.
fn large(gate: &Gate) {
    let (stored, body) = bodies::large_node();
    let request = gate.request(&body);
    let judged = measure_each(|| assert!(gate.admits(&request, Some(&stored)), "the large node is refused"));
    let peer = measure_each(|| drop(black_box(serde_json::from_slice::<serde_json::Value>(&body.bytes))));
    println!(
        "A Node of {} bytes, replaced: both objects read, judged, tied to the version and written again",
        body.bytes.len()
    );
    let mut table = Table::new(&["judged in all", "serde_json::Value of one of them", "ratio", "target"]);
    let target = if judged.nanoseconds <= 5e6 {
        "≤ 5 ms, met"
    } else {
        "≤ 5 ms, NOT MET"
    };
    let ratio = format!("{:.1} ×", judged.nanoseconds / peer.nanoseconds);
    let milliseconds = |cost: Cost| format!("{:.1} ms", cost.nanoseconds / 1e6);
    table.row(&[&milliseconds(judged), &milliseconds(peer), &ratio, &target]);
    table.print();
}

fn measure_each(mut work: impl FnMut()) -> Cost {
    measure(|times| (0..times).for_each(|_| work()))
}

/// A pod status patch that is refused for another reason than its size.
fn refused() -> Body {
    Body {
        target: "/api/v1/namespaces/ns/pods/p2/status".to_owned(),
        ..Body::patch("foreign pod", POD_STATUS, "")
    }
}
