//! What nodes may write.

use serde_json::{Value, json};

use super::{Row, write};
use crate::conformance::{
    case::{Form, Who},
    generate::bodies,
    mutation::{At, Change, Mutation},
};

const NODE: &str = "/api/v1/nodes/ROUND-n1";
const PODS: &str = "/api/v1/namespaces/ROUND/pods";
const ACCOUNTS: &str = "/api/v1/namespaces/ROUND/serviceaccounts";
const CLAIM: &str = "/api/v1/namespaces/ROUND/persistentvolumeclaims/pvc1/status";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

pub(super) fn rows() -> Vec<Row> {
    let tables = [nodes(), mirrors(), references(), statuses(), leaving(), others()];
    tables.into_iter().flatten().collect()
}

fn create(number: u32, path: &str, value: Value, code: u16, text: &'static str) -> Row {
    write(number, ("create", path), Some((Form::Json, value)), code, text)
}

fn strategic(number: u32, path: &str, value: Value, code: u16, text: &'static str) -> Row {
    write(number, ("patch", path), Some((Form::Strategic, value)), code, text)
}

fn merge(number: u32, path: &str, value: Value, code: u16, text: &'static str) -> Row {
    write(number, ("patch", path), Some((Form::MergePatch, value)), code, text)
}

fn nodes() -> Vec<Row> {
    let label = |key: &str| json!({"metadata": {"labels": {key: "x"}}});
    let mut restricted = bodies::registration("ROUND-n1");
    restricted["metadata"]["labels"]["node-role.kubernetes.io/x"] = json!("");
    let mut generated = bodies::registration("ROUND-n1");
    generated["metadata"] = json!({"generateName": "gen-"});
    let (status, labels) = (format!("{NODE}/status"), "is not allowed to modify labels: ");
    let owners = json!([{"apiVersion": "v1", "kind": "Node", "name": "ROUND-n1", "uid": "uid-of-n1"}]);
    let replaced = json!({"$patch": "replace", "apiVersion": "v1", "kind": "Node", "metadata": {"name": "ROUND-n1",
        "labels": {"kubernetes.io/hostname": "ROUND-n1", "node-role.kubernetes.io/worker": ""}}});
    vec![
        merge(
            4,
            "/api/v1/nodes/ROUND-n2",
            label("foo"),
            403,
            "is not allowed to modify node",
        )
        .by(Who::Master),
        create(
            43,
            "/api/v1/nodes",
            restricted,
            403,
            "is not allowed to set the following labels",
        ),
        create(
            43,
            "/api/v1/nodes",
            generated,
            403,
            "is not allowed to modify node \"\"",
        ),
        strategic(44, &status, label("topology.kubernetes.io/zone"), 200, ""),
        strategic(44, &status, label("topology.kubernetes.io/rack"), 403, labels),
        strategic(44, &status, label("x.node.kubernetes.io/a"), 200, ""),
        strategic(44, &status, label("a.node-restriction.kubernetes.io/b"), 403, labels),
        merge(46, NODE, json!({"spec": {"unschedulable": true}}), 200, ""),
        merge(46, NODE, json!({"metadata": {"labels": null}}), 403, labels),
        merge(
            46,
            NODE,
            json!({"metadata": {"ownerReferences": owners}}),
            403,
            "ownerReferences",
        ),
        strategic(47, NODE, replaced, 403, "is not allowed to modify taints"),
    ]
}

fn mirror() -> Value {
    bodies::mirror("made", "ROUND-n1", "uid-of-n1")
}

/// A mirror pod with this at a pointer.
fn mirror_with(pointer: &str, value: Value) -> Value {
    let mut pod = mirror();
    let change = Change::Set(value);
    let at = At::Pointer(pointer.to_owned());
    Mutation { at, change }.apply(&mut pod, false);
    pod
}

fn mirrors() -> Vec<Row> {
    let owner = "/metadata/ownerReferences";
    let second = json!({"apiVersion": "v1", "kind": "Node", "name": "ROUND-n2", "uid": "uid-of-n2"});
    let mut plain = mirror();
    plain["metadata"]["annotations"] = json!({});
    let mut absent = bodies::mirror("made", "ROUND-n3", "uid-of-n3");
    absent["metadata"]["ownerReferences"][0]["uid"] = json!("u");
    vec![
        create(49, PODS, mirror(), 201, ""),
        create(
            49,
            PODS,
            mirror_with(&format!("{owner}/0/controller"), json!(false)),
            403,
            "a controller owner reference",
        ),
        create(
            49,
            PODS,
            mirror_with(&format!("{owner}/0/blockOwnerDeletion"), json!(true)),
            403,
            "blockOwnerDeletion",
        ),
        create(
            49,
            PODS,
            mirror_with(&format!("{owner}/1"), second),
            403,
            "a single owner reference",
        ),
        create(
            49,
            PODS,
            mirror_with(&format!("{owner}/0/uid"), json!("wrong")),
            403,
            "UID mismatch",
        ),
        create(49, PODS, absent, 404, "node \"rows-n3\" not found").by(Who::N3),
        create(52, PODS, plain, 403, "can only create mirror pods"),
        create(
            52,
            PODS,
            mirror_with("/spec/nodeName", json!("ROUND-n2")),
            403,
            "spec.nodeName set to itself",
        ),
    ]
}

fn references() -> Vec<Row> {
    let volume = |value: Value| mirror_with("/spec/volumes", json!([value]));
    let secret = json!({"name": "s", "secret": {"secretName": "s1"}});
    let mut twice = create(53, PODS, volume(secret), 403, "secrets").but(400);
    let spec = mirror()["spec"].clone();
    let body = twice.case.body.as_mut().unwrap();
    let at = At::Pointer("/spec".to_owned());
    body.mutations.push(Mutation {
        at,
        change: Change::Again(spec),
    });
    vec![
        create(
            50,
            PODS,
            mirror_with("/spec/serviceAccount", json!("sa1")),
            403,
            "service accounts",
        ),
        create(50, PODS, volume(json!({"name": "v"})), 201, ""),
        create(
            50,
            PODS,
            volume(json!({"name": "v", "projected": {"sources": [{}]}})),
            403,
            "unknown source",
        )
        .since(34),
        create(
            50,
            PODS,
            volume(json!({"name": "v", "csi": {"driver": "d"}})),
            403,
            "csidrivers",
        )
        .since(34),
        create(
            50,
            PODS,
            volume(json!({"name": "v", "glusterfs": {"endpoints": "e", "path": "p"}})),
            403,
            "endpoints",
        )
        .since(34),
        twice,
    ]
}

fn statuses() -> Vec<Row> {
    let p1 = format!("{PODS}/p1/status");
    let reversed = json!({"status": {"$setElementOrder/resourceClaimStatuses": [{"name": "ru"}, {"name": "rt"}],
        "resourceClaimStatuses": [{"name": "ru"}, {"name": "rt"}]}});
    let extended = json!({"status": {"extendedResourceClaimStatus": {"resourceClaimName": "rc2", "requestMappings": [
        {"containerName": "c", "resourceName": "e.com/r", "requestName": "q"}]}}});
    let running = json!({"status": {"phase": "Running"}});
    let other = json!({"metadata": {"uid": "wrong"}, "status": {"phase": "Running"}});
    let refused = "is not allowed to update fields other than status.quantity";
    vec![
        strategic(55, &p1, reversed, 403, "cannot update resource claim statues"),
        strategic(55, &p1, extended, 403, "cannot update extended resource claim status").since(34),
        strategic(
            56,
            &format!("{PODS}/p2/status"),
            running,
            403,
            "can only update pod status for pods",
        ),
        strategic(56, &p1, other, 422, "field is immutable"),
        strategic(65, CLAIM, bodies::claim_status(), 200, ""),
        strategic(65, CLAIM, json!({"status": {"phase": "Lost"}}), 403, refused),
        strategic(65, CLAIM, json!({"metadata": {"labels": {"a": "b"}}}), 403, refused),
        strategic(
            65,
            CLAIM,
            json!({"metadata": {"resourceVersion": "1"}, "status": {"capacity": {"storage": "2Gi"}}}),
            409,
            "",
        ),
    ]
}

fn leaving() -> Vec<Row> {
    let evict = |pod: &str, named: &str, code, text| {
        create(
            59,
            &format!("{PODS}/{pod}/eviction"),
            bodies::eviction(named),
            code,
            text,
        )
    };
    vec![
        // kube-apiserver asks no admission about what is going already.
        write(58, ("delete", &format!("{PODS}/d5")), None, 200, "").but(403),
        write(
            58,
            ("delete", &format!("{PODS}/p2")),
            None,
            403,
            "can only delete pods with spec.nodeName set to itself",
        ),
        write(
            58,
            ("delete", &format!("{PODS}/nosuch")),
            None,
            404,
            "pods \"nosuch\" not found",
        ),
        evict("p1", "p1", 201, ""),
        evict("p2", "p2", 403, "can only evict pods"),
        evict("nosuch", "nosuch", 404, "pod \"nosuch\" not found"),
        evict("p1", "p2", 400, ""),
        create(
            61,
            &format!("{ACCOUNTS}/sa1/token"),
            bodies::token("p3", &["aud3"]),
            400,
            "different serviceaccount",
        ),
    ]
}

fn others() -> Vec<Row> {
    let (own, other) = (format!("{LEASES}/ROUND-n1"), format!("{LEASES}/ROUND-n2"));
    let mut generated = bodies::lease("ROUND-n1");
    generated["metadata"] = json!({"generateName": "gen-", "namespace": "kube-node-lease"});
    let put = |path: &str, node: &str, code, text| {
        write(
            64,
            ("update", path),
            Some((Form::Json, bodies::lease(node))),
            code,
            text,
        )
    };
    let named = "can only access node lease with the same name as the requesting node";
    let certificates = "/apis/certificates.k8s.io/v1beta1/namespaces/ROUND/podcertificaterequests";
    let annotated = json!({"metadata": {"annotations": {"a": "b"}}});
    vec![
        put(&own, "ROUND-n1", 201, ""),
        put(&other, "ROUND-n2", 403, named),
        create(64, LEASES, bodies::lease("ROUND-n2"), 403, named),
        create(64, LEASES, generated, 403, named),
        create(67, certificates, json!({}), 403, ""),
        write(
            68,
            ("patch", NODE),
            Some((Form::As("application/json"), annotated)),
            415,
            "",
        ),
        write(
            68,
            ("create", "/api/v1/nodes"),
            Some((Form::As("application/cbor"), json!({}))),
            415,
            "",
        ),
        // What is compressed and what is too long is in `restriction`.
    ]
}
