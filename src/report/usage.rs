//! What mirror pods have when they are created: labels, annotations, finalizers, owners, namespaces.

use std::collections::BTreeSet;

use super::{Event, bounded::Bounded, event::MirrorPod, summary::MAX_CALLERS};

/// What was seen so far, of pods that upstream has accepted.
#[derive(Debug)]
pub struct Usage {
    /// All nodes, also those without mirror pods; each with whether it has any.
    pub(super) nodes: Bounded<bool>,
    pub(super) pods: Bounded<()>,
    pub(super) labels: Bounded<Users>,
    pub(super) annotations: Bounded<Users>,
    pub(super) finalizers: Bounded<Users>,
    pub(super) namespaces: Bounded<Users>,
    /// By the kind of owner reference.
    pub(super) owners: Bounded<Users>,
    /// Keys, pods or namespaces that there was no room for.
    pub(super) beyond: u64,
    /// Pods with keys that the gate did not write down.
    pub(super) cut: u64,
    /// Mirror pods that could not be read.
    pub(super) unreadable: u64,
}

/// Who uses something.
#[derive(Debug, Default)]
pub(super) struct Users {
    pub(super) pods: BTreeSet<u32>,
    pub(super) nodes: BTreeSet<u32>,
}

/// So many pods, keys or namespaces are told apart.
const MOST: usize = 20_000;
const MOST_EACH: usize = 200;
/// Keys that the gate writes down, of each kind.
const MAX_KEYS: usize = 64;

impl Usage {
    pub fn take(&mut self, event: &Event<'_>) {
        let Some(name) = event.node() else { return };
        let Some((node, has_any)) = self.nodes.entry(name, 0) else {
            self.beyond += 1;
            return;
        };
        match event.mirror_pod() {
            None => {}
            Some(Err(_)) => self.unreadable += 1,
            Some(Ok(pod)) => {
                *has_any = true;
                self.pod(&pod, node);
            }
        }
    }

    /// Whether there was a mirror pod that could be read.
    pub fn is_empty(&self) -> bool {
        self.pods.len() == 0
    }

    fn pod(&mut self, pod: &MirrorPod, node: u32) {
        let name = format!("{}/{}", pod.namespace, pod.name);
        let number = self.pods.entry(&name, node).map(|(number, ())| number);
        self.beyond += u64::from(number.is_none());
        let lists = [
            (&mut self.labels, pod.labels.as_slice()),
            (&mut self.annotations, &pod.annotations),
            (&mut self.finalizers, &pod.finalizers),
            (&mut self.namespaces, std::slice::from_ref(&pod.namespace)),
            (&mut self.owners, std::slice::from_ref(&pod.owner)),
        ];
        let cut = pod.left_out > 0 || lists.iter().any(|(_, keys)| keys.len() > MAX_KEYS);
        self.cut += u64::from(cut);
        for (known, keys) in lists {
            for key in keys.iter().take(MAX_KEYS) {
                match known.entry(key, node) {
                    Some((_, users)) => {
                        users.pods.extend(number);
                        users.nodes.insert(node);
                    }
                    None => self.beyond += 1,
                }
            }
        }
    }
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            nodes: Bounded::new(MAX_CALLERS, MAX_CALLERS),
            pods: Bounded::new(MOST, MOST_EACH),
            labels: Bounded::new(MOST, MOST_EACH),
            annotations: Bounded::new(MOST, MOST_EACH),
            finalizers: Bounded::new(MOST, MOST_EACH),
            namespaces: Bounded::new(MOST, MOST_EACH),
            owners: Bounded::new(MOST, MOST_EACH),
            beyond: 0,
            cut: 0,
            unreadable: 0,
        }
    }
}
