//! Keeps the leaves of gardenlets to begin as they have to be: what is applied, deleted or listed changes them, and so does time.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;
use tokio::time::Instant;

use crate::{
    api::garden::GARDEN,
    graph::{Key, Kind, Store},
};

/// Which have to be looked at again by themselves, and when, in seconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Beginnings(HashMap<(String, String), i64>);

/// The clock that certificates go by can be set, and the one that is slept by cannot.
const LONGEST: Duration = Duration::from_secs(60);

impl Beginnings {
    /// An object came, went or is another.
    pub(super) fn changed(&mut self, store: &mut Store, key: Key<'_>) {
        match key.kind {
            Kind::Gardenlet | Kind::ManagedSeed => self.settle(store, key.namespace, key.name, now()),
            Kind::Seed => self.settle(store, GARDEN, key.name, now()),
            _ => {}
        }
    }

    /// Objects of a kind may have gone.
    pub(super) fn listed(&mut self, store: &mut Store, kind: Kind) {
        if matches!(kind, Kind::Gardenlet | Kind::ManagedSeed | Kind::Seed) {
            self.0.clear();
            for (namespace, name) in store.beginners() {
                self.settle(store, &namespace, &name, now());
            }
        }
    }

    /// Time has passed.
    pub(super) fn waited(&mut self, store: &mut Store) {
        let now = now();
        let due: Vec<_> = self.0.extract_if(|_, due| *due <= now).map(|(of, _)| of).collect();
        for (namespace, name) in due {
            self.settle(store, &namespace, &name, now);
        }
    }

    /// When to look again, if there is anything to look at. It can be too early, and is never too late by more than the clock was
    /// set forward, or a minute.
    pub(super) fn next(&self) -> Option<Instant> {
        let left = u64::try_from(self.0.values().min()?.saturating_sub(now())).unwrap_or_default();
        Some(Instant::now() + Duration::from_secs(left).min(LONGEST))
    }

    fn settle(&mut self, store: &mut Store, namespace: &str, name: &str, now: i64) {
        let of = (namespace.to_owned(), name.to_owned());
        match store.settle_bootstrap(namespace, name, now) {
            Some(due) => self.0.insert(of, due),
            None => self.0.remove(&of),
        };
    }
}

fn now() -> i64 {
    Timestamp::now().as_second()
}
