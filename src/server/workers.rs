//! Threads that serve connections, each with a runtime of its own.
//!
//! A connection stays where it was put, with all that is asked and answered on it: what belongs to one request is done by one
//! thread, in whose caches it is, and nobody wakes another thread for it (docs/performance.md has what that was found to gain, and how
//! surely). In return, who takes long holds up those of its thread: what may, goes elsewhere.

use std::{io, num::NonZero, sync::Arc, thread};

use tokio::runtime::Handle;

use crate::threads::Thread;

/// At least one thread. They end when this is dropped, and whatever is still under way there with them.
#[derive(Debug)]
pub struct Workers(Vec<Worker>);

#[derive(Debug)]
struct Worker {
    thread: Thread,
    /// Held by everything that was put there.
    load: Arc<()>,
}

/// Something that was put there, until it is dropped.
#[derive(Debug)]
pub(super) struct Load(#[expect(dead_code, reason = "it only counts")] Arc<()>);

impl Workers {
    /// One for each CPU that the process may use.
    pub fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, NonZero::get);
        (0..count).map(Worker::start).collect::<io::Result<_>>().map(Self)
    }

    pub fn runtimes(&self) -> Vec<Handle> {
        self.0.iter().map(|worker| worker.thread.runtime().clone()).collect()
    }

    /// The one that has least, which has one more now.
    pub(super) fn pick(&self) -> Option<(&Handle, Load)> {
        let least = self.0.iter().min_by_key(|worker| Arc::strong_count(&worker.load))?;
        Some((least.thread.runtime(), Load(Arc::clone(&least.load))))
    }
}

impl Worker {
    fn start(at: usize) -> io::Result<Self> {
        Ok(Self {
            thread: Thread::start(&format!("serving-{at}"))?,
            load: Arc::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_go_where_there_are_fewest() {
        let workers = Workers(vec![Worker::start(0).unwrap(), Worker::start(1).unwrap()]);
        let picked = |workers: &Workers| {
            let (runtime, load) = workers.pick().unwrap();
            (runtime.id(), load)
        };
        let (first, load) = picked(&workers);
        let (second, _other) = picked(&workers);
        assert_ne!(first, second);
        drop(load);
        assert_eq!(picked(&workers).0, first, "which has none any more");
    }
}
