use serde_json::{Value, json};
use test_case::test_case;

use super::{
    super::mirror::sources::{PROJECTIONS, Source, VOLUMES},
    *,
};
use crate::graph::model;

const PODS: &str = "/api/v1/namespaces/ns/pods";

fn pod() -> Value {
    json!({
        "metadata": {
            "name": "m", "annotations": {"kubernetes.io/config.mirror": "hash"}, "labels": {"any": "label"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "N1", "controller": true}],
        },
        "spec": {"nodeName": "n1", "containers": [{"env": [{"name": "a"}]}], "volumes": [{"name": "v", "hostPath": {"path": "/"}}]},
    })
}

fn owner() -> Value {
    pod()["metadata"]["ownerReferences"][0].clone()
}

fn refused(why: &str) -> String {
    format!(r#"403 pods "m" is forbidden: {why} pods"#)
}

fn create(path: &[&str], value: Value) -> String {
    outcome("POST", PODS, &with(&pod().to_string(), path, value))
}

#[test_case(&["apiVersion"], json!("v1") => "passes"; "as it is")]
#[test_case(&["metadata", "annotations", "kubernetes.io/config.mirror"], json!("") => "passes"; "empty annotation")]
#[test_case(&["metadata", "annotations"], json!({"a": "b"})
    => refused(r#"pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods"#); "no mirror")]
#[test_case(&["metadata", "annotations"], json!(null)
    => refused(r#"pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods"#); "no annotations")]
#[test_case(&["spec", "nodeName"], json!("n2") => refused(r#"node "n1" can only create pods with spec.nodeName set to itself"#); "on another node")]
#[test_case(&["spec", "nodeName"], json!(null) => refused(r#"node "n1" can only create pods with spec.nodeName set to itself"#); "on no node")]
#[test_case(&["metadata", "ownerReferences"], json!([]) => refused(r#"node "n1" can only create pods with an owner reference set to itself"#); "no owner")]
#[test_case(&["metadata", "ownerReferences"], json!([owner(), {"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "N2"}])
    => refused(r#"node "n1" can only create pods with a single owner reference set to itself"#); "two owners")]
#[test_case(&["metadata", "ownerReferences"], json!([owner(), owner()]) => "passes"; "the same owner twice")]
#[test_case(&["metadata", "ownerReferences", "0", "apiVersion"], json!("v2") => refused(r#"node "n1" can only create pods with an owner reference set to itself"#); "owner of another version")]
#[test_case(&["metadata", "ownerReferences", "0", "kind"], json!("Pod") => refused(r#"node "n1" can only create pods with an owner reference set to itself"#); "owner of another kind")]
#[test_case(&["metadata", "ownerReferences", "0", "name"], json!("n2") => refused(r#"node "n1" can only create pods with an owner reference set to itself"#); "another owner")]
#[test_case(&["metadata", "ownerReferences", "0", "controller"], json!(null) => refused(r#"node "n1" can only create pods with a controller owner reference set to itself"#); "owner that does not control")]
#[test_case(&["metadata", "ownerReferences", "0", "controller"], json!(false) => refused(r#"node "n1" can only create pods with a controller owner reference set to itself"#); "owner that is said not to control")]
#[test_case(&["metadata", "ownerReferences", "0", "blockOwnerDeletion"], json!(true) => refused(r#"node "n1" must not set blockOwnerDeletion on an owner reference"#); "owner that is held back")]
#[test_case(&["metadata", "ownerReferences", "0", "blockOwnerDeletion"], json!(false) => "passes"; "owner that is not held back")]
#[test_case(&["metadata", "ownerReferences", "0", "uid"], json!("V") => refused("node n1 UID mismatch: expected V got N1"); "another of the name")]
#[test_case(&["metadata", "namespace"], json!("other") => "400 the namespace of the provided object does not match the namespace sent on the request"; "another namespace")]
fn is_created(path: &[&str], value: Value) -> String {
    create(path, value)
}

#[test]
fn without_its_node() {
    let mut world = World::default();
    world.objects.clear();
    let (found, _) = told(&world, &upstream(), "POST", PODS, &pod().to_string());
    assert_eq!(found, r#"404 node "n1" not found node"#);
}

#[test_case(&["spec", "serviceAccountName"], json!("sa") => "serviceaccounts"; "service account")]
#[test_case(&["spec", "serviceAccount"], json!("sa") => "serviceaccounts"; "service account by its old name")]
#[test_case(&["spec", "imagePullSecrets"], json!([{"name": "s"}]) => "secrets"; "pull secret")]
#[test_case(&["spec", "imagePullSecrets"], json!([{"name": ""}]) => ""; "pull secret without a name")]
#[test_case(&["spec", "initContainers"], json!([{"envFrom": [{"configMapRef": {"name": "c"}}]}]) => "configmaps"; "config map")]
#[test_case(&["spec", "resourceClaims"], json!([{"name": "c", "resourceClaimName": "c"}]) => "resourceclaims"; "claim")]
#[test_case(&["status"], json!({"resourceClaimStatuses": [{"name": "c"}]}) => "resourceclaims"; "state of a claim")]
#[test_case(&["status"], json!({"extendedResourceClaimStatus": {}}) => "resourceclaims"; "state of an extended claim")]
fn refers(path: &[&str], value: Value) -> String {
    reference(&create(path, value))
}

#[test_case(json!({}) => ""; "no source")]
#[test_case(json!({"emptyDir": {}}) => ""; "empty directory")]
#[test_case(json!({"cephfs": {}}) => ""; "outside")]
#[test_case(json!({"cephfs": {"secretRef": {"name": "s"}}}) => "secrets"; "outside by a secret")]
#[test_case(json!({"configMap": {}}) => "configmaps (via configmap volumes)"; "config map without a name")]
#[test_case(json!({"configMap": {"name": "c"}}) => "configmaps"; "config map")]
#[test_case(json!({"secret": {}}) => "secrets (via secret volumes)"; "secret without a name")]
#[test_case(json!({"csi": {"driver": "d"}}) => "csidrivers (via CSI volumes)"; "csi")]
#[test_case(json!({"glusterfs": {}}) => "endpoints (via glusterFS volumes)"; "glusterfs")]
#[test_case(json!({"persistentVolumeClaim": {"claimName": "c"}}) => "persistentvolumeclaims"; "claim")]
#[test_case(json!({"ephemeral": {}}) => "persistentvolumeclaims (via ephemeral volumes)"; "ephemeral")]
#[test_case(json!({"azureFile": {}}) => "secrets (via azureFile volumes)"; "azure file")]
#[test_case(json!({"emptyDir": {}, "ephemeral": {}}) => "persistentvolumeclaims (via ephemeral volumes)"; "hidden behind another source")]
#[test_case(json!({"projected": {}}) => ""; "projected from nothing")]
#[test_case(json!({"projected": {"sources": [{"downwardAPI": {}}]}}) => ""; "projected from the pod")]
#[test_case(json!({"projected": {"sources": [{"downwardAPI": {}}, {"configMap": {}}]}}) => "configmaps (via projected volumes)"; "projected config map")]
#[test_case(json!({"projected": {"sources": [{"secret": {}}]}}) => "secrets (via projected volumes)"; "projected secret")]
#[test_case(json!({"projected": {"sources": [{"serviceAccountToken": {}}]}}) => "serviceaccounts (via projected volumes)"; "projected token")]
#[test_case(json!({"projected": {"sources": [{"clusterTrustBundle": {}}]}}) => "clustertrustbundles"; "projected bundle")]
#[test_case(json!({"projected": {"sources": [{"podCertificate": {}}]}}) => "podcertificates"; "projected certificate")]
#[test_case(json!({"projected": {"sources": [{"downwardAPI": {}, "secret": {}}]}}) => "secrets (via projected volumes)"; "projected behind another source")]
#[test_case(json!({"projected": {"sources": [{}]}}) => "unknown source for projected volume \"v\""; "projected from nowhere")]
#[test_case(json!({"projected": {"sources": [{"newSource": {}}]}}) => "unknown source for projected volume \"v\""; "projected from something new")]
#[test_case(json!({"projected": {"sources": [{"downwardAPI": {}, "newSource": {}}]}}) => "unknown source for projected volume \"v\""; "projected from something new behind another")]
#[test_case(json!({"newSource": {}}) => "unknown volume type for volume  \"v\""; "something new")]
#[test_case(json!({"hostPath": {}, "newSource": {}}) => "unknown volume type for volume  \"v\""; "something new behind another")]
fn volume(mut volume: Value) -> String {
    volume["name"] = json!("v");
    reference(&create(
        &["spec", "volumes"],
        json!([{"name": "first", "image": {}}, volume]),
    ))
}

/// What a refusal says that a pod refers to; nothing if it passes.
fn reference(found: &str) -> String {
    let before = [
        r#"403 pods "m" is forbidden: node "n1" can not create pods that reference "#,
        r#"403 pods "m" is forbidden: error checking mirror pod for API references: "#,
        "passes",
    ];
    let rest = before
        .iter()
        .find_map(|before| found.strip_prefix(before))
        .unwrap_or_else(|| panic!("{found}"));
    rest.strip_suffix(" pods").unwrap_or(rest).to_owned()
}

/// CVE-2023-2727, CVE-2024-3177 and others: somebody always forgets a place.
#[test]
fn no_field_that_can_name_an_object_passes() {
    let exceptions = [
        "spec.nodeName",
        // Would be dropped with the rest of the status, and gives nothing.
        "status.nodeAllocatableResourceClaimStatuses[].resourceClaimName",
    ];
    for path in model::references_of_a_pod().filter(|path| !exceptions.contains(path)) {
        let mut pod = pod();
        model::refer(&mut pod, path);
        let found = outcome("POST", PODS, &pod.to_string());
        assert_ne!(reference(&found), "", "{path}");
    }
}

#[test]
fn every_source_of_a_volume_is_known() {
    let [mut volumes, projections] = model::fields_of_volumes();
    volumes.remove("name");
    let names = |sources: &[Source]| sources.iter().map(|source| source.key.to_owned()).collect();
    assert_eq!(volumes, names(VOLUMES));
    assert_eq!(projections, names(PROJECTIONS));
}
