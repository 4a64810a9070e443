//! One shape of cluster: all that is measured, beside what upstream takes.

use std::fmt::Display;

use anyhow::Result;

use crate::{
    build::{self, Build, Reading},
    cluster::Shape,
    decisions::Decisions,
    measure::{Cost, Live, Time},
    peer, progress,
    table::Table,
    updates::Updates,
};

/// What the gate takes.
pub(super) struct Measured {
    shape: Shape,
    bare: Reading,
    whole: Reading,
    build: Build,
    decisions: Decisions,
    updates: Updates,
    learned: (f64, Live),
}

/// The targets, of which the last two are for one of upstream's shapes and the others for any.
pub(super) const DECISION: f64 = 0.3e-6;
pub(super) const UPDATE: f64 = 20e-6;
const BUILD: f64 = 1.0;
const MEGABYTES: f64 = 60.0;
const BUILT: (usize, usize) = (500, 200);

impl Measured {
    pub(super) fn new(shape: Shape) -> Result<Self> {
        progress(shape, "reading pods");
        let (bare, whole) = (build::read(shape, false)?, build::read(shape, true)?);
        progress(shape, "building");
        let mut build = Build::new(shape)?;
        progress(shape, "decisions");
        let decisions = Decisions::measure(shape, &build.graph.published)?;
        progress(shape, "updates");
        let updates = Updates::measure(shape, &mut build.graph)?;
        let learned = build.learn(shape)?;
        Ok(Self {
            shape,
            bare,
            whole,
            build,
            decisions,
            updates,
            learned,
        })
    }

    /// Decisions that allocate.
    pub(super) fn allocating(&self) -> Vec<&'static str> {
        self.decisions.allocating().collect()
    }

    pub(super) fn print(&self, peer: Option<&peer::Report>) -> Result<()> {
        println!("\n## {}", self.shape);
        let mut table = Table::new(&["", "scopegate", "upstream", "ratio", "target"]);
        for (row, cost) in &self.decisions.rows {
            let theirs = peer.map(|peer| peer.cost(row)).transpose()?;
            compare(&mut table, row.name, *cost, theirs, Some(DECISION));
        }
        let Decisions { elsewhere, path, .. } = &self.decisions;
        compare(&mut table, "another node and secret each time", *elsewhere, None, None);
        compare(&mut table, "writing down the path of one", *path, None, None);
        let targeted = BUILT == (self.shape.nodes, self.shape.pods_per_node);
        let theirs = peer.map(|peer| (peer.build_seconds, peer.heap_alone_bytes));
        compare_build(&mut table, &self.build, theirs, targeted.then_some((BUILD, MEGABYTES)));
        if let Some(peer) = peer {
            let shared = format!("{:.0} MB", peer.heap_bytes / 1e6);
            table.row(&[&"the same, names shared with the objects", &"–", &shared, &"", &""]);
        }
        let again = peer.map(|peer| peer.pod_again);
        compare(
            &mut table,
            "a pod again, unchanged",
            self.updates.unchanged,
            again,
            None,
        );
        for (what, cost) in [
            ("a pod changed, visible", self.updates.changed),
            ("another pod changed each time, visible", self.updates.changed_elsewhere),
            ("a pod added or deleted, visible", self.updates.added_or_deleted),
        ] {
            compare(&mut table, what, cost, None, Some(UPDATE));
        }
        table.print();
        self.bare.print();
        self.whole.print();
        let (seconds, live) = &self.learned;
        println!(
            "Nodes, claims and service accounts, of which upstream's graph has nothing: {} and {:.1} MB more.",
            Time(*seconds),
            live.megabytes()
        );
        Ok(())
    }
}

/// What it takes to get the graph together and to have it: seconds and bytes of the peer, seconds and megabytes that it may take.
pub(super) fn compare_build(table: &mut Table, build: &Build, theirs: Option<(f64, f64)>, limits: Option<(f64, f64)>) {
    let (ours, seconds) = (build.seconds, theirs.map(|(seconds, _)| seconds));
    let (limit, megabytes_limit) = limits.unwrap_or_default();
    table.row(&[
        &"building the graph",
        &format!("{}, {} of it on a CPU", Time(ours), Time(build.on_cpu)),
        &seconds.map_or("–".to_owned(), |theirs| Time(theirs).to_string()),
        &ratio(ours, seconds),
        &target(limits.map(|_| ours <= limit), &Time(limit)),
    ]);
    let (ours, megabytes) = (build.retained.megabytes(), theirs.map(|(_, bytes)| bytes / 1e6));
    table.row(&[
        &"memory of the graph",
        &format!("{ours:.1} MB in {} blocks", build.retained.blocks),
        &megabytes.map_or("–".to_owned(), |theirs| format!("{theirs:.0} MB")),
        &ratio(ours, megabytes),
        &target(
            limits.map(|_| ours <= megabytes_limit),
            &format!("{megabytes_limit} MB"),
        ),
    ]);
}

pub(super) fn compare(table: &mut Table, what: &str, ours: Cost, theirs: Option<Cost>, limit: Option<f64>) {
    let met = limit.map(|limit| ours.nanoseconds <= limit * 1e9);
    table.row(&[
        &what,
        &ours,
        &theirs.map_or("–".to_owned(), |theirs| theirs.to_string()),
        &ratio(ours.nanoseconds, theirs.map(|theirs| theirs.nanoseconds)),
        &target(met, &Time(limit.unwrap_or_default())),
    ]);
}

fn ratio(ours: f64, theirs: Option<f64>) -> String {
    theirs.map_or(String::new(), |theirs| format!("{:.1} ×", theirs / ours))
}

fn target(met: Option<bool>, limit: &dyn Display) -> String {
    match met {
        Some(true) => format!("≤ {limit}, met"),
        Some(false) => format!("≤ {limit}, MISSED"),
        None => String::new(),
    }
}
