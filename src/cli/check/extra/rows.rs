//! Resources of which a rule gives more than its words say.

use super::{
    Whose, has_all, has_verb, list,
    scopes::{Scope, scope, split},
};
use crate::authorizer::{ExtraResources, ExtraRule};

pub(super) struct Row {
    pub(super) resources: &'static [(&'static str, &'static str)],
    /// Any of them.
    pub(super) verbs: &'static [&'static str],
    /// Absent: whoever it is for.
    pub(super) whose: Option<Whose>,
    /// Whether it is so for single objects too.
    pub(super) named: bool,
    /// `{who}` is whom upstream takes for the one who asks.
    pub(super) gives: &'static str,
}

const READ: &[&str] = &["get", "list", "watch"];
const CHANGE: &[&str] = &["update", "patch"];
const WRITE: &[&str] = &["create", "update", "patch"];
/// The methods that are passed on, by their verbs.
const CONNECT: &[&str] = &["get", "create", "update", "patch", "delete"];
const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) const ROWS: &[Row] = &[
    Row {
        resources: &[("", "secrets"), ("", "configmaps")],
        verbs: READ,
        whose: None,
        named: false,
        gives: "all of them with their contents, whoever needs them; a list or watch has the contents too",
    },
    Row {
        resources: &[("", "nodes")],
        verbs: READ,
        whose: Some(Whose::Nodes),
        named: false,
        gives: "every Node, where a node otherwise reads its own only",
    },
    Row {
        resources: &[("", "pods")],
        verbs: READ,
        whose: Some(Whose::Nodes),
        named: false,
        gives: "every pod, where a node otherwise reads those that are bound to it only",
    },
    Row {
        resources: &[("", "persistentvolumes")],
        verbs: READ,
        whose: None,
        named: false,
        gives: "every volume, with where its data is and which secrets open it",
    },
    Row {
        resources: &[("", "pods/attach"), ("", "pods/exec")],
        verbs: &["get", "create"],
        whose: None,
        named: true,
        gives: "sessions and commands in their containers; a WebSocket begins with GET, so that get is as good as create",
    },
    Row {
        resources: &[("", "pods/portforward"), ("", "pods/proxy")],
        verbs: CONNECT,
        whose: None,
        named: true,
        gives: "every port of these pods; get is enough to speak both ways",
    },
    Row {
        resources: &[("", "nodes/proxy")],
        verbs: CONNECT,
        whose: None,
        named: true,
        gives: "the whole API of their kubelets, as the API server: commands in every container there, by get alone",
    },
    Row {
        resources: &[("", "services/proxy")],
        verbs: CONNECT,
        whose: None,
        named: true,
        gives: "whatever these services serve, reached from the API server; get is enough to speak both ways",
    },
    Row {
        resources: &[("", "pods/ephemeralcontainers")],
        verbs: CHANGE,
        whose: Some(Whose::Rest),
        named: true,
        gives: "containers of the caller's choice in pods that run",
    },
    Row {
        resources: &[("", "serviceaccounts/token")],
        verbs: &["create"],
        whose: Some(Whose::Rest),
        named: true,
        gives: "tokens of these service accounts, and with them all that they may do",
    },
    Row {
        resources: &[("", "serviceaccounts/token")],
        verbs: &["create"],
        whose: Some(Whose::Nodes),
        named: true,
        gives: "less than it looks: NodeRestriction still wants each token bound to a pod on the node",
    },
    Row {
        resources: &[
            ("certificates.k8s.io", "certificatesigningrequests/approval"),
            ("certificates.k8s.io", "certificatesigningrequests/status"),
        ],
        verbs: CHANGE,
        whose: None,
        named: true,
        gives: "certificates for any name, as far as upstream lets {who} approve or sign for the signer",
    },
    Row {
        resources: &[
            (RBAC, "clusterrolebindings"),
            (RBAC, "clusterroles"),
            (RBAC, "rolebindings"),
            (RBAC, "roles"),
        ],
        verbs: WRITE,
        whose: None,
        named: true,
        gives: "rights to anybody, as far as {who} has them, or may escalate or bind, upstream",
    },
    Row {
        resources: &[
            ("", "persistentvolumeclaims/status"),
            ("resource.k8s.io", "resourceslices"),
        ],
        verbs: CHANGE,
        whose: Some(Whose::Nodes),
        named: true,
        gives: "those of other nodes too: whose they are is for the Node authorizer to say, and it is not asked then",
    },
];

impl Row {
    /// What the row says of a rule, if it is about it.
    pub(super) fn of(&self, rule: &ExtraRule, of: &ExtraResources, own: bool) -> Option<String> {
        if !(self.named || of.names.is_empty()) {
            return None;
        }
        let verbs: Vec<&str> = self.verbs.iter().copied().filter(|verb| has_verb(rule, verb)).collect();
        let is_here = |(group, resource): &&(&str, &str)| {
            let any = format!("*/{}", split(resource).1);
            let in_group = has_all(&of.groups) || of.groups.iter().any(|word| word == group);
            in_group && of.resources.iter().any(|word| word == resource || *word == any)
        };
        let here: Vec<&(&str, &str)> = self.resources.iter().filter(is_here).collect();
        let first = here.first()?;
        if verbs.is_empty() {
            return None;
        }
        let resources: Vec<&str> = here.iter().map(|(_, resource)| *resource).collect();
        let place = match (scope(first.0, first.1), of.namespaces.as_slice()) {
            (Some(Scope::Namespaced), []) => " in every namespace".to_owned(),
            (Some(Scope::Namespaced), namespaces) => format!(" in {}", list(namespaces)),
            _ => String::new(),
        };
        let who = if own { "the gate" } else { "the caller" };
        let (verbs, resources) = (verbs.join(", "), resources.join(", "));
        Some(format!(
            "{verbs} {resources}{place}: {}",
            self.gives.replace("{who}", who)
        ))
    }
}
