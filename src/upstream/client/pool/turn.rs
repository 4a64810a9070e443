//! How much a caller has of the connections that all callers share.
//!
//! HTTP/1.1 has no way to take a request back but to end its connection, and a new one costs upstream and the gate more than many
//! requests. So whoever gives up requests again and again, and whoever has many at a time, goes by connections of its own.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

#[derive(Debug, Default)]
pub(super) struct Turns {
    under_way: AtomicUsize,
    /// Until when what was given up counts, in milliseconds since the process began.
    atoned: AtomicU64,
}

/// One request, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Option<Arc<Turns>>);

/// Requests of one caller at a time.
const MOST: usize = 8;
/// How long a request that was given up counts, and how many may at a time.
const ATONES: u64 = 1000;
const GIVEN_UP: u64 = 5;

impl Turns {
    /// `now` is in milliseconds since the process began.
    pub(super) fn take_at(self: &Arc<Self>, now: u64) -> Option<Turn> {
        if self.atoned.load(Ordering::Relaxed) > now + (GIVEN_UP - 1) * ATONES {
            return None;
        }
        if self.under_way.fetch_add(1, Ordering::Relaxed) >= MOST {
            self.under_way.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Turn(Some(Arc::clone(self))))
    }

    pub(super) fn are_taken(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }

    fn gives_up_at(&self, now: u64) {
        let later = |atoned: u64| Some(atoned.max(now) + ATONES);
        let _ = self.atoned.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later);
    }
}

impl Turn {
    /// The answer has ended, one way or the other; nobody has given it up.
    pub(super) fn end(mut self) {
        if let Some(turns) = self.0.take() {
            turns.under_way.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = self.0.take() {
            turns.under_way.fetch_sub(1, Ordering::Relaxed);
            turns.gives_up_at(now());
        }
    }
}

/// In milliseconds since the process began, or nearly.
pub(super) fn now() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(BEGAN.elapsed().as_millis()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_a_time() {
        let turns = Arc::<Turns>::default();
        let mut taken: Vec<_> = std::iter::from_fn(|| turns.take_at(0)).collect();
        assert_eq!(taken.len(), MOST);
        taken.pop().unwrap().end();
        assert!(turns.take_at(0).is_some());
    }

    #[test]
    fn who_gives_up_again_and_again_has_none_for_a_while() {
        let turns = Arc::<Turns>::default();
        let over = |turn: Option<Turn>| turn.map(Turn::end).is_some();
        for _ in 1..GIVEN_UP {
            turns.gives_up_at(0);
        }
        assert!(over(turns.take_at(0)), "everybody has to now and then");
        turns.gives_up_at(0);
        assert!(!over(turns.take_at(0)));
        assert!(!over(turns.take_at(ATONES - 1)));
        assert!(over(turns.take_at(ATONES)));
        turns.gives_up_at(ATONES);
        assert!(!over(turns.take_at(ATONES)), "one a second from then on");
        assert!(over(turns.take_at(100 * ATONES)));
    }

    #[test]
    fn a_turn_that_is_dropped_was_given_up() {
        let turns = Arc::<Turns>::default();
        for _ in 0..GIVEN_UP {
            drop(turns.take_at(now()).unwrap());
        }
        assert!(turns.take_at(now()).is_none());
        assert_eq!(turns.under_way.load(Ordering::Relaxed), 0);
    }
}
