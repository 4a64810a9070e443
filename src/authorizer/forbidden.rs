//! A refusal in the words of kube-apiserver: clients, runbooks and alerts grep for them.
//!
//! Follows `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go` (1.36).

use std::fmt::Write as _;

use super::explain::reason;
use crate::{
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
            let details = Details {
                name: request.name.clone(),
                group: request.resource.group.clone(),
                kind: request.resource.resource.clone(),
            };
            (subject, details)
        }
    };
    let mut message = format!("{subject}: {}", escape(&attempt(caller, info)));
    let reason = reason(decision.reason, caller, info);
    if !reason.is_empty() {
        let _ = write!(message, ": {reason}");
    }
    Rejection::forbidden(message, details)
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

/// A string as Go's `%q` writes it.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            '\x07' => write!(quoted, "\\a"),
            '\x08' => write!(quoted, "\\b"),
            '\x0c' => write!(quoted, "\\f"),
            '\n' => write!(quoted, "\\n"),
            '\r' => write!(quoted, "\\r"),
            '\t' => write!(quoted, "\\t"),
            '\x0b' => write!(quoted, "\\v"),
            c if c.is_ascii_control() => write!(quoted, "\\x{:02x}", u32::from(c)),
            c if c.is_control() => write!(quoted, "\\u{:04x}", u32::from(c)),
            c => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    #[test_case("plain" => r#""plain""#)]
    #[test_case("a\"b\\c" => r#""a\"b\\c""#)]
    #[test_case("line\nbreak\u{1b}[31m" => r#""line\nbreak\x1b[31m""#; "control characters")]
    #[test_case("\u{85}" => r#""\u0085""#; "control character beyond ASCII")]
    #[test_case("Zürich" => r#""Zürich""#)]
    fn quote(text: &str) -> String {
        super::quote(text)
    }
}
