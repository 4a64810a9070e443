//! What is applied, and what becomes of it.

use serde_json::{Value, json};

use super::{CLAIM, NODE, PODS, node, object};
use crate::release;

pub(super) struct Applied {
    pub(super) name: &'static str,
    pub(super) target: String,
    pub(super) query: &'static str,
    pub(super) object: Value,
    /// What kube-apiserver answers, and a part of it.
    pub(super) code: u16,
    pub(super) text: &'static str,
    /// What the gate answers instead, and means to.
    pub(super) gate: Option<u16>,
}

const FORCED: &str = "fieldManager=kubelet&force=true";
const DRY: &str = "fieldManager=kubelet&force=true&dryRun=All";

pub(super) fn rows() -> Vec<Applied> {
    let status = format!("{NODE}/status");
    let mut rows = nodes(NODE);
    rows.extend(nodes(&status));
    for row in &mut rows {
        // Nothing comes of it: upstream drops it before it stores anything, and the gate judges what would be stored.
        let is_spec_of_status = row.target == status && row.object.get("spec").is_some();
        if is_spec_of_status || row.name == "configSource" {
            row.gate = Some(200);
        }
    }
    // What a manager applies last counts, so both sides are alike again.
    for target in [&status, NODE] {
        rows.push(row(
            "label again",
            target,
            node(json!({"labels": {"example.com/a": "d"}}), json!({})),
            200,
            "",
        ));
    }
    rows.extend(owned());
    rows.extend(pods());
    rows.extend(claims());
    rows.extend(slices());
    // Before, it is a field that nobody knows.
    rows.retain(|row| row.name != "pod: extended claim status" || release::minor() >= 34);
    rows
}

fn row(name: &'static str, target: &str, object: Value, code: u16, text: &'static str) -> Applied {
    Applied {
        name,
        target: target.to_owned(),
        query: FORCED,
        object,
        code,
        text,
        gate: None,
    }
}

impl Applied {
    fn queried(mut self, query: &'static str) -> Self {
        self.query = query;
        self
    }
}

/// To a node without taints.
pub(super) fn untainted() -> Vec<Applied> {
    let taints = json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}});
    let text = "is not allowed to modify taints";
    vec![row("first taint", NODE, node(json!({}), taints), 403, text)]
}

/// To the node, or to its status.
fn nodes(target: &str) -> Vec<Applied> {
    let labels = |labels: Value| node(json!({"labels": labels}), json!({}));
    let spec = |spec: Value| node(json!({}), json!({"spec": spec}));
    let role = json!({"node-role.kubernetes.io/x": ""});
    let owner = json!([{"apiVersion": "v1", "kind": "Node", "name": "ap1", "uid": "uid-of-ap1"}]);
    let source = json!({"configMap": {"name": "c", "namespace": "n", "kubeletConfigKey": "k"}});
    let forbidden = "is not allowed to modify labels: node-role.kubernetes.io/x";
    vec![
        row("label", target, labels(json!({"example.com/a": "b"})), 200, ""),
        row(
            "label of kubelets",
            target,
            labels(json!({"topology.kubernetes.io/zone": "z"})),
            200,
            "",
        ),
        row("label, dry", target, labels(json!({"example.com/a": "c"})), 200, "").queried(DRY),
        row(
            "conditions",
            target,
            node(
                json!({}),
                json!({"status": {"conditions": [{"type": "Applied", "status": "True"}]}}),
            ),
            200,
            "",
        ),
        row("forbidden label", target, labels(role.clone()), 403, forbidden),
        row("forbidden label, dry", target, labels(role), 403, forbidden).queried(DRY),
        row(
            "taints",
            target,
            spec(json!({"taints": [{"key": "k", "effect": "NoSchedule"}]})),
            403,
            "is not allowed to modify taints",
        ),
        row(
            "no taints",
            target,
            spec(json!({"taints": []})),
            403,
            "is not allowed to modify taints",
        ),
        row(
            "owners",
            target,
            node(json!({"ownerReferences": owner}), json!({})),
            403,
            "is not allowed to modify ownerReferences",
        ),
        row(
            "configSource",
            target,
            spec(json!({"configSource": source})),
            403,
            "is not allowed to update configSource to a new non-nil configSource",
        ),
        row(
            "stale",
            target,
            node(json!({"resourceVersion": "1"}), json!({})),
            409,
            "the object has been modified",
        ),
        row(
            "no manager",
            target,
            labels(json!({"example.com/a": "b"})),
            422,
            "fieldManager",
        )
        .queried("force=true"),
    ]
}

/// Where it matters whose a field is.
fn owned() -> Vec<Applied> {
    let labels = |labels: Value| node(json!({"labels": labels}), json!({}));
    let taken = labels(json!({"example.com/owned": "by-kubelet"}));
    vec![
        row(
            "label of a former manager",
            NODE,
            labels(json!({"example.com/former": "b"})),
            403,
            "is not allowed to modify labels: node-role.kubernetes.io/former",
        )
        .queried("fieldManager=former"),
        row("another's label", NODE, taken.clone(), 409, "conflict").queried("fieldManager=kubelet"),
        row("another's label, forced", NODE, taken, 200, ""),
        row(
            "another node",
            "/api/v1/nodes/ap2",
            object("Node", "ap2", json!({}), json!({})),
            403,
            "is not allowed to modify node",
        ),
    ]
}

fn pods() -> Vec<Applied> {
    let target = &format!("{PODS}/p1/status");
    let pod = |metadata: Value, more: Value| object("Pod", "p1", metadata, more);
    let status = |status: Value| pod(json!({}), json!({"status": status}));
    let mapping = json!({"containerName": "c", "requestName": "r", "resourceName": "example.com/x"});
    let extended = json!({"resourceClaimName": "rc1", "requestMappings": [mapping]});
    let condition = json!({"conditions": [{"type": "Applied", "status": "True"}]});
    vec![
        row("pod: conditions", target, status(condition.clone()), 200, ""),
        row("pod: conditions, dry", target, status(condition.clone()), 200, "").queried(DRY),
        row(
            "pod: label",
            target,
            pod(json!({"labels": {"a": "b"}}), json!({})),
            403,
            "cannot update labels through pod status",
        ),
        row(
            "pod: claim statuses",
            target,
            status(json!({"resourceClaimStatuses": [{"name": "rt", "resourceClaimName": "rc1"}]})),
            403,
            "cannot update resource claim statues",
        ),
        row(
            "pod: extended claim status",
            &format!("{PODS}/extended/status"),
            object(
                "Pod",
                "extended",
                json!({}),
                json!({"status": {"extendedResourceClaimStatus": extended}}),
            ),
            403,
            "cannot update extended resource claim status",
        ),
        row(
            "pod: mirror annotation",
            target,
            pod(json!({"annotations": {"kubernetes.io/config.mirror": "x"}}), json!({})),
            422,
            "may not add mirror pod annotation",
        ),
        row(
            "another node's pod",
            &format!("{PODS}/p2/status"),
            object("Pod", "p2", json!({}), json!({"status": condition})),
            403,
            "can only update pod status for pods with spec.nodeName set to itself",
        ),
        row(
            "no pod",
            &format!("{PODS}/nosuch/status"),
            object("Pod", "nosuch", json!({}), json!({})),
            404,
            "not found",
        ),
    ]
}

fn claims() -> Vec<Applied> {
    let target = &format!("{CLAIM}/status");
    let claim = |metadata: Value, more: Value| object("PersistentVolumeClaim", "pvc1", metadata, more);
    let other_fields = "is not allowed to update fields other than status.quantity and status.conditions";
    let mut rows = vec![
        row(
            "claim: capacity",
            target,
            claim(json!({}), json!({"status": {"capacity": {"storage": "2Gi"}}})),
            200,
            "",
        ),
        row(
            "claim: label",
            target,
            claim(json!({"labels": {"a": "b"}}), json!({})),
            403,
            other_fields,
        ),
        row(
            "claim: phase",
            target,
            claim(json!({}), json!({"status": {"phase": "Bound"}})),
            403,
            other_fields,
        ),
    ];
    for row in rows.iter_mut().filter(|row| row.code == 403) {
        // kube-apiserver prints a diff of its internal type.
        row.gate = Some(403);
    }
    rows
}

/// Whose a slice is never changes; but upstream would create one that is not there.
fn slices() -> Vec<Applied> {
    let slice = |name: &str| {
        let version = json!({"apiVersion": "resource.k8s.io/v1"});
        object("ResourceSlice", name, json!({"labels": {"a": "b"}}), version)
    };
    let target = |name: &str| format!("/apis/resource.k8s.io/v1/resourceslices/{name}");
    let unrelated = "no relationship found between node 'ap1' and this object";
    vec![
        row("slice", &target("apply-sl1"), slice("apply-sl1"), 200, ""),
        row(
            "another node's slice",
            &target("apply-sl2"),
            slice("apply-sl2"),
            403,
            unrelated,
        ),
        row("no slice", &target("apply-sl3"), slice("apply-sl3"), 403, unrelated),
    ]
}
