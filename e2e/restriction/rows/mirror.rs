//! Mirror pods that are made.

use serde_json::{Value, json};

use super::{
    Names, Row, compare, create,
    references::{containers, volumes},
    set,
};

const NAMES: Names = Names {
    namespace: "mirror-rows",
    nodes: ["mr1", "mr2"],
};
const PODS: &str = "/api/v1/namespaces/mirror-rows/pods";

#[tokio::test]
async fn mirror_pods_are_made_as_node_restriction_has_it() {
    let tables = [pods(), volumes(PODS, with), containers(PODS, with)];
    compare(NAMES, tables.into_iter().flatten().collect()).await;
}

/// What a kubelet makes of a static pod.
fn mirror() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "static-mr1", "namespace": "mirror-rows",
            "annotations": {"kubernetes.io/config.mirror": "hash", "kubernetes.io/config.hash": "hash"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "mr1", "uid": "uid-of-mr1", "controller": true}],
        },
        "spec": {"nodeName": "mr1", "containers": [{"name": "c", "image": "i"}]},
    })
}

fn with(changes: &Value) -> Value {
    let mut pod = mirror();
    for (pointer, value) in changes.as_object().unwrap() {
        set(&mut pod, pointer, value.clone());
    }
    pod
}

fn pods() -> Vec<Row> {
    let owner = |change: Value| {
        let mut owner = mirror()["metadata"]["ownerReferences"][0].clone();
        for (key, value) in change.as_object().unwrap() {
            owner[key] = value.clone();
        }
        owner
    };
    let owners = |owners: Value| with(&json!({"/metadata/ownerReferences": owners}));
    let none = "node \"mr1\" can only create pods with an owner reference set to itself";
    let rows = [
        ("as a kubelet makes it", mirror(), 201, ""),
        ("with labels", with(&json!({"/metadata/labels": {"app": "x"}})), 201, ""),
        (
            "with a generated name",
            with(&json!({"/metadata/name": null, "/metadata/generateName": "g-"})),
            201,
            "",
        ),
        (
            "no mirror",
            with(&json!({"/metadata/annotations": {"a": "b"}})),
            403,
            "node \"mr1\" can only create mirror pods",
        ),
        (
            "for another node",
            with(&json!({"/spec/nodeName": "mr2"})),
            403,
            "node \"mr1\" can only create pods with spec.nodeName set to itself",
        ),
        (
            "for no node",
            with(&json!({"/spec/nodeName": null})),
            403,
            "with spec.nodeName set to itself",
        ),
        (
            "without owner",
            with(&json!({"/metadata/ownerReferences": null})),
            403,
            none,
        ),
        (
            "two owners",
            owners(json!([owner(json!({})), owner(json!({"uid": "other"}))])),
            403,
            "node \"mr1\" can only create pods with a single owner reference set to itself",
        ),
        (
            "the same owner twice",
            owners(json!([owner(json!({})), owner(json!({}))])),
            201,
            "",
        ),
        (
            "owner of another kind",
            owners(json!([owner(json!({"kind": "Pod"}))])),
            403,
            none,
        ),
        (
            "owner of another version",
            owners(json!([owner(json!({"apiVersion": "v2"}))])),
            403,
            none,
        ),
        (
            "owner of another name",
            owners(json!([owner(json!({"name": "mr2"}))])),
            403,
            none,
        ),
        (
            "owner of another uid",
            owners(json!([owner(json!({"uid": "other"}))])),
            403,
            "node mr1 UID mismatch: expected other got uid-of-mr1",
        ),
        (
            "owner that does not control",
            owners(json!([owner(json!({"controller": false}))])),
            403,
            "with a controller owner reference set to itself",
        ),
        (
            "owner that may control",
            owners(json!([{"apiVersion": "v1", "kind": "Node", "name": "mr1", "uid": "uid-of-mr1"}])),
            403,
            "with a controller owner reference set to itself",
        ),
        (
            "owner that blocks",
            owners(json!([owner(json!({"blockOwnerDeletion": true}))])),
            403,
            "node \"mr1\" must not set blockOwnerDeletion on an owner reference",
        ),
        (
            "owner that blocks not",
            owners(json!([owner(json!({"blockOwnerDeletion": false}))])),
            201,
            "",
        ),
        (
            "with claims",
            with(&json!({"/spec/resourceClaims": [{"name": "r", "resourceClaimName": "rc1"}]})),
            403,
            "resourceclaims",
        ),
        (
            "with claim statuses only",
            with(&json!({"/status/resourceClaimStatuses": [{"name": "r", "resourceClaimName": "rc1"}]})),
            201,
            "",
        ),
        (
            "with an account",
            with(&json!({"/spec/serviceAccountName": "sa1"})),
            403,
            "a mirror pod may not reference service accounts",
        ),
        (
            "with an account in the old way",
            with(&json!({"/spec/serviceAccount": "sa1"})),
            403,
            "a mirror pod may not reference service accounts",
        ),
        (
            "with a pull secret",
            with(&json!({"/spec/imagePullSecrets": [{"name": "s1"}]})),
            403,
            "secrets",
        ),
        (
            "in another namespace",
            with(&json!({"/metadata/namespace": "default"})),
            400,
            "does not match the namespace",
        ),
        (
            "of another kind",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}),
            400,
            "",
        ),
    ];
    let rows = rows.into_iter();
    rows.map(|(name, pod, code, text)| create(&format!("mirror: {name}"), PODS, pod, code, text))
        .collect()
}
