mod apply;
mod attacks;
mod between;
pub(crate) mod encode;
mod events;
mod kubelet;
mod modes;
mod pod_certificates;
mod races;
mod rows;
mod state;
mod stored;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use http::Request;
use scopegate::demo::site::OWN;
use serde_json::Value;
use tokio::sync::Mutex;

use self::between::Between;
use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{Answer, Client, PATIENCE, Process, ready},
    graph::admin_client,
};

const APPLY: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// Nobody is kept waiting for having asked much.
pub(crate) const EAGER: &str = "graph: {liveReads: {burst: 10000, perSecond: 10000}}\n";

/// The same objects in two clusters: one guards itself and is asked directly; the other one refuses the gate nothing that it
/// needs, and knows no nodes.
struct Sides {
    guarded: Side,
    gated: Side,
    between: Between,
    /// It ends with this.
    _gate: Process,
    serving: SocketAddr,
}

/// One of the two, as a node and as an administrator see it.
struct Side {
    cluster: Arc<Cluster>,
    admin: Client,
    node: Client,
    /// What stands for a uid, and the uid it has here.
    uids: BTreeMap<String, String>,
}

/// What objects of a test are called, so that tests can share clusters.
#[derive(Clone, Copy)]
struct Names {
    namespace: &'static str,
    /// The node that writes, and another one.
    nodes: [&'static str; 2],
}

/// A cluster without the Node authorizer and NodeRestriction, where the gate has the rights of mode Own. It serves all tests here
/// that run at the same time.
async fn own_cluster() -> Option<Arc<Cluster>> {
    static SHARED: Mutex<Weak<Cluster>> = Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(cluster) = shared.upgrade() {
        return Some(cluster);
    }
    let cluster = Arc::new(Cluster::with_client_cas("").await?);
    own_rights(&cluster).await;
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

/// The gate gets the rights of mode Own.
async fn own_rights(cluster: &Cluster) {
    cluster.grant(include_str!("../config/kubernetes/own.yaml")).await;
}

/// A gate before whatever listens there, with more in its configuration; and where it listens itself.
async fn gate(
    cluster: &Cluster,
    name: &str,
    (identity, more): (&str, &str),
    upstream: SocketAddr,
) -> (Process, SocketAddr) {
    cluster.kubeconfig(&format!("{name}-upstream"), "gate", upstream);
    let config = cluster.configuration(&format!("{name}.yaml"), identity, more);
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("gate.kubeconfig", &format!("{name}-upstream.kubeconfig"));
    std::fs::write(&config, text).unwrap();
    let process = Process::serve(&config);
    let (serving, admin) = process.addresses().await;
    ready(admin).await;
    (process, serving)
}

impl Sides {
    async fn start(names: Names) -> Option<Self> {
        Self::configured(names, "").await
    }

    /// With more in the gate's configuration.
    async fn configured(names: Names, more: &str) -> Option<Self> {
        let (guarded, open) = tokio::join!(shared(Guard::Node), own_cluster());
        Some(Self::of([guarded?, open?], names, more).await)
    }

    async fn of([guarded, open]: [Arc<Cluster>; 2], names: Names, more: &str) -> Self {
        tokio::join!(state::fill(&guarded, names), state::fill(&open, names));
        let between = Between::start(&open).await;
        let more = format!("{EAGER}{more}");
        let (gate, serving) = gate(&open, names.namespace, (OWN, &more), between.address).await;
        let through = open.kubeconfig(&format!("{}-gated", names.namespace), names.nodes[0], serving);
        let direct = guarded.file(&format!("{}.kubeconfig", names.nodes[0]));
        let sides = Self {
            guarded: Side::new(guarded, direct, names).await,
            gated: Side::new(open, through, names).await,
            between,
            _gate: gate,
            serving,
        };
        for side in [&sides.guarded, &sides.gated] {
            side.known(names).await;
        }
        sides.between.take();
        sides
    }
}

impl Side {
    async fn new(cluster: Arc<Cluster>, kubeconfig: PathBuf, names: Names) -> Self {
        let admin = admin_client(&cluster).await;
        let mut side = Self {
            node: Client::new(&kubeconfig).await,
            cluster,
            admin,
            uids: BTreeMap::new(),
        };
        for (name, path) in state::with_uids(names) {
            side.learn(&name, &path).await;
        }
        side
    }

    /// From now on the uid of what is there is spoken of as `uid-of-<name>`.
    async fn learn(&mut self, name: &str, path: &str) {
        let object = self.admin.get(path).await.json();
        let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
        self.uids.insert(format!("uid-of-{name}"), uid);
    }

    /// Waits until informers have seen the last of what was made.
    async fn known(&self, names: Names) {
        for path in state::made_last(names) {
            self.reads(&path).await;
        }
    }

    /// Waits until the node may read something.
    async fn reads(&self, path: &str) {
        let began = Instant::now();
        while self.node.get(path).await.code != 200 {
            assert!(began.elapsed() < PATIENCE, "{path} is not known");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// As the node, with what stands for uids replaced.
    async fn send(&self, method: &str, target: &str, content_type: &str, body: &[u8]) -> Answer {
        let mut request = Request::builder().method(method).uri(target);
        if !content_type.is_empty() {
            request = request.header("content-type", content_type);
        }
        self.node.send(request, body).await.unwrap()
    }

    async fn send_json(&self, method: &str, target: &str, content_type: &str, body: &Value) -> Answer {
        self.send(method, target, content_type, self.here(&body.to_string()).as_bytes())
            .await
    }

    /// A text with the uids that things have here.
    fn here(&self, text: &str) -> String {
        let uids = self.uids.iter();
        uids.fold(text.to_owned(), |text, (name, uid)| text.replace(name, uid))
    }

    fn here_json(&self, value: &Value) -> Value {
        serde_json::from_str(&self.here(&value.to_string())).unwrap()
    }

    /// The code and what was answered, without what differs between any two clusters.
    fn summary(&self, answer: &Answer) -> (u16, Value) {
        let uids = self.uids.iter();
        let text = uids.fold(answer.body.clone(), |text, (name, uid)| text.replace(uid, name));
        let mut value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        plain(&mut value);
        (answer.code.as_u16(), value)
    }
}

/// Drops versions, times and whatever else is new with every object.
pub(crate) fn plain(value: &mut Value) {
    const NEW: &[&str] = &[
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "managedFields",
        "deletionTimestamp",
        "lastPhaseTransitionTime",
        "startTime",
        "expirationTimestamp",
        "token",
    ];
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !NEW.contains(&key.as_str()));
            object.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// A certificate signing request for a common name, of the organization of nodes.
pub(crate) fn request_of(name: &str) -> String {
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(rcgen::DnType::OrganizationName, "system:nodes");
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let key = rcgen::KeyPair::generate().unwrap();
    params.serialize_request(&key).unwrap().pem().unwrap()
}
