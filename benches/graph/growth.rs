//! How cost grows with the cluster.

use anyhow::Result;

use crate::{
    build::Build, cluster::Shape, decisions::Decisions, measure::Time, progress, table::Table, updates::Updates,
};

/// Nodes of 200 pods each.
const NODES: [usize; 4] = [50, 250, 500, 750];

pub(super) fn print() -> Result<()> {
    let mut table = Table::new(&[
        "pods",
        "building",
        "of it on a CPU",
        "memory",
        "for a pod",
        "slowest row",
        "another each time",
        "a pod changed",
        "another each time",
        "added or deleted",
    ]);
    for nodes in NODES {
        let shape = Shape::new(nodes, 200);
        progress(shape, "how cost grows");
        let pods = nodes * shape.pods_per_node;
        let mut build = Build::new(shape)?;
        let decisions = Decisions::measure(shape, &build.graph.published)?;
        let updates = Updates::measure(shape, &mut build.graph)?;
        let slowest = decisions.rows.iter().map(|(_, cost)| cost.nanoseconds);
        let slowest = slowest.fold(0.0, f64::max);
        table.row(&[
            &pods,
            &Time(build.seconds),
            &Time(build.on_cpu),
            &format!("{:.1} MB", build.retained.megabytes()),
            &format!("{} B", build.retained.bytes / pods as i64),
            &Time(slowest / 1e9),
            &decisions.elsewhere.time(),
            &updates.changed.time(),
            &updates.changed_elsewhere.time(),
            &updates.added_or_deleted.time(),
        ]);
    }
    println!("\n## How cost grows, at 200 pods per node");
    table.print();
    Ok(())
}
