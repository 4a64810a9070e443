//! What rules find that are not enforced. They are asked apart from those that are, so that nothing is refused, tied or asked for
//! on their account.

use http::StatusCode;

use super::{NodeRestriction, about};
use crate::{
    admission::{Known, No, Notes, Write},
    rules::{Mode, Modes, Rule},
};

/// What was found without refusing anything.
#[derive(Debug, Default)]
pub(in crate::admission) struct Finds {
    pub(in crate::admission) notes: Notes,
    /// What some rule could not tell without.
    pub(in crate::admission) wants: Option<No>,
    /// Whether some rule could not make anything of it.
    pub(in crate::admission) unread: bool,
}

impl NodeRestriction {
    /// What rules that are not enforced have against a write. Each is asked by itself, so that it is known what each rests on.
    pub(in crate::admission) fn find<'a>(&self, mut write: Write<'a>, modes: &Modes, known: &Known<'a>) -> Finds {
        let mut finds = Finds::default();
        let recorded = |rule: &&Rule| matches!(modes.of(**rule), Mode::Warn | Mode::Audit);
        for rule in about(write.node, write.request).iter().filter(recorded) {
            write.judged_by(modes.only(*rule));
            let before = write.notes().findings.len();
            let judged = self.judge(&write, known);
            let findings = &mut write.notes().findings;
            findings.dedup();
            let consulted = known.consulted();
            let failed = matches!(judged, Err(No::Refused(_)));
            if !consulted.is_empty() && (findings.len() > before || failed) {
                // As little as for a refusal is the graph's word enough.
                findings.truncate(before);
                finds.want(No::Unsure(consulted));
                continue;
            }
            match judged {
                Ok(_) => {}
                // What is not there, or not as the client thinks, nothing can be done to.
                Err(No::Refused(rejection)) => {
                    let vain = [StatusCode::NOT_FOUND, StatusCode::CONFLICT].contains(&rejection.code);
                    finds.unread |= !vain;
                }
                Err(no) => finds.want(no),
            }
        }
        finds.notes = write.into_notes();
        finds
    }
}

impl Finds {
    /// One thing at a time, but objects together.
    fn want(&mut self, no: No) {
        match (&mut self.wants, no) {
            (Some(No::Unsure(wanted)), No::Unsure(more)) => {
                let more: Vec<_> = more.into_iter().filter(|one| !wanted.contains(one)).collect();
                wanted.extend(more);
            }
            (Some(_), _) => {}
            (wants, no) => *wants = Some(no),
        }
    }
}
