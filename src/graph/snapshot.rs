//! One state of the graph, which never changes.

use std::sync::Arc;

use foldhash::quality::RandomState;
use rpds::HashTrieMapSync;

use super::{
    Anchor, Facts, Key, Kind, PodFacts, Template,
    address::Addresses,
    names::Names,
    path::{Path, Step},
    scope::{Arrow, Scope},
};

/// What readers see, without locks: states share what has not changed between them.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) generation: u64,
    pub(super) anchor: Anchor,
    pub(super) names: Names,
    /// By the name of the node, or of the seed.
    pub(super) scopes: HashTrieMapSync<Box<str>, Arc<Scope>, RandomState>,
    /// By the object, as it is written.
    facts: HashTrieMapSync<Box<str>, Facts, RandomState>,
    /// Of nodes, as their facts have them.
    pub(super) addresses: Addresses,
    pub(super) sizes: Sizes,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sizes {
    pub vertices: usize,
    pub edges: usize,
    pub nodes: usize,
}

impl Default for Snapshot {
    fn default() -> Self {
        let names = Names::default();
        Self {
            generation: 0,
            anchor: Anchor::default(),
            scopes: HashTrieMapSync::new_with_hasher_and_ptr_kind(names.hasher().clone()),
            facts: HashTrieMapSync::new_with_hasher_and_ptr_kind(names.hasher().clone()),
            addresses: Addresses::new(names.hasher().clone()),
            names,
            sizes: Sizes::default(),
        }
    }
}

impl Snapshot {
    /// Of nothing yet.
    pub fn empty(anchor: Anchor) -> Self {
        Self {
            anchor,
            ..Self::default()
        }
    }

    /// Rises with every state that is published.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub fn sizes(&self) -> Sizes {
        Sizes {
            nodes: self.scopes.size(),
            ..self.sizes
        }
    }

    /// Where its paths end.
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Whether the arrows lead from the object to the node. One that is known leads to itself.
    pub fn reaches(&self, node: &str, key: Key<'_>) -> bool {
        if key.kind == self.anchor.kind() && key.name == node {
            return key.namespace.is_empty() && self.knows(node);
        }
        self.scopes
            .get(node)
            .is_some_and(|scope| self.arrow(scope, key).is_some())
    }

    /// The same, if the first step leads to an object of that kind.
    pub fn reaches_by(&self, node: &str, key: Key<'_>, next: Kind) -> bool {
        let scope = self.scopes.get(node);
        scope.is_some_and(|scope| self.arrows(scope, key).any(|arrow| arrow.to.kind() == next))
    }

    /// Objects of a kind that the object leads to the node by, in one step.
    pub fn next(&self, node: &str, key: Key<'_>, kind: Kind) -> impl Iterator<Item = Key<'_>> {
        let scope = self.scopes.get(node).into_iter();
        let arrows = scope.flat_map(move |scope| self.arrows(scope, key));
        let of_kind = arrows.filter(move |arrow| arrow.to.kind() == kind);
        of_kind.filter_map(|arrow| self.names.get(arrow.to))
    }

    /// The way from the node to the object, if there is one.
    pub fn path(&self, node: &str, key: Key<'_>) -> Option<Path> {
        let scope = self.scopes.get(node)?;
        self.lead(node, scope, key, self.arrow(scope, key)?)
    }

    /// The same, if the first step from the object leads to one of that kind.
    pub fn path_by(&self, node: &str, key: Key<'_>, next: Kind) -> Option<Path> {
        let scope = self.scopes.get(node)?;
        let first = self.arrows(scope, key).find(|arrow| arrow.to.kind() == next)?;
        self.lead(node, scope, key, first)
    }

    /// Every step leads to a kind that stands before the last one's, or from a seed to another one, so this ends.
    fn lead(&self, node: &str, scope: &Scope, key: Key<'_>, first: Arrow) -> Option<Path> {
        let mut steps = Vec::new();
        let (mut at, mut next) = (key, Some(first));
        while let Some(arrow) = next {
            steps.push(Step::new(at, arrow.field));
            at = self.names.get(arrow.to)?;
            if at.kind == self.anchor.kind() {
                break;
            }
            next = self.arrow(scope, at);
        }
        steps.reverse();
        Some(Path::new(node, steps))
    }

    /// The nodes that may read the object, sorted.
    pub fn readers(&self, key: Key<'_>) -> Vec<&str> {
        let readers = self.scopes.iter().filter(|(_, scope)| self.arrow(scope, key).is_some());
        let mut names: Vec<&str> = readers.map(|(node, _)| node.as_ref()).collect();
        names.sort_unstable();
        names
    }

    /// What is known of a pod that is bound to the node.
    pub fn pod(&self, node: &str, key: Key<'_>) -> Option<&PodFacts> {
        let scope = self.scopes.get(node)?;
        let place = (self.names.hash_namespace(key.namespace), self.arrow(scope, key)?.from);
        scope.pod(place)
    }

    /// What else is known of the object, if it is there.
    pub fn facts(&self, key: Key<'_>) -> Option<&Facts> {
        self.facts.get(key.to_string().as_str())
    }

    /// Other nodes than this one that say they can be reached under the address, however that is written.
    pub fn nodes_with_address<'a>(&'a self, address: &str, except: &str) -> impl Iterator<Item = &'a str> {
        self.addresses.nodes(address, except)
    }

    /// Says whether that is news.
    pub(super) fn learn(&mut self, key: Key<'_>, facts: Facts) -> bool {
        let text = key.to_string();
        let before = self.facts.get(text.as_str());
        if before == Some(&facts) {
            return false;
        }
        let was = before.map_or(&[][..], Facts::addresses);
        self.addresses.replace(key.name, was, facts.addresses());
        self.facts.insert_mut(text.into(), facts);
        true
    }

    pub(super) fn forget(&mut self, key: Key<'_>) -> bool {
        let text = key.to_string();
        if let Some(facts) = self.facts.get(text.as_str()) {
            self.addresses.replace(key.name, facts.addresses(), &[]);
        }
        self.facts.remove_mut(text.as_str())
    }

    /// Whether anything is known of the node: it is there, or something belongs to it.
    pub fn knows(&self, node: &str) -> bool {
        // A seed that is there has at least its namespace; the facts of one need not be looked for, which costs an allocation.
        let is_there = || self.anchor == Anchor::Node && self.facts(Key::cluster(Kind::Node, node)).is_some();
        self.scopes.contains_key(node) || is_there()
    }

    /// Any edge from the object that leads to the node whose scope it is.
    fn arrow(&self, scope: &Scope, key: Key<'_>) -> Option<Arrow> {
        if key.kind == Kind::Namespace && self.anchor == Anchor::Node {
            return self.inside(scope, key, self.names.hash(key));
        }
        self.arrows(scope, key).next()
    }

    /// All of them.
    fn arrows(&self, scope: &Scope, key: Key<'_>) -> impl Iterator<Item = Arrow> {
        let hash = self.names.hash(key);
        let mut last = None;
        let same = scope.find(hash).iter().take_while(move |arrow| arrow.hash == hash);
        let found = same.filter(move |arrow| {
            // Many edges of one object stand together; its name need not be compared for each.
            let (from, is) = last
                .filter(|(from, _)| *from == arrow.from)
                .unwrap_or_else(|| (arrow.from, self.names.is(arrow.from, key)));
            last = Some((from, is));
            is
        });
        found.copied()
    }

    /// The same of a namespace. Every pod would have to have such an edge, so none has: it follows from the name of the pod.
    fn inside(&self, scope: &Scope, namespace: Key<'_>, hash: u32) -> Option<Arrow> {
        let mut pods = scope.pods(hash).filter(|(_, facts)| !facts.mirror);
        let is_inside = |pod| self.names.get(pod).is_some_and(|key| key.namespace == namespace.name);
        let (pod, _) = pods.find(|(pod, _)| is_inside(*pod))?;
        Some(Arrow {
            hash,
            from: pod,
            to: pod,
            field: Template::POD_NAMESPACE.field(),
        })
    }
}
