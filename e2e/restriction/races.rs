//! Something else is written between the gate's judgement and upstream's: never does a write turn into what was not judged.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{JSON_PATCH, MERGE_PATCH, Names, Sides};
use crate::{
    gate::Client,
    graph::{created, deleted, objects::pod, patched},
};

const NAMES: Names = Names {
    namespace: "races",
    nodes: ["ra1", "ra2"],
};
const NODE: &str = "/api/v1/nodes/ra1";
const PODS: &str = "/api/v1/namespaces/races/pods";
/// How often a write is judged, if what it is about changes every time.
const TRIES: usize = 5;

#[tokio::test]
async fn what_changes_meanwhile_is_judged_again() {
    let Some(sides) = Sides::start(NAMES).await else { return };
    labels(&sides).await;
    taints(&sides).await;
    harmless(&sides).await;
    every_time(&sides).await;
    own_version(&sides).await;
    claim(&sides).await;
    for write in [status, delete, delete_by_body, evict] {
        replaced(&sides, write).await;
    }
}

impl Sides {
    /// As admin, before the first write is passed on.
    fn once(&self, target: &str, patch: Value) {
        let (admin, target) = (self.gated.admin.clone(), target.to_owned());
        let mut change = Some((target, patch));
        self.between.before_writes(move || {
            let (admin, change) = (admin.clone(), change.take());
            Box::pin(async move {
                if let Some((target, patch)) = change {
                    patched(&admin, &target, MERGE_PATCH, &patch).await;
                }
            })
        });
        self.between.take();
    }

    async fn stored(&self, target: &str) -> Value {
        self.gated.admin.get(target).await.json()
    }
}

/// All labels are set to what they are, and meanwhile there is one more: it would be gone.
async fn labels(sides: &Sides) {
    let labels = sides.stored(NODE).await["metadata"]["labels"].clone();
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": labels}]);
    let role = json!({"metadata": {"labels": {"node-role.kubernetes.io/new": ""}}});
    for target in [NODE, &format!("{NODE}/status")] {
        sides.once(NODE, role.clone());
        let answer = sides.gated.send_json("PATCH", target, JSON_PATCH, &patch).await;
        assert_eq!(answer.code, 403, "{}", answer.body);
        let expected = "is not allowed to modify labels: node-role.kubernetes.io/new";
        assert!(answer.message().contains(expected), "{}", answer.message());
        assert_eq!(
            sides.stored(NODE).await["metadata"]["labels"]["node-role.kubernetes.io/new"],
            ""
        );
        let gone = json!({"metadata": {"labels": {"node-role.kubernetes.io/new": null}}});
        patched(&sides.gated.admin, NODE, MERGE_PATCH, &gone).await;
    }
}

async fn taints(sides: &Sides) {
    let taints = sides.stored(NODE).await["spec"]["taints"].clone();
    let quarantine = json!({"spec": {"taints": [{"key": "quarantine", "effect": "NoExecute"}]}});
    sides.once(NODE, quarantine);
    let patch = json!({"spec": {"taints": taints}});
    let answer = sides.gated.send_json("PATCH", NODE, MERGE_PATCH, &patch).await;
    assert_eq!(answer.code, 403, "{}", answer.body);
    assert!(
        answer.message().ends_with("is not allowed to modify taints"),
        "{}",
        answer.message()
    );
    assert_eq!(sides.stored(NODE).await["spec"]["taints"][0]["key"], "quarantine");

    // The same with a whole object that names no version.
    let mut whole = sides.stored(NODE).await;
    whole["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    sides.once(
        NODE,
        json!({"spec": {"taints": [{"key": "other", "effect": "NoExecute"}]}}),
    );
    let answer = sides.gated.send_json("PUT", NODE, super::JSON, &whole).await;
    assert_eq!(answer.code, 403, "{}", answer.body);
    assert_eq!(sides.stored(NODE).await["spec"]["taints"][0]["key"], "other");
}

/// What is still allowed then is done, and undoes nothing.
async fn harmless(sides: &Sides) {
    sides.once(NODE, json!({"metadata": {"annotations": {"meanwhile": "yes"}}}));
    let mut labels = sides.stored(NODE).await["metadata"]["labels"].clone();
    labels["example.com/mine"] = json!("x");
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": labels}]);
    let answer = sides.gated.send_json("PATCH", NODE, JSON_PATCH, &patch).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(sides.between.take_writes().len(), 2);
    let metadata = sides.stored(NODE).await["metadata"].clone();
    assert_eq!(metadata["annotations"]["meanwhile"], "yes");
    assert_eq!(metadata["labels"]["example.com/mine"], "x");
}

/// A node cannot keep the gate busy with one request.
async fn every_time(sides: &Sides) {
    let admin = sides.gated.admin.clone();
    let mut count = 0;
    sides.between.take();
    sides.between.before_writes(move || {
        count += 1;
        let (admin, patch) = (
            admin.clone(),
            json!({"metadata": {"annotations": {"count": count.to_string()}}}),
        );
        Box::pin(async move { patched(&admin, NODE, MERGE_PATCH, &patch).await })
    });
    let labels = sides.stored(NODE).await["metadata"]["labels"].clone();
    let patch = json!([{"op": "add", "path": "/metadata/labels", "value": labels}]);
    let answer = sides.gated.send_json("PATCH", NODE, JSON_PATCH, &patch).await;
    sides.between.let_pass();
    assert_eq!(answer.code, 409, "{}", answer.body);
    assert_eq!(answer.json()["reason"], "Conflict");
    assert_eq!(sides.between.take_writes().len(), TRIES);
}

/// Who names a version gets the conflict, at once.
async fn own_version(sides: &Sides) {
    let whole = sides.stored(NODE).await;
    sides.once(NODE, json!({"metadata": {"annotations": {"meanwhile": "again"}}}));
    let answer = sides.gated.send_json("PUT", NODE, super::JSON, &whole).await;
    assert_eq!(answer.code, 409, "{}", answer.body);
    assert_eq!(sides.between.take_writes().len(), 1);
}

async fn claim(sides: &Sides) {
    let claim = "/api/v1/namespaces/races/persistentvolumeclaims/pvc1";
    sides.once(claim, json!({"metadata": {"labels": {"meanwhile": "yes"}}}));
    let patch = json!({"status": {"capacity": {"storage": "2Gi"}}});
    let target = format!("{claim}/status");
    let answer = sides.gated.send_json("PATCH", &target, MERGE_PATCH, &patch).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    let stored = sides.stored(claim).await;
    assert_eq!(stored["metadata"]["labels"]["meanwhile"], "yes");
    assert_eq!(stored["status"]["capacity"]["storage"], "2Gi");
}

type Write = (&'static str, String, &'static str, Value);

fn status(pod: &str) -> Write {
    (
        "PATCH",
        format!("{PODS}/{pod}/status"),
        MERGE_PATCH,
        json!({"status": {"phase": "Failed"}}),
    )
}

fn delete(pod: &str) -> Write {
    ("DELETE", format!("{PODS}/{pod}?gracePeriodSeconds=0"), "", Value::Null)
}

fn delete_by_body(pod: &str) -> Write {
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
    ("DELETE", format!("{PODS}/{pod}"), super::JSON, options)
}

fn evict(pod: &str) -> Write {
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod},
        "deleteOptions": {"gracePeriodSeconds": 0}});
    ("POST", format!("{PODS}/{pod}/eviction"), super::JSON, eviction)
}

/// The pod is gone, and another one of its name runs on another node.
async fn replaced(sides: &Sides, write: fn(&str) -> Write) {
    let admin = &sides.gated.admin;
    let (method, target, kind, body) = write("moving");
    created(admin, PODS, &pod("moving", "ra1", &json!({}))).await;
    let path = format!("{PODS}/moving");
    // The gate knows of it.
    while sides.gated.node.get(&path).await.code != 200 {}
    let (admin, mut moved) = (admin.clone(), false);
    sides.between.before_writes(move || -> BoxFuture<'static, ()> {
        let (admin, first) = (admin.clone(), !std::mem::replace(&mut moved, true));
        Box::pin(async move {
            if first {
                move_away(&admin).await;
            }
        })
    });
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = sides.gated.send(method, &target, kind, body.as_bytes()).await;
    sides.between.let_pass();
    assert_eq!(answer.code, 403, "{method} {target}: {}", answer.body);
    let there = sides.stored(&path).await;
    assert_eq!(there["spec"]["nodeName"], "ra2", "{method} {target}");
    assert_eq!(there["status"]["phase"], "Pending", "{method} {target}");
    assert!(there["metadata"]["deletionTimestamp"].is_null(), "{method} {target}");
    deleted(&sides.gated.admin, &path).await;
    assert_eq!(sides.gated.admin.get(&path).await.code, 404);
}

async fn move_away(admin: &Client) {
    deleted(admin, &format!("{PODS}/moving")).await;
    created(admin, PODS, &pod("moving", "ra2", &json!({}))).await;
}
