//! Changes of pods, as readers get to see them.

use std::sync::Arc;

use anyhow::{Result, ensure};
use arc_swap::ArcSwap;
use scopegate::graph::{Asserts, Key, Kind, Pod, Snapshot, Store};

use crate::{
    cluster::Shape,
    measure::{Cost, measure},
};

/// The graph, and where readers find it, as in the gate.
pub(super) struct Graph {
    pub(super) store: Store,
    pub(super) published: Arc<ArcSwap<Snapshot>>,
}

/// Changes some objects again and again: each of them becomes the first of two, and the next time the second one again, which
/// it was before.
pub(super) struct Changes<T> {
    objects: Vec<[T; 2]>,
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
pub(super) const ELSEWHERE: usize = 1000;

impl Graph {
    pub(super) fn new(mut store: Store) -> Self {
        let published = Arc::new(ArcSwap::new(store.publish()));
        Self { store, published }
    }

    pub(super) fn publish(&mut self) {
        self.published.store(self.store.publish());
    }
}

impl Changes<Pod> {
    /// Of pods of these nodes and numbers: they get another secret.
    pub(super) fn new(shape: Shape, pods: &[(usize, usize)]) -> Result<Self> {
        let pods = pods.iter().map(|(node, pod)| {
            let changed = serde_json::from_str(&shape.pod_with(*node, *pod, "secret1"))?;
            let original = serde_json::from_str(&shape.pod(*node, *pod))?;
            Ok([changed, original])
        });
        Ok(Self::of(pods.collect::<Result<_>>()?))
    }
}

impl<T: Asserts> Changes<T> {
    pub(super) fn of(objects: Vec<[T; 2]>) -> Self {
        Self { objects, made: 0 }
    }

    /// The next one.
    pub(super) fn make(&mut self, graph: &mut Graph) {
        let turn = self.made / self.objects.len();
        let [changed, original] = &self.objects[self.made % self.objects.len()];
        let next = if turn.is_multiple_of(2) { changed } else { original };
        graph.store.apply(next);
        graph.publish();
        self.made += 1;
    }

    /// Makes the first one, which is to be visible then, and tells what each costs. In the end all are as they were.
    pub(super) fn measure(mut self, graph: &mut Graph, is_visible: impl Fn(&Snapshot) -> bool) -> Result<Cost> {
        self.make(graph);
        ensure!(is_visible(&graph.published.load()), "what has changed is not visible");
        let cost = measure(|times| (0..times).for_each(|_| self.make(graph)));
        self.objects
            .iter()
            .for_each(|[_, original]| graph.store.apply(original));
        graph.publish();
        Ok(cost)
    }
}

impl Updates {
    pub(super) fn measure(shape: Shape, graph: &mut Graph) -> Result<Self> {
        let unchanged = unchanged(graph, &serde_json::from_str::<Pod>(&shape.pod(0, 0))?)?;
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
    spread_over(shape.nodes, shape.pods_per_node, pods)
}

/// The same of anything of which there are as many everywhere.
pub(super) fn spread_over(places: usize, each: usize, wanted: usize) -> Vec<(usize, usize)> {
    let all = places * each;
    // A prime, so that none is met twice.
    let far = (0..wanted.min(all)).map(|i| i * 15_485_863 % all);
    far.map(|i| (i / each, i % each)).collect()
}

/// An object that says what it has said before.
pub(super) fn unchanged(graph: &mut Graph, object: &dyn Asserts) -> Result<Cost> {
    let cost = measure(|times| {
        for _ in 0..times {
            graph.store.apply(object);
        }
    });
    ensure!(
        !graph.store.is_changed(),
        "an object that has not changed changes the graph"
    );
    Ok(cost)
}

fn changed(shape: Shape, graph: &mut Graph, pods: &[(usize, usize)]) -> Result<Cost> {
    let (node, pod) = pods[0];
    let secret = format!("secret1-pod{pod}-node{node}");
    let namespace = shape.namespace(pod);
    let secret = Key::new(Kind::Secret, &namespace, &secret);
    Changes::new(shape, pods)?.measure(graph, |seen| seen.reaches(&format!("node{node}"), secret))
}

/// One more pod on node0, with this number.
pub(super) fn added_or_deleted(shape: Shape, pod: usize, graph: &mut Graph) -> Result<Cost> {
    let secret = format!("secret0-pod{pod}-node0");
    let namespace = shape.namespace(pod);
    let pod: Pod = serde_json::from_str(&shape.pod(0, pod))?;
    let secret = Key::new(Kind::Secret, &namespace, &secret);
    comes_and_goes(graph, &pod, |seen| seen.reaches("node0", secret))
}

/// An object that is not there, added or deleted.
pub(super) fn comes_and_goes(
    graph: &mut Graph,
    object: &dyn Asserts,
    is_visible: impl Fn(&Snapshot) -> bool,
) -> Result<Cost> {
    let add = |graph: &mut Graph| {
        graph.store.apply(object);
        graph.publish();
    };
    let delete = |graph: &mut Graph| {
        graph.store.delete(object.key());
        graph.publish();
    };
    add(graph);
    ensure!(is_visible(&graph.published.load()), "what was added is not visible");
    delete(graph);
    ensure!(
        !is_visible(&graph.published.load()),
        "what was deleted is still visible"
    );
    let both = measure(|times| {
        for _ in 0..times {
            add(graph);
            delete(graph);
        }
    });
    Ok(both.half())
}
