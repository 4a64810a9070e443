//! Serves HTTP on a socket: accept, TLS, connections, drain. Knows nothing of Kubernetes or of the gate.
//!
//! [`Server::bind`] first, then [`Server::run`]: the caller learns the address, or why there is none, before
//! anything is served.

mod ahead;
mod connection;
mod life;
mod limits;
mod metrics;
pub mod reload;
mod stream;
pub mod tls;
mod workers;

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, Response, body::Incoming, service::Service};
use rustls::pki_types::CertificateDer;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};
use tracing::{debug, error, info, warn};

pub use self::{
    ahead::Ahead,
    connection::{Hangup, Transport},
    life::Takeover,
    limits::{Counted, Limits, PerClient},
    metrics::Metrics,
    stream::Stream,
    workers::Workers,
};

/// The other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    /// What the client presented and proved to hold the key of; leaf first, not checked against any CA.
    pub certificates: Vec<CertificateDer<'static>>,
}

/// A bound socket.
#[derive(Debug)]
pub struct Server {
    /// In logs and metric labels.
    name: &'static str,
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
    clients: PerClient,
    workers: Option<Arc<Workers>>,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "cannot listen on {address} for {name}: {source}; is another process using the port, or the address not this machine's?"
)]
pub struct BindError {
    name: &'static str,
    address: SocketAddr,
    source: io::Error,
}

/// What a connection holds among all, and among those of its client.
type Places = (Option<OwnedSemaphorePermit>, Counted);

/// Pauses after the system refused to accept (out of file descriptors, say).
const MIN_ACCEPT_PAUSE: Duration = Duration::from_millis(10);
const MAX_ACCEPT_PAUSE: Duration = Duration::from_secs(1);

impl Server {
    pub async fn bind(name: &'static str, address: SocketAddr) -> Result<Self, BindError> {
        let bound = async {
            let listener = TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = bound.await.map_err(|source| BindError { name, address, source })?;
        Ok(Self {
            name,
            listener,
            address,
            limits: Limits::default(),
            clients: PerClient::default(),
            workers: None,
        })
    }

    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Connections are served by these, and not by the runtime on which it accepts them.
    pub fn by(self, workers: Arc<Workers>) -> Self {
        let workers = Some(workers);
        Self { workers, ..self }
    }

    /// Where clients reach it; differs from what was asked for when that was port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` resolves, then lets running requests finish, but no longer than `grace`.
    pub async fn run<N, S, B>(
        self,
        transport: Transport,
        new_service: N,
        metrics: Metrics,
        shutdown: impl Future<Output = ()>,
        grace: Duration,
    ) where
        N: Fn(Peer) -> S + Clone + Send + 'static,
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
        S::Future: Send + 'static,
        B: hyper::body::Body + Send + Unpin + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let name = self.name;
        let (drain, draining) = watch::channel(false);
        let permits = Arc::new(Semaphore::new(self.limits.connections));
        let mut connections = JoinSet::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let (stream, address, places) = tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(ended) = connections.join_next() => {
                    if let Err(error) = ended {
                        error!(listener = name, %error, "the handling of a connection failed");
                    }
                    continue;
                }
                accepted = self.accept(&permits, &metrics) => accepted,
            };
            let limits = self.limits;
            let open = metrics.open(name);
            let (transport, new_service, draining) = (transport.clone(), new_service.clone(), draining.clone());
            let serve = move |stream| async move {
                connection::serve(stream, address, transport, limits, new_service, draining, open).await;
                drop(places);
            };
            match self.workers.as_ref().and_then(|workers| workers.pick()) {
                None => connections.spawn(serve(stream)),
                Some((worker, load)) => {
                    // It is to be watched by that one alone.
                    let stream = stream.into_std();
                    connections.spawn_on(
                        async move {
                            match stream.and_then(TcpStream::from_std) {
                                Ok(stream) => serve(stream).await,
                                Err(error) => warn!(listener = name, %error, "cannot hand on a connection"),
                            }
                            drop(load);
                        },
                        worker,
                    )
                }
            };
        }
        drop(self.listener);
        if !connections.is_empty() {
            info!(listener = name, connections = connections.len(), ?grace, "draining");
        }
        let drained = async {
            let _ = drain.send(true);
            while connections.join_next().await.is_some() {}
        };
        if tokio::time::timeout(grace, drained).await.is_err() {
            warn!(
                listener = name,
                connections = connections.len(),
                "cutting connections that did not finish in time"
            );
            connections.shutdown().await;
        }
    }

    /// The next connection, as soon as there is room for one. Pauses ever longer while the system refuses,
    /// rather than spinning on the error.
    async fn accept(&self, permits: &Arc<Semaphore>, metrics: &Metrics) -> (TcpStream, SocketAddr, Places) {
        // The semaphore is never closed, so there always is a permit.
        let permit = Arc::clone(permits).acquire_owned().await.ok();
        let mut pause = MIN_ACCEPT_PAUSE;
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    pause = MIN_ACCEPT_PAUSE;
                    match self.clients.count(address.ip(), self.limits.connections_per_client) {
                        Some(counted) => return (stream, address, (permit, counted)),
                        None => {
                            metrics.open(self.name).failed("too-many-from-client");
                            debug!(listener = self.name, peer = %address, "the client has too many connections");
                        }
                    }
                }
                Err(error) => {
                    warn!(listener = self.name, %error, "cannot accept a connection; retrying");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(MAX_ACCEPT_PAUSE);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
