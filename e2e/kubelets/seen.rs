//! What the gates and kube-apiserver have written about the requests of kubelets, and the kubelets about the answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{faults::Outage, node::Node};

/// The audit events of some logs, in order of each.
pub(super) struct Seen(Vec<Value>);

/// What was answered with 403. Without the gate it would have been, too, except for what nobody could expect.
#[derive(Default)]
pub(super) struct Forbidden<'a> {
    /// A kubelet looks once more at a pod that it has itself deleted. There is no relationship to a pod that is gone, in
    /// kube-apiserver's own graph as in the gate's. These are the messages.
    pub(super) gone: BTreeSet<&'a str>,
    /// kube-apiserver serves before it has read who may do what: it refuses everybody while it is not ready.
    pub(super) starting: usize,
    pub(super) unexpected: Vec<String>,
}

/// Kubelets may tell later what they were told.
const LATER: SignedDuration = SignedDuration::from_secs(10);

impl Seen {
    pub(super) fn read(logs: &[PathBuf]) -> Self {
        let events = logs.iter().flat_map(|log| {
            let text = fs::read_to_string(log).unwrap_or_default();
            // The last line may not be whole: a gate was killed.
            let events = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            events.collect::<Vec<_>>()
        });
        Self(events.collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All but so many.
    pub(super) fn after(&self, first: usize) -> Self {
        Self(self.0[first..].to_vec())
    }

    /// How many requests there were of each verb and resource.
    pub(super) fn requests(&self) -> BTreeMap<String, u64> {
        count(self.0.iter().map(|event| {
            let verb = event["verb"].as_str().unwrap_or_default();
            let text = |key: &str| event["objectRef"][key].as_str().unwrap_or_default();
            match (text("resource"), text("subresource")) {
                ("", _) => format!("{verb} paths"),
                (resource, "") => format!("{verb} {resource}"),
                (resource, subresource) => format!("{verb} {resource}/{subresource}"),
            }
        }))
    }

    /// How many answers of each code of 400 and above.
    pub(super) fn refusals(&self) -> BTreeMap<String, u64> {
        let codes = self.0.iter().map(code).filter(|code| *code >= 400);
        count(codes.map(|code| code.to_string()))
    }

    /// Those answered so, as a line each. A kubelet with a new certificate closes its connections, also in the middle of a request;
    /// then there is nobody left to be answered.
    pub(super) fn answered(&self, with: u64) -> Vec<String> {
        let there = |event: &&Value| event["annotations"]["scopegate.dev/end"] != "client-gone";
        let events = self.0.iter().filter(|event| code(event) == with);
        events.filter(there).map(line).collect()
    }

    pub(super) fn forbidden(&self, outage: Option<Outage>) -> Forbidden<'_> {
        let deleted = |by: &Value, pod: &Value, before: &Value| {
            self.0.iter().any(|event| {
                event["verb"] == "delete"
                    && (&event["user"]["username"], &event["objectRef"]) == (by, pod)
                    && code(event) == 200
                    && event["requestReceivedTimestamp"].as_str() < before.as_str()
            })
        };
        let mut forbidden = Forbidden::default();
        for event in self.0.iter().filter(|event| code(event) == 403) {
            let by_gate = event["annotations"]["authorization.k8s.io/decision"] != "allow";
            let is_get = event["verb"] == "get" && event["objectRef"]["resource"] == "pods";
            if is_get
                && deleted(
                    &event["user"]["username"],
                    &event["objectRef"],
                    &event["stageTimestamp"],
                )
            {
                forbidden.gone.extend(event["responseStatus"]["message"].as_str());
            } else if !by_gate && outage.is_some_and(|outage| outage.contains(received(event))) {
                forbidden.starting += 1;
            } else {
                forbidden.unexpected.push(line(event));
            }
        }
        forbidden
    }

    /// What kube-apiserver has refused to anybody at all, the gate included, though it was ready.
    pub(super) fn refused_upstream(&self, outage: Option<Outage>) -> Vec<String> {
        let refused = self.0.iter().filter(|event| code(event) == 403);
        let ready = refused.filter(|event| !outage.is_some_and(|outage| outage.contains(received(event))));
        ready.map(line).collect()
    }

    /// Whether somebody was served who showed this certificate.
    pub(super) fn served(&self, credential: &str) -> bool {
        self.0.iter().any(|event| {
            let extra = &event["user"]["extra"]["authentication.kubernetes.io/credential-id"];
            extra[0] == credential && code(event) < 300
        })
    }
}

/// Lines in which kubelets complain that they may not, where that was not to be expected, or that nobody knows them. Those that
/// join are nobody at first.
pub(super) fn complaints(nodes: &[Node], forbidden: &Forbidden<'_>, outage: Option<Outage>) -> Vec<String> {
    let stamp = |time: Timestamp| time.strftime("%m%d %H:%M:%S%.6f").to_string();
    let outage = outage.map(|outage| stamp(outage.from)..=stamp(outage.until + LATER));
    let expected = |line: &str| {
        let plain = line.replace('\\', "");
        let gone = forbidden.gone.iter().any(|message| plain.contains(message));
        // Behind the letter of the level.
        let time = line.get(1..21).unwrap_or_default().to_owned();
        gone || outage.as_ref().is_some_and(|outage| outage.contains(&time))
    };
    let mut complaints = Vec::new();
    for node in nodes {
        for line in node.log().lines() {
            let lower = line.to_ascii_lowercase();
            if (lower.contains("forbidden") && !expected(line)) || (lower.contains("unauthorized") && !node.joins) {
                complaints.push(format!("{}: {line}", node.name));
            }
        }
    }
    complaints
}

fn line(event: &Value) -> String {
    format!(
        "{} {} {} {} at {}: {} {}",
        code(event),
        event["user"]["username"],
        event["verb"],
        event["requestURI"],
        event["requestReceivedTimestamp"],
        event["responseStatus"]["message"],
        event["annotations"],
    )
}

fn received(event: &Value) -> Timestamp {
    event["requestReceivedTimestamp"].as_str().unwrap().parse().unwrap()
}

fn code(event: &Value) -> u64 {
    event["responseStatus"]["code"].as_u64().unwrap_or_default()
}

fn count(of: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for one in of {
        *counts.entry(one).or_default() += 1;
    }
    counts
}
