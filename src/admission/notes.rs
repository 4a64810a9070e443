//! What is to be recorded about a write beside its end.

use serde::Serialize;

use crate::{
    api::{
        clip,
        dns::is_subdomain,
        pods::{is_key, is_namespace},
    },
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
    /// How many keys are not here: they can be none, or there was no room.
    #[serde(rename = "leftOut", skip_serializing_if = "is_zero")]
    pub left_out: usize,
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
/// Keys of each sort that are kept of a mirror pod, and the bytes they take in an event. Whoever writes mirror pods, also such that
/// upstream refuses, shall not fill an operator's log with them.
const MAX_KEYS: usize = 64;
const MAX_BYTES: usize = 2560;
/// Quotes, escaped for the text that they are in, and a comma.
const AROUND_KEY: usize = 5;

impl Notes {
    pub(super) fn found(&mut self, rule: Rule, mode: Mode, message: &str) {
        if self.findings.len() < MAX_FINDINGS {
            let message = clip(message, MAX_MESSAGE);
            self.findings.push(Finding { rule, mode, message });
        }
    }
}

impl MirrorPod {
    /// One without keys. A name that no object can have is not kept.
    pub(super) fn new(namespace: &str, name: &str, owner: Owner) -> Self {
        let kept = |text: &str, is_good: fn(&str) -> bool| if is_good(text) { text } else { "" }.to_owned();
        Self {
            namespace: kept(namespace, is_namespace),
            name: kept(name, is_subdomain),
            labels: Vec::new(),
            annotations: Vec::new(),
            finalizers: Vec::new(),
            owner,
            left_out: 0,
        }
    }

    /// As many as are kept. What can be no key needs none, and can be anything.
    pub(super) fn keep<'k>(&mut self, keys: impl Iterator<Item = &'k str>) -> Vec<String> {
        let (mut kept, mut room) = (Vec::new(), MAX_BYTES);
        for key in keys {
            match room.checked_sub(key.len() + AROUND_KEY) {
                Some(rest) if is_key(key) && kept.len() < MAX_KEYS => {
                    room = rest;
                    kept.push(key.to_owned());
                }
                _ => self.left_out += 1,
            }
        }
        kept
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
