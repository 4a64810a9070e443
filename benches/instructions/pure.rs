//! What needs no socket: decisions, reading a head, judging a body.

use std::hint::black_box;

use anyhow::{Context as _, Result, ensure};
use http::{HeaderValue, Request, header};
use scopegate::{decision::Verdict, graph::Store, request::Head};

use super::{
    bodies,
    cluster::{Cluster, Shape},
    mark,
    rows::{self, Asked},
    stored::Counted,
    valgrind::Valgrind,
    writes::Gate,
};

/// How this program calls itself for it.
pub(super) const WORD: &str = "--count-pure";

/// Questions of the graph's benchmark, which has more. Where a name stands in the graph follows from its hash, whose seed is
/// another in every process: so they are about another pod each time, `#`, of another node, `@`. What is to be refused is asked by
/// the next one.
const DECISIONS: &[(&str, &str)] = &[
    (
        "allowed secret via pod",
        "GET /api/v1/namespaces/ns#/secrets/secret0-pod#-node@",
    ),
    (
        "foreign secret refused",
        "GET /api/v1/namespaces/ns#/secrets/secret0-pod#-node@",
    ),
    (
        "lease update",
        "PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node@",
    ),
    (
        "pods list with selector",
        "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dnode@",
    ),
];
/// Which of the bodies.
const BODIES: &[&str] = &["node status, every five minutes", "pod status, one container"];

/// As often as something is done in one count: once for each pod of a node.
const TIMES: usize = 200;
/// Fewer than the graph's benchmark has, which would take a minute; how large the scope of a node is does not depend on the
/// others.
const NODES: usize = 20;

/// The same program gives the same figures, but for the seeds of maps: in nine runs they were up to one and a half percent apart,
/// and of a node's status three and a half.
const TOLERANCE: f64 = 3.0;

pub(super) fn count(valgrind: &Valgrind) -> Result<Vec<Counted>> {
    let mut counting = valgrind.start(&[WORD])?;
    let mut all = Vec::new();
    while let Some(name) = counting.line()? {
        counting.marked()?;
        let instructions = counting.marked()? / TIMES as u64;
        counting.name(&name)?;
        all.push(Counted {
            name,
            instructions,
            tolerance: TOLERANCE,
        });
    }
    ensure!(
        all.len() == DECISIONS.len() + BODIES.len() + 1,
        "only {} were counted",
        all.len()
    );
    Ok(all)
}

/// Under callgrind. Names are printed when something has been counted.
pub(super) fn run() -> Result<()> {
    let mut store = Store::default();
    Cluster::new(Shape::new(NODES, TIMES))?.apply(&mut store);
    let (authorizer, graph) = (rows::gate(), store.publish());
    for (name, question) in DECISIONS {
        let refused = name.ends_with("refused");
        let asked = (0..TIMES).map(|pod| {
            let (node, asker) = (pod % NODES, (pod + usize::from(refused)) % NODES);
            let question = question.replace('#', &pod.to_string()).replace('@', &node.to_string());
            Asked::new(&format!("node{asker}"), &question)
        });
        let asked = asked.collect::<Result<Vec<_>>>()?;
        for asked in &asked {
            let decided = authorizer.decide(asked.attributes(&graph));
            ensure!((decided.verdict == Verdict::Deny) == refused, "{name}: {decided:?}");
        }
        each(&format!("decision: {name}"), |time| {
            black_box(authorizer.decide(black_box(asked[time].attributes(&graph))));
        });
    }

    let mut request = Request::get("/api/v1/namespaces/ns0/secrets/secret0-pod0-node0").body(())?;
    for (name, value) in super::peers::HEADERS {
        request.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    request
        .headers_mut()
        .insert(header::HOST, HeaderValue::from_static("gate.example.com:8443"));
    let (parts, ()) = request.into_parts();
    // Together with the copy that is read.
    each("head: get of a secret", |_| drop(black_box(Head::read(parts.clone()))));

    let gate = Gate::new();
    let bodies = bodies::ordinary();
    for about in BODIES {
        let body = bodies.iter().find(|body| body.about == *about).context(*about)?;
        let written = gate.request(body);
        ensure!(gate.admits(&written, None), "{about} is refused");
        each(&format!("judging: {about}"), |_| {
            black_box(gate.admits(&written, None));
        });
    }
    Ok(())
}

/// Once before, so that nothing is done for the first time.
fn each(name: &str, mut work: impl FnMut(usize)) {
    (0..TIMES).for_each(&mut work);
    mark();
    (0..TIMES).for_each(&mut work);
    mark();
    println!("{name}");
}
