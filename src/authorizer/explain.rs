//! Decisions in words. They are made only when somebody reads them.

use std::borrow::Cow;

use crate::{
    api::{Verb, garden, quote},
    caller::{Caller, Kind},
    decision::{Decision, Evidence, Reason, Selected},
    request::{RequestInfo, Target},
};

/// One line for logs and the audit event: evidence first, then what the client was told.
pub fn explain(decision: &Decision, caller: &Caller, info: &RequestInfo) -> String {
    let evidence = match &decision.evidence {
        Evidence::Extra(rule) => rule.to_string(),
        Evidence::Fallback { key, .. } => format!("no rule has an opinion, {key} decides"),
        Evidence::Quarantined(told) => told.to_string(),
        Evidence::Rule(rule) | Evidence::Unrelated { rule } => format!("rule {rule}"),
        Evidence::Related { rule, path: None } => format!("rule {rule}, by the graph"),
        Evidence::Related { rule, path: Some(path) } => format!("rule {rule}, by the graph: {path}"),
    };
    let explained = match reason(decision.reason, caller, info).as_ref() {
        "" => evidence,
        reason => format!("{evidence}: {reason}"),
    };
    match decision.condoned {
        None => explained,
        Some(mode) => format!("would be refused, but the rule's mode is {mode}: {explained}"),
    }
}

/// What the client reads, in the words of kube-apiserver; empty where it says nothing.
pub(super) fn reason(reason: Reason, caller: &Caller, info: &RequestInfo) -> Cow<'static, str> {
    let (what, node) = match &caller.kind {
        Kind::Node(node) => ("node", node.as_str()),
        Kind::Seed(seed) => ("seed", seed.name.as_str()),
        Kind::Bootstrap(_) | Kind::Other => ("", ""),
    };
    let name = match &info.target {
        Target::Path(_) => "",
        Target::Resource(request) => request.name.as_str(),
    };
    Cow::Owned(match reason {
        Reason::None => return Cow::Borrowed(""),
        Reason::Text(text) => return Cow::Borrowed(text),
        Reason::AllNodes => format!("node '{node}' cannot read all nodes, only its own Node object"),
        Reason::NoRelationship => format!("no relationship found between {what} '{node}' and this object"),
        Reason::OnlyNamespaces(namespaces) => only("namespaces", namespaces.to_vec()),
        Reason::OnlySelected(None) => "only one object at a time can be read, by its name".to_owned(),
        Reason::OnlySelected(Some(Selected::Field(field))) => {
            format!("can only list or watch with the field selector {field}={node}")
        }
        Reason::OnlySelected(Some(Selected::Label)) => {
            let label = garden::seed_label(node);
            format!("can only list or watch with the label selector {label}=true")
        }
        Reason::OnlySubresources(subresources) => only("subresources", subresources.to_vec()),
        Reason::OnlyVerbs(some, others) => only("verbs", some.iter().chain(others).map(Verb::as_str).collect()),
        Reason::OtherNode => format!("node '{node}' cannot read '{name}', only its own Node object"),
        Reason::PodCertificateRequestVerb => format!("nodes may not {} podcertificaterequests", info.verb),
        Reason::UnknownNode => format!("unknown node for user {}", quote(&caller.user.name)),
    })
}

/// What a rule knows of a resource, and nothing else.
fn only(what: &str, mut known: Vec<&str>) -> String {
    known.sort_unstable();
    format!(
        "only the following {what} are allowed for this resource type: [{}]",
        known.join(" ")
    )
}
