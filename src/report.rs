//! What an audit log of the gate comes to: what would have been refused, and what static pods really use.
//!
//! Pure but for reading lines. Logs can be many gigabytes, and nodes choose much of what is in them: a log is read line by line,
//! and what is kept of it does not grow with it.

mod bounded;
mod event;
mod log;
mod snippet;
mod summary;
mod tally;
mod text;
mod timeline;
mod usage;
mod when;

pub use self::{
    event::Event,
    log::{Log, Seen},
    snippet::Recommendation,
    summary::{Collector, Summary},
    usage::Usage,
    when::When,
};

#[cfg(test)]
mod tests;
