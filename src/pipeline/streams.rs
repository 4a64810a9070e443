//! Answers that may stay open for hours, and the reasons to end them earlier.
//!
//! A watch or an exec session is allowed once. What allowed it may lapse while it runs: the certificate expires, its CA is
//! taken out of the file, the token is withdrawn. So the open ones are looked at again and again.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, future, stream};
use rustls::pki_types::UnixTime;
use tokio::{sync::oneshot, task::yield_now, time::sleep};

use super::{Connection, outcome::End};
use crate::{caller::Token, identity::Authenticator};

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
    watch: bool,
    cut: oneshot::Sender<End>,
}

/// Resolves when a stream has to end, and why.
pub(super) type Cut = oneshot::Receiver<End>;

const EVERY: Duration = Duration::from_secs(1);
const EVERY_TOKEN: Duration = Duration::from_secs(60);
/// Tokens that are asked about at the same time.
const AT_A_TIME: usize = 4;

impl Streams {
    pub(super) fn open(&self, connection: &Arc<Connection>, token: Option<Token>, watch: bool) -> Cut {
        let (cut, receiver) = oneshot::channel();
        let stream = Stream {
            connection: Arc::clone(connection),
            token,
            watch,
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
            let mut lapsed = HashSet::new();
            for (address, connection) in connections {
                if authenticator
                    .by_certificate(&connection.presented, UnixTime::now())
                    .is_err()
                {
                    lapsed.insert(address);
                }
                yield_now().await;
            }
            self.retain(End::Lapsed, |stream| {
                stream.token.is_some() || !lapsed.contains(&address(&stream.connection))
            });
        }
    }

    /// The same for tokens, which cost a question to upstream.
    pub async fn watch_tokens(&self, authenticator: &Authenticator) {
        loop {
            sleep(EVERY_TOKEN).await;
            let tokens: HashSet<Token> = self.lock().iter().filter_map(|stream| stream.token.clone()).collect();
            let refused = stream::iter(tokens).map(|token| async {
                let refused = authenticator.is_refused(&token).await;
                refused.then_some(token)
            });
            let refused: HashSet<Token> = refused
                .buffer_unordered(AT_A_TIME)
                .filter_map(future::ready)
                .collect()
                .await;
            self.retain(End::Lapsed, |stream| {
                stream.token.as_ref().is_none_or(|token| !refused.contains(token))
            });
        }
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

/// Tells connections apart.
fn address(connection: &Arc<Connection>) -> usize {
    Arc::as_ptr(connection).addr()
}
