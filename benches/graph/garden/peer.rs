//! The one to compare with: Gardener's SeedAuthorizer and its graph over the same garden, measured by `e2e/oracle/gardener`.

use std::env;

use anyhow::{Context as _, Result, ensure};
use scopegate::{
    decision::Verdict,
    graph::Key,
    request::{Selectors, Target},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{theirs::Gardener, world::Shape};
use crate::{measure::Cost, peer::announce, rows::Row};

pub(super) struct Peer(Gardener);

/// What its graph took.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spent {
    pub(super) seconds: f64,
    pub(super) heap_bytes: f64,
}

#[derive(Deserialize)]
struct Timed {
    #[serde(flatten)]
    cost: Cost,
    answer: Value,
}

const PROGRAM: &str = "SCOPEGATE_ORACLE_GARDENER";
/// Objects that are told at a time.
const AT_A_TIME: usize = 2000;

impl Peer {
    /// Starts it, if there is one, and tells it of everything.
    pub(super) fn start(shape: Shape) -> Result<Option<Self>> {
        announce(PROGRAM, "Gardener's SeedAuthorizer");
        let Some(program) = env::var_os(PROGRAM) else {
            return Ok(None);
        };
        let mut gardener = Gardener::start(&program);
        let mut objects = shape.objects().peekable();
        while objects.peek().is_some() {
            let applied = objects.by_ref().take(AT_A_TIME);
            let questions: Vec<_> = applied.map(|object| json!({"op": "apply", "object": object})).collect();
            let told = gardener.answers(&questions);
            ensure!(
                told.iter().all(|answer| *answer == json!({})),
                "an object is too much for Gardener"
            );
        }
        Ok(Some(Self(gardener)))
    }

    /// What the row costs there. That it has the same answer is made sure of.
    pub(super) fn decision(&mut self, row: &Row) -> Result<Cost> {
        let info = row.asked.head.info();
        let Target::Resource(request) = &info.target else {
            anyhow::bail!("{:?} asks for no resource", row.name);
        };
        let user = &row.asked.caller.user;
        let timed = self.time(&json!({
            "op": "authorize", "user": user.name, "groups": user.groups, "verb": info.verb.as_str(),
            "group": request.resource.group, "version": request.version, "resource": request.resource.resource,
            "subresource": request.subresource, "namespace": request.namespace, "name": request.name,
            "labelSelector": label_selector(&request.selectors),
        }))?;
        let expected = match row.verdict {
            Verdict::Allow => "allow",
            Verdict::Deny => "noopinion",
        };
        ensure!(
            timed.answer["decision"] == expected,
            "Gardener decides otherwise about {:?}: {}",
            row.name,
            timed.answer
        );
        Ok(timed.cost)
    }

    pub(super) fn path(&mut self, seed: &str, key: Key<'_>, reaches: bool) -> Result<Cost> {
        let timed = self.time(&json!({
            "op": "path", "kind": key.kind.title(), "namespace": key.namespace, "name": key.name, "seed": seed,
        }))?;
        ensure!(timed.answer["path"] == reaches, "Gardener finds otherwise about {key}");
        Ok(timed.cost)
    }

    /// What one of the updates costs, which are told in turn. The last of each name is what was there before.
    pub(super) fn updates(&mut self, objects: &[Value]) -> Result<Cost> {
        self.ask(&json!({"op": "time", "objects": objects}))
    }

    /// What all that it was told of has cost. It knows no objects afterwards.
    pub(super) fn spent(&mut self) -> Result<Spent> {
        self.ask(&json!({"op": "spent"}))
    }

    fn time(&mut self, question: &Value) -> Result<Timed> {
        self.ask(&json!({"op": "time", "of": question}))
    }

    fn ask<T: DeserializeOwned>(&mut self, question: &Value) -> Result<T> {
        let answer = self.0.answers(std::slice::from_ref(question)).pop();
        Ok(serde_json::from_value(answer.context("Gardener says nothing")?)?)
    }
}

/// With a value for each, which is all that rows have.
fn label_selector(selectors: &Selectors) -> String {
    let terms = selectors.labels.iter();
    let terms: Vec<_> = terms
        .map(|term| format!("{}={}", term.key, term.values.join("")))
        .collect();
    terms.join(",")
}
