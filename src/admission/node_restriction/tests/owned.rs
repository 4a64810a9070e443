use test_case::test_case;

use super::*;

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const LEASE: &str = r#"403 leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node leases"#;
const CSI_NODES: &str = "/apis/storage.k8s.io/v1/csinodes";
const CSI_NODE: &str = r#"403 csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node csinodes"#;
const SLICES: &str = "/apis/resource.k8s.io/v1/resourceslices";

#[test_case("POST", "", r#"{"metadata": {"name": "n1"}}"# => "passes"; "create")]
#[test_case("POST", "", r#"{"metadata": {"name": "n2"}}"# => LEASE; "create of another's")]
#[test_case("POST", "", r#"{"metadata": {"generateName": "n"}}"#
    => r#"403 leases.coordination.k8s.io "n" is forbidden: can only access node lease with the same name as the requesting node leases"#; "create of any")]
#[test_case("PUT", "/n1", r#"{"metadata": {"name": "n1"}}"# => "passes"; "update")]
#[test_case("PUT", "/n2", r#"{"metadata": {"name": "n1"}}"# => LEASE; "update of another's")]
#[test_case("DELETE", "/n1", "" => "passes"; "delete")]
#[test_case("DELETE", "/n2", "" => LEASE; "delete of another's")]
#[test_case("DELETE", "", ""
    => r#"403 leases.coordination.k8s.io "Unknown" is forbidden: can only access node lease with the same name as the requesting node leases"#; "delete of all")]
fn leases(method: &str, name: &str, body: &str) -> String {
    outcome(method, &format!("{LEASES}{name}"), body)
}

#[test_case("POST", "", r#"{"metadata": {"name": "n1"}}"#; "create")]
#[test_case("PUT", "/n1", r#"{"metadata": {"name": "n1"}}"#; "update")]
#[test_case("DELETE", "/n1", ""; "delete")]
fn leases_elsewhere(method: &str, name: &str, body: &str) {
    let found = outcome(
        method,
        &format!("/apis/coordination.k8s.io/v1/namespaces/ns/leases{name}"),
        body,
    );
    let refused = r#"403 leases.coordination.k8s.io "n1" is forbidden: can only access leases in the "kube-node-lease" system namespace leases"#;
    assert_eq!(found, refused);
}

#[test_case("POST", "", r#"{"metadata": {"name": "n1"}}"# => "passes"; "create")]
#[test_case("POST", "", r#"{"metadata": {"name": "n2"}}"# => CSI_NODE; "create of another's")]
#[test_case("PUT", "/n1", r#"{"metadata": {"name": "n1"}}"# => "passes"; "update")]
#[test_case("PUT", "/n2", r#"{"metadata": {"name": "n2"}}"# => CSI_NODE; "update of another's")]
#[test_case("DELETE", "/n1", "" => "passes"; "delete")]
#[test_case("DELETE", "/n2", "" => CSI_NODE; "delete of another's")]
fn csi_nodes(method: &str, name: &str, body: &str) -> String {
    outcome(method, &format!("{CSI_NODES}{name}"), body)
}

#[test_case("POST", "", r#"{"metadata": {"name": "s"}, "spec": {"nodeName": "n1"}}"# => "passes"; "create")]
#[test_case("POST", "", r#"{"metadata": {"name": "s"}, "spec": {"nodeName": "n2"}}"#
    => r#"403 resourceslices.resource.k8s.io "s" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node resourceslices"#; "create of another's")]
#[test_case("POST", "", r#"{"metadata": {"name": "s"}}"#
    => r#"403 resourceslices.resource.k8s.io "s" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node resourceslices"#; "create of nobody's")]
#[test_case("PUT", "/sl2", "" => "away"; "update")]
#[test_case("DELETE", "/sl1", "" => "passes, tied to the object uid=SL1"; "delete")]
#[test_case("DELETE", "/sl1", r#"{"preconditions": {"uid": "SL1"}}"# => "passes"; "delete by uid")]
#[test_case("DELETE", "/sl1", r#"{"gracePeriodSeconds": 0}"# => r#"passes, tied to the object {"gracePeriodSeconds":0,"preconditions":{"uid":"SL1"}}"#; "delete with options")]
#[test_case("DELETE", "/sl1", r#"{"preconditions": {"uid": "V"}}"#
    => r#"409 Operation cannot be fulfilled on ResourceSlice.resource.k8s.io "sl1": the UID in the precondition (V) does not match the UID in record (SL1). The object might have been deleted and then recreated ResourceSlice"#; "delete of another of the name")]
#[test_case("DELETE", "/sl2", ""
    => r#"403 resourceslices.resource.k8s.io "sl2" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node resourceslices"#; "delete of another's")]
#[test_case("DELETE", "/all", ""
    => r#"403 resourceslices.resource.k8s.io "all" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node resourceslices"#; "delete of everybody's")]
#[test_case("DELETE", "/none", "" => r#"404 resourceslices.resource.k8s.io "none" not found resourceslices"#; "delete of none")]
#[test_case("DELETE", "?fieldSelector=spec.nodeName%3Dn1,spec.driver%3Dd", "" => "passes"; "delete of all its own")]
#[test_case("DELETE", "?fieldSelector=spec.nodeName%3Dn2", ""
    => r#"403 resourceslices.resource.k8s.io "Unknown" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node resourceslices"#; "delete of all of another's")]
#[test_case("DELETE", "", ""
    => r#"403 resourceslices.resource.k8s.io "Unknown" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node resourceslices"#; "delete of all")]
fn slices(method: &str, name: &str, body: &str) -> String {
    outcome(method, &format!("{SLICES}{name}"), body)
}

const NO_APPLY: &str = "415 the body of the request was in an unknown format - accepted media types include: \
     application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json";

/// Applied to what is not there, it would be created, for whatever node it says.
#[test_case("merge", r#"{"metadata": {"labels": {"a": "b"}}}"# => "passes"; "merge")]
#[test_case("json", r#"[{"op": "remove", "path": "/metadata/labels"}]"# => "passes"; "json")]
#[test_case("apply", r#"{"metadata": {"name": "sl1"}, "spec": {"nodeName": "n1"}}"# => NO_APPLY; "apply")]
fn slices_are_patched_but_not_applied(kind: &str, body: &str) -> String {
    patched(kind, &format!("{SLICES}/sl1"), body)
}

#[test_case("/sl2", r#"403 resourceslices.resource.k8s.io "sl2" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node resourceslices"#; "another's")]
#[test_case("/nosuch", r#"404 resourceslices.resource.k8s.io "nosuch" not found resourceslices"#; "none")]
fn an_allowed_apply_creates_no_slice(name: &str, expected: &str) {
    let world = World {
        rehearsed: br#"{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"uid":"SL2"}}"#
            .to_vec()
            .into(),
        ..World::default()
    };
    let rules = upstream_with(|rules| rules.apply = true);
    let uri = format!("{SLICES}{name}");
    let body = br#"{"metadata":{"name":"x"},"spec":{"nodeName":"n1"}}"#;
    assert_eq!(
        ask(&world, (&world.graph(), true), &rules, "PATCH", &uri, APPLY, body).0,
        expected
    );
}

#[test]
fn certificate_requests_are_not_applied() {
    let uri = "/apis/certificates.k8s.io/v1/certificatesigningrequests/csr-1";
    assert_eq!(patched("apply", uri, r#"{"metadata": {"name": "csr-1"}}"#), NO_APPLY);
}
