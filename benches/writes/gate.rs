//! Admission as the gate has it, with a graph of one node and one pod.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use scopegate::{
    admission::{Admission, Extended, Known, MirrorPodOwner, NodeRestriction, Payload, Ruling, Told, Wanted},
    authorizer::{Authorized, Authorizer, ExtraRules, Fallback},
    caller::{Caller, User},
    config::{Features, KubernetesVersion},
    graph::{Key, Kind, Pod, Snapshot, Store},
    quarantine::Quarantine,
    rejection::Rejection,
    request::Head,
    rules::Modes,
};
use serde_json::json;

use super::bodies::{Body, POD_UID};

pub(super) struct Gate {
    authorizer: Authorizer,
    admission: Admission,
    graph: Arc<Snapshot>,
}

/// A request that was allowed, to be judged again and again.
pub(super) struct Written {
    authorized: Arc<Authorized>,
    body: Bytes,
}

impl Gate {
    pub(super) fn new() -> Self {
        let features = Features::of(KubernetesVersion::NEWEST);
        let mut store = Store::default();
        let pod = json!({
            "metadata": {"namespace": "ns", "name": "p1", "uid": POD_UID},
            "spec": {"nodeName": "n1", "serviceAccountName": "sa", "volumes": [
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
            ]},
        });
        store.apply(&serde_json::from_value::<Pod>(pod).unwrap());
        Self {
            authorizer: Authorizer {
                nodes: Fallback::Deny,
                seeds: None,
                node_rules: features.node_rules,
                modes: Modes::DEFAULT,
                bootstrap: Fallback::Upstream,
                others: Fallback::Deny,
                extra: ExtraRules::NONE,
                masters: Vec::new(),
                caller_known_upstream: true,
            },
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
                validated: None,
                modes: Modes::DEFAULT,
            },
            graph: store.publish(),
        }
    }

    pub(super) fn request(&self, body: &Body) -> Written {
        let request = Request::builder()
            .method(body.method)
            .uri(&body.target)
            .header("content-type", body.content_type);
        let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
        let caller = Caller::from(User {
            name: "system:node:n1".to_owned(),
            groups: vec!["system:nodes".to_owned(), "system:authenticated".to_owned()],
            ..User::default()
        });
        let authorized = self
            .authorizer
            .authorize(caller, head, Quarantine::nobody(), &self.graph);
        let authorized = Arc::new(authorized.unwrap_or_else(|_| panic!("{} is not allowed", body.about)));
        let body = Bytes::from(body.bytes.clone());
        Written { authorized, body }
    }

    /// Whether a write passes, by what the graph knows and the object that is stored.
    pub(super) fn admits(&self, written: &Written, stored: Option<&Bytes>) -> bool {
        matches!(self.judge(written, stored), Ok(Ruling::Admitted(_)))
    }

    pub(super) fn judge(&self, written: &Written, stored: Option<&Bytes>) -> Result<Ruling, Rejection> {
        let told = Told {
            stored: stored.map(|stored| Some(stored.clone())),
            // The other pod is not there.
            objects: vec![(Wanted::from(Key::new(Kind::Pod, "ns", "p2")), None)],
            ..Told::default()
        };
        let mut payload = Payload::Whole(written.body.clone());
        let known = Known::new((&self.graph, true), true, &told);
        self.admission.admit(&written.authorized, &mut payload, &known)
    }
}
