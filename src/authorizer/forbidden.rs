//! A refusal in the words of kube-apiserver: clients, runbooks and alerts grep for them.
//!
//! Follows `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go` (1.36).

use std::fmt::Write as _;

use super::explain::reason;
use crate::{
    api::quote,
    caller::{Caller, User},
    decision::Decision,
    rejection::{Details, Rejection},
    request::{RequestInfo, Target},
    rules::Rule,
};

/// What the client gets that was refused.
pub fn rejection(caller: &Caller, info: &RequestInfo, decision: &Decision) -> Rejection {
    let mut message = escape(&attempt(&caller.user, info));
    let reason = reason(decision.reason, caller, info);
    if !reason.is_empty() {
        let _ = write!(message, ": {reason}");
    }
    if let Some(actor) = &caller.actor {
        let _ = write!(message, " (asked for by {})", escape(&quote(&actor.user.name)));
    }
    refused(&message, info, decision.evidence.rule())
}

/// What the client gets that may not act as somebody, or may not do by itself what it would do as somebody.
pub fn acting(actor: &User, subject: &User, info: &RequestInfo, (rule, missing): (Rule, &str)) -> Rejection {
    let (who, whom) = (quote(&actor.name), quote(&subject.name));
    let attempt = match rule {
        Rule::CallersImpersonation => format!("User {who} cannot act as {whom}"),
        _ => format!("{}, which it would do as {whom}", attempt(actor, info)),
    };
    refused(&format!("{}: {}", escape(&attempt), escape(missing)), info, Some(rule))
}

fn refused(why: &str, info: &RequestInfo, rule: Option<Rule>) -> Rejection {
    let (subject, details) = match &info.target {
        Target::Path(_) => ("forbidden".to_owned(), Details::default()),
        Target::Resource(request) => {
            let subject = match request.name.as_str() {
                "" => format!("{} is forbidden", request.resource),
                name => format!("{} {} is forbidden", request.resource, quote(name)),
            };
            (subject, Details::of(&request.resource, &request.name))
        }
    };
    Rejection {
        rule,
        ..Rejection::forbidden(format!("{subject}: {why}"), details)
    }
}

fn attempt(user: &User, info: &RequestInfo) -> String {
    let user = quote(&user.name);
    let verb = &info.verb;
    let request = match &info.target {
        Target::Path(path) => return format!("User {user} cannot {verb} path {}", quote(path)),
        Target::Resource(request) => request,
    };
    let resource = match request.subresource.as_str() {
        "" => quote(&request.resource.resource),
        subresource => quote(&format!("{}/{subresource}", request.resource.resource)),
    };
    let scope = match request.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {}", quote(namespace)),
    };
    let group = quote(&request.resource.group);
    format!("User {user} cannot {verb} resource {resource} in API group {group} {scope}")
}

/// kube-apiserver makes the part with client input safe to show in a page.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
