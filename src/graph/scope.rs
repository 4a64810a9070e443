//! All that one node may read: the edges that lead to it, and nothing of anybody else's.
//!
//! Nodes share nothing here. What a question costs depends on the one node's own pods, however many nodes, pods or volumes
//! use the same secret, and a change touches the scopes of the nodes it concerns.

use super::{Field, PodFacts, names::Id};

/// What a pod is found by: the hash of its namespace, so that those of one namespace stand together, and its number.
pub(super) type Place = (u32, Id);

/// An edge, and where to find it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Arrow {
    /// Of the name of `from`: what a reader, who has the name and not the number, looks for.
    pub(super) hash: u32,
    pub(super) from: Id,
    pub(super) to: Id,
    pub(super) field: Field,
}

/// The edges of one node, sorted: small, quick to search, and quick to copy.
#[derive(Debug, Default)]
pub(super) struct Scope {
    arrows: Vec<Arrow>,
    /// The pods that are bound to the node, sorted.
    pods: Vec<(Place, PodFacts)>,
}

/// Room for the edges of a few more pods, so that a copy that is changed is not copied again.
const ROOM: usize = 32;

impl Scope {
    /// A copy to change.
    pub(super) fn edit(&self) -> Self {
        let mut arrows = Vec::with_capacity(self.arrows.len() + ROOM);
        arrows.extend_from_slice(&self.arrows);
        let pods = self.pods.clone();
        Self { arrows, pods }
    }

    pub(super) fn pod(&self, pod: Place) -> Option<&PodFacts> {
        let at = self.pods.binary_search_by_key(&pod, |(place, _)| *place).ok()?;
        self.pods.get(at).map(|(_, facts)| facts)
    }

    /// The pods in any namespace whose name has this hash.
    pub(super) fn pods(&self, hash: u32) -> impl Iterator<Item = (Id, &PodFacts)> {
        let start = self.pods.partition_point(|((namespace, _), _)| *namespace < hash);
        let since = self.pods.get(start..).unwrap_or_default().iter();
        let same = since.take_while(move |((namespace, _), _)| *namespace == hash);
        same.map(|((_, pod), facts)| (*pod, facts))
    }

    pub(super) fn bind(&mut self, pod: Place, facts: PodFacts) {
        match self.pods.binary_search_by_key(&pod, |(place, _)| *place) {
            Ok(at) => {
                if let Some(bound) = self.pods.get_mut(at) {
                    bound.1 = facts;
                }
            }
            Err(at) => self.pods.insert(at, (pod, facts)),
        }
    }

    pub(super) fn unbind(&mut self, pod: Place) {
        if let Ok(at) = self.pods.binary_search_by_key(&pod, |(place, _)| *place) {
            self.pods.remove(at);
        }
    }

    /// Adds an edge. Says whether it is the first one from its object.
    pub(super) fn insert(&mut self, arrow: Arrow) -> bool {
        let first = self.from(arrow.hash, arrow.from).is_empty();
        if let Err(at) = self.arrows.binary_search(&arrow) {
            self.arrows.insert(at, arrow);
        }
        first
    }

    /// Takes an edge away. Says whether it was there and the last one from its object.
    pub(super) fn remove(&mut self, arrow: Arrow) -> bool {
        let Ok(at) = self.arrows.binary_search(&arrow) else {
            return false;
        };
        self.arrows.remove(at);
        self.from(arrow.hash, arrow.from).is_empty()
    }

    /// The edges from any object whose name has this hash, and what stands behind them.
    pub(super) fn find(&self, hash: u32) -> &[Arrow] {
        // Hashes are spread evenly, so their place can be guessed; a search by halves would look at one cache line after the
        // other on its way there.
        let guess = ((u64::from(hash) * self.arrows.len() as u64) >> 32) as usize;
        let (mut low, mut high) = (guess, guess);
        let mut reach = 4;
        while low > 0 && self.arrows.get(low).is_none_or(|arrow| arrow.hash >= hash) {
            low = low.saturating_sub(reach);
            reach *= 2;
        }
        reach = 4;
        while self.arrows.get(high).is_some_and(|arrow| arrow.hash < hash) {
            high = (high + reach).min(self.arrows.len());
            reach *= 2;
        }
        let between = self.arrows.get(low..high).unwrap_or_default();
        let start = low + between.partition_point(|arrow| arrow.hash < hash);
        self.arrows.get(start..).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arrows.is_empty()
    }

    /// Gives back what it has too much of, before it is kept.
    pub(super) fn shrink(&mut self) {
        self.arrows.shrink_to_fit();
        self.pods.shrink_to_fit();
    }

    fn from(&self, hash: u32, from: Id) -> &[Arrow] {
        let rest = self.since(|arrow| (arrow.hash, arrow.from) < (hash, from));
        match rest.first() {
            Some(arrow) if arrow.from == from => rest,
            _ => &[],
        }
    }

    fn since(&self, before: impl Fn(&Arrow) -> bool) -> &[Arrow] {
        let start = self.arrows.partition_point(before);
        self.arrows.get(start..).unwrap_or_default()
    }
}
