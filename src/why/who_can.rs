//! Which nodes and seeds can read an object.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    AskedObject, End, Known, Missing, State, Trail, Unclear, asker::Asker, explanation::rule, missing::shown,
    text::Report,
};
use crate::{
    api::garden,
    authorizer::{self, Attributes, Authorizer},
    caller::Caller,
    decision::{Evidence, Verdict},
    graph::{Anchor, Key, Kind, Snapshot},
    quarantine::Quarantine,
    request::{RequestInfo, Target},
};

/// Every node and seed that can read an object, and by what.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhoCan {
    pub object: String,
    /// Sorted by the name of the node.
    pub nodes: Vec<Trail>,
    /// Nodes that could, and are in quarantine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<String>,
    /// What becomes of a read by any other node, and why. Nothing where nodes do not read such objects by what refers to them.
    pub others: Option<Others>,
    /// Where there is no node: what would have to be there.
    pub missing: Option<Missing>,
    pub snapshot: State,
    /// The same of seeds, where there are rules for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Seeds>,
}

/// The part about seeds.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Seeds {
    /// Sorted by the name of the seed.
    pub readers: Vec<Trail>,
    pub others: Others,
    pub missing: Option<Missing>,
    pub snapshot: State,
}

/// Nodes, or seeds, that are not related to the object.
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

/// Of one graph.
struct Found {
    readers: Vec<Trail>,
    quarantined: Vec<String>,
    others: Others,
    missing: Option<Missing>,
    snapshot: State,
}

/// The most that are written as text.
const SHOWN: usize = 20;
/// Any node or seed; what is decided about it depends on nothing but the rules. None can have that name.
const ANY: &str = "<any>";

/// Unclear where no graph of the gate has to do with it.
pub fn who_can(asked: &AskedObject, authorizer: &Authorizer, known: &Known) -> Result<WhoCan, Unclear> {
    if !asked.for_nodes && authorizer.seeds.is_none() {
        return Err(asked.independent());
    }
    let nodes = find(Anchor::Node, asked, authorizer, known);
    let seeds = authorizer.seeds.map(|_| find(Anchor::Seed, asked, authorizer, known));
    Ok(WhoCan {
        object: shown(key(asked), &asked.info).to_string(),
        nodes: nodes.readers,
        quarantined: nodes.quarantined,
        others: asked.for_nodes.then_some(nodes.others),
        missing: nodes.missing,
        snapshot: nodes.snapshot,
        seeds: seeds.map(|seeds| Seeds {
            readers: seeds.readers,
            others: seeds.others,
            missing: seeds.missing,
            snapshot: seeds.snapshot,
        }),
    })
}

fn key(asked: &AskedObject) -> Key<'_> {
    match &asked.info.target {
        // It is in itself, as a request has it.
        Target::Resource(request) if asked.kind == Kind::Namespace => Key::cluster(asked.kind, &request.name),
        Target::Resource(request) => Key::new(asked.kind, &request.namespace, &request.name),
        Target::Path(_) => Key::cluster(asked.kind, ""),
    }
}

fn find(anchor: Anchor, asked: &AskedObject, authorizer: &Authorizer, known: &Known) -> Found {
    let info = &asked.info;
    let view = known.view(anchor);
    let graph = view.graph.as_ref();
    let caller = Asker::at(anchor, ANY);
    let others = authorizer.decide(Attributes {
        caller: &caller,
        info,
        impersonates: false,
        quarantine: Quarantine::nobody(),
        // Nobody is related to anything in it.
        graph: &Snapshot::empty(anchor),
    });
    // Where the rules do not ask the graph, nobody is allowed or refused because of it; nor where an extra rule lets every node.
    let extra = matches!(others.evidence, Evidence::Extra(_));
    let needed = authorizer.dependency(&caller, info).filter(|_| !extra);
    let readers = needed.map_or(Vec::new(), |needed| graph.readers(needed.key));
    let (held, readers): (Vec<_>, Vec<_>) = readers.into_iter().partition(|end| {
        let caller = Asker::at(anchor, end);
        known.quarantine().stops(&caller, info).is_some()
    });
    let trail = |end: &&str| {
        let needed = needed?;
        let path = needed.path(end, graph)?;
        Some(Trail::of(anchor, path, shown(needed.key, info)))
    };
    let mut trails: Vec<Trail> = readers.iter().filter_map(trail).collect();
    if anchor == Anchor::Seed && needed.is_some() {
        for own in owners(asked, authorizer, graph) {
            trails.retain(|trail| trail.end != own.end);
            trails.push(own);
        }
        trails.sort_by(|a, b| a.end.name().cmp(b.end.name()));
    }
    let nobody = trails.is_empty() && held.is_empty();
    Found {
        missing: needed
            .filter(|_| nobody)
            .map(|needed| Missing::of(None, needed, info, graph)),
        readers: trails,
        quarantined: held.iter().map(ToString::to_string).collect(),
        others: Others {
            allowed: others.verdict == Verdict::Allow,
            rule: rule(&others),
            condoned: others.condoned.map(|mode| mode.to_string()),
            reason: needed.is_none().then(|| authorizer::explain(&others, &caller, info)),
        },
        snapshot: State::of(&view),
    }
}

/// Seeds that may read it for what it is called: it is theirs, or it is the seed itself.
fn owners(asked: &AskedObject, authorizer: &Authorizer, graph: &Snapshot) -> Vec<Trail> {
    let Key { kind, namespace, name } = key(asked);
    let by_namespace = garden::seed_of_namespace(namespace);
    let by_name = matches!(kind, Kind::Seed | Kind::Shoot).then_some(name);
    let named = by_namespace.into_iter().chain(by_name);
    let own = named.filter_map(|seed| {
        let caller = Asker::at(Anchor::Seed, seed);
        let end = End::Seed(seed.to_owned());
        if kind == Kind::Seed {
            return graph.knows(seed).then(|| Trail::at(end, "it is the object itself"));
        }
        let is_theirs = authorizer.seed(&caller).is_some() && is_always(&caller, &asked.info, authorizer, graph);
        (is_theirs && graph.knows(seed)).then(|| Trail::at(end, "it is its own, whatever refers to it"))
    });
    own.collect()
}

/// Whether the rules do not even ask how the object is related to the seed.
fn is_always(caller: &Caller, info: &RequestInfo, authorizer: &Authorizer, graph: &Snapshot) -> bool {
    let decision = authorizer.decide(Attributes {
        caller,
        info,
        impersonates: false,
        quarantine: Quarantine::nobody(),
        graph,
    });
    decision.verdict == Verdict::Allow && matches!(decision.evidence, Evidence::Rule(_))
}

impl WhoCan {
    /// Whether the gate lets any node or seed read it.
    pub fn is_anyone(&self) -> bool {
        let allowed = self.others.as_ref().is_some_and(|others| others.allowed);
        let seeds = self.seeds.as_ref();
        let seeds = seeds.is_some_and(|seeds| seeds.others.allowed || !seeds.readers.is_empty());
        allowed || !self.nodes.is_empty() || seeds
    }
}

impl Others {
    fn verdict(&self, object: &str, word: &str, readers: &[Trail]) -> String {
        if let Some(mode) = &self.condoned {
            let rule = &self.rule;
            return format!("every {word} can read {object}: {rule} is not enforced (its mode is {mode})");
        }
        match (readers.len(), self.allowed, self.is_left()) {
            (0, true, false) => format!("every {word} can read {object}"),
            (0, true, true) => format!("no {word} is related to {object}, and upstream decides who can read it"),
            (0, false, _) => format!("no {word} can read {object}"),
            (1, ..) => format!("1 {word} can read {object}"),
            (count, ..) => format!("{count} {word}s can read {object}"),
        }
    }

    /// Whether what no rule allows is left to upstream.
    fn is_left(&self) -> bool {
        self.allowed && self.rule.starts_with("callers.")
    }

    fn lines(&self, word: &str, missing: Option<&Missing>, snapshot: &State, report: &mut Report) {
        if let Some(missing) = missing {
            report.lines("missing", &missing.text);
        }
        if let Some(reason) = &self.reason {
            report.line("because", reason);
        }
        if self.is_left() {
            let rule = &self.rule;
            let text = format!("{rule} leaves the reads of any other {word} to upstream");
            report.line("others", text);
        }
        report.line("snapshot", snapshot.to_string());
    }
}

fn paths(readers: &[Trail], report: &mut Report) {
    report.lines("path", readers.iter().take(SHOWN).map(|trail| &trail.text));
    match readers.len().saturating_sub(SHOWN) {
        0 => {}
        more => report.line("", format!("and {more} more; JSON has them all")),
    }
}

impl fmt::Display for WhoCan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(others) = &self.others {
            let mut report = Report::default();
            paths(&self.nodes, &mut report);
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
            others.lines("node", self.missing.as_ref(), &self.snapshot, &mut report);
            report.write(&others.verdict(&self.object, "node", &self.nodes), f)?;
        }
        if let Some(seeds) = &self.seeds {
            let mut report = Report::default();
            paths(&seeds.readers, &mut report);
            let others = &seeds.others;
            others.lines("seed", seeds.missing.as_ref(), &seeds.snapshot, &mut report);
            report.write(&others.verdict(&self.object, "seed", &seeds.readers), f)?;
        }
        Ok(())
    }
}
