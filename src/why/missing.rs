//! What would have to be there for a node or seed to be related to an object: the nearest that is.

use serde::{Deserialize, Serialize};

use super::{Trail, missing_on_seed};
use crate::{
    authorizer::Needed,
    graph::{Anchor, Key, Kind, Path, Relation, Snapshot},
    request::{RequestInfo, Target},
};

/// Why nothing leads from an object to a node or seed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    pub object: String,
    /// Whether anything at all is known of the node or seed.
    pub node_known: bool,
    /// How many others are related to the object.
    pub readers: usize,
    /// How some of those are.
    pub others: Vec<Trail>,
    /// All of it in words, a sentence a line.
    pub text: Vec<String>,
}

/// More than a few do not help.
const OTHERS: usize = 3;

impl Missing {
    /// Of a node or seed, or of every one.
    pub(super) fn of(end: Option<&str>, needed: Needed<'_>, info: &RequestInfo, graph: &Snapshot) -> Self {
        let anchor = graph.anchor();
        let key = shown(needed.key, info);
        let counts = |reader: &&str| needed.by.is_none_or(|by| graph.reaches_by(reader, needed.key, by));
        let readers: Vec<&str> = graph.readers(needed.key).into_iter().filter(counts).collect();
        let some = readers.iter().take(OTHERS);
        let mut paths: Vec<Path> = some.filter_map(|other| needed.path(other, graph)).collect();
        for last in paths.iter_mut().filter_map(|path| path.steps.last_mut()) {
            key.name.clone_into(&mut last.name);
        }
        let node_known = end.is_none_or(|end| graph.knows(end));

        let mut text = Vec::new();
        if let Some(end) = end.filter(|_| !node_known) {
            let title = anchor.kind().title();
            text.push(format!(
                "no {title} {end} is known, and nothing is on it; is that its name?"
            ));
        }
        text.extend(end.and_then(|end| missing_on_seed::not_so(end, needed, graph)));
        if readers.is_empty() {
            text.push(match anchor {
                Anchor::Node => nobody(key, graph),
                Anchor::Seed => missing_on_seed::nobody(end, key, graph),
            });
        }
        for path in &paths {
            text.push(format!("{key} {}", chain(anchor, path, end)));
        }
        let word = anchor.kind().as_str();
        match readers.len().saturating_sub(paths.len()) {
            0 => {}
            1 => text.push(format!("1 more {word} is related to it")),
            more => text.push(format!("{more} more {word}s are related to it")),
        }
        let others = paths.into_iter().map(|path| Trail::of(anchor, path, key));
        Self {
            object: key.to_string(),
            node_known,
            readers: readers.len(),
            others: others.collect(),
            text,
        }
    }
}

/// An object as the request has it: the graph may know it by a part of its name.
pub(super) fn shown<'a>(key: Key<'a>, info: &'a RequestInfo) -> Key<'a> {
    match &info.target {
        Target::Resource(request) if request.name.ends_with(key.name) => Key {
            name: &request.name,
            ..key
        },
        _ => key,
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

/// From the object to its node or seed, in words, and to which it does not lead.
fn chain(anchor: Anchor, path: &Path, not: Option<&str>) -> String {
    let mut links = Vec::new();
    for (at, step) in path.steps.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|before| path.steps.get(before));
        links.push(match (before, step.field.relation()) {
            (Some(before), Relation::Needs) => format!("is needed by {} ({})", before.key(), step.field),
            (Some(before), Relation::BelongsTo) => format!("belongs to {} ({})", before.key(), step.field),
            (None, relation) => {
                let (verb, preposition) = match (anchor, relation) {
                    (Anchor::Node, _) if step.kind == Kind::Pod => ("is", "on"),
                    (Anchor::Node, _) => ("is", "for"),
                    (Anchor::Seed, Relation::BelongsTo) => ("belongs", "to"),
                    (Anchor::Seed, Relation::Needs) => ("is needed", "by"),
                };
                let field = match anchor {
                    Anchor::Node => String::new(),
                    Anchor::Seed => format!(" ({})", step.field),
                };
                let not = not.map_or(String::new(), |end| format!(", not {preposition} {end}"));
                format!("{verb} {preposition} {}{field}{not}", path.node)
            }
        });
    }
    links.join(", which ")
}
