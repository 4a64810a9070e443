//! The store against a naive model: a set of objects with their edges, searched from scratch for every question.

mod garden;

use std::{collections::BTreeMap, sync::Arc};

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::graph::{Edge, Facts, PodFacts, Template, Tokens, Uid, address};

/// A handful of everything, so that objects are shared, come again and meet.
const NAMES: u8 = 4;
const WATCHED: &[Kind] = &[
    Kind::CertificateSigningRequest,
    Kind::Node,
    Kind::PersistentVolume,
    Kind::Pod,
    Kind::VolumeAttachment,
];
const ASKED: &[Kind] = &[
    Kind::CertificateSigningRequest,
    Kind::ConfigMap,
    Kind::Endpoints,
    Kind::Namespace,
    Kind::PersistentVolume,
    Kind::PersistentVolumeClaim,
    Kind::Pod,
    Kind::Secret,
    Kind::VolumeAttachment,
];
/// Written in many ways; those that are next to each other mean the same.
const ADDRESSES: [&str; 6] = [
    "10.0.0.1",
    "::ffff:a00:1",
    "2001:db8::1",
    "2001:DB8:0::1",
    "a.example",
    "A.example.",
];

type Object = (Kind, u8);

/// An object that asserts whatever the test wants.
#[derive(Clone, Debug)]
struct Fake {
    object: Object,
    edges: Vec<(Relation, Object)>,
    uid: u8,
    /// Only counts for pods.
    mirror: bool,
    /// Only counts for nodes.
    addresses: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Event {
    Apply(Fake),
    Delete(Object),
    /// A list that holds only the names of these bits.
    Relist(Kind, u8),
    /// The gate starts anew and lists everything.
    Restart,
}

/// What is there, as upstream has it.
#[derive(Default)]
struct Model(BTreeMap<Object, Fake>);

impl Asserts for Fake {
    fn key(&self) -> Key<'_> {
        key(self.object)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        for (at, (relation, other)) in self.edges.iter().enumerate() {
            let template = match (relation, self.object.0) {
                (Relation::Needs, _) => Template::SECRET_VOLUME,
                (Relation::BelongsTo, Kind::CertificateSigningRequest) => Template::USER_NAME,
                (Relation::BelongsTo, _) => Template::NODE_NAME,
            };
            visit(Edge::new(key(*other), template.at(at, 0)));
        }
    }

    fn facts(&self) -> Option<Facts> {
        let addresses = self.addresses.iter().map(|at| ADDRESSES[*at]);
        (self.object.0 == Kind::Node).then(|| Facts::Node {
            uid: self.uid.to_string(),
            addresses: Arc::new(address::all(addresses)),
        })
    }

    fn bound(&self) -> Option<(&str, PodFacts)> {
        let node = self.edges.iter().find(|(_, other)| other.0 == Kind::Node)?;
        (self.object.0 == Kind::Pod).then(|| (key(node.1).name, self.pod_facts()))
    }
}

impl Fake {
    fn pod_facts(&self) -> PodFacts {
        PodFacts {
            uid: Uid::from(self.uid.to_string().as_str()),
            tokens: Tokens::Server,
            mirror: self.mirror,
        }
    }

    fn is_on(&self, node: u8) -> bool {
        self.object.0 == Kind::Pod && self.edges.contains(&(Relation::BelongsTo, (Kind::Node, node)))
    }
}

impl Model {
    fn reaches(&self, node: u8, object: Object) -> bool {
        if object.0 == Kind::Node {
            return object.1 == node;
        }
        if object.0 == Kind::Namespace {
            return self.has_pods_in(node, key(object).name);
        }
        self.0.values().any(|fake| {
            fake.edges.iter().any(|(relation, other)| {
                let (from, to) = match relation {
                    Relation::Needs => (*other, fake.object),
                    Relation::BelongsTo => (fake.object, *other),
                };
                from == object && self.reaches(node, to)
            })
        })
    }

    fn has_pods_in(&self, node: u8, namespace: &str) -> bool {
        let mut pods = self.0.values().filter(|fake| fake.is_on(node) && !fake.mirror);
        pods.any(|pod| key(pod.object).namespace == namespace)
    }

    /// Every node that has the address and is not this one.
    fn nodes_with_address(&self, address: usize, except: u8) -> Vec<&str> {
        let others = self.0.values().filter(|fake| fake.object != (Kind::Node, except));
        let having = others.filter(|fake| fake.addresses.iter().any(|at| at / 2 == address / 2));
        having.map(|fake| key(fake.object).name).collect()
    }

    /// For every address and every node: who else has it.
    fn addresses(&self) -> Vec<Vec<String>> {
        let others = |(address, node)| {
            let nodes = self.nodes_with_address(address, node).into_iter();
            nodes.map(str::to_owned).collect()
        };
        addressed().map(others).collect()
    }

    fn answers(&self) -> Vec<bool> {
        questions().map(|(node, object)| self.reaches(node, object)).collect()
    }

    /// The uid of every pod that is bound to a node.
    fn pods(&self) -> Vec<Option<PodFacts>> {
        let bound = |(node, object)| {
            let fake = self.0.get(&object).filter(|fake| fake.is_on(node))?;
            Some(fake.pod_facts())
        };
        questions().map(bound).collect()
    }
}

fn questions() -> impl Iterator<Item = (u8, Object)> {
    let objects = ASKED.iter().flat_map(|kind| (0..NAMES).map(move |name| (*kind, name)));
    objects.flat_map(|object| (0..NAMES).map(move |node| (node, object)))
}

fn addressed() -> impl Iterator<Item = (usize, u8)> {
    (0..ADDRESSES.len()).flat_map(|address| (0..NAMES).map(move |node| (address, node)))
}

/// Whether all who have an address are found, and nobody else.
fn finds(snapshot: &Snapshot, expected: &[Vec<String>]) -> bool {
    addressed().zip(expected).all(|((address, node), expected)| {
        let found = snapshot.nodes_with_address(ADDRESSES[address], key((Kind::Node, node)).name);
        let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        expected.sort_unstable();
        found.eq(expected)
    })
}

fn answers(snapshot: &Snapshot) -> Vec<bool> {
    questions()
        .map(|(node, object)| {
            let (node, object) = (key((Kind::Node, node)), key(object));
            let reaches = snapshot.reaches(node.name, object);
            let path = snapshot.path(node.name, object);
            assert_eq!(path.is_some(), reaches);
            if let Some(path) = path {
                assert_eq!(path.steps.last().unwrap().key(), object);
            }
            assert_eq!(snapshot.readers(object).contains(&node.name), reaches);
            reaches
        })
        .collect()
}

fn pods(snapshot: &Snapshot) -> Vec<Option<PodFacts>> {
    let pod = |(node, object)| snapshot.pod(key((Kind::Node, node)).name, key(object)).cloned();
    questions().map(pod).collect()
}

/// Names are told apart by namespace only, where there is one: the texts are nearly the same for all. Of pods there are two
/// in a namespace.
fn key(object: Object) -> Key<'static> {
    const NAMESPACES: [&str; 4] = ["a", "b", "ab", "ba"];
    const CLUSTER: [&str; 4] = ["x", "y", "xy", "yx"];
    let at = usize::from(object.1);
    match object.0 {
        Kind::CertificateSigningRequest | Kind::Node | Kind::PersistentVolume | Kind::VolumeAttachment => {
            Key::cluster(object.0, CLUSTER[at])
        }
        Kind::Namespace => Key::cluster(Kind::Namespace, NAMESPACES[at]),
        Kind::Pod => Key::new(Kind::Pod, NAMESPACES[at / 2], CLUSTER[at]),
        kind => Key::new(kind, NAMESPACES[at], "same"),
    }
}

fn fake() -> impl Strategy<Value = Fake> {
    let other = |kind: Kind| (0..NAMES).prop_map(move |name| (kind, name));
    let needs = |kinds: &'static [Kind]| {
        let one = proptest::sample::select(kinds).prop_flat_map(other);
        vec(one.prop_map(|object| (Relation::Needs, object)), 0..4)
    };
    let belongs = |kind: Kind| vec(other(kind).prop_map(|object| (Relation::BelongsTo, object)), 0..2);
    let of = |kind: Kind, owner: Kind, kinds: &'static [Kind]| {
        let parts = (0..NAMES, needs(kinds), belongs(owner), 0..3u8, any::<bool>());
        parts.prop_map(move |(name, mut edges, belongs, uid, mirror)| {
            edges.extend(belongs);
            Fake {
                object: (kind, name),
                edges,
                uid,
                mirror,
                addresses: Vec::new(),
            }
        })
    };
    let node = (0..NAMES, 0..2u8, vec(0..ADDRESSES.len(), 0..4)).prop_map(|(name, uid, addresses)| Fake {
        object: (Kind::Node, name),
        edges: Vec::new(),
        uid,
        mirror: false,
        addresses,
    });
    prop_oneof![
        4 => of(Kind::Pod, Kind::Node, &[Kind::Secret, Kind::ConfigMap, Kind::Endpoints, Kind::PersistentVolumeClaim]),
        2 => of(Kind::PersistentVolume, Kind::PersistentVolumeClaim, &[Kind::Secret, Kind::Endpoints]),
        1 => of(Kind::CertificateSigningRequest, Kind::Node, &[Kind::Secret]),
        2 => node,
        1 => of(Kind::VolumeAttachment, Kind::Node, &[Kind::Secret]),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let watched = || proptest::sample::select(WATCHED);
    prop_oneof![
        8 => fake().prop_map(Event::Apply),
        3 => (watched(), 0..NAMES).prop_map(Event::Delete),
        1 => (watched(), any::<u8>()).prop_map(|(kind, bits)| Event::Relist(kind, bits)),
        1 => Just(Event::Restart),
    ]
}

fn listed(bits: u8, name: u8) -> bool {
    bits >> name & 1 == 1
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Whatever happens, every question has the model's answer after it; and states that were published before keep theirs.
    #[test]
    fn the_graph_answers_as_the_model_does(events in vec((event(), any::<bool>()), 1..60)) {
        let mut store = Store::default();
        let mut model = Model::default();
        let mut published = Vec::new();
        for (event, publish) in events {
            match event {
                Event::Apply(fake) => {
                    store.apply(&fake);
                    model.0.insert(fake.object, fake);
                }
                Event::Delete(object) => {
                    store.delete(key(object));
                    model.0.remove(&object);
                }
                Event::Relist(kind, bits) => {
                    let named = |seen: Key<'_>| (0..NAMES).any(|name| listed(bits, name) && key((kind, name)) == seen);
                    store.retain(kind, named);
                    model.0.retain(|object, _| object.0 != kind || listed(bits, object.1));
                }
                Event::Restart => {
                    store = Store::default();
                    model.0.values().for_each(|fake| store.apply(fake));
                }
            }
            if publish {
                let (snapshot, expected) = (store.publish(), (model.answers(), model.pods()));
                prop_assert_eq!((answers(&snapshot), pods(&snapshot)), expected.clone());
                let addresses = model.addresses();
                prop_assert!(finds(&snapshot, &addresses));
                published.push((snapshot, expected, addresses));
            }
        }
        for (snapshot, expected, addresses) in published {
            prop_assert_eq!((answers(&snapshot), pods(&snapshot)), expected);
            prop_assert!(finds(&snapshot, &addresses));
        }
        for kind in WATCHED {
            prop_assert_eq!(store.count(*kind), model.0.keys().filter(|object| object.0 == *kind).count());
        }
        // Nothing stays behind when everything is gone.
        for object in model.0.into_keys() {
            store.delete(key(object));
        }
        let snapshot = store.publish();
        prop_assert_eq!(snapshot.sizes(), Sizes::default());
        prop_assert!(snapshot.addresses.is_empty());
        prop_assert!(store.needed.is_empty() && store.belonged.is_empty() && store.asserted.is_empty() && store.changed.is_empty());
        prop_assert_eq!(store.free.len(), store.entries.len());
    }
}

#[test]
fn a_path_tells_the_fields() {
    let mut store = Store::default();
    let pod = Fake {
        object: (Kind::Pod, 0),
        edges: vec![
            (Relation::BelongsTo, (Kind::Node, 1)),
            (Relation::Needs, (Kind::Secret, 2)),
        ],
        uid: 0,
        mirror: false,
        addresses: Vec::new(),
    };
    store.apply(&pod);
    let snapshot = store.publish();
    let path = snapshot.path("y", key((Kind::Secret, 2))).unwrap();
    assert_eq!(
        path.to_string(),
        "y ← pod a/x (spec.volumes[1].secret.secretName) ← secret ab/same"
    );
    assert_eq!(snapshot.path("x", key((Kind::Secret, 2))), None);
    let namespace = snapshot.path("y", key((Kind::Namespace, 0))).unwrap();
    assert_eq!(namespace.to_string(), "y ← pod a/x (metadata.namespace) ← namespace a");
}

#[test]
fn what_cannot_be_a_name_is_left_out() {
    struct Odd(String);
    impl Asserts for Odd {
        fn key(&self) -> Key<'_> {
            Key::new(Kind::Pod, "ns", "pod")
        }

        fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
            visit(Edge::new(Key::cluster(Kind::Node, "n"), Template::NODE_NAME.field()));
            visit(Edge::new(
                Key::new(Kind::Secret, "ns", &self.0),
                Template::SECRET_VOLUME.field(),
            ));
        }
    }
    for name in [String::new(), "x".repeat(254), "x".repeat(1 << 25)] {
        let mut store = Store::default();
        store.apply(&Odd(name.clone()));
        let snapshot = store.publish();
        assert!(snapshot.reaches("n", Key::new(Kind::Pod, "ns", "pod")));
        assert!(!snapshot.reaches("n", Key::new(Kind::Secret, "ns", &name)));
    }
}

#[test]
fn an_event_that_changes_nothing_leaves_nothing_to_publish() {
    let pod = |secret| Fake {
        object: (Kind::Pod, 0),
        edges: vec![
            (Relation::BelongsTo, (Kind::Node, 0)),
            (Relation::Needs, (Kind::Secret, secret)),
        ],
        uid: 0,
        mirror: false,
        addresses: Vec::new(),
    };
    let mut store = Store::default();
    store.apply(&pod(0));
    assert!(store.is_changed());
    store.publish();
    store.apply(&pod(0));
    store.delete(key((Kind::Pod, 3)));
    assert!(!store.is_changed());
    store.apply(&pod(1));
    assert!(store.is_changed());
}

#[test]
fn facts_come_and_go_with_their_object() {
    struct Known(&'static str);
    impl Asserts for Known {
        fn key(&self) -> Key<'_> {
            Key::cluster(Kind::Node, "n")
        }

        fn edges(&self, _: &mut dyn FnMut(Edge<'_>)) {}

        fn facts(&self) -> Option<Facts> {
            Some(Facts::Node {
                uid: self.0.to_owned(),
                addresses: Arc::default(),
            })
        }
    }
    let mut store = Store::default();
    store.apply(&Known("1"));
    assert!(store.is_changed());
    let first = store.publish();
    store.apply(&Known("1"));
    assert!(!store.is_changed());
    store.apply(&Known("2"));
    let second = store.publish();
    store.retain(Kind::Node, |_| false);
    let third = store.publish();
    let facts = |snapshot: &Snapshot| snapshot.facts(Known("").key()).cloned();
    assert_eq!(facts(&first), Known("1").facts());
    assert_eq!(facts(&second), Known("2").facts());
    assert_eq!(facts(&third), None);
}

/// A node's status changes every few seconds, and its addresses do not.
#[test]
fn only_other_addresses_are_news() {
    let node = |name, addresses: &[usize]| Fake {
        object: (Kind::Node, name),
        edges: Vec::new(),
        uid: 0,
        mirror: false,
        addresses: addresses.to_vec(),
    };
    let mut store = Store::default();
    store.apply(&node(0, &[0, 4]));
    store.apply(&node(1, &[1]));
    let first = store.publish();
    for same in [&[0, 4][..], &[4, 0, 0], &[5, 1]] {
        store.apply(&node(0, same));
        assert!(!store.is_changed(), "{same:?}");
    }
    store.apply(&node(0, &[2]));
    assert!(store.is_changed());
    let second = store.publish();
    store.delete(key((Kind::Node, 1)));
    let third = store.publish();

    let find = |snapshot: &Snapshot, at: usize, except| {
        let mut found = snapshot.nodes_with_address(ADDRESSES[at], except);
        found.next().map(str::to_owned)
    };
    assert_eq!(find(&first, 0, "x").as_deref(), Some("y"));
    assert_eq!(find(&first, 0, "y").as_deref(), Some("x"));
    assert_eq!(find(&first, 5, "x"), None);
    assert_eq!(find(&first, 5, "xy").as_deref(), Some("x"));
    assert_eq!(find(&second, 0, "y"), None);
    assert_eq!(find(&second, 3, "y").as_deref(), Some("x"));
    assert_eq!(find(&third, 0, "x"), None);
}
