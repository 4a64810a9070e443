//! Two nodes, a few pods and what they refer to.

use std::sync::Arc;

use crate::graph::{Asserts, Edge, Key, Kind, Snapshot, Store, Template};

/// An object that says what it is told to.
struct Object {
    key: Key<'static>,
    edges: Vec<Edge<'static>>,
}

impl Asserts for Object {
    fn key(&self) -> Key<'_> {
        self.key
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        self.edges.iter().copied().for_each(visit);
    }
}

pub(super) fn graph() -> Arc<Snapshot> {
    let mut store = Store::default();
    let needs = |key| Edge::new(key, Template::SECRET_VOLUME.at(0, 0));
    let on = |node| Edge::new(Key::cluster(Kind::Node, node), Template::NODE_NAME.field());
    let ns = |kind, name| Key::new(kind, "ns", name);
    let claim = ns(Kind::PersistentVolumeClaim, "pvc1");
    let objects = [
        (
            ns(Kind::Pod, "p1"),
            vec![
                on("n1"),
                needs(ns(Kind::ServiceAccount, "sa1")),
                needs(ns(Kind::Secret, "s1")),
                needs(ns(Kind::Secret, "sx")),
                needs(ns(Kind::ConfigMap, "cm1")),
                needs(claim),
                needs(ns(Kind::PersistentVolumeClaim, "p1-eph")),
                needs(ns(Kind::ResourceClaim, "rc1")),
                needs(ns(Kind::ResourceClaim, "rt-abc")),
            ],
        ),
        (
            ns(Kind::Pod, "p2"),
            vec![
                on("n2"),
                needs(ns(Kind::ServiceAccount, "sa2")),
                needs(ns(Kind::Secret, "s2")),
            ],
        ),
        // A mirror pod gives nothing but itself.
        (ns(Kind::Pod, "m1"), vec![on("n1")]),
        // What a graph should never say: a pod of the node that has no name.
        (ns(Kind::Pod, "p0"), vec![on("")]),
        (
            Key::cluster(Kind::PersistentVolume, "pv1"),
            vec![
                Edge::new(claim, Template::CLAIM_REF.field()),
                needs(Key::new(Kind::Secret, "kube-system", "stg")),
            ],
        ),
        (Key::cluster(Kind::VolumeAttachment, "va1"), vec![on("n1")]),
        (Key::cluster(Kind::VolumeAttachment, "va2"), vec![on("n2")]),
        (Key::cluster(Kind::ResourceSlice, "sl1"), vec![on("n1")]),
        (Key::cluster(Kind::ResourceSlice, "sl2"), vec![on("n2")]),
        (ns(Kind::PodCertificateRequest, "r1"), vec![on("n1")]),
        (ns(Kind::PodCertificateRequest, "r2"), vec![on("n2")]),
    ];
    for (key, edges) in objects {
        store.apply(&Object { key, edges });
    }
    store.publish()
}
