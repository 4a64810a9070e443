//! How long to wait after a failure.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

use tokio::time::{Instant, sleep};

const FIRST: Duration = Duration::from_millis(500);
const LAST: Duration = Duration::from_secs(15);
/// What has worked for so long begins again with the shortest wait.
const FORGIVEN: Duration = Duration::from_secs(60);

/// Twice as long every time, and never quite as long as another informer.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    /// When the last wait was over.
    until: Instant,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self {
            next: FIRST,
            until: Instant::now(),
        }
    }

    pub(super) async fn wait(&mut self) {
        sleep(self.delay()).await;
        self.until = Instant::now();
    }

    /// From the wait that is due down to half of it, by chance.
    fn delay(&mut self) -> Duration {
        if self.until.elapsed() > FORGIVEN {
            self.next = FIRST;
        }
        let longest = self.next;
        self.next = (longest * 2).min(LAST);
        let chance = RandomState::new().hash_one(()) % 1000;
        longest.mul_f64(1.0 - chance as f64 / 2000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_grow_and_are_forgiven() {
        let mut backoff = Backoff::new();
        for longest in [500, 1000, 2000, 4000, 8000, 15_000, 15_000] {
            let start = Instant::now();
            backoff.wait().await;
            let took = start.elapsed().as_millis();
            assert!((longest / 2..=longest + 2).contains(&took), "{took} of {longest}");
        }
        sleep(FORGIVEN + Duration::from_secs(1)).await;
        assert!(backoff.delay() <= FIRST);
    }
}
