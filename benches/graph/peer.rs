//! The one to compare with: upstream's authorizer over the same cluster, measured by `e2e/oracle/authorizer`.

use std::{
    env,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use scopegate::{
    decision::Verdict,
    request::{FieldOperator, ResourceRequest, Target},
};
use serde::Deserialize;

use crate::{cluster::Shape, measure::Cost, rows::Row};

/// What it prints.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) build_seconds: f64,
    /// While the objects are there, with which it shares the names.
    pub(super) heap_bytes: f64,
    /// By itself.
    pub(super) heap_alone_bytes: f64,
    decisions: Vec<Decision>,
    pub(super) pod_again: Cost,
}

#[derive(Deserialize)]
struct Decision {
    row: String,
    #[serde(flatten)]
    cost: Cost,
    question: Question,
    decision: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Question {
    user: String,
    verb: String,
    group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
    fields: Vec<Term>,
}

#[derive(Deserialize)]
struct Term {
    field: String,
    operator: String,
    value: String,
}

pub(super) const PROGRAM: &str = "SCOPEGATE_ORACLE_AUTHORIZER";

/// If there is no such program, says so that nobody misses it.
pub(super) fn announce(program: &str, whose: &str) {
    if env::var_os(program).is_none() {
        eprintln!("################################################################################");
        eprintln!("# There is NO PEER: {program} is not set, so nothing is compared with");
        eprintln!("# {whose} and there are no ratios. `make bench` builds it with Go.");
        eprintln!("################################################################################");
    }
}

/// Runs it, if there is one.
pub(super) fn run(shape: Shape) -> Result<Option<Report>> {
    let Some(program) = env::var_os(PROGRAM) else {
        return Ok(None);
    };
    let flags = [
        ("--nodes", shape.nodes),
        ("--pods-per-node", shape.pods_per_node),
        ("--namespaces", shape.namespaces),
        ("--attachments-per-node", shape.attachments_per_node),
    ];
    let mut command = Command::new(&program);
    command.arg("bench").stderr(Stdio::inherit());
    for (flag, value) in flags {
        command.arg(flag).arg(value.to_string());
    }
    let done = command
        .output()
        .with_context(|| format!("starting {}", program.display()))?;
    ensure!(
        done.status.success(),
        "{} ended with {}",
        program.display(),
        done.status
    );
    Ok(Some(serde_json::from_slice(&done.stdout)?))
}

impl Report {
    /// What the row costs there. That it is the same question with the same answer is made sure of.
    pub(super) fn cost(&self, row: &Row) -> Result<Cost> {
        let found = self.decisions.iter().find(|decision| decision.row == row.name);
        let decision = found.with_context(|| format!("the peer has no row {:?}", row.name))?;
        let verdict = match decision.decision.as_str() {
            "allow" => Verdict::Allow,
            _ => Verdict::Deny,
        };
        ensure!(
            decision.question.is(row) && verdict == row.verdict,
            "the peer understands something else by {:?}",
            row.name
        );
        Ok(decision.cost)
    }
}

impl Question {
    fn is(&self, row: &Row) -> bool {
        let info = row.asked.head.info();
        let Target::Resource(request) = &info.target else {
            return false;
        };
        let ResourceRequest {
            resource,
            namespace,
            name,
            subresource,
            selectors,
            version: _,
        } = request;
        let fields = selectors
            .fields
            .iter()
            .map(|term| (&term.field, operator(term.operator), &term.value));
        let asked = self
            .fields
            .iter()
            .map(|term| (&term.field, term.operator.as_str(), &term.value));
        self.user == row.asked.caller.user.name
            && self.verb == info.verb.as_str()
            && resource.is(&self.group, &self.resource)
            && (&self.namespace, &self.name, &self.subresource) == (namespace, name, subresource)
            && fields.eq(asked)
    }
}

fn operator(operator: FieldOperator) -> &'static str {
    match operator {
        FieldOperator::Equals => "=",
        FieldOperator::NotEquals => "!=",
    }
}
