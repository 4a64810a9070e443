//! What the listeners count.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// Counters of all listeners, told apart by label. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    open: Family<Listener, Gauge>,
    accepted: Family<Listener, Counter>,
    failed: Family<Failure, Counter>,
    reloads: Family<Reload, Counter>,
}

/// An open connection; dropping it ends the count.
#[derive(Debug)]
pub(super) struct Open {
    metrics: Metrics,
    listener: &'static str,
    gauge: Gauge,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Listener {
    listener: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Failure {
    listener: &'static str,
    cause: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Reload {
    what: &'static str,
    result: &'static str,
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("connections", "Connections open now", self.open.clone());
        registry.register(
            "connections_accepted",
            "Connections accepted since start",
            self.accepted.clone(),
        );
        registry.register(
            "connections_failed",
            "Connections that ended before or outside of HTTP, by cause",
            self.failed.clone(),
        );
        registry.register(
            "reloads",
            "Changed files taken up (ok) or refused (error)",
            self.reloads.clone(),
        );
    }

    pub(super) fn open(&self, listener: &'static str) -> Open {
        self.accepted.get_or_create(&Listener { listener }).inc();
        let gauge = self.open.get_or_create(&Listener { listener }).clone();
        gauge.inc();
        Open {
            metrics: self.clone(),
            listener,
            gauge,
        }
    }

    pub(super) fn reloaded(&self, what: &'static str, ok: bool) {
        let result = if ok { "ok" } else { "error" };
        self.reloads.get_or_create(&Reload { what, result }).inc();
    }
}

impl Open {
    pub(super) fn failed(&self, cause: &'static str) {
        let listener = self.listener;
        self.metrics.failed.get_or_create(&Failure { listener, cause }).inc();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}
