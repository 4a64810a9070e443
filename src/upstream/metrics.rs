//! What goes wrong on the way to upstream.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

#[derive(Clone, Debug, Default)]
pub struct Metrics {
    errors: Family<Labels, Counter>,
    healthy: Family<ServerLabel, Gauge>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Labels {
    cause: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct ServerLabel {
    server: String,
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "upstream_errors",
            "Requests that got no usable answer from the API server, by cause",
            self.errors.clone(),
        );
        registry.register(
            "upstream_healthy",
            "Whether an API server answered the last look at it",
            self.healthy.clone(),
        );
    }

    pub(super) fn healthy(&self, server: &str, healthy: bool) {
        let server = server.to_owned();
        self.healthy
            .get_or_create(&ServerLabel { server })
            .set(i64::from(healthy));
    }

    pub(super) fn failed(&self, cause: &'static str) {
        self.errors.get_or_create(&Labels { cause }).inc();
    }
}
