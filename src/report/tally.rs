//! What rules had against requests, counted by rule, by who asked, and by object.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::{
    bounded::Bounded,
    event::{Event, Finding},
};

/// Counts, while events come in.
#[derive(Debug)]
pub(super) struct Tally {
    requests: u64,
    rules: BTreeMap<String, Rule>,
    /// By the number of who asked; nothing stands for those beyond the bound.
    callers: HashMap<Option<u32>, u64>,
    objects: Bounded<u64>,
    /// Requests for objects beyond the bound.
    other_objects: u64,
}

#[derive(Debug)]
struct Rule {
    requests: u64,
    nodes: HashSet<u32>,
    first: Timestamp,
    last: Timestamp,
    example: String,
}

/// The same when all is counted, the most frequent first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Section {
    pub(super) requests: u64,
    pub(super) rules: Vec<RuleCount>,
    pub(super) nodes: Vec<Count>,
    pub(super) objects: Vec<Count>,
    /// Requests about objects that there were too many of to tell them apart.
    pub(super) other_objects: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct RuleCount {
    pub(super) rule: String,
    pub(super) requests: u64,
    pub(super) nodes: usize,
    #[serde(serialize_with = "text")]
    pub(super) first: Timestamp,
    #[serde(serialize_with = "text")]
    pub(super) last: Timestamp,
    pub(super) example: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Count {
    pub(super) name: String,
    pub(super) requests: u64,
}

/// Rules come from the gate, which has some dozens: a bound for logs that somebody has made up.
const MAX_RULES: usize = 256;
const MAX_OBJECTS: usize = 50_000;
const MAX_OBJECTS_EACH: usize = 500;

impl Tally {
    /// A request of this caller, with what rules had against it; there is at least one.
    pub(super) fn note(&mut self, event: &Event<'_>, caller: Option<u32>, findings: Vec<Finding>) {
        self.requests += 1;
        *self.callers.entry(caller).or_default() += 1;
        match self.objects.entry(&event.object(), caller.unwrap_or(u32::MAX)) {
            Some((_, count)) => *count += 1,
            None => self.other_objects += 1,
        }
        for Finding { rule, message } in findings {
            self.rule(rule, message, caller.filter(|_| event.node().is_some()), event.time);
        }
    }

    fn rule(&mut self, rule: String, message: String, node: Option<u32>, time: Timestamp) {
        let name = if self.rules.len() < MAX_RULES || self.rules.contains_key(&rule) {
            rule
        } else {
            "(others)".to_owned()
        };
        let rule = self.rules.entry(name).or_insert_with(|| Rule {
            requests: 0,
            nodes: HashSet::new(),
            first: time,
            last: time,
            example: message.clone(),
        });
        rule.requests += 1;
        rule.nodes.extend(node);
        rule.last = rule.last.max(time);
        // That of the first request, in whatever order files are read.
        if (time, &message) < (rule.first, &rule.example) {
            rule.example = message;
        }
        rule.first = rule.first.min(time);
    }

    pub(super) fn finish(self, callers: &Bounded<bool>) -> Section {
        let rules = self.rules.into_iter().map(|(name, rule)| RuleCount {
            rule: name,
            requests: rule.requests,
            nodes: rule.nodes.len(),
            first: rule.first,
            last: rule.last,
            example: rule.example,
        });
        let mut rules: Vec<_> = rules.collect();
        rules.sort_by(|one, other| (other.requests, &one.rule).cmp(&(one.requests, &other.rule)));
        let name = |number: Option<u32>| number.and_then(|number| callers.name(number)).unwrap_or("(others)");
        let nodes = self
            .callers
            .into_iter()
            .map(|(number, requests)| (name(number), requests));
        Section {
            requests: self.requests,
            rules,
            nodes: counts(nodes),
            objects: counts(self.objects.iter().map(|(object, requests)| (object, *requests))),
            other_objects: self.other_objects,
        }
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            requests: 0,
            rules: BTreeMap::new(),
            callers: HashMap::new(),
            objects: Bounded::new(MAX_OBJECTS, MAX_OBJECTS_EACH),
            other_objects: 0,
        }
    }
}

fn counts<'a>(counted: impl Iterator<Item = (&'a str, u64)>) -> Vec<Count> {
    let count = |(name, requests): (&str, u64)| Count {
        name: name.to_owned(),
        requests,
    };
    let mut counts: Vec<_> = counted.map(count).collect();
    counts.sort_by(|one, other| (other.requests, &one.name).cmp(&(one.requests, &other.name)));
    counts
}

pub(super) fn text<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}
