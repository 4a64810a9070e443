//! What requests are held against.

use std::{collections::BTreeMap, sync::Arc};

use super::{Entry, List, Mode, Target};
use crate::{
    api::{Verb, names},
    caller::{Caller, Kind, User},
    request::{RequestInfo, ResourceRequest, Target as Asked},
};

/// Everybody who is held now. Asking it takes no lock and no memory; asking an empty one takes nothing.
#[derive(Clone, Debug, Default)]
pub struct Quarantine {
    nodes: BTreeMap<String, Held>,
    public_keys: BTreeMap<[u8; 32], Held>,
    serials: BTreeMap<Vec<u8>, Held>,
}

#[derive(Clone, Debug)]
struct Held {
    mode: Mode,
    /// What operators read about it.
    told: Arc<str>,
}

/// What a request asks for, as far as a mode can tell requests apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Asks {
    /// It changes nothing, and opens no connection through which something could be changed.
    pub reads: bool,
    /// It is what keeps a node from being taken for dead.
    pub heartbeat: bool,
}

impl Quarantine {
    /// Nobody, for whoever decides about no request in particular.
    pub fn nobody() -> &'static Self {
        static NOBODY: Quarantine = Quarantine {
            nodes: BTreeMap::new(),
            public_keys: BTreeMap::new(),
            serials: BTreeMap::new(),
        };
        &NOBODY
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.public_keys.is_empty() && self.serials.is_empty()
    }

    /// Whether the caller is held in any way.
    pub fn is_about(&self, caller: &Caller) -> bool {
        self.of(caller).next().is_some()
    }

    /// Why the caller may not make this request now, if it may not.
    pub fn stops(&self, caller: &Caller, info: &RequestInfo) -> Option<&Arc<str>> {
        if self.is_empty() {
            return None;
        }
        self.against(caller, Asks::of(caller, info))
    }

    /// The same for what a request was found to ask for. It must be let by every entry that is about the caller.
    pub fn against(&self, caller: &Caller, asks: Asks) -> Option<&Arc<str>> {
        let held = self.of(caller).find(|held| !held.mode.lets(asks))?;
        Some(&held.told)
    }

    /// Every entry that is about the caller, or about who acts as it.
    fn of<'a>(&'a self, caller: &Caller) -> impl Iterator<Item = &'a Held> {
        let actor = caller.actor.as_ref().map(|actor| &*actor.user);
        let nodes = self
            .nodes_of(&caller.user)
            .chain(actor.into_iter().flat_map(|user| self.nodes_of(user)));
        let certificate = caller.certificate.as_ref();
        let serial = certificate.and_then(|certificate| self.serials.get(certificate.serial()));
        let key = certificate.and_then(|certificate| self.public_keys.get(&certificate.public_key));
        nodes.chain(serial).chain(key)
    }

    /// Every entry about a node that the user is, or belongs to.
    fn nodes_of<'a>(&'a self, user: &User) -> impl Iterator<Item = &'a Held> {
        let by_name = user.name.strip_prefix(names::NODE_USER_PREFIX);
        // A token of a pod belongs to whoever has the pod's node.
        let bound = user.extra.iter().filter(|(key, _)| key == names::NODE_NAME_EXTRA);
        let bound = bound.flat_map(|(_, names)| names).map(String::as_str);
        by_name.into_iter().chain(bound).filter_map(|node| self.nodes.get(node))
    }
}

impl FromIterator<Entry> for Quarantine {
    fn from_iter<T: IntoIterator<Item = Entry>>(entries: T) -> Self {
        let mut quarantine = Self::default();
        for entry in entries {
            let held = Held {
                mode: entry.mode,
                told: entry.to_string().into(),
            };
            match entry.target {
                Target::Node(node) => drop(quarantine.nodes.insert(node, held)),
                Target::PublicKey(digest) => drop(quarantine.public_keys.insert(digest, held)),
                Target::Serial(serial) => drop(quarantine.serials.insert(serial, held)),
            }
        }
        quarantine
    }
}

impl From<&List> for Quarantine {
    fn from(list: &List) -> Self {
        list.entries().cloned().collect()
    }
}

impl Asks {
    pub fn of(caller: &Caller, info: &RequestInfo) -> Self {
        let by_verb = match &info.verb {
            Verb::Get | Verb::List | Verb::Watch => true,
            Verb::Method(method) => method == "head",
            _ => false,
        };
        Self {
            // An exec over WebSocket begins with a GET, and a GET through a proxy can do anything.
            reads: by_verb && !info.is_connection(),
            heartbeat: match (&caller.kind, &info.target) {
                (Kind::Node(node), Asked::Resource(request)) => is_heartbeat(node, &info.verb, request),
                _ => false,
            },
        }
    }
}

impl Mode {
    fn lets(self, asks: Asks) -> bool {
        match self {
            Self::Deny => false,
            Self::HeartbeatOnly => asks.heartbeat,
            Self::ReadOnly => asks.reads,
        }
    }
}

/// What kubelets do to be taken for alive: they renew their lease, which they make anew if it is gone, and read their Node and report
/// its status. Whether the lease in a body is their own, NodeRestriction sees to.
fn is_heartbeat(node: &str, verb: &Verb, request: &ResourceRequest) -> bool {
    let own = request.name == node;
    let resource = &request.resource;
    match (
        resource.group.as_str(),
        resource.resource.as_str(),
        request.subresource.as_str(),
    ) {
        ("coordination.k8s.io", "leases", "") => {
            let lease = request.namespace == names::NODE_LEASES;
            lease
                && matches!(
                    (verb, own),
                    (Verb::Create, _) | (Verb::Get | Verb::Patch | Verb::Update, true)
                )
        }
        ("", "nodes", "") => own && *verb == Verb::Get,
        ("", "nodes", "status") => own && matches!(verb, Verb::Patch | Verb::Update),
        _ => false,
    }
}
