//! What is counted while requests are authorized.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};

use crate::graph::Kind;

/// What became of refusals that lag could explain.
#[derive(Clone, Debug)]
pub struct Metrics {
    path_check: Histogram,
    seed_path_check: Family<Ends, Histogram>,
    settled: Family<Settled, Counter>,
}

/// In the words of Gardener.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
#[expect(non_snake_case, reason = "the labels are Gardener's")]
struct Ends {
    fromKind: &'static str,
    toKind: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Settled {
    by: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            path_check: Histogram::new(exponential_buckets(1e-7, 2.0, 14)),
            // As Gardener has them.
            seed_path_check: Family::new_with_constructor(|| Histogram::new(exponential_buckets(1e-4, 2.0, 12))),
            settled: Family::default(),
        }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "node_authorizer_path_check_duration",
            "How long decisions that look for a path in the graph take",
            Unit::Seconds,
            self.path_check.clone(),
        );
        registry.register(
            "graph_misses",
            "Requests for which the graph had no path at first, by what settled them: publish and live have rescued the \
             request, refused is a 403, limited and upstream mean that nobody knows and the client shall come again",
            self.settled.clone(),
        );
    }

    /// Those that dashboards know from Gardener, for a registry that puts nothing in front of their names.
    pub fn register_upstream(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "gardener_admission_controller_seed_authorizer_graph_path_check_duration",
            "How long decisions that look for a path in the graph of seeds take",
            Unit::Seconds,
            self.seed_path_check.clone(),
        );
    }

    /// How long a decision about a node took, or about a seed that wants an object of some kind.
    pub(super) fn checked(&self, by_seed: Option<Kind>, took: Duration) {
        let took = took.as_secs_f64();
        match by_seed {
            Some(kind) => {
                let ends = Ends {
                    fromKind: kind.title(),
                    toKind: Kind::Seed.title(),
                };
                self.seed_path_check.get_or_create(&ends).observe(took);
            }
            None => self.path_check.observe(took),
        }
    }

    pub(super) fn settled(&self, by: &'static str) {
        self.settled.get_or_create(&Settled { by }).inc();
    }
}
