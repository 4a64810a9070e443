//! Discovery, health and version: the documents clients read before anything else, all made from
//! the kinds table.

use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::{
    Body,
    answer::{json_response, text_response},
    kinds::{KINDS, Kind},
};

/// The document at a path, where it is one of discovery's.
pub(super) fn document(path: &str) -> Option<Response<Body>> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let document = match parts.as_slice() {
        ["healthz" | "livez" | "readyz"] => return Some(text_response("ok")),
        ["version"] => version(),
        ["api"] => json!({
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [],
        }),
        ["apis"] => json!({
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": groups().into_iter().filter_map(group).collect::<Vec<_>>(),
        }),
        ["apis", name] if !name.is_empty() => {
            let mut document = group(name)?;
            with(
                &mut document,
                &[("kind", json!("APIGroup")), ("apiVersion", json!("v1"))],
            );
            document
        }
        ["api", version] => resources("", version)?,
        ["apis", group, version] if !group.is_empty() => resources(group, version)?,
        _ => return None,
    };
    Some(json_response(StatusCode::OK, &document))
}

fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "gitVersion": "v1.36.0-standin",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    })
}

/// The named groups, in the table's order.
fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> = KINDS.iter().map(|kind| kind.group).collect();
    groups.retain(|group| !group.is_empty());
    groups.dedup();
    groups
}

fn group(name: &str) -> Option<Value> {
    let mut versions: Vec<Value> = KINDS
        .iter()
        .filter(|kind| kind.group == name)
        .map(|kind| json!({ "groupVersion": kind.api_version(), "version": kind.version }))
        .collect();
    versions.dedup();
    let preferred = versions.first()?.clone();
    Some(json!({ "name": name, "versions": versions, "preferredVersion": preferred }))
}

fn resources(group: &str, version: &str) -> Option<Value> {
    let kinds: Vec<&Kind> = KINDS
        .iter()
        .filter(|kind| kind.group == group && kind.version == version)
        .collect();
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": kinds.first()?.api_version(),
        "resources": kinds.into_iter().flat_map(entries).collect::<Vec<_>>(),
    }))
}

/// A kind's own entry, then one for each subresource.
fn entries(kind: &Kind) -> Vec<Value> {
    let own = json!({
        "name": kind.plural,
        "singularName": kind.kind.to_lowercase(),
        "namespaced": kind.namespaced(),
        "kind": kind.kind,
        "verbs": kind.verbs,
        "shortNames": kind.short,
    });
    let subresources = kind.subresources.iter().map(|sub| subresource(kind, sub));
    std::iter::once(own).chain(subresources).collect()
}

fn subresource(kind: &Kind, sub: &str) -> Value {
    let mut entry = json!({
        "name": format!("{}/{sub}", kind.plural),
        "singularName": "",
        "namespaced": kind.namespaced(),
        "kind": kind.kind,
        "verbs": ["get", "patch", "update"],
    });
    if sub == "eviction" {
        let eviction = [
            ("group", json!("policy")),
            ("version", json!("v1")),
            ("kind", json!("Eviction")),
            ("verbs", json!(["create"])),
        ];
        with(&mut entry, &eviction);
    }
    entry
}

fn with(object: &mut Value, fields: &[(&str, Value)]) {
    if let Some(object) = object.as_object_mut() {
        object.extend(fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    }
}
