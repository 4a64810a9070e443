//! The refusals of late, for operators who look: some of each caller's, never many.
//!
//! It is written while requests end, so nobody waits here for anybody: a slot is swapped, or a count raised. The record of what
//! happened is the audit log; this only saves reading it.

use std::{
    cmp::Reverse,
    hash::{BuildHasher as _, Hash},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering},
    },
};

use arc_swap::ArcSwapOption;
use foldhash::quality::RandomState;
use jiff::Timestamp;

use crate::api::clip;

/// Whom the gate refused what, and why. Absent parts are empty.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Refusal {
    pub caller: String,
    /// As whom it acts, or wanted to.
    pub acting_as: String,
    /// Where it came from, without the port.
    pub address: String,
    pub verb: String,
    /// What was asked for, in a word or two.
    pub object: String,
    /// The same in the words of [`Question`](crate::why::Question), where it is an object or a collection.
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub field_selector: String,
    pub label_selector: String,
    pub code: u16,
    pub rule: String,
    pub reason: String,
}

/// A refusal, and how often.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refused {
    pub refusal: Arc<Refusal>,
    pub times: u64,
    pub last: Timestamp,
}

/// What is remembered. Callers are spread over shelves, so that one who is refused all the time pushes out few others; which
/// shelf somebody gets cannot be foreseen.
#[derive(Debug)]
pub struct Refusals {
    shelves: Vec<Shelf>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct Shelf {
    slots: [ArcSwapOption<Entry>; SLOTS],
    /// Where the next one goes.
    next: AtomicUsize,
}

#[derive(Debug)]
struct Entry {
    refusal: Arc<Refusal>,
    hash: u64,
    times: AtomicU64,
    /// In milliseconds.
    last: AtomicI64,
}

const SHELVES: usize = 16;
const SLOTS: usize = 16;

/// The longest text that is kept, in characters; names in Kubernetes are shorter.
const MAX_TEXT: usize = 256;
const MAX_REASON: usize = 512;

impl Default for Refusals {
    fn default() -> Self {
        Self {
            shelves: (0..SHELVES).map(|_| Shelf::default()).collect(),
            hasher: RandomState::default(),
        }
    }
}

impl Refusals {
    /// How many there can be.
    pub const MOST: usize = SHELVES * SLOTS;

    pub fn note(&self, refusal: Refusal, at: Timestamp) {
        let refusal = refusal.clipped();
        let shelf = self.shelf(&refusal.caller);
        let Some(shelf) = self.shelves.get(shelf) else { return };
        let hash = self.hash(&refusal);
        let now = at.as_millisecond();
        for slot in &shelf.slots {
            if let Some(entry) = slot.load().as_ref().filter(|entry| entry.is(hash, &refusal)) {
                entry.times.fetch_add(1, Ordering::Relaxed);
                entry.last.fetch_max(now, Ordering::Relaxed);
                return;
            }
        }
        let next = shelf.next.fetch_add(1, Ordering::Relaxed) % SLOTS;
        if let Some(slot) = shelf.slots.get(next) {
            slot.store(Some(Arc::new(Entry {
                refusal: Arc::new(refusal),
                hash,
                times: AtomicU64::new(1),
                last: AtomicI64::new(now),
            })));
        }
    }

    /// The latest first.
    pub fn recent(&self) -> Vec<Refused> {
        let slots = self.shelves.iter().flat_map(|shelf| &shelf.slots);
        let entries = slots.filter_map(ArcSwapOption::load_full);
        let mut recent: Vec<Refused> = entries.filter_map(|entry| entry.seen()).collect();
        recent.sort_by_key(|seen| Reverse(seen.last));
        recent
    }

    /// Those who are nobody have one of their own, since they can be as many as they like.
    fn shelf(&self, caller: &str) -> usize {
        match caller {
            "" => 0,
            caller => 1 + (self.hash(caller) % (SHELVES as u64 - 1)) as usize,
        }
    }

    fn hash(&self, value: impl Hash) -> u64 {
        self.hasher.hash_one(value)
    }
}

impl Refusal {
    fn clipped(mut self) -> Self {
        let texts = [
            &mut self.caller,
            &mut self.acting_as,
            &mut self.verb,
            &mut self.object,
            &mut self.resource,
            &mut self.namespace,
            &mut self.name,
            &mut self.field_selector,
            &mut self.label_selector,
        ];
        for text in texts {
            *text = clip(text, MAX_TEXT);
        }
        self.reason = clip(&self.reason, MAX_REASON);
        self
    }
}

impl Entry {
    fn is(&self, hash: u64, refusal: &Refusal) -> bool {
        self.hash == hash && *self.refusal == *refusal
    }

    fn seen(&self) -> Option<Refused> {
        Some(Refused {
            refusal: Arc::clone(&self.refusal),
            times: self.times.load(Ordering::Relaxed),
            last: Timestamp::from_millisecond(self.last.load(Ordering::Relaxed)).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn refusal(caller: &str, name: &str) -> Refusal {
        Refusal {
            caller: caller.to_owned(),
            name: name.to_owned(),
            ..Refusal::default()
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_latest_come_first_and_repeats_are_counted() {
        let refusals = Refusals::default();
        refusals.note(refusal("a", "x"), at(1));
        refusals.note(refusal("b", "x"), at(2));
        refusals.note(refusal("a", "y"), at(3));
        refusals.note(refusal("a", "x"), at(4));
        let recent: Vec<_> = refusals.recent().into_iter().collect();
        let told: Vec<_> = recent
            .iter()
            .map(|seen| (&*seen.refusal.caller, &*seen.refusal.name, seen.times, seen.last))
            .collect();
        assert_eq!(told, [("a", "x", 2, at(4)), ("a", "y", 1, at(3)), ("b", "x", 1, at(2))]);
    }

    #[test]
    fn a_flood_takes_no_more_room_and_hides_few_others() {
        let refusals = Refusals::default();
        for caller in 0..40 {
            refusals.note(refusal(&format!("node-{caller}"), "x"), at(1));
        }
        let before = refusals.recent().len();
        for name in 0..10_000 {
            refusals.note(refusal("loud", &name.to_string()), at(2));
            refusals.note(refusal("", &name.to_string()), at(2));
        }
        let recent = refusals.recent();
        assert!(recent.len() <= Refusals::MOST);
        let others = recent.iter().filter(|seen| seen.refusal.caller.starts_with("node-"));
        assert!(others.count() >= before / 2, "of {before}");
    }

    #[test]
    fn long_texts_are_cut() {
        let refusals = Refusals::default();
        let long = "x".repeat(100_000);
        refusals.note(
            Refusal {
                reason: long.clone(),
                ..refusal(&long, &long)
            },
            at(1),
        );
        let told = format!("{:?}", refusals.recent());
        assert!(told.len() < 2000, "{}", told.len());
    }

    #[test]
    fn many_may_write_at_once() {
        let refusals = Refusals::default();
        thread::scope(|scope| {
            for caller in ["a", "b", "c", "d"] {
                let refusals = &refusals;
                scope.spawn(move || {
                    for second in 0..1000 {
                        refusals.note(refusal(caller, "x"), at(second));
                    }
                });
            }
        });
        let times: u64 = refusals.recent().iter().map(|seen| seen.times).sum();
        assert_eq!(times, 4000);
    }
}
