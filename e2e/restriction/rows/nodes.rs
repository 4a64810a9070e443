//! Nodes.

use serde_json::{Value, json};

use super::{Names, Row, What, change, compare, create, row};

const NAMES: Names = Names {
    namespace: "node-rows",
    nodes: ["nr1", "nr2"],
};
const OWN: &str = "/api/v1/nodes/nr1";
const STATUS: &str = "/api/v1/nodes/nr1/status";

#[tokio::test]
async fn nodes_are_written_as_node_restriction_has_it() {
    let tables = [creates(), changes()];
    compare(NAMES, tables.into_iter().flatten().collect()).await;
}

/// The node is there already, which only matters once it is allowed.
fn creates() -> Vec<Row> {
    let nodes = "/api/v1/nodes";
    let node = |more: Value| {
        let mut node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "nr1"}});
        for (key, value) in more.as_object().unwrap() {
            super::set(&mut node, key, value.clone());
        }
        node
    };
    let label = |key: &str| node(json!({"/metadata/labels": {key: "x"}}));
    let set_labels = "node \"nr1\" is not allowed to set the following labels: ";
    vec![
        create("own node", nodes, node(json!({})), 409, "already exists"),
        create(
            "taints and owners",
            nodes,
            node(json!({
                "/spec/taints": [{"key": "t", "effect": "NoExecute"}],
                "/metadata/ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u"}],
            })),
            409,
            "already exists",
        ),
        create("node-role", nodes, label("node-role.kubernetes.io/x"), 403, set_labels),
        create(
            "two labels in order",
            nodes,
            node(json!({"/metadata/labels":
            {"node-role.kubernetes.io/x": "", "a.node-restriction.kubernetes.io/y": "", "ok": ""}})),
            403,
            "labels: a.node-restriction.kubernetes.io/y, node-role.kubernetes.io/x",
        ),
        create(
            "kubelet's labels",
            nodes,
            node(json!({"/metadata/labels": {
            "kubernetes.io/hostname": "h", "topology.kubernetes.io/zone": "z", "kubelet.kubernetes.io/x": "", "e.com/x": ""}})),
            409,
            "already exists",
        ),
        create(
            "config source",
            nodes,
            node(json!({"/spec/configSource":
            {"configMap": {"namespace": "a", "name": "b", "kubeletConfigKey": "c"}}})),
            403,
            "is not allowed to create pods with a non-nil configSource",
        ),
        create(
            "another node",
            nodes,
            node(json!({"/metadata/name": "nr3"})),
            403,
            "node \"nr1\" is not allowed to modify node \"nr3\"",
        ),
        create(
            "generated name",
            nodes,
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"generateName": "gen-"}}),
            403,
            "nodes \"gen-\" is forbidden: node \"nr1\" is not allowed to modify node \"\"",
        ),
        create(
            "no name at all",
            nodes,
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {}}),
            403,
            "is not allowed to modify node \"\"",
        ),
        row(
            "delete",
            OWN,
            What::Bytes("DELETE", "", Vec::new()),
            403,
            "cannot delete resource \"nodes\"",
        ),
    ]
}

fn changes() -> Vec<Row> {
    let taint = json!([{"key": "t", "value": "other", "effect": "NoSchedule"}]);
    let owner = json!([{"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u"}]);
    let source = json!({"configMap": {"namespace": "a", "name": "b", "uid": "u", "kubeletConfigKey": "c"}});
    let mut rows = vec![
        change("unschedulable", OWN, [("/spec/unschedulable", json!(true))], 200, ""),
        change(
            "pod range and provider",
            OWN,
            [
                ("/spec/podCIDR", json!("10.1.0.0/24")),
                ("/spec/podCIDRs", json!(["10.1.0.0/24"])),
                ("/spec/providerID", json!("a://b")),
            ],
            200,
            "",
        ),
        change(
            "finalizers",
            OWN,
            [("/metadata/finalizers", json!(["e.com/f"]))],
            200,
            "",
        ),
        change("capacity", STATUS, [("/status/capacity", json!({"cpu": "2"}))], 200, ""),
        change(
            "a condition",
            STATUS,
            [("/status/conditions", json!([{"type": "Ready", "status": "False"}]))],
            200,
            "",
        ),
        change(
            "another node",
            "/api/v1/nodes/nr2",
            [("/metadata/annotations/x", json!("y"))],
            403,
            "is not allowed to modify node",
        ),
        change(
            "another node's status",
            "/api/v1/nodes/nr2/status",
            [("/status/phase", json!("Running"))],
            403,
            "is not allowed to modify node",
        ),
    ];
    for target in [OWN, STATUS] {
        let named = |name: &str| format!("{name} at {target}");
        rows.extend([
            change(
                &named("annotation"),
                target,
                [("/metadata/annotations/x", json!("y"))],
                200,
                "",
            ),
            change(
                &named("taints"),
                target,
                [("/spec/taints", taint.clone())],
                403,
                "is not allowed to modify taints",
            ),
            change(
                &named("no taints"),
                target,
                [("/spec/taints", Value::Null)],
                403,
                "is not allowed to modify taints",
            ),
            change(
                &named("the same taint at another time"),
                target,
                [(
                    "/spec/taints",
                    json!([{"key": "t", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]),
                )],
                403,
                "is not allowed to modify taints",
            ),
            change(
                &named("owners"),
                target,
                [("/metadata/ownerReferences", owner.clone())],
                403,
                "is not allowed to modify ownerReferences",
            ),
            change(
                &named("config source"),
                target,
                [("/spec/configSource", source.clone())],
                403,
                "is not allowed to update configSource to a new non-nil configSource",
            ),
            change(
                &named("all labels gone"),
                target,
                [("/metadata/labels", Value::Null)],
                403,
                "is not allowed to modify labels: node-role.kubernetes.io/worker",
            ),
            change(
                &named("another name"),
                target,
                [("/metadata/name", json!("nr2"))],
                400,
                "does not match the name on the URL",
            ),
            change(
                &named("no name"),
                target,
                [("/metadata/name", Value::Null)],
                400,
                "name must be provided",
            ),
            change(
                &named("stale version"),
                target,
                [("/metadata/resourceVersion", json!("1"))],
                409,
                "has been modified",
            ),
            change(
                &named("stale version and taints"),
                target,
                [
                    ("/metadata/resourceVersion", json!("1")),
                    ("/spec/taints", taint.clone()),
                ],
                403,
                "is not allowed to modify taints",
            ),
        ]);
    }
    rows
}
