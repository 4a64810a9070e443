use serde_json::json;
use test_case::test_case;

use super::{world::claimed, *};

const STATUS: &str = "/api/v1/namespaces/ns/persistentvolumeclaims/pvc1/status";

#[test_case("PUT", "/pvc1" => r#"403 persistentvolumeclaims "pvc1" is forbidden: may only update PVC status persistentvolumeclaims"#; "the claim itself")]
#[test_case("DELETE", "" => r#"403 persistentvolumeclaims "Unknown" is forbidden: may only update PVC status persistentvolumeclaims"#; "all claims")]
#[test_case("DELETE", "/pvc1/status" => r#"403 persistentvolumeclaims "pvc1" is forbidden: unexpected operation "DELETE" persistentvolumeclaims"#; "delete")]
fn elsewhere(method: &str, rest: &str) -> String {
    outcome(
        method,
        &format!("/api/v1/namespaces/ns/persistentvolumeclaims{rest}"),
        "",
    )
}

#[test_case(&["status", "capacity"], json!({"storage": "2Gi"}), ""; "capacity")]
#[test_case(&["status", "conditions"], json!([{"type": "Resizing", "status": "True"}]), ""; "conditions")]
#[test_case(&["status", "allocatedResources"], json!({"storage": "2Gi"}), ""; "allocated")]
#[test_case(&["status", "allocatedResourceStatuses"], json!({"storage": "NodeResizeFailed"}), ""; "state of the allocation")]
#[test_case(&["metadata", "namespace"], json!(null), ""; "namespace left to the URL")]
#[test_case(&["spec", "volumeMode"], json!(null), ""; "default mode")]
#[test_case(&["status", "phase"], json!(null), ""; "default phase")]
#[test_case(&["spec", "resources", "requests", "storage"], json!("1024Mi"), ""; "same quantity")]
#[test_case(&["spec", "resources", "limits"], json!({}), ""; "empty map")]
#[test_case(&["metadata", "creationTimestamp"], json!("2024-01-01T01:00:00+01:00"), ""; "same instant")]
#[test_case(&["status", "phase"], json!("Bound"), "status.phase"; "phase")]
#[test_case(&["status", "accessModes"], json!(["ReadWriteMany"]), "status.accessModes"; "access modes")]
#[test_case(&["status", "modifyVolumeStatus"], json!({}), "status.modifyVolumeStatus"; "modification")]
#[test_case(&["spec", "resources", "requests", "storage"], json!("2Gi"), "spec.resources.requests.storage"; "request")]
#[test_case(&["spec", "storageClassName"], json!(null), "spec.storageClassName"; "no class, which is not an empty one")]
#[test_case(&["spec", "volumeName"], json!("pv2"), "spec.volumeName"; "volume")]
#[test_case(&["spec", "dataSourceRef"], json!({"kind": "K", "name": "n", "namespace": "other"}), "spec.dataSourceRef"; "source")]
#[test_case(&["metadata", "labels"], json!({"app": "b"}), "metadata.labels.app"; "label")]
#[test_case(&["metadata", "labels", "b"], json!(""), "metadata.labels.b"; "empty label")]
#[test_case(&["metadata", "finalizers"], json!([]), "metadata.finalizers"; "finalizers")]
#[test_case(&["metadata", "uid"], json!(null), "metadata.uid"; "no uid")]
#[test_case(&["metadata", "creationTimestamp"], json!(null), "metadata.creationTimestamp"; "no time")]
#[test_case(&["metadata", "ownerReferences"], json!([{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "N1"}]), "metadata.ownerReferences"; "owner")]
fn put(path: &[&str], value: serde_json::Value, differs: &str) {
    let body = with(&claimed("pvc1", "pv1").to_string(), path, value);
    let found = outcome("PUT", STATUS, &body);
    match differs {
        "" => assert_eq!(found, "passes"),
        differs => assert_eq!(found, refused(differs)),
    }
}

/// What a newer client may send; in JSON its name is seen, in protobuf its number.
#[test]
fn put_something_new() {
    let body = with(&claimed("pvc1", "pv1").to_string(), &["spec", "newField"], json!("x"));
    let world = World::default();
    let (found, _) = ask(
        &world,
        (&world.graph(), true),
        &upstream(),
        "PUT",
        STATUS,
        "application/json",
        body.as_bytes(),
    );
    assert_eq!(found, refused("spec.newField"));
    let body = encode::body("PUT", STATUS, &body);
    let (found, _) = ask(
        &world,
        (&world.graph(), true),
        &upstream(),
        "PUT",
        STATUS,
        PROTOBUF,
        &body,
    );
    assert_eq!(found, refused("spec.?999"));
}

#[test_case("strategic", r#"{"metadata":{"resourceVersion":"3"},"status":{"capacity":{"storage":"2Gi"},"$setElementOrder/conditions":[],"conditions":[]}}"# => "passes"; "as kubelets do")]
#[test_case("json", r#"[{"op":"replace","path":"/status/capacity/storage","value":"2Gi"}]"# => "passes"; "json capacity")]
#[test_case("merge", r#"{"metadata":{"labels":{"app":"a"}}}"# => r#"passes, tied to the version {"metadata":{"labels":{"app":"a"},"resourceVersion":"7"}}"#; "nothing new")]
#[test_case("merge", r#"{"status":{"phase":"Bound"}}"# => refused("status.phase"); "phase")]
#[test_case("merge", r#"{"metadata":{"labels":null},"status":null}"# => refused("metadata.labels.app"); "labels")]
#[test_case("strategic", r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["kubernetes.io/pvc-protection"]}}"# => refused("metadata.finalizers"); "finalizer")]
#[test_case("json", r#"[{"op":"remove","path":"/metadata/finalizers/0"}]"# => refused("metadata.finalizers"); "json finalizer")]
#[test_case("merge", r#"{"metadata":{"labels":{"app":"a"},"resourceVersion":"6"}}"#
    => r#"409 Operation cannot be fulfilled on persistentvolumeclaims "pvc1": the object has been modified; please apply your changes to the latest version and try again persistentvolumeclaims"#; "an old version")]
#[test_case("apply", r#"{"metadata":{"name":"pvc1"}}"#
    => "415 the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json"; "apply")]
fn patch(kind: &str, body: &str) -> String {
    patched(kind, STATUS, body)
}

fn refused(differs: &str) -> String {
    format!(
        r#"403 persistentvolumeclaims "pvc1" is forbidden: node "n1" is not allowed to update fields other than status.quantity and status.conditions: {differs} persistentvolumeclaims"#
    )
}
