//! The record of one request: filled while it is handled, written once when it ends, however it ends.

mod event;
mod events;
mod findings;
mod metrics;
mod recorded;
mod refusal;

use std::{borrow::Cow, cell::RefCell, net::SocketAddr, sync::Arc, time::Instant};

use aws_lc_rs::rand;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ACCEPT, USER_AGENT, WARNING},
};
use hyper::upgrade::OnUpgrade;
use jiff::Timestamp;
use tracing::{debug, info, warn};
use uuid::Uuid;

use self::{
    events::Events,
    findings::{named, violated, warning},
    recorded::Body,
};
pub use self::{metrics::Metrics, recorded::RecordedBody};
use super::{Pipeline, shares::Taken, streams::Cut};
use crate::{
    admission::Notes,
    api::{Verb, clip, quote},
    authorizer::{self, Authorized, Denied, explain},
    caller::Caller,
    decision::{Decision, Verdict},
    rejection::{Fault, Rejection},
    reply::{self, Wishes},
    request::{Head, RequestInfo, Target},
    rules::{Finding, Mode},
    server::{Hangup, Takeover},
    upstream::{Streaming, Tunnel, Unjoined},
};

/// Facts about one request. Dropping it writes them down. It goes from hand to hand and is large, so that it is always in a box.
#[derive(Debug)]
pub(super) struct Outcome {
    audit_id: String,
    received: Timestamp,
    began: Instant,
    peer: SocketAddr,
    method: Method,
    uri: String,
    user_agent: String,
    accept: Option<HeaderValue>,
    caller: Option<Caller>,
    /// As whom the caller would act, until it does.
    wanted: Option<String>,
    info: Option<Arc<RequestInfo>>,
    decision: Option<Decision>,
    notes: Notes,
    answer: Option<Answer>,
    cut: Option<Cut>,
    share: Option<Taken>,
    end: End,
    pipeline: Arc<Pipeline>,
    metrics: metrics::InFlight,
}

/// What the client was told.
#[derive(Debug)]
struct Answer {
    code: StatusCode,
    /// Of a rejection; nothing if the answer came from upstream.
    rejection: Option<Rejection>,
}

/// How far it got. The default holds until something better is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
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
/// Longest client-chosen text that is kept in an event, in characters.
const MAX_TEXT: usize = 1024;

impl Outcome {
    pub(super) fn begin<B>(pipeline: &Arc<Pipeline>, peer: SocketAddr, request: &Request<B>) -> Box<Self> {
        let text = |value: &HeaderValue| clip(&String::from_utf8_lossy(value.as_bytes()), MAX_TEXT);
        Box::new(Self {
            audit_id: audit_id(request),
            received: Timestamp::now(),
            began: Instant::now(),
            peer,
            method: request.method().clone(),
            uri: clip(
                request.uri().path_and_query().map_or("", |target| target.as_str()),
                MAX_TEXT,
            ),
            user_agent: request.headers().get(USER_AGENT).map(text).unwrap_or_default(),
            accept: request.headers().get(ACCEPT).cloned(),
            caller: None,
            wanted: None,
            info: None,
            decision: None,
            notes: Notes::default(),
            answer: None,
            cut: None,
            share: None,
            end: End::ClientGone,
            metrics: pipeline.metrics.begin(),
            pipeline: Arc::clone(pipeline),
        })
    }

    pub(super) fn audit_id(&self) -> HeaderValue {
        // Made by `audit_id`, of letters, digits and hyphens.
        HeaderValue::from_str(&self.audit_id).unwrap_or(HeaderValue::from_static(""))
    }

    pub(super) fn identified(&mut self, caller: &Caller) {
        self.caller = Some(caller.clone());
    }

    pub(super) fn described(&mut self, head: &Head) {
        self.info = Some(Arc::clone(head.info()));
    }

    /// The caller is to act as somebody else.
    pub(super) fn wants(&mut self, subject: &str) {
        self.wanted = Some(clip(subject, MAX_TEXT));
    }

    /// It does, and this is whom.
    pub(super) fn acts(&mut self, acted: &Caller) {
        self.wanted = None;
        self.caller = Some(acted.clone());
    }

    /// As whom the caller acts, or would have acted.
    fn subject(&self) -> Option<&str> {
        let acted = self.caller.as_ref().filter(|caller| caller.actor.is_some());
        acted.map(|caller| caller.user.name.as_str()).or(self.wanted.as_deref())
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
        self.decision = Some(decision.clone());
    }

    /// What was noted about it when it was admitted.
    pub(super) fn noted(&mut self, notes: Notes) {
        self.notes = notes;
    }

    /// Rules that were against it, and are not enforced.
    fn findings(&self) -> Vec<Finding> {
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

    /// The answer of upstream; the record is complete when its body has ended.
    pub(super) fn forwarded(mut self: Box<Self>, response: Response<Streaming>) -> Response<RecordedBody> {
        self.answer = Some(Answer {
            code: response.status(),
            rejection: None,
        });
        let events = Events::of(response.headers());
        let mut response = response;
        for warning in self.findings().iter().filter_map(warning) {
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
        self.answer = Some(Answer {
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
            outcome.end = tokio::select! {
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
        self.answer = Some(Answer {
            code: rejection.code,
            rejection: Some(rejection.clone()),
        });
        let mut response = reply::rejection(rejection, &self.method, self.wishes());
        if self.caller.is_none() {
            // Whoever is nobody holds no connection, as with kube-apiserver.
            response.extensions_mut().insert(Hangup::TurnedAway);
        }
        response.map(|body| RecordedBody::new(Body::from(body), self))
    }

    fn wishes(&self) -> Wishes<'_> {
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let accept = self.accept.as_ref().and_then(|accept| accept.to_str().ok());
        Wishes {
            accept: accept.unwrap_or_default(),
            user_agent: &self.user_agent,
            pretty: pairs.find_map(|(key, value)| (key == "pretty").then_some(value)),
        }
    }

    pub(super) fn panicked(mut self: Box<Self>, rejection: &Rejection) -> Response<RecordedBody> {
        self.end = End::Panic;
        self.rejected(rejection)
    }

    /// By which rule it acts as somebody else and whose power counts, or that it does not.
    fn leave(&self) -> Option<String> {
        let actor = self.caller.as_ref().and_then(|caller| caller.actor.as_ref());
        let acts = actor.map(|actor| format!("{}, {}", actor.leave, actor.semantics));
        acts.or_else(|| Some(format!("not as {}", quote(self.wanted.as_ref()?))))
    }

    fn code(&self) -> u16 {
        let answered = self.answer.as_ref().map(|answer| answer.code.as_u16());
        answered.unwrap_or(CLIENT_CLOSED_REQUEST)
    }

    fn rejection(&self) -> Option<&Rejection> {
        self.answer.as_ref()?.rejection.as_ref()
    }

    /// Why a request was not forwarded though the authorizer had allowed it.
    fn not_admitted(&self) -> Option<&Rejection> {
        let allowed = |decision: &Decision| decision.verdict == Verdict::Allow;
        let rejection = self
            .decision
            .as_ref()
            .filter(|decision| allowed(decision))
            .and(self.rejection());
        rejection.filter(|rejection| rejection.fault == Fault::Client)
    }

    /// Before anything is known about the request, its method stands for the verb.
    fn verb(&self) -> Cow<'static, str> {
        match self.info.as_deref().map(|info| &info.verb) {
            Some(Verb::Method(method)) => method.clone().into(),
            Some(Verb::Unknown) => "".into(),
            Some(verb) => verb.label().into(),
            None => clip(&self.method.as_str().to_ascii_lowercase(), MAX_TEXT).into(),
        }
    }

    /// What was asked for, in a word or two.
    fn resource(&self) -> String {
        match self.info.as_ref().map(|info| &info.target) {
            None => "-".to_owned(),
            Some(Target::Path(path)) => path.clone(),
            Some(Target::Resource(request)) => request.to_string(),
        }
    }

    /// The decision in words. Whatever was decided on was identified and described before.
    fn explanation(&self) -> Option<String> {
        Some(explain(
            self.decision.as_ref()?,
            self.caller.as_ref()?,
            self.info.as_ref()?,
        ))
    }

    /// The texts are only made if somebody listens at the level.
    fn log(&self, findings: &[Finding]) {
        let decision = self.decision.as_ref();
        let rejection = self.rejection();
        // A refusal by the authorizer explains itself; other rejections are explained by what only the log may say, or by what
        // the client read.
        let told = rejection
            .filter(|_| decision.is_none_or(|decision| decision.verdict == Verdict::Allow))
            .map(|rejection| rejection.message.as_ref());
        let cause = rejection.and_then(|rejection| rejection.log.as_deref()).or(told);
        let trouble = self.end == End::Panic || self.end == End::UpstreamCut;
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
                    audit_id = self.audit_id,
                    peer = %self.peer,
                    caller = self.caller.as_ref().map(|caller| tracing::field::debug(&caller.asker().name)),
                    acting_as = self.subject().map(tracing::field::debug),
                    acting_by = self.leave(),
                    verb = ?self.verb(),
                    resource = ?self.resource(),
                    code = self.code(),
                    decision = decision.map(Decision::annotation),
                    reason = self.explanation(),
                    findings = (!findings.is_empty()).then(|| tracing::field::debug(named(findings))),
                    cause = cause.map(|cause| tracing::field::debug(clip(cause, MAX_TEXT))),
                    end = ?self.end,
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
        if self.end == End::ClientGone && self.pipeline.streams.is_stopping() {
            self.end = End::GateStopped;
        }
        let findings = self.findings();
        self.log(&findings);
        self.metrics
            .finish(self.info.as_deref(), self.code(), self.began.elapsed());
        let refused = self.rejection().and_then(|rejection| rejection.rule);
        for (rule, mode) in violated(&findings, refused) {
            self.metrics.rule(rule, mode);
        }
        if let Some(refusal) = self.refusal() {
            self.pipeline.refusals.note(refusal, self.received);
        }
        let flood = self
            .share
            .as_ref()
            .is_some_and(|taken| self.pipeline.shares.is_flooded_by(taken));
        let event = self.event(&findings);
        if flood {
            self.pipeline.audit.send_of_flood(event);
        } else {
            self.pipeline.audit.send(event);
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
