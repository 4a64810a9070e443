//! Changes of pods, as readers get to see them.

use std::sync::Arc;

use anyhow::{Result, ensure};
use arc_swap::ArcSwap;
use scopegate::graph::{Asserts as _, Key, Kind, Pod, Snapshot, Store};

use crate::{
    cluster::Shape,
    measure::{Cost, measure},
};

/// The graph, and where readers find it, as in the gate.
pub(super) struct Graph {
    pub(super) store: Store,
    pub(super) published: Arc<ArcSwap<Snapshot>>,
}

/// Changes some pods again and again: each of them gets another secret, and the next time its own again.
pub(super) struct Changes {
    pods: Vec<[Pod; 2]>,
    made: usize,
}

/// What changes cost. Whatever is not said to be unchanged is visible to readers at the end.
pub(super) struct Updates {
    pub(super) unchanged: Cost,
    /// The same pod every time.
    pub(super) changed: Cost,
    /// Another one every time, so that nothing is in the caches.
    pub(super) changed_elsewhere: Cost,
    pub(super) added_or_deleted: Cost,
}

/// As many pods as are changed before it is the turn of the first one again.
const ELSEWHERE: usize = 1000;

impl Graph {
    pub(super) fn new(mut store: Store) -> Self {
        let published = Arc::new(ArcSwap::new(store.publish()));
        Self { store, published }
    }

    pub(super) fn publish(&mut self) {
        self.published.store(self.store.publish());
    }
}

impl Changes {
    /// Of pods of these nodes and numbers.
    pub(super) fn new(shape: Shape, pods: &[(usize, usize)]) -> Result<Self> {
        let pods = pods.iter().map(|(node, pod)| {
            let changed = serde_json::from_str(&shape.pod_with(*node, *pod, "secret1"))?;
            let original = serde_json::from_str(&shape.pod(*node, *pod))?;
            Ok([changed, original])
        });
        let pods = pods.collect::<Result<_>>()?;
        Ok(Self { pods, made: 0 })
    }

    /// The next one.
    pub(super) fn make(&mut self, graph: &mut Graph) {
        let turn = self.made / self.pods.len();
        let [changed, original] = &self.pods[self.made % self.pods.len()];
        let next = if turn.is_multiple_of(2) { changed } else { original };
        graph.store.apply(next);
        graph.publish();
        self.made += 1;
    }
}

impl Updates {
    pub(super) fn measure(shape: Shape, graph: &mut Graph) -> Result<Self> {
        let pod: Pod = serde_json::from_str(&shape.pod(0, 0))?;
        let unchanged = measure(|times| {
            for _ in 0..times {
                graph.store.apply(&pod);
            }
        });
        ensure!(
            !graph.store.is_changed(),
            "a pod that has not changed changes the graph"
        );
        let added_or_deleted = added_or_deleted(shape, shape.pods_per_node, graph)?;
        Ok(Self {
            unchanged,
            changed: changed(shape, graph, &[(0, 0)])?,
            changed_elsewhere: changed(shape, graph, &spread(shape, ELSEWHERE))?,
            added_or_deleted,
        })
    }
}

/// Some pods by node and number, one far from the other.
pub(super) fn spread(shape: Shape, pods: usize) -> Vec<(usize, usize)> {
    let all = shape.nodes * shape.pods_per_node;
    // A prime, so that none is met twice.
    let far = (0..pods.min(all)).map(|i| i * 15_485_863 % all);
    far.map(|i| (i / shape.pods_per_node, i % shape.pods_per_node))
        .collect()
}

fn changed(shape: Shape, graph: &mut Graph, pods: &[(usize, usize)]) -> Result<Cost> {
    let mut changes = Changes::new(shape, pods)?;
    let (node, pod) = pods[0];
    let secret = format!("secret1-pod{pod}-node{node}");
    let namespace = shape.namespace(pod);
    changes.make(graph);
    let seen = graph.published.load();
    ensure!(
        seen.reaches(&format!("node{node}"), Key::new(Kind::Secret, &namespace, &secret)),
        "what has changed is not visible"
    );
    drop(seen);
    Ok(measure(|times| (0..times).for_each(|_| changes.make(graph))))
}

/// One more pod on node0, with this number.
pub(super) fn added_or_deleted(shape: Shape, pod: usize, graph: &mut Graph) -> Result<Cost> {
    let secret = format!("secret0-pod{pod}-node0");
    let namespace = shape.namespace(pod);
    let pod: Pod = serde_json::from_str(&shape.pod(0, pod))?;
    let secret = Key::new(Kind::Secret, &namespace, &secret);
    let is_visible = |graph: &Graph| graph.published.load().reaches("node0", secret);
    let add = |graph: &mut Graph| {
        graph.store.apply(&pod);
        graph.publish();
    };
    let delete = |graph: &mut Graph| {
        graph.store.delete(pod.key());
        graph.publish();
    };
    add(graph);
    ensure!(is_visible(graph), "a pod that was added is not visible");
    delete(graph);
    ensure!(!is_visible(graph), "a pod that was deleted is still visible");
    let both = measure(|times| {
        for _ in 0..times {
            add(graph);
            delete(graph);
        }
    });
    Ok(both.half())
}
