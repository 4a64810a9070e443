//! All that one node may read: the edges that lead to it, and nothing of anybody else's.
//!
//! Nodes share nothing here. What a question costs depends on the one node's own pods, however many nodes, pods or volumes
//! use the same secret, and a change touches the scopes of the nodes it concerns.

use std::sync::Arc;

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
    pods: Arc<Pods>,
}

/// The pods that are bound to the node, sorted. Shared by the scopes of a node for as long as it has the same.
type Pods = Vec<(Place, PodFacts)>;

/// A scope that is being changed: what it was, what comes and what goes. Its edges are copied once, when all changes are made,
/// however many there are.
#[derive(Debug)]
pub(super) struct Draft {
    was: Arc<Scope>,
    /// Sorted; it was without them.
    new: Vec<Arrow>,
    /// Sorted; it was with them.
    gone: Vec<Arrow>,
    pods: Arc<Pods>,
}

impl Scope {
    pub(super) fn pod(&self, pod: Place) -> Option<&PodFacts> {
        pod_in(&self.pods, pod)
    }

    /// The pods in any namespace whose name has this hash.
    pub(super) fn pods(&self, hash: u32) -> impl Iterator<Item = (Id, &PodFacts)> {
        let start = self.pods.partition_point(|((namespace, _), _)| *namespace < hash);
        let since = self.pods.get(start..).unwrap_or_default().iter();
        let same = since.take_while(move |((namespace, _), _)| *namespace == hash);
        same.map(|((_, pod), facts)| (*pod, facts))
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

    /// All of them.
    pub(super) fn arrows(&self) -> &[Arrow] {
        &self.arrows
    }

    /// Only the edges from an object whose name has this hash.
    fn same(&self, hash: u32) -> &[Arrow] {
        let found = self.find(hash);
        let is_same = |arrow: &Arrow| arrow.hash == hash;
        // They are few, and everything stands behind them.
        let mut end = 1;
        while found.get(end).is_some_and(is_same) {
            end *= 2;
        }
        let found = found.get(..end).unwrap_or(found);
        found.get(..found.partition_point(is_same)).unwrap_or_default()
    }

    fn has(&self, arrow: Arrow) -> bool {
        self.same(arrow.hash).binary_search(&arrow).is_ok()
    }
}

impl Draft {
    pub(super) fn new(was: Arc<Scope>) -> Self {
        Self {
            new: Vec::new(),
            gone: Vec::new(),
            pods: Arc::clone(&was.pods),
            was,
        }
    }

    pub(super) fn pod(&self, pod: Place) -> Option<&PodFacts> {
        pod_in(&self.pods, pod)
    }

    pub(super) fn bind(&mut self, pod: Place, facts: PodFacts) {
        let pods = Arc::make_mut(&mut self.pods);
        match pods.binary_search_by_key(&pod, |(place, _)| *place) {
            Ok(at) => {
                if let Some(bound) = pods.get_mut(at) {
                    bound.1 = facts;
                }
            }
            Err(at) => pods.insert(at, (pod, facts)),
        }
    }

    pub(super) fn unbind(&mut self, pod: Place) {
        if let Ok(at) = self.pods.binary_search_by_key(&pod, |(place, _)| *place) {
            Arc::make_mut(&mut self.pods).remove(at);
        }
    }

    /// Adds an edge. Says whether it is the first one from its object.
    pub(super) fn insert(&mut self, arrow: Arrow) -> bool {
        let is_first = !self.leads(arrow);
        if let Ok(at) = self.gone.binary_search(&arrow) {
            self.gone.remove(at);
        } else if let Err(at) = self.new.binary_search(&arrow)
            && !self.was.has(arrow)
        {
            self.new.insert(at, arrow);
        }
        is_first
    }

    /// Takes an edge away. Says whether it was there and the last one from its object.
    pub(super) fn remove(&mut self, arrow: Arrow) -> bool {
        if let Ok(at) = self.new.binary_search(&arrow) {
            self.new.remove(at);
        } else if let Err(at) = self.gone.binary_search(&arrow)
            && self.was.has(arrow)
        {
            self.gone.insert(at, arrow);
        } else {
            return false;
        }
        !self.leads(arrow)
    }

    /// What has come of it. Nothing if there are no edges any more.
    pub(super) fn finish(self) -> Option<Arc<Scope>> {
        let Self {
            was,
            new,
            gone,
            mut pods,
        } = self;
        let edges = was.arrows.len() + new.len() - gone.len();
        if edges == 0 {
            return None;
        }
        if new.is_empty() && gone.is_empty() && Arc::ptr_eq(&pods, &was.pods) {
            return Some(was);
        }
        if let Some(changed) = Arc::get_mut(&mut pods) {
            changed.shrink_to_fit();
        }
        let mut arrows = Vec::with_capacity(edges);
        let mut rest = was.arrows.as_slice();
        let mut gone = gone.as_slice();
        for arrow in new {
            let before = gone.partition_point(|one| *one < arrow);
            let (now, later) = gone.split_at_checked(before).unwrap_or_default();
            rest = without(&mut arrows, rest, now);
            gone = later;
            let (before, behind) = split(rest, arrow);
            arrows.extend_from_slice(before);
            arrows.push(arrow);
            rest = behind;
        }
        let rest = without(&mut arrows, rest, gone);
        arrows.extend_from_slice(rest);
        Some(Arc::new(Scope { arrows, pods }))
    }

    /// Whether there is any edge from the object that this one comes from.
    fn leads(&self, arrow: Arrow) -> bool {
        let count = |arrows: &[Arrow]| {
            let place = (arrow.hash, arrow.from);
            let start = arrows.partition_point(|one| (one.hash, one.from) < place);
            let since = arrows.get(start..).unwrap_or_default();
            since.partition_point(|one| (one.hash, one.from) == place)
        };
        count(&self.new) > 0 || count(self.was.same(arrow.hash)) > count(&self.gone)
    }
}

/// Copies edges up to the last one that is gone, but none of those, and returns what stands behind them.
fn without<'a>(into: &mut Vec<Arrow>, mut rest: &'a [Arrow], gone: &[Arrow]) -> &'a [Arrow] {
    for arrow in gone {
        let (before, behind) = split(rest, *arrow);
        into.extend_from_slice(before);
        rest = behind.get(1..).unwrap_or_default();
    }
    rest
}

fn split(arrows: &[Arrow], at: Arrow) -> (&[Arrow], &[Arrow]) {
    let at = arrows.partition_point(|arrow| *arrow < at);
    arrows.split_at_checked(at).unwrap_or_default()
}

fn pod_in(pods: &Pods, pod: Place) -> Option<&PodFacts> {
    let at = pods.binary_search_by_key(&pod, |(place, _)| *place).ok()?;
    pods.get(at).map(|(_, facts)| facts)
}
