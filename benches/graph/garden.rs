//! The graph of seeds, beside Gardener's own.

/// The pages that show it.
mod pages;
/// Gardener's authorizer.
mod peer;
/// What is asked.
mod rows;
/// Gardener's answers, as the end-to-end tests get them.
#[path = "../../e2e/garden/theirs.rs"]
#[allow(
    dead_code,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests ask more, and fail if there is no answer"
)]
mod theirs;
/// What changes cost.
mod updates;
/// What is measured over.
mod world;

use std::hint::black_box;

use anyhow::{Result, ensure};
use scopegate::graph::{Anchor, Asserts, Key, Kind, Store};

use self::{
    peer::Peer,
    rows::{gardenlet, gate, rows},
    world::{Shape, shoot_name},
};
use crate::{
    build::Build,
    compare::{DECISION, compare, compare_build},
    decisions,
    measure::{Cost, measure},
    progress,
    rows::Asked,
    table::Table,
    updates::{Graph, spread_over},
};

const SHAPE: Shape = Shape {
    seeds: 300,
    shoots_per_seed: 100,
    projects: 60,
    extensions: 20,
    managed_seeds: 5,
};

/// Returns the decisions that allocate.
pub(super) fn print() -> Result<Vec<&'static str>> {
    progress(SHAPE, "building");
    let mut build = build(SHAPE)?;
    progress(SHAPE, "Gardener's graph");
    let mut peer = Peer::start(SHAPE)?;
    let mut table = Table::new(&["", "scopegate", "Gardener", "ratio", "target"]);
    progress(SHAPE, "decisions");
    let allocating = decisions(&mut table, &build.graph, peer.as_mut())?;
    progress(SHAPE, "updates");
    let shared = updates::compare_all(&mut table, SHAPE, &mut build.graph, peer.as_mut())?;
    let spent = peer.as_mut().map(Peer::spent).transpose()?;
    let spent = spent.map(|spent| (spent.seconds, spent.heap_bytes));
    compare_build(&mut table, &build, spent, None);
    println!("\n## {SHAPE}");
    table.print();
    let graph = build.graph.published.load_full();
    let (sizes, shoots) = (graph.sizes(), SHAPE.seeds * SHAPE.shoots_per_seed);
    println!(
        "{} vertices, {} edges; {} B for a shoot and all that is with it.",
        sizes.vertices,
        sizes.edges,
        build.retained.bytes / shoots as i64
    );
    println!("\n## What many seeds share");
    shared.print();
    pages::print(&graph)?;
    Ok(allocating)
}

fn build(shape: Shape) -> Result<Build> {
    let objects = shape.objects().map(|object| world::read(&object));
    let objects = objects.collect::<Result<Vec<Box<dyn Asserts>>>>()?;
    Ok(Build::fastest(|| {
        let mut store = Store::new(Anchor::Seed);
        objects.iter().for_each(|object| store.apply(object.as_ref()));
        for (namespace, name) in store.beginners() {
            store.settle_bootstrap(&namespace, &name, 0);
        }
        store
    }))
}

fn decisions(table: &mut Table, graph: &Graph, mut peer: Option<&mut Peer>) -> Result<Vec<&'static str>> {
    let (gate, published) = (gate(), &graph.published);
    let mut allocating = Vec::new();
    for row in rows()? {
        let ours = decisions::one(&gate, &row.asked, row.verdict, published)?;
        let theirs = peer.as_mut().map(|peer| peer.decision(&row)).transpose()?;
        compare(table, row.name, ours, theirs, Some(DECISION));
        if ours.allocations > 0.0 {
            allocating.push(row.name);
        }
    }
    let secret = |name| Key::new(Kind::Secret, "garden-p0", name);
    for (what, key, reaches) in [
        ("the graph alone: a path", secret("dns-shoot0-seed0"), true),
        ("the graph alone: the longest path", secret("credentials0"), true),
        ("the graph alone: no path", secret("unknown"), false),
    ] {
        let ours = path(graph, "seed0", key, reaches)?;
        let theirs = peer.as_mut().map(|peer| peer.path("seed0", key, reaches)).transpose()?;
        compare(table, what, ours, theirs, Some(DECISION));
    }
    let secret = |name: &str| {
        Asked::by(
            gardenlet("seed0"),
            &format!("GET /api/v1/namespaces/garden-p0/secrets/{name}"),
        )
    };
    let all = spread_over(SHAPE.seeds, SHAPE.shoots_per_seed, decisions::ELSEWHERE);
    let all = all.into_iter().map(|(seed, shoot)| {
        let name = format!("dns-{}", shoot_name(seed, shoot));
        (format!("seed{seed}"), SHAPE.namespace(seed, shoot), name)
    });
    let all: Vec<_> = all.collect();
    let elsewhere = decisions::elsewhere(&gate, secret("dns-shoot0-seed0")?, &all, published)?;
    compare(table, "another seed and secret each time", elsewhere, None, None);
    if elsewhere.allocations > 0.0 {
        allocating.push("another seed and secret each time");
    }
    let written = decisions::path(&gate, &secret("credentials0")?, published);
    compare(table, "writing down the path of one", written, None, None);
    Ok(allocating)
}

/// Only what the graph has to do with a decision.
fn path(graph: &Graph, seed: &str, key: Key<'_>, reaches: bool) -> Result<Cost> {
    let seen = graph.published.load();
    ensure!(seen.reaches(seed, key) == reaches, "{key} is not as it should be");
    Ok(measure(|times| {
        for _ in 0..times {
            black_box(seen.reaches(black_box(seed), black_box(key)));
        }
    }))
}
