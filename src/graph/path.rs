//! How a node is related to an object, step by step: the evidence for a decision.

use std::fmt;

use super::{Field, Key, Kind, Relation};

/// From a node to an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Path {
    pub node: String,
    /// The first is next to the node, the last is the object.
    pub steps: Vec<Step>,
}

/// An object on the way, and the field that relates it to the one before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    pub kind: Kind,
    pub namespace: String,
    pub name: String,
    pub field: Field,
}

impl Path {
    pub(super) fn new(node: &str, steps: Vec<Step>) -> Self {
        let node = node.to_owned();
        Self { node, steps }
    }
}

impl Step {
    pub(super) fn new(key: Key<'_>, field: Field) -> Self {
        Self {
            kind: key.kind,
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
            field,
        }
    }

    pub fn key(&self) -> Key<'_> {
        Key::new(self.kind, &self.namespace, &self.name)
    }
}

/// `node-a ← pod default/web (spec.volumes[1].secret.secretName) ← secret default/s1`. A field stands behind the object
/// that has it.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.node)?;
        for (at, step) in self.steps.iter().enumerate() {
            write!(f, " ← {}", step.key())?;
            let next = self.steps.get(at + 1).map(|next| next.field);
            // That something names the node it is on goes without saying.
            let own = Some(step.field).filter(|field| at > 0 && field.relation() == Relation::BelongsTo);
            let next = next.filter(|field| field.relation() == Relation::Needs);
            match (own, next) {
                (None, None) => {}
                (Some(field), None) | (None, Some(field)) => write!(f, " ({field})")?,
                (Some(own), Some(next)) => write!(f, " ({own}, {next})")?,
            }
        }
        Ok(())
    }
}
