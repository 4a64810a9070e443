//! Field selectors, with the grammar of `k8s.io/apimachinery/pkg/fields` (1.36).

/// One term of a selector; a selector is the AND of its terms.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Requirement {
    pub(super) field: String,
    pub(super) equals: bool,
    pub(super) value: String,
}

/// The terms in the order kube-apiserver sorts them, or nothing if any of them is malformed.
pub(super) fn parse(selector: &str) -> Option<Vec<Requirement>> {
    let mut terms = split_terms(selector);
    terms.sort_unstable();
    terms
        .into_iter()
        .filter(|term| !term.is_empty())
        .map(requirement)
        .collect()
}

/// The object name a selector pins: the value of the first `metadata.name=` term that can be a path segment.
pub(super) fn pinned_name(requirements: &[Requirement]) -> Option<&str> {
    let first = requirements
        .iter()
        .find(|term| term.equals && term.field == "metadata.name")?;
    let value = first.value.as_str();
    let segment = !matches!(value, "" | "." | "..") && !value.contains(['/', '%']);
    segment.then_some(value)
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

fn requirement(term: &str) -> Option<Requirement> {
    // Scanning left to right, at each place the longer operators come first.
    let (at, operator) = term.char_indices().find_map(|(at, _)| {
        let rest = term.get(at..)?;
        ["!=", "==", "="]
            .into_iter()
            .find(|operator| rest.starts_with(operator))
            .map(|operator| (at, operator))
    })?;
    Some(Requirement {
        field: term.get(..at)?.to_owned(),
        equals: operator != "!=",
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
