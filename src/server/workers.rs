//! Threads that serve connections, each with a runtime of its own.
//!
//! A connection stays where it was put, with all that is asked and answered on it: what belongs to one request is done by one
//! thread, in whose caches it is, and nobody wakes another thread for it (docs/performance.md has what that was found to gain, and how
//! surely). In return, who takes long holds up those of its thread: what may, goes elsewhere.

use std::{io, num::NonZero, sync::Arc, thread};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// At least one thread. They end when this is dropped, and whatever is still under way there with them.
#[derive(Debug)]
pub struct Workers(Vec<Worker>);

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    /// Held by everything that was put there.
    load: Arc<()>,
    /// Ends it when it is dropped.
    _running: oneshot::Sender<()>,
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
        self.0.iter().map(|worker| worker.runtime.clone()).collect()
    }

    /// The one that has least, which has one more now.
    pub(super) fn pick(&self) -> Option<(&Handle, Load)> {
        let least = self.0.iter().min_by_key(|worker| Arc::strong_count(&worker.load))?;
        Some((&least.runtime, Load(Arc::clone(&least.load))))
    }
}

impl Worker {
    fn start(at: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (running, ended) = oneshot::channel();
        let handle = runtime.handle().clone();
        thread::Builder::new().name(format!("serving-{at}")).spawn(move || {
            // Nothing is ever sent.
            let _ = runtime.block_on(ended);
            runtime.shutdown_background();
        })?;
        Ok(Self {
            runtime: handle,
            load: Arc::default(),
            _running: running,
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

    #[test]
    fn what_is_under_way_ends_with_them() {
        let workers = Workers::start().unwrap();
        let (kept, ended) = std::sync::mpsc::channel::<()>();
        let (runtime, _load) = workers.pick().unwrap();
        runtime.spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        drop((_load, workers));
        assert!(ended.recv().is_err(), "or this would wait for ever");
    }
}
