//! The same of a garden: real objects with whatever references there can be, and a model that only knows their edges.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::graph::{
    Anchor, Asserts, BackupBucket, BackupEntry, Bastion, BootstrapServiceAccount, ControllerDeployment,
    ControllerInstallation, CredentialsBinding, Edge, Gardenlet, Key, Kind, ManagedSeed, Project, Relation,
    SecretBinding, Seed, SeedClientRequest, Shoot, Snapshot, Store, Watched, snapshot::Sizes,
};

const SEEDS: &[&str] = &["a", "b", "c"];
const NAMESPACES: &[&str] = &["garden", "p"];
/// Shoots and managed seeds have the names of seeds too.
const NAMES: &[&str] = &["a", "b", "c"];
const EXPIRES: &[&str] = &["1970-01-01T00:16:40Z", "1970-01-01T00:16:42Z", "1970-01-01T00:16:45Z"];

/// The request of every seed. A key for each event would take long.
static REQUESTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let requests = SEEDS.iter().map(|seed| crate::graph::seed_request(seed));
    requests.collect()
});

type Name = (Kind, String, String);

#[derive(Clone, Debug)]
enum Event {
    /// The kind, by its place among those that are watched, and what the rest is made of.
    Apply(usize, Vec<u8>),
    Delete(usize, u8),
    /// A list that holds only some.
    Relist(usize, u8),
    Wait(i64),
    Restart,
}

struct Object {
    slim: Box<dyn Asserts>,
    value: Value,
}

struct Model {
    objects: BTreeMap<Name, Object>,
    now: i64,
}

/// Numbers that decide what an object says, one after the other.
struct Dice<'a>(std::slice::Iter<'a, u8>);

type Make = fn(&mut Dice<'_>) -> Value;
type Slim = fn(&Value) -> Box<dyn Asserts>;

const WATCHED: &[(Kind, Make, Slim)] = &[
    (Kind::BackupBucket, bucket, slim::<BackupBucket>),
    (Kind::BackupEntry, entry, slim::<BackupEntry>),
    (Kind::Bastion, bastion, slim::<Bastion>),
    (Kind::CertificateSigningRequest, request, slim::<SeedClientRequest>),
    (Kind::ControllerDeployment, deployment, slim::<ControllerDeployment>),
    (
        Kind::ControllerInstallation,
        installation,
        slim::<ControllerInstallation>,
    ),
    (Kind::CredentialsBinding, binding, slim::<CredentialsBinding>),
    (Kind::Gardenlet, gardenlet, slim::<Gardenlet>),
    (Kind::ManagedSeed, managed_seed, slim::<ManagedSeed>),
    (Kind::Project, project, slim::<Project>),
    (Kind::SecretBinding, binding, slim::<SecretBinding>),
    (Kind::Seed, seed, slim::<Seed>),
    (Kind::ServiceAccount, account, slim::<BootstrapServiceAccount>),
    (Kind::Shoot, shoot, slim::<Shoot>),
];

fn slim<T: Watched>(value: &Value) -> Box<dyn Asserts> {
    Box::new(serde_json::from_value::<T>(value.clone()).unwrap())
}

impl Dice<'_> {
    fn next(&mut self) -> usize {
        self.0.next().copied().unwrap_or_default().into()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.next() % of.len()]
    }

    /// Nothing, every other time.
    fn maybe(&mut self, of: &[&str]) -> Value {
        if self.next().is_multiple_of(2) {
            Value::Null
        } else {
            self.one(of).into()
        }
    }

    fn object(&mut self, namespaced: bool) -> Value {
        let mut metadata = json!({"name": self.one(NAMES), "uid": self.one(&["u", "v"])});
        if namespaced {
            metadata["namespace"] = self.one(NAMESPACES).into();
        }
        metadata["annotations"] = match self.next() % 3 {
            0 => json!({"gardener.cloud/operation": "renew-kubeconfig"}),
            1 => json!({"authentication.gardener.cloud/issuer": "managed"}),
            _ => json!(null),
        };
        json!({"metadata": metadata})
    }

    fn reference(&mut self) -> Value {
        let (api_version, kind) = match self.next() % 6 {
            0 => ("v1", "ConfigMap"),
            1 => ("security.gardener.cloud/v1alpha1", "WorkloadIdentity"),
            2 => ("core.gardener.cloud/v1beta1", "InternalSecret"),
            _ => ("v1", "Secret"),
        };
        json!({"apiVersion": api_version, "kind": kind, "namespace": self.one(NAMESPACES), "name": self.one(&["x", "y"])})
    }

    fn named(&mut self) -> Value {
        json!({"name": self.one(NAMES)})
    }

    fn seed_spec(&mut self) -> Value {
        let resources = json!([{"resourceRef": self.reference()}, {"resourceRef": self.reference()}]);
        let resources = if self.next().is_multiple_of(2) {
            resources
        } else {
            json!([])
        };
        json!({"backup": {"credentialsRef": self.reference(), "secretRef": self.reference()}, "resources": resources})
    }
}

fn bucket(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(false);
    object["spec"] = json!({"seedName": dice.maybe(SEEDS), "credentialsRef": dice.reference()});
    if dice.next().is_multiple_of(3) {
        object["spec"]["shootRef"] = json!({"namespace": dice.one(NAMESPACES), "name": dice.one(NAMES)});
    }
    object["status"] = json!({"generatedSecretRef": dice.reference()});
    object
}

fn entry(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(true);
    object["spec"] = json!({"seedName": dice.maybe(SEEDS), "bucketName": dice.one(NAMES)});
    object["status"] = json!({"seedName": dice.maybe(SEEDS)});
    if dice.next().is_multiple_of(2) {
        object["metadata"]["ownerReferences"] = json!([{"kind": "Shoot", "name": dice.one(NAMES)}]);
    }
    object
}

fn bastion(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(true);
    object["spec"] = json!({"seedName": dice.maybe(SEEDS)});
    object
}

fn request(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(false);
    let usages = ["client auth", "digital signature", "key encipherment"];
    let request = &REQUESTS[dice.next() % SEEDS.len()];
    object["spec"] = json!({"request": request, "usages": usages, "signerName": "kubernetes.io/kube-apiserver-client"});
    object
}

fn deployment(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(false);
    object["helm"] = json!({"ociRepository": {"pullSecretRef": {"name": dice.one(&["x", "y"])}}});
    object["resources"] = json!([{"resourceRef": dice.reference()}]);
    object
}

fn installation(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(false);
    object["spec"] = json!({"deploymentRef": dice.named(), "registrationRef": dice.named()});
    if !dice.next().is_multiple_of(4) {
        object["spec"]["seedRef"] = dice.named();
    }
    if dice.next().is_multiple_of(4) {
        object["spec"]["shootRef"] = json!({"namespace": dice.one(NAMESPACES), "name": dice.one(NAMES)});
    }
    object
}

fn binding(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(true);
    object["credentialsRef"] = dice.reference();
    object["secretRef"] = dice.reference();
    object
}

fn gardenlet(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(true);
    object["spec"] = json!({"config": {"seedConfig": {"spec": dice.seed_spec()}}});
    object
}

fn managed_seed(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(true);
    let bootstrap = dice.maybe(&["BootstrapToken", "ServiceAccount"]);
    let config = json!({"seedConfig": {"spec": dice.seed_spec()}});
    object["spec"] = json!({"shoot": dice.named(), "gardenlet": {"bootstrap": bootstrap, "config": config}});
    object
}

fn project(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(false);
    object["spec"] = json!({"namespace": dice.maybe(NAMESPACES)});
    object
}

fn seed(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(false);
    object["spec"] = dice.seed_spec();
    object["status"] = json!({"clientCertificateExpirationTimestamp": dice.maybe(EXPIRES)});
    object
}

fn account(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(true);
    let name = format!("gardenlet-bootstrap-{}", dice.one(NAMES));
    object["metadata"]["name"] = name.into();
    object["secrets"] = json!([{"name": dice.one(&["x", "y"])}]);
    object
}

fn shoot(dice: &mut Dice<'_>) -> Value {
    let mut object = dice.object(true);
    object["spec"] = json!({
        "seedName": dice.maybe(SEEDS), "secretBindingName": dice.maybe(NAMES), "credentialsBindingName": dice.maybe(NAMES),
        "cloudProfileName": dice.maybe(NAMES), "exposureClassName": dice.maybe(NAMES),
        "resources": [{"resourceRef": dice.reference()}], "dns": {"providers": [{"secretName": dice.maybe(&["x", "y"])}]},
    });
    object["status"] = json!({"seedName": dice.maybe(SEEDS)});
    object
}

impl Model {
    /// Every edge that there has to be. Leaves to begin are made up from the objects as they were sent, not from what the graph
    /// knows of them.
    fn edges(&self) -> BTreeSet<(Name, Name)> {
        let mut edges = BTreeSet::new();
        for (name, object) in &self.objects {
            collect(&*object.slim, &mut edges);
            if let Some(part) = object.slim.part() {
                collect(part, &mut edges);
            }
            let Some((leave, needs)) = self.leave(name, &object.value) else {
                continue;
            };
            edges.insert((leave.clone(), name.clone()));
            edges.extend(needs.into_iter().map(|need| (need, leave.clone())));
        }
        edges
    }

    fn leave(&self, (kind, namespace, name): &Name, value: &Value) -> Option<(Name, Vec<Name>)> {
        let renews = value["metadata"]["annotations"]["gardener.cloud/operation"] == "renew-kubeconfig";
        let seed = self.objects.get(&(Kind::Seed, String::new(), name.clone()));
        let expired = seed.is_some_and(|seed| {
            let at = &seed.value["status"]["clientCertificateExpirationTimestamp"];
            EXPIRES
                .iter()
                .zip([1000, 1002, 1005])
                .any(|(text, at_second)| at == text && at_second < self.now)
        });
        let begins = &value["spec"]["gardenlet"]["bootstrap"];
        let (leave, may, by_token) = match kind {
            Kind::ManagedSeed if begins.is_null() => return None,
            Kind::ManagedSeed => (
                name.clone(),
                seed.is_none() || expired || renews,
                begins == "BootstrapToken",
            ),
            Kind::Gardenlet => (format!("gardenlet:{name}"), seed.is_some() && (expired || renews), true),
            _ => return None,
        };
        let needs = if by_token {
            let secret = crate::api::garden::bootstrap_token_secret(namespace, name);
            vec![(Kind::Secret, "kube-system".to_owned(), secret)]
        } else {
            let account = format!("gardenlet-bootstrap-{name}");
            let binding = format!("gardener.cloud:system:seed-bootstrapper:{namespace}:{account}");
            vec![
                (Kind::ServiceAccount, namespace.clone(), account),
                (Kind::ClusterRoleBinding, String::new(), binding),
            ]
        };
        may.then(|| ((Kind::Bootstrap, namespace.clone(), leave), needs))
    }

    /// Searched from the object, and not beyond a seed unless it begins there.
    fn seeds<'a>(&self, edges: &'a BTreeSet<(Name, Name)>, from: &'a Name) -> BTreeSet<&'a str> {
        let mut seeds = BTreeSet::new();
        if from.0 == Kind::Seed && (self.objects.contains_key(from) || edges.iter().any(|(_, to)| to == from)) {
            seeds.insert(from.2.as_str());
        }
        let mut seen = BTreeSet::from([from]);
        let mut ahead = vec![from];
        while let Some(at) = ahead.pop() {
            if at.0 == Kind::Seed && at != from {
                seeds.insert(&at.2);
                continue;
            }
            let since = edges.range((at.clone(), (Kind::ALL[0], String::new(), String::new()))..);
            let next = since.take_while(|(from, _)| from == at).map(|(_, to)| to);
            ahead.extend(next.filter(|to| seen.insert(to)));
        }
        seeds
    }
}

fn collect(object: &dyn Asserts, edges: &mut BTreeSet<(Name, Name)>) {
    let own = owned(object.key());
    object.edges(&mut |Edge { other, field }| {
        edges.insert(match field.relation() {
            Relation::Needs => (owned(other), own.clone()),
            Relation::BelongsTo => (own.clone(), owned(other)),
        });
    });
}

fn owned(key: Key<'_>) -> Name {
    (key.kind, key.namespace.to_owned(), key.name.to_owned())
}

fn key((kind, namespace, name): &Name) -> Key<'_> {
    Key::new(*kind, namespace, name)
}

fn check(snapshot: &Snapshot, model: &Model, asked: &mut BTreeSet<Name>) {
    let edges = model.edges();
    asked.extend(edges.iter().flat_map(|(from, to)| [from.clone(), to.clone()]));
    asked.extend(model.objects.keys().cloned());
    for name in asked.iter() {
        let seeds = model.seeds(&edges, name);
        for seed in SEEDS {
            let expected = seeds.contains(seed);
            assert_eq!(snapshot.reaches(seed, key(name)), expected, "{name:?} of {seed}");
            let path = snapshot.path(seed, key(name));
            if name.0 == Kind::Seed && name.2 == *seed {
                assert_eq!(path, None);
                continue;
            }
            assert_eq!(path.is_some(), expected, "{name:?} of {seed}");
            assert_eq!(snapshot.readers(key(name)).contains(seed), expected);
            let mut to = (Kind::Seed, String::new(), (*seed).to_owned());
            for step in path.iter().flat_map(|path| &path.steps) {
                let from = owned(step.key());
                assert!(edges.contains(&(from.clone(), to.clone())), "{from:?} leads to {to:?}");
                to = from;
            }
            assert!(path.is_none() || to == *name);
        }
    }
}

/// The store, and what the writer does about time.
struct Kept {
    store: Store,
    due: BTreeMap<(String, String), i64>,
}

impl Kept {
    fn new() -> Self {
        let (store, due) = (Store::new(Anchor::Seed), BTreeMap::new());
        Self { store, due }
    }

    fn settle(&mut self, namespace: &str, name: &str, now: i64) {
        let of = (namespace.to_owned(), name.to_owned());
        match self.store.settle_bootstrap(namespace, name, now) {
            Some(due) => self.due.insert(of, due),
            None => self.due.remove(&of),
        };
    }

    /// Seeds are of all namespaces here.
    fn changed(&mut self, (kind, namespace, name): &Name, now: i64) {
        match kind {
            Kind::Gardenlet | Kind::ManagedSeed => self.settle(namespace, name, now),
            Kind::Seed => NAMESPACES
                .iter()
                .for_each(|namespace| self.settle(namespace, name, now)),
            _ => {}
        }
    }

    fn listed(&mut self, now: i64) {
        for (namespace, name) in self.store.beginners() {
            self.settle(&namespace, &name, now);
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    let kind = || 0..WATCHED.len();
    prop_oneof![
        12 => (kind(), vec(any::<u8>(), 28)).prop_map(|(kind, dice)| Event::Apply(kind, dice)),
        4 => (kind(), any::<u8>()).prop_map(|(kind, which)| Event::Delete(kind, which)),
        1 => (kind(), any::<u8>()).prop_map(|(kind, bits)| Event::Relist(kind, bits)),
        1 => (0..4i64).prop_map(Event::Wait),
        1 => Just(Event::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn a_garden_answers_as_the_model_does(events in vec((event(), any::<bool>()), 1..50)) {
        let mut kept = Kept::new();
        let mut model = Model { objects: BTreeMap::new(), now: 998 };
        let mut asked = BTreeSet::new();
        for (event, publish) in events {
            match event {
                Event::Apply(at, dice) => {
                    let (_, make, slim) = WATCHED[at];
                    let value = make(&mut Dice(dice.iter()));
                    let slim = slim(&value);
                    kept.store.apply(&*slim);
                    let name = owned(slim.key());
                    kept.changed(&name, model.now);
                    model.objects.insert(name, Object { slim, value });
                }
                Event::Delete(at, which) => {
                    let of_kind: Vec<Name> = model.objects.keys().filter(|name| name.0 == WATCHED[at].0).cloned().collect();
                    if let Some(name) = of_kind.get(usize::from(which) % of_kind.len().max(1)) {
                        kept.store.delete(key(name));
                        kept.changed(name, model.now);
                        model.objects.remove(name);
                    }
                }
                Event::Relist(at, bits) => {
                    let kind = WATCHED[at].0;
                    let of_kind: Vec<Name> = model.objects.keys().filter(|name| name.0 == kind).cloned().collect();
                    let gone: BTreeSet<Name> = of_kind.into_iter().enumerate().filter(|(at, _)| bits >> (at % 8) & 1 == 0).map(|(_, name)| name).collect();
                    kept.store.retain(kind, |key| !gone.contains(&owned(key)));
                    kept.listed(model.now);
                    model.objects.retain(|name, _| !gone.contains(name));
                }
                Event::Wait(seconds) => {
                    model.now += seconds;
                    let due: Vec<_> = kept.due.extract_if(.., |_, due| *due <= model.now).map(|(of, _)| of).collect();
                    for (namespace, name) in due {
                        kept.settle(&namespace, &name, model.now);
                    }
                }
                Event::Restart => {
                    kept = Kept::new();
                    for (name, object) in &model.objects {
                        kept.store.apply(&*object.slim);
                        kept.changed(name, model.now);
                    }
                    kept.listed(model.now);
                }
            }
            if publish {
                check(&kept.store.publish(), &model, &mut asked);
            }
        }
        check(&kept.store.publish(), &model, &mut asked);
        // Nothing stays behind when everything is gone.
        for name in model.objects.into_keys() {
            kept.store.delete(key(&name));
            kept.changed(&name, model.now);
        }
        let (snapshot, store) = (kept.store.publish(), kept.store);
        prop_assert_eq!(snapshot.sizes(), Sizes::default());
        prop_assert!(kept.due.is_empty());
        prop_assert!(store.needed.is_empty() && store.belonged.is_empty() && store.asserted.is_empty() && store.changed.is_empty());
        prop_assert_eq!(store.free.len(), store.entries.len());
    }
}
