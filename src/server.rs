//! Serves HTTP on a socket: accept, TLS, connections, drain. Knows nothing of Kubernetes or of the gate.
//!
//! [`Server::bind`] first, then [`Server::run`]: the caller learns the address, or why there is none, before
//! anything is served.

mod connection;
mod metrics;
pub mod reload;
pub mod tls;

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, Response, body::Incoming, service::Service};
use rustls::pki_types::CertificateDer;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};
use tracing::{info, warn};

pub use self::{
    connection::{Hangup, Transport},
    metrics::Metrics,
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
    max_connections: usize,
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

/// Connections a listener holds at a time unless it says otherwise; more wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 10_000;
/// Longest pause after the system refused to accept (out of file descriptors, say).
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
            max_connections: MAX_CONNECTIONS,
        })
    }

    /// Holds no more connections than this at a time.
    pub fn at_most(self, max_connections: usize) -> Self {
        Self {
            max_connections,
            ..self
        }
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
        B: hyper::body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let name = self.name;
        let (drain, draining) = watch::channel(false);
        let permits = Arc::new(Semaphore::new(self.max_connections));
        let mut connections = JoinSet::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let (stream, address, permit) = tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(_) = connections.join_next() => continue,
                accepted = self.accept(&permits) => accepted,
            };
            let open = metrics.open(name);
            let (transport, new_service, draining) = (transport.clone(), new_service.clone(), draining.clone());
            connections.spawn(async move {
                connection::serve(stream, address, transport, new_service, draining, open).await;
                drop(permit);
            });
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
    async fn accept(&self, permits: &Arc<Semaphore>) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
        // The semaphore is never closed, so there always is a permit.
        let permit = Arc::clone(permits).acquire_owned().await.ok();
        let mut pause = Duration::from_millis(10);
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => return (stream, address, permit),
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
