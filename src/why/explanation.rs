//! Whether a caller may do something, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Asked, End, Known, Missing, State, Trail, View, asker::Asker, missing::shown, text::Report};
use crate::{
    api::Verb,
    authorizer::{self, Attributes, Authorizer, Needed, SEEDS_FALLBACK},
    caller::Caller,
    decision::{Decision, Evidence, Verdict},
    graph::Anchor,
    rejection::Rejection,
    request::{RequestInfo, ResourceRequest, Target},
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
    /// Since when the caller is in quarantine, and why, where that settles it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
    /// Why the caller is like anybody else, where that may surprise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nobody: Option<String>,
    /// What the caller reads that is not allowed it.
    pub client: Option<String>,
    /// How the node or seed is related to the object, where that counts and it is.
    pub path: Option<Trail>,
    /// Why it is not, where that counts.
    pub missing: Option<Missing>,
    /// Who has a say after this one.
    pub then: Option<String>,
    pub snapshot: State,
}

/// The request that was judged.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    #[serde(flatten)]
    pub end: End,
    /// Who speaks for it, where that is not its kubelet or gardenlet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
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
    let Asked { asker, info } = asked;
    let caller = &asker.caller;
    // A seed that there are no rules for is held against none, whatever the graph.
    let anchor = authorizer.anchor(caller).map(|(anchor, _)| anchor);
    let view = known.view(anchor.unwrap_or_default());
    let graph = view.graph.as_ref();
    let decision = authorizer.decide(Attributes {
        caller,
        info,
        impersonates: false,
        quarantine: known.quarantine(),
        graph,
    });
    let decision = authorizer.traced(decision, caller, info, graph);
    let needed = authorizer.dependency(caller, info);
    let path = needed.and_then(|needed| trail(&asker.end, needed, info, &view));
    // What an extra rule allows needs no path, and whom a quarantine stops none can help.
    let counts = path.is_none() && !matches!(decision.evidence, Evidence::Extra(_) | Evidence::Quarantined(_));
    let missing = needed
        .filter(|_| counts)
        .map(|needed| Missing::of(Some(asker.end.name()), needed, info, graph));
    let is_left = is_left_by_seeds(&decision);
    let by_graph = matches!(decision.evidence, Evidence::Related { .. } | Evidence::Unrelated { .. })
        // Nothing is left to upstream that the graph may only not know yet.
        || (is_left && needed.is_some());
    let answer = answer(&decision, known, by_graph && view.doubt.is_some());
    Explanation {
        answer,
        request: Request::of(asker, info),
        rule: rule(&decision),
        condoned: decision.condoned.map(|mode| mode.to_string()),
        reason: authorizer::explain(&decision, caller, info),
        quarantine: match &decision.evidence {
            Evidence::Quarantined(told) => Some(told.to_string()),
            _ => None,
        },
        nobody: anchor.is_none().then(|| nobody(authorizer)),
        client: client(answer, &decision, caller, info),
        path,
        missing,
        then: then(answer, anchor, info),
        snapshot: State::of(&view),
    }
}

/// The way that counts.
fn trail(end: &End, needed: Needed<'_>, info: &RequestInfo, view: &View) -> Option<Trail> {
    let Needed { key, by } = needed;
    let anchor = end.anchor();
    if by.is_none() && key.kind == anchor.kind() && key.name == end.name() {
        return view
            .graph
            .knows(end.name())
            .then(|| Trail::at(end.clone(), "it is the object itself"));
    }
    let path = needed.path(end.name(), &view.graph)?;
    Some(Trail::of(anchor, path, shown(key, info)))
}

fn nobody(authorizer: &Authorizer) -> String {
    match authorizer.seeds {
        None => "this gate has no rules for seeds (callers.seeds.enabled)".to_owned(),
        Some(_) => "the rules for seeds know no extensions in this profile (callers.seeds.profile)".to_owned(),
    }
}

fn is_left_by_seeds(decision: &Decision) -> bool {
    matches!(decision.evidence, Evidence::Fallback { key, .. } if key == SEEDS_FALLBACK)
}

fn then(answer: Answer, anchor: Option<Anchor>, info: &RequestInfo) -> Option<String> {
    let reads = matches!(info.verb, Verb::Get | Verb::List | Verb::Watch);
    let plugin = match anchor? {
        Anchor::Node => "NodeRestriction",
        Anchor::Seed => "SeedRestriction",
    };
    let then = || format!("what it writes is judged by {plugin} when it comes");
    (answer == Answer::Allow && !reads).then(then)
}

fn answer(decision: &Decision, known: &Known, in_doubt: bool) -> Answer {
    match decision.verdict {
        _ if known.quarantine.is_none() => Answer::Unknown,
        _ if decision.condoned.is_some() => Answer::Allow,
        _ if in_doubt => Answer::Unknown,
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
    fn of(asker: &Asker, info: &RequestInfo) -> Self {
        let mut request = Self {
            end: asker.end.clone(),
            user: asker.user().map(str::to_owned),
            verb: info.verb.to_string(),
            group: String::new(),
            resource: String::new(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            text: String::new(),
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

    /// Who it is about, in words.
    fn who(&self) -> String {
        match &self.user {
            Some(user) => format!("{user}, for {},", self.end),
            None => self.end.to_string(),
        }
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
    let fields: Vec<String> = fields
        .filter(|term| term.field != "metadata.name")
        .map(ToString::to_string)
        .collect();
    let labels: Vec<String> = request.selectors.labels.iter().map(ToString::to_string).collect();
    for (what, terms) in [("field", fields), ("label", labels)] {
        if !terms.is_empty() {
            text += &format!(" with {what} selector {}", terms.join(","));
        }
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
            (true, Answer::Allow) if self.is_left_by_seeds() => {
                format!(
                    "none allows it; {} leaves it to upstream, whose RBAC decides",
                    self.rule
                )
            }
            (true, Answer::Allow) => format!("none allows it; {} leaves it to upstream", self.rule),
            (true, _) => format!("none has an opinion; {} refuses it", self.rule),
            (false, _) => self.rule.clone(),
        }
    }

    fn is_left_by_seeds(&self) -> bool {
        self.condoned.is_none() && self.rule == SEEDS_FALLBACK
    }

    /// The line that says it.
    pub fn verdict(&self) -> String {
        let (who, text) = (self.request.who(), &self.request.text);
        match self.answer {
            // Most often it is refused there.
            Answer::Allow if self.is_left_by_seeds() => format!("LEFT TO UPSTREAM: whether {who} may {text}"),
            Answer::Allow => format!("ALLOWED: {who} may {text}"),
            Answer::Deny => format!("REFUSED: {who} may not {text}"),
            Answer::Unknown => format!("UNKNOWN: the gate cannot tell now whether {who} may {text}"),
        }
    }

    /// What it rests on, a heading and a text each; without a heading it goes on from the line before.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        self.report().into_lines()
    }

    fn report(&self) -> Report {
        let mut report = Report::default();
        report.line("rule", self.rule());
        if let Some(quarantine) = &self.quarantine {
            report.line("because", quarantine);
        }
        if let Some(nobody) = &self.nobody {
            report.line("because", nobody);
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
        let denied = self.answer == Answer::Deny || self.is_left_by_seeds();
        if denied && self.missing.is_some() && self.snapshot.age_seconds.is_some() {
            let becomes = if self.answer == Answer::Deny {
                "refused"
            } else {
                "left to it"
            };
            let text = "only after the graph had time to catch up and upstream was asked too";
            report.line("", format!("a request is {becomes} {text}"));
        }
        report
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report().write(&self.verdict(), f)
    }
}
