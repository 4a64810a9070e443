//! Who is in quarantine, and that it stays so: over restarts, and at every replica.
//!
//! What an operator says is in force here at once, and is written down after that. Until it is, it stands among what waits to be
//! written and is tried again: what was kept before never undoes it. Somebody else may have written meanwhile, another replica or
//! an operator with an editor, so the store is read again and again.

mod config_map;
mod file;
mod store;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use arc_swap::{ArcSwap, Guard};
use jiff::Timestamp;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};
use tokio::{sync::watch, time::sleep};
use tracing::{info, warn};

pub use self::store::{NotKept, Place, Store};
use crate::{
    quarantine::{Change, List, Mode, Quarantine},
    ready::Pending,
    rejection::Rejection,
};

/// The quarantine of one gate.
#[derive(Debug)]
pub struct Ward {
    /// What requests are held against. Swapped, never changed.
    current: ArcSwap<Quarantine>,
    /// Whether the store was read once. Before, nobody can tell who is held.
    known: AtomicBool,
    said: Mutex<Said>,
    /// Whoever has it talks to the store.
    talking: tokio::sync::Mutex<()>,
    store: Store,
    published: watch::Sender<()>,
    metrics: Metrics,
}

#[derive(Debug, Default)]
struct Said {
    /// What the store had when it was last read.
    kept: List,
    /// Whether it had anything. What is not there any more then is lost, and not empty.
    present: bool,
    /// What it had in the end, if that lets somebody go. It counts when it is read a second time: whoever writes by hand may
    /// not be done.
    less: Option<List>,
    /// What it has to be told, one change for each that is concerned.
    waiting: Vec<Change>,
    /// Why the store could not be read or written the last time, if so.
    doubt: Option<String>,
    /// What is in force: the two together, without what is over.
    now: List,
}

#[derive(Clone, Debug, Default)]
pub struct Metrics {
    held: Family<HeldIn, Gauge>,
    kept: Gauge<i64, AtomicI64>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct HeldIn {
    mode: &'static str,
}

/// Until what may be half written is read again.
const MOMENT: Duration = Duration::from_millis(200);
/// How often the store is read, and how long after its time somebody may still be held.
const EVERY: Duration = Duration::from_secs(2);

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "quarantined",
            "Nodes, serial numbers and public keys that are in quarantine now, by mode",
            self.held.clone(),
        );
        registry.register(
            "quarantine_kept",
            "1 if all that operators have said about quarantine is kept where the configuration says, and that could be read",
            self.kept.clone(),
        );
    }

    fn count(&self, list: &List) {
        for mode in Mode::ALL {
            let held = list.entries().filter(|entry| entry.mode == *mode).count();
            let gauge = self.held.get_or_create(&HeldIn { mode: mode.as_str() });
            gauge.set(i64::try_from(held).unwrap_or(i64::MAX));
        }
    }
}

impl Ward {
    pub fn new(store: Store, metrics: Metrics) -> Self {
        metrics.count(&List::default());
        Self {
            current: ArcSwap::default(),
            known: AtomicBool::new(false),
            said: Mutex::default(),
            talking: tokio::sync::Mutex::default(),
            store,
            published: watch::Sender::new(()),
            metrics,
        }
    }

    /// What requests are held against; 503 as long as nobody knows who is held.
    pub(super) fn load(&self) -> Result<Guard<Arc<Quarantine>>, Rejection> {
        if self.is_known() {
            Ok(self.current.load())
        } else {
            Err(Rejection::not_known("who is in quarantine could not be read yet"))
        }
    }

    /// The same for whoever only tells about it.
    pub fn current(&self) -> Arc<Quarantine> {
        self.current.load_full()
    }

    /// Everybody who is held now.
    pub fn list(&self) -> List {
        self.said().now.clone()
    }

    /// Whether the store was read once.
    pub fn is_known(&self) -> bool {
        self.known.load(Ordering::Acquire)
    }

    /// Why what is in force may not be what is kept, if so.
    pub fn doubt(&self) -> Option<String> {
        self.said().doubt.clone()
    }

    /// Whether what is said outlasts this gate.
    pub fn lasts(&self) -> bool {
        !matches!(self.store, Store::Memory(_))
    }

    /// Resolves when somebody else is held than before.
    pub(super) fn published(&self) -> watch::Receiver<()> {
        self.published.subscribe()
    }

    /// Puts a change in force. An error says that it is, but only here and until the gate ends.
    pub async fn change(&self, change: Change) -> Result<(), NotKept> {
        {
            let mut said = self.said();
            said.waiting.retain(|waiting| waiting.target() != change.target());
            said.waiting.push(change);
            self.publish(&mut said);
        }
        self.sync().await
    }

    /// Reads the store again and again, and writes what waits.
    pub async fn keep(&self, pending: Pending) {
        let mut pending = Some(pending);
        let mut failed = false;
        loop {
            let synced = self.sync().await;
            match &synced {
                Ok(()) => {
                    drop(pending.take());
                    if failed {
                        info!(place = %self.store, "the quarantine list can be read and written again");
                    }
                }
                // Told once per outage; the metric tells how long it takes.
                Err(error) if !failed => {
                    warn!(%error, place = %self.store, known = pending.is_none(), "cannot read or write the quarantine list; what was known stays in force");
                }
                Err(_) => {}
            }
            failed = synced.is_err();
            sleep(EVERY).await;
        }
    }

    /// Reads the store once, and writes what waits.
    pub async fn sync(&self) -> Result<(), NotKept> {
        let _talking = self.talking.lock().await;
        let (waiting, known) = {
            let said = self.said();
            (said.waiting.clone(), said.kept.clone())
        };
        let mut kept = self.store.read().await;
        if !waiting.is_empty() && self.may_be_half(&kept) {
            sleep(MOMENT).await;
            kept = self.store.read().await;
        }
        let taken = match (kept, waiting.as_slice()) {
            (Err(error), _) => Err(error),
            (Ok(kept), []) => self.said().take(kept),
            // Whoever adds to what is half written makes it whole.
            (Ok(Some(kept)), _) if self.said().is_less(&kept) => Err(NotKept::half()),
            // What is gone is written anew from what is known.
            (Ok(_), changes) => match self.store.update(changes, known).await {
                Ok(kept) => self.said().wrote(kept, changes),
                Err(error) => Err(error),
            },
        };
        let mut said = self.said();
        said.doubt = taken.as_ref().err().map(ToString::to_string);
        self.metrics.kept.set(taken.is_ok().into());
        // Also if it failed: somebody's time may be over.
        self.publish(&mut said);
        if taken.is_ok() {
            self.known.store(true, Ordering::Release);
        }
        taken
    }

    /// Whether the store lets somebody go, and was not seen to before. It is seen now.
    fn may_be_half(&self, kept: &Result<Option<List>, NotKept>) -> bool {
        let (Ok(Some(kept)), mut said) = (kept, self.said()) else {
            return false;
        };
        let is_less = said.is_less(kept);
        if is_less {
            said.less = Some(kept.clone());
        }
        is_less
    }

    /// Puts in force what was said, if that is something else than before.
    fn publish(&self, said: &mut Said) {
        let mut now = said.kept.clone();
        said.waiting.iter().for_each(|change| now.apply(change));
        now.expire(Timestamp::now());
        if now == said.now {
            return;
        }
        for entry in now.entries().filter(|entry| said.now.get(&entry.target) != Some(entry)) {
            warn!(target = %entry.target, mode = %entry.mode, until = entry.until.map(tracing::field::display), by = entry.by, reason = entry.reason, "quarantine begins");
        }
        for entry in said.now.entries().filter(|entry| now.get(&entry.target).is_none()) {
            warn!(target = %entry.target, mode = %entry.mode, by = entry.by, reason = entry.reason, "quarantine ends");
        }
        self.metrics.count(&now);
        self.current.store(Arc::new(Quarantine::from(&now)));
        said.now = now;
        self.published.send_replace(());
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Said {
    /// Takes over what the store has.
    fn take(&mut self, kept: Option<List>) -> Result<(), NotKept> {
        if kept.is_none() && self.present {
            return Err(NotKept::gone());
        }
        self.present |= kept.is_some();
        let kept = kept.unwrap_or_default();
        if self.is_less(&kept) {
            self.less = Some(kept);
            return Ok(());
        }
        self.less = None;
        self.kept = kept;
        Ok(())
    }

    /// Takes over what the store has after it was told of these changes.
    fn wrote(&mut self, kept: List, told: &[Change]) -> Result<(), NotKept> {
        self.waiting.retain(|change| !told.contains(change));
        (self.present, self.less, self.kept) = (true, None, kept);
        Ok(())
    }

    /// Whether it lets somebody go, and was not read before.
    fn is_less(&self, kept: &List) -> bool {
        self.kept.holds_more_than(kept) && self.less.as_ref() != Some(kept)
    }
}

#[cfg(test)]
mod tests;
