//! How a node is related to an object, step by step: the evidence for a decision.

use std::fmt::{self, Write as _};

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

    /// As it is displayed, with room for all of it from the beginning: the record of every request that the graph allows has it.
    pub fn text(&self) -> String {
        const FIELDS: usize = 64;
        let lengths = self
            .steps
            .iter()
            .map(|step| step.namespace.len() + step.name.len() + FIELDS);
        let mut text = String::with_capacity(self.node.len() + lengths.sum::<usize>());
        // A string takes everything.
        let _ = write!(text, "{self}");
        text
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
            f.write_str(" ← ")?;
            fmt::Display::fmt(&step.key(), f)?;
            let next = self.steps.get(at + 1).map(|next| next.field);
            // That something names the node it is on goes without saying.
            let own = Some(step.field).filter(|field| at > 0 && field.relation() == Relation::BelongsTo);
            let next = next.filter(|field| field.relation() == Relation::Needs);
            for (nth, field) in [own, next].into_iter().flatten().enumerate() {
                f.write_str(if nth == 0 { " (" } else { ", " })?;
                fmt::Display::fmt(&field, f)?;
            }
            if own.or(next).is_some() {
                f.write_str(")")?;
            }
        }
        Ok(())
    }
}
