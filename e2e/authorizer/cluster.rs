//! What happens in a cluster.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    ask::{Lead, Trail, ask},
    pod::{later, one_of_a_crowd, pod},
    release::Release,
    story::{Id, Step, Story, id},
    volume::{attachment, bystander, certificate_request, persistent_volume, slice},
    words::{CROWD, NAMES, NAMESPACES, NODES},
};
use crate::random::Random;

/// A cluster, as it is by now.
struct Cluster {
    release: Release,
    objects: BTreeMap<Id, Value>,
    /// Objects made so far.
    made: usize,
    steps: Vec<Step>,
}

/// Before the first question, at least.
const FIRST: usize = 15;
const BATCHES: usize = 8;
/// In one batch; questions see them all at once.
const EVENTS: &[usize] = &[1, 1, 2, 5, 12];
const QUESTIONS: usize = 8;
/// Upstream looks things up in another way from two hundred on. A third of them leaves, so that some stay above.
const CROWDS: &[usize] = &[230, 330];

/// Some life of a cluster.
pub(super) fn story(random: &mut Random, release: Release, crowded: bool) -> Story {
    let mut cluster = Cluster {
        release,
        objects: BTreeMap::new(),
        made: 0,
        steps: Vec::new(),
    };
    if crowded {
        cluster.crowd(random);
    }
    (0..FIRST + random.below(FIRST)).for_each(|_| cluster.event(random));
    for _ in 0..BATCHES {
        (0..random.pick(EVENTS)).for_each(|_| cluster.event(random));
        let trails = cluster.trails();
        (0..QUESTIONS).for_each(|_| cluster.steps.push(Step::Ask(ask(random, &trails))));
    }
    let Cluster { release, steps, .. } = cluster;
    Story { release, steps }
}

impl Cluster {
    fn event(&mut self, random: &mut Random) {
        let (namespace, name) = (random.pick(NAMESPACES), random.pick(NAMES));
        match random.below(40) {
            0..=7 => self.apply(persistent_volume(random, name)),
            8..=11 => self.apply(attachment(random, name)),
            12..=15 if self.release.has_slices() => self.replace(slice(random, name)),
            16..=19 => self.replace(certificate_request(random, namespace, name)),
            20 => self.apply(bystander(random, namespace, name)),
            21 => self.relist(random),
            22 | 23 => self.delete_any(random),
            24 => {
                // What nobody has heard of can be deleted too.
                self.made += 1;
                let pod = pod(random, namespace, name, self.made);
                self.delete(&id(&pod), pod);
            }
            _ => self.pod(random, namespace, name),
        }
    }

    /// A new pod, or news of one. In place of one that is gone, and of whose end nobody heard, comes one that is bound: see
    /// `accepted`.
    fn pod(&mut self, random: &mut Random, namespace: &str, name: &str) {
        self.made += 1;
        let new = pod(random, namespace, name, self.made);
        match self.objects.get(&id(&new)) {
            Some(old) if !random.one_in(3) => self.apply(later(random, old.clone())),
            Some(_) if random.one_in(2) && new["spec"]["nodeName"].is_string() => self.apply(new),
            _ => self.replace(new),
        }
    }

    fn crowd(&mut self, random: &mut Random) {
        let namespace = random.pick(NAMESPACES);
        for number in 0..random.pick(CROWDS) {
            self.made += 1;
            let name = format!("crowd-{number}");
            self.apply(one_of_a_crowd(random, namespace, &name, self.made));
        }
        // For one node nothing is left of it.
        let node = random.pick(NODES);
        let leaves = |object: &&Value| object["spec"]["nodeName"] == node;
        let leaving: Vec<Value> = self.objects.values().filter(leaves).cloned().collect();
        for pod in leaving {
            self.delete(&id(&pod), pod);
        }
    }

    /// What seems to lead to a node, at a glance.
    fn trails(&self) -> Vec<Trail> {
        let word = |words: &[&'static str], text: &Value| words.iter().copied().find(|word| text == word);
        let of_kind = |kind| self.objects.iter().filter(move |(id, _)| id.0 == kind);
        let (mut trails, mut crowd) = (Vec::new(), None);
        for (_, pod) in of_kind("Pod") {
            let node = word(NODES, &pod["spec"]["nodeName"]);
            let namespace = word(NAMESPACES, &pod["metadata"]["namespace"]);
            let Some((node, namespace)) = node.zip(namespace) else {
                continue;
            };
            if pod["spec"]["serviceAccountName"] == CROWD {
                crowd = Some(Lead::Crowd(namespace));
                continue;
            }
            let lead = Lead::Pod(namespace);
            trails.push(Trail { node, lead });
            let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
            let claims: Vec<&Value> = volumes
                .map(|volume| &volume["persistentVolumeClaim"]["claimName"])
                .collect();
            let claimed = of_kind("PersistentVolume").any(|(_, volume)| {
                let claim = &volume["spec"]["claimRef"];
                claim["namespace"] == namespace && claims.contains(&&claim["name"])
            });
            if claimed {
                let lead = Lead::Volume;
                trails.push(Trail { node, lead });
            }
        }
        // Whether a node is in it is not clear at a glance.
        trails.extend(
            crowd
                .iter()
                .flat_map(|lead| NODES.iter().map(|node| Trail { node, lead: *lead })),
        );
        trails
    }

    fn apply(&mut self, object: Value) {
        self.objects.insert(id(&object), object.clone());
        self.steps.push(Step::Apply(object));
    }

    /// Deletes one that has the name and makes another.
    fn replace(&mut self, object: Value) {
        let id = id(&object);
        if let Some(old) = self.objects.get(&id).cloned() {
            self.delete(&id, old);
        }
        self.apply(object);
    }

    fn delete_any(&mut self, random: &mut Random) {
        if !self.objects.is_empty() {
            let at = random.below(self.objects.len());
            let (id, object) = self
                .objects
                .iter()
                .nth(at)
                .map(|(id, object)| (id.clone(), object.clone()))
                .unwrap();
            self.delete(&id, object);
        }
    }

    fn delete(&mut self, id: &Id, object: Value) {
        self.objects.remove(id);
        self.steps.push(Step::Delete(object));
    }

    fn relist(&mut self, random: &mut Random) {
        let kinds = [
            "Pod",
            "PersistentVolume",
            "VolumeAttachment",
            "ResourceSlice",
            "PersistentVolumeClaim",
        ];
        let kind = random.pick(&kinds);
        let gone = |(id, object): (&Id, &Value)| (id.0 == kind && random.one_in(6)).then(|| object.clone());
        let gone: Vec<Value> = self.objects.iter().filter_map(gone).collect();
        for object in &gone {
            self.objects.remove(&id(object));
        }
        self.steps.push(Step::Relist(kind.to_owned(), gone));
    }
}
