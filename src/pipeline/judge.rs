//! Authorizes a request as surely as can be: what the graph does not know may only have not arrived yet.
//!
//! 403 is said only when sure. A refusal for want of an edge waits for the graph to catch up, then asks upstream; where that is
//! not to be had, the client is told to come again.

mod metrics;
mod seeds;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout_at};

pub use self::metrics::Metrics;
use super::{
    gardenlets::Gardenlets,
    live::{Asker, Live, Unknown},
    streams::Dependency,
    ward::Ward,
};
use crate::{
    authorizer::{self, Attributes, Authorized, Authorizer, Denied},
    caller::{Caller, Kind, Semantics},
    decision::{Evidence, Verdict},
    graph::{self, Anchor, Asserts as _, Facts, Key, Pod, Snapshot},
    rejection::Rejection,
    request::{Head, RequestInfo, Target},
    rules::Mode,
    watch::Graph,
};

/// Authorization with all it needs to be sure.
#[derive(Debug)]
pub struct Judge {
    pub authorizer: Authorizer,
    pub ward: Arc<Ward>,
    pub graph: Graph,
    /// The graph of seeds, where there are rules for them.
    pub seeds: Option<Graph>,
    pub gardenlets: Gardenlets,
    /// How long a refusal waits for the graph to catch up.
    pub lag_wait: Duration,
    pub live: Live,
    pub metrics: Metrics,
}

/// On whose word something was decided.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Word {
    /// What the gate knows: its rules and its graph.
    Gate,
    /// Upstream's, which the graph may still have to learn.
    Upstream,
}

/// Between two looks at a graph that changes all the time.
pub(super) const PAUSE: Duration = Duration::from_millis(5);
/// How long what upstream has said is waited for in the graph, where upstream cannot be asked for all of it.
const LEARN: Duration = Duration::from_secs(2);

type Decided = Result<Authorized, Box<Denied>>;

impl Judge {
    /// Allowed or not, and on whose word; or, as a rejection, not known.
    pub(super) async fn authorize(&self, caller: Caller, head: Head) -> Result<(Decided, Word), Rejection> {
        let began = Instant::now();
        let decided = {
            let quarantine = self.ward.load()?;
            let graph = self.graph_of(&caller).load();
            self.authorizer.authorize(caller, head, &quarantine, &graph)
        };
        let evidence = match &decided {
            Ok(authorized) => &authorized.decision().evidence,
            Err(denied) => &denied.decision().evidence,
        };
        let (by_graph, mode) = (is_by_graph(evidence), self.authorizer.modes.of_any(evidence.rule()));
        if by_graph {
            self.checked(&decided, began.elapsed());
        }
        let denied = match decided {
            Ok(allowed) => {
                if by_graph && mode == Mode::Enforce {
                    self.fresh(allowed.caller())?;
                }
                return Ok((Ok(allowed), Word::Gate));
            }
            Err(denied) if by_graph && mode != Mode::Enforce && self.lacks(&denied) => {
                return Ok((self.authorizer.pass_over(denied), Word::Gate));
            }
            // Where nobody would be refused, nobody waits to be sure.
            Err(denied) if !by_graph || mode != Mode::Enforce => {
                return Ok((self.condone(denied)?, Word::Gate));
            }
            Err(denied) => denied,
        };
        // Boxed, so that those who are allowed at once do not carry it along.
        let (decided, word) = match denied.caller().kind {
            Kind::Node(_) => Box::pin(self.reconsider(denied)).await?,
            _ => Box::pin(self.reconsider_seed(denied)).await?,
        };
        match decided {
            Ok(authorized) => Ok((Ok(authorized), word)),
            Err(denied) => Ok((self.condone(denied)?, word)),
        }
    }

    /// Lets pass what is refused, where that is how the rule is set, or upstream shall decide and can.
    fn condone(&self, denied: Box<Denied>) -> Result<Decided, Rejection> {
        let decided = self.authorizer.condone(denied);
        if decided.as_ref().is_ok_and(Authorized::is_left_by_seed_rules) {
            self.gardenlets.may_be_left()?;
        }
        Ok(decided)
    }

    /// What decides about the caller.
    pub(super) fn graph_of(&self, caller: &Caller) -> &Graph {
        match (self.authorizer.anchor(caller), &self.seeds) {
            (Some((Anchor::Seed, _)), Some(seeds)) => seeds,
            _ => &self.graph,
        }
    }

    /// What the gate itself has against somebody who is to act as another: against the one, and unless only the subject's power
    /// counts, against its doing this by itself.
    pub(super) fn vet(&self, actor: &Caller, info: &RequestInfo, semantics: Semantics) -> Result<(), Rejection> {
        let quarantine = self.ward.load()?;
        let decision = match semantics {
            Semantics::Subject => self.authorizer.bars(actor, info, &quarantine),
            Semantics::Intersection => Some(self.authorizer.decide(Attributes {
                caller: actor,
                info,
                impersonates: false,
                quarantine: &quarantine,
                graph: &self.graph_of(actor).load(),
            })),
        };
        match decision {
            Some(decision) if decision.verdict == Verdict::Deny => Err(Rejection {
                log: Some(authorizer::explain(&decision, actor, info)),
                ..authorizer::rejection(actor, info, &decision)
            }),
            _ => Ok(()),
        }
    }

    fn checked(&self, decided: &Decided, took: Duration) {
        let (caller, info) = match decided {
            Ok(authorized) => (authorized.caller(), authorized.head().info()),
            Err(denied) => (denied.caller(), denied.head().info()),
        };
        let of_seed = matches!(self.authorizer.anchor(caller), Some((Anchor::Seed, _)));
        let needed = self.authorizer.dependency(caller, info).filter(|_| of_seed);
        self.metrics.checked(needed.map(|needed| needed.key.kind), took);
    }

    /// What the graph must go on to say, if it was the graph that allowed the request.
    pub(super) fn dependency(&self, authorized: &Authorized, word: Word) -> Option<Dependency> {
        let Evidence::Related { rule, .. } = authorized.decision().evidence else {
            return None;
        };
        if self.authorizer.modes.of(rule) != Mode::Enforce {
            return None;
        }
        let (caller, info) = (authorized.caller(), authorized.head().info());
        let (anchor, end) = self.authorizer.anchor(caller)?;
        let needed = self.authorizer.dependency(caller, info)?;
        Some(Dependency::new((anchor, end), needed.key, word == Word::Gate))
    }

    /// Whether the graph's word counts for nothing: nobody has told it of such objects, or not for long.
    fn lacks(&self, denied: &Denied) -> bool {
        let caller = denied.caller();
        let needed = self.authorizer.dependency(caller, denied.head().info());
        self.fresh(caller).is_err() || needed.is_some_and(|needed| self.graph_of(caller).lacks(needed.key.kind))
    }

    /// What is not known, or only from long ago, is no ground to allow or to refuse anything.
    fn fresh(&self, caller: &Caller) -> Result<(), Rejection> {
        match self.graph_of(caller).freshness().doubt() {
            Some(doubt) => Err(Rejection::not_known(doubt)),
            None => Ok(()),
        }
    }

    async fn reconsider(&self, denied: Box<Denied>) -> Result<(Decided, Word), Rejection> {
        let Kind::Node(node) = &denied.caller().kind else {
            return Ok((Err(denied), Word::Gate));
        };
        let node = node.clone();
        self.fresh(denied.caller())?;
        let waiting = self.live.wait(Asker::to_decide(&node));
        let _waiting = waiting.map_err(|unknown| self.unknown(&unknown))?;
        let denied = match self.catch_up(denied).await {
            Ok(authorized) => {
                self.metrics.settled("publish");
                return Ok((Ok(authorized), Word::Gate));
            }
            Err(denied) => denied,
        };
        let (caller, info) = (denied.caller(), denied.head().info());
        let (Some(needed), Target::Resource(request)) = (self.authorizer.dependency(caller, info), &info.target) else {
            return Ok((Err(denied), Word::Gate));
        };
        let key = needed.key;
        let by_volumes = key.kind.is_needed_by_volumes();
        let told = self.live.graph(&node, key, request).await;
        let told = told.map_err(|unknown| self.unknown(&unknown))?;
        let denied = match self.by_upstream(denied, &told.graph) {
            Ok(authorized) => return Ok((Ok(authorized), Word::Upstream)),
            Err(denied) => denied,
        };
        // Volumes need such things too. Which of them are the node's, only the graph knows, once it knows the pods and the volumes.
        let mut behind = Vec::new();
        if by_volumes {
            if !self.learns(&node, &told.pods).await {
                let unknown = Unknown::Upstream("the graph has not learned the node's pods".to_owned());
                return Err(self.unknown(&unknown));
            }
            behind = volumes_behind(&self.graph.load(), &node, &told.pods);
        }
        let denied = if behind.is_empty() {
            denied
        } else {
            let graph = self.live.volumes(&node, &told.pods, &behind).await;
            let graph = graph.map_err(|unknown| self.unknown(&unknown))?;
            match self.by_upstream(denied, &graph) {
                Ok(authorized) => return Ok((Ok(authorized), Word::Upstream)),
                Err(denied) => denied,
            }
        };
        self.fresh(denied.caller())?;
        let decided = self.reconsider_by(denied, &self.graph.load());
        self.metrics
            .settled(if decided.is_ok() { "publish" } else { "refused" });
        Ok((decided, Word::Gate))
    }

    fn reconsider_by(&self, denied: Box<Denied>, graph: &Snapshot) -> Decided {
        self.authorizer.reconsider(denied, &self.ward.current(), graph)
    }

    fn by_upstream(&self, denied: Box<Denied>, told: &Snapshot) -> Decided {
        let decided = self.reconsider_by(denied, told);
        if decided.is_ok() {
            self.metrics.settled("live");
        }
        decided
    }

    /// Nobody can be told yes or no.
    pub(super) fn unknown(&self, unknown: &Unknown) -> Rejection {
        self.metrics.settled(match unknown {
            Unknown::Limited => "limited",
            Unknown::Upstream(_) => "upstream",
        });
        Rejection::from(unknown)
    }

    /// Waits until the graph knows the pods, but not for long.
    async fn learns(&self, node: &str, pods: &[Pod]) -> bool {
        let until = Instant::now() + LEARN;
        let mut published = self.graph.published();
        let mut unknown = pods.iter().peekable();
        loop {
            // What it has known once need not be looked at again.
            let graph = self.graph.load();
            while unknown.next_if(|pod| graph.reaches(node, pod.key())).is_some() {}
            drop(graph);
            if unknown.peek().is_none() {
                return true;
            }
            if timeout_at(until, published.next()).await.is_err() {
                return false;
            }
            sleep(PAUSE).await;
        }
    }

    /// Waits until the graph has the edge, but not for long.
    async fn catch_up(&self, mut denied: Box<Denied>) -> Result<Authorized, Box<Denied>> {
        let until = Instant::now() + self.lag_wait;
        let graph = self.graph_of(denied.caller()).clone();
        let mut published = graph.published();
        loop {
            denied = match self.reconsider_by(denied, &graph.load()) {
                Ok(authorized) => return Ok(authorized),
                Err(denied) => denied,
            };
            if timeout_at(until, published.next()).await.is_err() {
                return Err(denied);
            }
            sleep(PAUSE).await;
        }
    }
}

fn is_by_graph(evidence: &Evidence) -> bool {
    matches!(evidence, Evidence::Related { .. } | Evidence::Unrelated { .. })
}

/// The volumes that claims of the pods are bound to, but that the graph does not know of yet; each once.
fn volumes_behind(graph: &Snapshot, node: &str, pods: &[Pod]) -> Vec<String> {
    let mut behind = BTreeSet::new();
    for pod in pods {
        pod.edges(&mut |edge| {
            if edge.other.kind != graph::Kind::PersistentVolumeClaim {
                return;
            }
            let Some(Facts::PersistentVolumeClaim { volume }) = graph.facts(edge.other) else {
                return;
            };
            let known = graph.reaches(node, Key::cluster(graph::Kind::PersistentVolume, volume));
            if !volume.is_empty() && !known {
                behind.insert(volume.clone());
            }
        });
    }
    behind.into_iter().collect()
}

#[cfg(test)]
mod tests;
