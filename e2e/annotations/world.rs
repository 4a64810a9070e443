//! A cluster with a gate before it, its people, and objects of every kind.

use std::{collections::HashMap, net::SocketAddr, sync::Arc};

use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::{
    cluster::{AUDITED, Cluster, Guard},
    gate::{Answer, Client, Process, ready},
    graph::{admin_client, created, objects::namespace},
};

pub(super) const KEY: &str = "scopegate.dev/validated-annotations";
pub(super) const KERBEROS: &str = r#"{"kerberos":"app"}"#;
pub(super) const JSON: &str = "application/json";
pub(super) const JSON_PATCH: &str = "application/json-patch+json";
pub(super) const MERGE: &str = "application/merge-patch+json";
pub(super) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(super) const APPLY: &str = "application/apply-patch+yaml";

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const OTHERS: &str = "callers: {others: Forward}";
const CONFIGURATION: &str = "
validatedAnnotations:
  enabled: true
  trustedCreators: ['system:serviceaccount:kube-system:replicaset-controller']
  kinds:
    - {group: example.com, resource: workers, kind: Worker, template: /spec/pod}
";

/// Something that pods are made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) path: &'static str,
    pub(super) resource: &'static str,
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// A JSON pointer to the template in it.
    pub(super) place: &'static str,
}

pub(super) const KINDS: &[Kind] = &[
    kind("/api/v1", "pods", "v1", "Pod", ""),
    kind("/api/v1", "podtemplates", "v1", "PodTemplate", "/template"),
    kind(
        "/api/v1",
        "replicationcontrollers",
        "v1",
        "ReplicationController",
        "/spec/template",
    ),
    kind("/apis/apps/v1", "daemonsets", "apps/v1", "DaemonSet", "/spec/template"),
    kind(
        "/apis/apps/v1",
        "deployments",
        "apps/v1",
        "Deployment",
        "/spec/template",
    ),
    kind(
        "/apis/apps/v1",
        "replicasets",
        "apps/v1",
        "ReplicaSet",
        "/spec/template",
    ),
    kind(
        "/apis/apps/v1",
        "statefulsets",
        "apps/v1",
        "StatefulSet",
        "/spec/template",
    ),
    kind("/apis/batch/v1", "jobs", "batch/v1", "Job", "/spec/template"),
    kind(
        "/apis/batch/v1",
        "cronjobs",
        "batch/v1",
        "CronJob",
        "/spec/jobTemplate/spec/template",
    ),
    kind(
        "/apis/example.com/v1",
        "workers",
        "example.com/v1",
        "Worker",
        "/spec/pod",
    ),
];

const fn kind(
    path: &'static str,
    resource: &'static str,
    api_version: &'static str,
    kind: &'static str,
    place: &'static str,
) -> Kind {
    Kind {
        path,
        resource,
        api_version,
        kind,
        place,
    }
}

impl Kind {
    pub(super) fn collection(&self, namespace: &str) -> String {
        format!("{}/namespaces/{namespace}/{}", self.path, self.resource)
    }

    /// One that Kubernetes takes, with these annotations on its template.
    pub(super) fn object(&self, name: &str, annotations: &Value) -> Value {
        let labels = json!({"app": name});
        let restart = if matches!(self.resource, "jobs" | "cronjobs") {
            "Never"
        } else {
            "Always"
        };
        let template = json!({
            "metadata": {"labels": labels, "annotations": annotations},
            "spec": {
                "automountServiceAccountToken": false, "restartPolicy": restart,
                "containers": [{"name": "c", "image": "good"}, {"name": "d", "image": "other"}],
            },
        });
        let mut object = match self.resource {
            "pods" => template,
            "podtemplates" => json!({"template": template}),
            "replicationcontrollers" => json!({"spec": {"replicas": 0, "selector": labels, "template": template}}),
            "jobs" => json!({"spec": {"suspend": true, "template": template}}),
            "cronjobs" => {
                json!({"spec": {"schedule": "@yearly", "suspend": true, "jobTemplate": {"spec": {"template": template}}}})
            }
            "workers" => json!({"spec": {"pod": template}}),
            "daemonsets" => json!({"spec": {"selector": {"matchLabels": labels}, "template": template}}),
            "statefulsets" => {
                json!({"spec": {"replicas": 0, "serviceName": "s", "selector": {"matchLabels": labels}, "template": template}})
            }
            _ => json!({"spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}}),
        };
        object["apiVersion"] = json!(self.api_version);
        object["kind"] = json!(self.kind);
        object["metadata"]["name"] = json!(name);
        object
    }

    pub(super) fn plain(&self, name: &str) -> Value {
        self.object(name, &json!({}))
    }

    pub(super) fn annotated(&self, name: &str) -> Value {
        self.object(name, &json!({KEY: KERBEROS}))
    }

    /// The same as the proposal writes it.
    pub(super) fn with_field(&self, name: &str, field: Value) -> Value {
        let mut object = self.plain(name);
        object.pointer_mut(self.place).unwrap()["spec"]["validatedAnnotations"] = field;
        object
    }

    /// A value at the place of the template, as merge patches have it.
    pub(super) fn at(&self, value: Value) -> Value {
        let keys = self.place.split('/').rev().filter(|key| !key.is_empty());
        keys.fold(value, |inner, key| json!({key: inner}))
    }

    /// Whether it can be patched in this form at all.
    pub(super) fn takes(&self, form: &str) -> bool {
        self.resource != "workers" || form != STRATEGIC
    }

    /// What it carries and which image it runs.
    pub(super) fn told(&self, object: &Value) -> (Option<String>, String) {
        let template = object.pointer(self.place).unwrap();
        let annotation = template["metadata"]["annotations"][KEY].as_str();
        let image = template["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
        assert_eq!(template["spec"].get("validatedAnnotations"), None, "{object}");
        (annotation.map(str::to_owned), image.to_owned())
    }
}

pub(super) struct World {
    pub(super) cluster: Arc<Cluster>,
    pub(super) admin: Client,
    pub(super) namespace: String,
    pub(super) serving: SocketAddr,
    pub(super) gate: Process,
    clients: Mutex<HashMap<String, Client>>,
}

/// People, and what they may do besides.
const PEOPLE: &[&str] = &["carol", "dave", "eve"];
pub(super) const CONTROLLER: &str = "system:serviceaccount:kube-system:replicaset-controller";

pub(super) async fn cluster() -> Option<Arc<Cluster>> {
    static SHARED: Mutex<std::sync::Weak<Cluster>> = Mutex::const_new(std::sync::Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(cluster) = shared.upgrade() {
        return Some(cluster);
    }
    let cluster = Arc::new(Cluster::start(Guard::Node, AUDITED, "").await?);
    prepare(&cluster).await;
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

async fn prepare(cluster: &Cluster) {
    let admin = admin_client(cluster).await;
    for name in PEOPLE {
        cluster.user(name, name, None);
    }
    cluster.user("controller", CONTROLLER, Some("system:serviceaccounts"));
    let workloads = json!({"apiGroups": ["", "apps", "batch", "example.com"], "resources": ["*"], "verbs": ["*"]});
    let kerberos = json!({
        "apiGroups": ["authorization.k8s.io"], "resources": ["validatedannotations/app"], "resourceNames": ["kerberos"],
        "verbs": ["use"],
    });
    let workers = json!({"apiGroups": ["example.com"], "resources": ["workers"], "verbs": ["list"]});
    let roles = [
        ("annotations-workloads", workloads, &["carol", "dave", CONTROLLER][..]),
        ("annotations-kerberos", kerberos, &["dave"]),
        ("annotations-workers", workers, &["scopegate"]),
    ];
    for (name, rule, people) in roles {
        let role = json!({"metadata": {"name": name}, "rules": [rule]});
        created(&admin, &format!("{RBAC}/clusterroles"), &role).await;
        let users = people.iter().map(|name| json!({"kind": "User", "name": name}));
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": users.collect::<Vec<_>>(),
        });
        created(&admin, &format!("{RBAC}/clusterrolebindings"), &binding).await;
    }
    let manifest = include_str!("../../config/kubernetes/validated-annotations.yaml");
    let roles: Vec<&str> = manifest.split("\n---\n").take(2).collect();
    cluster.grant(&roles.join("\n---\n")).await;
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let workers = json!({
        "metadata": {"name": "workers.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "workers", "kind": "Worker"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": any}}},
            }],
        },
    });
    created(
        &admin,
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &workers,
    )
    .await;
    for _ in 0..100 {
        if admin.get("/apis/example.com/v1/workers").await.code == StatusCode::OK {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("workers are not served");
}

impl World {
    /// With a namespace and a gate of its own.
    pub(super) async fn open(test: &str, identity: &str) -> Option<Self> {
        Self::open_with(test, identity, OTHERS).await
    }

    /// The same with something else to say about callers.
    pub(super) async fn open_with(test: &str, identity: &str, callers: &str) -> Option<Self> {
        let cluster = cluster().await?;
        let admin = admin_client(&cluster).await;
        namespace(&cluster, test).await;
        let gate = Process::serve(&cluster.configuration(
            &format!("{test}.yaml"),
            identity,
            &format!("{callers}{CONFIGURATION}"),
        ));
        let (serving, port) = gate.addresses().await;
        ready(port).await;
        Some(Self {
            cluster,
            admin,
            namespace: test.to_owned(),
            serving,
            gate,
            clients: Mutex::default(),
        })
    }

    /// Somebody who knows no API server but the gate.
    pub(super) async fn client(&self, user: &str) -> Client {
        let mut clients = self.clients.lock().await;
        if let Some(client) = clients.get(user) {
            return client.clone();
        }
        let file = format!("{}-{user}", self.namespace);
        let client = Client::new(&self.cluster.kubeconfig(&file, user, self.serving)).await;
        clients.insert(user.to_owned(), client.clone());
        client
    }

    pub(super) async fn send(
        &self,
        user: &str,
        method: &str,
        target: &str,
        form: &str,
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(target);
        if !form.is_empty() {
            request = request.header("content-type", form);
        }
        self.client(user).await.send(request, body).await.unwrap()
    }

    pub(super) async fn stored(&self, target: &str) -> Option<Value> {
        let answer = self.admin.get(target).await;
        (answer.code == StatusCode::OK).then(|| answer.json())
    }

    /// Around the gate, perhaps only to see what would come of it.
    pub(super) async fn direct(
        &self,
        user: &str,
        method: &str,
        target: &str,
        form: &str,
        body: &str,
        dry_run: bool,
    ) -> Answer {
        let client = Client::new(&self.cluster.file(&format!("{user}.kubeconfig"))).await;
        let separator = if target.contains('?') { '&' } else { '?' };
        let dry_run = if dry_run {
            format!("{separator}dryRun=All")
        } else {
            String::new()
        };
        let request = Request::builder().method(method).uri(format!("{target}{dry_run}"));
        client.send(request.header("content-type", form), body).await.unwrap()
    }

    /// What a gate needs to pass on requests of these people by impersonation.
    pub(super) async fn impersonation(&self) {
        let rules = json!([
            {"apiGroups": [""], "resources": ["users", "groups"], "verbs": ["impersonate"]},
            {"apiGroups": ["authentication.k8s.io"], "resources": ["userextras/authentication.kubernetes.io/credential-id"],
             "verbs": ["impersonate"]},
        ]);
        let role = json!({"metadata": {"name": "annotations-impersonate"}, "rules": rules});
        self.cluster.create(&format!("{RBAC}/clusterroles"), &role).await;
        let binding = json!({
            "metadata": {"name": "annotations-impersonate"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "annotations-impersonate"},
            "subjects": [{"kind": "User", "name": "scopegate"}],
        });
        self.cluster
            .create(&format!("{RBAC}/clusterrolebindings"), &binding)
            .await;
    }
}
