//! Something else is written between the rehearsal and what was rehearsed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{REHEARSED, apply, object};
use crate::{
    gate::{Answer, Client},
    graph::{created, deleted, objects::pod, patched},
    restriction::{MERGE_PATCH, Names, Sides},
};

const NAMES: Names = Names {
    namespace: "apply-races",
    nodes: ["ar1", "ar2"],
};
const NODE: &str = "/api/v1/nodes/ar1";
const PODS: &str = "/api/v1/namespaces/apply-races/pods";
const MANAGER: &str = "fieldManager=kubelet&force=true";
const RAISED: &str = "node-role.kubernetes.io/raised";
/// How often a write is judged, if what it is about changes every time.
const TRIES: usize = 5;

#[tokio::test]
async fn what_changes_after_a_rehearsal_is_rehearsed_again() {
    let Some(sides) = Sides::configured(NAMES, REHEARSED).await else {
        return;
    };
    before_the_rehearsal(&sides).await;
    owned_meanwhile(&sides).await;
    replaced(&sides).await;
    replaced_and_owned(&sides).await;
    every_time(&sides).await;
    moved(&sides).await;
    gone(&sides).await;
}

/// What an administrator does meanwhile.
type Doing = fn(Client) -> BoxFuture<'static, ()>;

/// A label is applied by the node, and before a certain write of the gate something is done.
async fn applied(sides: &Sides, value: &str, before: usize, doing: Doing) -> Answer {
    let (admin, writes) = (sides.gated.admin.clone(), AtomicUsize::new(0));
    sides.between.take();
    sides.between.before_writes(move || {
        let count = writes.fetch_add(1, Ordering::Relaxed) + 1;
        let admin = admin.clone();
        Box::pin(async move {
            if count == before {
                doing(admin).await;
            }
        })
    });
    let answer = apply(&sides.gated.node, NODE, MANAGER, &labelled(value)).await;
    sides.between.let_pass();
    answer
}

fn labelled(value: &str) -> Value {
    object("Node", "ar1", json!({"labels": {"example.com/a": value}}), json!({}))
}

async fn labels(sides: &Sides) -> Value {
    sides.gated.admin.get(NODE).await.json()["metadata"]["labels"].clone()
}

/// The manager of the node's fields gets a label that no node may touch: with its next apply it is gone.
fn raise(admin: Client) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let labels = json!({"labels": {"example.com/a": "0", RAISED: ""}});
        let raised = object("Node", "ar1", labels, json!({}));
        let answer = apply(&admin, NODE, MANAGER, &raised).await;
        assert!(answer.code.is_success(), "{}", answer.body);
    })
}

fn replace(admin: Client) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        deleted(&admin, NODE).await;
        created(&admin, "/api/v1/nodes", &object("Node", "ar1", json!({}), json!({}))).await;
    })
}

fn remove(admin: Client) -> BoxFuture<'static, ()> {
    Box::pin(async move { deleted(&admin, NODE).await })
}

fn replace_and_raise(admin: Client) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        deleted(&admin, NODE).await;
        raise(admin).await;
    })
}

fn annotate(admin: Client) -> BoxFuture<'static, ()> {
    let annotation = json!({"metadata": {"annotations": {"meanwhile": "yes"}}});
    Box::pin(async move { patched(&admin, NODE, MERGE_PATCH, &annotation).await })
}

/// What is rehearsed must be what was read.
async fn before_the_rehearsal(sides: &Sides) {
    let answer = applied(sides, "1", 1, annotate).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(labels(sides).await["example.com/a"], "1");
    let answer = applied(sides, "2", 1, raise).await;
    refused(sides, &answer).await;
}

async fn owned_meanwhile(sides: &Sides) {
    let answer = applied(sides, "3", 2, raise).await;
    refused(sides, &answer).await;
}

/// The label is still there; then it is taken away.
async fn refused(sides: &Sides, answer: &Answer) {
    assert_eq!(answer.code, 403, "{}", answer.body);
    let expected = format!("is not allowed to modify labels: {RAISED}");
    assert!(answer.message().contains(&expected), "{}", answer.message());
    assert_eq!(labels(sides).await[RAISED], "");
    let lowered = apply(&sides.gated.admin, NODE, MANAGER, &labelled("0")).await;
    assert_eq!(lowered.code, 200, "{}", lowered.body);
    assert!(labels(sides).await[RAISED].is_null());
}

/// What is still allowed then is done, to the one that is there now.
async fn replaced(sides: &Sides) {
    let answer = applied(sides, "4", 2, replace).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(labels(sides).await["example.com/a"], "4");
}

async fn replaced_and_owned(sides: &Sides) {
    let answer = applied(sides, "5", 2, replace_and_raise).await;
    refused(sides, &answer).await;
}

/// A node cannot keep the gate busy with one request.
async fn every_time(sides: &Sides) {
    let (admin, count) = (sides.gated.admin.clone(), Arc::new(AtomicUsize::new(0)));
    sides.between.take();
    sides.between.before_writes(move || {
        let (admin, count) = (admin.clone(), count.fetch_add(1, Ordering::Relaxed));
        Box::pin(async move {
            // Rehearsals pass.
            if count % 2 == 1 {
                let annotation = json!({"metadata": {"annotations": {"count": count.to_string()}}});
                patched(&admin, NODE, MERGE_PATCH, &annotation).await;
            }
        })
    });
    let answer = apply(&sides.gated.node, NODE, MANAGER, &labelled("6")).await;
    sides.between.let_pass();
    assert_eq!(answer.code, 409, "{}", answer.body);
    assert_eq!(sides.between.take_writes().len(), 2 * TRIES);
    assert_ne!(labels(sides).await["example.com/a"], "6");
}

/// The pod is gone, and another one of its name runs on another node.
async fn moved(sides: &Sides) {
    let path = format!("{PODS}/moving");
    created(&sides.gated.admin, PODS, &pod("moving", "ar1", &json!({}))).await;
    let (admin, mut count) = (sides.gated.admin.clone(), 0);
    sides.between.before_writes(move || {
        count += 1;
        let (admin, now) = (admin.clone(), count == 2);
        Box::pin(async move {
            if now {
                deleted(&admin, &format!("{PODS}/moving")).await;
                created(&admin, PODS, &pod("moving", "ar2", &json!({}))).await;
            }
        })
    });
    let failed = object("Pod", "moving", json!({}), json!({"status": {"phase": "Failed"}}));
    let answer = apply(&sides.gated.node, &format!("{path}/status"), MANAGER, &failed).await;
    sides.between.let_pass();
    assert_eq!(answer.code, 403, "{}", answer.body);
    let stored = sides.gated.admin.get(&path).await.json();
    assert_eq!(stored["spec"]["nodeName"], "ar2");
    assert_eq!(stored["status"]["phase"], "Pending");
}

/// Before the rehearsal, and behind it: upstream would create it.
async fn gone(sides: &Sides) {
    for before in [1, 2] {
        let answer = applied(sides, "7", before, remove).await;
        assert_eq!(sides.gated.admin.get(NODE).await.code, 404, "{}", answer.body);
        assert_eq!(answer.code, 404, "{}", answer.body);
        created(
            &sides.gated.admin,
            "/api/v1/nodes",
            &object("Node", "ar1", json!({}), json!({})),
        )
        .await;
    }
}
