//! What is known of the cluster while one write is judged.
//!
//! The graph comes first; it costs nothing. It may lag behind, so nobody is refused by its word alone: what was looked up there
//! is noted, and asked of upstream before a refusal stands.

use std::{cell::RefCell, collections::BTreeSet, fmt};

use bytes::Bytes;
use jiff::Timestamp;

use super::No;
use crate::{
    graph::{Anchor, Facts, Key, Kind, Pod, PodFacts, Snapshot},
    rejection::Rejection,
    request::ResourceRequest,
    review::Review,
};

/// The graph, and what upstream has said since about this write.
#[derive(Debug)]
pub struct Known<'a> {
    graph: &'a Snapshot,
    /// Whether what the graph says of single objects is taken. It is not where it has been wrong about this write.
    trusted: bool,
    /// Whether the graph is up to date. What it knows of a pod with a uid stays true when it is not.
    fresh: bool,
    told: &'a Told,
    /// What upstream's authorizers have said to others a moment ago.
    remembered: Option<Remembered<'a>>,
    /// What time it is. Unless somebody says, nothing has expired.
    now: Timestamp,
    /// What was taken from the graph.
    consulted: RefCell<BTreeSet<Wanted>>,
}

/// Answers by question.
struct Remembered<'a>(&'a (dyn Fn(&Review) -> Option<bool> + Sync));

/// Upstream's own word, as far as it was asked for.
#[derive(Debug, Default)]
pub struct Told {
    /// The object that is written, as it is stored; `Some(None)` if there is none.
    pub stored: Option<Option<Bytes>>,
    /// What an applied object would come out as.
    pub rehearsed: Option<Bytes>,
    /// What upstream's authorizers have said.
    pub reviews: Vec<(Review, bool)>,
    /// Whole objects beside that one; nothing if they are not there.
    pub read: Vec<(ResourceRequest, Option<Bytes>)>,
    /// Other objects; nothing if they are not there.
    pub objects: Vec<(Wanted, Option<Fact>)>,
}

impl Told {
    /// How many bytes there are to look at.
    pub fn weight(&self) -> usize {
        let read = self.read.iter().filter_map(|(_, object)| object.as_ref());
        let stored = self.stored.iter().flatten();
        read.chain(stored).chain(&self.rehearsed).map(Bytes::len).sum()
    }
}

/// Names one object that has to be known.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Wanted {
    pub kind: Kind,
    pub namespace: String,
    pub name: String,
}

/// What upstream has said of an object.
#[derive(Clone, Debug)]
pub enum Fact {
    Pod(Box<Pod>),
    Other(Facts),
}

/// A pod, as far as rules ask.
#[derive(Clone, Debug)]
pub struct KnownPod {
    /// Whether it is bound to the node that writes.
    pub is_own: bool,
    pub facts: PodFacts,
}

impl<'a> Known<'a> {
    pub fn new((graph, trusted): (&'a Snapshot, bool), fresh: bool, told: &'a Told) -> Self {
        Self {
            graph,
            trusted,
            fresh,
            told,
            remembered: None,
            now: Timestamp::MIN,
            consulted: RefCell::default(),
        }
    }

    /// With answers that need not be asked for.
    pub fn remembering(self, remembered: &'a (dyn Fn(&Review) -> Option<bool> + Sync)) -> Self {
        Self {
            remembered: Some(Remembered(remembered)),
            ..self
        }
    }

    /// At this time.
    pub fn at(self, now: Timestamp) -> Self {
        Self { now, ..self }
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// What was taken from the graph since this was last asked.
    pub(super) fn consulted(&self) -> Vec<Wanted> {
        self.consulted.take().into_iter().collect()
    }

    /// The object that is written; nothing if there is none.
    pub fn stored(&self) -> Result<Option<&'a Bytes>, No> {
        self.told.stored.as_ref().map(Option::as_ref).ok_or(No::Stored)
    }

    pub(super) fn rehearsed(&self) -> Option<&'a Bytes> {
        self.told.rehearsed.as_ref()
    }

    /// Whether upstream's authorizers allow it.
    pub fn allows(&self, review: Review) -> Result<bool, No> {
        self.answer(&review).ok_or_else(|| No::Reviews(vec![review]))
    }

    /// The same, if they have been asked.
    pub fn answer(&self, review: &Review) -> Option<bool> {
        let told = self.told.reviews.iter().find(|(other, _)| other == review);
        let remembered = || self.remembered.as_ref().and_then(|Remembered(answer)| answer(review));
        told.map(|(_, allowed)| *allowed).or_else(remembered)
    }

    /// An object as upstream has it; nothing if there is none.
    pub fn read(&self, object: &ResourceRequest) -> Result<Option<&'a Bytes>, No> {
        let told = self.told.read.iter().find(|(other, _)| other == object);
        told.map(|(_, stored)| stored.as_ref())
            .ok_or_else(|| No::Read(Box::new(object.clone())))
    }

    pub fn facts(&self, key: Key<'_>) -> Option<&'a Facts> {
        match self.told(key) {
            Some(Some(Fact::Other(facts))) => Some(facts),
            Some(_) => None,
            None => {
                self.note(key);
                self.graph.facts(key).filter(|_| self.trusted && self.fresh)
            }
        }
    }

    /// What is known of a pod. Of those on other nodes the graph is not asked.
    pub fn pod(&self, node: &str, namespace: &str, name: &str) -> Option<KnownPod> {
        let key = Key::new(Kind::Pod, namespace, name);
        match self.told(key) {
            Some(Some(Fact::Pod(pod))) => Some(KnownPod {
                is_own: pod.node() == node,
                facts: pod.pod_facts(),
            }),
            Some(_) => None,
            None => {
                self.note(key);
                let facts = self.graph.pod(node, key).filter(|_| self.trusted)?.clone();
                let is_own = true;
                Some(KnownPod { is_own, facts })
            }
        }
    }

    /// Whether upstream has said that there is no such pod.
    pub fn is_no_pod(&self, namespace: &str, name: &str) -> bool {
        matches!(self.told(Key::new(Kind::Pod, namespace, name)), Some(None))
    }

    /// A pod as upstream has it, however much the graph may know.
    pub fn whole_pod(&self, namespace: &str, name: &str) -> Result<Option<&'a Pod>, No> {
        let key = Key::new(Kind::Pod, namespace, name);
        match self.told(key) {
            Some(Some(Fact::Pod(pod))) => Ok(Some(pod)),
            Some(_) => Ok(None),
            None => Err(No::Unsure(vec![Wanted::from(key)])),
        }
    }

    /// Another node that has the address. Only the graph can tell which, and upstream whether it still has it: of those whom
    /// upstream has spoken for, one that has it; else the next one.
    pub fn node_with_address(&self, address: &str, except: &str) -> Result<Option<&'a str>, Rejection> {
        if !self.fresh {
            return Err(Rejection::not_known(
                "the graph is not up to date on whose an address is",
            ));
        }
        for other in self.graph.nodes_with_address(address, except) {
            let key = Key::cluster(Kind::Node, other);
            match self.told(key) {
                Some(Some(Fact::Other(Facts::Node { addresses, .. })))
                    if addresses.iter().any(|has| has == address) =>
                {
                    return Ok(Some(other));
                }
                Some(_) => {}
                None => {
                    self.note(key);
                    return Ok(Some(other));
                }
            }
        }
        Ok(None)
    }

    /// Managed seeds that refer to the Secret and, by the graph's word, lead to the seed. Where there seems to be none, the graph may
    /// only be behind: it is waited for, and then it is so.
    pub fn managed_seeds(&self, seed: &str, secret: Key<'_>) -> Result<Vec<Key<'a>>, No> {
        let is_of_seeds = self.graph.anchor() == Anchor::Seed;
        let found = self.graph.next(seed, secret, Kind::ManagedSeed).filter(|_| is_of_seeds);
        let mut found: Vec<_> = found.collect();
        // It may say so in two fields.
        found.dedup();
        if !found.is_empty() || self.told(secret).is_some() {
            return Ok(found);
        }
        if !self.fresh {
            return Err(Rejection::not_known("the graph is not up to date on what managed seeds use").into());
        }
        Err(No::Unsure(vec![Wanted::from(secret)]))
    }

    fn told(&self, key: Key<'_>) -> Option<Option<&'a Fact>> {
        let told = self.told.objects.iter().find(|(wanted, _)| wanted.key() == key);
        told.map(|(_, fact)| fact.as_ref())
    }

    fn note(&self, key: Key<'_>) {
        self.consulted.borrow_mut().insert(Wanted::from(key));
    }
}

impl fmt::Debug for Remembered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remembered")
    }
}

impl Wanted {
    pub fn key(&self) -> Key<'_> {
        Key::new(self.kind, &self.namespace, &self.name)
    }
}

impl From<Key<'_>> for Wanted {
    fn from(key: Key<'_>) -> Self {
        Self {
            kind: key.kind,
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
        }
    }
}
