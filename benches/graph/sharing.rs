//! Whether it matters how many share a secret.

use anyhow::{Result, ensure};
use scopegate::{
    decision::Verdict,
    graph::{PersistentVolume, Pod},
};

use crate::{
    build::Build,
    cluster::{Shape, VOLUME_SECRET},
    decisions,
    measure::{Cost, measure},
    progress,
    rows::{Asked, gate},
    table::Table,
    updates::{Graph, added_or_deleted},
};

pub(super) fn print() -> Result<()> {
    let mut table = Table::new(&[
        "a secret that is named by",
        "deciding",
        "naming it, or no longer, visible",
    ]);
    let shape = Shape::new(500, 200);
    let all = format!("{} volumes", shape.nodes * shape.pods_per_node);
    for (by, one_volume_secret) in [("one volume", false), (&all, true)] {
        let shape = Shape {
            one_volume_secret,
            ..shape
        };
        progress(shape, "a secret that volumes share");
        let mut graph = Build::new(shape)?.graph;
        let change = volume(shape, &mut graph)?;
        let (namespace, name) = VOLUME_SECRET;
        table.row(&[&by, &secret(&graph, namespace, name)?, &change]);
    }
    let shape = Shape::new(5000, 30);
    progress(shape, "a secret that nodes share");
    let mut graph = Build::new(shape)?.graph;
    let all = format!("pods of {} nodes", shape.nodes);
    // The pod is alone in its namespace, or in that of a pod of every node.
    for (by, pod) in [("a pod of one node", shape.pods_per_node), (&all, shape.namespaces)] {
        let change = added_or_deleted(shape, pod, &mut graph)?;
        graph.store.apply(&serde_json::from_str::<Pod>(&shape.pod(0, pod))?);
        graph.publish();
        let decision = secret(&graph, &shape.namespace(pod), "secret0-shared")?;
        table.row(&[&by, &decision, &change]);
    }
    println!("\n## How many share a secret");
    table.print();
    Ok(())
}

/// What deciding about the secret costs.
fn secret(graph: &Graph, namespace: &str, name: &str) -> Result<Cost> {
    let asked = Asked::new("node0", &format!("GET /api/v1/namespaces/{namespace}/secrets/{name}"))?;
    decisions::one(&gate(), &asked, Verdict::Allow, &graph.published)
}

/// Lets a volume of node0 name the secret that volumes can share, or one of its own.
fn volume(shape: Shape, graph: &mut Graph) -> Result<Cost> {
    let text = |one_volume_secret| {
        Shape {
            one_volume_secret,
            ..shape
        }
        .volume(0, 0)
    };
    let own: PersistentVolume = serde_json::from_str(&text(false))?;
    let shared: PersistentVolume = serde_json::from_str(&text(true))?;
    graph.store.apply(&own);
    graph.publish();
    graph.store.apply(&shared);
    ensure!(graph.store.is_changed(), "a volume with another secret changes nothing");
    let both = measure(|times| {
        for _ in 0..times {
            for volume in [&own, &shared] {
                graph.store.apply(volume);
                graph.publish();
            }
        }
    });
    Ok(both.half())
}
