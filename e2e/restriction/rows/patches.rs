//! Labels of nodes, and what only one type of patch can say.

use serde_json::{Value, json};

use super::{Names, Row, change, compare, patch};
use crate::restriction::{JSON_PATCH, MERGE_PATCH, STRATEGIC};

const NAMES: Names = Names {
    namespace: "patch-rows",
    nodes: ["pa1", "pa2"],
};
const OWN: &str = "/api/v1/nodes/pa1";
const STATUS: &str = "/api/v1/nodes/pa1/status";

#[tokio::test]
async fn nodes_are_patched_as_node_restriction_has_it() {
    let tables = [labels(), directives()];
    compare(NAMES, tables.into_iter().flatten().collect()).await;
}

fn labels() -> Vec<Row> {
    let mut rows = Vec::new();
    for (target, code, key) in [
        (STATUS, 200, "/metadata/labels/topology.kubernetes.io~1zone"),
        (STATUS, 403, "/metadata/labels/topology.kubernetes.io~1rack"),
        (STATUS, 200, "/metadata/labels/x.node.kubernetes.io~1a"),
        (STATUS, 403, "/metadata/labels/a.node-restriction.kubernetes.io~1b"),
        (OWN, 403, "/metadata/labels/node-restriction.kubernetes.io~1b"),
        (OWN, 403, "/metadata/labels/foo.k8s.io~1x"),
        (OWN, 403, "/metadata/labels/k8s.io~1x"),
        (OWN, 403, "/metadata/labels/kubernetes.io~1x"),
        (OWN, 403, "/metadata/labels/node-role.kubernetes.io~1worker"),
        (OWN, 200, "/metadata/labels/xkubernetes.io~1x"),
        (OWN, 200, "/metadata/labels/kubernetes.io"),
        (OWN, 200, "/metadata/labels/node.kubernetes.io~1x"),
        (OWN, 200, "/metadata/labels/kubelet.kubernetes.io~1x"),
        (OWN, 403, "/metadata/labels/xkubelet.kubernetes.io~1x"),
        (OWN, 200, "/metadata/labels/kubernetes.io~1hostname"),
        (OWN, 200, "/metadata/labels/beta.kubernetes.io~1instance-type"),
        (OWN, 200, "/metadata/labels/failure-domain.beta.kubernetes.io~1zone"),
        (OWN, 200, "/metadata/labels/example.com~1x"),
        (OWN, 200, "/metadata/labels/plain"),
    ] {
        let text = if code == 403 {
            "is not allowed to modify labels: "
        } else {
            ""
        };
        rows.push(change(
            &format!("label {key}"),
            target,
            [(key, json!("new"))],
            code,
            text,
        ));
    }
    let key = "/metadata/labels/node-role.kubernetes.io~1worker";
    rows.push(change(
        "label removed",
        OWN,
        [(key, Value::Null)],
        403,
        "modify labels: node-role.kubernetes.io/worker",
    ));
    rows.push(change(
        "free label removed",
        OWN,
        [("/metadata/labels/kubernetes.io~1hostname", Value::Null)],
        200,
        "",
    ));
    rows
}

/// What only one type of patch can say.
fn directives() -> Vec<Row> {
    let owner = json!({"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u"});
    let rows = [
        ("merge patch of nothing", MERGE_PATCH, json!({}), 200, ""),
        (
            "replace at the top",
            STRATEGIC,
            json!({"$patch": "replace", "metadata": {"name": "pa1"}}),
            403,
            "taints",
        ),
        (
            "replace at the top without a name",
            STRATEGIC,
            json!({"$patch": "replace"}),
            400,
            "name must be provided",
        ),
        (
            "delete of metadata",
            STRATEGIC,
            json!({"metadata": {"$patch": "delete"}}),
            400,
            "name must be provided",
        ),
        (
            "delete of the spec",
            STRATEGIC,
            json!({"spec": {"$patch": "delete"}}),
            403,
            "taints",
        ),
        (
            "replace of labels",
            STRATEGIC,
            json!({"metadata": {"labels": {"$patch": "replace", "a": "b"}}}),
            403,
            "modify labels",
        ),
        (
            "retained keys",
            STRATEGIC,
            json!({"spec": {"$retainKeys": ["unschedulable"], "unschedulable": true}}),
            403,
            "taints",
        ),
        (
            "retained keys of metadata",
            STRATEGIC,
            json!({"metadata": {"$retainKeys": ["name", "annotations"], "annotations": {"a": "c"}}}),
            403,
            "modify labels",
        ),
        (
            "owner with directives",
            STRATEGIC,
            json!({"metadata": {"ownerReferences": [owner, {"$patch": "replace"}]}}),
            403,
            "ownerReferences",
        ),
        (
            "unknown directive",
            STRATEGIC,
            json!({"spec": {"$patch": "other"}}),
            500,
            "",
        ),
        (
            "owner without its key",
            STRATEGIC,
            json!({"metadata": {"ownerReferences": [{"name": "x"}]}}),
            403,
            "ownerReferences",
        ),
        (
            "element without its key",
            STRATEGIC,
            json!({"status": {"conditions": [{"status": "True"}]}}),
            500,
            "",
        ),
        ("spec is null", MERGE_PATCH, json!({"spec": null}), 403, "taints"),
        (
            "copy of a label",
            JSON_PATCH,
            json!([{"op": "copy", "from": "/metadata/labels/node-role.kubernetes.io~1worker",
            "path": "/metadata/labels/node-role.kubernetes.io~1x"}]),
            403,
            "modify labels",
        ),
        (
            "move of the taints",
            JSON_PATCH,
            json!([{"op": "move", "from": "/spec/taints", "path": "/spec/podCIDRs"}]),
            422,
            "",
        ),
        (
            "whole document",
            JSON_PATCH,
            json!([{"op": "replace", "path": "", "value":
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "pa1"}}}]),
            403,
            "taints",
        ),
        (
            "test that fails",
            JSON_PATCH,
            json!([{"op": "test", "path": "/metadata/name", "value": "x"}]),
            422,
            "",
        ),
        (
            "test that fails before the taints",
            JSON_PATCH,
            json!([
                {"op": "test", "path": "/metadata/name", "value": "x"},
                {"op": "replace", "path": "/spec/taints", "value": []},
            ]),
            422,
            "",
        ),
        (
            "removal of what is not there",
            JSON_PATCH,
            json!([{"op": "remove", "path": "/spec/nothing"}]),
            422,
            "",
        ),
        (
            "last taint",
            JSON_PATCH,
            json!([{"op": "remove", "path": "/spec/taints/-1"}]),
            403,
            "taints",
        ),
        (
            "taint moved to its place",
            JSON_PATCH,
            json!([{"op": "move", "from": "/spec/taints/0", "path": "/spec/taints/0"}]),
            200,
            "",
        ),
        (
            "unknown operation",
            JSON_PATCH,
            json!([{"op": "grow", "path": "/spec"}]),
            422,
            "",
        ),
        ("not a list", JSON_PATCH, json!({"op": "test"}), 400, ""),
    ];
    let mut all = Vec::new();
    for (name, kind, body, code, text) in rows {
        all.push(patch(name, OWN, kind, &body, code, text));
        all.push(patch(&format!("{name} at status"), STATUS, kind, &body, code, text));
    }
    all
}
