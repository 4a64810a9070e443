//! One informer: what there is of a kind, and what happens to it, told to the writer.

mod remedy;

use std::{convert::Infallible, marker::PhantomData, pin::pin, time::Duration};

use futures_util::StreamExt as _;
use kube::{
    Api, Client,
    core::ApiResource,
    runtime::watcher::{self, Event, watcher},
};
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, info, warn};

use self::remedy::Remedy;
use super::{
    Metrics,
    backoff::Backoff,
    kinds::Collection,
    line::{Line, Upstream},
    object::Object,
    state::Own,
    writer::{Change, Changes, Seen},
};
use crate::{
    graph::Watched,
    threads::{Haste, Hasty},
};

/// What every informer has to do with.
#[derive(Clone)]
pub(super) struct Surroundings {
    pub(super) upstream: Upstream,
    pub(super) changes: Changes,
    pub(super) metrics: Metrics,
    pub(super) stale_after: Duration,
    /// Of the thread that all of them run on.
    pub(super) haste: Haste,
}

pub(super) struct Informer<T> {
    collection: &'static Collection,
    own: Own,
    around: Surroundings,
    backoff: Backoff,
    /// Whether lists are streamed, as long as upstream does not refuse.
    streaming: bool,
    seen: Seen,
    /// What was listed and not told yet.
    waiting: Vec<(Instant, Change)>,
    /// As long as there is a list to be read.
    hasty: Option<Hasty>,
    slim: PhantomData<fn() -> T>,
}

/// The writer is gone, and with it the reason to go on.
struct Unheard;

/// How often an API that is not served is looked for, at most.
const LOOK: Duration = Duration::from_secs(60);
/// A streaming list that stops for so long before its end comes from a server that does not know what is asked of it.
const STREAMING: Duration = Duration::from_secs(15);
/// Objects in a page of a list that is not streamed.
const PAGE: u32 = 500;
/// Objects of a list that are told at a time. The writer is quicker than a list, and would be woken for every one of them.
const TOGETHER: usize = 64;

impl<T: Watched> Informer<T> {
    pub(super) fn new(collection: &'static Collection, own: Own, around: Surroundings) -> Self {
        Self {
            collection,
            own,
            hasty: Some(around.haste.make()),
            around,
            backoff: Backoff::new(),
            streaming: true,
            seen: Seen::default(),
            waiting: Vec::with_capacity(TOGETHER),
            slim: PhantomData,
        }
    }

    /// Runs for as long as there is a writer.
    pub(super) async fn run(mut self) {
        let changes = self.around.changes.clone();
        tokio::select! {
            () = changes.closed() => {}
            _ = self.go_on() => {}
        }
    }

    async fn go_on(&mut self) -> Result<Infallible, Unheard> {
        // Sooner than the line would count as silent, so that one that is dead is noticed and replaced before.
        let patience = self.around.stale_after.mul_f64(0.75);
        let line = Line::new(self.around.upstream.clone(), self.own.clone(), patience);
        let client = Client::new(line, "default");
        loop {
            match self.served(&client).await {
                Ok(Some(api)) => self.watch(Api::all_with(client.clone(), &api)).await?,
                Ok(None) => {
                    debug!(informer = self.collection.resource, "upstream does not serve this API");
                    self.seen.clear();
                    self.listed().await?;
                    sleep(LOOK.min(self.around.stale_after / 2)).await;
                }
                Err(error) => self.failed(&remedy::explain("discover", self.collection, &error)).await,
            }
        }
    }

    /// The version to watch; none if upstream serves none that the gate can read.
    async fn served(&self, client: &Client) -> kube::Result<Option<ApiResource>> {
        for version in self.collection.versions {
            let api = self.collection.in_version(version);
            if !self.collection.optional {
                return Ok(Some(api));
            }
            match client.list_api_group_resources(&api.api_version).await {
                Ok(list) if list.resources.iter().any(|resource| resource.name == api.plural) => return Ok(Some(api)),
                Err(kube::Error::Api(status)) if status.code != 404 => return Err(kube::Error::Api(status)),
                Ok(_) | Err(kube::Error::Api(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Follows one kube watcher for as long as nothing is missed; afterwards, the next has to list again.
    async fn watch(&mut self, api: Api<Object<T>>) -> Result<(), Unheard> {
        let config = watcher::Config::default().page_size(PAGE);
        let streaming = self.streaming;
        let config = if streaming { config.streaming_lists() } else { config };
        let mut events = pin!(watcher(api, config));
        let (mut begun, mut complete) = (false, false);
        loop {
            let next = events.next();
            let event = if streaming && begun && !complete {
                timeout(STREAMING, next).await
            } else {
                Ok(next.await)
            };
            let Ok(event) = event else {
                self.list_in_pages();
                return Ok(());
            };
            match event {
                Some(Ok(Event::Init)) if streaming && begun && !complete => {
                    self.list_in_pages();
                    return Ok(());
                }
                Some(Ok(Event::Init)) => {
                    begun = true;
                    self.hasty.get_or_insert_with(|| self.around.haste.make());
                    self.seen.clear();
                    self.waiting.clear();
                }
                Some(Ok(Event::InitApply(object))) => {
                    self.seen.insert(object.slim.key());
                    self.around.metrics.event(self.collection, "listed");
                    self.waiting
                        .push((Instant::now(), Change::Apply(Box::new(object.slim))));
                    if self.waiting.len() == TOGETHER {
                        self.tell().await?;
                    }
                }
                Some(Ok(Event::InitDone)) => {
                    complete = true;
                    self.listed().await?;
                }
                Some(Ok(Event::Apply(object))) => self.send("applied", Change::Apply(Box::new(object.slim))).await?,
                Some(Ok(Event::Delete(object))) => self.send("deleted", Change::Delete(Box::new(object.slim))).await?,
                Some(Err(error)) if remedy::is_silence(&error) => {
                    self.own.lost();
                    let informer = self.collection.resource;
                    debug!(
                        informer,
                        "upstream has said nothing for long; everything is listed again"
                    );
                    return Ok(());
                }
                Some(Err(error)) => {
                    let remedy = Remedy::of(&error);
                    if remedy == Remedy::Relist {
                        self.own.lost();
                    }
                    if streaming && !complete && remedy::is_refusal(&error) {
                        self.list_in_pages();
                    }
                    self.failed(&remedy::explain_watch(self.collection, &error)).await;
                    if remedy == Remedy::Relist {
                        return Ok(());
                    }
                }
                None => return Ok(()),
            }
        }
    }

    fn list_in_pages(&mut self) {
        self.streaming = false;
        let informer = self.collection.resource;
        info!(
            informer,
            "upstream does not stream lists to their end; listing in pages"
        );
    }

    /// Tells what waits, in the order in which it came.
    async fn tell(&mut self) -> Result<(), Unheard> {
        let places = self.around.changes.reserve_many(self.waiting.len()).await;
        let places = places.map_err(|_| Unheard)?;
        places
            .zip(self.waiting.drain(..))
            .for_each(|(place, change)| place.send(change));
        Ok(())
    }

    async fn listed(&mut self) -> Result<(), Unheard> {
        self.tell().await?;
        self.hasty = None;
        self.around.metrics.listed(self.collection);
        let seen = std::mem::take(&mut self.seen);
        let listed = Change::Listed(T::KIND, seen, self.own.listed());
        self.around
            .changes
            .send((Instant::now(), listed))
            .await
            .map_err(|_| Unheard)
    }

    async fn send(&self, r#type: &'static str, change: Change) -> Result<(), Unheard> {
        self.around.metrics.event(self.collection, r#type);
        let change = (Instant::now(), change);
        self.around.changes.send(change).await.map_err(|_| Unheard)
    }

    async fn failed(&mut self, why: &str) {
        // It may for ever, and nobody else is to lose by that.
        self.hasty = None;
        self.around.metrics.failed(self.collection);
        warn!(
            informer = self.collection.resource,
            why, "informer failed; it tries again"
        );
        self.backoff.wait().await;
    }
}
