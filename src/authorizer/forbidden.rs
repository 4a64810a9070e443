//! A refusal in the words of kube-apiserver: clients, runbooks and alerts grep for them.
//!
//! Follows `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go` (1.36).

use std::fmt::Write as _;

use super::explain::reason;
use crate::{
    api::quote,
    caller::Caller,
    decision::Decision,
    rejection::{Details, Rejection},
    request::{RequestInfo, Target},
};

/// What the client gets that was refused.
pub fn rejection(caller: &Caller, info: &RequestInfo, decision: &Decision) -> Rejection {
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
    let mut message = format!("{subject}: {}", escape(&attempt(caller, info)));
    let reason = reason(decision.reason, caller, info);
    if !reason.is_empty() {
        let _ = write!(message, ": {reason}");
    }
    Rejection {
        rule: decision.evidence.rule(),
        ..Rejection::forbidden(message, details)
    }
}

fn attempt(caller: &Caller, info: &RequestInfo) -> String {
    let user = quote(&caller.user.name);
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
