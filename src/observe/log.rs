//! Log lines: text for people, JSON for machines, always on standard error.
//!
//! Levels: `error` the gate cannot do its work; `warn` something failed and was survived; `info` refusals and what
//! happens once; `debug` every request; `trace` libraries too. No line carries a header, a body or a query, but
//! for the name of an object that a selector pins.

use std::{io, sync::Arc};

use arc_swap::ArcSwap;
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter, Layer, Registry, layer::SubscriberExt as _, registry::LookupSpan, reload, util::SubscriberInitExt as _,
};

/// The `log` section of the configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub format: Format,
    pub level: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    Json,
    Text,
}

/// Changes the level of a running process. Cheap to clone.
#[derive(Clone)]
pub struct Level {
    set: Arc<dyn Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync>,
    /// As it was written.
    written: Arc<ArcSwap<String>>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "log level {0:?} is not understood; try error, warn, info, debug, trace, or pairs such as scopegate=debug,hyper=info"
    )]
    Level(String),
    #[error("the log level cannot be changed: {0}")]
    Reload(#[from] reload::Error),
}

/// Lines that wait to be written when standard error is slow; more are dropped.
const QUEUE: usize = 8 * 1024;

/// Starts logging for the whole process. Lines are written by a thread of their own, so that a slow terminal or pipe
/// does not hold up requests; the guard writes what is left when it is dropped.
pub fn start(config: &Config) -> Result<(Level, WorkerGuard), Error> {
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(QUEUE)
        .finish(io::stderr());
    let (filter, handle) = reload::Layer::new(parse(&config.level)?);
    Registry::default()
        .with(filter)
        .with(lines(config.format, writer))
        .init();
    let level = Level {
        set: Arc::new(move |filter| handle.reload(filter)),
        written: Arc::new(ArcSwap::from_pointee(config.level.clone())),
    };
    Ok((level, guard))
}

/// Checks a level without using it.
pub fn parse(level: &str) -> Result<EnvFilter, Error> {
    let unknown = || Error::Level(level.to_owned());
    if level.contains('=') {
        return EnvFilter::try_new(level).map_err(|_| unknown());
    }
    // A lone word that is no level would be taken for a module name, and silence everything else.
    let level: LevelFilter = level.parse().map_err(|_| unknown())?;
    // Libraries say a lot about every connection, and it is seldom about the gate; h2 warns of what any client can do as
    // often as it likes. kube_client warns of an answer that it cannot read by writing out all of it, which may be every
    // pod there is.
    let filter = match level {
        LevelFilter::TRACE => "trace,kube_client=error".to_owned(),
        LevelFilter::DEBUG => "info,scopegate=debug,h2=error,kube_client=error".to_owned(),
        LevelFilter::INFO | LevelFilter::WARN => format!("{level},h2=error,kube_client=error"),
        other => other.to_string(),
    };
    EnvFilter::try_new(filter).map_err(|_| unknown())
}

fn lines<S>(format: Format, writer: NonBlocking) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(false)
        .with_target(false);
    match format {
        Format::Text => lines.boxed(),
        Format::Json => lines.json().flatten_event(true).boxed(),
    }
}

impl Level {
    pub fn set(&self, level: &str) -> Result<(), Error> {
        (self.set)(parse(level)?)?;
        self.written.store(Arc::new(level.to_owned()));
        Ok(())
    }

    pub fn get(&self) -> String {
        self.written.load().to_string()
    }
}
