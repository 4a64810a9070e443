//! How much one node may cause: so many in a row, and so many a second in the long run.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::Limits;

#[derive(Debug)]
pub(super) struct Allowance {
    reads: f64,
    counted: Instant,
}

impl Allowance {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            reads: f64::from(limits.burst),
            counted: Instant::now(),
        }
    }

    /// Waits until one more read is due.
    pub(super) async fn take(&mut self, limits: Limits) {
        if self.try_take(limits) {
            return;
        }
        let due = self.counted + Duration::from_secs_f64((1.0 - self.reads) / f64::from(limits.per_second));
        sleep_until(due).await;
        self.reads = 0.0;
        self.counted = due;
    }

    /// Whether one more read is due now.
    pub(super) fn try_take(&mut self, limits: Limits) -> bool {
        let earned = self.counted.elapsed().as_secs_f64() * f64::from(limits.per_second);
        self.reads = (self.reads + earned).min(f64::from(limits.burst));
        self.counted = Instant::now();
        let is_due = self.reads >= 1.0;
        if is_due {
            self.reads -= 1.0;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever happens before: so many in a row, then one after the other.
    #[tokio::test(start_paused = true)]
    async fn an_allowance_is_a_burst_and_a_rate() {
        let limits = Limits {
            burst: 5,
            per_second: 2,
        };
        let began = Instant::now();
        let mut allowance = Allowance::new(limits);
        for (reads, milliseconds) in [(5, 0), (1, 500), (1, 1000), (4, 3000)] {
            for _ in 0..reads {
                allowance.take(limits).await;
            }
            assert_eq!(began.elapsed().as_millis(), milliseconds);
        }
        assert!(!allowance.try_take(limits), "nothing is left");
        tokio::time::advance(Duration::from_secs(3600)).await;
        let later = Instant::now();
        for _ in 0..5 {
            assert!(allowance.try_take(limits));
        }
        allowance.take(limits).await;
        assert_eq!(later.elapsed().as_millis(), 500, "no more than the burst is saved up");
    }
}
