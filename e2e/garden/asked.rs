//! Requests that somebody of a seed could make.

use http::{Method, Request};
use scopegate::{
    caller::User,
    request::{Head, Target},
};
use serde_json::{Value, json};

use super::{
    differential::{Edges, parse, written},
    generated::{NAMES, SEEDS, THINGS},
};
use crate::random::Random;

/// Who asks for what.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) user: User,
    seed: String,
    verb: &'static str,
    kind: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
    namespace: String,
    name: String,
    labels: String,
    fields: String,
}

type Resource = (&'static str, &'static str, &'static str, bool, &'static [&'static str]);

/// Kind, group, resource, whether it is in a namespace, and names that there may be.
#[rustfmt::skip]
const RESOURCES: &[Resource] = &[
    ("BackupBucket", "core.gardener.cloud", "backupbuckets", false, &["ua", "ub", "uc"]),
    ("BackupEntry", "core.gardener.cloud", "backupentries", true, &["e1", "e2", "e3"]),
    ("Bastion", "operations.gardener.cloud", "bastions", true, &["b1", "b2"]),
    ("CertificateSigningRequest", "certificates.k8s.io", "certificatesigningrequests", false, &["csr"]),
    ("CloudProfile", "core.gardener.cloud", "cloudprofiles", false, THINGS),
    ("ClusterRoleBinding", "rbac.authorization.k8s.io", "clusterrolebindings", false, BINDINGS),
    ("ConfigMap", "", "configmaps", true, &["x", "y", "z", "s1.ca-cluster", "cluster-identity", "gardener-info"]),
    ("ControllerDeployment", "core.gardener.cloud", "controllerdeployments", false, &["cd1", "cd2"]),
    ("ControllerInstallation", "core.gardener.cloud", "controllerinstallations", false, &["ci1", "ci2"]),
    ("ControllerRegistration", "core.gardener.cloud", "controllerregistrations", false, THINGS),
    ("CredentialsBinding", "security.gardener.cloud", "credentialsbindings", true, THINGS),
    ("", "", "events", true, &["e"]),
    ("", "events.k8s.io", "events", true, &["e"]),
    ("ExposureClass", "core.gardener.cloud", "exposureclasses", false, THINGS),
    ("Gardenlet", "seedmanagement.gardener.cloud", "gardenlets", true, SEEDS),
    ("InternalSecret", "core.gardener.cloud", "internalsecrets", true, &["s1.ca-client", "s2.ca-client", "x"]),
    ("Lease", "coordination.k8s.io", "leases", true, &["seed-a", "seed-b", "gardenlet-leader-election"]),
    ("ManagedSeed", "seedmanagement.gardener.cloud", "managedseeds", true, SEEDS),
    ("Namespace", "", "namespaces", false, &["garden-p1", "garden-p2", "seed-seed-a", "seed-seed-b"]),
    ("NamespacedCloudProfile", "core.gardener.cloud", "namespacedcloudprofiles", true, THINGS),
    ("Project", "core.gardener.cloud", "projects", false, &["p1", "p2"]),
    ("Secret", "", "secrets", true, &["x", "y", "z", "s1.monitoring", "s2.ssh-keypair.old", "p1--uid-of-garden-p1-s1", "bootstrap-token-872184", "bootstrap-token-c75b92"]),
    ("SecretBinding", "core.gardener.cloud", "secretbindings", true, THINGS),
    ("Seed", "core.gardener.cloud", "seeds", false, &["seed-a", "seed-b", "child", "nobody"]),
    ("ServiceAccount", "", "serviceaccounts", true, &["gardenlet-bootstrap-child", "gardenlet-bootstrap-seed-a", "x"]),
    ("Shoot", "core.gardener.cloud", "shoots", true, NAMES),
    ("ShootState", "core.gardener.cloud", "shootstates", true, NAMES),
    ("WorkloadIdentity", "security.gardener.cloud", "workloadidentities", true, THINGS),
    ("", "apps", "deployments", true, &["d"]),
    ("", "core.gardener.cloud", "quotas", true, &["q"]),
];

const BINDINGS: &[&str] = &[
    "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child",
    "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-seed-a",
    "other",
];

#[rustfmt::skip]
const VERBS: &[&str] = &["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "garden-p1", "garden-p2", "garden", "kube-system", "seed-seed-a", "gardener-system-seed-lease", "gardener-system-public",
    "gardener-system-shoot-issuer",
];

impl Asked {
    pub(super) fn new(random: &mut Random) -> Self {
        let (user, seed) = somebody(random);
        let (kind, group, resource, namespaced, names) = random.pick(RESOURCES);
        let verb = random.pick(VERBS);
        let is_collection = matches!(verb, "list" | "watch" | "deletecollection");
        let subresources = ["status", "finalizers", "token", "seedclient", "x"];
        let subresource = if !is_collection && resource != "namespaces" && random.one_in(5) {
            random.pick(&subresources)
        } else {
            ""
        };
        let is_named = match verb {
            "create" => !subresource.is_empty(),
            "deletecollection" => false,
            "list" | "watch" => random.one_in(2),
            _ => true,
        };
        let name = if is_named { random.pick(names) } else { "" };
        let namespace = match (namespaced, resource) {
            // As kube-apiserver has it.
            (_, "namespaces") if !is_collection => name,
            (_, "namespaces") => "",
            (false, _) => "",
            (true, _) if is_collection && random.one_in(4) => "",
            (true, _) => random.pick(PLACES),
        };
        let (labels, fields) = if is_collection {
            selectors(random, &seed)
        } else {
            Default::default()
        };
        let pins = matches!(verb, "list" | "watch");
        let (name, fields) = match (name, fields.strip_prefix("metadata.name=")) {
            // As kube-apiserver has it.
            ("", Some(pinned)) if pins => (pinned.to_owned(), fields),
            (name, _) if pins && !name.is_empty() => (name.to_owned(), format!("metadata.name={name}")),
            (name, _) => (name.to_owned(), fields),
        };
        Self {
            user,
            seed,
            verb,
            kind,
            group,
            resource,
            subresource,
            namespace: namespace.to_owned(),
            name,
            labels,
            fields,
        }
    }

    pub(super) fn as_gardener_asks(&self) -> Value {
        json!({
            "user": self.user.name, "groups": self.user.groups, "verb": self.verb, "group": self.group, "version": "v1",
            "resource": self.resource, "subresource": self.subresource, "namespace": self.namespace, "name": self.name,
            "labelSelector": self.labels, "fieldSelector": self.fields,
        })
    }

    pub(super) fn head(&self) -> Head {
        let mut path = match self.group {
            "" => "/api/v1".to_owned(),
            group => format!("/apis/{group}/v1"),
        };
        let is_collection = matches!(self.verb, "list" | "watch" | "deletecollection");
        if !self.namespace.is_empty() && self.resource != "namespaces" {
            path += &format!("/namespaces/{}", self.namespace);
        }
        path += &format!("/{}", self.resource);
        if !is_collection && !self.name.is_empty() {
            path += &format!("/{}", self.name);
            if !self.subresource.is_empty() {
                path += &format!("/{}", self.subresource);
            }
        }
        let method = match self.verb {
            "create" => Method::POST,
            "update" => Method::PUT,
            "patch" => Method::PATCH,
            "delete" | "deletecollection" => Method::DELETE,
            _ => Method::GET,
        };
        let escaped = |text: &str| {
            let bytes = text.bytes().map(|byte| format!("%{byte:02X}"));
            bytes.collect::<String>()
        };
        let mut query = vec![];
        for (name, value) in [("labelSelector", &self.labels), ("fieldSelector", &self.fields)] {
            if !value.is_empty() {
                query.push(format!("{name}={}", escaped(value)));
            }
        }
        if self.verb == "watch" {
            query.push("watch=true".to_owned());
        }
        let uri = if query.is_empty() {
            path
        } else {
            format!("{path}?{}", query.join("&"))
        };
        let request = Request::builder().method(method).uri(uri).body(()).unwrap();
        let head = Head::read(request.into_parts().0).unwrap();
        let Target::Resource(read) = &head.info().target else {
            panic!("{self:?}")
        };
        assert_eq!(
            (head.info().verb.as_str(), read.name.as_str()),
            (self.verb, self.name.as_str()),
            "{self:?}"
        );
        head
    }

    /// Why the gate may refuse what Gardener allows.
    pub(super) fn stricter(&self, edges: &Edges) -> Option<&'static str> {
        let vertex = (self.kind, self.place(), self.name.as_str());
        let is_write = matches!(self.verb, "update" | "patch" | "delete");
        let leads_by = |kind: &str| {
            let next = edges
                .out
                .get(&written(vertex.0, vertex.1, vertex.2))
                .into_iter()
                .flatten();
            let mut next = next.map(|to| parse(to)).filter(|(next, ..)| next == kind);
            next.any(|(kind, namespace, name)| match kind.as_str() {
                "Seed" => name == self.seed,
                kind => edges.lead((kind, &namespace, &name), &self.seed),
            })
        };
        if self.verb == "delete" && !edges.has(vertex.0, vertex.1, vertex.2) {
            return Some("what is not there is asked for, and not taken for granted");
        }
        if matches!(self.verb, "list" | "watch") && self.name.is_empty() && !self.labels.is_empty() {
            return Some("a selector has to select what is the seed's");
        }
        if self.kind == "ConfigMap" && self.name == "cluster-identity" && is_write {
            return Some("who the garden is can only be read");
        }
        if self.kind == "BackupBucket" && is_write && !leads_by("Seed") {
            return Some("a bucket is written by the seed that it is assigned to");
        }
        if self.kind == "ManagedSeed" && is_write && !leads_by("Shoot") {
            return Some("a seed does not write what it is made of");
        }
        (!self.name.is_empty() && !edges.lead(vertex, &self.seed)).then_some("no way leads through a seed")
    }

    /// The namespace as the graph has it.
    fn place(&self) -> &str {
        if self.resource == "namespaces" {
            ""
        } else {
            &self.namespace
        }
    }
}

pub(super) fn somebody(random: &mut Random) -> (User, String) {
    let seed = random.pick(SEEDS);
    let (name, groups) = if random.one_in(4) {
        let namespace = format!("system:serviceaccounts:seed-{seed}");
        (
            format!("system:serviceaccount:seed-{seed}:extension-x"),
            vec!["system:serviceaccounts".to_owned(), namespace],
        )
    } else {
        (
            format!("gardener.cloud:system:seed:{seed}"),
            vec!["gardener.cloud:system:seeds".to_owned()],
        )
    };
    let user = User {
        name,
        groups,
        ..User::default()
    };
    (user, seed.to_owned())
}

fn selectors(random: &mut Random, seed: &str) -> (String, String) {
    let key = format!("name.seed.gardener.cloud/{seed}");
    let labels = [
        format!("{key}=true"),
        format!("{key}==true"),
        format!("{key} in (true)"),
        key.clone(),
        format!("{key}!=x"),
        format!("{key} in (true,false)"),
        "name.seed.gardener.cloud/other=true".to_owned(),
        "!foo".to_owned(),
    ];
    let fields = [
        format!("spec.seedName={seed}"),
        format!("spec.seedRef.name={seed}"),
        format!("metadata.name={seed}"),
        "spec.seedName=other".to_owned(),
        "spec.seedName!=x".to_owned(),
    ];
    match random.below(4) {
        0 => (labels[random.below(labels.len())].clone(), String::new()),
        1 => (String::new(), fields[random.below(4)].clone()),
        2 => (
            labels[random.below(labels.len())].clone(),
            fields[random.below(2)].clone(),
        ),
        _ => Default::default(),
    }
}
