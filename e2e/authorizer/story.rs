//! A cluster's life, with questions in between.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{question::Question, release::Release};

#[derive(Clone)]
pub(super) struct Story {
    pub(super) release: Release,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone)]
pub(super) enum Step {
    /// It is there from now on, or has changed.
    Apply(Value),
    Delete(Value),
    /// A list of all objects of a kind, in which these are missing.
    Relist(String, Vec<Value>),
    Ask(Question),
}

/// Kind, namespace and name of an object.
pub(super) type Id = (String, String, String);

pub(super) fn id(object: &Value) -> Id {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let meta = &object["metadata"];
    (text(&object["kind"]), text(&meta["namespace"]), text(&meta["name"]))
}

impl Story {
    /// Whether an API server could tell it, and upstream's handlers listen: see [`accepted`].
    pub(super) fn is_plausible(&self) -> bool {
        let mut known: BTreeMap<Id, &Value> = BTreeMap::new();
        self.steps.iter().all(|step| {
            match step {
                Step::Apply(object) => {
                    let old = known.insert(id(object), object);
                    return old.is_none_or(|old| accepted(old, object));
                }
                Step::Delete(object) => drop(known.remove(&id(object))),
                Step::Relist(_, gone) => known.retain(|known, _| !gone.iter().any(|gone| id(gone) == *known)),
                Step::Ask(_) => {}
            }
            true
        })
    }
}

impl Step {
    /// What the oracle is told, line by line.
    pub(super) fn lines(&self) -> Vec<String> {
        let upstreams = |object: &Value| {
            let bystanders = ["Node", "PersistentVolumeClaim", "ServiceAccount"];
            !bystanders.iter().any(|kind| object["kind"] == *kind)
        };
        let apply = |object: &Value| format!(r#"{{"op":"apply","object":{object}}}"#);
        let delete = |object: &Value| format!(r#"{{"op":"delete","object":{object}}}"#);
        match self {
            Self::Apply(object) if upstreams(object) => vec![apply(object)],
            Self::Delete(object) if upstreams(object) => vec![delete(object)],
            Self::Relist(_, gone) => gone.iter().filter(|object| upstreams(object)).map(delete).collect(),
            Self::Apply(_) | Self::Delete(_) => Vec::new(),
            Self::Ask(question) => vec![question.line()],
        }
    }
}

/// Whether an object can become another one in the eyes of an informer without upstream's handlers passing over it. They
/// rely on what the API server refuses to change, and on hearing of every deletion; the gate does not, and differs where an
/// informer missed one. `passed_over` shows each.
fn accepted(old: &Value, new: &Value) -> bool {
    let same = |pointer: &str| old.pointer(pointer) == new.pointer(pointer);
    match new["kind"].as_str() {
        Some("Pod") if !new["spec"]["nodeName"].is_string() => !old["spec"]["nodeName"].is_string(),
        Some("Pod") if same("/metadata/uid") => {
            let rebound = !same("/spec/nodeName");
            same("/spec/volumes") && (rebound || same("/status/extendedResourceClaimStatus"))
        }
        Some("ResourceSlice" | "PodCertificateRequest") => same("/spec/nodeName"),
        _ => true,
    }
}
