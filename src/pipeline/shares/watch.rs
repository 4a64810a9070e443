//! Looks all the time whether the gate keeps up, and while it does not, says what everybody's share is.

use std::{
    future::pending,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, task::spawn_blocking};
use tracing::{info, warn};

use super::{
    Callers, Metrics, Shares,
    fair::{Fair, Survey},
    rate::Clock,
    strain::{Meter, Probe, TICK},
};

/// What has a thread of its own: who looks how late the others are must not be late with them.
#[derive(Debug)]
struct Watcher {
    callers: Callers,
    clock: Clock,
    level: Arc<AtomicU32>,
    metrics: Metrics,
    meter: Meter,
    spell: Option<Spell>,
}

/// From the first strain to the last, with no longer pause than `CALM` in it: what an operator is told of once.
#[derive(Debug)]
struct Spell {
    fair: Fair,
    began: Instant,
    /// When the gate was last strained.
    last: Instant,
    /// When the share was last worked out.
    looked: Option<Instant>,
    shed_before: u64,
}

/// Between two looks at what callers have.
const LOOK: Duration = Duration::from_millis(250);
/// Shedding itself may be what lets the gate keep up; without it the next moment may be as bad.
const CALM: Duration = Duration::from_secs(10);

impl Shares {
    /// Until it is dropped. These are where requests are handled.
    pub async fn watch(&self, runtimes: Vec<Handle>) {
        let watcher = self.watcher();
        let (_watched, ended) = channel();
        match spawn_blocking(move || watcher.watch(runtimes, &ended)).await {
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime ends.
            _ => pending().await,
        }
    }

    fn watcher(&self) -> Watcher {
        Watcher {
            callers: Arc::clone(&self.callers),
            clock: self.clock,
            level: Arc::clone(&self.level),
            metrics: self.metrics.clone(),
            meter: Meter::default(),
            spell: None,
        }
    }
}

impl Watcher {
    /// Who is on the thread that is latest has to wait, however little the others have to do.
    fn watch(mut self, runtimes: Vec<Handle>, ended: &Receiver<()>) {
        let mut probes: Vec<_> = runtimes.into_iter().map(Probe::send).collect();
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let late = probes.iter().map(Probe::late).max();
            self.look(late.unwrap_or_default(), Instant::now());
            probes.iter_mut().for_each(Probe::renew);
        }
    }

    fn look(&mut self, late: Duration, now: Instant) {
        self.meter.tick(late);
        self.metrics.late(self.meter.late());
        if self.meter.is_strained() {
            self.strained(now);
        } else {
            self.level.store(f32::INFINITY.to_bits(), Ordering::Relaxed);
            self.relieved(now);
        }
    }

    fn strained(&mut self, now: Instant) {
        let is_new = self.spell.is_none();
        let spell = self.spell.get_or_insert_with(|| Spell {
            fair: Fair::default(),
            began: now,
            last: now,
            looked: None,
            shed_before: self.metrics.strained(),
        });
        spell.last = now;
        if spell.looked.is_some_and(|looked| now - looked < LOOK) {
            return;
        }
        spell.looked = Some(now);
        let mut survey = Survey::default();
        let step = self.clock.now();
        for (name, share) in self.callers.iter() {
            survey.count(&name, share.used.get(step), share.shed.get(step));
        }
        let level = spell.fair.level(&survey);
        self.level.store(level.to_bits(), Ordering::Relaxed);
        if is_new {
            let (most, wanted) = survey.most.unwrap_or_default();
            warn!(
                late = ?self.meter.late(),
                callers = survey.callers,
                requests_per_second = survey.used.round(),
                share_per_second = level.round(),
                most = ?most,
                most_per_second = wanted.round(),
                "the gate cannot keep up; who asks for more than its share is answered 429, but for leases and status of nodes"
            );
        }
    }

    fn relieved(&mut self, now: Instant) {
        if let Some(spell) = self.spell.take_if(|spell| now - spell.last >= CALM) {
            let shed = self.metrics.strained() - spell.shed_before;
            info!(strained_for = ?spell.last - spell.began, shed, "the gate keeps up again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Limits, fair::ORDINARY},
        *,
    };
    use crate::caller::{Caller, User};

    #[test]
    fn there_is_a_level_while_the_gate_is_strained() {
        let limits = Limits {
            requests: 1,
            streams: 1,
        };
        let shares = Shares::new(limits, Metrics::default());
        let _busy = shares.take(&Caller::from(User::default()), None);
        let (mut watcher, began) = (shares.watcher(), Instant::now());
        let mut look = |late, times: u32, since: u32| {
            for tick in 0..times {
                watcher.look(Duration::from_millis(late), began + TICK * (since + tick));
            }
            (shares.level(), watcher.spell.is_some())
        };
        assert_eq!(look(1, 10, 0), (f32::INFINITY, false));
        assert_eq!(look(500, 10, 10), (ORDINARY, true));
        let (lower, _) = look(500, 1000, 20);
        assert!(lower < ORDINARY, "{lower}");
        assert_eq!(look(1, 30, 1020), (f32::INFINITY, true), "it may come again");
        assert!(look(500, 30, 1050).0 < ORDINARY, "and is the same spell then");
        assert_eq!(look(1, 1000, 1080), (f32::INFINITY, false));
    }
}
