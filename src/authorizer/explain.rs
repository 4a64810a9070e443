//! Decisions in words. They are made only when somebody reads them.

use std::borrow::Cow;

use crate::{
    api::quote,
    caller::{Caller, Kind},
    decision::{Decision, Evidence, Reason},
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
    let node = match &caller.kind {
        Kind::Node(node) => node.as_str(),
        Kind::Bootstrap(_) | Kind::Other => "",
    };
    let name = match &info.target {
        Target::Path(_) => "",
        Target::Resource(request) => request.name.as_str(),
    };
    Cow::Owned(match reason {
        Reason::None => return Cow::Borrowed(""),
        Reason::Text(text) => return Cow::Borrowed(text),
        Reason::AllNodes => format!("node '{node}' cannot read all nodes, only its own Node object"),
        Reason::NoRelationship => format!("no relationship found between node '{node}' and this object"),
        Reason::OtherNode => format!("node '{node}' cannot read '{name}', only its own Node object"),
        Reason::PodCertificateRequestVerb => format!("nodes may not {} podcertificaterequests", info.verb),
        Reason::UnknownNode => format!("unknown node for user {}", quote(&caller.user.name)),
    })
}
