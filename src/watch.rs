//! Keeps the graph as upstream is: one informer for each kind, one writer for all, and who knows whether it is still true.
//!
//! ```text
//! upstream → line → informer ┐
//! upstream → line → informer ┼→ writer → snapshot → readers
//! upstream → line → informer ┘
//!              └────────┴─────────┴────→ state → readiness, freshness
//! ```

mod backoff;
mod beginnings;
mod informer;
mod kinds;
mod line;
mod metrics;
mod object;
mod state;
mod writer;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use arc_swap::{ArcSwap, Guard};
use tokio::{sync::watch, time::Instant};

use self::{
    informer::{Informer, Surroundings},
    kinds::{Collection, garden},
    state::{Informed, Own, State},
    writer::Writer,
};
pub use self::{
    line::{Answer, Upstream},
    metrics::Metrics,
    state::Freshness,
};
use crate::{
    authorizer::Profile,
    graph::{
        Anchor, BackupBucket, BackupEntry, Bastion, BootstrapServiceAccount, CertificateSigningRequest,
        ControllerDeployment, ControllerInstallation, CredentialsBinding, CsiDriver, Gardenlet, Kind, ManagedSeed,
        Node, PersistentVolume, PersistentVolumeClaim, Pod, PodCertificateRequest, Project, ResourceSlice,
        SecretBinding, Seed, SeedClientRequest, ServiceAccount, Shoot, Snapshot, VolumeAttachment, Watched,
    },
    ready::Ready,
    threads::Haste,
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Config {
    /// How long upstream may say nothing before the graph counts as stale. It sends a bookmark about every minute; a kind of
    /// which nothing is heard for three quarters of the time is listed again.
    pub stale_after: Duration,
    /// Whether the last that was known goes on being used for as long as upstream is silent.
    pub fail_static: bool,
    /// Whether podcertificaterequests are watched, where upstream serves them.
    pub pod_certificate_requests: bool,
    /// Whether certificatesigningrequests are watched.
    pub certificate_requests: Need,
    /// By which rules there are seeds, if there are any: then there is a graph of these too.
    pub seeds: Option<Profile>,
}

/// Who needs what an informer has to tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Need {
    /// Nobody: it is not watched.
    None,
    /// Rules that only record. It is watched if that can be; nothing waits for it, and nothing is found without it.
    Recorded,
    /// Rules that are enforced: nothing can be decided without it.
    Enforced,
}

/// What is known, for those who read it. Cheap to clone.
#[derive(Clone)]
pub struct Graph {
    snapshot: Arc<ArcSwap<Snapshot>>,
    generation: watch::Receiver<u64>,
    state: Arc<State>,
    metrics: Metrics,
}

/// Waits for what is published after it was made.
#[derive(Debug)]
pub struct Published(watch::Receiver<u64>);

/// Something that has to run for as long as the graph is used, and its name.
pub type Task = (&'static str, Pin<Box<dyn Future<Output = ()> + Send>>);

/// All that has to.
pub struct Tasks {
    /// On the thread whose haste it is.
    pub following: Vec<Task>,
    /// Elsewhere: it notices if that thread has stopped.
    pub freshness: Task,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            stale_after: Duration::from_secs(120),
            fail_static: false,
            pod_certificate_requests: true,
            certificate_requests: Need::Enforced,
            seeds: None,
        }
    }
}

/// What is watched.
#[derive(Clone, Copy, Debug)]
pub struct WatchedResource {
    pub group: &'static str,
    /// The plural.
    pub resource: &'static str,
    /// Whether it has to be.
    pub vital: bool,
    /// The file in `config/kubernetes` that has the right to.
    pub manifest: &'static str,
}

/// All that is.
pub fn watched(config: &Config) -> impl Iterator<Item = WatchedResource> {
    let garden = config.seeds.map(garden_kinds).into_iter().flatten();
    let kinds = kinds(config).into_iter().chain(garden);
    kinds.map(|(Informed { collection, vital, .. }, _)| WatchedResource {
        group: collection.group,
        resource: collection.resource,
        vital,
        manifest: collection.manifest(),
    })
}

/// The graph of nodes, which is empty until the tasks run. Readiness waits for each informer that is vital by its name, such as
/// `informer-pods`.
pub fn start(upstream: Upstream, config: &Config, ready: &Ready, haste: &Haste) -> (Graph, Tasks) {
    start_graph(Anchor::Node, &kinds(config), (upstream, haste), config, ready)
}

/// The graph of seeds, if there are any. It has informers of its own, so that neither graph waits for what only the other needs.
pub fn start_seeds(upstream: Upstream, config: &Config, ready: &Ready, haste: &Haste) -> Option<(Graph, Tasks)> {
    let kinds = garden_kinds(config.seeds?);
    Some(start_graph(Anchor::Seed, &kinds, (upstream, haste), config, ready))
}

fn start_graph(
    anchor: Anchor,
    kinds: &[(Informed, Run)],
    (upstream, haste): (Upstream, &Haste),
    config: &Config,
    ready: &Ready,
) -> (Graph, Tasks) {
    let state = State::new(kinds.iter().map(|(watched, _)| *watched), config);
    let metrics = Metrics::default();
    let (writer, changes) = Writer::new(anchor, Arc::clone(&state), metrics.clone());
    let graph = Graph {
        snapshot: writer.snapshot(),
        generation: writer.generation(),
        state: Arc::clone(&state),
        metrics: metrics.clone(),
    };

    let around = Surroundings {
        upstream,
        changes,
        metrics: metrics.clone(),
        stale_after: config.stale_after,
        haste: haste.clone(),
    };
    let informers = kinds.iter().zip(state.owns());
    let mut following: Vec<Task> = informers
        .map(|((watched, run), own)| {
            let collection = watched.collection;
            (collection.task, run(collection, own, around.clone()))
        })
        .collect();
    let (write, freshness) = match anchor {
        Anchor::Node => ("graph-writer", "graph-freshness"),
        Anchor::Seed => ("seed-graph-writer", "seed-graph-freshness"),
    };
    following.push((write, Box::pin(writer.run())));
    let pending = kinds
        .iter()
        .map(|(watched, _)| watched.vital.then(|| ready.task(watched.collection.task)));
    let keep_ready = state.keep_ready(ready.clone(), pending.collect(), metrics);
    let freshness: Task = (freshness, Box::pin(keep_ready));
    (graph, Tasks { following, freshness })
}

fn kinds(config: &Config) -> Vec<(Informed, Run)> {
    let mut kinds = vec![
        vital::<CsiDriver>(&kinds::CSI_DRIVERS),
        vital::<Node>(&kinds::NODES),
        vital::<PersistentVolumeClaim>(&kinds::PERSISTENT_VOLUME_CLAIMS),
        vital::<PersistentVolume>(&kinds::PERSISTENT_VOLUMES),
        vital::<Pod>(&kinds::PODS),
        vital::<ResourceSlice>(&kinds::RESOURCE_SLICES),
        vital::<ServiceAccount>(&kinds::SERVICE_ACCOUNTS),
        vital::<VolumeAttachment>(&kinds::VOLUME_ATTACHMENTS),
    ];
    if config.pod_certificate_requests {
        kinds.push(vital::<PodCertificateRequest>(&kinds::POD_CERTIFICATE_REQUESTS));
    }
    if config.certificate_requests != Need::None {
        let (mut watched, run) = vital::<CertificateSigningRequest>(&kinds::CERTIFICATE_SIGNING_REQUESTS);
        watched.vital = config.certificate_requests == Need::Enforced;
        kinds.push((watched, run));
    }
    kinds
}

/// What the rules for seeds decide from. A garden that does not serve one of them has none of it.
fn garden_kinds(profile: Profile) -> Vec<(Informed, Run)> {
    let mut kinds = vec![
        vital::<BackupBucket>(&garden::BACKUP_BUCKETS),
        vital::<BackupEntry>(&garden::BACKUP_ENTRIES),
        vital::<ControllerInstallation>(&garden::CONTROLLER_INSTALLATIONS),
        vital::<ManagedSeed>(&garden::MANAGED_SEEDS),
        vital::<Project>(&garden::PROJECTS),
        vital::<SecretBinding>(&garden::SECRET_BINDINGS),
        vital::<Seed>(&garden::SEEDS),
        vital::<Shoot>(&garden::SHOOTS),
    ];
    if profile == Profile::Current {
        kinds.extend([
            vital::<Bastion>(&garden::BASTIONS),
            vital::<ControllerDeployment>(&garden::CONTROLLER_DEPLOYMENTS),
            vital::<CredentialsBinding>(&garden::CREDENTIALS_BINDINGS),
            vital::<Gardenlet>(&garden::GARDENLETS),
            vital::<BootstrapServiceAccount>(&garden::SERVICE_ACCOUNTS),
            vital::<SeedClientRequest>(&garden::CERTIFICATE_SIGNING_REQUESTS),
        ]);
    }
    kinds
}

fn vital<T: Watched>(collection: &'static Collection) -> (Informed, Run) {
    let informed = Informed {
        collection,
        kind: T::KIND,
        vital: true,
    };
    (informed, run::<T>)
}

type Run = fn(&'static Collection, Own, Surroundings) -> Pin<Box<dyn Future<Output = ()> + Send>>;

fn run<T: Watched>(
    collection: &'static Collection,
    own: Own,
    around: Surroundings,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(Informer::<T>::new(collection, own, around).run())
}

impl Graph {
    /// The graph as it is known now; one request uses one.
    pub fn load(&self) -> Guard<Arc<Snapshot>> {
        self.snapshot.load()
    }

    /// The same, to be kept for longer than a decision takes.
    pub fn load_full(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Whether what is loaded may be decided from.
    pub fn freshness(&self) -> Freshness {
        self.state.freshness(Instant::now())
    }

    /// Whether objects of a kind are watched only for rules that record, and are not known as they are now.
    pub fn lacks(&self, kind: Kind) -> bool {
        self.state.lacks(kind, Instant::now())
    }

    /// How long ago upstream was last heard to agree with what is loaded; nothing before the first lists.
    pub fn age(&self) -> Option<Duration> {
        self.state.age(Instant::now())
    }

    /// To wait for the next publish. It has to be made before the graph is loaded, so that nothing slips in between.
    pub fn published(&self) -> Published {
        let mut generation = self.generation.clone();
        generation.mark_unchanged();
        Published(generation)
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl Published {
    /// Returns when something was published; never, if nothing will be any more.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
