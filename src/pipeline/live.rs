//! The last word on a refusal: what upstream says now.
//!
//! Informers are always a little behind. Before a node is told that it has nothing to do with an object, upstream is asked
//! for what the answer hangs on: the pods of that node, and the object itself where it names its node. It is the gate that
//! asks, so a node must not be able to make it ask much: each has its own allowance, whoever waits for the same node's pods
//! shares one answer, and all nodes together have so many questions under way. What is asked for another reason than to decide
//! about reads and writes has an allowance of its own (`Account`), so that it keeps none of these waiting.

mod allowance;
mod garden;
mod objects;

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use http::StatusCode;
use moka::sync::Cache;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use prometheus_client::{metrics::counter::Counter, registry::Registry};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

use self::allowance::Allowance;
use crate::{
    graph::{
        Asserts, CertificateSigningRequest, Key, Kind, PersistentVolume, Pod, PodCertificateRequest, ResourceSlice,
        Snapshot, Store, VolumeAttachment,
    },
    rejection::Rejection,
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
    /// Of all nodes, on each account.
    asking: [Semaphore; 4],
    reads: Counter,
}

/// What a question is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Account {
    /// To decide.
    Decisions,
    /// To decide about an event, of which there are more than of anything else.
    Events,
    /// To record what could have been refused. Nobody waits for that.
    Records,
    /// To decide about what somebody else than a node does.
    Others,
}

/// Which node, or other caller, makes the gate ask, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker<'a> {
    pub(super) node: &'a str,
    pub(super) account: Account,
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
    decisions: Mutex<Decisions>,
    events_waiting: Arc<Semaphore>,
    events: Mutex<Allowance>,
    records: std::sync::Mutex<Allowance>,
    others_waiting: Arc<Semaphore>,
    others: Mutex<Allowance>,
    /// Questions about single objects that are under way: all nodes share the places, and none shall have them all.
    reading: Semaphore,
}

#[derive(Debug)]
struct Decisions {
    allowance: Allowance,
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
/// Questions of all nodes at a time, on each account.
const ASKING: [usize; 4] = [32, 16, 8, 32];
/// Of these, about single objects, for one node.
const READING: usize = 4;
/// What a node may cause by its events: as much as a kubelet sends by default (`eventBurst`, `eventRecordQPS`), since most of it
/// is that something has happened once more, and each of these has to be compared with what is stored.
const EVENTS: Limits = Limits {
    burst: 100,
    per_second: 50,
};
/// The same for anybody else, whose changes of what pods are made from have to be compared with what is stored. Controllers make
/// more of them than people do.
const OTHERS: Limits = Limits {
    burst: 200,
    per_second: 100,
};
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
            asking: ASKING.map(Semaphore::new),
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
    pub(super) fn wait(&self, Asker { node, account }: Asker<'_>) -> Result<OwnedSemaphorePermit, Unknown> {
        let known = self.node(node);
        let waiting = match account {
            Account::Decisions => &known.waiting,
            Account::Events => &known.events_waiting,
            Account::Others => &known.others_waiting,
            Account::Records => return Err(Unknown::Limited),
        };
        let waiting = Arc::clone(waiting).try_acquire_owned();
        waiting.map_err(|_| Unknown::Limited)
    }

    /// As much of the graph as tells whether the node may read the object, as it is at some time after this was called.
    pub(super) async fn graph(&self, node: &str, key: Key<'_>, request: &ResourceRequest) -> Result<Told, Unknown> {
        // Kubernetes gives all these no other names; none can mean something else in a URL.
        let names = [node, key.namespace, &request.version];
        // Kubernetes does not mind what a certificate signing request is called.
        let named = key.kind == Kind::CertificateSigningRequest || is_name(key.name);
        if !named || !names.into_iter().all(is_name) {
            // Nothing is called that.
            return Ok(Told::alone(Arc::default()));
        }
        let asked = Instant::now();
        let settle = async {
            let known = self.node(node);
            let mut decisions = known.decisions.lock().await;
            match key.kind {
                Kind::VolumeAttachment => self.object::<VolumeAttachment>(&mut decisions, request, &[]).await,
                Kind::ResourceSlice => self.object::<ResourceSlice>(&mut decisions, request, &[]).await,
                Kind::PodCertificateRequest => self.object::<PodCertificateRequest>(&mut decisions, request, &[]).await,
                Kind::CertificateSigningRequest => {
                    self.object::<CertificateSigningRequest>(&mut decisions, request, &[])
                        .await
                }
                Kind::PersistentVolume => {
                    let pods = self.pods(&mut decisions, node, asked).await?.pods;
                    self.object::<PersistentVolume>(&mut decisions, request, &pods).await
                }
                _ => self.pods(&mut decisions, node, asked).await,
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
            let mut decisions = known.decisions.lock().await;
            let mut volumes = Vec::new();
            for name in names.iter().filter(|name| is_name(name)) {
                decisions.allowance.take(self.limits).await;
                let target = format!("/api/v1/persistentvolumes?fieldSelector=metadata.name%3D{name}");
                volumes.extend(self.read::<PersistentVolume>(Account::Decisions, &target).await?);
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
    async fn pods(&self, decisions: &mut Decisions, node: &str, since: Instant) -> Result<Told, Unknown> {
        if let Some(pods) = decisions.pods.as_ref().filter(|pods| pods.asked >= since) {
            return Ok(pods.told.clone());
        }
        decisions.allowance.take(self.limits).await;
        let asked = Instant::now();
        let target = format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}");
        let pods: Vec<Pod> = self.read(Account::Decisions, &target).await?;
        let graph = graph(pods.iter().map(|pod| pod as &dyn Asserts));
        let pods = pods.into();
        let told = Told { graph, pods };
        decisions.pods = Some(Pods {
            asked,
            told: told.clone(),
        });
        Ok(told)
    }

    /// The object itself, beside the pods that it may lead to.
    async fn object<T: Asserts + DeserializeOwned>(
        &self,
        decisions: &mut Decisions,
        request: &ResourceRequest,
        pods: &[Pod],
    ) -> Result<Told, Unknown> {
        decisions.allowance.take(self.limits).await;
        // As a list of one, for which the gate has the right already.
        let objects: Vec<T> = self.read(Account::Decisions, &target(request)).await?;
        let pods = pods.iter().map(|pod| pod as &dyn Asserts);
        let objects = objects.iter().map(|object| object as &dyn Asserts);
        Ok(Told::alone(graph(pods.chain(objects))))
    }

    /// What upstream has there; nothing where the API is not served.
    async fn read<T: DeserializeOwned>(&self, account: Account, target: &str) -> Result<Vec<T>, Unknown> {
        let _asking = self.asking(account).await?;
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

    /// Waits until the node may make the gate ask once more; for a record it may at once, or not at all.
    pub(super) async fn turn(&self, asker: Asker<'_>) -> Result<(), Unknown> {
        let known = self.node(asker.node);
        if asker.account == Account::Records {
            let mut records = known.records.lock().unwrap_or_else(PoisonError::into_inner);
            return records.try_take(self.limits).then_some(()).ok_or(Unknown::Limited);
        }
        let _waiting = self.wait(asker)?;
        let turn = async {
            match asker.account {
                Account::Decisions => known.decisions.lock().await.allowance.take(self.limits).await,
                Account::Others => known.others.lock().await.take(OTHERS).await,
                _ => known.events.lock().await.take(EVENTS).await,
            }
        };
        timeout(PATIENCE, turn).await.map_err(|_| Unknown::Limited)
    }

    /// A place among the questions that are under way.
    async fn asking(&self, account: Account) -> Result<SemaphorePermit<'_>, Unknown> {
        let [decisions, events, records, others] = &self.asking;
        let asking = match account {
            Account::Decisions => decisions.acquire().await.ok(),
            Account::Events => events.acquire().await.ok(),
            Account::Records => records.try_acquire().ok(),
            Account::Others => others.acquire().await.ok(),
        };
        asking.ok_or(Unknown::Limited)
    }
}

impl<'a> Asker<'a> {
    pub(super) fn to_decide(node: &'a str) -> Self {
        let account = Account::Decisions;
        Self { node, account }
    }
}

impl From<&Unknown> for Rejection {
    fn from(unknown: &Unknown) -> Self {
        match unknown {
            Unknown::Limited => Self::too_many_requests(unknown.to_string()),
            Unknown::Upstream(_) => Self::not_known(unknown.to_string()),
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
            decisions: Mutex::new(Decisions {
                allowance: Allowance::new(limits),
                pods: None,
            }),
            events_waiting: Arc::new(Semaphore::new(WAITING)),
            events: Mutex::new(Allowance::new(EVENTS)),
            records: std::sync::Mutex::new(Allowance::new(limits)),
            others_waiting: Arc::new(Semaphore::new(WAITING)),
            others: Mutex::new(Allowance::new(OTHERS)),
            reading: Semaphore::new(READING),
        }
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
        namespace => format!("/namespaces/{}", utf8_percent_encode(namespace, ESCAPED)),
    };
    let version = utf8_percent_encode(&request.version, ESCAPED);
    let resource = &request.resource.resource;
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
