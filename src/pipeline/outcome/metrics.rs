//! What requests count.

use std::time::Duration;

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

use crate::{
    request::RequestInfo,
    rules::{Mode, Rule},
};

/// Request counters. Cheap to clone. No label takes a value that a client can invent.
#[derive(Clone, Debug)]
pub struct Metrics {
    requests: Family<Labels, Counter>,
    duration: Family<VerbLabel, Histogram>,
    in_flight: Gauge,
    rules: Family<RuleLabels, Counter>,
}

/// A request under way; it is counted out when this is dropped.
#[derive(Debug)]
pub(super) struct InFlight(Metrics);

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Labels {
    verb: &'static str,
    resource: &'static str,
    subresource: &'static str,
    code: u16,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct VerbLabel {
    verb: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct RuleLabels {
    rule: &'static str,
    mode: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            // From a tenth of a millisecond to beyond the minute after which kube-apiserver gives up.
            duration: Family::new_with_constructor(|| Histogram::new(exponential_buckets(1e-4, 2.5, 16))),
            in_flight: Gauge::default(),
            rules: Family::default(),
        }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "requests",
            "Requests answered or given up, by what was asked and the status code (499: the client went away)",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "request_duration",
            "From the head of a request to the end of its answer; watches, logs and sessions are left out",
            Unit::Seconds,
            self.duration.clone(),
        );
        registry.register(
            "rule_violations",
            "Requests that a rule was against, by its mode: refused if Enforce, else forwarded",
            self.rules.clone(),
        );
        registry.register("requests_in_flight", "Requests under way", self.in_flight.clone());
    }

    pub(super) fn begin(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.clone())
    }
}

impl InFlight {
    pub(super) fn finish(&self, info: Option<&RequestInfo>, code: u16, took: Duration) {
        let verb = info.map_or("", |info| info.verb.label());
        let (resource, subresource) = info.map_or(("", ""), RequestInfo::labels);
        let labels = Labels {
            verb,
            resource,
            subresource,
            code,
        };
        self.0.requests.get_or_create(&labels).inc();
        if info.is_none_or(|info| !info.is_long_running()) {
            self.0
                .duration
                .get_or_create(&VerbLabel { verb })
                .observe(took.as_secs_f64());
        }
    }
}

impl InFlight {
    /// A rule was against it.
    pub(super) fn rule(&self, rule: Rule, mode: Mode) {
        let labels = RuleLabels {
            rule: rule.id(),
            mode: mode.as_str(),
        };
        self.0.rules.get_or_create(&labels).inc();
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.dec();
    }
}
