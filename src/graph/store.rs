//! Keeps what every object asserts, and publishes what follows from it.
//!
//! The rule that everything here serves: an edge is in the scope of a node exactly if its far end is the node or has an
//! edge in the scope of that node itself. When an edge comes or goes, that is put right from its near end outwards. In the graph
//! of seeds, read seed for node: paths end at either, and lead through neither.

mod links;

use std::{
    collections::{BTreeSet, HashMap, hash_map},
    sync::Arc,
};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::{
    Anchor, Asserts, Facts, Field, Key, Kind, PodFacts, Relation, Snapshot,
    names::{Id, MAX_NAME, Names},
    scope::{Draft, Place},
    snapshot::Sizes,
};

/// The one writer.
#[derive(Debug, Default)]
pub struct Store {
    anchor: Anchor,
    names: Names,
    ids: HashTable<Id>,
    entries: Vec<Entry>,
    /// Numbers to be given again.
    free: Vec<usize>,
    /// What each watched object asserts, sorted.
    asserted: HashMap<Id, Box<[Assertion]>, FixedState>,
    /// Who needs an object that can be in the middle of a path, and who belongs to it: those who do not know each other meet
    /// there.
    needed: BTreeSet<(Id, Id)>,
    belonged: BTreeSet<(Id, Id)>,
    /// Scopes that differ from the published ones.
    changed: HashMap<Id, Draft, FixedState>,
    facts_changed: bool,
    /// How many objects assert something, or could.
    counts: HashMap<Kind, usize, FixedState>,
    published: Snapshot,
    sizes: Sizes,
    /// How often something was not as it had been.
    revision: u64,
}

/// Numbers that there is always room for.
const ROOM: usize = 64;

/// What has to be known of a number beside its name.
#[derive(Debug)]
struct Entry {
    /// Of the name.
    hash: u32,
    /// How often it is used; at zero it is given to the next object that needs one.
    uses: u32,
}

/// One edge of an object, seen from it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Assertion {
    other: Id,
    field: Field,
}

impl Store {
    /// For paths that end there.
    pub fn new(anchor: Anchor) -> Self {
        Self {
            anchor,
            published: Snapshot::empty(anchor),
            ..Self::default()
        }
    }

    /// Takes the object as it is now, in place of what it was.
    pub fn apply(&mut self, object: &dyn Asserts) {
        let key = object.key();
        if !is_name(key) {
            return;
        }
        let Some(owner) = self.intern(key) else { return };
        let mut now = Vec::new();
        object.edges(&mut |edge| {
            if is_name(edge.other)
                && let Some(other) = self.intern(edge.other)
            {
                let field = edge.field;
                now.push(Assertion { other, field });
            }
        });
        now.sort_unstable();
        // Two fields that name the same object make one edge.
        now.dedup_by_key(|assertion| (assertion.other, assertion.relation()));
        self.replace(owner, Some(now.into_boxed_slice()));
        if let Some(facts) = object.facts() {
            let learned = self.published.learn(key, facts);
            self.facts_changed |= learned;
            self.revision += u64::from(learned);
        }
        if let Some((node, facts)) = object.bound() {
            self.bind(owner, node, facts);
        }
        match object.part() {
            Some(part) => self.apply(part),
            None => self.drop_part(owner),
        }
    }

    /// The object is gone.
    pub fn delete(&mut self, key: Key<'_>) {
        if let Some(owner) = self.find(key) {
            self.replace(owner, None);
        }
    }

    /// Objects of the kind that were not named are gone.
    pub fn retain(&mut self, kind: Kind, mut keep: impl FnMut(Key<'_>) -> bool) {
        if self.count(kind) == 0 {
            return;
        }
        let of_kind = self
            .asserted
            .keys()
            .copied()
            .filter(|owner| owner.kind() == kind && self.names.get(*owner).is_some_and(|key| !keep(key)));
        for owner in of_kind.collect::<Vec<_>>() {
            self.replace(owner, None);
        }
    }

    /// What is known of an object beside its edges.
    pub fn facts(&self, key: Key<'_>) -> Option<&Facts> {
        self.published.facts(key)
    }

    /// The watched objects of a kind.
    pub fn keys(&self, kind: Kind) -> impl Iterator<Item = Key<'_>> {
        let owners = self.asserted.keys().filter(move |owner| owner.kind() == kind);
        owners.filter_map(|owner| self.names.get(*owner))
    }

    /// How many watched objects of the kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Rises with every object that says something else than before, or is gone.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether there is anything to publish.
    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty() || self.facts_changed
    }

    /// What readers see from now on. Costs as much as the scopes that have changed.
    pub fn publish(&mut self) -> Arc<Snapshot> {
        for (node, scope) in std::mem::take(&mut self.changed) {
            let name = self.names.get(node).map_or("", |key| key.name);
            match scope.finish() {
                Some(scope) => self.published.scopes.insert_mut(name.into(), scope),
                None => drop(self.published.scopes.remove_mut(name)),
            }
            self.release(node);
        }
        self.facts_changed = false;
        self.published.generation += 1;
        self.published.sizes = Sizes {
            vertices: self.ids.len(),
            ..self.sizes
        };
        self.published.names = self.names.clone();
        Arc::new(self.published.clone())
    }

    fn replace(&mut self, owner: Id, now: Option<Box<[Assertion]>>) {
        let before = self.asserted.get(&owner).cloned();
        if before == now {
            return;
        }
        self.revision += 1;
        let (was, is) = (
            before.as_deref().unwrap_or_default(),
            now.as_deref().unwrap_or_default(),
        );
        let missing = |one: &&Assertion, from: &[Assertion]| from.binary_search(one).is_err();
        let gone: Vec<_> = was.iter().filter(|one| missing(one, is)).copied().collect();
        let new: Vec<_> = is.iter().filter(|one| missing(one, was)).copied().collect();
        self.sizes.edges = self.sizes.edges + is.len() - was.len();
        // Numbers that are used before and after must not be given back in between.
        for assertion in is {
            self.hold(assertion.other);
        }
        // What it asserted is still there while it is undone, and all there when the new is done: both ways follow the edges
        // through the object.
        self.unlink(owner, &gone);
        for assertion in gone
            .iter()
            .filter(|one| owner.kind() == Kind::Pod && one.other.kind() == Kind::Node)
        {
            let place = self.place(owner);
            self.scope(assertion.other).unbind(place);
        }
        match now {
            Some(now) => {
                if self.asserted.insert(owner, now).is_none() {
                    self.hold(owner);
                    self.recount(owner, 1);
                }
                self.link(owner, &new);
            }
            None => {
                self.asserted.remove(&owner);
                self.recount(owner, -1);
                if let Some(key) = self.names.get(owner) {
                    self.facts_changed |= self.published.forget(key);
                }
                self.drop_part(owner);
            }
        }
        for assertion in was {
            self.release(assertion.other);
        }
        if before.is_some() && !self.asserted.contains_key(&owner) {
            self.release(owner);
        }
    }

    /// What comes with an object goes with it.
    fn drop_part(&mut self, owner: Id) {
        let part = owner.kind().part().zip(self.names.get(owner));
        let part = part.and_then(|(kind, key)| self.find(Key { kind, ..key }));
        if let Some(part) = part {
            self.replace(part, None);
        }
    }

    /// Notes what the node has to know of a pod that was bound to it.
    fn bind(&mut self, pod: Id, node: &str, facts: PodFacts) {
        let Some(node) = self.find(Key::cluster(Kind::Node, node)) else {
            return;
        };
        let name = self.names.get(node).map_or("", |key| key.name);
        let place = self.place(pod);
        let bound = match self.changed.get(&node) {
            Some(changed) => changed.pod(place),
            None => self.published.scopes.get(name).and_then(|scope| scope.pod(place)),
        };
        if bound != Some(&facts) {
            self.scope(node).bind(place, facts);
        }
    }

    /// Where a pod is found in the scope of its node.
    fn place(&self, pod: Id) -> Place {
        let namespace = self.names.get(pod).map_or("", |key| key.namespace);
        (self.names.hash_namespace(namespace), pod)
    }

    /// The scope of a node, to change it.
    fn scope(&mut self, node: Id) -> &mut Draft {
        let vacant = match self.changed.entry(node) {
            hash_map::Entry::Occupied(changed) => return changed.into_mut(),
            hash_map::Entry::Vacant(vacant) => vacant,
        };
        // Held until it is published: if nothing leads to the node any more, its name is still needed to say so.
        if let Some(entry) = self.entries.get_mut(node.number()) {
            entry.uses += 1;
        }
        let name = self.names.get(node).map_or("", |key| key.name);
        let published = self.published.scopes.get(name);
        vacant.insert(Draft::new(published.cloned().unwrap_or_default()))
    }

    fn find(&self, key: Key<'_>) -> Option<Id> {
        self.find_hashed(key, self.names.hash(key))
    }

    fn find_hashed(&self, key: Key<'_>, hash: u32) -> Option<Id> {
        let found = self.ids.find(spread(hash), |id| {
            let entry = self.entries.get(id.number());
            entry.is_some_and(|entry| entry.hash == hash) && self.names.is(*id, key)
        });
        found.copied()
    }

    fn intern(&mut self, key: Key<'_>) -> Option<Id> {
        let hash = self.names.hash(key);
        if let Some(id) = self.find_hashed(key, hash) {
            return Some(id);
        }
        let entry = Entry { hash, uses: 0 };
        let id = Id::new(key.kind, self.free.pop().unwrap_or(self.entries.len()))?;
        match self.entries.get_mut(id.number()) {
            Some(old) => *old = entry,
            None => {
                if self.entries.len() == self.entries.capacity() {
                    // Twice as many would be megabytes that nobody needs.
                    self.entries.reserve_exact(self.entries.len() / 8 + ROOM);
                }
                self.entries.push(entry);
            }
        }
        self.names.set(id, key);
        let entries = &self.entries;
        let hash_of = |id: &Id| entries.get(id.number()).map_or(0, |entry| spread(entry.hash));
        self.ids.insert_unique(spread(hash), id, hash_of);
        Some(id)
    }

    fn recount(&mut self, owner: Id, by: isize) {
        let count = self.counts.entry(owner.kind()).or_default();
        *count = count.saturating_add_signed(by);
    }

    fn hold(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(id.number()) {
            entry.uses += 1;
        }
    }

    fn release(&mut self, id: Id) {
        let Some(entry) = self.entries.get_mut(id.number()) else {
            return;
        };
        entry.uses -= 1;
        if entry.uses > 0 {
            return;
        }
        if let Ok(entry) = self.ids.find_entry(spread(entry.hash), |other| *other == id) {
            entry.remove();
        }
        self.names.clear(id);
        self.free.push(id.number());
    }
}

impl Assertion {
    fn relation(self) -> Relation {
        self.field.relation()
    }
}

/// The table looks at the upper bits too.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Whether anything can have this name. What cannot, nobody can ask for.
fn is_name(key: Key<'_>) -> bool {
    !key.name.is_empty() && key.name.len() <= MAX_NAME && key.namespace.len() <= MAX_NAME
}

#[cfg(test)]
mod tests;
