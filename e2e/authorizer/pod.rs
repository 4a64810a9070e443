//! Pods, with every reference that one can have, and some that look like one.

use serde_json::{Map, Value, json};

use super::words::{CLAIMS, CROWD, NAMES, NODES, VOLUMES, maybe, reference};
use crate::random::Random;

/// The annotation by which a node says that it wrote the pod itself.
const MIRROR: &str = "kubernetes.io/config.mirror";
const TEMPLATES: &[&str] = &["gpu", "net"];

/// As it is created: perhaps bound already.
pub(super) fn pod(random: &mut Random, namespace: &str, name: &str, uid: usize) -> Value {
    let mirror = random.one_in(8);
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "uid": uid.to_string()},
        "spec": {"containers": list(random, 2, container), "serviceAccountName": reference(random)},
        "status": {"phase": "Pending"},
    });
    if mirror {
        let value = random.pick(&["", "checksum"]);
        pod["metadata"]["annotations"] = json!({"other": "x", MIRROR: value});
    } else if random.one_in(3) {
        pod["metadata"]["annotations"] = random
            .pick(&["null", "{}", r#"{"kubernetes.io/config.hash": "x"}"#])
            .parse()
            .unwrap();
    }
    let spec = pod["spec"].as_object_mut().unwrap();
    optional(random, spec, "initContainers", 2, container);
    optional(random, spec, "ephemeralContainers", 1, container);
    optional(
        random,
        spec,
        "imagePullSecrets",
        2,
        |random| json!({"name": reference(random)}),
    );
    optional(random, spec, "volumes", 8, volume);
    optional(random, spec, "resourceClaims", 3, resource_claim);
    if random.one_in(2) {
        pod["status"]["resourceClaimStatuses"] = claim_statuses(random);
    }
    if random.one_in(4) {
        extend(random, &mut pod);
    }
    if mirror || !random.one_in(4) {
        pod["spec"]["nodeName"] = random.pick(NODES).into();
    }
    pod
}

/// One of many that have the same needs, each once: see `passed_over`.
pub(super) fn one_of_a_crowd(random: &mut Random, namespace: &str, name: &str, uid: usize) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "uid": uid.to_string()},
        "spec": {
            "nodeName": random.pick(NODES),
            "serviceAccountName": CROWD,
            "volumes": [
                {"name": "s", "secret": {"secretName": CROWD}},
                {"name": "c", "configMap": {"name": CROWD}},
                {"name": "p", "persistentVolumeClaim": {"claimName": CROWD}},
            ],
        },
    })
}

/// The pod as it may be some time later. What it refers to changes only in these ways.
pub(super) fn later(random: &mut Random, mut pod: Value) -> Value {
    let bound = pod["spec"]["nodeName"].is_string();
    let mirror = pod["metadata"]["annotations"].get(MIRROR).is_some();
    match random.below(4) {
        0 if !bound => {
            if random.one_in(3) {
                extend(random, &mut pod);
            }
            pod["spec"]["nodeName"] = random.pick(NODES).into();
        }
        1 if !mirror => {
            let mut containers = list(random, 2, container);
            if let Some(before) = pod["spec"]["ephemeralContainers"].as_array() {
                containers.splice(..0, before.iter().cloned());
            }
            pod["spec"]["ephemeralContainers"] = containers.into();
        }
        2 => pod["status"]["resourceClaimStatuses"] = claim_statuses(random),
        _ => {
            pod["metadata"]["labels"] = json!({"app": reference(random)});
            pod["status"]["phase"] = random.pick(&["Running", "Succeeded", "Failed"]).into();
            if random.one_in(3) {
                pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
            }
        }
    }
    pod
}

fn extend(random: &mut Random, pod: &mut Value) {
    let name = reference(random);
    pod["status"]["extendedResourceClaimStatus"] = json!({"requestMappings": [], "resourceClaimName": name});
}

fn container(random: &mut Random) -> Value {
    let mut container = Map::new();
    optional(random, &mut container, "envFrom", 2, |random| {
        let from = json!({"name": reference(random), "optional": random.one_in(2)});
        one(random.pick(&["configMapRef", "secretRef"]), from)
    });
    optional(random, &mut container, "env", 3, |random| {
        let name = reference(random);
        let from = match random.below(5) {
            0 => json!({"configMapKeyRef": {"name": name, "key": "k"}}),
            1 => json!({"secretKeyRef": {"name": name, "key": "k"}}),
            2 => json!({"fieldRef": {"fieldPath": name}}),
            3 => json!({"fileKeyRef": {"volumeName": name, "path": name, "key": name}}),
            _ => Value::Null,
        };
        json!({"name": "V", "value": name, "valueFrom": from})
    });
    container.insert("name".to_owned(), "c".into());
    container.into()
}

/// One source; rarely two, which kube-apiserver would refuse.
fn volume(random: &mut Random) -> Value {
    let mut volume = source(random);
    if random.one_in(20) {
        volume.append(&mut source(random));
    }
    volume.insert("name".to_owned(), random.pick(VOLUMES).into());
    volume.into()
}

fn source(random: &mut Random) -> Map<String, Value> {
    let name = reference(random);
    let secret = if random.one_in(10) {
        Value::Null
    } else {
        json!({"name": name})
    };
    let source = match random.below(24) {
        0 => json!({"azureFile": {"secretName": name, "shareName": "s"}}),
        1 => json!({"cephfs": {"monitors": [], "secretRef": secret}}),
        2 => json!({"cinder": {"volumeID": "v", "secretRef": secret}}),
        3 => json!({"configMap": {"name": name, "optional": true}}),
        4 => json!({"csi": {"driver": name, "nodePublishSecretRef": secret}}),
        5 | 22 => json!({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}),
        6 => json!({"flexVolume": {"driver": "d", "secretRef": secret}}),
        7 => json!({"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0, "secretRef": secret}}),
        8 | 9 | 18..=21 => json!({"persistentVolumeClaim": {"claimName": maybe(random, CLAIMS)}}),
        10 => json!({"projected": {"sources": list(random, 3, projection)}}),
        11 => json!({"rbd": {"monitors": [], "image": "i", "secretRef": secret}}),
        12 => json!({"scaleIO": {"gateway": "g", "system": "s", "secretRef": secret}}),
        13 | 14 => json!({"secret": {"secretName": name, "optional": true}}),
        15 => json!({"storageos": {"volumeName": name, "secretRef": secret}}),
        16 => json!({"glusterfs": {"endpoints": name, "path": name}}),
        _ => random
            .pick(&[r#"{"emptyDir": {}}"#, "{}", r#"{"secret": null}"#])
            .parse()
            .unwrap(),
    };
    object(source)
}

fn projection(random: &mut Random) -> Value {
    let name = reference(random);
    match random.below(6) {
        0 | 1 => json!({"secret": {"name": name}}),
        2 | 3 => json!({"configMap": {"name": name}}),
        4 => json!({"clusterTrustBundle": {"name": name, "path": name}}),
        _ => json!({"serviceAccountToken": {"audience": name, "path": name}}),
    }
}

fn resource_claim(random: &mut Random) -> Value {
    let name = random.pick(TEMPLATES);
    match random.below(3) {
        0 => json!({"name": name, "resourceClaimName": reference(random)}),
        1 => json!({"name": name, "resourceClaimTemplateName": reference(random)}),
        _ => json!({"name": name}),
    }
}

/// Of a claim that was not needed there is an entry without a name.
fn claim_statuses(random: &mut Random) -> Value {
    let status = |random: &mut Random| {
        let claim = (!random.one_in(4)).then(|| random.pick(NAMES));
        json!({"name": random.pick(TEMPLATES), "resourceClaimName": claim})
    };
    list(random, 3, status).into()
}

/// Sets a list, if only to `null`; or leaves it out.
fn optional(
    random: &mut Random,
    object: &mut Map<String, Value>,
    key: &str,
    most: usize,
    make: fn(&mut Random) -> Value,
) {
    let list = match random.below(8) {
        0 | 1 => return,
        2 => Value::Null,
        _ => list(random, most, make).into(),
    };
    object.insert(key.to_owned(), list);
}

fn list(random: &mut Random, most: usize, make: impl Fn(&mut Random) -> Value) -> Vec<Value> {
    (0..random.below(most + 1)).map(|_| make(random)).collect()
}

fn one(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}
