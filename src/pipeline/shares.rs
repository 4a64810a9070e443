//! How much each caller has under way and has had of late, and how much it may have.
//!
//! kube-apiserver works on so many requests at a time and no more; a node that keeps hundreds of them waiting on a body that
//! does not come, or does not read the answers, would keep all others out. And when the gate itself cannot keep up (`strain`), it
//! is those who ask for more than their share that wait (`fair`), and not everybody alike. What keeps a node from being taken for dead
//! has places of its own.

mod fair;
mod metrics;
mod rate;
mod strain;
mod watch;

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
};

use quick_cache::sync::Cache;

pub use self::metrics::Metrics;
use self::{
    fair::ORDINARY,
    metrics::Reason,
    rate::{Clock, Rate},
};
use crate::{caller::Caller, quarantine::Asks, rejection::Rejection, request::RequestInfo};

/// Per caller, over all its connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests that end by themselves.
    pub requests: usize,
    /// Watches, logs and sessions.
    pub streams: usize,
}

/// What every caller has.
#[derive(Debug)]
pub struct Shares {
    limits: Limits,
    callers: Callers,
    /// Of those who are nobody, or not yet anybody.
    nobody: Share,
    clock: Clock,
    /// Requests a second that nobody may pass now, as the bits of a number; infinite unless the gate is strained.
    level: Arc<AtomicU32>,
    metrics: Metrics,
}

type Callers = Arc<Cache<String, Arc<Share>>>;

/// A large body of a caller, until it is dropped.
#[derive(Debug)]
pub(super) struct TakenLarge(Arc<Share>);

/// One request of a caller, until it is dropped; also of one that is to come again.
#[derive(Debug)]
pub(super) struct Taken {
    share: Arc<Share>,
    place: Option<Place>,
}

/// What a request is counted as while it is under way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    Request,
    Stream,
    Heartbeat,
    /// It is to come again, and is told so in a moment.
    Held,
}

#[derive(Debug, Default)]
struct Share {
    requests: AtomicUsize,
    streams: AtomicUsize,
    heartbeats: AtomicUsize,
    held: AtomicUsize,
    large: AtomicUsize,
    /// What was worked on, heartbeats left out.
    used: Rate,
    /// What was turned away.
    shed: Rate,
    beats: Rate,
    lines: Rate,
    lines_left_out: AtomicU64,
}

/// Bodies of one caller that are larger than what nodes write all day, and are kept at a time.
const LARGE: usize = 2;
/// Callers that are remembered; they are known users, not names that a client makes up.
const MAX_CALLERS: usize = 100_000;
/// Heartbeats of a node that are under way whatever else it does, and how many a second. A kubelet sends one every few seconds and
/// some more when they fail; beyond that they are requests like others.
const HEARTBEATS: usize = 8;
const BEATS: f32 = 20.0;
/// Log lines about one caller, a second.
const LINES: f32 = 20.0;

impl Shares {
    pub fn new(limits: Limits, metrics: Metrics) -> Self {
        Self {
            limits,
            callers: Arc::new(Cache::new(MAX_CALLERS)),
            nobody: Share::default(),
            clock: Clock::start(),
            level: Arc::new(AtomicU32::new(f32::INFINITY.to_bits())),
            metrics,
        }
    }

    /// Takes note of one more large body that is kept, or 429: hundreds of them would be all the memory there is.
    pub(super) fn take_large(&self, caller: &Caller) -> Result<TakenLarge, Rejection> {
        let taken = TakenLarge(self.share(caller));
        if taken.0.large.fetch_add(1, Ordering::Relaxed) < LARGE {
            Ok(taken)
        } else {
            Err(Rejection::too_many_requests(
                "the caller has large bodies under way already",
            ))
        }
    }

    fn share(&self, caller: &Caller) -> Arc<Share> {
        let name = caller.asker().name.as_str();
        let Ok(share) = self
            .callers
            .get_or_insert_with(name, || Ok::<_, Infallible>(Arc::default()));
        share
    }

    /// Takes note of one more, or 429. What has no meaning counts as any other.
    pub(super) fn take(&self, caller: &Caller, info: Option<&RequestInfo>) -> (Taken, Result<(), Rejection>) {
        let (share, now) = (self.share(caller), self.clock.now());
        let heartbeat = info.is_some_and(|info| Asks::of(caller, info).heartbeat);
        if heartbeat && share.claim(Place::Heartbeat, HEARTBEATS) {
            if share.beats.take(now, BEATS) {
                return (Taken::new(share, Some(Place::Heartbeat)), Ok(()));
            }
            share.release(Place::Heartbeat);
        }
        let (place, limit, full) = if info.is_some_and(RequestInfo::is_long_running) {
            (Place::Stream, self.limits.streams, Reason::Streams)
        } else {
            (Place::Request, self.limits.requests, Reason::Requests)
        };
        let reason = if share.claim(place, limit) {
            if share.used.take(now, self.level()) {
                return (Taken::new(share, Some(place)), Ok(()));
            }
            share.release(place);
            Reason::Strain
        } else {
            full
        };
        share.shed.add(now);
        self.metrics.sheds(reason);
        let held = share.claim(Place::Held, self.limits.requests);
        let rejection = Rejection::too_many_requests(match reason {
            Reason::Requests => format!("the caller has {limit} requests under way already"),
            Reason::Streams => format!("the caller has {limit} streams under way already"),
            Reason::Strain => "the gate cannot keep up, and the caller has had its share".to_owned(),
        });
        (Taken::new(share, held.then_some(Place::Held)), Err(rejection))
    }

    fn level(&self) -> f32 {
        f32::from_bits(self.level.load(Ordering::Relaxed))
    }

    /// Whether there may be one more line about the caller in the log, and how many were left out before it. Who is refused
    /// thousands of times a second would fill it, and cost more by that than by all else.
    pub(super) fn line(&self, taken: Option<&Taken>) -> Option<u64> {
        let share = taken.map_or(&self.nobody, |taken| &taken.share);
        if share.lines.take(self.clock.now(), LINES) {
            return Some(share.lines_left_out.swap(0, Ordering::Relaxed));
        }
        share.lines_left_out.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Whether the caller has asked for more of late than anybody ordinary does.
    pub(super) fn is_flooded_by(&self, taken: &Taken) -> bool {
        let now = self.clock.now();
        taken.share.used.get(now) + taken.share.shed.get(now) > ORDINARY
    }
}

impl Share {
    fn count(&self, place: Place) -> &AtomicUsize {
        match place {
            Place::Request => &self.requests,
            Place::Stream => &self.streams,
            Place::Heartbeat => &self.heartbeats,
            Place::Held => &self.held,
        }
    }

    fn claim(&self, place: Place, limit: usize) -> bool {
        let free = self.count(place).fetch_add(1, Ordering::Relaxed) < limit;
        if !free {
            self.release(place);
        }
        free
    }

    fn release(&self, place: Place) {
        self.count(place).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Taken {
    fn new(share: Arc<Share>, place: Option<Place>) -> Self {
        Self { share, place }
    }

    /// Whether it is counted: what the caller has of these is bounded, so that one more may wait.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.share.release(place);
        }
    }
}

impl Drop for TakenLarge {
    fn drop(&mut self) {
        self.0.large.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
