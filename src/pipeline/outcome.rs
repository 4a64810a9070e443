//! The record of one request: filled while it is handled, written once when it ends, however it ends.

mod events;
mod facts;
mod findings;
mod metrics;
mod recorded;

use std::{cell::RefCell, mem, net::SocketAddr, sync::Arc, time::Instant};

use aws_lc_rs::rand;
use http::{
    HeaderValue, Request, Response,
    header::{ACCEPT, USER_AGENT, WARNING},
};
use hyper::upgrade::OnUpgrade;
use jiff::Timestamp;
use tracing::{debug, info, warn};
use uuid::Uuid;

pub(super) use self::facts::End;
use self::{
    events::Events,
    facts::{Answer, Facts},
    findings::{named, violated, warning},
    recorded::Body,
};
pub use self::{metrics::Metrics, recorded::RecordedBody};
use super::{Pipeline, shares::Taken, streams::Cut};
use crate::{
    admission::Notes,
    api::clip,
    authorizer::{Authorized, Denied},
    caller::Caller,
    decision::{Decision, Verdict},
    rejection::{Fault, Rejection},
    reply::{self, Wishes},
    request::Head,
    server::{Hangup, Takeover},
    upstream::{Streaming, Tunnel, Unjoined},
};

/// What becomes of one request. Dropping it writes down the facts. It goes from hand to hand and is large, so that it is always in
/// a box.
#[derive(Debug)]
pub(super) struct Outcome {
    facts: Facts,
    began: Instant,
    accept: Option<HeaderValue>,
    cut: Option<Cut>,
    share: Option<Taken>,
    pipeline: Arc<Pipeline>,
    metrics: metrics::InFlight,
}

/// Longest client-chosen text that is kept of a request, in characters.
const MAX_TEXT: usize = 1024;

impl Outcome {
    pub(super) fn begin<B>(pipeline: &Arc<Pipeline>, peer: SocketAddr, request: &Request<B>) -> Box<Self> {
        let text = |value: &HeaderValue| clip(&String::from_utf8_lossy(value.as_bytes()), MAX_TEXT);
        Box::new(Self {
            facts: Facts {
                audit_id: audit_id(request),
                received: Timestamp::now(),
                method: request.method().clone(),
                uri: clip(
                    request.uri().path_and_query().map_or("", |target| target.as_str()),
                    MAX_TEXT,
                ),
                user_agent: request.headers().get(USER_AGENT).map(text).unwrap_or_default(),
                ..Facts::nothing(peer)
            },
            began: Instant::now(),
            accept: request.headers().get(ACCEPT).cloned(),
            cut: None,
            share: None,
            metrics: pipeline.metrics.begin(),
            pipeline: Arc::clone(pipeline),
        })
    }

    pub(super) fn audit_id(&self) -> HeaderValue {
        // Made by `audit_id`, of letters, digits and hyphens.
        HeaderValue::from_str(&self.facts.audit_id).unwrap_or(HeaderValue::from_static(""))
    }

    pub(super) fn identified(&mut self, caller: &Caller) {
        self.facts.caller = Some(caller.clone());
    }

    pub(super) fn described(&mut self, head: &Head) {
        self.facts.info = Some(Arc::clone(head.info()));
    }

    /// The caller is to act as somebody else.
    pub(super) fn wants(&mut self, subject: &str) {
        self.facts.wanted = Some(clip(subject, MAX_TEXT));
    }

    /// It does, and this is whom.
    pub(super) fn acts(&mut self, acted: &Caller) {
        self.facts.wanted = None;
        self.facts.caller = Some(acted.clone());
    }

    /// It counts as the caller's until it has ended.
    pub(super) fn takes(&mut self, share: Taken) {
        self.share = Some(share);
    }

    /// Whether it is one of so many that the caller may have under way.
    pub(super) fn has_place(&self) -> bool {
        self.share.as_ref().is_some_and(Taken::has_place)
    }

    /// It may stay open for long, but not after this resolves.
    pub(super) fn may_be_cut(&mut self, cut: Cut) {
        self.cut = Some(cut);
    }

    pub(super) fn decided(&mut self, decided: &Result<Authorized, Box<Denied>>) {
        let decision = match decided {
            Ok(authorized) => authorized.decision(),
            Err(denied) => denied.decision(),
        };
        self.facts.decision = Some(decision.clone());
    }

    /// What was noted about it when it was admitted.
    pub(super) fn noted(&mut self, notes: Notes) {
        self.facts.notes = notes;
    }

    /// The answer of upstream; the record is complete when its body has ended.
    pub(super) fn forwarded(mut self: Box<Self>, response: Response<Streaming>) -> Response<RecordedBody> {
        self.facts.answer = Some(Answer {
            code: response.status(),
            rejection: None,
        });
        let events = Events::of(response.headers());
        let mut response = response;
        for warning in self.facts.findings().iter().filter_map(warning) {
            response.headers_mut().append(WARNING, warning);
        }
        response.map(|body| RecordedBody::new(Body::Upstream(body, events), self))
    }

    /// Neither side speaks HTTP any more; the record is complete when the tunnel has ended.
    pub(super) fn switched(
        mut self: Box<Self>,
        response: Response<()>,
        tunnel: Tunnel,
        client: OnUpgrade,
    ) -> Response<RecordedBody> {
        self.facts.answer = Some(Answer {
            code: response.status(),
            rejection: None,
        });
        let mut response = response.map(|()| RecordedBody::nothing());
        let cut = self.cut.take();
        response.extensions_mut().insert(Takeover::new(async move {
            let mut outcome = self;
            let cut = async {
                match cut {
                    Some(cut) => cut.await.unwrap_or(End::GateStopped),
                    None => std::future::pending().await,
                }
            };
            outcome.facts.end = tokio::select! {
                joined = tunnel.join(client) => match joined {
                    Ok(()) => End::Complete,
                    Err(Unjoined::Client) => End::ClientGone,
                    Err(Unjoined::Upstream) => End::UpstreamCut,
                },
                end = cut => end,
            };
        }));
        response
    }

    pub(super) fn rejected(mut self: Box<Self>, rejection: &Rejection) -> Response<RecordedBody> {
        self.facts.answer = Some(Answer {
            code: rejection.code,
            rejection: Some(rejection.recorded(MAX_TEXT)),
        });
        let mut response = reply::rejection(rejection, &self.facts.method, self.wishes());
        if self.facts.caller.is_none() {
            // Whoever is nobody holds no connection, as with kube-apiserver.
            response.extensions_mut().insert(Hangup::TurnedAway);
        }
        response.map(|body| RecordedBody::new(Body::from(body), self))
    }

    fn wishes(&self) -> Wishes<'_> {
        let query = self.facts.uri.split_once('?').map_or("", |(_, query)| query);
        let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let accept = self.accept.as_ref().and_then(|accept| accept.to_str().ok());
        Wishes {
            accept: accept.unwrap_or_default(),
            user_agent: &self.facts.user_agent,
            pretty: pairs.find_map(|(key, value)| (key == "pretty").then_some(value)),
        }
    }

    pub(super) fn panicked(mut self: Box<Self>, rejection: &Rejection) -> Response<RecordedBody> {
        self.facts.end = End::Panic;
        self.rejected(rejection)
    }

    /// The texts are only made if somebody listens at the level.
    fn log(&self) {
        let findings = self.facts.notes.findings.as_slice();
        let decision = self.facts.decision.as_ref();
        let rejection = self.facts.rejection();
        // A refusal by the authorizer explains itself; other rejections are explained by what only the log may say, or by what
        // the client read.
        let told = rejection
            .filter(|_| decision.is_none_or(|decision| decision.verdict == Verdict::Allow))
            .map(|rejection| rejection.message.as_ref());
        let cause = rejection.and_then(|rejection| rejection.log.as_deref()).or(told);
        let trouble = self.facts.end == End::Panic || self.facts.end == End::UpstreamCut;
        let fault = rejection.map(|rejection| rejection.fault);
        let loud = trouble || fault.is_some() || !findings.is_empty();
        // Of what one caller can cause as often as it likes, so much is loud; a defect of the gate always is.
        let left_out = match fault {
            Some(Fault::Gate) => Some(0),
            _ if loud => self.pipeline.shares.line(self.share.as_ref()),
            _ => Some(0),
        };
        macro_rules! line {
            ($level:ident) => {
                $level!(
                    audit_id = self.facts.audit_id,
                    peer = %self.facts.peer,
                    caller = self.facts.caller.as_ref().map(|caller| tracing::field::debug(&caller.asker().name)),
                    acting_as = self.facts.subject().map(tracing::field::debug),
                    acting_by = self.facts.leave(),
                    verb = ?self.facts.verb(),
                    resource = ?self.facts.resource(),
                    code = self.facts.code(),
                    decision = decision.map(Decision::annotation),
                    reason = self.facts.explanation(),
                    findings = (!findings.is_empty()).then(|| tracing::field::debug(named(findings))),
                    cause = cause.map(|cause| tracing::field::debug(cause)),
                    end = ?self.facts.end,
                    duration = ?self.began.elapsed(),
                    left_out = left_out.filter(|lines| *lines > 0),
                    "request"
                )
            };
        }
        match fault {
            _ if left_out.is_none() => line!(debug),
            Some(Fault::Gate | Fault::Upstream) => line!(warn),
            _ if trouble => line!(warn),
            Some(Fault::Client) => line!(info),
            // What would be a refusal is as loud as one.
            None if !findings.is_empty() => line!(info),
            None => line!(debug),
        }
    }
}

impl Drop for Outcome {
    fn drop(&mut self) {
        if self.facts.end == End::ClientGone && self.pipeline.streams.is_stopping() {
            self.facts.end = End::GateStopped;
        }
        self.facts.conclude();
        self.log();
        let nothing = Facts::nothing(self.facts.peer);
        let facts = mem::replace(&mut self.facts, nothing);
        self.metrics
            .finish(facts.info.as_deref(), facts.code(), self.began.elapsed());
        let refused = facts.rejection().and_then(|rejection| rejection.rule);
        for (rule, mode) in violated(&facts.notes.findings, refused) {
            self.metrics.rule(rule, mode);
        }
        if let Some(refusal) = facts.refusal() {
            self.pipeline.refusals.note(refusal, facts.received);
        }
        let flood = self
            .share
            .as_ref()
            .is_some_and(|taken| self.pipeline.shares.is_flooded_by(taken));
        if flood {
            self.pipeline.audit.send_of_flood(facts.for_event());
        } else {
            self.pipeline.audit.send(facts.for_event());
        }
    }
}

/// The client's own identifier if it sent a plain one, so that its log can be matched too; else a new one.
fn audit_id<B>(request: &Request<B>) -> String {
    let plain =
        |id: &&str| (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let sent = request
        .headers()
        .get(reply::AUDIT_ID)
        .and_then(|value| value.to_str().ok());
    sent.filter(plain).map_or_else(new_id, str::to_owned)
}

/// Random bytes of the process's own generator, many at a time: the system's would be a call into the kernel for every request, and
/// of this one most of what it does is to begin.
fn new_id() -> String {
    const IDS: usize = 32;
    thread_local! {
        static DRAWN: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
    }
    let drawn = DRAWN.with_borrow_mut(|drawn| {
        if drawn.is_empty() {
            let mut random = [0; 16 * IDS];
            rand::fill(&mut random).ok()?;
            drawn.extend_from_slice(random.as_chunks().0);
        }
        drawn.pop()
    });
    match drawn {
        Some(random) => uuid::Builder::from_random_bytes(random).into_uuid().to_string(),
        None => Uuid::new_v4().to_string(),
    }
}
