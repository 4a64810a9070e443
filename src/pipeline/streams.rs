//! Answers that may stay open for hours, and the reasons to end them earlier.
//!
//! A watch or an exec session is allowed once. What allowed it may lapse while it runs: the certificate expires, its CA is
//! taken out of the file, the token is withdrawn, the pod that needed the secret is gone. So the open ones are looked at again
//! and again.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use rustls::pki_types::UnixTime;
use tokio::{
    sync::oneshot,
    task::yield_now,
    time::{Instant, sleep},
};

use super::{Connection, outcome::End, ward::Ward};
use crate::{
    api::Verb,
    caller::{Caller, Token},
    graph::{Anchor, Key, Kind, Snapshot},
    identity::Authenticator,
    quarantine::Asks,
    request::RequestInfo,
    watch::{Freshness, Graph},
};

/// All that are open now. Locked when one begins and when they are looked at, never for an ordinary request.
#[derive(Debug, Default)]
pub struct Streams {
    open: Mutex<Vec<Stream>>,
    stopping: AtomicBool,
}

/// What has to be known of one to look at it again.
#[derive(Debug)]
struct Stream {
    connection: Arc<Connection>,
    /// What allowed it; nothing if it was the connection's certificate.
    token: Option<Token>,
    /// The object that it is about, if it was allowed because the graph leads from there to the node.
    depends: Option<Dependency>,
    watch: bool,
    /// Whose it is, and what it asks for, to be held against the quarantine.
    caller: Caller,
    asks: Asks,
    cut: oneshot::Sender<End>,
}

/// What the graph has to say for a stream to go on.
#[derive(Debug)]
pub(super) struct Dependency {
    anchor: Anchor,
    /// The name of the node, or of the seed.
    end: String,
    kind: Kind,
    namespace: String,
    name: String,
    /// Since when upstream has said so, and the graph has not.
    pending: Option<Instant>,
}

/// Resolves when a stream has to end, and why.
pub(super) type Cut = oneshot::Receiver<End>;

const EVERY: Duration = Duration::from_secs(1);
const EVERY_TOKEN: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(5);
/// Streams that are looked at before others get their turn.
const AT_ONCE: usize = 1000;
/// Tokens that are asked about at the same time.
const AT_A_TIME: usize = 4;

impl Streams {
    pub(super) fn open(
        &self,
        connection: &Arc<Connection>,
        token: Option<Token>,
        depends: Option<Dependency>,
        (caller, info): (&Caller, &RequestInfo),
    ) -> Cut {
        let (cut, receiver) = oneshot::channel();
        let stream = Stream {
            connection: Arc::clone(connection),
            token,
            depends,
            watch: info.verb == Verb::Watch,
            asks: Asks::of(caller, info),
            caller: caller.clone(),
            cut,
        };
        self.lock().push(stream);
        if self.is_stopping() {
            self.end_watches();
        }
        receiver
    }

    /// Whether the gate was told to stop: what breaks off then was not the client's doing.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// The gate stops: watches end now, so that their clients go on elsewhere; sessions may finish by themselves.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.end_watches();
    }

    /// Keeps looking at those whom a certificate has allowed, for ever.
    pub async fn watch_certificates(&self, authenticator: &Authenticator) {
        loop {
            sleep(EVERY).await;
            let connections: HashMap<_, _> = {
                let open = self.lock();
                let by_certificate = open.iter().filter(|stream| stream.token.is_none());
                let connections = by_certificate.map(|stream| &stream.connection);
                connections.map(|one| (address(one), Arc::clone(one))).collect()
            };
            // Verifying costs nothing while nothing has changed, and a lot when the CA file has: not under the lock, and not
            // all at once.
            // Kept until they are cut, so that no other can have the same address.
            let mut lapsed = HashMap::new();
            for (address, connection) in connections {
                if authenticator
                    .by_certificate(&connection.presented, UnixTime::now())
                    .is_err()
                {
                    lapsed.insert(address, connection);
                }
                yield_now().await;
            }
            self.retain(End::Lapsed, |stream| {
                stream.token.is_some() || !lapsed.contains_key(&address(&stream.connection))
            });
        }
    }

    /// The same for tokens, which cost a question to upstream. Not knowing is no reason to cut, but one to ask again soon.
    pub async fn watch_tokens(&self, authenticator: &Authenticator) {
        let mut pause = EVERY_TOKEN;
        loop {
            sleep(pause).await;
            let tokens: HashSet<Token> = self.lock().iter().filter_map(|stream| stream.token.clone()).collect();
            let asked = stream::iter(tokens).map(|token| async {
                let accepted = authenticator.still_accepts(&token).await;
                (token, accepted)
            });
            let asked: HashMap<Token, Option<bool>> = asked.buffer_unordered(AT_A_TIME).collect().await;
            self.retain(End::Lapsed, |stream| {
                let accepted = stream.token.as_ref().and_then(|token| asked.get(token));
                accepted != Some(&Some(false))
            });
            let unknown = asked.values().any(Option::is_none);
            pause = if unknown { SOON } else { EVERY_TOKEN };
        }
    }

    /// Keeps looking at those whom this graph has allowed; each ends within this time after the last edge has gone, or after
    /// the graph cannot be trusted any more.
    pub async fn watch_graph(&self, graph: &Graph, within: Duration) {
        loop {
            sleep(within / 2).await;
            let (snapshot, now) = (graph.load_full(), Instant::now());
            let doubtful = graph.freshness() != Freshness::Fresh;
            let over = |stream: &mut Stream| match &mut stream.depends {
                Some(dependency) if dependency.anchor == snapshot.anchor() => {
                    doubtful || !dependency.holds(&snapshot, now, within / 2)
                }
                _ => false,
            };
            // There may be very many: others get their turn in between. Who is passed over because the list has moved is
            // looked at the next time.
            let mut at = 0;
            while let Some(ended) = self.extract(at..at + AT_ONCE, over) {
                at += AT_ONCE - ended.len();
                for stream in ended {
                    let _ = stream.cut.send(End::Revoked);
                }
                yield_now().await;
            }
        }
    }

    /// Ends those of whoever comes into quarantine, at once, for ever.
    pub async fn watch_quarantine(&self, ward: &Ward) {
        let mut published = ward.published();
        loop {
            let quarantine = ward.current();
            self.retain(End::Quarantined, |stream| {
                quarantine.against(&stream.caller, stream.asks).is_none()
            });
            if published.changed().await.is_err() {
                return;
            }
        }
    }

    /// Takes out some of a part of them; nothing if there is no such part.
    fn extract(&self, part: Range<usize>, some: impl Fn(&mut Stream) -> bool) -> Option<Vec<Stream>> {
        let mut open = self.lock();
        let end = part.end.min(open.len());
        (part.start < end).then(|| open.extract_if(part.start..end, |stream| some(stream)).collect())
    }

    fn end_watches(&self) {
        self.retain(End::GateStopped, |stream| !stream.watch);
    }

    /// Ends what is not to go on, and forgets what has ended by itself.
    fn retain(&self, why: End, goes_on: impl Fn(&Stream) -> bool) {
        let ended = |stream: &mut Stream| stream.cut.is_closed() || !goes_on(stream);
        let ended: Vec<Stream> = self.lock().extract_if(.., ended).collect();
        for stream in ended {
            // Nobody listens any more if it ended just now.
            let _ = stream.cut.send(why);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Stream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dependency {
    /// On an object that the graph leads to the node from; or that upstream does, and the graph is still to learn it.
    pub(super) fn new((anchor, end): (Anchor, &str), key: Key<'_>, known: bool) -> Self {
        Self {
            anchor,
            end: end.to_owned(),
            kind: key.kind,
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
            pending: (!known).then(Instant::now),
        }
    }

    /// What upstream has said counts for a moment. If the graph does not learn it, it may have come and gone in between.
    fn holds(&mut self, snapshot: &Snapshot, now: Instant, moment: Duration) -> bool {
        let key = Key::new(self.kind, &self.namespace, &self.name);
        if snapshot.reaches(&self.end, key) {
            self.pending = None;
            return true;
        }
        self.pending.is_some_and(|since| now < since + moment)
    }
}

/// Tells connections apart.
fn address(connection: &Arc<Connection>) -> usize {
    Arc::as_ptr(connection).addr()
}

#[cfg(test)]
mod tests;
