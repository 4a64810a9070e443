//! What is to be recorded about a write beside its end.

use serde::Serialize;

use crate::{
    api::clip,
    rules::{Finding, Mode, Rule},
};

#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Rules that were against it, and are not enforced.
    pub findings: Vec<Finding>,
    pub mirror_pod: Option<Box<MirrorPod>>,
}

/// What a mirror pod is like, as far as the extended rules on pods ask: so that they can be set by what is in use.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct MirrorPod {
    pub namespace: String,
    pub name: String,
    pub labels: Vec<String>,
    pub annotations: Vec<String>,
    pub finalizers: Vec<String>,
    pub owner: Owner,
}

/// What a mirror pod says of its owner.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Owner {
    /// It is the node, and manages the pod.
    Upstream,
    /// It is the node.
    Proposal,
    None,
    Other,
}

/// The client chooses how much there is to find fault with.
const MAX_FINDINGS: usize = 16;
const MAX_MESSAGE: usize = 512;
/// Keys of each sort that are kept of a mirror pod.
const MAX_KEYS: usize = 64;
/// The longest that a key can be: a name behind a domain.
const MAX_KEY: usize = 253 + 1 + 63;

impl Notes {
    pub(super) fn found(&mut self, rule: Rule, mode: Mode, message: &str) {
        if self.findings.len() < MAX_FINDINGS {
            let message = clip(message, MAX_MESSAGE);
            self.findings.push(Finding { rule, mode, message });
        }
    }
}

/// As many as are kept.
pub(super) fn keys<'k>(keys: impl Iterator<Item = &'k str>) -> Vec<String> {
    keys.take(MAX_KEYS).map(|key| clip(key, MAX_KEY)).collect()
}
