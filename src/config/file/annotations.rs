//! Validated annotations of pods: whether they are looked at, and where else than in the kinds of Kubernetes.

use crate::{
    admission::{Place, ValidatedAnnotations},
    config::section::Section,
};

/// A kind of the configuration, once for every template in it.
struct Row {
    group: String,
    resource: String,
    kind: String,
    template: Vec<String>,
}

/// Nothing if nobody looks at them.
pub(super) fn validated_annotations(mut section: Section<'_>) -> Option<ValidatedAnnotations> {
    let enabled = section.boolean("enabled").unwrap_or(false);
    let ports = section.boolean("ports").unwrap_or(true);
    let trusted = section.strings("trustedCreators").unwrap_or_default();
    if trusted.iter().any(String::is_empty) {
        section.problem("trustedCreators", "must not have an empty string in it", "leave it out");
    }
    let rows: Vec<Row> = section.sections("kinds").into_iter().filter_map(row).collect();
    section.finish();
    let mut kinds: Vec<Place> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let is_same = |other: &&Row| other.group == row.group && other.resource == row.resource;
        if rows.iter().take(at).any(|other| is_same(&other)) {
            continue;
        }
        let templates: Vec<_> = rows.iter().filter(is_same).map(|row| row.template.clone()).collect();
        kinds.push(Place::custom(
            row.group.clone(),
            row.resource.clone(),
            row.kind.clone(),
            &templates,
        ));
    }
    enabled.then(|| ValidatedAnnotations::new(ports, trusted, kinds))
}

/// Nothing only if a problem was noted.
fn row(mut section: Section<'_>) -> Option<Row> {
    let group = section.string("group");
    let resource = section.string("resource");
    let kind = section.string("kind");
    let pointer = section.string("template");
    let group = section.require("group", group, "for example: example.com");
    let resource = section.require("resource", resource, "in the plural, for example: workers");
    let kind = section.require("kind", kind, "for example: Worker");
    let pointer = section.require("template", pointer, "for example: /spec/template");
    if matches!(group.as_deref(), Some("" | "apps" | "batch")) {
        section.problem(
            "group",
            "is one of Kubernetes itself",
            "its kinds are looked at anyway; leave it out",
        );
    }
    let template = pointer.and_then(|pointer| {
        let keys = keys(&pointer);
        if keys.is_none() {
            let message = format!("{pointer:?} is no JSON pointer to an object within objects");
            section.problem("template", message, "for example: /spec/template");
        }
        keys
    });
    section.finish();
    Some(Row {
        group: group?,
        resource: resource?,
        kind: kind?,
        template: template?,
    })
}

/// A list cannot be looked into: its items have no place of their own.
fn keys(pointer: &str) -> Option<Vec<String>> {
    let keys = pointer.strip_prefix('/')?.split('/');
    let keys: Vec<String> = keys.map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
    let is_key = |key: &String| !key.is_empty() && key != "-" && !key.bytes().all(|byte| byte.is_ascii_digit());
    let identifies = ["apiVersion", "kind", "metadata", "status"];
    let first = keys.first()?;
    (keys.iter().all(is_key) && !identifies.contains(&first.as_str())).then_some(keys)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    #[test_case("/spec/template" => Some(vec!["spec".to_owned(), "template".to_owned()]); "plain")]
    #[test_case("/a~1b/c~0d" => Some(vec!["a/b".to_owned(), "c~d".to_owned()]); "escaped")]
    #[test_case("" => None; "all of it")]
    #[test_case("spec" => None; "no pointer")]
    #[test_case("/" => None; "an empty key")]
    #[test_case("/spec/0/template" => None; "an item of a list")]
    #[test_case("/spec/-" => None; "behind a list")]
    #[test_case("/metadata/x" => None; "what every object has")]
    fn pointers(pointer: &str) -> Option<Vec<String>> {
        super::keys(pointer)
    }
}
