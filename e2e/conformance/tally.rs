//! What a run has met.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    case::Case,
    compare::{Answers, Verdict},
    differences::DIFFERENCES,
    rules::{self, RULES, Seen},
};

pub(super) struct Tally {
    seed: u64,
    began: Instant,
    pub(super) requests: usize,
    stored: usize,
    codes: BTreeMap<u16, usize>,
    meant: BTreeMap<(usize, [u16; 2]), usize>,
    rules: BTreeMap<usize, [usize; 2]>,
    /// Refusals that no rule accounts for.
    pub(super) unknown: BTreeMap<String, String>,
    /// By what they have in common.
    pub(super) different: BTreeMap<String, String>,
    /// Differences that were gone when the case was replayed on fresh objects.
    pub(super) passing: usize,
    /// Requests that were answered alike when they were sent once more.
    again: usize,
}

/// More would not be read.
const MOST: usize = 20;
const PROGRESS: usize = 2000;

impl Tally {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            began: Instant::now(),
            requests: 0,
            stored: 0,
            codes: BTreeMap::new(),
            meant: BTreeMap::new(),
            rules: BTreeMap::new(),
            unknown: BTreeMap::new(),
            different: BTreeMap::new(),
            passing: 0,
            again: 0,
        }
    }

    pub(super) fn count(&mut self, case: &Case, answers: &Answers, verdict: &Verdict) {
        self.requests += 1;
        self.again += usize::from(answers.again);
        *self.codes.entry(answers.codes[0]).or_default() += 1;
        self.stored += usize::from(case.stored && answers.codes[0] < 300);
        if let Verdict::Meant(number) = verdict {
            *self.meant.entry((*number, answers.codes)).or_default() += 1;
        }
        match rules::seen(case, answers) {
            Seen::Allowed(all) => {
                for rule in all {
                    self.rules.entry(rule).or_default()[0] += 1;
                }
            }
            Seen::Refused(rule) => self.rules.entry(rule).or_default()[1] += 1,
            Seen::Unknown => {
                let key = format!("{} {} {}", case.verb, case.resource, case.sub);
                let told = || format!("{case}\n  {} {}", answers.codes[0], answers.said[0]);
                self.unknown.entry(key).or_insert_with(told);
            }
        }
        if self.requests.is_multiple_of(PROGRESS) {
            let (requests, seconds) = (self.requests, self.began.elapsed().as_secs());
            eprintln!(
                "{requests} requests in {seconds} s, {} differences",
                self.different.len()
            );
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.different.len() >= MOST
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Rules that were never met in a direction in which they can be.
    pub(super) fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for (number, rule) in RULES.iter().enumerate() {
            let [allowed, refused] = self.rules.get(&number).copied().unwrap_or_default();
            if allowed == 0 && rule.allows() {
                missed.push(format!("{} allowed", rule.name));
            }
            if refused == 0 && rule.refuses() {
                missed.push(format!("{} refused", rule.name));
            }
        }
        missed
    }

    pub(super) fn figures(&self) -> Value {
        let rules = RULES.iter().enumerate().map(|(number, rule)| {
            let [allowed, refused] = self.rules.get(&number).copied().unwrap_or_default();
            json!({"rule": rule.name, "allowed": allowed, "refused": refused})
        });
        let differences = DIFFERENCES.iter().enumerate().filter_map(|(number, difference)| {
            let met = self.meant.range((number, [0; 2])..(number + 1, [0; 2]));
            let count: usize = met.map(|(_, count)| count).sum();
            (count > 0).then(|| json!({"difference": difference.name, "requests": count, "why": difference.why}))
        });
        let good: usize = self.codes.range(200..300).map(|(_, count)| count).sum();
        json!({
            "seed": self.seed,
            "requests": self.requests,
            "seconds": self.elapsed().as_secs(),
            "stored": self.stored,
            "successful": good,
            "codes": self.codes.iter().map(|(code, count)| (code.to_string(), json!(count))).collect::<serde_json::Map<_, _>>(),
            "rules": rules.collect::<Vec<_>>(),
            "rulesNeverMet": self.missed(),
            "deliberateDifferences": differences.collect::<Vec<_>>(),
            "differences": self.different.len(),
            "passing": self.passing,
            "again": self.again,
        })
    }

    /// For people.
    pub(super) fn table(&self) -> String {
        let mut table = format!("{:<46} {:>8} {:>8}\n", "rule", "allowed", "refused");
        for (number, rule) in RULES.iter().enumerate() {
            let [allowed, refused] = self.rules.get(&number).copied().unwrap_or_default();
            table += &format!("{:<46} {allowed:>8} {refused:>8}\n", rule.name);
        }
        table += &format!("{:<46} {:>8} {:>8} {:>8}\n", "difference", "meant", "upstream", "gate");
        for ((number, [guarded, gated]), count) in &self.meant {
            table += &format!("{:<46} {count:>8} {guarded:>8} {gated:>8}\n", DIFFERENCES[*number].name);
        }
        let codes = self.codes.iter().map(|(code, count)| format!(" {code}: {count}"));
        table += &format!("codes of kube-apiserver:{}", codes.collect::<String>());
        table
    }
}
