//! What rules had against a request that was forwarded all the same, as others see it.

use std::collections::BTreeSet;

use http::HeaderValue;

use crate::{
    api::clip,
    rules::{Finding, Mode, Rule},
};

/// Longest message in a warning; clients cut what is longer.
const MAX_WARNING: usize = 256;

/// For the client to read, as kube-apiserver words warnings: code 299, and nobody in particular who warns.
pub(super) fn warning(finding: &Finding) -> Option<HeaderValue> {
    if finding.mode != Mode::Warn {
        return None;
    }
    let mut text = format!("scopegate will refuse this by rule {}: ", finding.rule);
    let message = clip(&finding.message, MAX_WARNING);
    for c in message.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            ' '..='~' => text.push(c),
            _ => text.push('?'),
        }
    }
    HeaderValue::from_str(&format!("299 - \"{text}\"")).ok()
}

/// The rules that were against a request, each once, however much each has found.
pub(super) fn violated(findings: &[Finding], refused: Option<Rule>) -> BTreeSet<(Rule, Mode)> {
    let found = findings.iter().map(|finding| (finding.rule, finding.mode));
    found.chain(refused.map(|rule| (rule, Mode::Enforce))).collect()
}

/// The names of the rules.
pub(super) fn named(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule.id()).collect()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn finding(rule: Rule, mode: Mode, message: &str) -> Finding {
        let message = message.to_owned();
        Finding { rule, mode, message }
    }

    /// As RFC 9110 has it: a code, nobody in particular, and a quoted text, which ends where it ends.
    #[test_case("plain" => "plain"; "plain")]
    #[test_case("a \"b\"" => r#"a \"b\""#; "quotes")]
    #[test_case(r"a\b\" => r"a\\b\\"; "backslashes")]
    #[test_case("a\", 299 - \"b" => r#"a\", 299 - \"b"#; "another warning")]
    #[test_case("a\r\nSet-Cookie: b\0\x7f\u{85}" => "a??Set-Cookie: b???"; "control characters")]
    #[test_case("Zürich \u{202e}\u{1f600}" => "Z?rich ??"; "not ASCII")]
    #[test_case(&"x".repeat(10_000) => format!("{}?", "x".repeat(MAX_WARNING)); "very long")]
    #[test_case(&"\"".repeat(10_000) => format!("{}?", "\\\"".repeat(MAX_WARNING)); "very long, of quotes")]
    fn warnings(message: &str) -> String {
        let warning = warning(&finding(Rule::NodeSecrets, Mode::Warn, message)).unwrap();
        let text = warning.to_str().unwrap();
        assert!(text.len() < 1024);
        let quoted = text.strip_prefix("299 - \"").and_then(|text| text.strip_suffix('"'));
        let mut rest = quoted.unwrap().chars();
        while let Some(c) = rest.next() {
            assert_ne!(c, '"', "{text}");
            assert!(c != '\\' || rest.next().is_some(), "{text}");
        }
        let told = quoted
            .unwrap()
            .strip_prefix("scopegate will refuse this by rule node/secrets: ");
        told.unwrap().to_owned()
    }

    #[test_case(Mode::Enforce)]
    #[test_case(Mode::Audit)]
    #[test_case(Mode::Off)]
    fn nobody_is_warned_in(mode: Mode) {
        assert_eq!(warning(&finding(Rule::NodeSecrets, mode, "x")), None);
    }

    #[test]
    fn a_rule_counts_once_a_request() {
        let (addresses, events) = (Rule::NodesAddresses, Rule::EventsObject);
        let found = [addresses, events, addresses, events, addresses].map(|rule| finding(rule, Mode::Audit, "x"));
        let counted: Vec<_> = violated(&found, Some(Rule::RestrictionNodes)).into_iter().collect();
        assert_eq!(
            counted,
            [
                (Rule::RestrictionNodes, Mode::Enforce),
                (events, Mode::Audit),
                (addresses, Mode::Audit)
            ]
        );
    }
}
