//! Judges what a request would do, and forwards it. What is not known is asked of upstream; what has changed between judging and
//! forwarding is judged again.

mod records;

use std::{borrow::Cow, mem, panic::resume_unwind, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Collected, Limited};
use jiff::Timestamp;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};
use tokio::{
    sync::Semaphore,
    task::spawn_blocking,
    time::{Instant, sleep, timeout, timeout_at},
};

use self::records::GLANCE;
use super::{
    Pipeline,
    judge::PAUSE,
    live::{Account, Asker, Unknown},
    outcome::Outcome,
};
use crate::{
    admission::{Admission, Admitted, Known, Notes, Payload, Ruling, Tie, Told, Unsure, Wanted},
    authorizer::Authorized,
    caller::{Caller, Kind},
    graph,
    rejection::Rejection,
    request::Target,
    review::Review,
    upstream::{Forwarded, Streaming},
};

/// Admission with what it counts.
#[derive(Debug)]
pub struct Writes {
    pub admission: Admission,
    pub metrics: Metrics,
}

/// What it took to judge.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    asked: Family<Asked, Counter>,
    missed: Family<Why, Counter>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Asked {
    what: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Why {
    why: &'static str,
}

/// What came of judging.
enum Settled {
    /// With what upstream has said for it.
    Admitted(Admitted, Told),
    /// Upstream has answered already, in a rehearsal.
    Answered(Forwarded),
}

/// How often a write is judged anew because the object has changed meanwhile; then the client is told so.
const TRIES: u32 = 5;
/// How often one judgement may ask. A token can hang on a pod, its claims, their volumes, their drivers, and a review.
const QUESTIONS: u32 = 8;
/// Objects that one judgement may ask for at a time.
const MAX_OBJECTS: usize = 64;
/// How long judging may take, with all that is asked for.
const JUDGING: Duration = Duration::from_secs(30);
/// Bytes that are judged between two requests of others: more than what kubelets write all day.
const LIGHT: usize = 32 * 1024;
/// For who judges more than that. Whoever has gone before his turn leaves nothing behind; and more at a time would only take the CPU from
/// those who ask for little.
static HEAVY: Semaphore = Semaphore::const_new(4);
/// The largest object that etcd takes is half of that.
const MAX_OBJECT: usize = 3 * 1024 * 1024;

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "node_write_questions",
            "What was asked of the API server to judge what nodes write: the object that is written (stored), others (object), \
             a review, a rehearsal; and how often a write was judged anew because the object had changed meanwhile (again)",
            self.asked.clone(),
        );
        registry.register(
            "node_write_findings_missed",
            "Writes of nodes of which rules that are not enforced may have missed something: the node had asked for too much \
             already (limited), the API server did not answer in time (upstream), the body was large (large) or could not be read (unread)",
            self.missed.clone(),
        );
    }

    fn asked(&self, what: &'static str) {
        self.asked.get_or_create(&Asked { what }).inc();
    }

    fn missed(&self, why: &'static str) {
        self.missed.get_or_create(&Why { why }).inc();
    }
}

impl Pipeline {
    pub(super) async fn admit_and_forward(
        self: &Arc<Self>,
        authorized: &Arc<Authorized>,
        mut payload: Payload,
        outcome: &mut Outcome,
    ) -> Result<Forwarded, Rejection> {
        // What the graph said was wrong once is not asked of it again.
        let mut trusted = true;
        let mut earlier: Option<(Tie, Forwarded)> = None;
        let mut glance = None;
        for left in (0..TRIES).rev() {
            let settled = self.settle(authorized, &mut payload, trusted, outcome).await?;
            let (mut admitted, told) = match settled {
                Settled::Admitted(admitted, told) => (admitted, told),
                Settled::Answered(answer) => return Ok(answer),
            };
            let notes = match admitted.take_found() {
                Some(found) => {
                    let until = *glance.get_or_insert_with(|| Instant::now() + GLANCE);
                    let found = (*found, told, trusted);
                    Box::pin(self.find(authorized, &mut payload, found, until, outcome)).await
                }
                None => Notes::default(),
            };
            outcome.noted(notes);
            let tie = admitted.tie().clone();
            match earlier {
                // It was the right object, or version, and is refused for another reason.
                Some((was, answer)) if tie != Tie::None && was == tie => return Ok(answer),
                _ => {}
            }
            authorized.holds(&*self.judge.ward.load()?)?;
            let validated = admitted.is_validated();
            let forwarded = self.upstream.forward(admitted, outcome.audit_id()).await?;
            if validated && matches!(forwarded, Forwarded::Switched(..)) {
                // A session cannot be tied to the pod that was judged: another of its name may have come in between.
                self.settle(authorized, &mut payload, trusted, outcome).await?;
            }
            if left == 0 || !is_another(&tie, trusted, &forwarded) {
                return Ok(forwarded);
            }
            self.writes.metrics.asked("again");
            trusted = false;
            earlier = Some((tie, forwarded));
        }
        Err(Rejection::internal("a write was never sent"))
    }

    /// Judges a request. For most nothing has to be asked, so that asking is kept apart.
    async fn settle(
        self: &Arc<Self>,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        trusted: bool,
        outcome: &Outcome,
    ) -> Result<Settled, Rejection> {
        let mut told = Told::default();
        match self.rule(authorized, payload, trusted, &mut told).await? {
            Ruling::Admitted(admitted) => Ok(Settled::Admitted(admitted, told)),
            Ruling::Unsure(unsure) => {
                let inquire = self.inquire(authorized, payload, unsure, trusted, outcome);
                let settled = Box::pin(timeout(JUDGING, inquire)).await;
                settled.map_err(|_| Rejection::too_many_requests("a request took too long to judge"))?
            }
        }
    }

    /// With what is known now. What takes long holds nobody up who shares the thread.
    async fn rule(
        self: &Arc<Self>,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        trusted: bool,
        told: &mut Told,
    ) -> Result<Ruling, Rejection> {
        if payload.weight() + told.weight() <= LIGHT {
            return self.rule_here(authorized, payload, trusted, told);
        }
        let late = |_| Rejection::too_many_requests("many large requests are being judged");
        let place = timeout(JUDGING, HEAVY.acquire()).await.map_err(late)?;
        let (pipeline, authorized) = (Arc::clone(self), Arc::clone(authorized));
        let mut work = (mem::take(payload), mem::take(told));
        let judged = apart(move || {
            let _place = place;
            let (payload, told) = &mut work;
            (pipeline.rule_here(&authorized, payload, trusted, told), work)
        });
        let (ruling, work) = judged.await?;
        (*payload, *told) = work;
        ruling
    }

    fn rule_here(
        &self,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        trusted: bool,
        told: &Told,
    ) -> Result<Ruling, Rejection> {
        let source = self.judge.graph_of(authorized.caller());
        let (graph, fresh) = (source.load_full(), source.freshness().doubt().is_none());
        let remembered = |review: &Review| self.reviews.remembered(review);
        let known = Known::new((&graph, trusted), fresh, told).remembering(&remembered);
        let known = known.at(Timestamp::now());
        self.writes.admission.admit(authorized, payload, &known)
    }

    /// Judges a request that nobody is sure of, with all that has to be asked for it.
    async fn inquire(
        self: &Arc<Self>,
        authorized: &Arc<Authorized>,
        payload: &mut Payload,
        mut unsure: Unsure,
        trusted: bool,
        outcome: &Outcome,
    ) -> Result<Settled, Rejection> {
        let (mut told, mut waited, mut conflict) = (Told::default(), !trusted, None);
        for _ in 0..QUESTIONS {
            let learned = match &unsure {
                Unsure::Objects(wanted) if !std::mem::replace(&mut waited, true) => {
                    self.learns(authorized, wanted).await
                }
                _ => false,
            };
            if !learned {
                let account = account(authorized);
                if let Some(answer) = self.ask(authorized, (unsure, account), &mut told, outcome).await? {
                    // A rehearsal that meets another version is made once more with that one. What is in conflict then is so by
                    // itself.
                    let is_conflict =
                        matches!(&answer, Forwarded::Answer(answer) if answer.status() == StatusCode::CONFLICT);
                    if !is_conflict || conflict.replace(()).is_some() {
                        return Ok(Settled::Answered(answer));
                    }
                    told.stored = None;
                }
            }
            unsure = match self.rule(authorized, payload, trusted, &mut told).await? {
                Ruling::Admitted(admitted) => return Ok(Settled::Admitted(admitted, told)),
                Ruling::Unsure(unsure) => unsure,
            };
        }
        Err(Rejection::not_known(
            "a write could not be judged with so many questions",
        ))
    }

    /// Waits until the graph knows what it did not, but not for long: a pod that was bound a moment ago is not asked for.
    async fn learns(&self, authorized: &Authorized, wanted: &[Wanted]) -> bool {
        let kind = &authorized.caller().kind;
        let source = self.judge.graph_of(authorized.caller());
        let knows = |wanted: &Wanted| {
            let graph = source.load();
            match (kind, wanted.kind) {
                (Kind::Node(node), graph::Kind::Pod) => graph.pod(node, wanted.key()).is_some(),
                (Kind::Seed(seed), graph::Kind::Secret) => {
                    graph.reaches_by(&seed.name, wanted.key(), graph::Kind::ManagedSeed)
                }
                _ => graph.facts(wanted.key()).is_some(),
            }
        };
        if wanted.iter().all(knows) {
            return false;
        }
        let (name, account) = (asker(authorized.caller()), account(authorized));
        let Ok(_waiting) = self.judge.live.wait(Asker { node: &name, account }) else {
            return false;
        };
        let until = Instant::now() + self.judge.lag_wait;
        let mut published = source.published();
        while !wanted.iter().all(knows) {
            if timeout_at(until, published.next()).await.is_err() {
                return false;
            }
            sleep(PAUSE).await;
        }
        true
    }

    /// Asks upstream. Gives back an answer that is the client's already.
    async fn ask(
        &self,
        authorized: &Authorized,
        (unsure, account): (Unsure, Account),
        told: &mut Told,
        outcome: &Outcome,
    ) -> Result<Option<Forwarded>, Rejection> {
        let Target::Resource(request) = &authorized.head().info().target else {
            return Err(Rejection::internal("a question about something else than a resource"));
        };
        let live = &self.judge.live;
        let name = asker(authorized.caller());
        let asker = Asker { node: &name, account };
        let unknown = |unknown: Unknown| match account {
            // It explains nobody's refusal.
            Account::Records => Rejection::from(&unknown),
            Account::Decisions | Account::Events => self.judge.unknown(&unknown),
            Account::Others => match &unknown {
                // As Gardener says it, who could not read it either.
                Unknown::Upstream(_) if self.writes.admission.is_by_seed(authorized) => {
                    Rejection::failed_lookup(unknown.to_string())
                }
                _ => Rejection::from(&unknown),
            },
        };
        self.writes.metrics.asked(match unsure {
            Unsure::Stored => "stored",
            Unsure::Objects(_) | Unsure::Read(_) => "object",
            Unsure::Reviews(_) => "review",
            Unsure::Rehearsal(_) => "rehearsal",
        });
        match unsure {
            Unsure::Stored => told.stored = Some(live.stored(asker, request).await.map_err(unknown)?),
            Unsure::Objects(wanted) => {
                if wanted.len() > MAX_OBJECTS {
                    return Err(unknown(Unknown::Limited));
                }
                for wanted in wanted {
                    if wanted.kind == graph::Kind::Secret {
                        // Others say whose it is, and none has while the graph was waited for.
                        told.objects.push((wanted, None));
                        continue;
                    }
                    let fact = live.fact(asker, &wanted).await.map_err(unknown)?;
                    told.objects.push((wanted, fact));
                }
            }
            Unsure::Read(object) => {
                let stored = live.stored(asker, &object).await.map_err(unknown)?;
                told.read.push((*object, stored));
            }
            Unsure::Reviews(reviews) => {
                if account != Account::Others {
                    live.turn(asker).await.map_err(unknown)?;
                }
                for review in reviews {
                    let allowed = self.reviews.allows(&review, &name).await?;
                    told.reviews.push((review, allowed));
                    if !allowed {
                        // Nobody need know the rest.
                        break;
                    }
                }
            }
            Unsure::Rehearsal(rehearsal) => {
                if account == Account::Records {
                    live.turn(asker).await.map_err(unknown)?;
                }
                let validated = rehearsal.is_validated();
                match self.upstream.forward(*rehearsal, outcome.audit_id()).await? {
                    Forwarded::Answer(answer) if answer.status().is_success() => {
                        told.rehearsed = Some(whole(answer).await?);
                    }
                    // It is refused unless a dry run shows that it changes nothing, which this does not.
                    Forwarded::Answer(answer) if validated && answer.status() != StatusCode::CONFLICT => {
                        told.rehearsed = Some(Bytes::from_static(b"{}"));
                    }
                    answer => return Ok(Some(answer)),
                }
            }
        }
        Ok(None)
    }
}

/// Does something on a thread that serves nobody.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Rejection> {
    match spawn_blocking(work).await {
        Ok(done) => Ok(done),
        // As if it had happened here.
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        Err(_) => Err(Rejection::internal("the gate ends while a request is judged")),
    }
}

/// What is asked for a write is asked for.
fn account(authorized: &Authorized) -> Account {
    match (&authorized.caller().kind, &authorized.head().info().target) {
        (Kind::Node(_), Target::Resource(request)) if request.resource.resource == "events" => Account::Events,
        (Kind::Node(_), _) => Account::Decisions,
        (Kind::Bootstrap(_) | Kind::Seed(_) | Kind::Other, _) => Account::Others,
    }
}

/// Who makes the gate ask, where no other can have the same name.
pub(super) fn asker(caller: &Caller) -> Cow<'_, str> {
    match &caller.kind {
        // What somebody who acts as a node costs is not the node's.
        Kind::Node(node) if caller.actor.is_none() => Cow::Borrowed(node),
        // It can make itself as many service accounts as it likes.
        Kind::Seed(seed) if caller.actor.is_none() => Cow::Owned(format!("seed {}", seed.name)),
        _ => Cow::Owned(format!("user {}", caller.asker().name)),
    }
}

/// Whether upstream found another object, or another version of it, than the gate had judged.
fn is_another(tie: &Tie, trusted: bool, forwarded: &Forwarded) -> bool {
    let Forwarded::Answer(answer) = forwarded else {
        return false;
    };
    match (tie, answer.status()) {
        (Tie::Version(_), StatusCode::CONFLICT) => true,
        // A patch for another uid is invalid, as it is for many other reasons; upstream's word on the uid is asked for once.
        (Tie::Uid(_), StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY) => trusted,
        _ => false,
    }
}

async fn whole(answer: Response<Streaming>) -> Result<Bytes, Rejection> {
    let body = Limited::new(answer.into_body(), MAX_OBJECT).collect().await;
    body.map(Collected::to_bytes)
        .map_err(|error| Rejection::bad_gateway(format!("the answer to a dry run could not be read: {error}")))
}
