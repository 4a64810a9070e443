//! The stand-in as a client sees it: everything through `respond`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is what it is for"
)]

use std::pin::Pin;

use http_body_util::Full;
use serde_json::json;

use super::*;

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

fn standin() -> Arc<Standin> {
    let pod = |ns: &str, name: &str, node: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "namespace": ns, "name": name, "labels": { "app/tier": node } },
            "spec": { "nodeName": node },
            "status": { "phase": "Running" },
        })
    };
    let standin = Standin::new(vec![
        pod("web", "a", "n1"),
        pod("web", "b", "n2"),
        pod("db", "c", "n1"),
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n1" } }),
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "web" } }),
    ]);
    assert!(standin.left_out().is_empty(), "{:?}", standin.left_out());
    standin
}

async fn send(standin: &Arc<Standin>, method: &str, path: &str, media: &str, body: &Value) -> Response<Body> {
    let user = User {
        name: "system:node:n1".to_owned(),
        uid: Some("u-1".to_owned()),
        groups: vec!["system:nodes".to_owned()],
        extra: vec![("k".to_owned(), vec!["v".to_owned()])],
    };
    let body = if body.is_null() {
        Bytes::new()
    } else {
        Bytes::from(body.to_string())
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media)
        .header("accept", "application/vnd.kubernetes.protobuf,application/json")
        .body(Full::new(body))
        .unwrap();
    // Boxed as Send: a server spawns this onto any thread.
    let answer: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(standin.respond(&user, request));
    answer.await
}

async fn call(standin: &Arc<Standin>, method: &str, path: &str, media: &str, body: Value) -> (u16, Value) {
    let response = send(standin, method, path, media, &body).await;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap())
}

async fn get(standin: &Arc<Standin>, path: &str) -> (u16, Value) {
    call(standin, "GET", path, JSON, Value::Null).await
}

async fn next_event(body: &mut Body) -> Option<Value> {
    let line = body.frame().await?.unwrap().into_data().unwrap();
    Some(serde_json::from_slice(&line).unwrap())
}

fn brief(event: &Value) -> String {
    let meta = &event["object"]["metadata"];
    format!("{} {}", event["type"], meta["name"]).replace('"', "")
}

#[tokio::test]
async fn lists_cover_namespaces_and_selectors() {
    let standin = standin();
    for (path, names) in [
        ("/api/v1/pods", "c a b"),
        ("/api/v1/namespaces/web/pods", "a b"),
        ("/api/v1/namespaces/none/pods", ""),
        ("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "c a"),
        ("/api/v1/pods?fieldSelector=spec.nodeName!=n1", "b"),
        (
            "/api/v1/pods?fieldSelector=metadata.name=a,metadata.namespace==web",
            "a",
        ),
        ("/api/v1/namespaces/web/pods?labelSelector=app%2Ftier%3Dn2", "b"),
        ("/api/v1/nodes", "n1"),
        ("/api/v1/namespaces", "web"),
        ("/apis/coordination.k8s.io/v1/namespaces/web/leases", ""),
    ] {
        let (code, list) = get(&standin, path).await;
        let items = list["items"].as_array().unwrap();
        let found: Vec<&str> = items
            .iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap())
            .collect();
        assert_eq!((code, found.join(" ").as_str()), (200, names), "{path}");
        assert_eq!(list["metadata"]["resourceVersion"], "5", "{path}");
    }
}

#[tokio::test]
async fn a_certificate_request_is_of_whoever_makes_it() {
    let standin = standin();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = json!({
        "metadata": { "generateName": "csr-" },
        "spec": { "request": "", "username": "system:node:n2", "groups": [] },
    });
    let (code, made) = call(&standin, "POST", requests, JSON, request).await;
    assert_eq!(code, 201);
    let (_, list) = get(&standin, requests).await;
    assert_eq!(list["items"], json!([made]));
    assert_eq!(made["spec"]["username"], "system:node:n1");
    assert_eq!(made["spec"]["groups"], json!(["system:nodes"]));
}

#[tokio::test]
async fn refusals_are_statuses() {
    let standin = standin();
    let named = |name: &str| json!({ "metadata": { "name": name } });
    let stale = json!({ "metadata": { "name": "a", "resourceVersion": "999" } });
    let test = json!([{ "op": "test", "path": "/spec/nodeName", "value": "n9" }]);
    let a = "/api/v1/namespaces/web/pods/a";
    let pods = "/api/v1/namespaces/web/pods";
    let apply = "application/apply-patch+yaml";
    #[rustfmt::skip]
    let rows = [
        ("GET", "/api/v1/namespaces/web/pods/zz", JSON, Value::Null, 404, "NotFound"),
        ("GET", "/api/v1/pods/a", JSON, Value::Null, 404, "NotFound"),
        ("GET", "/api/v1/widgets", JSON, Value::Null, 404, "NotFound"),
        ("GET", "/openapi/v2", JSON, Value::Null, 404, "NotFound"),
        ("GET", "/api/v1/namespaces/web/secrets/s/status", JSON, Value::Null, 404, "NotFound"),
        ("GET", "/api/v1/pods?labelSelector=x+in+(y)", JSON, Value::Null, 400, "BadRequest"),
        ("GET", "/api/v1/pods?watch=1&resourceVersion=x", JSON, Value::Null, 400, "BadRequest"),
        ("GET", "/api/v1/pods?watch=1&resourceVersion=99", JSON, Value::Null, 410, "Expired"),
        ("POST", "/api/v1/pods", JSON, named("x"), 405, "MethodNotAllowed"),
        ("POST", pods, JSON, named("a"), 409, "AlreadyExists"),
        ("POST", pods, JSON, json!({}), 422, "Invalid"),
        ("POST", pods, JSON, json!([]), 400, "BadRequest"),
        ("POST", pods, JSON, json!({ "kind": "Node" }), 400, "BadRequest"),
        ("POST", "/api/v1/nodes?dryRun=All", JSON, named("x"), 400, "BadRequest"),
        ("POST", pods, "application/yaml", named("x"), 415, "UnsupportedMediaType"),
        ("PUT", a, JSON, named("b"), 400, "BadRequest"),
        ("PUT", a, JSON, stale, 409, "Conflict"),
        ("PUT", "/api/v1/nodes/zz", JSON, named("zz"), 404, "NotFound"),
        ("PATCH", a, apply, json!({}), 415, "UnsupportedMediaType"),
        ("PATCH", a, "application/json-patch+json", test, 422, "Invalid"),
        ("DELETE", pods, JSON, Value::Null, 405, "MethodNotAllowed"),
        ("DELETE", a, JSON, json!({ "dryRun": ["All"] }), 400, "BadRequest"),
    ];
    for (method, path, media, body, code, reason) in rows {
        let (got, status) = call(&standin, method, path, media, body).await;
        let wanted = json!(["Status", "Failure", reason, code]);
        let found = json!([status["kind"], status["status"], status["reason"], status["code"]]);
        assert_eq!((got, found), (code, wanted), "{method} {path}: {status}");
    }
    let (_, list) = get(&standin, "/api/v1/pods").await;
    assert_eq!(list["metadata"]["resourceVersion"], "5", "a refusal changed something");
}

#[tokio::test]
async fn an_object_lives_and_dies() {
    let standin = standin();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/web/leases";
    let sent = json!({ "metadata": { "generateName": "l-" }, "spec": { "holderIdentity": "x" } });
    let (code, lease) = call(&standin, "POST", leases, JSON, sent).await;
    let meta = &lease["metadata"];
    assert_eq!((code, &lease["kind"]), (201, &json!("Lease")));
    assert_eq!(json!([meta["namespace"], meta["resourceVersion"]]), json!(["web", "6"]));
    assert!(meta["uid"].is_string() && meta["creationTimestamp"].is_string());
    let name = meta["name"].as_str().unwrap();
    assert_eq!((name.starts_with("l-"), name.len()), (true, 7));

    let path = format!("{leases}/{name}");
    let mut next = lease.clone();
    next["spec"]["holderIdentity"] = json!("y");
    let (code, updated) = call(&standin, "PUT", &path, JSON, next.clone()).await;
    assert_eq!((code, &updated["metadata"]["uid"]), (200, &meta["uid"]));
    assert_eq!(call(&standin, "PUT", &path, JSON, next).await.0, 409);
    let (code, same) = call(&standin, "PATCH", &path, MERGE, json!({})).await;
    assert_eq!((code, same), (200, updated));

    let (code, gone) = call(&standin, "DELETE", &path, JSON, Value::Null).await;
    assert_eq!((code, &gone["details"]["uid"]), (200, &meta["uid"]));
    assert_eq!(get(&standin, &path).await.0, 404);

    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction" });
    let evict = "/api/v1/namespaces/web/pods/a/eviction";
    assert_eq!(call(&standin, "POST", evict, JSON, eviction).await.0, 201);
    assert_eq!(get(&standin, "/api/v1/namespaces/web/pods/a").await.0, 404);
}

#[tokio::test]
async fn status_and_the_rest_are_written_apart() {
    let standin = standin();
    let patch = json!({
        "metadata": { "labels": { "l": "1" }, "finalizers": ["f"] },
        "spec": { "nodeName": "moved" },
        "status": { "phase": "Failed" },
    });
    for (path, wanted) in [
        (
            "/api/v1/namespaces/web/pods/a/status",
            json!(["1", null, "n1", "Failed"]),
        ),
        ("/api/v1/namespaces/web/pods/b", json!(["1", ["f"], "moved", "Running"])),
    ] {
        let (code, pod) = call(&standin, "PATCH", path, MERGE, patch.clone()).await;
        let meta = &pod["metadata"];
        let found = json!([
            meta["labels"]["l"],
            meta["finalizers"],
            pod["spec"]["nodeName"],
            pod["status"]["phase"],
        ]);
        assert_eq!((code, found), (200, wanted), "{path}");
    }
    let (code, ns) = get(&standin, "/api/v1/namespaces/web/status").await;
    assert_eq!((code, &ns["kind"]), (200, &json!("Namespace")));
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_bookmarks_if_it_wants_them() {
    let standin = standin();
    let path = "/api/v1/pods?watch=true&timeoutSeconds=150";
    for (wanted, count) in [("&allowWatchBookmarks=true", 2), ("", 0)] {
        let path = format!("{path}{wanted}");
        let mut body = send(&standin, "GET", &path, JSON, &Value::Null).await.into_body();
        let mut bookmarks = 0;
        while let Some(event) = next_event(&mut body).await {
            bookmarks += usize::from(brief(&event) == "BOOKMARK null");
        }
        assert_eq!(bookmarks, count);
    }
}

#[tokio::test]
async fn a_watch_tells_what_its_selector_sees() {
    let standin = standin();
    let path = "/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dn1&sendInitialEvents=true";
    let mut body = send(&standin, "GET", path, JSON, &Value::Null).await.into_body();
    for wanted in ["ADDED c", "ADDED a", "BOOKMARK null"] {
        let event = next_event(&mut body).await.unwrap();
        assert_eq!(brief(&event), wanted);
        let end = &event["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"];
        assert_eq!(end == "true", wanted.starts_with("BOOKMARK"));
    }
    let moved = |node: &str| json!({ "spec": { "nodeName": node } });
    for (method, pod, body_sent) in [
        ("PATCH", "web/pods/b", moved("n3")),
        ("PATCH", "web/pods/b", moved("n1")),
        ("PATCH", "web/pods/b", json!({ "metadata": { "labels": { "l": "1" } } })),
        ("PATCH", "web/pods/a", moved("n2")),
        ("DELETE", "db/pods/c", Value::Null),
    ] {
        let path = format!("/api/v1/namespaces/{pod}");
        assert_eq!(call(&standin, method, &path, MERGE, body_sent).await.0, 200);
    }
    let later = ["ADDED b", "MODIFIED b", "DELETED a", "DELETED c"];
    for wanted in later {
        assert_eq!(brief(&next_event(&mut body).await.unwrap()), wanted);
    }

    let path = "/api/v1/pods?watch=1&resourceVersion=9&timeoutSeconds=1";
    let mut body = send(&standin, "GET", path, JSON, &Value::Null).await.into_body();
    let last = next_event(&mut body).await.unwrap();
    assert_eq!(
        (brief(&last).as_str(), &last["object"]["metadata"]["resourceVersion"]),
        ("DELETED c", &json!("10"))
    );
    assert_eq!(next_event(&mut body).await, None, "timeoutSeconds ends the watch");
}

#[tokio::test]
async fn a_watch_that_fell_behind_must_list_again() {
    let standin = standin();
    let path = "/api/v1/nodes?watch=1&resourceVersion=5";
    let mut body = send(&standin, "GET", path, JSON, &Value::Null).await.into_body();
    for turn in 0..1100 {
        let patch = json!({ "metadata": { "labels": { "turn": turn.to_string() } } });
        let (code, _) = call(&standin, "PATCH", "/api/v1/nodes/n1", MERGE, patch).await;
        assert_eq!(code, 200);
    }
    let mut last = Value::Null;
    while let Some(event) = next_event(&mut body).await {
        last = event;
    }
    assert_eq!(json!([last["type"], last["object"]["code"]]), json!(["ERROR", 410]));
}

#[tokio::test]
async fn discovery_lists_what_is_served() {
    let standin = standin();
    let storage = json!([{ "groupVersion": "storage.k8s.io/v1", "version": "v1" }]);
    #[rustfmt::skip]
    let rows = [
        ("/api", "/versions/0", json!("v1")),
        ("/api/v1", "/groupVersion", json!("v1")),
        ("/api/v1", "/resources/0/shortNames/0", json!("po")),
        ("/api/v1", "/resources/1/kind", json!("Eviction")),
        ("/api/v1", "/resources/2/name", json!("pods/status")),
        ("/apis", "/groups/0/preferredVersion/groupVersion", json!("coordination.k8s.io/v1")),
        ("/apis/storage.k8s.io", "/versions", storage),
        ("/apis/authorization.k8s.io/v1", "/resources/1/kind", json!("SelfSubjectRulesReview")),
        ("/version", "/gitVersion", json!("v1.36.0-standin")),
    ];
    for (path, pointer, wanted) in rows {
        let (code, document) = get(&standin, path).await;
        assert_eq!((code, document.pointer(pointer)), (200, Some(&wanted)), "{path}");
    }
    for path in ["/healthz", "/livez", "/readyz"] {
        let body = send(&standin, "GET", path, JSON, &Value::Null).await.into_body();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "ok");
    }
    assert_eq!(get(&standin, "/apis/none.k8s.io/v1").await.0, 404);
}

#[tokio::test]
async fn reviews_answer_on_the_spot() {
    let standin = standin();
    let user = json!({
        "username": "system:node:n1", "uid": "u-1",
        "groups": ["system:nodes"], "extra": { "k": ["v"] },
    });
    let allowed = json!({ "allowed": true, "reason": "the stand-in allows everything" });
    let rules = json!({ "resourceRules": [], "nonResourceRules": [], "incomplete": true });
    for (path, status) in [
        (
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            json!({ "userInfo": user }),
        ),
        ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", allowed),
        ("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", rules),
    ] {
        for media in [JSON, "application/vnd.kubernetes.protobuf"] {
            let (code, review) = call(&standin, "POST", path, media, json!({ "spec": {} })).await;
            assert_eq!((code, &review["status"]), (201, &status), "{path} {media}");
        }
        assert_eq!(get(&standin, path).await.0, 405);
    }
}

#[test]
fn what_cannot_be_held_is_named() {
    let standin = Standin::new(vec![
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" } }),
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": {} }),
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" } }),
    ]);
    assert_eq!(standin.left_out().len(), 2);
    assert!(standin.left_out()[0].contains("Deployment"));
}
