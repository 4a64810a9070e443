//! Audit events, one JSON object a line, written by a thread of its own.
//!
//! A request never waits for the disk. If events come faster than they can be written the newest are dropped and
//! counted; an operator who must not lose any alerts on `scopegate_audit_events_lost_total`.

mod event;
mod file;
mod line;

use std::{
    fmt,
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    thread::JoinHandle,
    time::Duration,
};

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};
use tracing::error;

pub use self::event::{Annotations, Event, ObjectReference, ResponseStatus, Stage, UserInfo};
use self::file::RotatingFile;

/// The `audit` section of the configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub target: Target,
    /// Bytes after which a file is put aside.
    pub max_size: u64,
    /// How many files put aside are kept.
    pub max_backups: usize,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    File(PathBuf),
    Stdout,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Stdout => f.write_str("standard output"),
        }
    }
}

/// What an event is made of. The thread that writes makes it: what many events have in common, the code above all, is then in the
/// caches for all but the first, and requests need not wait for it.
pub trait Record: fmt::Debug + Send {
    fn into_event(self: Box<Self>) -> Event;
}

/// Where events go. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sink {
    queue: SyncSender<Box<dyn Record>>,
    metrics: Metrics,
}

/// The thread behind the sinks. It ends when the last of them is gone.
#[derive(Debug)]
pub struct Writer(JoinHandle<()>);

#[derive(Clone, Debug, Default)]
pub struct Metrics {
    written: Counter,
    lost: Counter,
    waiting: Gauge,
}

/// A burst that is worth waiting for. Of no request more is kept than a few texts of some thousand bytes.
const QUEUE: usize = 4 * 1024;

/// How long the first event waits for more: waking this thread, and writing, cost more than the event itself. A queue that is
/// full in less is one that no disk would keep up with.
const GATHER: Duration = Duration::from_millis(20);

/// How much of it whoever sends more than anybody ordinary may fill: what others do has to be on record too.
const QUEUE_OF_FLOODS: i64 = 3 * 1024;

/// Opens the target, or says why it cannot be.
pub fn start(config: &Config, metrics: Metrics) -> io::Result<(Sink, Writer)> {
    let out: Box<dyn Write + Send> = match &config.target {
        Target::Stdout => Box::new(io::BufWriter::new(io::stdout())),
        Target::File(path) => Box::new(RotatingFile::open(path, config.max_size, config.max_backups)?),
    };
    let (queue, events) = sync_channel(QUEUE);
    let counted = metrics.clone();
    let thread = std::thread::Builder::new()
        .name("audit".to_owned())
        .spawn(move || write(&events, out, &counted))?;
    Ok((Sink { queue, metrics }, Writer(thread)))
}

impl Sink {
    pub fn send(&self, record: impl Record + 'static) {
        // First, so that it is not counted out before it is counted in.
        self.metrics.waiting.inc();
        match self.queue.try_send(Box::new(record)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.metrics.waiting.dec();
                self.metrics.lost.inc();
            }
        }
    }

    /// The same, unless so many wait that the rest of the queue is for others.
    pub fn send_of_flood(&self, record: impl Record + 'static) {
        if self.metrics.waiting.get() < QUEUE_OF_FLOODS {
            self.send(record);
        } else {
            self.metrics.lost.inc();
        }
    }
}

impl Writer {
    /// Waits until everything sent so far is written. Every sink must be gone.
    pub fn finish(self) {
        let _ = self.0.join();
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("audit_events", "Audit events written", self.written.clone());
        registry.register(
            "audit_events_lost",
            "Audit events that could not be written or queued",
            self.lost.clone(),
        );
        registry.register(
            "audit_events_waiting",
            "Audit events that wait to be written",
            self.waiting.clone(),
        );
    }
}

/// Writes what comes, all that waits at a time.
fn write(records: &Receiver<Box<dyn Record>>, mut out: impl Write, metrics: &Metrics) {
    let mut line = Vec::new();
    let mut broken = false;
    while let Ok(first) = records.recv() {
        std::thread::sleep(GATHER);
        let more = std::iter::from_fn(|| records.try_recv().ok());
        let (mut written, mut failure) = (0, None);
        for record in std::iter::once(first).chain(more).take(QUEUE) {
            metrics.waiting.dec();
            line.clear();
            // A defect in making one must not end the thread, and with it all others.
            let Ok(made) = catch_unwind(AssertUnwindSafe(|| encode(record, &mut line))) else {
                metrics.lost.inc();
                error!("panic while an audit event was made, a defect of the gate; it is counted as lost");
                continue;
            };
            match made.and_then(|()| out.write_all(&line)) {
                Ok(()) => written += 1,
                Err(error) => {
                    metrics.lost.inc();
                    failure = Some(error);
                }
            }
        }
        match out.flush() {
            Ok(()) => metrics.written.inc_by(written),
            Err(error) => {
                failure = Some(error);
                metrics.lost.inc_by(written)
            }
        };
        // Told once per outage: the metric tells how many.
        if let Some(error) = failure.as_ref().filter(|_| !broken) {
            error!(%error, "cannot write audit events; they are counted as lost until this works again");
        }
        broken = failure.is_some();
    }
}

/// As a line.
fn encode(record: Box<dyn Record>, line: &mut Vec<u8>) -> io::Result<()> {
    record.into_event().write(line)?;
    line.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests;
