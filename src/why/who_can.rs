//! Which nodes can read an object.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AskedObject, Known, Missing, State, Trail, explanation::rule, question::caller, text::Report};
use crate::{
    authorizer::{self, Attributes, Authorizer},
    decision::{Evidence, Verdict},
    graph::{Key, Snapshot},
    quarantine::Quarantine,
    request::Target,
};

/// Every node that can read an object, and by what.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhoCan {
    pub object: String,
    /// Sorted by the name of the node.
    pub nodes: Vec<Trail>,
    /// Nodes that could, and are in quarantine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<String>,
    /// What becomes of a read by any other node, and why.
    pub others: Others,
    /// Where there is no node: what would have to be there.
    pub missing: Option<Missing>,
    pub snapshot: State,
}

/// Nodes that are not related to the object.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Others {
    pub allowed: bool,
    pub rule: String,
    /// How the rule is set, where it would refuse them if it were enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condoned: Option<String>,
    /// As the log has it, where the rules do not ask how the node and the object are related.
    pub reason: Option<String>,
}

/// The most that are written as text.
const SHOWN: usize = 20;
/// Any node; what is decided about it depends on nothing but the rules.
const ANY: &str = "any";

pub fn who_can(asked: &AskedObject, authorizer: &Authorizer, known: &Known) -> WhoCan {
    let AskedObject { kind, info } = asked;
    let graph = known.graph.as_ref();
    let caller = caller(ANY);
    let others = authorizer.decide(Attributes {
        caller: &caller,
        info,
        impersonates: false,
        quarantine: Quarantine::nobody(),
        // Nobody is related to anything in it.
        graph: &Snapshot::default(),
    });
    let key = match &info.target {
        Target::Resource(request) => Key::new(*kind, &request.namespace, &request.name),
        Target::Path(_) => Key::cluster(*kind, ""),
    };
    // Where the rules do not ask the graph, nobody is allowed or refused because of it; nor where an extra rule lets every node.
    let extra = matches!(others.evidence, Evidence::Extra(_));
    let depends = authorizer.dependency(&caller, info).is_some() && !extra;
    let readers = if depends { graph.readers(key) } else { Vec::new() };
    let (held, readers): (Vec<_>, Vec<_>) = readers.into_iter().partition(|node| {
        let caller = self::caller(node);
        known.quarantine().stops(&caller, info).is_some()
    });
    let paths = readers.iter().filter_map(|node| graph.path(node, key));
    let nodes: Vec<Trail> = paths.map(Trail::from).collect();
    WhoCan {
        object: key.to_string(),
        missing: (depends && nodes.is_empty() && held.is_empty()).then(|| Missing::of(None, key, graph)),
        nodes,
        quarantined: held.iter().map(ToString::to_string).collect(),
        others: Others {
            allowed: others.verdict == Verdict::Allow,
            rule: rule(&others),
            condoned: others.condoned.map(|mode| mode.to_string()),
            reason: (!depends).then(|| authorizer::explain(&others, &caller, info)),
        },
        snapshot: State::of(known),
    }
}

impl WhoCan {
    /// Whether the gate lets any node read it.
    pub fn is_anyone(&self) -> bool {
        self.others.allowed || !self.nodes.is_empty()
    }

    fn verdict(&self) -> String {
        let Self { object, nodes, .. } = self;
        if let Some(mode) = &self.others.condoned {
            let rule = &self.others.rule;
            return format!("every node can read {object}: {rule} is not enforced (its mode is {mode})");
        }
        match (nodes.len(), self.others.allowed, self.is_left()) {
            (0, true, false) => format!("every node can read {object}"),
            (0, true, true) => format!("no node is related to {object}, and upstream decides who can read it"),
            (0, false, _) => format!("no node can read {object}"),
            (1, ..) => format!("1 node can read {object}"),
            (count, ..) => format!("{count} nodes can read {object}"),
        }
    }

    /// Whether what no rule allows is left to upstream.
    fn is_left(&self) -> bool {
        self.others.allowed && self.others.rule.starts_with("callers.")
    }
}

impl fmt::Display for WhoCan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut report = Report::default();
        report.lines("path", self.nodes.iter().take(SHOWN).map(|trail| &trail.text));
        match self.nodes.len().saturating_sub(SHOWN) {
            0 => {}
            more => report.line("", format!("and {more} more; JSON has them all")),
        }
        match self.quarantined.as_slice() {
            [] => {}
            held if held.len() > SHOWN => {
                report.line("held", format!("{} nodes that could are in quarantine", held.len()));
            }
            held => report.line(
                "held",
                format!("in quarantine, and could otherwise: {}", held.join(", ")),
            ),
        }
        if let Some(missing) = &self.missing {
            report.lines("missing", &missing.text);
        }
        if let Some(reason) = &self.others.reason {
            report.line("because", reason);
        }
        if self.is_left() {
            let rule = &self.others.rule;
            report.line(
                "others",
                format!("{rule} leaves the reads of any other node to upstream"),
            );
        }
        report.line("snapshot", self.snapshot.to_string());
        report.write(&self.verdict(), f)
    }
}
