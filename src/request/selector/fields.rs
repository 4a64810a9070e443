//! Field selectors, with the grammar of `k8s.io/apimachinery/pkg/fields/selector.go` (1.36).

use super::{FieldOperator, FieldRequirement};

/// The terms in the order kube-apiserver sorts them, or nothing if any of them is malformed.
pub(super) fn parse(selector: &str) -> Option<Vec<FieldRequirement>> {
    let mut terms = split_terms(selector);
    terms.sort_unstable();
    let requirements: Option<Vec<_>> = terms
        .into_iter()
        .filter(|term| !term.is_empty())
        .map(requirement)
        .collect();
    let mut requirements = requirements?;
    // `=` alone asks nothing of nothing, and kube-apiserver forgets it.
    requirements.retain(|term| !(term.field.is_empty() && term.value.is_empty()));
    Some(requirements)
}

/// Splits at commas that no backslash escapes.
fn split_terms(selector: &str) -> Vec<&str> {
    let mut escaped = false;
    selector
        .split(|c| {
            let split = c == ',' && !escaped;
            escaped = c == '\\' && !escaped;
            split
        })
        .collect()
}

fn requirement(term: &str) -> Option<FieldRequirement> {
    // Scanning left to right, at each place the longer operators come first.
    let (at, operator) = term.char_indices().find_map(|(at, _)| {
        let rest = term.get(at..)?;
        ["!=", "==", "="]
            .into_iter()
            .find(|operator| rest.starts_with(operator))
            .map(|operator| (at, operator))
    })?;
    Some(FieldRequirement {
        field: term.get(..at)?.to_owned(),
        operator: match operator {
            "!=" => FieldOperator::NotEquals,
            _ => FieldOperator::Equals,
        },
        value: unescape(term.get(at + operator.len()..)?)?,
    })
}

/// Undoes `\\`, `\,` and `\=`. Any other escape and a bare `=` are errors.
fn unescape(value: &str) -> Option<String> {
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.push(chars.next().filter(|c| matches!(c, '\\' | ',' | '='))?),
            ',' | '=' => return None,
            _ => plain.push(c),
        }
    }
    Some(plain)
}
