//! Everything of a cluster that is not a pod.

use serde_json::{Value, json};

use super::words::{CLAIMS, CROWD, NAMES, NAMESPACES, NODES, VOLUME_SECRETS, maybe, reference};
use crate::random::Random;

/// With every kind of source that has a secret, claimed or not. Rarely with two sources, which kube-apiserver would refuse.
pub(super) fn persistent_volume(random: &mut Random, name: &str) -> Value {
    let mut spec = source(random);
    if random.one_in(20)
        && let (Value::Object(spec), Value::Object(mut second)) = (&mut spec, source(random))
    {
        spec.append(&mut second);
    }
    if !random.one_in(5) {
        let claim = if random.one_in(10) {
            CROWD
        } else {
            maybe(random, CLAIMS)
        };
        spec["claimRef"] = json!({"namespace": maybe(random, NAMESPACES), "name": claim, "uid": "u"});
    }
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
}

fn source(random: &mut Random) -> Value {
    let secret = secret(random);
    match random.below(12) {
        0 | 1 => match random.below(3) {
            0 => json!({"azureFile": {"secretName": maybe(random, VOLUME_SECRETS), "shareName": "s"}}),
            1 => {
                json!({"azureFile": {"secretName": maybe(random, VOLUME_SECRETS), "shareName": "s", "secretNamespace": ""}})
            }
            _ => {
                let namespace = random.pick(NAMESPACES);
                json!({"azureFile": {"secretName": maybe(random, VOLUME_SECRETS), "shareName": "s", "secretNamespace": namespace}})
            }
        },
        2 => json!({"cephfs": {"monitors": [], "secretRef": secret}}),
        3 => json!({"cinder": {"volumeID": "v", "secretRef": secret}}),
        4 | 5 => json!({"csi": {
            "driver": reference(random),
            "volumeHandle": "h",
            "controllerExpandSecretRef": self::secret(random),
            "controllerPublishSecretRef": self::secret(random),
            "nodeExpandSecretRef": self::secret(random),
            "nodePublishSecretRef": self::secret(random),
            "nodeStageSecretRef": secret,
        }}),
        6 => json!({"flexVolume": {"driver": "d", "secretRef": secret}}),
        7 => json!({"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0, "secretRef": secret}}),
        8 => json!({"rbd": {"monitors": [], "image": "i", "secretRef": secret}}),
        9 => json!({"scaleIO": {"gateway": "g", "system": "s", "secretRef": secret}}),
        10 => json!({"storageos": {"secretRef": secret}}),
        _ => json!({"nfs": {"server": reference(random), "path": "/"}}),
    }
}

/// Some say where it is, some do not, some are not there.
fn secret(random: &mut Random) -> Value {
    let name = maybe(random, VOLUME_SECRETS);
    match random.below(6) {
        0 => Value::Null,
        1 => json!({"name": name}),
        2 => json!({"name": name, "namespace": ""}),
        _ => json!({"name": name, "namespace": random.pick(NAMESPACES)}),
    }
}

pub(super) fn attachment(random: &mut Random, name: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {"attacher": "d", "nodeName": maybe(random, NODES), "source": {"persistentVolumeName": reference(random)}},
    })
}

/// Some are for no single node.
pub(super) fn slice(random: &mut Random, name: &str) -> Value {
    let node = (!random.one_in(4)).then(|| random.pick(NODES));
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": "d", "nodeName": node, "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}},
    })
}

pub(super) fn certificate_request(random: &mut Random, namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "certificates.k8s.io/v1beta1",
        "kind": "PodCertificateRequest",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"nodeName": random.pick(NODES), "podName": reference(random), "serviceAccountName": reference(random)},
    })
}

/// What the gate watches for other reasons, and what must not matter here.
pub(super) fn bystander(random: &mut Random, namespace: &str, name: &str) -> Value {
    match random.below(3) {
        0 => json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": namespace, "name": random.pick(CLAIMS)},
            "spec": {"volumeName": random.pick(NAMES)},
        }),
        1 => json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"namespace": namespace, "name": name}}),
        _ => json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": random.pick(NODES)}}),
    }
}
