//! Time and memory.

use std::{
    fmt, fs,
    time::{Duration, Instant},
};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts all that is allocated. It makes what allocates a little slower, never quicker.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// What doing something once costs.
#[derive(Clone, Copy, serde::Deserialize)]
pub(super) struct Cost {
    pub(super) nanoseconds: f64,
    pub(super) allocations: f64,
}

/// A duration as people write it.
pub(super) struct Time(pub f64);

/// What is allocated at the moment.
#[derive(Clone, Copy)]
pub(super) struct Live {
    /// As asked for; what the allocator adds for itself is not in it.
    pub(super) bytes: i64,
    pub(super) blocks: i64,
}

const ROUNDS: usize = 200;
/// As upstream's are, and short enough to fit between two things that the machine does for others.
const ROUND: Duration = Duration::from_millis(2);

/// The cost of doing the work once, which is told how often to do it: that of the fastest of several rounds, since whatever
/// else the machine does can only make them slower.
pub(super) fn measure(mut work: impl FnMut(usize)) -> Cost {
    let mut times = 1;
    let times = loop {
        let ((), took) = timed(|| work(times));
        if took >= ROUND.as_secs_f64() / 4.0 {
            break ((times as f64 * ROUND.as_secs_f64() / took) as usize).max(1);
        }
        times *= 2;
    };
    let mut fastest = f64::INFINITY;
    let before = allocations();
    for _ in 0..ROUNDS {
        fastest = fastest.min(timed(|| work(times)).1);
    }
    let made = allocations() - before;
    Cost {
        nanoseconds: fastest * 1e9 / times as f64,
        allocations: made as f64 / (ROUNDS * times) as f64,
    }
}

/// What the work comes to, and its seconds.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed().as_secs_f64())
}

/// The seconds for which this thread has had a CPU, on Linux.
pub(super) fn on_cpu() -> f64 {
    let kept = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = kept.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.unwrap_or_default() / 1e9
}

pub(super) fn live() -> Live {
    let stats = ALLOCATOR.stats();
    Live {
        bytes: stats.bytes_allocated as i64 - stats.bytes_deallocated as i64,
        blocks: stats.allocations as i64 - stats.deallocations as i64,
    }
}

/// All bytes that were ever asked for.
#[allow(dead_code, reason = "one of the programs that share this counts blocks only")]
pub(super) fn allocated() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated
}

fn allocations() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

impl Live {
    /// What was allocated since and is still there.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes - before.bytes,
            blocks: self.blocks - before.blocks,
        }
    }

    pub(super) fn megabytes(self) -> f64 {
        self.bytes as f64 / 1e6
    }
}

impl Cost {
    /// Of one of two that were done together.
    pub(super) fn half(self) -> Self {
        Self {
            nanoseconds: self.nanoseconds / 2.0,
            allocations: self.allocations / 2.0,
        }
    }

    pub(super) fn time(self) -> Time {
        Time(self.nanoseconds / 1e9)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:.0} allocations", self.time(), self.allocations)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 1e-6 => write!(f, "{:.0} ns", s * 1e9),
            s if s < 1e-3 => write!(f, "{:.1} µs", s * 1e6),
            s if s < 1.0 => write!(f, "{:.0} ms", s * 1e3),
            s => write!(f, "{s:.1} s"),
        }
    }
}
