//! Requests with several oddities at a time.

use super::{
    bodies::{self, LEASE, NODE},
    case::{Case, Request},
    framing, headers,
};
use crate::{random::Random, readings::words::ODD};

const READS: &[&str] = &[
    "/version",
    "/apis",
    "/api/v1",
    NODE,
    LEASE,
    "/api/v1/nodes?fieldSelector=metadata.name%3Dby1",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dby1",
    "/api/v1/pods?limit=5&fieldSelector=spec.nodeName%3Dby1&resourceVersion=0",
    "/api/v1/namespaces/bytes/pods/p1",
    "/api/v1/namespaces/bytes/secrets/p1",
    "/api/v1/namespaces/bytes/secrets?fieldSelector=metadata.name%3Dp1&watch=true",
    "/api/v1/namespaces/bytes/secrets/p2",
    "/api/v1/watch/namespaces/bytes/secrets/p1",
    "/api/v1/services?watch=1&labelSelector=a%20in%20(b)",
    "/apis/node.k8s.io/v1/runtimeclasses/none",
    "/apis/storage.k8s.io/v1/csidrivers",
];
const METHODS: &[&str] = &["GET", "HEAD", "get", "OPTIONS", "POST", "PATCH", "PROPFIND"];

pub(super) fn case(random: &mut Random) -> Case {
    if random.one_in(10) {
        let mut case = framing::framed(framing::framing(random));
        case.class = "generated";
        return case;
    }
    let mut request = if random.one_in(3) {
        bodies::written(random)
    } else {
        Request::new("GET", random.pick(READS))
    };
    // What is odd already had better be written to the right place.
    let reads = request.body.is_empty();
    if reads && random.one_in(8) {
        request.method = random.pick(METHODS).as_bytes().to_vec();
    }
    if random.one_in(if reads { 2 } else { 6 }) {
        for _ in 0..=random.below(2) {
            stir(random, &mut request.target);
        }
    }
    for _ in 0..random.below(3) {
        let line = headers::line(random);
        // A line that brings a body along would be inside another one.
        if !line.contains("\r\n\r\n") {
            request.lines.push(line.as_bytes().to_vec());
        }
    }
    request.case("generated")
}

/// Puts something odd into a target, or takes a piece of it away.
fn stir(random: &mut Random, target: &mut Vec<u8>) {
    let at = random.below(target.len() + 1);
    let to = (at + random.pick(&[0, 0, 0, 1, 2])).min(target.len());
    let odd = match random.below(6) {
        0 => target[to..].iter().copied().take(random.below(12)).collect(),
        1 => Vec::new(),
        _ => random.pick(ODD).as_bytes().to_vec(),
    };
    target.splice(at..to, odd);
}
