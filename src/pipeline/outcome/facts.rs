//! What is known of a request, and how it is told: to the log, among the refusals, and as an audit event.

mod event;
mod refusal;

use std::{borrow::Cow, net::SocketAddr, sync::Arc};

use http::{Method, StatusCode};
use jiff::Timestamp;

use super::MAX_TEXT;
use crate::{
    admission::Notes,
    api::{Verb, clip, quote},
    authorizer::{self, explain},
    caller::Caller,
    decision::{Decision, Verdict},
    rejection::{Fault, Rejection},
    request::{RequestInfo, Selectors, Target},
    rules::{Finding, Mode},
};

/// Facts about one request, as they become known.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) audit_id: String,
    pub(super) received: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) peer: SocketAddr,
    pub(super) method: Method,
    pub(super) uri: String,
    pub(super) user_agent: String,
    pub(super) caller: Option<Caller>,
    /// As whom the caller would act, until it does.
    pub(super) wanted: Option<String>,
    pub(super) info: Option<Arc<RequestInfo>>,
    pub(super) decision: Option<Decision>,
    pub(super) notes: Notes,
    pub(super) answer: Option<Answer>,
    pub(super) end: End,
}

/// What the client was told.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: StatusCode,
    /// As far as it is recorded; nothing if the answer came from upstream.
    pub(super) rejection: Option<Rejection>,
}

/// How far it got. The default holds until something better is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::pipeline) enum End {
    /// The client went away first.
    ClientGone,
    Complete,
    /// The gate was stopped, and did not wait any longer.
    GateStopped,
    /// What had allowed it was no longer good.
    Lapsed,
    Panic,
    /// The caller came into quarantine.
    Quarantined,
    /// The node has nothing to do with the object any more.
    Revoked,
    /// The answer broke off on the way from upstream.
    UpstreamCut,
}

/// What nginx logs for a client that went away before it was answered; no such code is ever sent.
const CLIENT_CLOSED_REQUEST: u16 = 499;

impl Facts {
    /// Of a request of which nothing is known but whom it comes from.
    pub(super) fn nothing(peer: SocketAddr) -> Self {
        Self {
            audit_id: String::new(),
            received: Timestamp::UNIX_EPOCH,
            ended: Timestamp::UNIX_EPOCH,
            peer,
            method: Method::GET,
            uri: String::new(),
            user_agent: String::new(),
            caller: None,
            wanted: None,
            info: None,
            decision: None,
            notes: Notes::default(),
            answer: None,
            end: End::ClientGone,
        }
    }

    /// Nothing more will be known.
    pub(super) fn conclude(&mut self) {
        self.ended = Timestamp::now();
        self.notes.findings = self.findings();
    }

    /// Lets go of what the event does not tell and a client can make large: it may have to wait for a slow disk.
    pub(super) fn for_event(mut self) -> Self {
        if let Some(info) = &mut self.info
            && matches!(&info.target, Target::Resource(request) if request.selectors != Selectors::default())
            && let Target::Resource(request) = &mut Arc::make_mut(info).target
        {
            request.selectors = Selectors::default();
        }
        // Any word of letters, digits and some signs, as long as a head may be.
        if let Some(beginning) = self.method.as_str().get(..MAX_TEXT) {
            self.method = Method::from_bytes(beginning.as_bytes()).unwrap_or_default();
        }
        self
    }

    /// As whom the caller acts, or would have acted.
    pub(super) fn subject(&self) -> Option<&str> {
        let acted = self.caller.as_ref().filter(|caller| caller.actor.is_some());
        acted.map(|caller| caller.user.name.as_str()).or(self.wanted.as_deref())
    }

    /// Rules that were against it, and are not enforced.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let by_authorizer = self.decision.as_ref().and_then(|decision| {
            let (mode, caller, info) = (decision.condoned?, self.caller.as_ref()?, self.info.as_ref()?);
            Some(Finding {
                rule: decision.evidence.rule()?,
                mode,
                message: clip(&authorizer::rejection(caller, info, decision).message, MAX_TEXT),
            })
        });
        let findings = by_authorizer.into_iter().chain(self.notes.findings.iter().cloned());
        findings.filter(|finding| finding.mode != Mode::Off).collect()
    }

    /// By which rule it acts as somebody else and whose power counts, or that it does not.
    pub(super) fn leave(&self) -> Option<String> {
        let actor = self.caller.as_ref().and_then(|caller| caller.actor.as_ref());
        let acts = actor.map(|actor| format!("{}, {}", actor.leave, actor.semantics));
        acts.or_else(|| Some(format!("not as {}", quote(self.wanted.as_ref()?))))
    }

    pub(super) fn code(&self) -> u16 {
        let answered = self.answer.as_ref().map(|answer| answer.code.as_u16());
        answered.unwrap_or(CLIENT_CLOSED_REQUEST)
    }

    pub(super) fn rejection(&self) -> Option<&Rejection> {
        self.answer.as_ref()?.rejection.as_ref()
    }

    /// Why a request was not forwarded though the authorizer had allowed it.
    pub(super) fn not_admitted(&self) -> Option<&Rejection> {
        let allowed = |decision: &Decision| decision.verdict == Verdict::Allow;
        let rejection = self
            .decision
            .as_ref()
            .filter(|decision| allowed(decision))
            .and(self.rejection());
        rejection.filter(|rejection| rejection.fault == Fault::Client)
    }

    /// Before anything is known about the request, its method stands for the verb.
    pub(super) fn verb(&self) -> Cow<'static, str> {
        match self.info.as_deref().map(|info| &info.verb) {
            Some(Verb::Method(method)) => method.clone().into(),
            Some(Verb::Unknown) => "".into(),
            Some(verb) => verb.label().into(),
            None => clip(&self.method.as_str().to_ascii_lowercase(), MAX_TEXT).into(),
        }
    }

    /// What was asked for, in a word or two.
    pub(super) fn resource(&self) -> String {
        match self.info.as_ref().map(|info| &info.target) {
            None => "-".to_owned(),
            Some(Target::Path(path)) => path.clone(),
            Some(Target::Resource(request)) => request.to_string(),
        }
    }

    /// The decision in words. Whatever was decided on was identified and described before.
    pub(super) fn explanation(&self) -> Option<String> {
        Some(explain(
            self.decision.as_ref()?,
            self.caller.as_ref()?,
            self.info.as_ref()?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{api::GroupResource, rejection::Details, request::Query};

    /// Thousands of events may wait for a disk, and a client chooses what they are about.
    #[test]
    fn what_waits_to_be_written_is_small() {
        let query = Query::parse(&format!("labelSelector={}", "a,".repeat(20_000) + "a")).unwrap();
        let info = RequestInfo::read(&Method::GET, "/api/v1/pods", &query).unwrap();
        let pods = GroupResource {
            group: String::new(),
            resource: "pods".to_owned(),
        };
        let mut rejection = Rejection::forbidden("\u{1f980}".repeat(100_000), Details::of(&pods, "p"));
        rejection.log = Some("l".repeat(100_000));
        let facts = Facts {
            method: Method::from_bytes(&[b'M'; 60_000]).unwrap(),
            info: Some(Arc::new(info)),
            answer: Some(Answer {
                code: rejection.code,
                rejection: Some(rejection.recorded(MAX_TEXT)),
            }),
            ..Facts::nothing(([127, 0, 0, 1], 1).into())
        };
        let known = facts.info.clone();
        let facts = facts.for_event();
        let length = format!("{facts:?}").len();
        assert!(length < 16 * 1024, "{length} bytes in words");
        assert_eq!(facts.resource(), "pods");
        let unread = Facts { info: None, ..facts };
        assert_eq!(unread.verb(), "m".repeat(MAX_TEXT));
        assert!(format!("{known:?}").len() > 100_000, "which others still have whole");
    }
}
