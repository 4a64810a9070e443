//! Pods that go, and the status of claims.

use serde_json::{Value, json};

use super::{Names, Row, What, change, compare, create, patch, row};
use crate::restriction::MERGE_PATCH;

const NAMES: Names = Names {
    namespace: "leaving-rows",
    nodes: ["lr1", "lr2"],
};
const PODS: &str = "/api/v1/namespaces/leaving-rows/pods";

#[tokio::test]
async fn pods_go_and_claims_grow_as_node_restriction_has_it() {
    let tables = [deletes(), evictions(), claims()];
    compare(NAMES, tables.into_iter().flatten().collect()).await;
}

fn deletes() -> Vec<Row> {
    let only_own = "node \"lr1\" can only delete pods with spec.nodeName set to itself";
    let options = |more: Value| {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]});
        for (key, value) in more.as_object().unwrap() {
            options[key] = value.clone();
        }
        options
    };
    let delete = |name: &str, pod: &str, body: Value, code, text| {
        row(
            &format!("delete: {name}"),
            format!("{PODS}/{pod}"),
            What::Object("DELETE", body),
            code,
            text,
        )
    };
    let empty = |name: &str, target: &str, code, text| {
        row(
            &format!("delete without body: {name}"),
            format!("{PODS}/{target}"),
            What::Bytes("DELETE", "", Vec::new()),
            code,
            text,
        )
    };
    vec![
        delete("own", "p1", options(json!({"gracePeriodSeconds": 0})), 200, ""),
        delete(
            "own with uid",
            "p1",
            options(json!({"preconditions": {"uid": "uid-of-p1"}})),
            200,
            "",
        ),
        delete(
            "own with wrong uid",
            "p1",
            options(json!({"preconditions": {"uid": "other"}})),
            409,
            "does not match the UID in record",
        ),
        delete(
            "own with empty uid",
            "p1",
            options(json!({"preconditions": {"uid": ""}})),
            409,
            "does not match the UID in record",
        ),
        delete("a mirror", "m1", options(json!({"gracePeriodSeconds": 0})), 200, ""),
        delete("another node's", "p2", options(json!({})), 403, only_own),
        delete(
            "another node's with its uid",
            "p2",
            options(json!({"preconditions": {"uid": "uid-of-p2"}})),
            403,
            only_own,
        ),
        delete("nobody's", "p0", options(json!({})), 403, only_own),
        delete("not there", "nosuch", options(json!({})), 404, "not found"),
        empty("own", "p1?gracePeriodSeconds=0", 200, ""),
        empty("own with uid", "p1?uid=other", 409, "does not match the UID in record"),
        empty("another node's", "p2", 403, only_own),
        empty("not there", "nosuch", 404, "not found"),
        empty("all", "", 403, "cannot deletecollection resource \"pods\""),
    ]
}

fn evictions() -> Vec<Row> {
    let eviction = |name: &str| {
        json!({"apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": name, "namespace": "leaving-rows"}, "deleteOptions": {"dryRun": ["All"]}})
    };
    let mut wrong = eviction("p1");
    wrong["deleteOptions"]["preconditions"] = json!({"uid": "other"});
    let mut none = eviction("p1");
    none["deleteOptions"]["preconditions"] = json!({"uid": ""});
    let at = |pod: &str| format!("{PODS}/{pod}/eviction");
    vec![
        create(
            "evict with empty uid",
            at("p1"),
            none,
            409,
            "does not match the UID in record",
        ),
        create("evict own", at("p1"), eviction("p1"), 201, ""),
        create(
            "evict another node's",
            at("p2"),
            eviction("p2"),
            403,
            "node lr1 can only evict pods with spec.nodeName set to itself",
        ),
        create(
            "evict what is not there",
            at("nosuch"),
            eviction("nosuch"),
            404,
            "pod \"nosuch\" not found",
        ),
        create("evict by two names", at("p1"), eviction("p2"), 400, ""),
        create(
            "evict another by the name of an own",
            at("p2"),
            eviction("p1"),
            403,
            "can only evict",
        ),
        create(
            "evict with wrong uid",
            at("p1"),
            wrong,
            409,
            "does not match the UID in record",
        ),
        create(
            "evict by the old version",
            at("p1"),
            {
                let mut old = eviction("p1");
                old["apiVersion"] = json!("policy/v1beta1");
                old
            },
            201,
            "",
        ),
    ]
}

fn claims() -> Vec<Row> {
    let claim = "/api/v1/namespaces/leaving-rows/persistentvolumeclaims/pvc1";
    let status = format!("{claim}/status");
    let other = "node \"lr1\" is not allowed to update fields other than status.quantity and status.conditions";
    let condition = json!([{"type": "Resizing", "status": "True"}]);
    vec![
        change(
            "pvc: capacity",
            status.clone(),
            [("/status/capacity", json!({"storage": "2Gi"}))],
            200,
            "",
        ),
        change(
            "pvc: conditions",
            status.clone(),
            [("/status/conditions", condition)],
            200,
            "",
        ),
        change(
            "pvc: allocated",
            status.clone(),
            [
                ("/status/allocatedResources", json!({"storage": "2Gi"})),
                (
                    "/status/allocatedResourceStatuses",
                    json!({"storage": "NodeResizeInProgress"}),
                ),
            ],
            200,
            "",
        ),
        change(
            "pvc: phase",
            status.clone(),
            [("/status/phase", json!("Lost"))],
            403,
            other,
        ),
        change(
            "pvc: label",
            status.clone(),
            [("/metadata/labels", json!({"a": "b"}))],
            403,
            other,
        ),
        change(
            "pvc: annotation",
            status.clone(),
            [("/metadata/annotations", json!({"a": "b"}))],
            403,
            other,
        ),
        change(
            "pvc: spec",
            status.clone(),
            [("/spec/volumeName", json!("other"))],
            403,
            other,
        ),
        change(
            "pvc: stale version",
            status.clone(),
            [("/metadata/resourceVersion", json!("1"))],
            409,
            "has been modified",
        ),
        change(
            "pvc: the same quantity in other words",
            status.clone(),
            [("/spec/resources", json!({"requests": {"storage": "1024Mi"}}))],
            200,
            "",
        ),
        change(
            "pvc itself",
            claim,
            [("/metadata/labels", json!({"a": "b"}))],
            403,
            "can only get",
        ),
        patch(
            "pvc of nobody",
            "/api/v1/namespaces/leaving-rows/persistentvolumeclaims/pvc2/status",
            MERGE_PATCH,
            &json!({}),
            403,
            "no relationship found",
        ),
    ]
}
