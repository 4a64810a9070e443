//! What operators see: logs, metrics, audit events, probes. Sinks only; nothing here decides anything.

pub mod admin;
pub mod audit;
pub mod log;
pub mod metrics;
pub mod page;
pub mod refusals;
