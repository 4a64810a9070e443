//! Puts scopes right when an edge comes or goes.

use super::{Assertion, Id, Store};
use crate::graph::{Field, Relation, scope::Arrow};

impl Store {
    pub(super) fn link(&mut self, owner: Id, new: &[Assertion]) {
        for assertion in new {
            self.mention(owner, *assertion, true);
        }
        for (from, to, field) in belonging(owner, new) {
            for node in self.nodes(to) {
                self.enter(node, from, to, field);
            }
        }
        for node in self.nodes(owner) {
            for (from, to, field) in needing(owner, new) {
                self.enter(node, from, to, field);
            }
        }
    }

    pub(super) fn unlink(&mut self, owner: Id, gone: &[Assertion]) {
        for node in self.nodes(owner) {
            for (from, to, field) in needing(owner, gone) {
                self.leave(node, from, to, field);
            }
        }
        for (from, to, field) in belonging(owner, gone) {
            for node in self.nodes(to) {
                self.leave(node, from, to, field);
            }
        }
        for assertion in gone {
            self.mention(owner, *assertion, false);
        }
    }

    /// The edge leads to the node. If it is the first of its object that does, all edges to that object do too now.
    fn enter(&mut self, node: Id, from: Id, to: Id, field: Field) {
        if from == node {
            // It is there already.
            return;
        }
        let arrow = self.arrow(from, to, field);
        if self.scope(node).insert(arrow) {
            for (other, field) in self.inward(from) {
                self.enter(node, other, from, field);
            }
        }
    }

    /// The same the other way round.
    fn leave(&mut self, node: Id, from: Id, to: Id, field: Field) {
        if from == node {
            return;
        }
        let arrow = self.arrow(from, to, field);
        if self.scope(node).remove(arrow) {
            for (other, field) in self.inward(from) {
                self.leave(node, other, from, field);
            }
        }
    }

    fn arrow(&self, from: Id, to: Id, field: Field) -> Arrow {
        let hash = self.entries.get(from.number()).map_or(0, |entry| entry.hash);
        Arrow { hash, from, to, field }
    }

    /// The nodes that an object leads to.
    fn nodes(&self, id: Id) -> Vec<Id> {
        let mut nodes = Vec::new();
        let mut ahead = vec![id];
        while let Some(id) = ahead.pop() {
            if id.kind().is_anchor() {
                nodes.push(id);
                continue;
            }
            let own = self.own(id, Relation::BelongsTo).map(|(other, _)| other);
            ahead.extend(own.chain(self.mentioned(id, Relation::Needs)));
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The objects that lead to this one directly, and by which field. What leads to the end of a path leads no further, even if
    /// that belongs to somebody itself: what is on a seed is not for whoever runs the shoot that the seed is.
    fn inward(&self, id: Id) -> Vec<(Id, Field)> {
        if self.anchor.is_leaf(id.kind()) || id.kind().is_anchor() {
            return Vec::new();
        }
        let mentioned = self.mentioned(id, Relation::BelongsTo).filter_map(|owner| {
            let mut own = self.own(owner, Relation::BelongsTo);
            own.find(|(other, _)| *other == id).map(|(_, field)| (owner, field))
        });
        self.own(id, Relation::Needs).chain(mentioned).collect()
    }

    /// What the object asserts itself.
    fn own(&self, id: Id, relation: Relation) -> impl Iterator<Item = (Id, Field)> {
        let asserted = self.asserted.get(&id).map_or(&[][..], |asserted| asserted);
        let related = asserted
            .iter()
            .filter(move |assertion| assertion.relation() == relation);
        related.map(|assertion| (assertion.other, assertion.field))
    }

    /// Who asserts something about the object.
    fn mentioned(&self, id: Id, relation: Relation) -> impl Iterator<Item = Id> {
        let mentions = match relation {
            Relation::Needs => &self.needed,
            Relation::BelongsTo => &self.belonged,
        };
        let owners = mentions.range((id, Id::MIN)..=(id, Id::MAX));
        owners.map(|(_, owner)| *owner)
    }

    /// Notes, or forgets, that the object is mentioned. Where paths only begin or end, nobody needs to know by whom.
    fn mention(&mut self, owner: Id, assertion: Assertion, mentioned: bool) {
        let other = assertion.other;
        debug_assert!(assertion.relation() == Relation::Needs || !self.anchor.is_leaf(other.kind()));
        if self.anchor.is_leaf(other.kind()) || other.kind().is_anchor() {
            return;
        }
        let mentions = match assertion.relation() {
            Relation::Needs => &mut self.needed,
            Relation::BelongsTo => &mut self.belonged,
        };
        if mentioned {
            mentions.insert((other, owner));
        } else {
            mentions.remove(&(other, owner));
        }
    }
}

/// The edges by which the object belongs to others: from, to and why.
fn belonging(owner: Id, assertions: &[Assertion]) -> impl Iterator<Item = (Id, Id, Field)> {
    let belonging = assertions.iter().filter(|one| one.relation() == Relation::BelongsTo);
    belonging.map(move |one| (owner, one.other, one.field))
}

/// The edges by which the object needs others.
fn needing(owner: Id, assertions: &[Assertion]) -> impl Iterator<Item = (Id, Id, Field)> {
    let needing = assertions.iter().filter(|one| one.relation() == Relation::Needs);
    needing.map(move |one| (one.other, owner, one.field))
}
