//! Why a node or a seed may do something or not, and who can read an object: what operators ask when a pod does not start, or a
//! shoot is not reconciled.
//!
//! Pure. The answers come from the very [`Authorizer`](crate::authorizer::Authorizer) and graph that requests are judged
//! with, and are values that become text or JSON when somebody reads them.

mod asker;
mod explanation;
mod missing;
mod missing_on_seed;
mod question;
mod resource;
mod text;
mod who_can;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

pub use self::{
    asker::End,
    explanation::{Answer, Explanation, Request, explain},
    missing::Missing,
    question::{Asked, AskedObject, Object, Question, Unclear},
    who_can::{WhoCan, who_can},
};
use crate::{
    graph::{Anchor, Key, Path, Snapshot},
    quarantine::Quarantine,
};

/// What answers are made from.
#[derive(Clone, Debug)]
pub struct Known {
    pub nodes: View,
    /// Nothing where there are no rules for seeds.
    pub seeds: Option<View>,
    /// Who is held back, whatever the rules say. Nothing as long as nobody knows.
    pub quarantine: Option<Arc<Quarantine>>,
}

/// One graph, and how far it is to be believed.
#[derive(Clone, Debug)]
pub struct View {
    pub graph: Arc<Snapshot>,
    /// Where the graph comes from.
    pub origin: String,
    /// How long ago upstream was last heard to agree with it. Nothing where nobody keeps it up to date.
    pub age: Option<Duration>,
    /// Why requests are not decided from it now, if they are not.
    pub doubt: Option<String>,
}

/// Which state of the graph an answer was made from.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    pub generation: u64,
    pub origin: String,
    pub age_seconds: Option<f64>,
    pub doubt: Option<String>,
}

/// A way from a node or seed to an object.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Trail {
    #[serde(flatten)]
    pub end: End,
    /// The first is next to the end, the last is the object. None where the object is the seed itself, or the rules do not ask how
    /// it is related to this one.
    pub steps: Vec<Step>,
    /// All of it in one line.
    pub text: String,
}

/// An object on the way, and the field that relates it to the one before: its own field, or one of that other's.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Step {
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub field: String,
}

impl Known {
    fn quarantine(&self) -> &Quarantine {
        self.quarantine.as_deref().unwrap_or(Quarantine::nobody())
    }

    /// The graph that decides about callers of this kind.
    fn view(&self, anchor: Anchor) -> Cow<'_, View> {
        match (anchor, &self.seeds) {
            (Anchor::Node, _) => Cow::Borrowed(&self.nodes),
            (Anchor::Seed, Some(seeds)) => Cow::Borrowed(seeds),
            (Anchor::Seed, None) => Cow::Owned(View {
                graph: Arc::new(Snapshot::empty(Anchor::Seed)),
                origin: "nowhere".to_owned(),
                age: None,
                doubt: Some("nothing is known of seeds".to_owned()),
            }),
        }
    }
}

impl State {
    fn of(view: &View) -> Self {
        Self {
            generation: view.graph.generation(),
            origin: view.origin.clone(),
            // Nobody wants to read microseconds.
            age_seconds: view.age.map(|age| age.as_millis() as f64 / 1000.0),
            doubt: view.doubt.clone(),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generation {} from {}", self.generation, self.origin)?;
        if let Some(age) = self.age_seconds {
            write!(f, ", all of it confirmed within the last {age:.1} s")?;
        }
        match &self.doubt {
            Some(doubt) => write!(f, "; not to be relied on: {doubt}"),
            None => Ok(()),
        }
    }
}

impl Trail {
    /// To an object that may have another name than the graph has for it.
    fn of(anchor: Anchor, mut path: Path, object: Key<'_>) -> Self {
        if let Some(last) = path.steps.last_mut() {
            object.name.clone_into(&mut last.name);
        }
        let text = path.text();
        let steps = path.steps.into_iter().map(|step| Step {
            kind: step.kind.as_str().to_owned(),
            namespace: step.namespace,
            name: step.name,
            field: step.field.to_string(),
        });
        Self {
            steps: steps.collect(),
            end: End::new(anchor, path.node),
            text,
        }
    }

    /// Without a way.
    fn at(end: End, why: &str) -> Self {
        let text = format!("{}: {why}", end.name());
        let steps = Vec::new();
        Self { end, steps, text }
    }
}

#[cfg(test)]
pub(crate) mod tests;
