//! Who may use what, and what is stored.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Method, Request, header::CONTENT_TYPE};
use serde_json::{Value, json};

use crate::{
    admission::{
        Admission, Extended, Known, Look, MirrorPodOwner, NodeRestriction, Payload, Place, Ruling, Tie, Told, Unsure,
        ValidatedAnnotations,
    },
    authorizer::{Authorized, Authorizer, ExtraRules, Fallback, NodeRules},
    body::Body,
    caller::{Caller, Leave, Semantics, User},
    graph::Snapshot,
    quarantine::Quarantine,
    request::{Head, ResourceRequest},
    review::Action,
    rules::Modes,
};

pub(super) struct World {
    /// Whoever asks.
    pub(super) user: &'static str,
    /// Whether somebody else acts as it.
    pub(super) acted: bool,
    /// `key=value` that everybody may use.
    pub(super) granted: &'static [&'static str],
    /// Whether upstream allows what is asked for itself.
    pub(super) allowed: bool,
    pub(super) stored: Vec<Value>,
    /// What a dry run comes out as.
    pub(super) rehearsed: Option<Value>,
    pub(super) ports: bool,
}

impl Default for World {
    fn default() -> Self {
        Self {
            user: "bob",
            acted: false,
            granted: &[],
            allowed: true,
            stored: Vec::new(),
            rehearsed: None,
            ports: true,
        }
    }
}

/// What comes of a request: how it is refused; or what is sent on, and what was asked for it.
pub(super) fn told(world: &World, method: &str, uri: &str, content_type: &str, body: &[u8]) -> String {
    let (end, asked) = world.settle(method, uri, content_type, body);
    match asked.as_slice() {
        [] => end,
        asked => format!("{end} [{}]", asked.join(", ")),
    }
}

/// An object of a kind with this at the place of its template.
pub(super) fn annotated(api_version: &str, kind: &str, place: &str, set: Option<&str>, field: Option<Value>) -> Value {
    let mut template = json!({"metadata": {}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    if let Some(set) = set {
        template["metadata"]["annotations"] = json!({"scopegate.dev/validated-annotations": set});
    }
    if let Some(field) = field {
        template["spec"]["validatedAnnotations"] = field;
    }
    let mut object = place
        .split('.')
        .rev()
        .filter(|key| !key.is_empty())
        .fold(template, |inner, key| json!({key: inner}));
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    object["metadata"]["name"] = json!("x");
    object["metadata"]["namespace"] = json!("ns");
    object
}

impl World {
    fn admission(&self) -> Admission {
        let worker = ["group", "workers", "Worker"].map(str::to_owned);
        let [_, resource, kind] = worker;
        let pointer = vec![vec!["spec".to_owned(), "pod".to_owned()]];
        let worker = Place::custom("example.com".to_owned(), resource, kind, &pointer);
        let creators = vec!["system:serviceaccount:kube-system:replicaset-controller".to_owned()];
        Admission {
            node_restriction: NodeRestriction {
                audiences: true,
                any_certificate: false,
                pod_certificates: false,
                apply: false,
                mirror_pod_owner: MirrorPodOwner::Upstream,
                extended: Extended::default(),
            },
            seeds: None,
            validated: Some(ValidatedAnnotations::new(self.ports, creators, vec![worker])),
            modes: Modes::UPSTREAM,
        }
    }

    fn authorized(&self, method: &str, uri: &str, content_type: &str) -> Arc<Authorized> {
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
            extra: ExtraRules::NONE,
            masters: Vec::new(),
            caller_known_upstream: true,
        };
        let groups = self.user.starts_with("system:node:").then(|| "system:nodes".to_owned());
        let user = User {
            name: self.user.to_owned(),
            groups: groups.into_iter().collect(),
            ..User::default()
        };
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = Request::builder().method(method).uri(uri);
        if !content_type.is_empty() {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
        let quarantine = Quarantine::default();
        let caller = if self.acted {
            let actor = Caller::from(User::default());
            Caller::acted(user, &actor, Leave::Delegation(0), Semantics::Subject)
        } else {
            Caller::from(user)
        };
        let authorized = authorizer.authorize(caller, head, &quarantine, &Snapshot::default());
        Arc::new(authorized.unwrap())
    }

    fn settle(&self, method: &str, uri: &str, content_type: &str, body: &[u8]) -> (String, Vec<String>) {
        let (admission, authorized) = (self.admission(), self.authorized(method, uri, content_type));
        let mut payload = match admission.look(&authorized) {
            Look::AtBody => Payload::Whole(Bytes::copy_from_slice(body)),
            _ => Payload::Stream(Body::from(Bytes::copy_from_slice(body))),
        };
        let (graph, mut told, mut asked) = (Snapshot::default(), Told::default(), Vec::new());
        for _ in 0..8 {
            let known = Known::new((&graph, true), true, &told);
            let unsure = match admission.admit(&authorized, &mut payload, &known) {
                Err(rejection) => return (format!("{} {}", rejection.code.as_u16(), rejection.message), asked),
                Ok(Ruling::Admitted(admitted)) => {
                    let tie = match admitted.tie() {
                        Tie::None => "",
                        Tie::Uid(_) => " at its uid",
                        Tie::Version(_) => " at its version",
                    };
                    let form = admitted.content_type().map(|form| format!(" as {form}"));
                    assert!(admitted.is_validated() || admission.look(&authorized) == Look::Away);
                    let sent = admitted.into_body().whole().now_or_never().unwrap().unwrap();
                    let sent = if sent == body {
                        "as it is".into()
                    } else {
                        String::from_utf8_lossy(&sent)
                    };
                    return (format!("passes{tie}{}: {sent}", form.unwrap_or_default()), asked);
                }
                Ok(Ruling::Unsure(unsure)) => unsure,
            };
            match unsure {
                Unsure::Stored => {
                    let crate::request::Target::Resource(request) = &authorized.head().info().target else {
                        panic!("{uri} is no resource");
                    };
                    told.stored = Some(self.stored(request));
                    asked.push("stored".to_owned());
                }
                Unsure::Read(object) => {
                    told.read.push(((*object).clone(), self.stored(&object)));
                    asked.push(format!("{object}"));
                }
                Unsure::Reviews(reviews) => {
                    for review in reviews {
                        assert_eq!(review.user.name, self.user);
                        let Action::Resource(action) = &review.action else {
                            panic!("{review:?}");
                        };
                        let allowed = if action.verb == "use" {
                            assert_eq!(action.group, "authorization.k8s.io");
                            assert_eq!(action.resource, "validatedannotations");
                            assert_eq!(action.namespace, "");
                            let used = format!("{}={}", action.name, action.subresource);
                            let allowed = self.granted.contains(&used.as_str());
                            asked.push(used);
                            allowed
                        } else {
                            asked.push(format!("may {}", action.verb));
                            self.allowed
                        };
                        told.reviews.push((review, allowed));
                        if !allowed {
                            break;
                        }
                    }
                }
                Unsure::Rehearsal(_) => {
                    let rehearsed = self.rehearsed.as_ref().expect("nothing is rehearsed");
                    told.rehearsed = Some(Bytes::from(rehearsed.to_string()));
                    asked.push("dry run".to_owned());
                }
                Unsure::Objects(_) => panic!("{unsure:?}"),
            }
        }
        panic!("{method} {uri} asks for ever: {asked:?}");
    }

    /// As upstream lists it: without what it is.
    fn stored(&self, request: &ResourceRequest) -> Option<Bytes> {
        let is_it = |object: &&Value| {
            let kind = object["kind"].as_str().unwrap().to_lowercase();
            request.resource.resource.starts_with(&kind)
                && object["metadata"]["name"] == request.name
                && object["metadata"]["namespace"] == request.namespace
        };
        let mut object = self.stored.iter().find(is_it)?.clone();
        let whole = object.as_object_mut().unwrap();
        whole.remove("apiVersion");
        whole.remove("kind");
        object["metadata"]["uid"] = json!(format!("uid-{}", request.name));
        object["metadata"]["resourceVersion"] = json!("7");
        Some(Bytes::from(object.to_string()))
    }
}
