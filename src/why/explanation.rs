//! Whether a node may do something, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Asked, Known, Missing, State, Trail, text::Report};
use crate::{
    api::Verb,
    authorizer::{self, Attributes, Authorizer},
    caller::Caller,
    decision::{Decision, Evidence, Verdict},
    rejection::Rejection,
    request::{FieldOperator, RequestInfo, ResourceRequest, Target},
    rules::Rule,
};

/// What would become of a request.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Allow,
    Deny,
    /// The graph would have to say, and is not to be relied on now.
    Unknown,
}

/// One decision, and all that an operator may want to know about it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    pub answer: Answer,
    pub request: Request,
    /// The rule that settled it, or the configuration key that did where no rule has an opinion.
    pub rule: String,
    /// How the rule is set, where it would refuse the request if it were enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condoned: Option<String>,
    /// The decision in one line, as the log and the audit event have it.
    pub reason: String,
    /// Since when the node is in quarantine, and why, where that settles it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
    /// What the node reads that is not allowed it.
    pub client: Option<String>,
    /// How the node is related to the object, where that counts and it is.
    pub path: Option<Trail>,
    /// Why it is not, where that counts.
    pub missing: Option<Missing>,
    /// Who has a say after this one.
    pub then: Option<String>,
    pub snapshot: State,
}

/// The request that was judged.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub node: String,
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    /// All of it in one line.
    pub text: String,
}

/// Judges the request that was asked about, as it would be judged if it came now.
pub fn explain(asked: &Asked, authorizer: &Authorizer, known: &Known) -> Explanation {
    let Asked { node, caller, info } = asked;
    let graph = known.graph.as_ref();
    let decision = authorizer.decide(Attributes {
        caller,
        info,
        impersonates: false,
        quarantine: known.quarantine(),
        graph,
    });
    let decision = authorizer.traced(decision, caller, info, graph);
    let key = authorizer.dependency(caller, info);
    let path = key.and_then(|key| graph.path(node, key));
    // What an extra rule allows needs no path, and whom a quarantine stops none can help.
    let needed = path.is_none() && !matches!(decision.evidence, Evidence::Extra(_) | Evidence::Quarantined(_));
    let missing = key.filter(|_| needed).map(|key| Missing::of(Some(node), key, graph));
    let answer = answer(&decision, known);
    Explanation {
        answer,
        request: Request::of(node, info),
        rule: rule(&decision),
        condoned: decision.condoned.map(|mode| mode.to_string()),
        reason: authorizer::explain(&decision, caller, info),
        quarantine: match &decision.evidence {
            Evidence::Quarantined(told) => Some(told.to_string()),
            _ => None,
        },
        client: client(answer, &decision, caller, info),
        path: path.map(Trail::from),
        missing,
        then: then(answer, info),
        snapshot: State::of(known),
    }
}

fn then(answer: Answer, info: &RequestInfo) -> Option<String> {
    let reads = matches!(info.verb, Verb::Get | Verb::List | Verb::Watch);
    let then = "what it writes is judged by NodeRestriction when it comes";
    (answer == Answer::Allow && !reads).then(|| then.to_owned())
}

fn answer(decision: &Decision, known: &Known) -> Answer {
    let by_graph = matches!(decision.evidence, Evidence::Related { .. } | Evidence::Unrelated { .. });
    match decision.verdict {
        _ if known.quarantine.is_none() => Answer::Unknown,
        _ if decision.condoned.is_some() => Answer::Allow,
        _ if by_graph && known.doubt.is_some() => Answer::Unknown,
        Verdict::Allow => Answer::Allow,
        Verdict::Deny => Answer::Deny,
    }
}

pub(super) fn rule(decision: &Decision) -> String {
    match &decision.evidence {
        Evidence::Extra(rule) => rule.to_string(),
        Evidence::Fallback { key, .. } => (*key).to_owned(),
        Evidence::Quarantined(_) => Rule::CallersQuarantine.to_string(),
        Evidence::Rule(rule) | Evidence::Related { rule, .. } | Evidence::Unrelated { rule } => rule.to_string(),
    }
}

fn client(answer: Answer, decision: &Decision, caller: &Caller, info: &RequestInfo) -> Option<String> {
    let rejection = match answer {
        Answer::Allow => return None,
        Answer::Deny => authorizer::rejection(caller, info, decision),
        Answer::Unknown => Rejection::not_known(""),
    };
    Some(format!("{} {}", rejection.code.as_u16(), rejection.message))
}

impl Request {
    fn of(node: &str, info: &RequestInfo) -> Self {
        let mut request = Self {
            node: node.to_owned(),
            verb: info.verb.to_string(),
            ..Self::default()
        };
        // No question is about anything else.
        if let Target::Resource(target) = &info.target {
            request.group.clone_from(&target.resource.group);
            request.resource.clone_from(&target.resource.resource);
            request.subresource.clone_from(&target.subresource);
            request.namespace.clone_from(&target.namespace);
            request.name.clone_from(&target.name);
            request.text = format!("{} {}", info.verb, what(target));
        }
        request
    }
}

/// The object, or the part of a collection.
fn what(request: &ResourceRequest) -> String {
    let mut text = match (request.name.as_str(), request.namespace.as_str()) {
        ("", "") => request.resource.to_string(),
        ("", namespace) => format!("{} in namespace {namespace}", request.resource),
        _ => request.to_string(),
    };
    let fields = request.selectors.fields.iter();
    let selected: Vec<String> = fields
        .filter(|term| term.field != "metadata.name")
        .map(|term| match term.operator {
            FieldOperator::Equals => format!("{}={}", term.field, term.value),
            FieldOperator::NotEquals => format!("{}!={}", term.field, term.value),
        })
        .collect();
    if !selected.is_empty() {
        text += &format!(" with field selector {}", selected.join(","));
    }
    text
}

impl Explanation {
    fn rule(&self) -> String {
        if let Some(mode) = &self.condoned {
            return format!(
                "{} would refuse it, and is not enforced (its mode is {mode})",
                self.rule
            );
        }
        match (self.rule.starts_with("callers."), self.answer) {
            (true, Answer::Allow) => format!("none allows it; {} leaves it to upstream", self.rule),
            (true, _) => format!("none has an opinion; {} refuses it", self.rule),
            (false, _) => self.rule.clone(),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { node, text, .. } = &self.request;
        let verdict = match self.answer {
            Answer::Allow => format!("ALLOWED: {node} may {text}"),
            Answer::Deny => format!("REFUSED: {node} may not {text}"),
            Answer::Unknown => format!("UNKNOWN: the gate cannot tell now whether {node} may {text}"),
        };
        let mut report = Report::default();
        report.line("rule", self.rule());
        if let Some(quarantine) = &self.quarantine {
            report.line("because", quarantine);
        }
        if let Some(path) = &self.path {
            report.line("path", &path.text);
        }
        if let Some(missing) = &self.missing {
            report.lines("missing", &missing.text);
        }
        if let Some(client) = &self.client {
            report.line("client", client);
        }
        if let Some(then) = &self.then {
            report.line("then", then);
        }
        report.line("snapshot", self.snapshot.to_string());
        if self.answer == Answer::Deny && self.missing.is_some() && self.snapshot.age_seconds.is_some() {
            let text = "a request is refused only after the graph had time to catch up and upstream was asked too";
            report.line("", text);
        }
        report.write(&verdict, f)
    }
}
