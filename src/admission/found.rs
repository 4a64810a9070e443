//! What rules that are not enforced have against a write, as it is handed to whoever can ask for more.

use std::sync::Arc;

use super::{Look, Notes, Payload, Unsure, node_restriction::Finds};
use crate::authorizer::Authorized;

/// What rules that are not enforced have against a write that passes.
#[derive(Debug, Default)]
pub struct Found {
    pub notes: Notes,
    /// What would have to be asked of upstream to find the rest.
    pub wants: Option<Unsure>,
    /// Why something may have been missed, whatever is asked.
    pub missed: Option<Missed>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Missed {
    /// The body is too large to be kept only for that.
    Large,
    /// It cannot be read, or only the API server can tell what comes of it.
    Unread,
}

impl Found {
    pub(super) fn new(finds: Finds, authorized: &Arc<Authorized>, payload: &mut Payload) -> Self {
        let mut missed = finds.unread.then_some(Missed::Unread);
        let wants = finds.wants.and_then(|no| {
            let wants = Unsure::new(no, authorized, payload);
            wants.map_err(|_| missed = Some(Missed::Unread)).ok()
        });
        Self {
            notes: finds.notes,
            wants,
            missed,
        }
    }

    /// Neither is there anything to be recorded, nor can there be.
    pub(super) fn is_nothing(&self) -> bool {
        let Notes { findings, mirror_pod } = &self.notes;
        findings.is_empty() && mirror_pod.is_none() && self.wants.is_none() && self.missed.is_none()
    }

    /// Nothing: nobody has looked.
    pub(super) fn large() -> Self {
        Self {
            missed: Some(Missed::Large),
            ..Self::default()
        }
    }

    /// Nothing: the request could not be read.
    pub(super) fn missed(look: Look, payload: &Payload) -> Self {
        Self {
            missed: Some(match (look, payload) {
                (Look::AtSmallBody, Payload::Stream(_)) => Missed::Large,
                _ => Missed::Unread,
            }),
            ..Self::default()
        }
    }
}
