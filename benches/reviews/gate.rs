//! As much of a gate as decides about a request before it is sent.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use scopegate::{
    admission::{
        Admission, Extended, Known, Look, MirrorPodOwner, NodeRestriction, Payload, Ruling, Told, Unsure,
        ValidatedAnnotations,
    },
    authorizer::{
        Authorized, Authorizer, ExtraRules, Fallback, NodeRules,
        acting_as::{ActingAs, Answer},
    },
    caller::{Caller, Leave, Semantics, User},
    graph::Snapshot,
    pipeline::reviews::{Metrics, Remember, Reviews},
    quarantine::Quarantine,
    request::Head,
    review::Review,
    rules::Modes,
};
use serde_json::json;

pub(super) struct Gate {
    admission: Admission,
    authorizer: Authorizer,
    acting: ActingAs,
    reviews: Reviews,
    caller: Caller,
    graph: Snapshot,
    quarantine: Quarantine,
    /// How often upstream was asked.
    pub(super) asked: Arc<AtomicUsize>,
}

/// A request as it comes.
pub(super) struct Sent {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Sent {
    pub(super) fn new(method: &str, target: &str, more: &[(&'static str, &str)], body: &str) -> Self {
        let usual = [
            ("accept", "application/json, */*"),
            ("accept-encoding", "gzip"),
            ("content-type", "application/json"),
            ("host", "gate.example.com:8443"),
            (
                "user-agent",
                "kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/0123456",
            ),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in usual.iter().chain(more) {
            headers.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        Self {
            method: method.parse().unwrap(),
            target: target.to_owned(),
            headers,
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    fn head(&self) -> Head {
        let mut request = Request::new(());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.target.parse().unwrap();
        *request.headers_mut() = self.headers.clone();
        Head::read(request.into_parts().0).unwrap()
    }
}

impl Gate {
    /// With validated annotations, and before an upstream that allows everything.
    pub(super) fn new(validated: bool) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let ask: scopegate::identity::token::Ask = Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Box::pin(async {
                tokio::task::yield_now().await;
                Ok((StatusCode::CREATED, json!({"status": {"allowed": true}})))
            })
        });
        let forever = std::time::Duration::from_secs(3600);
        let remember = Remember {
            allowed: forever,
            denied: forever,
        };
        let user = User {
            name: "system:serviceaccount:controllers:manager".to_owned(),
            uid: Some("3e1c3a3e-5b2f-4b53-9d0c-6e0c0a2f9a11".to_owned()),
            groups: [
                "system:serviceaccounts",
                "system:serviceaccounts:controllers",
                "system:authenticated",
            ]
            .map(str::to_owned)
            .to_vec(),
            extra: vec![(
                "authentication.kubernetes.io/credential-id".to_owned(),
                vec!["JTI=253ea5dc-ad5a-4014-b886-fe5016a9f965".to_owned()],
            )],
        };
        Self {
            admission: Admission {
                node_restriction: NodeRestriction {
                    audiences: true,
                    any_certificate: false,
                    pod_certificates: false,
                    apply: false,
                    mirror_pod_owner: MirrorPodOwner::Upstream,
                    extended: Extended::default(),
                },
                seeds: None,
                validated: validated.then(|| ValidatedAnnotations::new(true, Vec::new(), Vec::new())),
                modes: Modes::DEFAULT,
            },
            authorizer: Authorizer {
                nodes: Fallback::Deny,
                seeds: None,
                node_rules: NodeRules {
                    selectors: true,
                    trust_bundles: false,
                    pod_certificates: false,
                    service_accounts: Some(true),
                    events_group: true,
                },
                modes: Modes::DEFAULT,
                bootstrap: Fallback::Upstream,
                others: Fallback::Upstream,
                extra: ExtraRules::NONE,
                masters: Vec::new(),
                caller_known_upstream: true,
            },
            acting: ActingAs::DEFAULT,
            reviews: Reviews::new(ask, remember, Metrics::default()),
            caller: Caller::from(user),
            graph: Snapshot::default(),
            quarantine: Quarantine::default(),
            asked,
        }
    }

    fn authorized(&self, caller: Caller, head: Head) -> Arc<Authorized> {
        let authorized = self.authorizer.authorize(caller, head, &self.quarantine, &self.graph);
        Arc::new(authorized.unwrap())
    }

    /// As the pipeline acts as somebody: the rules, then what upstream says to each question, and to the actor's own power.
    pub(super) async fn acts(&self, sent: &Sent) {
        let head = sent.head();
        let mut caller = self.caller.clone();
        if let Some(wanted) = self.acting.wanted(&caller, &head) {
            let Answer::Ask(ways) = self.acting.answer(&caller, &wanted, &head) else {
                panic!("nobody is asked");
            };
            let way = ways.into_iter().next().unwrap();
            let asker = &caller.user.name;
            for step in way.steps {
                for review in step.at_once.into_iter().chain(step.each) {
                    assert!(self.reviews.allows(&review, asker).await.unwrap());
                }
            }
            let own = Review::of_request(&caller.user, head.info(), None);
            assert!(self.reviews.allows(&own, asker).await.unwrap());
            caller = wanted.granted(&self.caller, Leave::Review(way.mode), Semantics::Intersection);
        }
        self.authorized(caller, head);
    }

    /// From the head to what would be forwarded.
    pub(super) async fn creates(&self, sent: &Sent) {
        let authorized = self.authorized(self.caller.clone(), sent.head());
        let mut payload = Payload::Whole(sent.body.clone());
        let mut told = Told::default();
        loop {
            let remembered = |review: &Review| self.reviews.remembered(review);
            let known = Known::new((&self.graph, true), true, &told).remembering(&remembered);
            match self.admission.admit(&authorized, &mut payload, &known).unwrap() {
                Ruling::Admitted(_) => return,
                Ruling::Unsure(Unsure::Reviews(reviews)) => {
                    for review in reviews {
                        let allowed = self.reviews.allows(&review, &self.caller.user.name).await.unwrap();
                        told.reviews.push((review, allowed));
                    }
                }
                Ruling::Unsure(unsure) => panic!("{unsure:?} is asked for"),
            }
        }
    }

    /// All that these features do with a request that they are not about.
    pub(super) fn passes(&self, sent: &Sent) -> Look {
        let head = sent.head();
        assert!(self.acting.wanted(&self.caller, &head).is_none());
        let authorized = self.authorized(self.caller.clone(), head);
        self.admission.look(&authorized)
    }

    /// One question about a request.
    pub(super) async fn may(&self, sent: &Sent) {
        let review = Review::of_request(&self.caller.user, sent.head().info(), None);
        assert!(self.reviews.allows(&review, &self.caller.user.name).await.unwrap());
    }
}
