//! The demo: a stand-in API server with a sample cluster, a fresh PKI, and the gate in front, all in one process.
//!
//! The end-to-end tests use the same stand-in, with the gate as a process of its own.

pub mod cluster;
pub mod site;
pub mod standin;
pub mod upstream;
pub mod walk;
