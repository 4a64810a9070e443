use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::join_all;
use serde_json::json;
use tokio::time::{advance, sleep};

use super::*;
use crate::{caller::User, review::ResourceAction};

/// Answers by the name of the user, after a while.
struct Upstream {
    asked: AtomicUsize,
    answer: Mutex<Result<(StatusCode, Value), String>>,
}

const SECOND: Duration = Duration::from_secs(1);

fn upstream(allowed: bool) -> Arc<Upstream> {
    Arc::new(Upstream {
        asked: AtomicUsize::new(0),
        answer: Mutex::new(Ok((StatusCode::CREATED, json!({"status": {"allowed": allowed}})))),
    })
}

fn reviews(upstream: &Arc<Upstream>, remember: Remember) -> Reviews {
    let upstream = Arc::clone(upstream);
    let ask: Ask = Arc::new(move |_| {
        let upstream = Arc::clone(&upstream);
        Box::pin(async move {
            upstream.asked.fetch_add(1, Ordering::Relaxed);
            sleep(SECOND).await;
            upstream.answer.lock().unwrap().clone()
        })
    });
    Reviews::new(ask, remember, Metrics::default())
}

fn review(name: &str) -> Review {
    let user = User {
        name: name.to_owned(),
        ..User::default()
    };
    let action = ResourceAction {
        verb: "use".to_owned(),
        resource: "things".to_owned(),
        ..ResourceAction::default()
    };
    Review::new(&Arc::new(user), action)
}

impl Upstream {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_one_question() {
    let upstream = upstream(true);
    for remember in [Remember::default(), nothing()] {
        let (reviews, before) = (reviews(&upstream, remember), upstream.asked());
        let review = review("ann");
        let burst = (0..1000).map(|n| {
            let (reviews, review) = (reviews.clone(), review.clone());
            async move { reviews.allows(&review, &format!("caller-{n}")).await }
        });
        assert!(join_all(burst).await.into_iter().all(|answer| answer.unwrap()));
        assert_eq!(upstream.asked() - before, 1);
    }
}

fn nothing() -> Remember {
    Remember {
        allowed: Duration::ZERO,
        denied: Duration::ZERO,
    }
}

/// moka reads the clock of the machine, which tokio cannot put forward.
#[tokio::test]
async fn answers_count_for_their_time_and_no_longer() {
    for allowed in [true, false] {
        let upstream = upstream(allowed);
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(600));
        let remember = Remember {
            allowed: if allowed { short } else { long },
            denied: if allowed { long } else { short },
        };
        let reviews = reviews(&upstream, remember);
        for expected in [1, 2] {
            assert_eq!(reviews.allows(&review("ann"), "a").await.unwrap(), allowed);
            assert_eq!(upstream.asked(), expected);
            sleep(short * 2).await;
        }
    }
    let upstream = upstream(true);
    let reviews = reviews(&upstream, nothing());
    for expected in [1, 2] {
        assert!(reviews.allows(&review("ann"), "a").await.unwrap());
        assert_eq!(upstream.asked(), expected, "nothing is remembered");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_are_remembered_each_for_its_question() {
    let upstream = upstream(true);
    let reviews = reviews(&upstream, Remember::default());
    for _ in 0..3 {
        assert!(reviews.allows(&review("ann"), "a").await.unwrap());
        assert!(reviews.allows(&review("bob"), "a").await.unwrap());
    }
    assert_eq!(upstream.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_failed_is_neither_an_answer_nor_remembered() {
    let upstream = upstream(true);
    let good = upstream.answer.lock().unwrap().clone();
    let reviews = reviews(&upstream, Remember::default());
    let failures = [
        Err("connection refused".to_owned()),
        Ok((StatusCode::FORBIDDEN, json!({"message": "no"}))),
        Ok((StatusCode::INTERNAL_SERVER_ERROR, json!({}))),
        Ok((StatusCode::CREATED, json!({"status": {}}))),
        Ok((StatusCode::CREATED, json!({"status": {"allowed": "true"}}))),
    ];
    for (n, failure) in failures.into_iter().enumerate() {
        *upstream.answer.lock().unwrap() = failure;
        let rejection = Rejection::from(reviews.allows(&review("ann"), "a").await.unwrap_err());
        assert_eq!(
            (rejection.code, rejection.retry_after),
            (StatusCode::SERVICE_UNAVAILABLE, Some(1))
        );
        assert_eq!(upstream.asked(), n + 1);
    }
    *upstream.answer.lock().unwrap() = good;
    assert!(reviews.allows(&review("ann"), "a").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_much_keeps_nobody_else_waiting() {
    let upstream = upstream(true);
    let reviews = reviews(&upstream, Remember::default());
    let flood: Vec<_> = (0..1000)
        .map(|n| {
            let reviews = reviews.clone();
            tokio::spawn(async move { reviews.allows(&review(&format!("user-{n}")), "flood").await })
        })
        .collect();
    sleep(SECOND / 2).await;
    assert_eq!(upstream.asked(), MAX_ASKING_FOR_ONE);
    let before = tokio::time::Instant::now();
    assert!(reviews.allows(&review("ann"), "other").await.unwrap());
    assert!(before.elapsed() < SECOND * 2, "{:?}", before.elapsed());
    advance(PATIENCE).await;
    let mut busy = 0;
    for answer in flood {
        match answer.await.unwrap() {
            Ok(allowed) => assert!(allowed),
            Err(unanswered) => {
                busy += 1;
                assert_eq!(Rejection::from(unanswered).code, StatusCode::TOO_MANY_REQUESTS);
            }
        }
    }
    assert!(busy > 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_lost_with_the_one_who_asked() {
    let upstream = upstream(true);
    let reviews = reviews(&upstream, Remember::default());
    let first = tokio::spawn({
        let reviews = reviews.clone();
        async move { reviews.allows(&review("ann"), "a").await }
    });
    sleep(SECOND / 2).await;
    first.abort();
    sleep(SECOND).await;
    assert!(reviews.allows(&review("ann"), "a").await.unwrap());
    assert_eq!(upstream.asked(), 1);
}
