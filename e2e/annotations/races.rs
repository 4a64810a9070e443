//! Between the judgement and the write: whoever may not use what comes in between changes nothing any more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use http::StatusCode;
use scopegate::demo::site::{FRONT_PROXY, Site};
use serde_json::json;
use test_case::test_case;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{APPLY, JSON, JSON_PATCH, KERBEROS, KEY, KINDS, MERGE, STRATEGIC, World};

use crate::{
    gate::Gate,
    scripted::{Scripted, head},
};

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

const SESSIONS: &str = "
validatedAnnotations: {enabled: true}
extraRules: {nodes: [{apiGroups: [''], resources: [pods/exec], verbs: [get]}]}
";

/// A session is not tied to the pod that was judged, so that the pod is looked at again before anything of it is handed on.
#[test_case(1, "403"; "another pod in its place")]
#[test_case(100, "101"; "the same pod")]
#[tokio::test]
async fn a_pod_that_was_replaced_is_not_entered(plain: usize, code: &str) {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let reads = Arc::new(AtomicUsize::new(0));
    let upstream = Scripted::start(&site, &[b"http/1.1"], move |mut stream| {
        let reads = Arc::clone(&reads);
        async move {
            while let Some(head) = head(&mut stream).await {
                let length = head.to_lowercase();
                let length = length.split_once("content-length: ").map_or("0", |(_, rest)| rest);
                let length = length.split("\r\n").next().unwrap().parse().unwrap();
                let mut body = vec![0; length];
                stream.read_exact(&mut body).await.unwrap();
                let answer = if head.contains("/exec?") {
                    let switched =
                        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
                    stream.write_all(switched.as_bytes()).await.unwrap();
                    continue;
                } else if head.contains("subjectaccessreviews") {
                    json!({"status": {"allowed": false}})
                } else if head.contains("metadata.name%3Dweb") {
                    let carries = reads.fetch_add(1, Ordering::Relaxed) >= plain;
                    let annotations = if carries { json!({KEY: KERBEROS}) } else { json!({}) };
                    json!({"items": [{"metadata": {"name": "web", "annotations": annotations}}]})
                } else {
                    json!({})
                };
                let code = if head.starts_with("POST") {
                    "201 Created"
                } else {
                    "200 OK"
                };
                let answer = answer.to_string();
                let answer = format!("HTTP/1.1 {code}\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::edited(site, FRONT_PROXY, SESSIONS, &[]).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let request = "GET /api/v1/namespaces/default/pods/web/exec?command=id HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\
        Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = head(&mut stream).await.unwrap();
    assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
}
