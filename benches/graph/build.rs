//! What it costs to get the graph together, and to have it.

use anyhow::Result;
use scopegate::{
    graph::{Asserts, Node, PersistentVolumeClaim, Pod, ServiceAccount, Store},
    json::Json,
    patch::{POD, Patch, Type},
};
use serde::de::DeserializeOwned;

use crate::{
    cluster::{Cluster, Shape},
    measure::{Live, Time, live, on_cpu, timed},
    updates::Graph,
};

/// A graph, from objects at hand to what readers see.
pub(super) struct Build {
    pub(super) seconds: f64,
    /// Those of them for which it had a CPU.
    pub(super) on_cpu: f64,
    /// By the graph, which shares nothing with the objects.
    pub(super) retained: Live,
    pub(super) graph: Graph,
}

/// Reading pods.
pub(super) struct Reading {
    bytes_per_pod: usize,
    seconds_per_100_000: f64,
}

const ROUNDS: usize = 5;
/// Pods that are read at a time.
const READ: usize = 10_000;

/// What a pod in a cluster has in addition, and the graph has no use for.
const REST: &str = include_str!("rest.json");

impl Build {
    pub(super) fn new(shape: Shape) -> Result<Self> {
        let cluster = Cluster::new(shape)?;
        Ok(Self::fastest(|| {
            let mut store = Store::default();
            cluster.apply(&mut store);
            store
        }))
    }

    /// The fastest of a few.
    pub(super) fn fastest(fill: impl Fn() -> Store) -> Self {
        let mut build = Self::once(&fill);
        for _ in 1..ROUNDS {
            let (seconds, on_cpu) = (build.seconds, build.on_cpu);
            drop(build);
            build = Self::once(&fill);
            build.seconds = build.seconds.min(seconds);
            build.on_cpu = build.on_cpu.min(on_cpu);
        }
        build
    }

    fn once(fill: impl Fn() -> Store) -> Self {
        let (before, had) = (live(), on_cpu());
        let (graph, seconds) = timed(|| Graph::new(fill()));
        Self {
            seconds,
            on_cpu: on_cpu() - had,
            retained: live().since(before),
            graph,
        }
    }

    /// What nodes, claims and service accounts add, which the gate watches and upstream's graph has nothing of.
    pub(super) fn learn(&mut self, shape: Shape) -> Result<(f64, Live)> {
        let mut objects: Vec<Box<dyn Asserts>> = Vec::new();
        for node in 0..shape.nodes {
            objects.push(known::<Node>(&format!("node{node}"), "", "")?);
            for pod in 0..shape.pods_per_node {
                let namespace = shape.namespace(pod);
                let volume = format!(r#""volumeName":"pv0-pod{pod}-node{node}-{namespace}""#);
                let claim = format!("pvc0-pod{pod}-node{node}");
                objects.push(known::<PersistentVolumeClaim>(&claim, &namespace, &volume)?);
                objects.push(known::<ServiceAccount>(
                    &format!("svcacct{pod}-node{node}"),
                    &namespace,
                    "",
                )?);
            }
        }
        let before = live();
        let ((), seconds) = timed(|| {
            objects
                .iter()
                .for_each(|object| self.graph.store.apply(object.as_ref()));
            self.graph.publish();
        });
        Ok((seconds, live().since(before)))
    }
}

impl Reading {
    pub(super) fn print(&self) {
        let time = Time(self.seconds_per_100_000);
        let megabytes = self.bytes_per_pod as f64 * 0.1 / self.seconds_per_100_000;
        println!(
            "Reading 100,000 pods of {} bytes of JSON: {time} ({megabytes:.0} MB/s).",
            self.bytes_per_pod
        );
    }
}

/// Pods as they come from upstream, bare or with everything that pods have.
pub(super) fn read(shape: Shape, whole: bool) -> Result<Reading> {
    let rest = Patch::read(Type::Merge, REST.as_bytes())?;
    let texts = (0..READ).map(|i| {
        let bare = shape.pod(i / shape.pods_per_node, i % shape.pods_per_node);
        if !whole {
            return Ok(bare);
        }
        let whole = rest.clone().apply(&POD, Json::parse(bare.as_bytes())?)?;
        Ok(String::from_utf8(whole.to_vec())?)
    });
    let texts = texts.collect::<Result<Vec<String>>>()?;
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (pods, seconds) = timed(|| {
            let pods = texts.iter().map(|text| serde_json::from_str(text));
            pods.collect::<Result<Vec<Pod>, _>>()
        });
        pods?;
        fastest = fastest.min(seconds);
    }
    Ok(Reading {
        bytes_per_pod: texts.iter().map(String::len).sum::<usize>() / READ,
        seconds_per_100_000: fastest * 100_000.0 / READ as f64,
    })
}

fn known<T: Asserts + DeserializeOwned + 'static>(name: &str, namespace: &str, spec: &str) -> Result<Box<dyn Asserts>> {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}",
        "uid":"4c3b2a19-0000-4000-8000-123456789abc"}},"spec":{{{spec}}}}}"#
    );
    Ok(Box::new(serde_json::from_str::<T>(&text)?))
}
