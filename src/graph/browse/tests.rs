//! Against a naive model: all edges in one list, looked through for every object.

use std::collections::BTreeSet;

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::graph::{Asserts, Edge, Relation, Store, Template};

/// An object and whom it names, by kind and number.
#[derive(Clone, Debug)]
struct Fake {
    object: Object,
    edges: Vec<(Relation, Object)>,
}

type Object = (Kind, u8);

/// Some with a namespace, some without, and names that do not sort as their numbers do.
const NAMES: [(&str, &str); 4] = [("", "b"), ("ns", "a"), ("", "c"), ("ns-2", "b")];
const MIDDLE: &[Kind] = &[Kind::Pod, Kind::PersistentVolumeClaim, Kind::PersistentVolume];
const LEAVES: &[Kind] = &[Kind::Secret, Kind::ConfigMap];

fn key((kind, number): Object) -> Key<'static> {
    let (namespace, name) = NAMES[usize::from(number)];
    match kind {
        Kind::Node => Key::cluster(kind, ["n0", "b", "n2", "a"][usize::from(number)]),
        _ => Key::new(kind, namespace, name),
    }
}

impl Asserts for Fake {
    fn key(&self) -> Key<'_> {
        key(self.object)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        for (at, (relation, other)) in self.edges.iter().enumerate() {
            let template = match relation {
                Relation::Needs => Template::SECRET_VOLUME,
                Relation::BelongsTo => Template::NODE_NAME,
            };
            visit(Edge::new(key(*other), template.at(at, 0)));
        }
    }
}

/// What leads where because of it.
fn arrows(fake: &Fake) -> impl Iterator<Item = (Object, Object)> {
    fake.edges.iter().map(|(relation, other)| match relation {
        Relation::Needs => (*other, fake.object),
        Relation::BelongsTo => (fake.object, *other),
    })
}

fn fake() -> impl Strategy<Value = Fake> {
    let middle = (0..MIDDLE.len(), 0..4u8).prop_map(|(kind, number)| (MIDDLE[kind], number));
    (middle, vec((0..6usize, 0..4u8), 0..6)).prop_map(|(object, others)| {
        let others = others.into_iter().map(|(kind, number)| match kind {
            0 => (Relation::BelongsTo, (Kind::Node, number)),
            1 | 2 => (Relation::Needs, (LEAVES[kind - 1], number)),
            // Edges lead down the order of kinds, so one relation or the other is right.
            kind => {
                let other = (MIDDLE[kind - 3], number);
                match other.0.cmp(&object.0) {
                    Ordering::Less => (Relation::BelongsTo, other),
                    Ordering::Equal => (Relation::Needs, (Kind::Secret, number)),
                    Ordering::Greater => (Relation::Needs, other),
                }
            }
        });
        let edges = others.collect();
        Fake { object, edges }
    })
}

fn shown(objects: impl IntoIterator<Item = Object>) -> Vec<Key<'static>> {
    let mut keys: Vec<_> = objects.into_iter().map(key).collect();
    keys.sort_unstable_by(order);
    keys.dedup();
    keys
}

fn page<T: Clone>(all: &[T], size: usize, at: usize) -> Vec<T> {
    let at = at.min(all.chunks(size).len().saturating_sub(1));
    all.chunks(size).nth(at).unwrap_or_default().to_vec()
}

proptest! {
    #[test]
    fn everything_is_found_in_order(
        fakes in vec(fake(), 0..12),
        gone in vec(0..12usize, 0..4),
        (size, at, near) in (1..9usize, 0..9usize, 1..4usize),
        (kind, namespace, name) in (0..8usize, 0..4usize, 0..4usize),
    ) {
        let mut store = Store::default();
        let mut there: HashMap<Object, Fake> = HashMap::new();
        for fake in &fakes {
            store.apply(fake);
            there.insert(fake.object, fake.clone());
        }
        for at in gone {
            if let Some(fake) = fakes.get(at) {
                store.delete(key(fake.object));
                there.remove(&fake.object);
            }
        }
        let snapshot = store.publish();

        let arrows: BTreeSet<(Object, Object)> = there.values().flat_map(arrows).collect();
        let mut leading: BTreeSet<Object> = (0..4).map(|number| (Kind::Node, number)).collect();
        for _ in 0..8 {
            let more: Vec<_> = arrows.iter().filter(|(_, to)| leading.contains(to)).map(|(from, _)| *from).collect();
            leading.extend(more);
        }
        let visible: Vec<_> = arrows.iter().filter(|(_, to)| leading.contains(to)).collect();
        let all: BTreeSet<Object> =
            there.keys().copied().chain(arrows.iter().flat_map(|(from, to)| [*from, *to])).collect();
        prop_assert_eq!(snapshot.sizes().vertices, all.len());
        prop_assert_eq!(snapshot.kinds().iter().map(|(_, count)| count).sum::<usize>(), all.len());

        let filter = Filter {
            kind: [Kind::Node, Kind::Pod, Kind::Secret, Kind::CsiDriver].get(kind).copied(),
            namespace: ["ns", "ns-2", "no"].get(namespace).unwrap_or(&""),
            name: ["a", "b", "no"].get(name).unwrap_or(&""),
        };
        let wanted: Vec<Object> = all.iter().copied().filter(|object| filter.matches(key(*object))).collect();
        let keys = shown(wanted.clone());
        let found = snapshot.find(filter, Part { size, at });
        prop_assert_eq!(found.total, keys.len());
        prop_assert_eq!(found.parts(), keys.len().div_ceil(size).max(1));
        let of_part: Vec<_> = found.items.iter().map(|found| found.key).collect();
        prop_assert_eq!(&of_part, &page(&keys, size, at));

        let part = |at| Part { size: near, at };
        for vertex in snapshot.around(&found.items, part(0), part(1)) {
            let is = |object: &Object| key(*object) == vertex.key;
            let incoming = shown(visible.iter().filter(|(_, to)| is(to)).map(|(from, _)| *from));
            let outgoing = shown(visible.iter().filter(|(from, _)| is(from)).map(|(_, to)| *to));
            prop_assert_eq!((vertex.incoming.total, vertex.outgoing.total), (incoming.len(), outgoing.len()));
            prop_assert_eq!(vertex.incoming.items, page(&incoming, near, 0));
            prop_assert_eq!(vertex.outgoing.items, page(&outgoing, near, 1));
        }
    }
}

#[test]
fn nothing_is_a_part_of_nothing() {
    let snapshot = Snapshot::default();
    let found = snapshot.find(Filter::default(), Part { size: 0, at: 7 });
    assert_eq!((found.total, found.parts(), found.before()), (0, 1, 0));
    assert!(snapshot.kinds().is_empty() && found.items.is_empty());
}
