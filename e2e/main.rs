//! The gate as its users meet it: the real binary, over real sockets.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test says what it expects by failing"
)]

/// Acting as somebody else: who may, whose power counts, and what is on record.
mod acting;
/// Validated annotations of pods, before a real kube-apiserver.
mod annotations;
/// Known attacks: the tests that stand for them, and those that are tried nowhere else.
mod attacks;
/// Audit events: one for every request, whatever became of it, and never a secret in them.
mod audit;
/// The gate and kube-apiserver's Node authorizer decide alike. Skipped, loudly, without Go.
mod authorizer;
/// The pages of the admin port, in a real browser. Skipped, loudly, where there is none.
mod browser;
/// The gate and real kube-apiservers make the same of whatever bytes a node sends.
mod bytes;
/// Client certificates: whom the gate and kube-apiserver take them for, and when they stop to be good.
mod certificates;
/// The command line: help, exit codes, completions, certs, demo, check against the stand-in.
mod cli;
/// Real etcd and kube-apiserver processes.
mod cluster;
/// Generated requests, and a table of known cases: a cluster that guards itself and one behind the gate answer alike.
mod conformance;
/// Extra rules: the gate and RBAC make the same of them.
mod extra;
/// Two API servers on one etcd, of which one is killed.
mod failover;
/// What Gardener's own code says of gardenlets. Skipped, loudly, without Go.
mod garden;
/// Starts the gate as a process, speaks to it, reads what it wrote.
mod gate;
/// What nodes may read, before a real kube-apiserver: as it decides itself, in time, and whatever upstream does.
mod graph;
/// kubectl, as a node and as an administrator.
mod kubectl;
/// Kubelets that know no API server but the gate: they join, work, and outlive whatever becomes of it.
mod kubelets;
/// What only a real kube-apiserver can settle. Skipped, loudly, where there is none.
mod kubernetes;
/// What one client can take of the gate.
mod limits;
/// Rules that are enforced, warned of, recorded or off.
mod modes;
/// What operators rely on: start, probes, metrics, logs, reload.
mod operating;
/// Programs made of Kubernetes' own code, and of Gardener's.
mod oracle;
/// Examples of the pages in docs/, run.
mod page;
/// The gate and kube-apiserver apply patches alike. Skipped, loudly, without Go.
mod patch;
/// Certificates made byte by byte.
mod pki;
/// Connections to upstream.
mod pool;
/// The gate and kube-apiserver read protobuf bodies alike. Skipped, loudly, without Go.
mod protobuf;
/// Quarantine: nodes and certificates that are held back.
mod quarantine;
/// What generators draw from.
mod random;
/// The gate and kube-apiserver read requests alike. Skipped, loudly, without Go.
mod readings;
/// Which Kubernetes is compared with.
mod release;
/// What a run has shown, for docs/conformance.md.
mod report;
/// The request path: what reaches upstream and as whom, and what does not.
mod requests;
/// What nodes may write, before real kube-apiservers: as NodeRestriction decides, in time, and whatever they send.
mod restriction;
/// Upstreams that do exactly what a test wants.
mod scripted;
/// Stopping: what is under way finishes, but not for ever.
mod stop;
/// Answers that stay open for long.
mod streams;
/// Bearer tokens, and joining with one.
mod tokens;
/// What nodes do all day, before a real kube-apiserver.
mod traffic;
/// Connections that stop being HTTP.
mod upgrades;
/// Upstreams that misbehave.
mod upstreams;
/// Why a node may do something or not: the admin port, the command, and a file of objects.
mod why;
