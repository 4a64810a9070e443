//! What it costs to read the head of a request and to judge it. `make bench` runs it.

use divan::{Bencher, black_box};
use http::Request;
use scopegate::{
    authorizer::{Attributes, Authorizer, ExtraRules, Fallback},
    caller::{Caller, User},
    config::{Features, KubernetesVersion},
    graph::Snapshot,
    quarantine::Quarantine,
    request::Head,
};

const TARGETS: &[&str] = &[
    "/version",
    "/apis/certificates.k8s.io/v1",
    "/api/v1/namespaces/default/secrets/web-tls",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a&watch=true&resourceVersion=0",
];

fn main() {
    divan::main();
}

/// Path, query and selectors into a `RequestInfo`.
#[divan::bench(args = TARGETS)]
fn read(bencher: Bencher<'_, '_>, target: &str) {
    bencher.with_inputs(|| parts(target)).bench_values(Head::read);
}

/// The decision alone.
#[divan::bench(args = TARGETS)]
fn decide(bencher: Bencher<'_, '_>, target: &str) {
    let gate = Authorizer {
        nodes: Fallback::Deny,
        seeds: None,
        node_rules: Features::of(KubernetesVersion::NEWEST).node_rules,
        modes: scopegate::rules::Modes::DEFAULT,
        bootstrap: Fallback::Upstream,
        others: Fallback::Deny,
        extra: ExtraRules::NONE,
        masters: Vec::new(),
        caller_known_upstream: true,
    };
    let caller = Caller::from(User {
        name: "system:node:node-a".to_owned(),
        groups: vec!["system:nodes".to_owned(), "system:authenticated".to_owned()],
        ..User::default()
    });
    let graph = Snapshot::default();
    let Ok(head) = Head::read(parts(target)) else { return };
    bencher.bench(|| {
        gate.decide(black_box(Attributes {
            caller: &caller,
            info: head.info(),
            impersonates: head.wish().is_some(),
            quarantine: Quarantine::nobody(),
            graph: &graph,
        }))
    });
}

fn parts(target: &str) -> http::request::Parts {
    let request = Request::get(target).header("user-agent", "kubelet/v1.36.0").body(());
    request.unwrap_or_default().into_parts().0
}
