//! What goes wrong on the way to upstream.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

#[derive(Clone, Debug, Default)]
pub struct Metrics {
    errors: Family<Labels, Counter>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Labels {
    cause: &'static str,
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "upstream_errors",
            "Requests that got no usable answer from the API server, by cause",
            self.errors.clone(),
        );
    }

    pub(super) fn failed(&self, cause: &'static str) {
        self.errors.get_or_create(&Labels { cause }).inc();
    }
}
