use http::Method;
use proptest::prelude::*;
use test_case::test_case;
use tokio::time::{Duration, advance};

use super::*;
use crate::{caller::User, request::Query};

const LIMITS: Limits = Limits {
    requests: 2,
    streams: 1,
};

fn shares(limits: Limits) -> Shares {
    Shares::new(limits, Metrics::default())
}

fn caller(name: &str) -> Caller {
    Caller::from(User {
        name: format!("system:node:{name}"),
        groups: vec!["system:nodes".to_owned()],
        ..User::default()
    })
}

fn info(method: &Method, target: &str) -> RequestInfo {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    RequestInfo::read(method, path, &Query::parse(query).unwrap()).unwrap()
}

fn secret() -> RequestInfo {
    info(&Method::GET, "/api/v1/namespaces/ns/secrets/s")
}

fn lease(node: &str) -> RequestInfo {
    let target = format!("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}");
    info(&Method::PUT, &target)
}

impl Shares {
    /// A request for which there is a place, or the code.
    fn ask(&self, name: &str, info: &RequestInfo) -> Result<Taken, u16> {
        let (taken, full) = self.take(&caller(name), Some(info));
        full.map(|()| taken).map_err(|rejection| {
            assert_eq!(rejection.retry_after, Some(1));
            rejection.code.as_u16()
        })
    }

    fn strain(&self, level: f32) {
        self.level.store(level.to_bits(), Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_caller_has_its_share_and_gets_it_back() {
    let shares = shares(LIMITS);
    let watch = info(&Method::GET, "/api/v1/pods?watch=true");
    let _first = shares.ask("a", &secret()).unwrap();
    let second = shares.ask("a", &secret()).unwrap();
    assert_eq!(shares.ask("a", &secret()).unwrap_err(), 429);
    assert_eq!(shares.ask("a", &secret()).unwrap_err(), 429, "a refusal takes nothing");
    let _watch = shares.ask("a", &watch).expect("streams are counted apart");
    assert!(shares.ask("a", &watch).is_err());
    let _other = shares.ask("b", &secret()).expect("others are not concerned");
    drop(second);
    assert!(shares.ask("a", &secret()).is_ok());
}

#[tokio::test]
async fn large_bodies_are_few() {
    let shares = shares(LIMITS);
    let mut kept: Vec<_> = (0..LARGE).map(|_| shares.take_large(&caller("a")).unwrap()).collect();
    assert_eq!(shares.take_large(&caller("a")).unwrap_err().code, 429);
    assert_eq!(
        shares.take_large(&caller("a")).unwrap_err().code,
        429,
        "a refusal takes nothing"
    );
    assert!(shares.take_large(&caller("b")).is_ok(), "others are not concerned");
    kept.pop();
    assert!(shares.take_large(&caller("a")).is_ok());
}

/// A 429 that is held back is one of so many; what comes beyond is answered at once.
#[tokio::test]
async fn so_many_answers_are_held_back() {
    let shares = shares(LIMITS);
    let take = || shares.take(&caller("a"), None).0;
    let taken: Vec<_> = (0..6).map(|_| take()).collect();
    let places: Vec<bool> = taken.iter().map(Taken::has_place).collect();
    assert_eq!(places, [true, true, true, true, false, false]);
    drop(taken);
    assert!(take().has_place());
}

#[test_case(lease("a"), true; "its lease")]
#[test_case(info(&Method::GET, "/api/v1/nodes/a"), true; "its node")]
#[test_case(info(&Method::PATCH, "/api/v1/nodes/a/status"), true; "its status")]
#[test_case(lease("b"), false; "the lease of another")]
#[test_case(info(&Method::PATCH, "/api/v1/nodes/b/status"), false; "the status of another")]
#[test_case(secret(), false; "a secret")]
#[tokio::test(start_paused = true)]
async fn heartbeats_pass(asked: RequestInfo, passes: bool) {
    let shares = shares(LIMITS);
    let full: Vec<_> = (0..2).map(|_| shares.ask("a", &secret()).unwrap()).collect();
    assert_eq!(
        shares.ask("a", &asked).is_ok(),
        passes,
        "while it has all it may have under way"
    );
    drop(full);
    shares.strain(2.0);
    assert_eq!(shares.ask("a", &asked).is_ok(), passes, "while the gate is strained");
}

/// Else heartbeats would be what a flood is made of.
#[tokio::test(start_paused = true)]
async fn heartbeats_beyond_measure_are_requests_like_others() {
    let shares = shares(LIMITS);
    let held: Vec<_> = (0..100).filter_map(|_| shares.ask("a", &lease("a")).ok()).collect();
    assert_eq!(held.len(), HEARTBEATS + LIMITS.requests);
    drop(held);
    advance(Duration::from_secs(60)).await;
    shares.strain(10.0);
    let passed = (0..1000).filter(|_| shares.ask("a", &lease("a")).is_ok()).count();
    assert_eq!(passed, 30, "those that are counted apart, and its share");
}

/// A caller who asks for too much gets its share still, and the others do not feel it.
#[tokio::test(start_paused = true)]
async fn who_has_had_its_share_waits() {
    let shares = shares(LIMITS);
    let asks = |name: &str, times: usize| (0..times).filter(|_| shares.ask(name, &secret()).is_ok()).count();
    assert_eq!(asks("a", 5000), 5000, "nobody is turned away while the gate keeps up");
    assert_eq!(asks("b", 50), 50);
    shares.strain(100.0);
    assert_eq!(asks("a", 100), 0);
    assert_eq!(asks("b", 40), 40);
    advance(Duration::from_secs(10)).await;
    let mut passed = 0;
    for _ in 0..80 {
        passed += asks("a", 1000);
        advance(Duration::from_millis(125)).await;
    }
    // A hundred at first, and so many in each of ten seconds.
    assert!((900..=1200).contains(&passed), "{passed}");
    shares.strain(f32::INFINITY);
    assert_eq!(asks("a", 1000), 1000);
}

#[tokio::test(start_paused = true)]
async fn a_log_is_not_filled_by_one_caller() {
    let shares = shares(LIMITS);
    let taken = shares.ask("a", &secret()).unwrap();
    let lines = |times: usize| {
        (0..times)
            .filter_map(|_| shares.line(Some(&taken)))
            .collect::<Vec<u64>>()
    };
    assert_eq!(lines(1000), [0; 20]);
    let other = shares.ask("b", &secret()).unwrap();
    assert_eq!(shares.line(Some(&other)), Some(0), "others are not concerned");
    assert_eq!(shares.line(None), Some(0));
    advance(Duration::from_secs(60)).await;
    assert_eq!(lines(2), [980, 0], "what was left out is told");
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_what_nobody_ordinary_sends() {
    let shares = shares(LIMITS);
    let taken = shares.ask("a", &secret()).unwrap();
    let flooded = |times| {
        (0..times).for_each(|_| drop(shares.take(&caller("a"), None)));
        shares.is_flooded_by(&taken)
    };
    assert!(!flooded(250));
    assert!(flooded(100));
    advance(Duration::from_secs(5)).await;
    assert!(!shares.is_flooded_by(&taken));
}

proptest! {
    /// Whatever all the others send: who has used less than the level is not turned away, nor is any heartbeat in measure.
    #[test]
    fn below_its_share_nobody_is_turned_away(
        level in 10_u32..60,
        asked in proptest::collection::vec((0_usize..10, any::<bool>()), 1..600),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _entered = runtime.enter();
        let shares = shares(LIMITS);
        shares.strain(level as f32);
        let (mut used, mut beats) = ([0_u32; 10], [0_u32; 10]);
        let names: Vec<String> = (0..10).map(|number| format!("n{number}")).collect();
        for (number, heartbeat) in asked {
            let name = &names[number];
            // Numbers fade with time, which can only let more pass than these counts say.
            if heartbeat && beats[number] < BEATS as u32 {
                beats[number] += 1;
                prop_assert!(shares.ask(name, &lease(name)).is_ok());
            } else if used[number] < level {
                used[number] += 1;
                prop_assert!(shares.ask(name, &secret()).is_ok());
            } else {
                drop(shares.ask(name, &secret()));
            }
        }
    }
}
