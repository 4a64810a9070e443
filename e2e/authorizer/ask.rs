//! Questions: such as kubelets ask, with names that may be right, and any other combination of words.

use super::{
    question::{Question, Term},
    words::{CLAIMS, CROWD, NAMES, NAMESPACES, NODES, STRANGER, VOLUME_SECRETS, maybe},
};
use crate::random::Random;

/// Where a node may find something.
#[derive(Clone, Copy)]
pub(super) struct Trail {
    pub(super) node: &'static str,
    pub(super) lead: Lead,
}

#[derive(Clone, Copy)]
pub(super) enum Lead {
    /// One of its pods is in this namespace.
    Pod(&'static str),
    /// One of its pods has a persistent volume.
    Volume,
    /// There is a crowd in this namespace.
    Crowd(&'static str),
}

/// What names an object of the kind.
#[derive(Clone, Copy)]
enum Named {
    Namespaced(&'static [&'static str]),
    Cluster,
    /// Like its node, in this namespace.
    ByNode(&'static str),
}

/// A resource, a subresource, what may be done with it, and how it is named.
type Aim = (Resource, &'static str, &'static [&'static str], Named);
type Resource = (&'static str, &'static str);

/// What the rules for single resources let a node do, if it is related to the object.
const AIMED: &[Aim] = &[
    (("", "secrets"), "", &["get", "list", "watch"], Named::Namespaced(NAMES)),
    (
        ("", "configmaps"),
        "",
        &["get", "list", "watch"],
        Named::Namespaced(NAMES),
    ),
    (("", "pods"), "", &["get", "list", "watch"], Named::Namespaced(NAMES)),
    (("", "serviceaccounts"), "", &["get"], Named::Namespaced(NAMES)),
    (("", "serviceaccounts"), "token", &["create"], Named::Namespaced(NAMES)),
    (("", "persistentvolumeclaims"), "", &["get"], Named::Namespaced(CLAIMS)),
    (
        ("", "persistentvolumeclaims"),
        "status",
        &["update", "patch", "get"],
        Named::Namespaced(CLAIMS),
    ),
    (("", "persistentvolumes"), "", &["get"], Named::Cluster),
    (
        ("resource.k8s.io", "resourceclaims"),
        "",
        &["get"],
        Named::Namespaced(NAMES),
    ),
    (
        ("resource.k8s.io", "resourceslices"),
        "",
        &["get", "update", "patch", "delete"],
        Named::Cluster,
    ),
    (("storage.k8s.io", "volumeattachments"), "", &["get"], Named::Cluster),
    (
        ("certificates.k8s.io", "podcertificaterequests"),
        "",
        &["get"],
        Named::Namespaced(NAMES),
    ),
    (("", "nodes"), "", &["get", "list", "watch"], Named::ByNode("")),
    (
        ("storage.k8s.io", "csinodes"),
        "",
        &["get", "update", "patch", "delete"],
        Named::ByNode(""),
    ),
    (
        ("coordination.k8s.io", "leases"),
        "",
        &["get", "update", "patch", "delete"],
        Named::ByNode("kube-node-lease"),
    ),
];

/// Secrets more than volumes: there are more kinds of them.
const BEHIND_VOLUMES: &[Aim] = &[
    (
        ("", "secrets"),
        "",
        &["get", "list", "watch"],
        Named::Namespaced(VOLUME_SECRETS),
    ),
    (("", "secrets"), "", &["get"], Named::Namespaced(VOLUME_SECRETS)),
    (("", "secrets"), "", &["get"], Named::Namespaced(VOLUME_SECRETS)),
    (("", "persistentvolumes"), "", &["get"], Named::Cluster),
];

/// Resources with rules, resources without, and some that are almost one with rules.
const RESOURCES: &[Resource] = &[
    ("", "configmaps"),
    ("", "endpoints"),
    ("", "events"),
    ("", "leases"),
    ("", "namespaces"),
    ("", "nodes"),
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "pods"),
    ("", "Secrets"),
    ("", "secrets"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("", "*"),
    ("", ""),
    ("apps", "deployments"),
    ("apps", "secrets"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("certificates.k8s.io", "certificatesigningrequests"),
    ("certificates.k8s.io", "clustertrustbundles"),
    ("certificates.k8s.io", "podcertificaterequests"),
    ("coordination.k8s.io", "leases"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "events"),
    ("node.k8s.io", "runtimeclasses"),
    ("resource.k8s.io", "deviceclasses"),
    ("resource.k8s.io", "resourceclaims"),
    ("resource.k8s.io", "resourceclaimtemplates"),
    ("resource.k8s.io", "resourceslices"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "nodes"),
    ("storage.k8s.io", "volumeattachments"),
    ("*", "pods"),
];

const VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
    "",
];
const SUBRESOURCES: &[&str] = &[
    "approval",
    "binding",
    "ephemeralcontainers",
    "eviction",
    "exec",
    "log",
    "proxy",
    "scale",
    "status",
    "Status",
    "token",
];
const PATHS: &[&str] = &[
    "/",
    "/.well-known/openid-configuration",
    "/api",
    "/api/v1",
    "/apis",
    "/healthz",
    "/livez/etcd",
    "/logs",
    "/metrics",
    "/openapi/v3",
    "/pods",
    "/version",
];
const METHODS: &[&str] = &["get", "get", "get", "head", "post", "delete"];
const SELECTED: &[&str] = &[
    "spec.nodeName",
    "spec.nodeName",
    "spec.nodename",
    "nodeName",
    "metadata.name",
];

/// Most of them follow a trail.
pub(super) fn ask(random: &mut Random, trails: &[Trail]) -> Question {
    let trail = (!trails.is_empty() && !random.one_in(4)).then(|| random.pick(trails));
    let (node, user, groups) = identity(random, trail);
    let mut question = Question {
        user,
        groups,
        verb: "",
        group: "",
        resource: "",
        subresource: "",
        namespace: "",
        name: String::new(),
        path: "",
        fields: fields(random, node),
    };
    match random.below(20) {
        0 => {
            question.path = random.pick(PATHS);
            question.verb = random.pick(METHODS);
        }
        1..=5 => any(random, node, &mut question),
        _ => aimed(random, node, trail, &mut question),
    }
    question
}

/// The node it is about, whom it says to be, and the groups.
fn identity(random: &mut Random, trail: Option<Trail>) -> (&'static str, String, Vec<&'static str>) {
    let node = match trail {
        Some(trail) => trail.node,
        None if random.one_in(8) => STRANGER,
        None => random.pick(NODES),
    };
    let mut groups = vec!["system:nodes"];
    if random.one_in(2) {
        groups.push("system:authenticated");
    }
    let user = format!("system:node:{node}");
    match random.below(60) {
        0 => ("", "system:node:".to_owned(), groups),
        1 => (node, node.to_owned(), groups),
        2 => (node, format!("system:Node:{node}"), groups),
        3 => (node, user, vec!["system:authenticated", "system:Nodes"]),
        _ => (node, user, groups),
    }
}

fn aimed(random: &mut Random, node: &'static str, trail: Option<Trail>, question: &mut Question) {
    let lead = trail.map(|trail| trail.lead);
    let ((group, resource), subresource, verbs, named) = random.pick(match lead {
        Some(Lead::Volume) => BEHIND_VOLUMES,
        _ => AIMED,
    });
    (question.group, question.resource, question.subresource) = (group, resource, subresource);
    question.verb = random.pick(verbs);
    question.name = match named {
        Named::Namespaced(_) if matches!(lead, Some(Lead::Crowd(_))) => CROWD.to_owned(),
        Named::Namespaced(names) => name(random, names),
        Named::Cluster => name(random, NAMES),
        Named::ByNode(_) if random.one_in(2) => node.to_owned(),
        Named::ByNode(_) => name(random, NODES),
    };
    question.namespace = match named {
        _ if random.one_in(20) => maybe(random, NAMESPACES),
        Named::Namespaced(_) => match lead {
            Some(Lead::Pod(namespace) | Lead::Crowd(namespace)) => namespace,
            _ => random.pick(NAMESPACES),
        },
        Named::Cluster => "",
        Named::ByNode(namespace) => namespace,
    };
}

fn any(random: &mut Random, node: &'static str, question: &mut Question) {
    (question.group, question.resource) = random.pick(RESOURCES);
    question.verb = random.pick(VERBS);
    if random.one_in(3) {
        question.subresource = random.pick(SUBRESOURCES);
    }
    question.namespace = random.pick(&["", "a", "b", "kube-node-lease"]);
    question.name = match random.below(4) {
        0 => String::new(),
        1 => node.to_owned(),
        _ => name(random, NAMES),
    };
}

fn name(random: &mut Random, names: &[&'static str]) -> String {
    let name = if random.one_in(20) { CROWD } else { maybe(random, names) };
    name.to_owned()
}

fn fields(random: &mut Random, node: &'static str) -> Vec<Term> {
    let term = |random: &mut Random| Term {
        field: random.pick(SELECTED),
        operator: random.pick(&["=", "=", "!="]),
        value: if random.one_in(2) { node } else { maybe(random, NODES) },
    };
    (0..random.below(3)).map(|_| term(random)).collect()
}
