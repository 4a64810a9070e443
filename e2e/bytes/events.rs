//! Audit logs: what a server took a request for.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use crate::{
    cluster::{AUDIT_LOG, Cluster},
    gate::eventually,
};

/// The events of one log by their identifier.
pub(super) struct Events(BTreeMap<String, Vec<Value>>);

pub(super) struct Logs {
    /// Of the API server that guards itself.
    pub(super) guarded: Events,
    pub(super) gate: Events,
    /// Of the API server behind the gate.
    pub(super) open: Events,
}

/// What a request was taken for. Empty where there is nothing of the kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Reading {
    pub(super) verb: String,
    pub(super) user: String,
    groups: Vec<String>,
    /// Group, version, resource and subresource.
    object: Vec<String>,
    pub(super) namespace: String,
    pub(super) name: String,
    /// Of what is no resource, decoded: kube-apiserver writes some escapes of its own.
    path: String,
}

impl Events {
    /// When the event of the last request is there.
    pub(super) async fn read(cluster: &Cluster, file: &str) -> Self {
        let path = cluster.file(file);
        eventually("the last audit event", || {
            let events = Self::read_file(&path);
            (!events.of("bytes-last").is_empty()).then_some(events)
        })
        .await
    }

    /// The events of the API server behind the gate, when there is one of everything that the gate says it has forwarded. Whatever a
    /// client has left ends there a little later.
    pub(super) async fn read_all_of(cluster: &Cluster, gate: &Self) -> Self {
        let path = cluster.file(AUDIT_LOG);
        let began = std::time::Instant::now();
        eventually("the audit events of what was forwarded", || {
            let events = Self::read_file(&path);
            let missing = gate
                .0
                .iter()
                .any(|(id, of_gate)| of_gate.iter().any(forwarded) && events.of(id).is_empty());
            // What never comes is a failure of the request, and said there.
            (!missing || began.elapsed() > crate::gate::PATIENCE / 2).then_some(events)
        })
        .await
    }

    fn read_file(path: &Path) -> Self {
        // What a client has sent need not be UTF-8.
        let bytes = std::fs::read(path).unwrap_or_default();
        let log = String::from_utf8_lossy(&bytes);
        let mut events = BTreeMap::<String, Vec<Value>>::new();
        for event in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let id = event["auditID"].as_str().unwrap_or_default().to_owned();
            events.entry(id).or_default().push(event);
        }
        Self(events)
    }

    pub(super) fn of(&self, id: &str) -> &[Value] {
        self.0.get(id).map_or(&[], Vec::as_slice)
    }
}

impl Logs {
    /// What a node has asked the API server behind the gate without the gate having allowed it, or more often than that.
    pub(super) fn unaccounted(&self) -> Vec<String> {
        let mut unaccounted = Vec::new();
        for (id, events) in &self.open.0 {
            let of_nodes = events
                .iter()
                .filter(|event| reading(event).user.starts_with("system:node:"));
            let of_nodes: Vec<&Value> = of_nodes.collect();
            // What met a change of the object meanwhile was judged and sent again; only the last of these has come to anything.
            let of_nodes = of_nodes.split_last().map_or(0, |(_, earlier)| {
                1 + earlier.iter().filter(|event| code(event) != 409).count()
            });
            let allowed = self.gate.of(id).iter().filter(|event| allowed(event)).count();
            if of_nodes > allowed {
                unaccounted.push(format!(
                    "{id}: upstream saw {of_nodes}, the gate has allowed {allowed}: {events:?}"
                ));
            }
        }
        unaccounted
    }

    /// How many requests of nodes got through, and how many of those the gate says it has forwarded.
    pub(super) fn counted(&self, id: &str) -> (usize, usize) {
        let count = |events: &Events, counts: fn(&Value) -> bool| {
            let ours = events.0.iter().filter(|(other, _)| other.starts_with(id));
            ours.flat_map(|(_, events)| events)
                .filter(|event| counts(event))
                .count()
        };
        (count(&self.open, |_| true), count(&self.gate, forwarded))
    }
}

pub(super) fn allowed(event: &Value) -> bool {
    event["annotations"]["authorization.k8s.io/decision"] == "allow"
}

/// Whether the gate allowed it and has not answered it itself.
pub(super) fn forwarded(event: &Value) -> bool {
    allowed(event) && event["responseStatus"]["status"].is_null()
}

pub(super) fn code(event: &Value) -> u16 {
    u16::try_from(event["responseStatus"]["code"].as_u64().unwrap_or_default()).unwrap()
}

/// What the body was read as, without what the gate ties a write to.
pub(super) fn body(event: &Value) -> Value {
    let mut body = event["requestObject"].clone();
    for place in ["/metadata", "/preconditions", "/deleteOptions/preconditions"] {
        let Some(object) = body.pointer_mut(place).and_then(Value::as_object_mut) else {
            continue;
        };
        object.retain(|key, _| key != "uid" && key != "resourceVersion");
        if object.is_empty() {
            // It may have been made for the tie.
            *body.pointer_mut(place).unwrap() = Value::Null;
        }
    }
    if let Some(object) = body.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    body
}

pub(super) fn reading(event: &Value) -> Reading {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let groups = event["user"]["groups"].as_array();
    let object = &event["objectRef"];
    let parts = ["apiGroup", "apiVersion", "resource", "subresource"];
    let uri = text(&event["requestURI"]);
    let path = uri.split('?').next().unwrap_or_default();
    Reading {
        verb: text(&event["verb"]),
        user: text(&event["user"]["username"]),
        groups: groups.map_or(Vec::new(), |groups| groups.iter().map(text).collect()),
        object: parts.map(|part| text(&object[part])).to_vec(),
        namespace: text(&object["namespace"]),
        name: text(&object["name"]),
        path: if object.is_null() {
            percent_encoding::percent_decode_str(path)
                .decode_utf8_lossy()
                .into_owned()
        } else {
            String::new()
        },
    }
}
