//! A garden with two seeds, a third that is made of a shoot of the first, and who asks.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Method, Request, header::CONTENT_TYPE};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    admission::{
        Admission, Extended, Known, Look, MirrorPodOwner, NodeRestriction, Payload, Ruling, SeedRestriction, Tie, Told,
        Unsure, node_restriction::tests::encode, seed_restriction::routes::Route,
    },
    authorizer::{
        Authorized, Authorizer, ExtraResources, ExtraRule, ExtraRules, ExtraTarget, Fallback, NodeRules, Profile,
    },
    body::Body,
    caller::{Caller, User},
    graph::{Anchor, ManagedSeed, Shoot, Snapshot, Store},
    protobuf,
    quarantine::Quarantine,
    request::{Head, ResourceRequest, Target},
    rules::{Mode, Modes, Rule},
};

pub(super) const A: &str = "gardener.cloud:system:seed:seed-a";
pub(super) const B: &str = "gardener.cloud:system:seed:seed-b";
pub(super) const C: &str = "gardener.cloud:system:seed:child";
/// An extension of seed-a.
pub(super) const X: &str = "system:serviceaccount:seed-seed-a:extension-x";

pub(super) const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

pub(super) struct World {
    pub(super) profile: Profile,
    pub(super) user: &'static str,
    pub(super) groups: &'static [&'static str],
    pub(super) stored: Vec<Value>,
    /// Whether only upstream may let it.
    pub(super) fallback: bool,
    /// Rules that are not enforced.
    pub(super) off: &'static [Rule],
    /// What the graph knows, if that is something else.
    pub(super) watched: Option<Vec<Value>>,
    pub(super) now: &'static str,
}

/// As the contract has it for its cases, and a shoot on its way from one seed to the other.
pub(super) fn world(profile: Profile, user: &'static str) -> World {
    let shoot = |namespace: &str, name: &str, seed: &str| {
        json!({"kind": "Shoot", "metadata": {"namespace": namespace, "name": name, "uid": format!("uid-{name}")},
               "spec": {"seedName": seed}})
    };
    let seed = |name: &str, uid: &str| json!({"kind": "Seed", "metadata": {"name": name, "uid": uid}});
    let bucket = |name: &str, seed: &str| json!({"kind": "BackupBucket", "metadata": {"name": name}, "spec": {"seedName": seed}});
    let mut moving = shoot("garden-p1", "s3", "seed-b");
    moving["status"] = json!({"seedName": "seed-a"});
    let stored = vec![
        seed("seed-a", "ua"),
        seed("seed-b", "ub"),
        shoot("garden-p1", "s1", "seed-a"),
        shoot("garden-p2", "s2", "seed-b"),
        moving,
        shoot("garden", "child", "seed-a"),
        json!({"kind": "ManagedSeed", "metadata": {"namespace": "garden", "name": "child"}, "spec": {"shoot": {"name": "child"}}}),
        bucket("ua", "seed-a"),
        bucket("ub", "seed-b"),
    ];
    let groups: &[&str] = match user {
        X => &["system:serviceaccounts", "system:serviceaccounts:seed-seed-a"],
        _ => &["gardener.cloud:system:seeds"],
    };
    World {
        profile,
        user,
        groups,
        stored,
        fallback: false,
        off: &[],
        watched: None,
        now: "2026-01-01T00:00:00Z",
    }
}

impl World {
    pub(super) fn with(mut self, object: Value) -> Self {
        self.stored.push(object);
        self
    }

    /// Changes what is stored of a kind under a name.
    pub(super) fn but(mut self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) -> Self {
        let is_it = |object: &&mut Value| object["kind"] == kind && object["metadata"]["name"] == name;
        change(self.stored.iter_mut().find(is_it).unwrap());
        self
    }

    pub(super) fn without(mut self, kind: &str, name: &str) -> Self {
        let before = self.stored.len();
        self.stored
            .retain(|object| object["kind"] != kind || object["metadata"]["name"] != name);
        assert_ne!(self.stored.len(), before, "there is no {kind} {name}");
        self
    }

    /// What comes of a write, which is the same in protobuf if that is how such objects are sent.
    pub(super) fn told(&self, target: &str, body: &Value) -> String {
        let text = body.to_string();
        let told = self.settle(target, JSON, text.as_bytes()).0;
        let authorized = self.authorized(target, JSON);
        let Target::Resource(request) = &authorized.head().info().target else {
            panic!("{target} is no resource");
        };
        let message = Route::of(request, self.profile).and_then(|route| route.endpoint().message);
        if let Some(message) = message {
            let object = encode::object(message, body);
            let body = protobuf::envelope("", "", &[&object]);
            let binary = self.settle(target, PROTOBUF, &body).0;
            assert_eq!(head_of(&binary), head_of(&told), "as protobuf");
        }
        told
    }

    /// What comes of it, and what was asked for it.
    pub(super) fn settle(&self, target: &str, content_type: &str, body: &[u8]) -> (String, Vec<String>) {
        let (admission, authorized) = (self.admission(), self.authorized(target, content_type));
        let mut payload = match admission.look(&authorized) {
            Look::AtBody => Payload::Whole(Bytes::copy_from_slice(body)),
            _ => Payload::Stream(Body::from(Bytes::copy_from_slice(body))),
        };
        let (graph, mut told, mut asked) = (self.graph(), Told::default(), Vec::new());
        for _ in 0..8 {
            let known = Known::new((&graph, true), true, &told).at(self.now.parse().unwrap());
            let unsure = match admission.admit(&authorized, &mut payload, &known) {
                Err(rejection) => {
                    let message = rejection.message.split_once(" is forbidden: ");
                    let message = message.map_or(&*rejection.message, |(_, why)| why);
                    let code = rejection.code.as_u16();
                    // What is not well formed, and what is there, no rule has to say.
                    assert!(
                        rejection.rule.is_some() || [400, 405, 409, 415].contains(&code),
                        "{rejection:?}"
                    );
                    return (format!("{code} {message}"), asked);
                }
                Ok(Ruling::Admitted(admitted)) => {
                    let tie = admitted.tie().clone();
                    let sent = admitted.into_body().whole().now_or_never().unwrap().unwrap();
                    let told = match tie {
                        Tie::None => "passes".to_owned(),
                        tie => format!("passes {tie:?} {}", String::from_utf8_lossy(&sent)),
                    };
                    return (told, asked);
                }
                Ok(Ruling::Unsure(unsure)) => unsure,
            };
            match unsure {
                Unsure::Stored => {
                    let Target::Resource(request) = &authorized.head().info().target else {
                        panic!("{target} is no resource");
                    };
                    told.stored = Some(self.stored(request));
                    asked.push("stored".to_owned());
                }
                Unsure::Read(object) => {
                    told.read.push(((*object).clone(), self.stored(&object)));
                    asked.push(format!("{object}"));
                }
                Unsure::Objects(wanted) => {
                    asked.extend(wanted.iter().map(|wanted| wanted.key().to_string()));
                    told.objects.extend(wanted.into_iter().map(|wanted| (wanted, None)));
                }
                Unsure::Reviews(_) | Unsure::Rehearsal(_) => panic!("{unsure:?}"),
            }
        }
        panic!("{target} asks for ever: {asked:?}");
    }

    fn graph(&self) -> Arc<Snapshot> {
        let mut store = Store::new(Anchor::Seed);
        for object in self.watched.as_ref().unwrap_or(&self.stored) {
            match object["kind"].as_str().unwrap() {
                "ManagedSeed" => store.apply(&read::<ManagedSeed>(object)),
                "Shoot" => store.apply(&read::<Shoot>(object)),
                _ => {}
            }
        }
        store.publish()
    }

    fn admission(&self) -> Admission {
        let mut modes = Modes::UPSTREAM;
        self.off.iter().for_each(|rule| modes.set(*rule, Mode::Audit));
        Admission {
            node_restriction: NodeRestriction {
                audiences: true,
                any_certificate: false,
                pod_certificates: false,
                apply: false,
                mirror_pod_owner: MirrorPodOwner::Upstream,
                extended: Extended::default(),
            },
            seeds: Some(SeedRestriction { profile: self.profile }),
            validated: None,
            modes,
        }
    }

    fn authorized(&self, target: &str, content_type: &str) -> Arc<Authorized> {
        let everything = || vec!["*".to_owned()];
        let all = ExtraRule {
            verbs: everything(),
            target: ExtraTarget::Resources(ExtraResources {
                groups: everything(),
                resources: everything(),
                names: Vec::new(),
                namespaces: Vec::new(),
            }),
        };
        let authorizer = Authorizer {
            nodes: Fallback::Upstream,
            seeds: None,
            node_rules: NodeRules {
                selectors: true,
                trust_bundles: false,
                pod_certificates: false,
                service_accounts: Some(true),
                events_group: true,
            },
            modes: Modes::UPSTREAM,
            bootstrap: Fallback::Upstream,
            others: Fallback::Upstream,
            extra: ExtraRules {
                others: if self.fallback { Vec::new() } else { vec![all] },
                ..ExtraRules::NONE
            },
            masters: Vec::new(),
            caller_known_upstream: true,
        };
        let user = User {
            name: self.user.to_owned(),
            groups: self.groups.iter().map(ToString::to_string).collect(),
            ..User::default()
        };
        let (method, uri) = target.split_once(' ').unwrap();
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header(CONTENT_TYPE, content_type);
        let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
        let quarantine = Quarantine::default();
        let authorized = authorizer.authorize(Caller::from(user), head, &quarantine, &Snapshot::default());
        Arc::new(authorized.unwrap())
    }

    /// As upstream lists it: without what it is, and without a namespace from wherever it is.
    fn stored(&self, request: &ResourceRequest) -> Option<Bytes> {
        let namespace = |object: &Value| object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let is_it = |object: &&Value| {
            let kind = object["kind"].as_str().unwrap().to_lowercase();
            let plural = kind
                .strip_suffix('y')
                .map_or(format!("{kind}s"), |stem| format!("{stem}ies"));
            request.resource.resource == plural
                && object["metadata"]["name"] == request.name
                && (request.namespace.is_empty() || namespace(object) == request.namespace)
        };
        let mut object = self.stored.iter().find(is_it)?.clone();
        object.as_object_mut().unwrap().remove("kind");
        if object["metadata"]["uid"].is_null() {
            object["metadata"]["uid"] = json!("some-uid");
        }
        Some(Bytes::from(object.to_string()))
    }
}

/// Without the body, which is another one in protobuf.
fn head_of(told: &str) -> &str {
    told.split_once(" {")
        .or_else(|| told.split_once(" k8s"))
        .map_or(told, |(head, _)| head)
}

fn read<T: DeserializeOwned>(object: &Value) -> T {
    serde_json::from_value(object.clone()).unwrap()
}
