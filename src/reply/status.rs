//! `metav1.Status` as kube-apiserver writes it, field for field.

use serde::Serialize;

use crate::rejection::{Cause, Details, Rejection};

#[derive(Debug, Serialize)]
pub(super) struct Status<'a> {
    pub(super) kind: &'static str,
    #[serde(rename = "apiVersion")]
    pub(super) api_version: &'static str,
    metadata: Empty,
    pub(super) status: &'static str,
    pub(super) message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<StatusDetails<'a>>,
    pub(super) code: u16,
}

#[derive(Debug, Serialize)]
struct Empty {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusDetails<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) group: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) kind: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) causes: Vec<StatusCause<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_after_seconds: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct StatusCause<'a> {
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    pub(super) field: &'a str,
}

impl<'a> From<&'a Rejection> for Status<'a> {
    fn from(rejection: &'a Rejection) -> Self {
        let details = match (&rejection.details, rejection.retry_after) {
            (None, None) => None,
            (details, retry_after_seconds) => Some(StatusDetails {
                retry_after_seconds,
                ..details
                    .as_deref()
                    .map_or_else(StatusDetails::empty, StatusDetails::from)
            }),
        };
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: Empty {},
            status: "Failure",
            message: &rejection.message,
            reason: rejection.reason,
            details,
            code: rejection.code.as_u16(),
        }
    }
}

impl<'a> From<&'a Details> for StatusDetails<'a> {
    fn from(details: &'a Details) -> Self {
        Self {
            name: &details.name,
            group: &details.group,
            kind: &details.kind,
            causes: details.causes.iter().map(StatusCause::from).collect(),
            retry_after_seconds: None,
        }
    }
}

impl<'a> From<&'a Cause> for StatusCause<'a> {
    fn from(cause: &'a Cause) -> Self {
        Self {
            reason: cause.reason,
            message: &cause.message,
            field: &cause.field,
        }
    }
}

impl StatusDetails<'_> {
    fn empty() -> Self {
        Self {
            name: "",
            group: "",
            kind: "",
            causes: Vec::new(),
            retry_after_seconds: None,
        }
    }
}

impl Status<'_> {
    /// On one line, with a line break at the end.
    pub(super) fn to_json(&self) -> String {
        // A struct of strings and numbers always serializes.
        let mut json = escape(&serde_json::to_string(self).unwrap_or_default());
        json.push('\n');
        json
    }

    /// Over several lines, without one.
    pub(super) fn to_pretty_json(&self) -> String {
        escape(&serde_json::to_string_pretty(self).unwrap_or_default())
    }
}

/// Go's escapes for what a browser could take for markup.
fn escape(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        match c {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unauthorized_is_written_as_kube_apiserver_writes_it() {
        let expected = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#;
        assert_eq!(
            json(&Rejection::unauthorized("no client certificate")),
            format!("{expected}\n")
        );
    }

    #[test]
    fn forbidden_has_details() {
        let details = Details {
            name: "s2".into(),
            kind: "secrets".into(),
            ..Details::default()
        };
        let expected = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"a \u0026lt; b","reason":"Forbidden","details":{"name":"s2","kind":"secrets"},"code":403}"#;
        assert_eq!(
            json(&Rejection::forbidden("a &lt; b".into(), details)),
            format!("{expected}\n")
        );
    }

    #[test]
    fn invalid_has_its_cause() {
        let cause = Cause::invalid("metadata.uid", "V", "field is immutable");
        let json = json(&Rejection::invalid("Pod", "p1", cause, 1));
        let expected = r#""message":"Pod \"p1\" is invalid: metadata.uid: Invalid value: \"V\": field is immutable","reason":"Invalid","details":{"name":"p1","kind":"Pod","causes":[{"reason":"FieldValueInvalid","message":"Invalid value: \"V\": field is immutable","field":"metadata.uid"}]},"code":422"#;
        assert!(json.contains(expected), "{json}");
    }

    #[test]
    fn forbidden_paths_have_empty_details() {
        let json = json(&Rejection::forbidden("m".into(), Details::default()));
        assert!(json.contains(r#""details":{},"code":403"#), "{json}");
    }

    #[test]
    fn retry_after_is_told_in_the_body_too() {
        let json = json(&Rejection::unreachable("connection refused"));
        assert!(
            json.contains(r#""details":{"retryAfterSeconds":1},"code":503"#),
            "{json}"
        );
        assert!(!json.contains("refused"), "causes are for the log: {json}");
    }

    fn json(rejection: &Rejection) -> String {
        Status::from(rejection).to_json()
    }
}
