//! The last word on a refusal: what upstream says now.
//!
//! Informers are always a little behind. Before a node is told that it has nothing to do with an object, upstream is asked
//! for what the answer hangs on: the pods of that node, and the object itself where it names its node. It is the gate that
//! asks, so a node must not be able to make it ask much: each has its own allowance, whoever waits for the same node's pods
//! shares one answer, and all nodes together have so many questions under way.

mod objects;

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use moka::sync::Cache;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use prometheus_client::{metrics::counter::Counter, registry::Registry};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until, timeout},
};

use crate::{
    graph::{
        Asserts, CertificateSigningRequest, Key, Kind, PersistentVolume, Pod, PodCertificateRequest, ResourceSlice,
        Snapshot, Store, VolumeAttachment,
    },
    request::ResourceRequest,
    upstream::{self, Upstream},
};

/// What one node may cause.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Reads in a row.
    pub burst: u32,
    /// Reads a second in the long run.
    pub per_second: u32,
}

/// Asks upstream, within limits.
#[derive(Debug)]
pub struct Live {
    limits: Limits,
    upstream: Upstream,
    nodes: Cache<String, Arc<Node>>,
    /// Of all nodes.
    asking: Semaphore,
    reads: Counter,
}

/// Why upstream's word could not be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unknown {
    #[error("too many objects that the graph does not know were asked for")]
    Limited,
    #[error("upstream could not be asked: {0}")]
    Upstream(String),
}

/// One node.
#[derive(Debug)]
struct Node {
    /// Requests that wait to be made sure of.
    waiting: Arc<Semaphore>,
    /// Whoever holds the lock is the one that asks.
    allowance: Mutex<Allowance>,
}

#[derive(Debug)]
struct Allowance {
    reads: f64,
    counted: Instant,
    pods: Option<Pods>,
}

/// The pods of a node, and when they were asked for.
#[derive(Clone, Debug)]
struct Pods {
    asked: Instant,
    told: Told,
}

/// What upstream says.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// As much of the graph as the answer follows from; of secrets and endpoints, only those that pods name
    /// themselves.
    pub(super) graph: Arc<Snapshot>,
    /// The pods of the node, where the answer follows from these alone.
    pub(super) pods: Arc<[Pod]>,
}

#[derive(Deserialize)]
struct List<T> {
    items: Option<Vec<T>>,
}

/// Nodes that are remembered; they are known users, not names that a client makes up.
const MAX_NODES: u64 = 100_000;
/// How long after its last question what upstream said about a node is kept.
const IDLE: Duration = Duration::from_secs(30);
/// Requests of one node that may wait.
const WAITING: usize = 100;
/// Questions of all nodes at a time.
const ASKING: usize = 32;
/// Until somebody who waits for its turn is told to come again; longer than an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// More than the pods of the largest node.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
/// Needs an escape in a query. Most names are made of the letters that do not, and are written as they are.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.');
/// Volumes that are looked for to make sure of one refusal.
const MAX_VOLUMES: usize = 8;

impl Live {
    pub fn new(limits: Limits, upstream: Upstream) -> Self {
        // Forgetting a node must not give it back what it has used up.
        let full = Duration::from_secs(u64::from(limits.burst / limits.per_second.max(1)));
        let nodes = Cache::builder().max_capacity(MAX_NODES).time_to_idle(IDLE.max(full));
        Self {
            limits,
            upstream,
            nodes: nodes.build(),
            asking: Semaphore::new(ASKING),
            reads: Counter::default(),
        }
    }

    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "graph_live_reads",
            "Questions to the API server before a node was refused what the graph did not know of",
            self.reads.clone(),
        );
    }

    /// A place among the requests of a node that wait.
    pub(super) fn wait(&self, node: &str) -> Result<OwnedSemaphorePermit, Unknown> {
        let waiting = Arc::clone(&self.node(node).waiting);
        waiting.try_acquire_owned().map_err(|_| Unknown::Limited)
    }

    /// As much of the graph as tells whether the node may read the object, as it is at some time after this was called.
    pub(super) async fn graph(&self, node: &str, key: Key<'_>, request: &ResourceRequest) -> Result<Told, Unknown> {
        let names = [node, key.namespace, &request.version];
        // Kubernetes does not mind what a certificate signing request is called.
        let named = key.kind == Kind::CertificateSigningRequest || is_name(key.name);
        if !named || !names.into_iter().all(is_name) {
            // Nothing is called that, and it could mean something else in a URL.
            return Ok(Told::alone(Arc::default()));
        }
        let asked = Instant::now();
        let settle = async {
            let known = self.node(node);
            let mut allowance = known.allowance.lock().await;
            match key.kind {
                Kind::VolumeAttachment => self.object::<VolumeAttachment>(&mut allowance, request, &[]).await,
                Kind::ResourceSlice => self.object::<ResourceSlice>(&mut allowance, request, &[]).await,
                Kind::PodCertificateRequest => self.object::<PodCertificateRequest>(&mut allowance, request, &[]).await,
                Kind::CertificateSigningRequest => {
                    self.object::<CertificateSigningRequest>(&mut allowance, request, &[])
                        .await
                }
                Kind::PersistentVolume => {
                    let pods = self.pods(&mut allowance, node, asked).await?.pods;
                    self.object::<PersistentVolume>(&mut allowance, request, &pods).await
                }
                _ => self.pods(&mut allowance, node, asked).await,
            }
        };
        timeout(PATIENCE, settle).await.map_err(|_| Unknown::Limited)?
    }

    /// The graph of these pods with the volumes of these names, as they are now.
    pub(super) async fn volumes(&self, node: &str, pods: &[Pod], names: &[String]) -> Result<Arc<Snapshot>, Unknown> {
        if names.len() > MAX_VOLUMES {
            return Err(Unknown::Limited);
        }
        let settle = async {
            let known = self.node(node);
            let mut allowance = known.allowance.lock().await;
            let mut volumes = Vec::new();
            for name in names.iter().filter(|name| is_name(name)) {
                allowance.take(self.limits).await;
                let target = format!("/api/v1/persistentvolumes?fieldSelector=metadata.name%3D{name}");
                volumes.extend(self.read::<PersistentVolume>(&target).await?);
            }
            let volumes = volumes.iter().map(|volume| volume as &dyn Asserts);
            Ok(graph(pods.iter().map(|pod| pod as &dyn Asserts).chain(volumes)))
        };
        timeout(PATIENCE, settle).await.map_err(|_| Unknown::Limited)?
    }

    fn node(&self, node: &str) -> Arc<Node> {
        self.nodes.get_with_by_ref(node, || Arc::new(Node::new(self.limits)))
    }

    /// The pods that are bound to the node. Whoever had to wait while they were asked for after its own question takes them
    /// as they are.
    async fn pods(&self, allowance: &mut Allowance, node: &str, since: Instant) -> Result<Told, Unknown> {
        if let Some(pods) = allowance.pods.as_ref().filter(|pods| pods.asked >= since) {
            return Ok(pods.told.clone());
        }
        allowance.take(self.limits).await;
        let asked = Instant::now();
        let target = format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}");
        let pods: Vec<Pod> = self.read(&target).await?;
        let graph = graph(pods.iter().map(|pod| pod as &dyn Asserts));
        let pods = pods.into();
        let told = Told { graph, pods };
        allowance.pods = Some(Pods {
            asked,
            told: told.clone(),
        });
        Ok(told)
    }

    /// The object itself, beside the pods that it may lead to.
    async fn object<T: Asserts + DeserializeOwned>(
        &self,
        allowance: &mut Allowance,
        request: &ResourceRequest,
        pods: &[Pod],
    ) -> Result<Told, Unknown> {
        allowance.take(self.limits).await;
        // As a list of one, for which the gate has the right already.
        let objects: Vec<T> = self.read(&target(request)).await?;
        let pods = pods.iter().map(|pod| pod as &dyn Asserts);
        let objects = objects.iter().map(|object| object as &dyn Asserts);
        Ok(Told::alone(graph(pods.chain(objects))))
    }

    /// What upstream has there; nothing where the API is not served.
    async fn read<T: DeserializeOwned>(&self, target: &str) -> Result<Vec<T>, Unknown> {
        let _asking = self.asking.acquire().await.map_err(|_| Unknown::Limited)?;
        self.reads.inc();
        let answer = self.upstream.read(target, MAX_ANSWER).await;
        match answer.map_err(|error| Unknown::Upstream(upstream::chain(error.as_ref())))? {
            (StatusCode::OK, body) => {
                let list: Result<List<T>, _> = serde_json::from_slice(&body);
                let list = list.map_err(|error| Unknown::Upstream(error.to_string()))?;
                Ok(list.items.unwrap_or_default())
            }
            (StatusCode::NOT_FOUND, _) => Ok(Vec::new()),
            (code, _) => Err(Unknown::Upstream(format!("{code} for {target}"))),
        }
    }
}

impl Told {
    fn alone(graph: Arc<Snapshot>) -> Self {
        let pods = Arc::default();
        Self { graph, pods }
    }
}

impl Node {
    fn new(limits: Limits) -> Self {
        Self {
            waiting: Arc::new(Semaphore::new(WAITING)),
            allowance: Mutex::new(Allowance::new(limits)),
        }
    }
}

impl Allowance {
    fn new(limits: Limits) -> Self {
        Self {
            reads: f64::from(limits.burst),
            counted: Instant::now(),
            pods: None,
        }
    }

    /// Waits until one more read is due.
    async fn take(&mut self, limits: Limits) {
        let rate = f64::from(limits.per_second);
        let earned = self.counted.elapsed().as_secs_f64() * rate;
        self.reads = (self.reads + earned).min(f64::from(limits.burst));
        self.counted = Instant::now();
        if self.reads < 1.0 {
            let due = self.counted + Duration::from_secs_f64((1.0 - self.reads) / rate);
            sleep_until(due).await;
            self.reads = 1.0;
            self.counted = due;
        }
        self.reads -= 1.0;
    }
}

fn graph<'a>(objects: impl Iterator<Item = &'a dyn Asserts>) -> Arc<Snapshot> {
    let mut store = Store::default();
    objects.for_each(|object| store.apply(object));
    store.publish()
}

/// The list that has the object of a request in it, if it is there.
fn target(request: &ResourceRequest) -> String {
    let prefix = match request.resource.group.as_str() {
        "" => "/api".to_owned(),
        group => format!("/apis/{group}"),
    };
    let namespace = match request.namespace.as_str() {
        "" => String::new(),
        namespace => format!("/namespaces/{namespace}"),
    };
    let (version, resource) = (&request.version, &request.resource.resource);
    let name = selected(&request.name);
    format!("{prefix}/{version}{namespace}/{resource}?fieldSelector=metadata.name%3D{name}")
}

/// A name as it is written in a field selector in a query, where it cannot mean anything else.
fn selected(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    for letter in name.chars() {
        if matches!(letter, '\\' | ',' | '=') {
            written.push('\\');
        }
        written.push(letter);
    }
    utf8_percent_encode(&written, ESCAPED).to_string()
}

/// Letters that the names of objects are made of. They need no escape in a URL or a selector.
fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    text.bytes().all(letter) && !matches!(text, "." | "..")
}

#[cfg(test)]
mod tests;
