//! Why a node may do something or not, and who can read an object: what operators ask when a pod does not start.
//!
//! Pure. The answers come from the very [`Authorizer`](crate::authorizer::Authorizer) and graph that requests are judged
//! with, and are values that become text or JSON when somebody reads them.

mod explanation;
mod missing;
mod question;
mod resource;
mod text;
mod who_can;

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

pub use self::{
    explanation::{Answer, Explanation, Request, explain},
    missing::Missing,
    question::{Asked, AskedObject, Object, Question, Unclear},
    who_can::{WhoCan, who_can},
};
use crate::{
    graph::{Path, Snapshot},
    quarantine::Quarantine,
};

/// What answers are made from.
#[derive(Clone, Debug)]
pub struct Known {
    pub graph: Arc<Snapshot>,
    /// Who is held back, whatever the rules say. Nothing as long as nobody knows.
    pub quarantine: Option<Arc<Quarantine>>,
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

/// A way from a node to an object.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Trail {
    pub node: String,
    /// The first is next to the node, the last is the object.
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
}

impl State {
    fn of(known: &Known) -> Self {
        Self {
            generation: known.graph.generation(),
            origin: known.origin.clone(),
            // Nobody wants to read microseconds.
            age_seconds: known.age.map(|age| age.as_millis() as f64 / 1000.0),
            doubt: known.doubt.clone(),
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

impl From<Path> for Trail {
    fn from(path: Path) -> Self {
        let text = path.to_string();
        let steps = path.steps.into_iter().map(|step| Step {
            kind: step.kind.as_str().to_owned(),
            namespace: step.namespace,
            name: step.name,
            field: step.field.to_string(),
        });
        Self {
            steps: steps.collect(),
            node: path.node,
            text,
        }
    }
}

#[cfg(test)]
mod tests;
