//! Between the judgement and the write: whoever may not use what comes in between changes nothing any more.

use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;
use test_case::test_case;

use super::world::{APPLY, JSON, JSON_PATCH, KERBEROS, KEY, KINDS, MERGE, STRATEGIC, World};

const ROUNDS: usize = 15;

/// Somebody without the right changes the image again and again, while somebody with the right sets the annotation. After that, the
/// image is what it was then.
#[test_case("race-j", JSON_PATCH; "json patch")]
#[test_case("race-m", MERGE; "merge patch")]
#[test_case("race-s", STRATEGIC; "strategic merge patch")]
#[test_case("race-a", APPLY; "applied")]
#[tokio::test(flavor = "multi_thread")]
async fn the_image_stays_once_it_counts(test: &str, form: &'static str) {
    let Some(world) = World::open(test, FRONT_PROXY).await else {
        return;
    };
    let kind = &KINDS[4];
    let collection = kind.collection(test);
    let mut in_the_way = 0;
    for round in 0..ROUNDS {
        let name = format!("d-{round}");
        let target = format!("{collection}/{name}");
        let made = world
            .send("carol", "POST", &collection, JSON, kind.plain(&name).to_string())
            .await;
        assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
        let over = AtomicBool::new(false);
        let evil = async {
            let mut passed = 0;
            for n in 0.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let image = format!("evil-{n}");
                let containers = json!([{"name": "c", "image": image}]);
                let body = match form {
                    JSON_PATCH => {
                        json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image}])
                    }
                    APPLY => {
                        let mut applied = kind.at(json!({"spec": {"containers": containers}}));
                        applied["apiVersion"] = json!(kind.api_version);
                        applied["kind"] = json!(kind.kind);
                        applied
                    }
                    MERGE => {
                        let both = json!([{"name": "c", "image": image}, {"name": "d", "image": "other"}]);
                        kind.at(json!({"spec": {"containers": both}}))
                    }
                    _ => kind.at(json!({"spec": {"containers": containers}})),
                };
                let query = if form == APPLY {
                    "?fieldManager=m&force=true"
                } else {
                    ""
                };
                let answer = world
                    .send("carol", "PATCH", &format!("{target}{query}"), form, body.to_string())
                    .await;
                let known = [StatusCode::OK, StatusCode::FORBIDDEN, StatusCode::CONFLICT];
                assert!(known.contains(&answer.code), "{}", answer.body);
                passed += usize::from(answer.code == StatusCode::OK);
            }
            passed
        };
        let right = async {
            tokio::time::sleep(std::time::Duration::from_millis(20 + 5 * round as u64)).await;
            let set = kind
                .at(json!({"metadata": {"annotations": {KEY: KERBEROS}}}))
                .to_string();
            // Straight to the cluster, where nobody waits for the other.
            let answer = world.direct("dave", "PATCH", &target, MERGE, &set, false).await;
            assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            over.store(true, Ordering::Relaxed);
            kind.told(&answer.json())
        };
        let (passed, then) = tokio::join!(evil, right);
        in_the_way += passed;
        let now = kind.told(&world.stored(&target).await.unwrap());
        assert_eq!(now, then, "round {round}");
    }
    assert!(in_the_way > ROUNDS, "{in_the_way} changes were made");
}
