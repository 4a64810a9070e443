//! What a mirror pod can refer to, in every field that names something.

use serde_json::{Value, json};

use super::{Row, create};

pub(super) fn volumes(pods: &str, with: fn(&Value) -> Value) -> Vec<Row> {
    let projected = |source: Value| json!({"projected": {"sources": [source]}});
    let secret = json!({"name": "s1"});
    let rows = [
        (json!({}), 201, ""),
        (json!({"emptyDir": {}}), 201, ""),
        (json!({"hostPath": {"path": "/x"}}), 201, ""),
        (json!({"image": {"reference": "i"}}), 201, ""),
        (json!({"nfs": {"server": "s", "path": "/p"}}), 201, ""),
        (json!({"awsElasticBlockStore": {"volumeID": "v"}}), 201, ""),
        (
            json!({"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}}),
            201,
            "",
        ),
        (
            projected(json!({"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}})),
            201,
            "",
        ),
        (json!({"configMap": {"name": "cm1"}}), 403, "configmaps"),
        (json!({"secret": {"secretName": "s1"}}), 403, "secrets"),
        (json!({"csi": {"driver": "d"}}), 403, "csidrivers (via CSI volumes)"),
        (
            json!({"csi": {"driver": "d", "nodePublishSecretRef": secret}}),
            403,
            "secrets",
        ),
        (
            json!({"glusterfs": {"endpoints": "e", "path": "p"}}),
            403,
            "endpoints (via glusterFS volumes)",
        ),
        (
            json!({"persistentVolumeClaim": {"claimName": "pvc1"}}),
            403,
            "persistentvolumeclaims",
        ),
        (
            json!({"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1"}}}}}}),
            403,
            "persistentvolumeclaims (via ephemeral volumes)",
        ),
        (
            json!({"azureFile": {"secretName": "s", "shareName": "n"}}),
            403,
            "secrets",
        ),
        (
            json!({"cephfs": {"monitors": ["m"], "secretRef": secret}}),
            403,
            "secrets",
        ),
        (json!({"cephfs": {"monitors": ["m"]}}), 201, ""),
        (
            json!({"cinder": {"volumeID": "v", "secretRef": secret}}),
            403,
            "secrets",
        ),
        (
            json!({"flexVolume": {"driver": "d/d", "secretRef": secret}}),
            403,
            "secrets",
        ),
        (
            json!({"rbd": {"monitors": ["m"], "image": "i", "secretRef": secret}}),
            403,
            "secrets",
        ),
        (
            json!({"scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": secret}}),
            403,
            "secrets",
        ),
        (
            json!({"iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:x", "lun": 0, "secretRef": secret}}),
            403,
            "secrets",
        ),
        (
            json!({"storageos": {"volumeName": "v", "secretRef": secret}}),
            403,
            "secrets",
        ),
        (projected(json!({"secret": {"name": "s1"}})), 403, "secrets"),
        (projected(json!({"configMap": {"name": "cm1"}})), 403, "configmaps"),
        (
            projected(json!({"serviceAccountToken": {"path": "t"}})),
            403,
            "ServiceAccountToken volume projections",
        ),
        (
            projected(json!({"clusterTrustBundle": {"name": "b", "path": "p"}})),
            403,
            "clustertrustbundles",
        ),
        (
            projected(
                json!({"podCertificate": {"signerName": "e.com/s", "keyType": "ED25519", "credentialBundlePath": "p"}}),
            ),
            403,
            "podcertificates",
        ),
        (
            projected(json!({})),
            403,
            "error checking mirror pod for API references: unknown source for projected volume \"v\"",
        ),
    ];
    let rows = rows.into_iter().map(|(mut source, code, text)| {
        let name = format!("mirror: volume {source}");
        source["name"] = json!("v");
        create(&name, pods, with(&json!({"/spec/volumes": [source]})), code, text)
    });
    rows.collect()
}

pub(super) fn containers(pods: &str, with: fn(&Value) -> Value) -> Vec<Row> {
    let container = |more: Value| {
        let mut container = json!({"name": "c2", "image": "i"});
        for (key, value) in more.as_object().unwrap() {
            container[key] = value.clone();
        }
        container
    };
    let env = |source: Value| json!({"env": [{"name": "X", "valueFrom": source}]});
    let references = [
        (json!({"envFrom": [{"secretRef": {"name": "s1"}}]}), "secrets"),
        (json!({"envFrom": [{"configMapRef": {"name": "cm1"}}]}), "configmaps"),
        (
            env(json!({"secretKeyRef": {"name": "s1", "key": "k", "optional": true}})),
            "secrets",
        ),
        (
            env(json!({"configMapKeyRef": {"name": "cm1", "key": "k"}})),
            "configmaps",
        ),
    ];
    let mut rows = Vec::new();
    for (reference, what) in references {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            let pod = with(&json!({format!("/spec/{list}"): [container(reference.clone())]}));
            rows.push(create(
                &format!("mirror: {list} with {reference}"),
                pods,
                pod,
                403,
                what,
            ));
        }
    }
    rows.push(create(
        "mirror: field of the pod",
        pods,
        with(&json!({"/spec/containers":
        [container(env(json!({"fieldRef": {"fieldPath": "metadata.name"}})))]})),
        201,
        "",
    ));
    rows
}
