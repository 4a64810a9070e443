//! What is counted of what callers may have.

use std::{sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};

/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    shed: Family<Labels, Counter>,
    late: Gauge<f64, AtomicU64>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Labels {
    reason: &'static str,
}

/// Why a caller was told to come again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reason {
    /// It has as many requests under way as it may have.
    Requests,
    /// The same for watches, logs and sessions.
    Streams,
    /// The gate cannot keep up, and the caller has had its share.
    Strain,
}

impl Reason {
    fn label(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Streams => "streams",
            Self::Strain => "strain",
        }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "requests_shed",
            "Requests that were answered 429 before anything was decided, because the caller had its share: of requests or streams \
             under way, or of a gate that cannot keep up (strain)",
            self.shed.clone(),
        );
        registry.register_with_unit(
            "task_delay",
            "How long whoever is ready to go on waits for a thread of the gate; over some tens of milliseconds it cannot keep up",
            Unit::Seconds,
            self.late.clone(),
        );
    }

    pub(super) fn sheds(&self, reason: Reason) {
        let reason = reason.label();
        self.shed.get_or_create(&Labels { reason }).inc();
    }

    /// How many were turned away because of strain.
    pub(super) fn strained(&self) -> u64 {
        let reason = Reason::Strain.label();
        self.shed.get_or_create(&Labels { reason }).get()
    }

    pub(super) fn late(&self, late: Duration) {
        self.late.set(late.as_secs_f64());
    }
}
