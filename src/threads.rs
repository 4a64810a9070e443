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

/// When a thread last began to wait for something to do.
struct Rest {
    began: Instant,
    waited: AtomicU64,
    haste: Haste,
}

/// From one time that a thread waits for something to do to the next, at least.
const REST: Duration = Duration::from_millis(5);

impl Thread {
    pub fn start(name: &str) -> io::Result<Self> {
        Self::run(name, &mut Builder::new_current_thread())
    }

    /// A thread for what is told much and often. Most of what little news costs is to wake up for it, so the thread does not do
    /// that more often than [`REST`] says: what comes meanwhile waits in the kernel, and is taken up together. Who comes alone is
    /// heard at once.
    pub fn start_resting(name: &str, haste: &Haste) -> io::Result<Self> {
        let rest = Rest {
            began: Instant::now(),
            waited: AtomicU64::new(0),
            haste: haste.clone(),
        };
        Self::run(name, Builder::new_current_thread().on_thread_park(move || rest.rest()))
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
        let waited = Duration::from_micros(self.waited.load(Ordering::Relaxed));
        let left = (waited + REST).saturating_sub(self.began.elapsed());
        if !left.is_zero() && self.haste.0.load(Ordering::Relaxed) == 0 {
            thread::sleep(left);
        }
        let now = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.waited.store(now, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[test]
    fn what_is_under_way_ends_with_it() {
        let thread = Thread::start("test").unwrap();
        let (kept, ended) = std::sync::mpsc::channel::<()>();
        thread.runtime().spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        drop(thread);
        assert!(ended.recv().is_err(), "or this would wait for ever");
    }

    /// How often the receiver of much news is woken for it.
    fn wakes(haste: &Haste) -> usize {
        const NEWS: usize = 200;
        let thread = Thread::start_resting("test", haste).unwrap();
        let (news, mut heard) = mpsc::unbounded_channel();
        let told = thread.runtime().spawn(async move {
            let (mut batch, mut wakes) = (Vec::new(), 0);
            while heard.recv_many(&mut batch, NEWS).await > 0 {
                wakes += 1;
            }
            wakes
        });
        for number in 0..NEWS {
            news.send(number).unwrap();
            thread::sleep(Duration::from_micros(500));
        }
        drop(news);
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(told).unwrap()
    }

    #[test]
    fn little_news_is_taken_up_together_unless_somebody_is_in_a_hurry() {
        let haste = Haste::default();
        let resting = wakes(&haste);
        let _hasty = haste.make();
        let hurried = wakes(&haste);
        assert!(resting < hurried, "{resting} wakes with rest, {hurried} without");
    }
}
