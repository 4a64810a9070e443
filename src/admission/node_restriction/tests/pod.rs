use serde_json::json;
use test_case::test_case;

use super::*;

const P1: &str = "/api/v1/namespaces/ns/pods/p1";
const STATUS: &str = "/api/v1/namespaces/ns/pods/p1/status";

#[test_case("PUT", P1 => r#"403 pods "p1" is forbidden: unexpected operation "UPDATE", node "n1" can only create and delete mirror pods pods"#; "update")]
#[test_case("POST", STATUS => r#"403 pods "p1" is forbidden: unexpected operation "CREATE" pods"#; "create of a status")]
#[test_case("PUT", "/api/v1/namespaces/ns/pods/p1/eviction" => r#"403 pods "p1" is forbidden: unexpected operation UPDATE pods"#; "update of an eviction")]
#[test_case("PUT", "/api/v1/namespaces/ns/pods/p1/ephemeralcontainers" => r#"403 pods "p1" is forbidden: unexpected pod subresource "ephemeralcontainers", only 'status' and 'eviction' are allowed pods"#; "another subresource")]
#[test_case("DELETE", "/api/v1/namespaces/ns/pods" => r#"403 pods "Unknown" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself pods"#; "delete of all")]
fn elsewhere(method: &str, uri: &str) -> String {
    outcome(method, uri, "")
}

#[test_case("p1", "" => "passes, tied to the object uid=U%2Dp1"; "own")]
#[test_case("p1?gracePeriodSeconds=0", "" => "passes, tied to the object uid=U%2Dp1"; "own, with a query")]
#[test_case("p1?uid=U-p1", "" => "passes"; "own by uid")]
#[test_case("m1", "" => "passes, tied to the object uid=U%2Dm1"; "mirror")]
#[test_case("p1", r#"{"gracePeriodSeconds": 0}"# => r#"passes, tied to the object {"gracePeriodSeconds":0,"preconditions":{"uid":"U-p1"}}"#; "own, with options")]
#[test_case("p1", r#"{"preconditions": {"uid": "U-p1"}}"# => "passes"; "own by uid in options")]
#[test_case("p1?uid=U-p1", r#"{"gracePeriodSeconds": 0}"# => r#"passes, tied to the object {"gracePeriodSeconds":0,"preconditions":{"uid":"U-p1"}}"#; "a query beside a body does not count")]
#[test_case("p1?uid=", "" => "400 query parameter uid is empty"; "empty uid")]
#[test_case("p1", r#"{"preconditions": {"uid": ""}}"#
    => r#"409 Operation cannot be fulfilled on Pod "p1": the UID in the precondition () does not match the UID in record (U-p1). The object might have been deleted and then recreated Pod"#; "empty uid in options")]
#[test_case("p1", r#"{"preconditions": {"uid": null}}"# => r#"passes, tied to the object {"preconditions":{"uid":"U-p1"}}"#; "no uid in options")]
#[test_case("p1", r#"{"preconditions": {"uid": "V"}}"#
    => r#"409 Operation cannot be fulfilled on Pod "p1": the UID in the precondition (V) does not match the UID in record (U-p1). The object might have been deleted and then recreated Pod"#; "another of the name")]
#[test_case("p2", "" => r#"403 pods "p2" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself pods"#; "of another node")]
#[test_case("p2", r#"{"preconditions": {"uid": "V"}}"# => r#"403 pods "p2" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself pods"#; "of another node by another uid")]
#[test_case("nosuch", "" => r#"404 pods "nosuch" not found pods"#; "missing")]
fn delete(name: &str, body: &str) -> String {
    outcome("DELETE", &format!("/api/v1/namespaces/ns/pods/{name}"), body)
}

#[test_case("p1", r#"{"metadata": {"name": "p1"}}"# => r#"passes, tied to the object {"deleteOptions":{"preconditions":{"uid":"U-p1"}},"metadata":{"name":"p1"}}"#; "own")]
#[test_case("p1", r#"{"metadata": {"name": "p1"}, "deleteOptions": {"preconditions": {"uid": "U-p1"}}}"# => "passes"; "own by uid")]
#[test_case("p1", r#"{"deleteOptions": {"preconditions": {"uid": "V"}}}"#
    => r#"409 Operation cannot be fulfilled on Pod "p1": the UID in the precondition (V) does not match the UID in record (U-p1). The object might have been deleted and then recreated Pod"#; "another of the name")]
#[test_case("p1", r#"{"deleteOptions": {"preconditions": {"uid": ""}}}"#
    => r#"409 Operation cannot be fulfilled on Pod "p1": the UID in the precondition () does not match the UID in record (U-p1). The object might have been deleted and then recreated Pod"#; "empty uid")]
#[test_case("p2", r#"{"metadata": {"name": "p2"}}"# => r#"403 pods "p2" is forbidden: node n1 can only evict pods with spec.nodeName set to itself pods"#; "of another node")]
#[test_case("p2", r#"{"metadata": {"name": "p1"}}"# => r#"403 pods "p2" is forbidden: node n1 can only evict pods with spec.nodeName set to itself pods"#; "the URL names it")]
#[test_case("nosuch", "{}" => r#"404 pod "nosuch" not found pod"#; "missing")]
#[test_case("p1", r#"{"metadata": {"namespace": "other"}}"# => "400 the namespace of the provided object does not match the namespace sent on the request"; "another namespace")]
fn evict(name: &str, body: &str) -> String {
    outcome("POST", &format!("/api/v1/namespaces/ns/pods/{name}/eviction"), body)
}

#[test_case("strategic", "p1", r#"{"metadata":{"uid":"U-p1"},"status":{"phase":"Running"}}"# => "passes"; "as kubelets do")]
#[test_case("strategic", "p1", r#"{"status":{"phase":"Running"}}"# => r#"passes, tied to the object {"metadata":{"uid":"U-p1"},"status":{"phase":"Running"}}"#; "without a uid")]
#[test_case("merge", "p1", r#"{"metadata":{"annotations":{"a":"b"},"finalizers":null}}"#
    => r#"passes, tied to the object {"metadata":{"annotations":{"a":"b"},"finalizers":null,"uid":"U-p1"}}"#; "annotations")]
#[test_case("json", "p1", r#"[{"op":"add","path":"/status/phase","value":"Running"}]"#
    => r#"passes, tied to the object [{"op":"test","path":"/metadata/uid","value":"U-p1"},{"op":"add","path":"/status/phase","value":"Running"}]"#; "json")]
#[test_case("json", "p1", r#"[{"op":"replace","path":"/metadata/uid","value":"U-p1"}]"#
    => r#"passes, tied to the version [{"op":"replace","path":"/metadata/uid","value":"U-p1"},{"op":"add","path":"/metadata/resourceVersion","value":"7"}]"#; "json uid")]
#[test_case("merge", "p1", r#"{"metadata":{"labels":{"app":"a"}}}"# => r#"passes, tied to the version {"metadata":{"labels":{"app":"a"},"resourceVersion":"7"}}"#; "labels as they are")]
#[test_case("strategic", "p1", r#"{"metadata":{"uid":"V"}}"# => r#"422 Pod "p1" is invalid: metadata.uid: Invalid value: "V": field is immutable Pod"#; "another of the name")]
#[test_case("strategic", "p2", r#"{"status":{}}"# => r#"403 pods "p2" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself pods"#; "of another node")]
#[test_case("merge", "p2", r#"{"metadata":{"labels":{"app":"a"}}}"# => r#"403 pods "p2" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself pods"#; "labels of another node's")]
#[test_case("merge", "p2", r#"{"metadata":{"labels":{}},"spec":{"nodeName":"n1"}}"# => r#"403 pods "p2" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself pods"#; "of another node, taken over")]
#[test_case("strategic", "nosuch", r#"{"status":{}}"# => r#"404 pods "nosuch" not found pods"#; "missing")]
#[test_case("merge", "nosuch", r#"{"metadata":{"labels":null}}"# => r#"404 pods "nosuch" not found pods"#; "labels of a missing one")]
#[test_case("merge", "p1", r#"{"metadata":{"labels":{"b":""}}}"# => r#"403 pods "p1" is forbidden: node "n1" cannot update labels through pod status pods"#; "label added")]
#[test_case("merge", "p1", r#"{"metadata":{"labels":null}}"# => r#"403 pods "p1" is forbidden: node "n1" cannot update labels through pod status pods"#; "labels removed")]
#[test_case("strategic", "p1", r#"{"status":{"$setElementOrder/resourceClaimStatuses":[{"name":"b"},{"name":"a"}]}}"# => r#"403 pods "p1" is forbidden: node "n1" cannot update resource claim statues pods"#; "claims in another order")]
#[test_case("strategic", "p1", r#"{"status":{"resourceClaimStatuses":[{"name":"b","resourceClaimName":""}]}}"# => r#"403 pods "p1" is forbidden: node "n1" cannot update resource claim statues pods"#; "claim with an empty name")]
#[test_case("merge", "p1", r#"{"status":null}"# => r#"403 pods "p1" is forbidden: node "n1" cannot update resource claim statues pods"#; "no status")]
#[test_case("json", "p1", r#"[{"op":"remove","path":"/status/extendedResourceClaimStatus"}]"# => r#"403 pods "p1" is forbidden: node "n1" cannot update extended resource claim status pods"#; "no extended claim")]
#[test_case("merge", "p1", r#"{"status":{"extendedResourceClaimStatus":{"resourceClaimName":"x"}}}"# => r#"403 pods "p1" is forbidden: node "n1" cannot update extended resource claim status pods"#; "another extended claim")]
#[test_case("merge", "m1", r#"{"status":{"resourceClaimStatuses":[{"name":"a"}]}}"# => r#"403 pods "m1" is forbidden: node "n1" cannot update resource claim statues pods"#; "claims of a mirror")]
#[test_case("merge", "p1", r#"{"metadata":{"annotations":{"kubernetes.io/config.mirror":""}}}"#
    => r#"422 Pod "p1" is invalid: metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation Pod"#; "made a mirror")]
#[test_case("merge", "m1", r#"{"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}}"#
    => r#"422 Pod "m1" is invalid: metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation Pod"#; "mirror changed")]
#[test_case("strategic", "m1", r#"{"metadata":{"annotations":{"$patch":"delete"}}}"#
    => r#"422 Pod "m1" is invalid: metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation Pod"#; "no mirror any more")]
#[test_case("apply", "p1", r#"{"metadata":{"name":"p1"}}"#
    => "415 the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json"; "apply")]
fn status(kind: &str, name: &str, body: &str) -> String {
    patched(kind, &format!("/api/v1/namespaces/ns/pods/{name}/status"), body)
}

const PUT: &str = r#"{"metadata": {"name": "p1", "namespace": "ns", "uid": "U-p1", "resourceVersion": "7", "labels": {"app": "a"}},
    "status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "a-1"}, {"name": "b"}], "extendedResourceClaimStatus": {
    "requestMappings": [{"containerName": "c", "resourceName": "r", "requestName": "q"}], "resourceClaimName": "e-1"}}}"#;

#[test_case(&["spec"], json!(null) => "passes"; "the same")]
#[test_case(&["metadata", "labels"], json!({}) => r#"403 pods "p1" is forbidden: node "n1" cannot update labels through pod status pods"#; "labels")]
#[test_case(&["status", "resourceClaimStatuses", "0", "resourceClaimName"], json!("x") => r#"403 pods "p1" is forbidden: node "n1" cannot update resource claim statues pods"#; "claim")]
#[test_case(&["status", "resourceClaimStatuses", "1", "newField"], json!(true) => r#"403 pods "p1" is forbidden: node "n1" cannot update resource claim statues pods"#; "something new about a claim")]
#[test_case(&["status", "extendedResourceClaimStatus", "requestMappings"], json!([]) => r#"403 pods "p1" is forbidden: node "n1" cannot update extended resource claim status pods"#; "mappings")]
#[test_case(&["metadata", "annotations"], json!({"kubernetes.io/config.mirror": ""})
    => r#"422 Pod "p1" is invalid: metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation Pod"#; "made a mirror")]
#[test_case(&["metadata", "name"], json!("p2") => "400 the name of the object (p2) does not match the name on the URL (p1)"; "another name")]
#[test_case(&["metadata", "namespace"], json!("other") => "400 the namespace of the provided object does not match the namespace sent on the request"; "another namespace")]
fn put(path: &[&str], value: serde_json::Value) -> String {
    outcome("PUT", STATUS, &with(PUT, path, value))
}

/// What kubelets send all day costs no question.
#[test]
fn the_graph_is_enough_for_own_pods() {
    let world = World::default();
    let options = r#"{"preconditions": {"uid": "U-p1"}}"#;
    assert_eq!(told(&world, &upstream(), "DELETE", P1, options).1, [""; 0]);
    let status = br#"{"metadata":{"uid":"U-p1"},"status":{}}"#;
    let (_, questions) = ask(
        &world,
        (&world.graph(), true),
        &upstream(),
        "PATCH",
        STATUS,
        PATCHES[2].1,
        status,
    );
    assert_eq!(questions, [""; 0]);
    let other = r#"{"preconditions": {"uid": "V"}}"#;
    assert_eq!(
        told(&world, &upstream(), "DELETE", P1, other).1,
        ["pod ns/p1"],
        "the graph may be behind"
    );
}

/// Not even as a rehearsal: what upstream says of it is nobody's business.
#[test]
fn nothing_is_tried_with_pods_of_other_nodes() {
    let world = World::default();
    let rules = upstream_with(|rules| rules.apply = true);
    let uri = "/api/v1/namespaces/ns/pods/p2/status";
    let (found, questions) = ask(
        &world,
        (&world.graph(), true),
        &rules,
        "PATCH",
        uri,
        APPLY,
        br#"{"metadata":{"name":"p2"}}"#,
    );
    assert!(found.starts_with("403 "), "{found}");
    assert_eq!(questions, ["stored"]);
}
