//! What decisions cost.

use std::hint::black_box;

use anyhow::{Result, ensure};
use arc_swap::ArcSwap;
use scopegate::{
    authorizer::{Attributes, Authorizer},
    caller::Kind,
    decision::Verdict,
    graph::Snapshot,
    quarantine::Quarantine,
    request::Target,
};

use crate::{
    cluster::Shape,
    measure::{Cost, measure},
    rows::{Asked, Row, gate, rows},
    updates::spread,
};

/// Every row, and what is beside them.
pub(super) struct Decisions {
    pub(super) rows: Vec<(Row, Cost)>,
    /// Another node asks for another secret every time, so that little is in the caches.
    pub(super) elsewhere: Cost,
    /// Finding and writing down how the graph leads to the node, which is done for what is allowed.
    pub(super) path: Cost,
}

/// As many questions as are asked before it is the turn of the first one again.
pub(super) const ELSEWHERE: usize = 4096;

impl Decisions {
    pub(super) fn measure(shape: Shape, graph: &ArcSwap<Snapshot>) -> Result<Self> {
        let gate = gate();
        let rows = rows()?.into_iter().map(|row| {
            let cost = one(&gate, &row.asked, row.verdict, graph)?;
            Ok((row, cost))
        });
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let asked = Asked::new("node0", "GET /api/v1/namespaces/ns0/secrets/secret0-pod0-node0")?;
        let all = spread(shape, ELSEWHERE).into_iter().map(|(node, pod)| {
            let secret = format!("secret0-pod{pod}-node{node}");
            (format!("node{node}"), shape.namespace(pod), secret)
        });
        let elsewhere = elsewhere(&gate, asked, &all.collect::<Vec<_>>(), graph)?;
        // Of the longest one: from the secret of a volume to the node.
        let asked = Asked::new("node0", "GET /api/v1/namespaces/ns0/secrets/secret-pv0-pod0-node0-ns0")?;
        let path = path(&gate, &asked, graph);
        Ok(Self { rows, elsewhere, path })
    }

    /// The names of those that allocate.
    pub(super) fn allocating(&self) -> impl Iterator<Item = &'static str> {
        let rows = self.rows.iter().map(|(row, cost)| (row.name, cost));
        let all = rows.chain([("another node and secret each time", &self.elsewhere)]);
        all.filter(|(_, cost)| cost.allocations > 0.0).map(|(name, _)| name)
    }
}

/// One question again and again. As in the gate, each time begins with looking at what is published.
pub(super) fn one(gate: &Authorizer, asked: &Asked, verdict: Verdict, graph: &ArcSwap<Snapshot>) -> Result<Cost> {
    let decided = gate.decide(asked.attributes(&graph.load()));
    ensure!(decided.verdict == verdict, "{:?}: {decided:?}", asked.head.info());
    Ok(measure(|times| {
        for _ in 0..times {
            black_box(gate.decide(black_box(asked.attributes(&graph.load()))));
        }
    }))
}

/// Many questions in turn, all to be allowed. Each is written over the one before, so that it is at hand as it is when a
/// request has just been read, and only what the graph has of it is not.
pub(super) fn elsewhere(
    gate: &Authorizer,
    asked: Asked,
    all: &[(String, String, String)],
    graph: &ArcSwap<Snapshot>,
) -> Result<Cost> {
    let Asked { mut caller, head } = asked;
    let mut info = head.info().as_ref().clone();
    let mut ask = |end: &str, namespace: &str, name: &str| {
        let asking = match &mut caller.kind {
            Kind::Node(node) => Some(node),
            Kind::Seed(seed) => Some(&mut seed.name),
            _ => None,
        };
        if let (Some(asking), Target::Resource(request)) = (asking, &mut info.target) {
            end.clone_into(asking);
            namespace.clone_into(&mut request.namespace);
            name.clone_into(&mut request.name);
        }
        gate.decide(black_box(Attributes {
            caller: &caller,
            info: &info,
            impersonates: false,
            quarantine: Quarantine::nobody(),
            graph: &graph.load(),
        }))
    };
    for (node, namespace, name) in all {
        let decided = ask(node, namespace, name);
        ensure!(
            decided.verdict == Verdict::Allow,
            "{node} {namespace} {name}: {decided:?}"
        );
    }
    let mut turn = all.iter().cycle();
    Ok(measure(|times| {
        for (node, namespace, name) in turn.by_ref().take(times) {
            black_box(ask(node, namespace, name));
        }
    }))
}

/// Finding and writing down how the graph leads from what is asked for to whoever asks.
pub(super) fn path(gate: &Authorizer, asked: &Asked, graph: &ArcSwap<Snapshot>) -> Cost {
    let graph = graph.load();
    let decided = gate.decide(asked.attributes(&graph));
    measure(|times| {
        for _ in 0..times {
            black_box(gate.traced(decided.clone(), &asked.caller, asked.head.info(), &graph));
        }
    })
}
