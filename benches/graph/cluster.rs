//! The cluster that is measured over, the one of upstream's own benchmark of the Node authorizer.
//! `e2e/oracle/authorizer/cluster.go` says what is in it, what it is called and in which order it comes; this builds the same,
//! as the informers would get it.

use std::fmt;

use anyhow::Result;
use scopegate::graph::{Asserts, PersistentVolume, Pod, ResourceSlice, Store, VolumeAttachment};

/// How much of everything.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) nodes: usize,
    pub(super) pods_per_node: usize,
    pub(super) namespaces: usize,
    pub(super) attachments_per_node: usize,
    /// Whether all volumes name one secret ([`VOLUME_SECRET`]) instead of one each, unlike upstream's.
    pub(super) one_volume_secret: bool,
}

/// Its objects, read already.
pub(super) struct Cluster {
    pods: Vec<Pod>,
    volumes: Vec<PersistentVolume>,
    attachments: Vec<VolumeAttachment>,
    slices: Vec<ResourceSlice>,
}

/// The namespace and name of the secret that volumes can share.
pub(super) const VOLUME_SECRET: (&str, &str) = ("kube-system", "secret-volumes");

impl Shape {
    /// One of upstream's.
    pub(super) fn new(nodes: usize, pods_per_node: usize) -> Self {
        Self {
            nodes,
            pods_per_node,
            namespaces: 200,
            attachments_per_node: 20,
            one_volume_secret: false,
        }
    }

    /// A pod as JSON. It has nothing that the graph has no use for.
    pub(super) fn pod(&self, node: usize, pod: usize) -> String {
        self.pod_with(node, pod, "secret0")
    }

    /// The same with another name for the secret that it alone has.
    pub(super) fn pod_with(&self, node: usize, pod: usize, secret: &str) -> String {
        let namespace = self.namespace(pod);
        let name = format!("pod{pod}-node{node}");
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}"}},"spec":{{"nodeName":"node{node}",
            "serviceAccountName":"svcacct{pod}-node{node}","volumes":[
            {{"name":"own","secret":{{"secretName":"{secret}-{name}"}}}},
            {{"name":"shared","secret":{{"secretName":"secret0-shared"}}}},
            {{"name":"config","configMap":{{"name":"configmap0-{name}"}}}},
            {{"name":"data","persistentVolumeClaim":{{"claimName":"pvc0-{name}"}}}}]}}}}"#
        )
    }

    /// Its volume.
    pub(super) fn volume(&self, node: usize, pod: usize) -> String {
        let namespace = self.namespace(pod);
        let name = format!("pv0-pod{pod}-node{node}-{namespace}");
        let secret = if self.one_volume_secret {
            let (namespace, name) = VOLUME_SECRET;
            format!(r#"{{"namespace":"{namespace}","name":"{name}"}}"#)
        } else {
            format!(r#"{{"name":"secret-{name}"}}"#)
        };
        format!(
            r#"{{"metadata":{{"name":"{name}"}},"spec":{{"flexVolume":{{"secretRef":{secret}}},
            "claimRef":{{"namespace":"{namespace}","name":"pvc0-pod{pod}-node{node}"}}}}}}"#
        )
    }

    /// Of the pods with this number.
    pub(super) fn namespace(&self, pod: usize) -> String {
        format!("ns{}", pod % self.namespaces)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            nodes,
            pods_per_node,
            namespaces,
            attachments_per_node,
            ..
        } = self;
        write!(f, "{nodes} nodes × {pods_per_node} pods in {namespaces} namespaces, ")?;
        write!(f, "{attachments_per_node} attachments per node")
    }
}

impl Cluster {
    pub(super) fn new(shape: Shape) -> Result<Self> {
        let mut all = Self {
            pods: Vec::new(),
            volumes: Vec::new(),
            attachments: Vec::new(),
            slices: Vec::new(),
        };
        for node in 0..shape.nodes {
            for pod in 0..shape.pods_per_node {
                all.pods.push(serde_json::from_str(&shape.pod(node, pod))?);
                all.volumes.push(serde_json::from_str(&shape.volume(node, pod))?);
            }
            let bound =
                |name: String| format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"nodeName":"node{node}"}}}}"#);
            for attachment in 0..shape.attachments_per_node {
                let attachment = bound(format!("attachment{attachment}-node{node}"));
                all.attachments.push(serde_json::from_str(&attachment)?);
            }
            let slice = bound(format!("slice0-node{node}"));
            all.slices.push(serde_json::from_str(&slice)?);
        }
        Ok(all)
    }

    /// Tells the store of all of it.
    pub(super) fn apply(&self, store: &mut Store) {
        fn each<T: Asserts>(store: &mut Store, objects: &[T]) {
            objects.iter().for_each(|object| store.apply(object));
        }
        each(store, &self.pods);
        each(store, &self.volumes);
        each(store, &self.attachments);
        each(store, &self.slices);
    }
}
