//! Whether the gate itself is the bottleneck: by how late its tasks get their turn, not by how much it has to do.
//!
//! A gate may have thousands of requests under way and be idle, since most of them wait for upstream. It is strained when whoever is
//! ready to go on has to wait for a thread. That is measured where it is felt: a task that has nothing to do is sent through, again
//! and again, and somebody who is not in that queue looks how long it takes.

use std::{
    future::poll_fn,
    sync::{Arc, OnceLock},
    task::Poll,
    time::{Duration, Instant},
};

use tokio::runtime::Handle;

/// How late tasks are, and whether that is too late.
#[derive(Debug, Default)]
pub(super) struct Meter {
    late: Duration,
    strained: bool,
}

/// A task on its way.
#[derive(Debug)]
pub(super) struct Probe {
    runtime: Handle,
    sent: Instant,
    took: Arc<OnceLock<Duration>>,
}

/// Between two looks.
pub(super) const TICK: Duration = Duration::from_millis(25);
/// No single delay counts for more: when the whole machine has stopped for a second, it goes on without shedding.
const MOST: Duration = Duration::from_millis(80);
/// From when on the gate is strained, and until when it stays so. A gate that has threads to spare is late by less than a millisecond.
const LATE: Duration = Duration::from_millis(40);
const RELIEF: Duration = Duration::from_millis(10);
/// So many looks count about as much as all before them.
const SMOOTH: u32 = 8;

impl Meter {
    /// Takes note of one more delay.
    pub(super) fn tick(&mut self, late: Duration) {
        self.late = (self.late * (SMOOTH - 1) + late.min(MOST)) / SMOOTH;
        self.strained = self.late > if self.strained { RELIEF } else { LATE };
    }

    pub(super) fn is_strained(&self) -> bool {
        self.strained
    }

    /// How late tasks are of late.
    pub(super) fn late(&self) -> Duration {
        self.late
    }
}

impl Probe {
    /// What is sent from outside stands in the queue for that; then it gives way once, and stands in the queue of those that are
    /// ready to go on.
    pub(super) fn send(runtime: Handle) -> Self {
        let (sent, took) = (Instant::now(), Arc::default());
        let tells: Arc<OnceLock<Duration>> = Arc::clone(&took);
        runtime.spawn(async move {
            give_way().await;
            let _ = tells.set(sent.elapsed());
        });
        Self { runtime, sent, took }
    }

    /// Sent again, if it is through.
    pub(super) fn renew(&mut self) {
        if self.took.get().is_some() {
            *self = Self::send(self.runtime.clone());
        }
    }

    /// How long it took, or takes already.
    pub(super) fn late(&self) -> Duration {
        self.took.get().copied().unwrap_or_else(|| self.sent.elapsed())
    }
}

/// To the end of the queue. (`yield_now` waits for an empty one.)
async fn give_way() {
    let mut given = false;
    poll_fn(|cx| {
        if given {
            return Poll::Ready(());
        }
        given = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn milliseconds(meter: &mut Meter, delays: impl IntoIterator<Item = u64>) -> bool {
        let mut ever = false;
        for delay in delays {
            meter.tick(Duration::from_millis(delay));
            ever |= meter.is_strained();
        }
        ever
    }

    #[test]
    fn a_hiccup_is_no_strain() {
        let mut meter = Meter::default();
        assert!(!milliseconds(&mut meter, [10_000, 1, 1, 1]));
        let now_and_then = (0..10_000).map(|tick| if tick % 10 == 0 { 500 } else { 2 });
        assert!(!milliseconds(&mut meter, now_and_then));
        assert!(!milliseconds(&mut meter, [500, 500, 500]), "nor are a few in a row");
    }

    #[test]
    fn strain_is_what_lasts_and_ends_when_it_is_over() {
        let mut meter = Meter::default();
        assert!(milliseconds(&mut meter, [100; 10]));
        assert!(meter.is_strained());
        milliseconds(&mut meter, [20; 100]);
        assert!(meter.is_strained(), "better is not good");
        milliseconds(&mut meter, [1; 20]);
        assert!(!meter.is_strained());
        milliseconds(&mut meter, [20; 1000]);
        assert!(!meter.is_strained(), "nor is it bad");
    }

    proptest! {
        #[test]
        fn a_gate_that_is_never_late_is_never_strained(
            delays in proptest::collection::vec(0_u64..=LATE.as_millis() as u64, 0..500),
        ) {
            prop_assert!(!milliseconds(&mut Meter::default(), delays));
        }
    }

    /// More is ready to go on than there are threads, and each takes its time.
    #[test]
    fn a_runtime_that_cannot_keep_up_is_strained() {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).build().unwrap();
        for _ in 0..5000 {
            runtime.spawn(async {
                loop {
                    std::thread::sleep(Duration::from_micros(50));
                    give_way().await;
                }
            });
        }
        let (mut meter, mut probe) = (Meter::default(), Probe::send(runtime.handle().clone()));
        while !meter.is_strained() {
            std::thread::sleep(TICK);
            meter.tick(probe.late());
            probe.renew();
        }
        runtime.shutdown_background();
    }
}
