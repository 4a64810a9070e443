//! What nodes are related to: how old it may be, and what happens when it is too old.

use std::time::Duration;

use crate::{
    config::{Features, Graph, section::Section},
    pipeline::live,
    rules::{Mode, Modes, Rule},
    watch,
};

/// Twice as long as upstream is ever silent on a watch.
const DEFAULT_STALE_AFTER: Duration = Duration::from_secs(120);
const DEFAULT_LAG_WAIT: Duration = Duration::from_millis(250);
const DEFAULT_REVOKE_WITHIN: Duration = Duration::from_secs(1);
const DEFAULT_BURST: u64 = 20;
const DEFAULT_PER_SECOND: u64 = 2;
/// What a busy API server may take to send what it has, and what nobody would call fresh any more.
const STALE_AFTER: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3600));
/// A client would have given up by then.
const LAG_WAIT: (Duration, Duration) = (Duration::ZERO, Duration::from_secs(10));
const REVOKE_WITHIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

pub(super) fn graph(mut section: Section<'_>, features: Features, modes: Modes) -> Graph {
    let mut duration = |key, default: Duration, (least, most): (Duration, Duration)| {
        let duration = section.duration(key).unwrap_or(default);
        if !(least..=most).contains(&duration) {
            let hint = format!("{default:?} is the default");
            section.problem(key, format!("must be between {least:?} and {most:?}"), hint);
        }
        duration
    };
    let stale_after = duration("staleAfter", DEFAULT_STALE_AFTER, STALE_AFTER);
    let lag_wait = duration("lagWait", DEFAULT_LAG_WAIT, LAG_WAIT);
    let revoke_within = duration("revokeWithin", DEFAULT_REVOKE_WITHIN, REVOKE_WITHIN);
    let fail_static = section.boolean("failStatic").unwrap_or(false);
    let mut reads = section.section("liveReads");
    let mut number = |key, default: u64| {
        let number = reads.number(key).unwrap_or(default);
        let number = u32::try_from(number).ok().filter(|number| *number > 0);
        if number.is_none() {
            let hint = format!("{default} is the default");
            reads.problem(key, format!("must be between 1 and {}", u32::MAX), hint);
        }
        number.unwrap_or(1)
    };
    let live = live::Limits {
        burst: number("burst", DEFAULT_BURST),
        per_second: number("perSecond", DEFAULT_PER_SECOND),
    };
    reads.finish();
    section.finish();
    Graph {
        watch: watch::Config {
            seeds: None,
            stale_after,
            fail_static,
            pod_certificate_requests: features.node_rules.pod_certificates,
            certificate_requests: match modes.of(Rule::NodeCertificateSigningRequests) {
                Mode::Enforce => watch::Need::Enforced,
                Mode::Warn | Mode::Audit => watch::Need::Recorded,
                Mode::Off => watch::Need::None,
            },
        },
        lag_wait,
        live,
        revoke_within,
    }
}
