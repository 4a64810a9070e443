//! The status of pods.

use serde_json::{Value, json};

use super::{Names, Row, change, compare, patch};
use crate::restriction::{JSON_PATCH, MERGE_PATCH, STRATEGIC};

const NAMES: Names = Names {
    namespace: "pod-rows",
    nodes: ["pr1", "pr2"],
};
const PODS: &str = "/api/v1/namespaces/pod-rows/pods";

#[tokio::test]
async fn pod_statuses_are_written_as_node_restriction_has_it() {
    let tables = [statuses(), claim_statuses()];
    compare(NAMES, tables.into_iter().flatten().collect()).await;
}

fn own() -> String {
    format!("{PODS}/p1/status")
}

fn statuses() -> Vec<Row> {
    let only_own = "node \"pr1\" can only update pod status for pods with spec.nodeName set to itself";
    let labels = "node \"pr1\" cannot update labels through pod status";
    vec![
        change("phase", own(), [("/status/phase", json!("Running"))], 200, ""),
        change(
            "condition",
            own(),
            [("/status/conditions", json!([{"type": "Ready", "status": "False"}]))],
            200,
            "",
        ),
        change("annotation", own(), [("/metadata/annotations/x", json!("y"))], 200, ""),
        change(
            "spec is dropped",
            own(),
            [("/spec/activeDeadlineSeconds", json!(5))],
            200,
            "",
        ),
        change(
            "another node's pod",
            format!("{PODS}/p2/status"),
            [("/status/phase", json!("Failed"))],
            403,
            only_own,
        ),
        change(
            "nobody's pod",
            format!("{PODS}/p0/status"),
            [("/status/phase", json!("Failed"))],
            403,
            only_own,
        ),
        change(
            "another node's pod moved here",
            format!("{PODS}/p2/status"),
            [("/spec/nodeName", json!("pr1"))],
            403,
            only_own,
        ),
        patch(
            "no pod",
            format!("{PODS}/nosuch/status"),
            MERGE_PATCH,
            &json!({}),
            404,
            "pods \"nosuch\" not found",
        ),
        change("label added", own(), [("/metadata/labels/x", json!("y"))], 403, labels),
        change(
            "label changed",
            own(),
            [("/metadata/labels/app", json!("two"))],
            403,
            labels,
        ),
        change(
            "labels removed",
            own(),
            [("/metadata/labels", Value::Null)],
            403,
            labels,
        ),
        change(
            "label of a mirror",
            format!("{PODS}/m1/status"),
            [("/metadata/labels", json!({"a": "b"}))],
            403,
            labels,
        ),
        change(
            "mirror annotation added",
            own(),
            [("/metadata/annotations/kubernetes.io~1config.mirror", json!("x"))],
            422,
            "may not add mirror pod annotation",
        ),
        change(
            "mirror annotation changed",
            format!("{PODS}/m1/status"),
            [("/metadata/annotations/kubernetes.io~1config.mirror", json!("x"))],
            422,
            "may not remove or update mirror pod annotation",
        ),
        change(
            "mirror annotation removed",
            format!("{PODS}/m1/status"),
            [("/metadata/annotations/kubernetes.io~1config.mirror", Value::Null)],
            422,
            "may not remove or update mirror pod annotation",
        ),
        patch(
            "its uid",
            own(),
            STRATEGIC,
            &json!({"metadata": {"uid": "uid-of-p1"}, "status": {"phase": "Running"}}),
            200,
            "",
        ),
        patch(
            "wrong uid",
            own(),
            STRATEGIC,
            &json!({"metadata": {"uid": "other"}, "status": {"phase": "Running"}}),
            422,
            "metadata.uid",
        ),
        patch(
            "wrong uid as JSON patch",
            own(),
            JSON_PATCH,
            &json!([
            {"op": "test", "path": "/metadata/uid", "value": "other"},
            {"op": "add", "path": "/status/phase", "value": "Running"}]),
            422,
            "",
        ),
        change(
            "stale version",
            own(),
            [
                ("/metadata/resourceVersion", json!("1")),
                ("/status/phase", json!("Running")),
            ],
            409,
            "has been modified",
        ),
        change(
            "pods themselves",
            format!("{PODS}/p1"),
            [("/metadata/annotations/x", json!("y"))],
            403,
            "cannot ",
        ),
        patch(
            "other subresource",
            format!("{PODS}/p1/resize"),
            MERGE_PATCH,
            &json!({}),
            403,
            "cannot patch resource",
        ),
        patch(
            "ephemeral containers",
            format!("{PODS}/p1/ephemeralcontainers"),
            MERGE_PATCH,
            &json!({}),
            403,
            "cannot patch resource",
        ),
        patch(
            "name changed",
            own(),
            MERGE_PATCH,
            &json!({"metadata": {"name": "p3"}}),
            400,
            "does not match the name",
        ),
        patch(
            "namespace changed",
            own(),
            MERGE_PATCH,
            &json!({"metadata": {"namespace": "default"}}),
            400,
            "does not match",
        ),
    ]
}

fn claim_statuses() -> Vec<Row> {
    let claims = "node \"pr1\" cannot update resource claim statues";
    let (rt, ru) = (
        json!({"name": "rt", "resourceClaimName": "rt-abc"}),
        json!({"name": "ru", "resourceClaimName": "ru-abc"}),
    );
    let field = "/status/resourceClaimStatuses";
    let patches = [
        (
            "order reversed",
            STRATEGIC,
            json!({"status":
            {"$setElementOrder/resourceClaimStatuses": [{"name": "ru"}, {"name": "rt"}]}}),
            403,
            claims,
        ),
        (
            "order kept",
            STRATEGIC,
            json!({"status":
            {"$setElementOrder/resourceClaimStatuses": [{"name": "rt"}, {"name": "ru"}]}}),
            200,
            "",
        ),
        (
            "one deleted",
            STRATEGIC,
            json!({"status": {"resourceClaimStatuses": [{"$patch": "delete", "name": "rt"}]}}),
            403,
            claims,
        ),
        (
            "one merged",
            STRATEGIC,
            json!({"status": {"resourceClaimStatuses":
            [{"name": "rt", "resourceClaimName": "rc1"}]}}),
            403,
            claims,
        ),
        (
            "the same merged",
            STRATEGIC,
            json!({"status": {"resourceClaimStatuses": [rt]}}),
            200,
            "",
        ),
        (
            "without its claim",
            STRATEGIC,
            json!({"status": {"resourceClaimStatuses":
            [{"name": "rt", "$retainKeys": ["name"]}]}}),
            403,
            claims,
        ),
        (
            "status replaced",
            STRATEGIC,
            json!({"status": {"$patch": "replace", "phase": "Running"}}),
            403,
            claims,
        ),
        ("status null", MERGE_PATCH, json!({"status": null}), 403, claims),
        (
            "moved",
            JSON_PATCH,
            json!([{"op": "move", "from": format!("{field}/0"), "path": format!("{field}/1")}]),
            403,
            claims,
        ),
        (
            "the same as JSON patch",
            JSON_PATCH,
            json!([{"op": "add", "path": field, "value": [rt, ru]}]),
            200,
            "",
        ),
    ];
    let patches = patches.into_iter();
    let mut rows: Vec<Row> = patches
        .map(|(name, kind, body, code, text)| patch(&format!("claims: {name}"), own(), kind, &body, code, text))
        .collect();
    rows.extend([
        change(
            "claims: another",
            own(),
            [(field, json!([{"name": "rt", "resourceClaimName": "rc1"}, ru]))],
            403,
            claims,
        ),
        change(
            "claims: extended",
            own(),
            [(
                "/status/extendedResourceClaimStatus",
                json!({"resourceClaimName": "rc1",
            "requestMappings": [{"containerName": "c", "resourceName": "e.com/r", "requestName": "d"}]}),
            )],
            403,
            "node \"pr1\" cannot update extended resource claim status",
        ),
    ]);
    rows
}
