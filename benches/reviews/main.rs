//! What acting-as and validated annotations cost: those whom they concern, with answers of upstream that are remembered, and those
//! whom they do not. `make bench` runs it; docs/performance.md has what came of it once.
//!
//! It fails if something is not decided as it should be, or if a burst is more than one question, and never over a time.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for people to read, which may end with a message"
)]

/// A gate with these features, and one without.
mod gate;
/// Time and memory.
#[path = "../graph/measure.rs"]
#[allow(dead_code, reason = "the graph's benchmark measures more")]
mod measure;
/// How it is printed.
#[path = "../graph/table.rs"]
mod table;

use std::{hint::black_box, sync::atomic::Ordering};

use futures_util::future::join_all;
use tokio::runtime::Runtime;

use self::{
    gate::{Gate, Sent},
    measure::{Cost, Time, measure},
    table::Table,
};

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (with, without) = (Gate::new(true), Gate::new(false));
    concerned(&runtime, &with, &without);
    not_concerned(&with, &without);
    burst(&runtime);
}

/// With the same request of somebody whom nobody has to be asked about beside it.
fn concerned(runtime: &Runtime, with: &Gate, without: &Gate) {
    println!("What a request costs on top whose reviews are remembered, beside the same request without");
    let mut table = Table::new(&["", "with", "without", "on top", "ratio", "target"]);
    let acting = |sent: &'static str| {
        let as_another = [("acting-as", "system:serviceaccount:team:default")];
        let wish = Sent::new("POST", sent, &as_another, "");
        let plain = Sent::new("POST", sent, &[], "");
        let with_cost = measure_each(|| runtime.block_on(with.acts(&wish)));
        let without_cost = measure_each(|| runtime.block_on(without.acts(&plain)));
        (with_cost, without_cost)
    };
    let pod = |annotations: &str| {
        let containers = (0..4).map(|n| format!(r#"{{"name":"c{n}","image":"example.com/app:{n}"}}"#));
        let containers: Vec<String> = containers.collect();
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","annotations":{{{annotations}}}}},"spec":{{"containers":[{}]}}}}"#,
            containers.join(",")
        )
    };
    let pods = "/api/v1/namespaces/team/pods";
    let carries = Sent::new(
        "POST",
        pods,
        &[],
        &pod(r#""scopegate.dev/validated-annotations":"{\"kerberos\":\"app\"}""#),
    );
    let plain = Sent::new("POST", pods, &[], &pod(""));
    let annotations = (
        measure_each(|| runtime.block_on(with.creates(&carries))),
        measure_each(|| runtime.block_on(without.creates(&plain))),
    );
    for (about, (with, without)) in [
        ("acting as a service account: by a review, Intersection", acting(pods)),
        ("a pod that carries a validated annotation", annotations),
    ] {
        let on_top = with.nanoseconds - without.nanoseconds;
        let target = if on_top <= 10_000.0 {
            "≤ 10 µs, met"
        } else {
            "≤ 10 µs, NOT MET"
        };
        table.row(&[
            &about,
            &with,
            &without,
            &Time(on_top * 1e-9),
            &ratio(with, without),
            &target,
        ]);
    }
    table.print();
}

/// A node's request, which these features are not about.
fn not_concerned(with: &Gate, without: &Gate) {
    println!("What others pay: reading the head, as whom it acts, and whether a rule looks at the body");
    let mut table = Table::new(&["", "with", "without", "ratio"]);
    for (about, method, target) in [
        ("a node gets a secret", "GET", "/api/v1/namespaces/team/secrets/s"),
        (
            "a node renews its lease",
            "PUT",
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1",
        ),
        (
            "somebody creates a config map",
            "POST",
            "/api/v1/namespaces/team/configmaps",
        ),
    ] {
        let sent = Sent::new(method, target, &[], "");
        // Each after the other, so that both meet the same machine.
        let with = measure_each(|| _ = black_box(with.passes(&sent)));
        let without = measure_each(|| _ = black_box(without.passes(&sent)));
        table.row(&[&about, &with, &without, &ratio(with, without)]);
    }
    table.print();
}

fn burst(runtime: &Runtime) {
    const REQUESTS: usize = 1000;
    let gate = Gate::new(true);
    let sent = Sent::new("POST", "/api/v1/namespaces/team/pods", &[], "");
    let asked = runtime.block_on(async {
        join_all((0..REQUESTS).map(|_| gate.may(&sent))).await;
        gate.asked.load(Ordering::Relaxed)
    });
    println!("A burst of {REQUESTS} identical requests whose review is not known: {asked} asked of upstream");
    assert_eq!(asked, 1);
}

fn ratio(with: Cost, without: Cost) -> String {
    format!("{:.2} ×", with.nanoseconds / without.nanoseconds)
}

fn measure_each(mut work: impl FnMut()) -> Cost {
    measure(|times| (0..times).for_each(|_| work()))
}
