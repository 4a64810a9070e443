//! Asks upstream's authorizers, for everything that the gate wants to know from them.
//!
//! A question that is under way is not asked a second time, an answer counts for some seconds, and no caller can make the gate
//! ask much at a time. What could not be found out is nobody's answer: it is not remembered, and neither allows nor refuses.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use http::StatusCode;
use moka::{Expiry, future, sync};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use serde_json::Value;
use tokio::{sync::Semaphore, time::timeout};

use crate::{
    identity::token::Ask,
    rejection::Rejection,
    review::{Key, Review},
};

/// How long an answer counts. Nothing at all: until those who have asked together have it.
#[derive(Clone, Copy, Debug)]
pub struct Remember {
    pub allowed: Duration,
    pub denied: Duration,
}

impl Default for Remember {
    fn default() -> Self {
        Self {
            allowed: Duration::from_secs(10),
            denied: Duration::from_secs(5),
        }
    }
}

/// Cheap to clone; clones share what is remembered.
#[derive(Clone)]
pub struct Reviews(Arc<Inner>);

struct Inner {
    ask: Ask,
    known: future::Cache<Key, bool>,
    asking: Semaphore,
    asking_for: sync::Cache<String, Arc<Semaphore>>,
    metrics: Metrics,
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unanswered {
    #[error("too many reviews are under way for this caller")]
    Busy,
    #[error("a SubjectAccessReview failed: {0}")]
    Failed(String),
}

/// What was asked, and what came of it.
#[derive(Clone, Debug)]
pub struct Metrics {
    answers: Family<Answer, Counter>,
    duration: Histogram,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Answer {
    answer: &'static str,
    from: &'static str,
}

/// Where reviews are made.
pub const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
/// What is remembered at most.
const MAX_KNOWN: u64 = 50_000;
/// Reviews under way at most, in all and for one caller.
const MAX_ASKING: usize = 64;
const MAX_ASKING_FOR_ONE: usize = 16;
/// Callers that are remembered while they ask.
const MAX_CALLERS: u64 = 10_000;
const IDLE: Duration = Duration::from_secs(60);
/// Until one that waits for its turn is told to come again.
const PATIENCE: Duration = Duration::from_secs(10);

impl Default for Metrics {
    fn default() -> Self {
        Self {
            answers: Family::default(),
            duration: Histogram::new(exponential_buckets(1e-4, 2.5, 14)),
        }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "reviews",
            "Questions to the API server's authorizers (SubjectAccessReview) by their answer: allowed, denied, or failed; and \
             whether it was remembered (cache) or asked for (upstream)",
            self.answers.clone(),
        );
        registry.register_with_unit(
            "review_duration",
            "How long the API server takes to answer a SubjectAccessReview",
            Unit::Seconds,
            self.duration.clone(),
        );
    }

    fn count(&self, answer: Option<bool>, from: &'static str) {
        let answer = match answer {
            Some(true) => "allowed",
            Some(false) => "denied",
            None => "failed",
        };
        self.answers.get_or_create(&Answer { answer, from }).inc();
    }
}

impl Reviews {
    pub fn new(ask: Ask, remember: Remember, metrics: Metrics) -> Self {
        let known = future::Cache::builder()
            .max_capacity(MAX_KNOWN)
            .expire_after(remember)
            .build();
        Self(Arc::new(Inner {
            ask,
            known,
            asking: Semaphore::new(MAX_ASKING),
            asking_for: sync::Cache::builder()
                .max_capacity(MAX_CALLERS)
                .time_to_idle(IDLE)
                .build(),
            metrics,
        }))
    }

    /// What upstream has said a moment ago.
    pub fn remembered(&self, review: &Review) -> Option<bool> {
        // Looking there waits for nothing.
        let known = self.0.known.get(&review.key()).now_or_never().flatten()?;
        self.0.metrics.count(Some(known), "cache");
        Some(known)
    }

    /// Whether upstream allows it. `asker` is whoever makes the gate ask.
    pub async fn allows(&self, review: &Review, asker: &str) -> Result<bool, Unanswered> {
        let key = review.key();
        if let Some(known) = self.0.known.get(&key).await {
            self.0.metrics.count(Some(known), "cache");
            return Ok(known);
        }
        // It goes on if the one who asks goes away: others may wait for the same answer, and whoever comes and goes must not
        // make the gate ask again and again.
        let (inner, body, asker) = (Arc::clone(&self.0), review.to_json(), asker.to_owned());
        let found = tokio::spawn(async move { inner.known.try_get_with(key, inner.ask(body, asker)).await });
        let found = found.await.map_err(|error| Unanswered::Failed(error.to_string()))?;
        found.map_err(|unanswered| Unanswered::clone(&unanswered))
    }
}

impl Inner {
    async fn ask(&self, review: Value, asker: String) -> Result<bool, Unanswered> {
        let share = self
            .asking_for
            .get_with(asker, || Arc::new(Semaphore::new(MAX_ASKING_FOR_ONE)));
        let place = async {
            let own = share.acquire().await.ok()?;
            Some((own, self.asking.acquire().await.ok()?))
        };
        let _place = timeout(PATIENCE, place).await.ok().flatten().ok_or(Unanswered::Busy)?;
        let began = Instant::now();
        let answer = (self.ask)(review).await;
        self.metrics.duration.observe(began.elapsed().as_secs_f64());
        let answer = match answer {
            Err(error) => Err(error),
            Ok((StatusCode::CREATED | StatusCode::OK, review)) => {
                let allowed = review.pointer("/status/allowed").and_then(Value::as_bool);
                allowed.ok_or_else(|| "there is no answer in it".to_owned())
            }
            Ok((code, status)) => {
                let message = status.get("message").and_then(Value::as_str).unwrap_or_default();
                Err(format!("upstream answers {code}: {message}"))
            }
        };
        self.metrics.count(answer.as_ref().ok().copied(), "upstream");
        answer.map_err(Unanswered::Failed)
    }
}

impl Expiry<Key, bool> for Remember {
    fn expire_after_create(&self, _: &Key, allowed: &bool, _: Instant) -> Option<Duration> {
        Some(if *allowed { self.allowed } else { self.denied })
    }
}

impl From<Unanswered> for Rejection {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Busy => Self::too_many_requests(unanswered.to_string()),
            Unanswered::Failed(_) => Self::not_known(unanswered.to_string()),
        }
    }
}

impl fmt::Debug for Reviews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviews").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
