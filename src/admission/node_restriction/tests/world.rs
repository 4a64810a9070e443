//! The cluster that the rules are asked about.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::{
    admission::Fact,
    graph::{
        Asserts, CsiDriver, Key, Kind, Node, PersistentVolume, PersistentVolumeClaim, Pod, ServiceAccount, Store,
        Watched,
    },
};

/// Objects by kind, each in its JSON form.
pub(super) struct World {
    pub(super) objects: Vec<(Kind, Value)>,
    /// What upstream says would come of an applied object.
    pub(super) rehearsed: Bytes,
}

impl Default for World {
    fn default() -> Self {
        let audience =
            |name: &str| json!({"name": name, "projected": {"sources": [{"serviceAccountToken": {"audience": name}}]}});
        let claim = |name: &str| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        let csi = |name: &str| json!({"name": name, "csi": {"driver": name}});
        Self {
            rehearsed: Bytes::new(),
            objects: vec![
                (Kind::Node, node("n1")),
                (
                    Kind::Node,
                    json!({
                        "metadata": {"name": "n2", "uid": "N2", "resourceVersion": "8"},
                        "status": {"addresses": [
                            {"type": "InternalIP", "address": "10.0.0.2"}, {"type": "InternalIP", "address": "fd00::2"},
                            {"type": "Hostname", "address": "n2.example.com"},
                            {"type": "InternalDNS", "address": "n2.compute.internal"},
                        ]},
                    }),
                ),
                (
                    Kind::Pod,
                    pod("p1", "n1", &json!([audience("aud1"), claim("pvc1"), csi("inline")])),
                ),
                (Kind::Pod, pod("p2", "n2", &json!([audience("aud2")]))),
                (Kind::Pod, pod("of-n2-n1", "n2", &json!([]))),
                (
                    Kind::Pod,
                    pod(
                        "bad",
                        "n1",
                        &json!([
                            claim("gone"),
                            claim("unbound"),
                            csi("nodriver"),
                            claim("gone"),
                            claim("nopv")
                        ]),
                    ),
                ),
                (Kind::Pod, mirror()),
                (Kind::Pod, marked()),
                (Kind::PersistentVolumeClaim, claimed("pvc1", "pv1")),
                (Kind::PersistentVolumeClaim, claimed("nopv", "pv9")),
                (Kind::PersistentVolumeClaim, claimed("unbound", "")),
                (
                    Kind::PersistentVolume,
                    json!({"metadata": {"name": "pv1"}, "spec": {"csi": {"driver": "d1"}, "claimRef": {"namespace": "ns", "name": "pvc1"}}}),
                ),
                (
                    Kind::CsiDriver,
                    json!({"metadata": {"name": "d1"}, "spec": {"tokenRequests": [{"audience": "x"}, {"audience": "vault"}]}}),
                ),
                (
                    Kind::CsiDriver,
                    json!({"metadata": {"name": "inline"}, "spec": {"tokenRequests": [{"audience": "inlined"}]}}),
                ),
                (
                    Kind::ServiceAccount,
                    json!({"metadata": {"namespace": "ns", "name": "sa1", "uid": "SA1"}}),
                ),
                (
                    Kind::ResourceSlice,
                    json!({"metadata": {"name": "sl1", "uid": "SL1"}, "spec": {"nodeName": "n1"}}),
                ),
                (
                    Kind::ResourceSlice,
                    json!({"metadata": {"name": "sl2", "uid": "SL2"}, "spec": {"nodeName": "n2"}}),
                ),
                (
                    Kind::ResourceSlice,
                    json!({"metadata": {"name": "all", "uid": "SL3"}, "spec": {"allNodes": true}}),
                ),
            ],
        }
    }
}

impl World {
    pub(super) fn graph(&self) -> Snapshot {
        let mut store = Store::default();
        for (kind, object) in &self.objects {
            match kind {
                Kind::CsiDriver => store.apply(&read::<CsiDriver>(object)),
                Kind::Node => store.apply(&read::<Node>(object)),
                Kind::PersistentVolume => store.apply(&read::<PersistentVolume>(object)),
                Kind::PersistentVolumeClaim => store.apply(&read::<PersistentVolumeClaim>(object)),
                Kind::Pod => store.apply(&read::<Pod>(object)),
                Kind::ServiceAccount => store.apply(&read::<ServiceAccount>(object)),
                _ => {}
            }
        }
        (*store.publish()).clone()
    }

    pub(super) fn fact(&self, key: Key<'_>) -> Option<Fact> {
        let object = self.find(key)?;
        let facts = |object: &dyn Asserts| Fact::Other(object.facts().unwrap());
        Some(match key.kind {
            Kind::CsiDriver => facts(&read::<CsiDriver>(object)),
            Kind::Node => facts(&read::<Node>(object)),
            Kind::PersistentVolume => facts(&read::<PersistentVolume>(object)),
            Kind::PersistentVolumeClaim => facts(&read::<PersistentVolumeClaim>(object)),
            Kind::Pod => Fact::Pod(Box::new(read(object))),
            Kind::ServiceAccount => facts(&read::<ServiceAccount>(object)),
            kind => panic!("nobody asks for a {}", kind.as_str()),
        })
    }

    pub(super) fn stored(&self, request: &ResourceRequest) -> Option<Bytes> {
        if request.resource.resource == "events" {
            return event(&request.resource.group, &request.name).map(|event| Bytes::from(event.to_string()));
        }
        let kind = match request.resource.resource.as_str() {
            "nodes" => Kind::Node,
            "persistentvolumeclaims" => Kind::PersistentVolumeClaim,
            "pods" => Kind::Pod,
            "resourceslices" => Kind::ResourceSlice,
            other => panic!("nobody asks for {other}"),
        };
        let object = self.find(Key::new(kind, &request.namespace, &request.name))?;
        Some(Bytes::from(object.to_string()))
    }

    fn find(&self, key: Key<'_>) -> Option<&Value> {
        let is = |object: &Value| {
            let metadata = &object["metadata"];
            let text = |field: &str| metadata[field].as_str().unwrap_or_default();
            text("namespace") == key.namespace && text("name") == key.name
        };
        let mut found = self
            .objects
            .iter()
            .filter(|(kind, object)| *kind == key.kind && is(object));
        found.next().map(|(_, object)| object)
    }
}

fn read<T: Watched + DeserializeOwned>(object: &Value) -> T {
    serde_json::from_value(object.clone()).unwrap()
}

pub(super) fn node(name: &str) -> Value {
    json!({
        "metadata": {
            "name": name,
            "uid": "N1",
            "resourceVersion": "7",
            "labels": {"kubernetes.io/hostname": name, "node-role.kubernetes.io/worker": "", "x": "1"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": "O", "controller": false}],
        },
        "spec": {
            "taints": [{"key": "dedicated", "value": "a", "effect": "NoSchedule", "timeAdded": "2024-01-01T00:00:00Z"}],
            "configSource": {"configMap": {"name": "c", "namespace": "kube-system", "kubeletConfigKey": "kubelet"}},
        },
        "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]},
    })
}

fn pod(name: &str, node: &str, volumes: &Value) -> Value {
    json!({
        "metadata": {"namespace": "ns", "name": name, "uid": format!("U-{name}"), "resourceVersion": "7", "labels": {"app": "a"}},
        "spec": {"nodeName": node, "serviceAccountName": "sa1", "volumes": volumes},
        "status": {
            "resourceClaimStatuses": [{"name": "a", "resourceClaimName": "a-1"}, {"name": "b"}],
            "extendedResourceClaimStatus": {
                "requestMappings": [{"containerName": "c", "resourceName": "r", "requestName": "q"}],
                "resourceClaimName": "e-1",
            },
        },
    })
}

fn mirror() -> Value {
    json!({
        "metadata": {"namespace": "ns", "name": "m1", "uid": "U-m1", "resourceVersion": "7",
            "annotations": {"kubernetes.io/config.mirror": "hash"}},
        "spec": {"nodeName": "n1"},
    })
}

/// A pod with something of all that a pod can be marked with.
pub(super) fn marked() -> Value {
    let mut pod = pod("marked", "n1", &json!([]));
    pod["metadata"]["annotations"] = json!({"a": "1", "unrestricted.node.kubernetes.io/x": "1"});
    pod["metadata"]["finalizers"] = json!(["keep", "example.com/own"]);
    pod
}

/// One about n1, and one about n2, in either form.
fn event(group: &str, name: &str) -> Option<Value> {
    let node = match name {
        "own" => "n1",
        "foreign" => "n2",
        _ => return None,
    };
    let (about, source) = match group {
        "" => ("involvedObject", "source"),
        _ => ("regarding", "deprecatedSource"),
    };
    Some(json!({
        "metadata": {"namespace": "ns", "name": name, "uid": "E", "resourceVersion": "7"},
        about: {"kind": "Node", "name": node}, source: {"host": node}, "count": 1,
    }))
}

pub(super) fn claimed(name: &str, volume: &str) -> Value {
    json!({
        "metadata": {
            "namespace": "ns", "name": name, "uid": format!("C-{name}"), "resourceVersion": "7",
            "creationTimestamp": "2024-01-01T00:00:00Z", "labels": {"app": "a"}, "finalizers": ["kubernetes.io/pvc-protection"],
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": volume,
            "storageClassName": "", "volumeMode": "Filesystem",
        },
        "status": {"phase": "Pending", "capacity": {"storage": "1Gi"}},
    })
}
