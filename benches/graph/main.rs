//! The graphs and the decisions made from them, that of nodes beside upstream's Node authorizer and that of seeds beside Gardener's
//! SeedAuthorizer: the same objects, the same questions, the same run. `make bench` runs it; docs/performance.md has what came of
//! it once, and what the rows mean. With a word behind it (`cargo bench --bench graph -- seeds`) it is one of them alone.
//!
//! It fails if a decision allocates or is wrong, and never over a time. Tables go to standard output, progress to standard
//! error.
#![allow(
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a program for people to read, which may end with a message"
)]

/// Building the graph, and what it takes.
mod build;
/// What is measured over.
mod cluster;
/// One shape of it, beside upstream.
mod compare;
/// Decisions while somebody writes.
mod contention;
/// What decisions cost.
mod decisions;
/// The graph of seeds.
mod garden;
/// Several sizes of it.
mod growth;
/// Time and memory.
mod measure;
/// Upstream's authorizer.
mod peer;
/// What is asked.
mod rows;
/// Secrets that many share.
mod sharing;
/// How it is printed.
mod table;
/// What changes cost.
mod updates;

use std::{env, fmt::Display, fs, thread};

use anyhow::{Result, ensure};

use self::{cluster::Shape, compare::Measured};

fn main() -> Result<()> {
    println!("{}", machine());
    // Cargo adds a flag.
    let wanted: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    let mut allocating = Vec::new();
    if is_wanted("nodes") {
        allocating.extend(nodes()?);
    }
    if is_wanted("seeds") {
        allocating.extend(garden::print()?);
    }
    ensure!(
        allocating.is_empty(),
        "these decisions allocate: {}",
        allocating.join(", ")
    );
    Ok(())
}

/// Returns the decisions that allocate.
fn nodes() -> Result<Vec<&'static str>> {
    peer::announce(peer::PROGRAM, "upstream's authorizer");
    let mut allocating = Vec::new();
    for shape in [Shape::new(500, 200), Shape::new(5000, 30)] {
        let measured = Measured::new(shape)?;
        progress(shape, "upstream's authorizer");
        measured.print(peer::run(shape)?.as_ref())?;
        allocating.extend(measured.allocating());
    }
    sharing::print()?;
    contention::print(Shape::new(500, 200))?;
    growth::print()?;
    Ok(allocating)
}

/// Says what is done now; some of it takes a while.
fn progress(shape: impl Display, what: &str) {
    eprintln!("{shape}: {what}");
}

/// Where it runs, and what else does.
fn machine() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown CPU", |(_, model)| model);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let cores = thread::available_parallelism().map_or(0, usize::from);
    format!("On {model}, {cores} cores, load average {load} before.")
}
