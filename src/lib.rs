//! An authorizing reverse proxy in front of kube-apiserver.
//!
//! The life of a request: accept → TLS → identify → describe → act → authorize → intend → admit → forward → record.
//! `pipeline` is that story; `ARCHITECTURE.md` tells it with the reasons.
//!
//! Modules stand in order of rank; each imports only lower ranks, and `layers` holds it to that.

// 0: words, and what everything runs on
pub mod api;
pub mod json;
pub mod rules;
pub mod threads;

// 1: leaves
pub mod body;
pub mod caller;
pub mod decision;
pub mod patch;
pub mod pki;
pub mod protobuf;
pub mod ready;
pub mod rejection;
pub mod request;
pub mod server;

// 2: who refers to whom, who is held back, what upstream is asked
pub mod graph;
pub mod quarantine;
pub mod review;

// 3: who may do what
pub mod authorizer;

// 4: whether what it would do is acceptable; why it was decided so; what all of that came to
pub mod admission;
pub mod report;
pub mod why;

// 5: effects
pub mod identity;
pub mod observe;
pub mod reply;
pub mod upstream;
pub mod watch;

// 6: the request path
pub mod pipeline;

// 7: what operators write
pub mod config;

// 8: the parts put together
pub mod app;

// 9: a gate to look at
pub mod demo;

// 10: what people type
pub mod cli;

#[cfg(test)]
mod layers;
