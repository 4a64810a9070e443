//! What is malformed, what cannot be found out, and what is written down about it.

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};

use super::world::{APPLY, JSON, KERBEROS, KEY, KINDS, MERGE, World};
use crate::{
    cluster::{AUDITED, Cluster, Guard},
    gate::{Client, Process, eventually, ready},
};

#[tokio::test(flavor = "multi_thread")]
async fn malformed_fields_say_what_is_wrong() {
    let Some(world) = World::open("malformed", FRONT_PROXY).await else {
        return;
    };
    let many: Value = (0..33)
        .map(|n| (format!("k{n}"), json!("v")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let rows = [
        (
            json!("x"),
            400,
            "is neither a map nor a list of maps with one entry each",
        ),
        (json!({"a": 1}), 400, "has something else than a text for \"a\""),
        (json!({"": "x"}), 400, "has an empty key"),
        (json!([{"a": "1"}, {"a": "2"}]), 400, "has the key \"a\" twice"),
        (json!([{"a": "1", "b": "2"}]), 400, "maps with one entry each"),
        (json!({"a b": "x"}), 422, "cannot be the key of an annotation"),
        (json!({"a": "x".repeat(1025)}), 422, "must have at most 1024 bytes"),
        (many, 422, "must have at most 32 entries"),
    ];
    for kind in KINDS {
        let collection = kind.collection("malformed");
        for (field, code, why) in &rows {
            let body = kind.with_field("bad", field.clone()).to_string();
            let answers = [
                world.send("dave", "POST", &collection, JSON, &body).await,
                world
                    .send(
                        "dave",
                        "PATCH",
                        &format!("{collection}/bad?fieldManager=m"),
                        APPLY,
                        &body,
                    )
                    .await,
            ];
            for answer in answers {
                assert_eq!(answer.code.as_u16(), *code, "{}", answer.body);
                assert!(answer.message().contains(why), "{}", answer.body);
            }
        }
        let mut both = kind.annotated("bad");
        both.pointer_mut(kind.place).unwrap()["spec"]["validatedAnnotations"] = json!({"kerberos": "other"});
        let answer = world.send("dave", "POST", &collection, JSON, both.to_string()).await;
        assert_eq!(answer.code, StatusCode::BAD_REQUEST, "{}", answer.body);
        assert!(answer.message().contains("say different things"), "{}", answer.body);
        for text in ["", "kerberos", "[]", "{\"a\":\"1\",\"a\":\"2\"}"] {
            let body = kind.object("bad", &json!({KEY: text})).to_string();
            let answer = world.send("dave", "POST", &collection, JSON, body).await;
            assert_eq!(answer.code, StatusCode::BAD_REQUEST, "{text}: {}", answer.body);
        }
        assert_eq!(world.stored(&format!("{collection}/bad")).await, None);
    }
}

/// In the log of the gate and of the API server.
#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_written_down() {
    let Some(world) = World::open("written", FRONT_PROXY).await else {
        return;
    };
    let collection = KINDS[0].collection("written");
    let answer = world
        .send("carol", "POST", &collection, JSON, KINDS[0].annotated("x").to_string())
        .await;
    let id = answer.audit_id();
    let line = world.gate.line(&id).await;
    assert!(line.contains("may not use validated annotation kerberos=app"), "{line}");
    let allowed = world
        .send("dave", "POST", &collection, JSON, KINDS[0].annotated("x").to_string())
        .await;
    let id = allowed.audit_id();
    let log = world.cluster.file(crate::cluster::AUDIT_LOG);
    let event = eventually("the event of the API server", || {
        let log = std::fs::read_to_string(&log).ok()?;
        let line = log.lines().find(|line| line.contains(&id))?;
        serde_json::from_str::<Value>(line).ok()
    })
    .await;
    assert_eq!(event["user"]["username"], "dave", "{event}");
    assert_eq!(
        event["user"]["extra"]["scopegate.dev/validated"],
        json!(["true"]),
        "{event}"
    );
    let refused = std::fs::read_to_string(&log).unwrap();
    assert!(!refused.contains(&answer.audit_id()), "a refusal goes no further");
}

/// Without an answer nothing is allowed, refused, or sent on.
#[tokio::test(flavor = "multi_thread")]
async fn reviews_that_fail() {
    let Some(cluster) = Cluster::start(Guard::Node, AUDITED, "").await else {
        return;
    };
    cluster.user("dave", "dave", None);
    cluster.user("weak", "weak", None);
    let more = "callers: {others: Forward}\nvalidatedAnnotations: {enabled: true}\n";
    // All that the gate needs but the right to ask.
    let path = cluster.configuration("weak.yaml", FRONT_PROXY, more);
    let roles = include_str!("../../config/kubernetes/informers.yaml");
    let without = roles.replace(
        "- apiGroups: [authorization.k8s.io]\n  resources: [subjectaccessreviews]\n  verbs: [create]\n",
        "",
    );
    assert_ne!(roles, without);
    let admin = crate::graph::admin_client(&cluster).await;
    for document in without.split("\n---\n") {
        let mut object: Value = serde_saphyr::from_str(document).unwrap();
        object["metadata"]["name"] = json!("weak");
        let resource = match object["kind"].as_str().unwrap() {
            "ClusterRole" => "clusterroles",
            _ => {
                object["roleRef"]["name"] = json!("weak");
                object["subjects"] = json!([{"kind": "User", "name": "weak"}]);
                "clusterrolebindings"
            }
        };
        crate::graph::created(
            &admin,
            &format!("/apis/rbac.authorization.k8s.io/v1/{resource}"),
            &object,
        )
        .await;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let edited = text.replace("gate.kubeconfig", "weak.kubeconfig");
    assert_ne!(text, edited);
    std::fs::write(&path, edited).unwrap();
    let gate = Process::serve(&path);
    let (serving, port) = gate.addresses().await;
    ready(port).await;
    let client = Client::new(&cluster.kubeconfig("through", "dave", serving)).await;
    let pods = KINDS[0].collection("default");
    let requests = [
        ("POST", pods.clone(), JSON, KINDS[0].annotated("x").to_string()),
        (
            "PATCH",
            format!("{pods}/x"),
            MERGE,
            json!({"metadata": {"annotations": {KEY: KERBEROS}}}).to_string(),
        ),
        ("POST", format!("{pods}/x/exec?command=id"), "", String::new()),
    ];
    for (method, target, form, body) in requests {
        let mut request = Request::builder().method(method).uri(&target);
        if !form.is_empty() {
            request = request.header("content-type", form);
        }
        let answer = client.send(request, &body).await.unwrap();
        assert_eq!(answer.code, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!(answer.json()["kind"], "Status");
        let log = std::fs::read_to_string(cluster.file(crate::cluster::AUDIT_LOG)).unwrap();
        assert!(!log.contains(&answer.audit_id()));
    }
}
