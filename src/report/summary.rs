//! What would have been refused, and what was.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    Event, Log,
    bounded::Bounded,
    event::Finding,
    tally::{Section, Tally, text},
    timeline::{Counts, Timeline},
};
use crate::api::printable;

/// Counts events as they come.
#[derive(Debug)]
pub struct Collector {
    /// Which rules are wanted; none: all.
    rules: Vec<String>,
    /// By name, and whether it is a node's.
    callers: Bounded<bool>,
    findings: Tally,
    refusals: Tally,
    timeline: Timeline,
}

/// What it comes to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub(super) events: u64,
    #[serde(serialize_with = "text")]
    pub(super) first: Timestamp,
    #[serde(serialize_with = "text")]
    pub(super) last: Timestamp,
    pub(super) nodes: usize,
    pub(super) other_callers: usize,
    /// Lines that could not be read as events.
    pub(super) not_events: u64,
    /// What would have been refused by rules that are not enforced.
    pub(super) findings: Section,
    /// What was refused.
    pub(super) refusals: Section,
    pub(super) step_seconds: i64,
    pub(super) over_time: Vec<Step>,
    pub(super) conclusion: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Step {
    #[serde(serialize_with = "text")]
    pub(super) from: Timestamp,
    pub(super) events: u64,
    pub(super) findings: u64,
    pub(super) refusals: u64,
}

/// More nodes than a cluster can have.
pub(super) const MAX_CALLERS: usize = 20_000;
/// Rules that the conclusion names.
const NAMED: usize = 3;

impl Collector {
    /// Of these rules, or of all if there are none.
    pub fn new(rules: Vec<String>) -> Self {
        Self {
            rules,
            callers: Bounded::new(MAX_CALLERS, MAX_CALLERS),
            findings: Tally::default(),
            refusals: Tally::default(),
            timeline: Timeline::default(),
        }
    }

    pub fn take(&mut self, event: &Event<'_>) {
        let known = self.callers.entry(&event.caller(), 0);
        let caller = known.map(|(number, is_node)| {
            *is_node = event.node().is_some();
            number
        });
        let mut findings = event.findings();
        findings.retain(|finding| self.wants(finding));
        let refusal = event.refusal().filter(|finding| self.wants(finding));
        let counts = Counts {
            events: 1,
            findings: u64::from(!findings.is_empty()),
            refusals: u64::from(refusal.is_some()),
        };
        self.timeline.note(event.time, counts);
        if !findings.is_empty() {
            self.findings.note(event, caller, findings);
        }
        if let Some(refusal) = refusal {
            self.refusals.note(event, caller, vec![refusal]);
        }
    }

    fn wants(&self, finding: &Finding) -> bool {
        self.rules.is_empty() || self.rules.contains(&finding.rule)
    }

    /// Nothing if there was no event.
    pub fn finish(self, log: &Log) -> Option<Summary> {
        let (first, last) = log.wanted.times?;
        let findings = self.findings.finish(&self.callers);
        let steps = self.timeline.steps().map(|(from, counts)| Step {
            from,
            events: counts.events,
            findings: counts.findings,
            refusals: counts.refusals,
        });
        let nodes = self.callers.iter().filter(|(_, is_node)| **is_node).count();
        Some(Summary {
            events: log.wanted.events,
            first,
            last,
            nodes,
            other_callers: self.callers.len() - nodes,
            not_events: log.not_events,
            conclusion: conclusion(&findings, &self.rules),
            findings,
            refusals: self.refusals.finish(&self.callers),
            step_seconds: self.timeline.seconds(),
            over_time: steps.collect(),
        })
    }
}

impl Summary {
    /// Whether a rule that is not enforced would have refused something.
    pub fn would_refuse(&self) -> bool {
        self.findings.requests > 0
    }

    /// In ASCII, since somebody may look at it on a terminal. What is not stands in texts, where an escape means the same.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string_pretty(self)?;
        let mut ascii = String::with_capacity(text.len() + 1);
        for c in text.chars() {
            if c.is_ascii() && c != '\x7f' {
                ascii.push(c);
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
        ascii.push('\n');
        Ok(ascii)
    }
}

/// What to do next. A rule that is off finds nothing, and the log does not say which are.
fn conclusion(findings: &Section, asked: &[String]) -> String {
    let found = |rule: &str| findings.rules.iter().any(|finding| finding.rule == rule);
    let silent: Vec<_> = asked.iter().map(String::as_str).filter(|rule| !found(rule)).collect();
    let enforce = match (asked, silent.as_slice()) {
        ([], _) if findings.rules.is_empty() => "every rule that was at Warn or Audit can be enforced".to_owned(),
        ([], _) => "every other rule that was at Warn or Audit can be enforced".to_owned(),
        (_, []) => return look_first(findings),
        (_, rules) => format!(
            "{} can be enforced if at Warn or Audit all the time",
            printable(&rules.join(", "))
        ),
    };
    if findings.rules.is_empty() {
        return format!("Nothing would have been refused in this time: as far as it shows, {enforce}.");
    }
    format!("{}\nAs far as this time shows, {enforce}.", look_first(findings))
}

fn look_first(findings: &Section) -> String {
    let named = findings.rules.iter().take(NAMED).map(|rule| {
        let (requests, nodes) = (rule.requests, rule.nodes);
        let (s, t) = (plural(requests), plural(nodes as u64));
        format!("{} ({requests} request{s} of {nodes} node{t})", printable(&rule.rule))
    });
    let first = named.collect::<Vec<_>>().join(", ");
    let more = match findings.rules.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Look first at {first}{more}: these requests would have been refused.")
}

pub(super) fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
