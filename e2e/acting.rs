//! Acting-as before a real kube-apiserver with RBAC: whom it lets act as whom, whose power counts, what is on record, and that it
//! keeps a confused deputy from doing harm.

mod differential;
mod identity;
mod kubectl;
mod matrix;
mod page;
mod refused;
mod story;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::{
    cluster::{AUDIT_LOG, AUDITED, Cluster, Guard},
    gate::{Answer, Client, PATIENCE, Process, eventually, ready},
    graph::{admin_client, created, post},
};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const WHO: &str = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;
const ACTOR: &str = "acting-as.scopegate.dev/actor";

/// Everybody with a certificate passes, as far as upstream lets it.
const OTHERS: &str = "callers: {others: Forward}\n";

/// A cluster that keeps an audit log, and in which the gate has the rights that are shipped. It serves all tests here that run at the
/// same time.
async fn cluster() -> Option<Arc<Cluster>> {
    static SHARED: Mutex<Weak<Cluster>> = Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(cluster) = shared.upgrade() {
        return Some(cluster);
    }
    let cluster = Arc::new(Cluster::start(Guard::None, AUDITED, "").await?);
    for manifest in [
        include_str!("../config/kubernetes/impersonate.yaml"),
        include_str!("../config/kubernetes/acting-as.yaml"),
    ] {
        cluster.grant(manifest).await;
    }
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

/// A gate, with an audit log of its own.
struct Gated<'a> {
    cluster: &'a Cluster,
    name: String,
    process: Process,
    serving: SocketAddr,
    admin: SocketAddr,
}

impl<'a> Gated<'a> {
    async fn start(cluster: &'a Cluster, name: &str, identity: &str, more: &str) -> Self {
        let gate = Self::with_credentials(cluster, name, identity, more, "gate").await;
        ready(gate.admin).await;
        gate
    }

    /// With another user's credentials, of which it may not become ready.
    async fn with_credentials(cluster: &'a Cluster, name: &str, identity: &str, more: &str, user: &str) -> Self {
        let more = format!("{OTHERS}audit: {{path: {name}-audit.log}}\nlog: {{level: debug}}\n{more}");
        let config = cluster.configuration(&format!("{name}.yaml"), identity, &more);
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, text.replace("gate.kubeconfig", &format!("{user}.kubeconfig"))).unwrap();
        let process = Process::serve(&config);
        let (serving, admin) = process.addresses().await;
        Self {
            cluster,
            name: name.to_owned(),
            process,
            serving,
            admin,
        }
    }

    /// A client with the certificate of a user.
    async fn client(&self, user: &str) -> Client {
        let file = format!("{}-{user}", self.name);
        Client::new(&self.cluster.kubeconfig(&file, user, self.serving)).await
    }

    /// What the gate has written about a request.
    async fn event(&self, audit_id: &str) -> Value {
        event(&self.cluster.file(&format!("{}-audit.log", self.name)), audit_id).await
    }

    async fn metrics(&self) -> String {
        crate::gate::admin(self.admin, Request::get("/metrics"), "").await.body
    }
}

/// The audit event of a request, when it has been written.
async fn event(log: &std::path::Path, audit_id: &str) -> Value {
    eventually("an audit event", || events(log, audit_id).pop()).await
}

fn events(log: &std::path::Path, audit_id: &str) -> Vec<Value> {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["auditID"] == audit_id).collect()
}

/// How often upstream has seen a request.
fn seen(cluster: &Cluster, audit_id: &str) -> usize {
    events(&cluster.file(AUDIT_LOG), audit_id).len()
}

/// With headers, and with an identifier of its own.
async fn ask(
    client: &Client,
    (method, target): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> (Answer, String) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let id = format!(
        "acting-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let mut request = Request::builder().method(method).uri(target).header("audit-id", &id);
    if !body.is_empty() && !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    (client.send(request, body).await.unwrap(), id)
}

fn configmap(name: &str) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).to_string()
}

/// Somebody to whom rights are given.
enum Subject<'a> {
    User(&'a str),
    Account(&'a str, &'a str),
}

impl Subject<'_> {
    fn name(&self) -> String {
        match self {
            Self::User(name) => (*name).to_owned(),
            Self::Account(namespace, name) => format!("system:serviceaccount:{namespace}:{name}"),
        }
    }
}

/// A certificate.
fn known(cluster: &Cluster, names: &[&str]) {
    for name in names {
        cluster.user(name, name, None);
    }
}

/// Gives somebody a right, in a namespace or everywhere, and waits until upstream knows.
async fn allow(cluster: &Cluster, to: Subject<'_>, namespace: &str, rule: Value) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("acting-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let (below, prefix, kind) = match namespace {
        "" => (String::new(), "cluster", "ClusterRole"),
        namespace => (format!("/namespaces/{namespace}"), "", "Role"),
    };
    let admin = admin_client(cluster).await;
    let role = json!({"metadata": {"name": name}, "rules": [rule]});
    created(&admin, &format!("{RBAC}{below}/{prefix}roles"), &role).await;
    let group = "rbac.authorization.k8s.io";
    let subject = match to {
        Subject::User(name) => json!({"apiGroup": group, "kind": "User", "name": name}),
        Subject::Account(namespace, name) => json!({"kind": "ServiceAccount", "namespace": namespace, "name": name}),
    };
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": kind, "name": name},
        "subjects": [subject],
    });
    created(&admin, &format!("{RBAC}{below}/{prefix}rolebindings"), &binding).await;
    known_to_upstream(&admin, &to.name(), namespace, &rule).await;
}

/// Asks for one thing that the rule allows, until it is allowed.
async fn known_to_upstream(admin: &Client, user: &str, namespace: &str, rule: &Value) {
    let first = |key: &str| rule[key][0].as_str().unwrap_or_default().replace('*', "x");
    let resource = first("resources");
    let (resource, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
    let mut spec = json!({"user": user});
    if rule["nonResourceURLs"].is_null() {
        spec["resourceAttributes"] = json!({
            "verb": first("verbs"), "group": first("apiGroups"), "resource": resource, "subresource": subresource,
            "name": first("resourceNames"), "namespace": namespace,
        });
    } else {
        spec["nonResourceAttributes"] = json!({"verb": first("verbs"), "path": first("nonResourceURLs")});
    }
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec});
    let began = Instant::now();
    loop {
        let answer = post(admin, REVIEWS, &review).await;
        assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
        if answer.json()["status"]["allowed"] == true {
            return;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "upstream does not know of {rule} for {user}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A right on config maps.
fn on_configmaps(verbs: &[&str]) -> Value {
    json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs})
}

/// The right to be users, of old.
fn to_be_users(names: &[&str]) -> Value {
    json!({"apiGroups": [""], "resources": ["users"], "resourceNames": names, "verbs": ["impersonate"]})
}
