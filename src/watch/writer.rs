//! The one that changes the graph, and shows it to readers.

use std::{collections::HashSet, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use super::{
    Metrics,
    beginnings::Beginnings,
    state::{Listed, State},
};
use crate::graph::{Anchor, Asserts, Key, Kind, Snapshot, Store};

/// What an informer has found out.
pub(super) enum Change {
    Apply(Box<dyn Asserts + Send + Sync>),
    Delete(Box<dyn Asserts + Send + Sync>),
    /// All of a kind: what is not among them is gone.
    Listed(Kind, Seen, Listed),
}

/// The objects of a list, by namespace and name.
#[derive(Debug, Default)]
pub(super) struct Seen(HashSet<Box<str>>);

/// Where informers put their changes, each with the time of its arrival.
pub(super) type Changes = mpsc::Sender<(Instant, Change)>;

pub(super) struct Writer {
    store: Store,
    beginnings: Beginnings,
    changes: mpsc::Receiver<(Instant, Change)>,
    snapshot: Arc<ArcSwap<Snapshot>>,
    generation: watch::Sender<u64>,
    state: Arc<State>,
    metrics: Metrics,
    /// What is in the store, but not yet visible.
    arrived: Vec<Instant>,
    kinds: HashSet<Kind>,
    listed: Vec<Listed>,
    published: Instant,
}

/// Changes that wait before informers, and with them upstream, have to.
const WAITING: usize = 4096;
/// Changes that are made at a time. Their readers wait for the last of them.
const BATCH: usize = 512;
/// During the first lists nobody reads, and publishing now and then is enough.
const SELDOM: Duration = Duration::from_millis(100);

impl Writer {
    pub(super) fn new(anchor: Anchor, state: Arc<State>, metrics: Metrics) -> (Self, Changes) {
        let (sender, changes) = mpsc::channel(WAITING);
        let mut store = Store::new(anchor);
        let snapshot = Arc::new(ArcSwap::new(store.publish()));
        let writer = Self {
            store,
            beginnings: Beginnings::default(),
            changes,
            snapshot,
            generation: watch::Sender::new(0),
            state,
            metrics,
            arrived: Vec::new(),
            kinds: HashSet::new(),
            listed: Vec::new(),
            published: Instant::now(),
        };
        (writer, sender)
    }

    pub(super) fn snapshot(&self) -> Arc<ArcSwap<Snapshot>> {
        Arc::clone(&self.snapshot)
    }

    /// Changes with every publish.
    pub(super) fn generation(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// Runs until there are no informers any more. What waits is taken together, so that a burst is published once, and a
    /// lone change at once.
    pub(super) async fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let wake = self.beginnings.next();
            tokio::select! {
                received = self.changes.recv_many(&mut batch, BATCH) => if received == 0 {
                    break;
                },
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => self.beginnings.waited(&mut self.store),
            }
            for (arrived, change) in batch.drain(..) {
                self.arrived.push(arrived);
                self.make(change);
            }
            let seldom = self.listed.is_empty() && !self.state.is_synced() && self.published.elapsed() < SELDOM;
            if !seldom || self.changes.is_empty() {
                self.publish();
            }
            // A long list must not keep this thread from everybody else.
            tokio::task::yield_now().await;
        }
    }

    fn make(&mut self, change: Change) {
        let (start, before) = (Instant::now(), self.store.revision());
        match change {
            Change::Apply(object) => {
                self.store.apply(object.as_ref());
                let key = object.key();
                self.beginnings.changed(&mut self.store, key);
                self.kinds.insert(key.kind);
                match self.store.anchor() {
                    Anchor::Node => self.metrics.added(key.kind, start.elapsed()),
                    // Gardener counts only what changes its graph.
                    Anchor::Seed if self.store.revision() == before => {}
                    Anchor::Seed => self.metrics.seed_updated(key.kind, start.elapsed()),
                }
            }
            Change::Delete(object) => {
                let key = object.key();
                self.store.delete(key);
                self.beginnings.changed(&mut self.store, key);
                self.kinds.insert(key.kind);
                match self.store.anchor() {
                    Anchor::Node => self.metrics.deleted(key.kind, start.elapsed()),
                    Anchor::Seed if self.store.revision() == before => {}
                    Anchor::Seed => self.metrics.seed_deleted(key.kind, start.elapsed()),
                }
            }
            Change::Listed(kind, seen, listed) => {
                self.store.retain(kind, |key| seen.contains(key));
                self.beginnings.listed(&mut self.store, kind);
                self.kinds.insert(kind);
                self.listed.push(listed);
            }
        }
    }

    fn publish(&mut self) {
        // Most changes of pods and nodes are of their status, which the graph has no use for.
        if self.store.is_changed() {
            let snapshot = self.store.publish();
            self.metrics.sizes(snapshot.sizes());
            self.snapshot.store(snapshot);
            self.generation.send_modify(|generation| *generation += 1);
        }
        self.published = Instant::now();
        // Only what is visible counts as known.
        self.listed.drain(..).for_each(|listed| listed.is_published());
        if !self.arrived.is_empty() {
            let lags = self.arrived.drain(..).map(|arrived| arrived.elapsed());
            self.metrics.published(lags);
        }
        for kind in self.kinds.drain() {
            self.metrics.objects(kind, self.store.count(kind));
        }
    }
}

impl Seen {
    pub(super) fn insert(&mut self, key: Key<'_>) {
        self.0.insert(Self::written(key));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn contains(&self, key: Key<'_>) -> bool {
        self.0.contains(&Self::written(key))
    }

    /// Neither part of a name can hold the slash.
    fn written(key: Key<'_>) -> Box<str> {
        format!("{}/{}", key.namespace, key.name).into()
    }
}

#[cfg(test)]
mod tests;
