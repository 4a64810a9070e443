//! The graph as people look at it: objects in order, some at a time, each with its neighbours.
//!
//! No request needs this, so nothing is kept for it. Objects are found by going through all names; edges are looked for in the
//! scope of every node, which has all those that lead to it. Edges that lead to no node are in none, and not shown.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use foldhash::fast::FixedState;

use super::{Key, Kind, Snapshot, names::Id, scope::Scope};

/// Which objects are meant; what is empty does not count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Filter<'a> {
    pub kind: Option<Kind>,
    pub namespace: &'a str,
    pub name: &'a str,
}

/// Which part of a long list is wanted: of so many entries, and the how manyth, from 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    pub size: usize,
    pub at: usize,
}

/// A part of a list, in order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listed<T> {
    /// Of all of it.
    pub total: usize,
    /// Which part it is; the last one if there are not as many as was asked for.
    pub part: Part,
    pub items: Vec<T>,
}

/// An object that was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Found<'a> {
    pub key: Key<'a>,
    id: Id,
}

/// An object with its neighbours, each once, however many fields name it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Vertex<'a> {
    pub key: Key<'a>,
    /// Whose edges lead to it.
    pub incoming: Listed<Key<'a>>,
    /// Where its own lead.
    pub outgoing: Listed<Key<'a>>,
}

/// The numbers of the neighbours of one object.
#[derive(Default)]
struct Around {
    hash: u32,
    incoming: HashSet<Id, FixedState>,
    outgoing: HashSet<Id, FixedState>,
}

impl Filter<'_> {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn matches(&self, key: Key<'_>) -> bool {
        let is = |wanted: &str, has| wanted.is_empty() || wanted == has;
        self.kind.is_none_or(|kind| kind == key.kind) && is(self.namespace, key.namespace) && is(self.name, key.name)
    }
}

impl Snapshot {
    /// How many objects there are of each kind that has any, in the order of their titles.
    pub fn kinds(&self) -> Vec<(Kind, usize)> {
        let mut counts = vec![0; Kind::ALL.len()];
        for (_, key) in self.names.iter() {
            if let Some(count) = counts.get_mut(key.kind as usize) {
                *count += 1;
            }
        }
        let counted = Kind::ALL.iter().copied().zip(counts);
        let mut kinds: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
        kinds.sort_unstable_by_key(|(kind, _)| kind.title());
        kinds
    }

    /// Objects by kind, namespace and name.
    pub fn find(&self, filter: Filter<'_>, part: Part) -> Listed<Found<'_>> {
        let all = self.names.iter().filter(|(_, key)| filter.matches(*key));
        let all = all.map(|(id, key)| Found { key, id }).collect();
        Listed::of(all, part, |a, b| order(&a.key, &b.key))
    }

    /// The same objects with parts of the lists of their neighbours. What it costs depends on how many nodes there are, and on
    /// the edges of those that the objects lead to.
    pub fn around<'a>(&'a self, found: &[Found<'a>], incoming: Part, outgoing: Part) -> Vec<Vertex<'a>> {
        let near = self.near(found);
        let keys = |ids: HashSet<Id, _>| ids.into_iter().filter_map(|id| self.names.get(id)).collect();
        let vertices = found.iter().zip(near).map(|(found, near)| Vertex {
            key: found.key,
            incoming: Listed::of(keys(near.incoming), incoming, order),
            outgoing: Listed::of(keys(near.outgoing), outgoing, order),
        });
        vertices.collect()
    }

    fn near(&self, found: &[Found<'_>]) -> Vec<Around> {
        let hashed = found.iter().map(|found| Around {
            hash: self.names.hash(found.key),
            ..Around::default()
        });
        let mut near: Vec<Around> = hashed.collect();
        let places = found.iter().enumerate().map(|(at, found)| (found.id, at));
        let places: HashMap<Id, usize, FixedState> = places.collect();
        for (node, scope) in &self.scopes {
            let mut has_incoming = false;
            for (found, near) in found.iter().zip(&mut near) {
                let is_there = near.look(found.id, scope) || found.key.name == &**node;
                // Nothing leads to a leaf, of which most objects are; to others, something may in every scope that has them.
                has_incoming |= is_there && !self.anchor.is_leaf(found.key.kind);
            }
            for arrow in scope.arrows().iter().filter(|_| has_incoming) {
                if let Some(near) = places.get(&arrow.to).and_then(|at| near.get_mut(*at)) {
                    near.incoming.insert(arrow.from);
                }
            }
        }
        near
    }
}

impl Around {
    /// Takes the edges of an object in a scope, and says whether there are any.
    fn look(&mut self, id: Id, scope: &Scope) -> bool {
        let same = scope.find(self.hash).iter().take_while(|arrow| arrow.hash == self.hash);
        let mut any = false;
        for arrow in same.filter(|arrow| arrow.from == id) {
            self.outgoing.insert(arrow.to);
            any = true;
        }
        any
    }
}

impl<T> Listed<T> {
    /// Only what is shown is sorted.
    fn of(mut all: Vec<T>, part: Part, order: impl Fn(&T, &T) -> Ordering) -> Self {
        let (total, size) = (all.len(), part.size.max(1));
        let at = part.at.min(total.saturating_sub(1) / size);
        let first = at * size;
        if first > 0 {
            all.select_nth_unstable_by(first, &order);
            all.drain(..first);
        }
        if all.len() > size {
            all.select_nth_unstable_by(size, &order);
            all.truncate(size);
        }
        all.sort_unstable_by(order);
        Self {
            total,
            part: Part { size, at },
            items: all,
        }
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.total.div_ceil(self.part.size).max(1)
    }

    /// How many stand before this part.
    pub fn before(&self) -> usize {
        self.part.at * self.part.size
    }
}

fn order(a: &Key<'_>, b: &Key<'_>) -> Ordering {
    let words = |key: &Key<'_>| key.kind.title();
    (words(a), a.namespace, a.name).cmp(&(words(b), b.namespace, b.name))
}

#[cfg(test)]
mod tests;
