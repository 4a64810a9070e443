//! The gate's graph and rules beside Gardener's own, over gardens and requests that are made up.
//!
//! Gardener's graph depends on the order of events: whoever deletes an object takes along what others have said about it. So it is
//! made anew from the objects that there are, and the gate's, which has seen every event, has to agree with that. Paths through a
//! seed do not count, and where Gardener's rules allow more than its documents say, the gate must not; everything else is the same.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use scopegate::{
    authorizer::{Attributes, Authorizer, Fallback, Profile, SeedRules},
    caller::Caller,
    config::{Features, KubernetesVersion},
    decision::Verdict,
    graph::{self, Anchor, Key, Kind, Snapshot, Store},
    quarantine::Quarantine,
    rules::Modes,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    asked::Asked,
    generated::{KINDS, NAMESPACES, SEEDS, object},
    theirs::Gardener,
};
use crate::{
    oracle,
    random::{Random, seed},
    report,
};

const GARDENS: usize = 12;
const EVENTS: usize = 60;
const REQUESTS: usize = 600;

/// What has been done to a garden.
#[derive(Default)]
pub(super) struct Garden {
    store: Option<Store>,
    /// By kind, namespace and name.
    pub(super) objects: BTreeMap<(String, String, String), Value>,
}

#[test]
fn the_graph_and_the_rules_agree_with_gardeners() {
    let Some(oracle) = oracle::path("gardener") else { return };
    let mut gardener = Gardener::start(&oracle);
    let mut random = Random::new(seed());
    let (mut paths, mut requests, mut stricter) = (0, 0, BTreeMap::<&str, usize>::new());
    for _ in 0..GARDENS {
        let mut garden = Garden::default();
        for _ in 0..EVENTS {
            garden.event(&mut random);
        }
        garden.give(&mut gardener);
        let edges = Edges::of(&mut gardener);
        paths += garden.compare_paths(&edges);
        for _ in 0..REQUESTS {
            if let Some(why) = garden.compare_request(&mut gardener, &edges, &mut random) {
                *stricter.entry(why).or_default() += 1;
            }
            requests += 1;
        }
    }
    println!("{paths} paths and {requests} requests compared; the gate is stricter: {stricter:?}");
    assert!(paths > 1000 && stricter.len() > 3, "nothing was compared");
    report::note(
        "gardener",
        &json!({"paths": paths, "requests": requests, "stricter": stricter}),
    );
}

impl Garden {
    pub(super) fn event(&mut self, random: &mut Random) {
        let kind = random.pick(KINDS);
        let object = object(random, kind);
        let metadata = &object["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
        let store = self.store.get_or_insert_with(|| Store::new(Anchor::Seed));
        if random.one_in(4) {
            store.delete(Key::new(kind_of(kind), &namespace, &name));
            self.objects.remove(&(kind.to_owned(), namespace.clone(), name.clone()));
        } else {
            apply(store, kind, &object);
            self.objects
                .insert((kind.to_owned(), namespace.clone(), name.clone()), object);
        }
        // As the writer does it.
        for name in SEEDS {
            store.settle_bootstrap("garden", name, now());
        }
    }

    /// Makes Gardener's graph of what there is: first what it reads while it handles the others.
    pub(super) fn give(&self, gardener: &mut Gardener) {
        gardener.reset();
        for (namespace, project) in NAMESPACES.iter().zip(["p1", "p2", "garden"]) {
            let labels = json!({"project.gardener.cloud/name": project});
            gardener.apply(&json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels},
            }));
        }
        let first = |kind: &str| kind == "Seed";
        let (seeds, others): (Vec<_>, Vec<_>) = self.objects.iter().partition(|((kind, ..), _)| first(kind));
        for (_, object) in seeds.into_iter().chain(others) {
            gardener.apply(object);
        }
    }

    /// The gate's graph as it is.
    pub(super) fn publish(&mut self) -> Arc<Snapshot> {
        self.store.get_or_insert_with(|| Store::new(Anchor::Seed)).publish()
    }

    /// Every object that either of them knows, to every seed.
    fn compare_paths(&mut self, edges: &Edges) -> usize {
        let snapshot = self.publish();
        let mut compared = 0;
        for (kind, namespace, name) in &edges.vertices {
            for seed in SEEDS {
                let theirs = edges.lead((kind, namespace, name), seed);
                let ours = snapshot.reaches(seed, key(kind, namespace, name));
                assert_eq!(
                    ours,
                    theirs,
                    "{kind}:{namespace}/{name} to {seed}, from\n{}",
                    self.told()
                );
                compared += 1;
            }
        }
        compared
    }

    /// Says why the gate is stricter, where it is and may be.
    fn compare_request(&mut self, gardener: &mut Gardener, edges: &Edges, random: &mut Random) -> Option<&'static str> {
        let asked = Asked::new(random);
        let theirs = gardener.authorize(&asked.as_gardener_asks()).decision == "allow";
        let snapshot = self.publish();
        let head = asked.head();
        let decision = gate().decide(Attributes {
            caller: &Caller::from(asked.user.clone()),
            info: head.info(),
            impersonates: false,
            quarantine: Quarantine::nobody(),
            graph: &snapshot,
        });
        let ours = decision.verdict == Verdict::Allow;
        match (theirs, ours) {
            (true, false) => {
                let why = asked.stricter(edges);
                assert!(why.is_some(), "only Gardener allows {asked:?}, in\n{}", self.told());
                why
            }
            (false, true) => panic!("only the gate allows {asked:?}, in\n{}", self.told()),
            _ => None,
        }
    }

    pub(super) fn told(&self) -> String {
        let lines = self.objects.values().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Gardener's graph.
pub(super) struct Edges {
    pub(super) out: HashMap<String, Vec<String>>,
    vertices: BTreeSet<(String, String, String)>,
}

impl Edges {
    fn of(gardener: &mut Gardener) -> Self {
        let mut out: HashMap<String, Vec<String>> = HashMap::new();
        let mut vertices = BTreeSet::new();
        for edge in gardener.edges() {
            let (from, to) = edge.split_once(" -> ").unwrap();
            for vertex in [from, to] {
                vertices.insert(parse(vertex));
            }
            out.entry(from.to_owned()).or_default().push(to.to_owned());
        }
        Self { out, vertices }
    }

    /// Whether there is a way to the seed that leads through no other.
    pub(super) fn lead(&self, (kind, namespace, name): (&str, &str, &str), seed: &str) -> bool {
        let (start, end) = (written(kind, namespace, name), format!("Seed:{seed}"));
        if start == end {
            return true;
        }
        let (mut ahead, mut seen) = (vec![start.clone()], HashSet::new());
        while let Some(at) = ahead.pop() {
            if at == end {
                return true;
            }
            if (at.starts_with("Seed:") && at != start) || !seen.insert(at.clone()) {
                continue;
            }
            ahead.extend(self.out.get(&at).into_iter().flatten().cloned());
        }
        false
    }

    pub(super) fn has(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.vertices
            .contains(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
    }
}

pub(super) fn gate() -> Authorizer {
    Authorizer {
        nodes: Fallback::Deny,
        seeds: Some(SeedRules {
            profile: Profile::Current,
            fallback: Fallback::Deny,
        }),
        node_rules: Features::of(KubernetesVersion::NEWEST).node_rules,
        modes: Modes::UPSTREAM,
        bootstrap: Fallback::Deny,
        others: Fallback::Deny,
        extra: scopegate::authorizer::ExtraRules::NONE,
        masters: Vec::new(),
        caller_known_upstream: true,
    }
}

fn apply(store: &mut Store, kind: &str, object: &Value) {
    match kind {
        "BackupBucket" => store.apply(&read::<graph::BackupBucket>(object)),
        "BackupEntry" => store.apply(&read::<graph::BackupEntry>(object)),
        "Bastion" => store.apply(&read::<graph::Bastion>(object)),
        "ControllerDeployment" => store.apply(&read::<graph::ControllerDeployment>(object)),
        "ControllerInstallation" => store.apply(&read::<graph::ControllerInstallation>(object)),
        "CredentialsBinding" => store.apply(&read::<graph::CredentialsBinding>(object)),
        "Gardenlet" => store.apply(&read::<graph::Gardenlet>(object)),
        "ManagedSeed" => store.apply(&read::<graph::ManagedSeed>(object)),
        "Project" => store.apply(&read::<graph::Project>(object)),
        "SecretBinding" => store.apply(&read::<graph::SecretBinding>(object)),
        "Seed" => store.apply(&read::<graph::Seed>(object)),
        "ServiceAccount" => store.apply(&read::<graph::BootstrapServiceAccount>(object)),
        "Shoot" => store.apply(&read::<graph::Shoot>(object)),
        kind => panic!("no {kind} is watched"),
    }
}

fn read<T: DeserializeOwned>(object: &Value) -> T {
    serde_json::from_value(object.clone()).unwrap()
}

fn kind_of(title: &str) -> Kind {
    let kind = Kind::ALL.iter().find(|kind| kind.title() == title);
    *kind.unwrap_or_else(|| panic!("no kind {title}"))
}

/// As the gate's graph has it.
fn key<'a>(kind: &str, namespace: &'a str, name: &'a str) -> Key<'a> {
    let name = match (kind, namespace) {
        // It knows these by their uid alone.
        ("Secret", "gardener-system-shoot-issuer") => &name[name.rfind("--").unwrap()..],
        _ => name,
    };
    Key::new(kind_of(kind), namespace, name)
}

/// `Kind:namespace/name`, or `Kind:name`.
pub(super) fn parse(vertex: &str) -> (String, String, String) {
    let (kind, rest) = vertex.split_once(':').unwrap();
    let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
    (kind.to_owned(), namespace.to_owned(), name.to_owned())
}

pub(super) fn written(kind: &str, namespace: &str, name: &str) -> String {
    match namespace {
        "" => format!("{kind}:{name}"),
        namespace => format!("{kind}:{namespace}/{name}"),
    }
}

fn now() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_secs()).unwrap()
}
