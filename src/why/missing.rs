//! What would have to be there for a node to be related to an object: the nearest that is.

use serde::{Deserialize, Serialize};

use super::Trail;
use crate::graph::{Key, Kind, Path, Relation, Snapshot};

/// Why nothing leads from an object to a node.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    pub object: String,
    /// Whether anything at all is known of the node.
    pub node_known: bool,
    /// How many other nodes are related to the object.
    pub readers: usize,
    /// How some of those are.
    pub others: Vec<Trail>,
    /// All of it in words, a sentence a line.
    pub text: Vec<String>,
}

/// More than a few do not help.
const OTHERS: usize = 3;

impl Missing {
    /// Of a node, or of every node.
    pub(super) fn of(node: Option<&str>, key: Key<'_>, graph: &Snapshot) -> Self {
        let readers = graph.readers(key);
        let shown = readers.iter().take(OTHERS);
        let paths: Vec<Path> = shown.filter_map(|other| graph.path(other, key)).collect();
        let node_known = node.is_none_or(|node| graph.knows(node));

        let mut text = Vec::new();
        if let Some(node) = node.filter(|_| !node_known) {
            text.push(format!(
                "no Node {node} is known, and nothing is on it; is that its name?"
            ));
        }
        if readers.is_empty() {
            text.push(nobody(key, graph));
        }
        for path in &paths {
            text.push(format!("{key} {}", chain(path, node)));
        }
        match readers.len().saturating_sub(paths.len()) {
            0 => {}
            1 => text.push("1 more node is related to it".to_owned()),
            more => text.push(format!("{more} more nodes are related to it")),
        }
        Self {
            object: key.to_string(),
            node_known,
            readers: readers.len(),
            others: paths.into_iter().map(Trail::from).collect(),
            text,
        }
    }
}

/// What no object says that would have to.
fn nobody(key: Key<'_>, graph: &Snapshot) -> String {
    match key.kind {
        Kind::CertificateSigningRequest => format!("{key} is not there, or no node has made it (spec.username)"),
        Kind::Namespace => format!("no pod on any node is in {key}; mirror pods do not count"),
        Kind::Pod => format!("{key} is not there, or not bound to any node (spec.nodeName)"),
        Kind::PodCertificateRequest | Kind::ResourceSlice | Kind::VolumeAttachment => {
            format!("{key} is not there, or names no node (spec.nodeName)")
        }
        Kind::PersistentVolume => {
            format!("{key} is not there, or no pod on any node uses the claim that it is for (spec.claimRef)")
        }
        Kind::Endpoints | Kind::Secret => format!(
            "no pod on any node refers to {key}, nor does a volume that such a pod claims; mirror pods do not count"
        ),
        _ if graph.facts(key).is_some() => {
            format!("{key} is there, but no pod on any node refers to it; mirror pods do not count")
        }
        _ => format!("no pod on any node refers to {key}; mirror pods do not count"),
    }
}

/// From the object to its node, in words, and to which node it does not lead.
fn chain(path: &Path, not: Option<&str>) -> String {
    let mut links = Vec::new();
    for (at, step) in path.steps.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|before| path.steps.get(before));
        links.push(match (before, step.field.relation()) {
            (Some(before), Relation::Needs) => format!("is needed by {} ({})", before.key(), step.field),
            (Some(before), Relation::BelongsTo) => format!("belongs to {} ({})", before.key(), step.field),
            (None, _) => {
                let preposition = if step.kind == Kind::Pod { "on" } else { "for" };
                let not = not.map_or(String::new(), |node| format!(", not {preposition} {node}"));
                format!("is {preposition} {}{not}", path.node)
            }
        });
    }
    links.join(", which ")
}
