//! How much of something there was of late, as one number that fades.
//!
//! It is written on the way of every request, so nobody waits for anybody: time and amount stand in one word. What was counted loses an
//! eighth every eighth of a second, so that whatever comes steadily settles at what comes in a second.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::Instant;

/// What steps are counted from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

/// A moment, in steps.
pub(super) type Step = u32;

/// The step of the last count in the upper half, what was there then in the lower.
#[derive(Debug, Default)]
pub(super) struct Rate(AtomicU64);

const STEP: Duration = Duration::from_millis(125);
/// What is left of a count after a step.
const KEEP: f32 = 0.875;
/// After so many steps nothing worth counting is left of anything.
const GONE: Step = 200;

impl Clock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// It goes round after seventeen years.
    pub(super) fn now(self) -> Step {
        (self.0.elapsed().as_millis() / STEP.as_millis()) as Step
    }
}

impl Rate {
    /// Counts one more.
    pub(super) fn add(&self, now: Step) {
        self.take(now, f32::INFINITY);
    }

    /// Counts one more, unless there is as much as that already.
    pub(super) fn take(&self, now: Step, limit: f32) -> bool {
        let counted = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
            let amount = faded(word, now);
            (amount < limit).then(|| u64::from(now) << 32 | u64::from((amount + 1.0).to_bits()))
        });
        counted.is_ok()
    }

    /// What there is.
    pub(super) fn get(&self, now: Step) -> f32 {
        faded(self.0.load(Ordering::Relaxed), now)
    }
}

fn faded(word: u64, now: Step) -> f32 {
    let (then, amount) = ((word >> 32) as Step, f32::from_bits(word as u32));
    // Another request may have looked at the clock a moment earlier and come here later.
    let steps = now.saturating_sub(then);
    if steps > GONE {
        return 0.0;
    }
    amount * KEEP.powi(steps as i32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_comes_steadily_settles_at_what_comes_in_a_second() {
        let rate = Rate::default();
        for step in 0..80 {
            (0..25).for_each(|_| rate.add(step));
        }
        // 200 in a second.
        assert!((170.0..=200.0).contains(&rate.get(80)), "{}", rate.get(80));
        assert!(rate.get(88) < 75.0, "{}", rate.get(88));
        assert!(rate.get(80 + GONE) < 1e-6);
        assert!(rate.get(Step::MAX) < 1e-6);
    }

    #[test]
    fn a_limit_is_met_and_not_passed() {
        let rate = Rate::default();
        let taken = (0..100).filter(|_| rate.take(7, 20.0)).count();
        assert_eq!(taken, 20);
        assert!(rate.take(8, 20.0), "some of it has faded");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_counts_steps() {
        let clock = Clock::start();
        assert_eq!(clock.now(), 0);
        tokio::time::advance(STEP * 9).await;
        assert_eq!(clock.now(), 9);
    }

    proptest! {
        /// However requests are spread: whoever stays under the limit in any second is never kept from it.
        #[test]
        fn who_stays_under_a_limit_never_meets_it(
            limit in 1_u32..500,
            gaps in proptest::collection::vec(0_u32..20, 1..300),
        ) {
            let rate = Rate::default();
            let (mut now, mut sent): (Step, Vec<Step>) = (0, Vec::new());
            for gap in gaps {
                now += gap;
                // No more in the time that a count takes to fade than the limit.
                if sent.iter().filter(|then| now - **then <= GONE).count() < limit as usize {
                    prop_assert!(rate.take(now, limit as f32));
                    sent.push(now);
                }
            }
        }

        /// And nobody gets more than the limit and what fades of it.
        #[test]
        fn nobody_passes_a_limit(limit in 1_u32..500, gaps in proptest::collection::vec(0_u32..3, 1..1000)) {
            let rate = Rate::default();
            let (mut now, mut taken) = (0, 0);
            for gap in gaps {
                now += gap;
                taken += u32::from(rate.take(now, limit as f32));
            }
            let fades = (now as f32 + 1.0) * (limit as f32 + 1.0) * (1.0 - KEEP);
            prop_assert!(taken as f32 <= limit as f32 + 1.0 + fades, "{taken} in {now} steps");
        }
    }
}
