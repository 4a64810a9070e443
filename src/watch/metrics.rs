//! What the informers and the writer count.

use std::{sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

use super::kinds::Collection;
use crate::graph::{Kind, Sizes};

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics {
    synced: Family<InformerLabel, Gauge>,
    silence: Family<InformerLabel, Gauge>,
    objects: Family<KindLabel, Gauge>,
    vertices: Gauge,
    edges: Gauge,
    nodes: Gauge,
    events: Family<EventLabels, Counter>,
    relists: Family<InformerLabel, Counter>,
    errors: Family<InformerLabel, Counter>,
    stale: Counter<f64, AtomicU64>,
    lag: Histogram,
    batches: Histogram,
    actions: Family<OperationLabel, Histogram>,
    seed_updates: Family<UpdateLabels, Histogram>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct InformerLabel {
    informer: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct EventLabels {
    informer: &'static str,
    r#type: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct UpdateLabels {
    kind: &'static str,
    operation: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            synced: Family::default(),
            silence: Family::default(),
            objects: Family::default(),
            vertices: Gauge::default(),
            edges: Gauge::default(),
            nodes: Gauge::default(),
            events: Family::default(),
            relists: Family::default(),
            errors: Family::default(),
            stale: Counter::default(),
            // From ten microseconds to the seconds of a first list.
            lag: Histogram::new(exponential_buckets(1e-5, 4.0, 11)),
            batches: Histogram::new(exponential_buckets(1.0, 4.0, 6)),
            // As kube-apiserver has them, from 0.1 ms on.
            actions: Family::new_with_constructor(|| Histogram::new(exponential_buckets(1e-4, 2.0, 12))),
            // As gardener-admission-controller has them.
            seed_updates: Family::new_with_constructor(|| Histogram::new(exponential_buckets(1e-4, 2.0, 12))),
        }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "informer_synced",
            "Whether an informer has listed all there is",
            self.synced.clone(),
        );
        registry.register_with_unit(
            "informer_silence",
            "Since upstream has last said something to an informer",
            Unit::Seconds,
            self.silence.clone(),
        );
        registry.register(
            "graph_objects",
            "Objects that are watched, by kind",
            self.objects.clone(),
        );
        registry.register(
            "graph_vertices",
            "Objects in the graph, those included that are only referred to",
            self.vertices.clone(),
        );
        registry.register("graph_edges", "Edges in the graph", self.edges.clone());
        registry.register("graph_nodes", "Nodes that something leads to", self.nodes.clone());
        registry.register(
            "informer_events",
            "Objects that informers have received, by what happened to them",
            self.events.clone(),
        );
        registry.register(
            "informer_lists",
            "How often an informer has listed all there is",
            self.relists.clone(),
        );
        registry.register(
            "informer_errors",
            "How often a list or watch of an informer failed",
            self.errors.clone(),
        );
        registry.register_with_unit(
            "graph_stale",
            "How long upstream was silent for longer than graph.staleAfter, all in all",
            Unit::Seconds,
            self.stale.clone(),
        );
        registry.register_with_unit(
            "graph_publish_lag",
            "From the arrival of a change to when decisions see it",
            Unit::Seconds,
            self.lag.clone(),
        );
        registry.register(
            "graph_publish_changes",
            "Changes that became visible together",
            self.batches.clone(),
        );
    }

    /// Those that dashboards know from kube-apiserver, for a registry that puts nothing in front of their names.
    pub fn register_upstream(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "node_authorizer_graph_actions_duration",
            "How long changes of the graph of the node authorizer take",
            Unit::Seconds,
            self.actions.clone(),
        );
    }

    /// Those that dashboards know from gardener-admission-controller, for such a registry too.
    pub fn register_garden(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "gardener_admission_controller_seed_authorizer_graph_update_duration",
            "How long changes of the graph of the seed authorizer take",
            Unit::Seconds,
            self.seed_updates.clone(),
        );
    }

    /// How many milliseconds ago an informer was heard from, if it has listed.
    pub(super) fn heard(&self, collection: &'static Collection, ago: Option<u64>) {
        let label = InformerLabel::of(collection);
        self.synced.get_or_create(&label).set(i64::from(ago.is_some()));
        if let Some(ago) = ago {
            let seconds = i64::try_from(ago / 1000).unwrap_or(i64::MAX);
            self.silence.get_or_create(&label).set(seconds);
        }
    }

    pub(super) fn stale(&self, time: Duration) {
        self.stale.inc_by(time.as_secs_f64());
    }

    pub(super) fn objects(&self, kind: Kind, count: usize) {
        let kind = kind.as_str();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.objects.get_or_create(&KindLabel { kind }).set(count);
    }

    pub(super) fn sizes(&self, sizes: Sizes) {
        let set = |gauge: &Gauge, size: usize| gauge.set(i64::try_from(size).unwrap_or(i64::MAX));
        set(&self.vertices, sizes.vertices);
        set(&self.edges, sizes.edges);
        set(&self.nodes, sizes.nodes);
    }

    pub(super) fn event(&self, collection: &'static Collection, r#type: &'static str) {
        let informer = collection.resource;
        self.events.get_or_create(&EventLabels { informer, r#type }).inc();
    }

    pub(super) fn listed(&self, collection: &'static Collection) {
        self.relists.get_or_create(&InformerLabel::of(collection)).inc();
    }

    pub(super) fn failed(&self, collection: &'static Collection) {
        self.errors.get_or_create(&InformerLabel::of(collection)).inc();
    }

    pub(super) fn published(&self, lags: impl ExactSizeIterator<Item = Duration>) {
        self.batches.observe(lags.len() as f64);
        lags.for_each(|lag| self.lag.observe(lag.as_secs_f64()));
    }

    pub(super) fn added(&self, kind: Kind, took: Duration) {
        self.acted(operations(kind).map(|(add, _)| add), took);
    }

    pub(super) fn deleted(&self, kind: Kind, took: Duration) {
        self.acted(operations(kind).map(|(_, delete)| delete), took);
    }

    /// Of an object in the graph of seeds. Requests never change, so they are only created.
    pub(super) fn seed_updated(&self, kind: Kind, took: Duration) {
        let operation = match kind {
            Kind::CertificateSigningRequest => "Create",
            _ => "CreateOrUpdate",
        };
        self.seed_acted(kind, operation, took);
    }

    pub(super) fn seed_deleted(&self, kind: Kind, took: Duration) {
        self.seed_acted(kind, "Delete", took);
    }

    fn seed_acted(&self, kind: Kind, operation: &'static str, took: Duration) {
        let kind = kind.title();
        let labels = UpdateLabels { kind, operation };
        self.seed_updates.get_or_create(&labels).observe(took.as_secs_f64());
    }

    fn acted(&self, operation: Option<&'static str>, took: Duration) {
        if let Some(operation) = operation {
            let label = OperationLabel { operation };
            self.actions.get_or_create(&label).observe(took.as_secs_f64());
        }
    }
}

impl InformerLabel {
    fn of(collection: &'static Collection) -> Self {
        let informer = collection.resource;
        Self { informer }
    }
}

/// What kube-apiserver calls adding and deleting one; nothing for kinds that are not in its graph.
fn operations(kind: Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::PersistentVolume => Some(("AddPV", "DeletePV")),
        Kind::Pod => Some(("AddPod", "DeletePod")),
        Kind::PodCertificateRequest => Some(("AddPodCertificateRequest", "DeletePodCertificateRequest")),
        Kind::ResourceSlice => Some(("AddResourceSlice", "DeleteResourceSlice")),
        Kind::VolumeAttachment => Some(("AddVolumeAttachment", "DeleteVolumeAttachment")),
        _ => None,
    }
}
