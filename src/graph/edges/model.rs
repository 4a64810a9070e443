//! Holds the edges of pods and persistent volumes to the typed model of Kubernetes: no field of theirs that can name an
//! object is forgotten, also not one that a newer API brings. And the one edge of certificate signing requests.
//!
//! Every field that can hold text is either listed in `fields.txt`, with a reason why it is no reference, or here; and every
//! path to one that is listed here either makes an edge, or has a reason why not.

mod schema;

use std::collections::BTreeSet;

use k8s_openapi::api::{certificates::v1::CertificateSigningRequest as FullRequest, core::v1 as full};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use self::schema::Model;
use super::{Asserts, CertificateSigningRequest, PersistentVolume, Pod, tests::told};
use crate::graph::{Kind, Template};

/// The fields that name an object, and the types that do it as a whole.
const REFERENCES: &[&str] = &[
    "AzureFilePersistentVolumeSource.secretName",
    "AzureFileVolumeSource.secretName",
    "ConfigMapEnvSource.name",
    "ConfigMapKeySelector.name",
    "ConfigMapProjection.name",
    "ConfigMapVolumeSource.name",
    "EphemeralVolumeSource",
    "GlusterfsPersistentVolumeSource.endpoints",
    "GlusterfsVolumeSource.endpoints",
    "LocalObjectReference.name",
    "NodeAllocatableResourceClaimStatus.resourceClaimName",
    "ObjectReference",
    "PersistentVolumeClaimVolumeSource.claimName",
    "PodExtendedResourceClaimStatus.resourceClaimName",
    "PodResourceClaim.resourceClaimName",
    "PodResourceClaim.resourceClaimTemplateName",
    "PodResourceClaimStatus.resourceClaimName",
    "PodSpec.nodeName",
    "PodSpec.serviceAccountName",
    "SecretEnvSource.name",
    "SecretKeySelector.name",
    "SecretProjection.name",
    "SecretReference",
    "SecretVolumeSource.secretName",
];

/// Where they are in a pod, and what they name there.
const POD: &[(&str, Kind)] = &[
    (
        "spec.containers[].env[].valueFrom.configMapKeyRef.name",
        Kind::ConfigMap,
    ),
    ("spec.containers[].env[].valueFrom.secretKeyRef.name", Kind::Secret),
    ("spec.containers[].envFrom[].configMapRef.name", Kind::ConfigMap),
    ("spec.containers[].envFrom[].secretRef.name", Kind::Secret),
    (
        "spec.ephemeralContainers[].env[].valueFrom.configMapKeyRef.name",
        Kind::ConfigMap,
    ),
    (
        "spec.ephemeralContainers[].env[].valueFrom.secretKeyRef.name",
        Kind::Secret,
    ),
    (
        "spec.ephemeralContainers[].envFrom[].configMapRef.name",
        Kind::ConfigMap,
    ),
    ("spec.ephemeralContainers[].envFrom[].secretRef.name", Kind::Secret),
    ("spec.imagePullSecrets[].name", Kind::Secret),
    (
        "spec.initContainers[].env[].valueFrom.configMapKeyRef.name",
        Kind::ConfigMap,
    ),
    ("spec.initContainers[].env[].valueFrom.secretKeyRef.name", Kind::Secret),
    ("spec.initContainers[].envFrom[].configMapRef.name", Kind::ConfigMap),
    ("spec.initContainers[].envFrom[].secretRef.name", Kind::Secret),
    ("spec.nodeName", Kind::Node),
    ("spec.resourceClaims[].resourceClaimName", Kind::ResourceClaim),
    ("spec.serviceAccountName", Kind::ServiceAccount),
    ("spec.volumes[].azureFile.secretName", Kind::Secret),
    ("spec.volumes[].cephfs.secretRef.name", Kind::Secret),
    ("spec.volumes[].cinder.secretRef.name", Kind::Secret),
    ("spec.volumes[].configMap.name", Kind::ConfigMap),
    ("spec.volumes[].csi.nodePublishSecretRef.name", Kind::Secret),
    ("spec.volumes[].ephemeral", Kind::PersistentVolumeClaim),
    ("spec.volumes[].flexVolume.secretRef.name", Kind::Secret),
    ("spec.volumes[].glusterfs.endpoints", Kind::Endpoints),
    ("spec.volumes[].iscsi.secretRef.name", Kind::Secret),
    (
        "spec.volumes[].persistentVolumeClaim.claimName",
        Kind::PersistentVolumeClaim,
    ),
    ("spec.volumes[].projected.sources[].configMap.name", Kind::ConfigMap),
    ("spec.volumes[].projected.sources[].secret.name", Kind::Secret),
    ("spec.volumes[].rbd.secretRef.name", Kind::Secret),
    ("spec.volumes[].scaleIO.secretRef.name", Kind::Secret),
    ("spec.volumes[].secret.secretName", Kind::Secret),
    ("spec.volumes[].storageos.secretRef.name", Kind::Secret),
    (
        "status.extendedResourceClaimStatus.resourceClaimName",
        Kind::ResourceClaim,
    ),
    ("status.resourceClaimStatuses[].resourceClaimName", Kind::ResourceClaim),
];

/// Where they are in a pod without giving anything, and why.
const NOT_IN_POD: &[(&str, &str)] = &[
    (
        "spec.resourceClaims[].resourceClaimTemplateName",
        "the claim that is made of it is named in the status",
    ),
    (
        "status.nodeAllocatableResourceClaimStatuses[].resourceClaimName",
        "repeats a claim that is named elsewhere",
    ),
];

/// Where they are in a persistent volume, and what they name there.
const VOLUME: &[(&str, Kind)] = &[
    ("spec.azureFile.secretName", Kind::Secret),
    ("spec.cephfs.secretRef", Kind::Secret),
    ("spec.cinder.secretRef", Kind::Secret),
    ("spec.claimRef", Kind::PersistentVolumeClaim),
    ("spec.csi.nodeExpandSecretRef", Kind::Secret),
    ("spec.csi.nodePublishSecretRef", Kind::Secret),
    ("spec.csi.nodeStageSecretRef", Kind::Secret),
    ("spec.flexVolume.secretRef", Kind::Secret),
    ("spec.glusterfs.endpoints", Kind::Endpoints),
    ("spec.iscsi.secretRef", Kind::Secret),
    ("spec.rbd.secretRef", Kind::Secret),
    ("spec.scaleIO.secretRef", Kind::Secret),
    ("spec.storageos.secretRef", Kind::Secret),
];

/// Where they are in a persistent volume without giving anything, and why.
const NOT_IN_VOLUME: &[(&str, &str)] = &[
    (
        "spec.csi.controllerExpandSecretRef",
        "is for the controller of the driver, which is on no node in particular",
    ),
    (
        "spec.csi.controllerPublishSecretRef",
        "is for the controller of the driver, which is on no node in particular",
    ),
];

/// Where a certificate signing request names its node.
const REQUEST: (&str, Kind) = ("spec.username", Kind::Node);

/// Every path in a pod at which an object can be named.
pub(crate) fn references_of_a_pod() -> impl Iterator<Item = &'static str> {
    let none = NOT_IN_POD.iter().map(|(path, _)| *path);
    POD.iter().map(|(path, _)| *path).chain(none)
}

/// The fields of a volume of a pod, and of a part of a projected one.
pub(crate) fn fields_of_volumes() -> [BTreeSet<String>; 2] {
    [
        Model::of::<full::Volume>().fields(),
        Model::of::<full::VolumeProjection>().fields(),
    ]
}

#[test]
fn every_field_that_can_hold_text_is_a_reference_or_listed_as_none() {
    let mut known = BTreeSet::new();
    let listed = include_str!("model/fields.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    for (kind, fields) in listed.map(|line| line.split_once(": ").unwrap()) {
        for field in fields.split(' ') {
            assert!(
                known.insert(format!("{kind}.{field}")),
                "{kind}.{field} is listed twice"
            );
        }
    }
    for reference in REFERENCES {
        assert!(
            known.insert((*reference).to_owned()),
            "{reference} is listed as no reference"
        );
    }
    // Types are only of interest where they are a reference as a whole.
    let mut found = Model::of::<full::Pod>().text_fields();
    found.extend(Model::of::<full::PersistentVolume>().text_fields());
    found.retain(|at| at.contains('.') || known.contains(at));
    let missing: Vec<_> = found.difference(&known).collect();
    assert!(
        missing.is_empty(),
        "can hold text; do they name something that a node needs? {missing:#?}"
    );
    let stale: Vec<_> = known.difference(&found).collect();
    assert!(stale.is_empty(), "there are none of these: {stale:#?}");
}

#[test]
fn every_path_to_a_reference_makes_an_edge_or_has_a_reason_not_to() {
    for (model, edges, none) in [
        (Model::of::<full::Pod>(), POD, NOT_IN_POD),
        (Model::of::<full::PersistentVolume>(), VOLUME, NOT_IN_VOLUME),
    ] {
        let known = edges
            .iter()
            .map(|(path, _)| path)
            .chain(none.iter().map(|(path, _)| path));
        let known: BTreeSet<String> = known.map(|path| (*path).to_owned()).collect();
        assert_eq!(known.len(), edges.len() + none.len());
        let found = model.paths_to(REFERENCES);
        let missing: Vec<_> = found.difference(&known).collect();
        assert!(missing.is_empty(), "not thought of: {missing:#?}");
        let stale: Vec<_> = known.difference(&found).collect();
        assert!(stale.is_empty(), "there are none of these: {stale:#?}");
    }
}

#[test]
fn every_template_is_the_path_of_a_reference() {
    let all = POD.iter().chain(VOLUME).chain([&REQUEST]);
    let mut paths: BTreeSet<&str> = all.map(|(path, _)| *path).collect();
    // Where a pod is needs no edge of its own.
    paths.insert("metadata.namespace");
    let garden = super::garden::paths();
    paths.extend(garden.iter().map(String::as_str));
    let templates: BTreeSet<&str> = Template::paths().iter().copied().collect();
    assert_eq!(templates, paths);
    assert_eq!(templates.len(), Template::paths().len());
}

#[test]
fn a_reference_in_a_pod_makes_that_edge_and_no_other() {
    assert_eq!(edges_of::<Pod, full::Pod>(&pod()), [""; 0]);
    for (path, kind) in POD {
        let mut object = pod();
        refer(&mut object, path);
        assert_eq!(edges_of::<Pod, full::Pod>(&object), [edge(path, *kind)], "{path}");

        object["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": ""});
        object["spec"]["nodeName"] = json!("n1");
        let mirror = edges_of::<Pod, full::Pod>(&object);
        assert_eq!(mirror, ["BelongsTo node n1 by spec.nodeName"], "{path} of a mirror pod");
    }
    for (path, reason) in NOT_IN_POD {
        let mut object = pod();
        refer(&mut object, path);
        assert_eq!(edges_of::<Pod, full::Pod>(&object), [""; 0], "{path} {reason}");
    }
}

#[test]
fn a_reference_in_a_persistent_volume_makes_that_edge_and_no_other() {
    let claim = "BelongsTo persistentvolumeclaim there/x by spec.claimRef";
    for (path, kind) in VOLUME {
        let mut unclaimed = json!({"metadata": {"name": "pv1"}});
        refer(&mut unclaimed, path);
        let mut claimed = unclaimed.clone();
        refer(&mut claimed, "spec.claimRef");
        let expected = BTreeSet::from([claim.to_owned(), edge(path, *kind)]);
        let found = edges_of::<PersistentVolume, full::PersistentVolume>(&claimed);
        assert_eq!(found, Vec::from_iter(expected), "{path}");
        if *path != "spec.claimRef" {
            let found = edges_of::<PersistentVolume, full::PersistentVolume>(&unclaimed);
            assert_eq!(found, [""; 0], "{path} of a volume that nobody claims");
        }
    }
    for (path, reason) in NOT_IN_VOLUME {
        let mut object = json!({"metadata": {"name": "pv1"}});
        refer(&mut object, "spec.claimRef");
        refer(&mut object, path);
        let found = edges_of::<PersistentVolume, full::PersistentVolume>(&object);
        assert_eq!(found, [claim], "{path} {reason}");
    }
}

#[test]
fn a_certificate_signing_request_is_of_the_node_that_made_it() {
    let told = |username: &str, groups: &[&str]| {
        let spec = json!({
            "request": "", "signerName": "kubernetes.io/kubelet-serving", "uid": "u", "usages": ["client auth"],
            "username": username, "groups": groups, "extra": {"system:node:n2": ["system:nodes"]},
        });
        let object = json!({"metadata": {"name": "csr-1", "namespace": null}, "spec": spec});
        edges_of::<CertificateSigningRequest, FullRequest>(&object)
    };
    let (path, kind) = REQUEST;
    let expected = format!("BelongsTo {} n1 by {path}", kind.as_str());
    let both = ["system:authenticated", "system:nodes"];
    assert_eq!(told("system:node:n1", &both), [expected]);
    for (username, groups) in [
        ("system:node:n1", &[][..]),
        ("system:node:n1", &["system:authenticated"]),
        ("system:node:n1", &["system:nodes:n1", "nodes"]),
        ("system:node:", &both),
        ("system:node", &both),
        ("System:node:n1", &both),
        ("n1", &both),
        ("system:bootstrap:abcdef", &["system:bootstrappers"]),
        ("", &both),
    ] {
        assert_eq!(told(username, groups), [""; 0], "{username} {groups:?}");
    }
}

/// Refers to nothing, but has what some references only count with: a volume with a name, and a claim made of a template.
fn pod() -> Value {
    json!({
        "metadata": {"namespace": "there", "name": "p"},
        "spec": {
            "resourceClaims": [{"name": "made", "resourceClaimTemplateName": "t"}],
            "volumes": [{}, {"name": "x"}],
        },
        "status": {"resourceClaimStatuses": [{}, {"name": "made"}]},
    })
}

/// Writes a reference to x at the path: into the second entry of the first list on the way, and the third of the next.
pub(crate) fn refer(object: &mut Value, path: &str) {
    let mut at = object;
    let mut index = 0;
    for part in path.split('.') {
        let list = part.strip_suffix("[]");
        at = &mut at[list.unwrap_or(part)];
        if list.is_some() {
            index += 1;
            if at.is_null() {
                *at = json!([]);
            }
            let entries = at.as_array_mut().unwrap();
            entries.resize_with(entries.len().max(index + 1), || json!({}));
            at = &mut entries[index];
        }
    }
    *at = match path {
        _ if path.ends_with("Ref") => json!({"namespace": "there", "name": "x"}),
        _ if path.ends_with("ephemeral") => json!({"volumeClaimTemplate": {"spec": {"volumeName": "y"}}}),
        _ => json!("x"),
    };
}

/// The edge that [`refer`] is to make.
fn edge(path: &str, kind: Kind) -> String {
    let field = path.replacen("[]", "[1]", 1).replacen("[]", "[2]", 1);
    let belongs = match field.as_str() {
        "spec.claimRef" | "spec.nodeName" => "BelongsTo",
        _ => "Needs",
    };
    let name = match kind {
        Kind::Node => "x",
        _ if path.ends_with("ephemeral") => "there/p-x",
        _ => "there/x",
    };
    format!("{belongs} {} {name} by {field}", kind.as_str())
}

/// The edges of an object, of which there must be the same if it went through Kubernetes' own type.
fn edges_of<T: Asserts + DeserializeOwned, Full: DeserializeOwned + Serialize>(object: &Value) -> Vec<String> {
    let found = told::<T>(object);
    let full: Full = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(told::<T>(&serde_json::to_value(full).unwrap()), found, "{object}");
    found
}
