//! Threads that have a runtime to themselves, and one that rests.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// It ends when this is dropped, and whatever is still under way there with it.
#[derive(Debug)]
pub struct Thread {
    runtime: Handle,
    /// Ends it when it is dropped.
    _running: oneshot::Sender<()>,
}

/// Whether somebody on a thread that rests is in a hurry. Cheap to clone; clones are of the same thread.
#[derive(Clone, Debug, Default)]
pub struct Haste(Arc<AtomicUsize>);

/// Somebody who is, until it is dropped.
#[derive(Debug)]
pub struct Hasty(Haste);

/// When a thread last began to wait for something to do, and when it had something, in microseconds since it began.
struct Rest {
    began: Instant,
    waited: AtomicU64,
    woke: AtomicU64,
    haste: Haste,
}

/// From one time that a thread waits for something to do to the next, at least.
const REST: Duration = Duration::from_millis(5);
/// Who has worked for so long since it woke does not rest: there is much to do, and more may wait until what has come is taken up.
const MUCH: Duration = Duration::from_micros(300);

impl Thread {
    pub fn start(name: &str) -> io::Result<Self> {
        Self::run(name, &mut Builder::new_current_thread())
    }

    /// A thread for what is told much and often. Most of what little news costs is to wake up for it, so the thread does not do
    /// that more often than every 5 ms: what comes meanwhile waits in the kernel, and is taken up together. Who comes alone is
    /// heard at once.
    pub fn start_resting(name: &str, haste: &Haste) -> io::Result<Self> {
        let resting = Arc::new(Rest {
            began: Instant::now(),
            waited: AtomicU64::new(0),
            woke: AtomicU64::new(0),
            haste: haste.clone(),
        });
        let waking = Arc::clone(&resting);
        let mut runtime = Builder::new_current_thread();
        runtime
            .on_thread_park(move || resting.rest())
            .on_thread_unpark(move || waking.woke.store(waking.now(), Ordering::Relaxed));
        Self::run(name, &mut runtime)
    }

    fn run(name: &str, runtime: &mut Builder) -> io::Result<Self> {
        let runtime = runtime.enable_all().build()?;
        let (running, ended) = oneshot::channel();
        let handle = runtime.handle().clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Nothing is ever sent.
            let _ = runtime.block_on(ended);
            runtime.shutdown_background();
        })?;
        Ok(Self {
            runtime: handle,
            _running: running,
        })
    }

    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

impl Haste {
    pub fn make(&self) -> Hasty {
        self.0.fetch_add(1, Ordering::Relaxed);
        Hasty(self.clone())
    }
}

impl Drop for Hasty {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Rest {
    fn rest(&self) {
        let left = self.left(self.now());
        if !left.is_zero() {
            thread::sleep(left);
        }
        self.waited.store(self.now(), Ordering::Relaxed);
    }

    /// How long it rests, if it has nothing to do now.
    fn left(&self, now: u64) -> Duration {
        let since = |then: &AtomicU64| Duration::from_micros(now.saturating_sub(then.load(Ordering::Relaxed)));
        if since(&self.woke) >= MUCH || self.haste.0.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        REST.saturating_sub(since(&self.waited))
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test]
    fn what_is_under_way_ends_with_it() {
        let thread = Thread::start_resting("test", &Haste::default()).unwrap();
        let (kept, ended) = std::sync::mpsc::channel::<()>();
        thread.runtime().spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        drop(thread);
        assert!(ended.recv().is_err(), "or this would wait for ever");
    }

    #[test_case(0, 1_000_000, 1_000_020 => 0; "who comes alone")]
    #[test_case(999_000, 1_000_000, 1_000_020 => 3980; "who comes soon after another")]
    #[test_case(999_000, 1_000_000, 1_000_300 => 0; "much to do")]
    fn a_thread_rests(waited: u64, woke: u64, now: u64) -> u128 {
        let haste = Haste::default();
        let rest = Rest {
            began: Instant::now(),
            waited: AtomicU64::new(waited),
            woke: AtomicU64::new(woke),
            haste: haste.clone(),
        };
        let left = rest.left(now);
        let hasty = haste.make();
        assert_eq!(rest.left(now), Duration::ZERO, "while somebody is in a hurry");
        drop(hasty);
        assert_eq!(rest.left(now), left);
        left.as_micros()
    }
}
