//! What is known about the informers themselves: who has listed, and who was heard from when.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};
use tracing::{info, warn};

use super::{Config, Metrics, kinds::Collection};
use crate::{
    graph::Kind,
    ready::{Pending, Ready},
};

/// Whether decisions may be made from the graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Freshness {
    Fresh,
    /// Upstream has said nothing to the informer of this name for so long.
    Silent(&'static str, Duration),
    /// The informer of this name has not listed yet.
    Unsynced(&'static str),
}

/// What an informer is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Informed {
    pub(super) collection: &'static Collection,
    pub(super) kind: Kind,
    /// Whether nothing can be decided without it. What is not vital holds up nothing and nobody.
    pub(super) vital: bool,
}

/// Of all informers. Readers take no lock.
#[derive(Debug)]
pub(super) struct State {
    began: Instant,
    stale_after: Duration,
    fail_static: bool,
    informers: Box<[Informer]>,
    /// Somebody has listed.
    news: Notify,
}

#[derive(Debug)]
struct Informer {
    of: Informed,
    /// Milliseconds from the beginning; 0 until the first list is published.
    heard: AtomicU64,
    /// How often the informer had to list, and the number of the list that is published last. While they differ, what is
    /// heard says nothing about what the graph holds.
    lists: AtomicU64,
    published: AtomicU64,
}

/// One informer's own part. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Own {
    state: Arc<State>,
    at: usize,
}

/// A list that is complete, and counts when it is published.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    own: Own,
    list: u64,
    heard: u64,
}

/// How often it is looked at who has become silent.
const EVERY: Duration = Duration::from_secs(1);

impl Freshness {
    /// Why the graph is no ground to decide anything from, if it is none.
    pub fn doubt(self) -> Option<String> {
        match self {
            Self::Fresh => None,
            Self::Silent(informer, time) => Some(format!("{informer} has heard nothing for {} s", time.as_secs())),
            Self::Unsynced(informer) => Some(format!("{informer} has not synced yet")),
        }
    }
}

impl State {
    pub(super) fn new(informers: impl IntoIterator<Item = Informed>, config: &Config) -> Arc<Self> {
        let informers = informers.into_iter().map(|of| Informer {
            of,
            heard: AtomicU64::new(0),
            lists: AtomicU64::new(1),
            published: AtomicU64::new(0),
        });
        Arc::new(Self {
            began: Instant::now(),
            stale_after: config.stale_after,
            fail_static: config.fail_static,
            informers: informers.collect(),
            news: Notify::new(),
        })
    }

    /// What each informer has of it, in their order.
    pub(super) fn owns(self: &Arc<Self>) -> impl Iterator<Item = Own> {
        (0..self.informers.len()).map(|at| Own {
            state: Arc::clone(self),
            at,
        })
    }

    pub(super) fn freshness(&self, now: Instant) -> Freshness {
        let now = self.millis(now);
        let doubtful = |informer: &Informer| match self.of(informer, now) {
            Freshness::Fresh => None,
            Freshness::Silent(..) if self.fail_static => None,
            doubtful => Some(doubtful),
        };
        self.vital().find_map(doubtful).unwrap_or(Freshness::Fresh)
    }

    /// Whether an informer that is not vital has something to say of the kind, and cannot now.
    pub(super) fn lacks(&self, kind: Kind, now: Instant) -> bool {
        let now = self.millis(now);
        let mut spare = self.informers.iter().filter(|informer| !informer.of.vital);
        spare.any(|informer| informer.of.kind == kind && self.of(informer, now) != Freshness::Fresh)
    }

    /// How long ago the informer was heard from that has been silent longest; nothing if one has not listed yet.
    pub(super) fn age(&self, now: Instant) -> Option<Duration> {
        let now = self.millis(now);
        let silences = self
            .vital()
            .map(|informer| match informer.heard.load(Ordering::Acquire) {
                0 => None,
                heard => Some(Duration::from_millis(now.saturating_sub(heard))),
            });
        silences.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Whether every informer that is vital has listed once.
    pub(super) fn is_synced(&self) -> bool {
        let heard = |informer: &Informer| informer.heard.load(Ordering::Acquire) != 0;
        self.vital().all(heard)
    }

    fn vital(&self) -> impl Iterator<Item = &Informer> {
        self.informers.iter().filter(|informer| informer.of.vital)
    }

    /// Holds readiness while an informer that is vital has not listed or is silent, for ever. The handles of the beginning are
    /// given, so that there is no moment without them.
    pub(super) async fn keep_ready(self: Arc<Self>, ready: Ready, mut held: Vec<Option<Pending>>, metrics: Metrics) {
        let mut looked = Instant::now();
        loop {
            let now = Instant::now();
            let since = now - std::mem::replace(&mut looked, now);
            let now = self.millis(now);
            if self
                .vital()
                .any(|informer| matches!(self.of(informer, now), Freshness::Silent(..)))
            {
                metrics.stale(since);
            }
            for (informer, held) in self.informers.iter().zip(&mut held) {
                let heard = informer.heard.load(Ordering::Acquire);
                let Informed { collection, vital, .. } = informer.of;
                metrics.heard(collection, (heard != 0).then(|| now.saturating_sub(heard)));
                let name = collection.resource;
                match self.of(informer, now) {
                    _ if !vital => {}
                    Freshness::Silent(_, silent) if !self.fail_static => {
                        if held.is_none() {
                            warn!(informer = name, ?silent, "upstream is silent; decisions would be stale");
                            *held = Some(ready.task(collection.task));
                        }
                    }
                    Freshness::Unsynced(_) => {}
                    Freshness::Fresh | Freshness::Silent(..) => {
                        if held.take().is_some() {
                            info!(informer = name, "informer is up to date");
                        }
                    }
                }
            }
            tokio::select! {
                () = sleep(EVERY) => {}
                () = self.news.notified() => {}
            }
        }
    }

    fn of(&self, informer: &Informer, now: u64) -> Freshness {
        let name = informer.of.collection.resource;
        let silent = match informer.heard.load(Ordering::Acquire) {
            0 => return Freshness::Unsynced(name),
            heard => Duration::from_millis(now.saturating_sub(heard)),
        };
        if silent > self.stale_after {
            return Freshness::Silent(name, silent);
        }
        Freshness::Fresh
    }

    /// Counted from 1, since 0 means never.
    fn millis(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.began).as_millis();
        u64::try_from(since).unwrap_or(u64::MAX).saturating_add(1)
    }
}

impl Own {
    /// Upstream has said something on a watch.
    pub(super) fn heard(&self) {
        if let Some(informer) = self.informer()
            && informer.lists.load(Ordering::Acquire) == informer.published.load(Ordering::Acquire)
        {
            let now = self.state.millis(Instant::now());
            informer.heard.fetch_max(now, Ordering::AcqRel);
        }
    }

    /// How long upstream has said nothing; no time at all before the first list.
    pub(super) fn silence(&self) -> Duration {
        let heard = self
            .informer()
            .map_or(0, |informer| informer.heard.load(Ordering::Acquire));
        let now = self.state.millis(Instant::now());
        Duration::from_millis(if heard == 0 { 0 } else { now.saturating_sub(heard) })
    }

    /// Events are missing: what the graph holds is old until all is listed again.
    pub(super) fn lost(&self) {
        if let Some(informer) = self.informer() {
            informer.lists.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// All is listed, and goes to be published.
    pub(super) fn listed(&self) -> Listed {
        Listed {
            own: self.clone(),
            list: self
                .informer()
                .map_or(0, |informer| informer.lists.load(Ordering::Acquire)),
            heard: self.state.millis(Instant::now()),
        }
    }

    fn informer(&self) -> Option<&Informer> {
        self.state.informers.get(self.at)
    }
}

impl Listed {
    pub(super) fn is_published(&self) {
        if let Some(informer) = self.own.informer() {
            informer.published.store(self.list, Ordering::Release);
            informer.heard.fetch_max(self.heard, Ordering::AcqRel);
            self.own.state.news.notify_one();
        }
    }
}
