//! Connections that have stopped being HTTP (exec, attach, port-forward): bytes both ways, until either side ends.

use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncWriteExt as _, copy, split},
    time::timeout,
};

use crate::server::Stream;

/// Upstream's side of one, after it has agreed.
#[derive(Debug)]
pub struct Tunnel(OnUpgrade);

/// A side that was gone before it could be joined to the other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unjoined {
    Client,
    Upstream,
}

/// How long upstream may take nothing of what there is for it. The client has such a limit already.
const STALL: Duration = Duration::from_secs(300);
const CLOSE: Duration = Duration::from_secs(2);

impl Tunnel {
    pub(super) fn new(upstream: OnUpgrade) -> Self {
        Self(upstream)
    }

    /// Carries bytes until one side has no more, then closes both: neither protocol goes on in one direction alone.
    /// What either side sent together with its last HTTP bytes is carried too.
    pub async fn join(self, client: OnUpgrade) -> Result<(), Unjoined> {
        let client = async { client.await.map_err(|_| Unjoined::Client) };
        let upstream = async { self.0.await.map_err(|_| Unjoined::Upstream) };
        let (client, upstream) = tokio::try_join!(client, upstream)?;
        let (mut client, mut upstream) = (TokioIo::new(client), Stream::new(TokioIo::new(upstream), STALL));
        {
            let (mut from_client, mut to_client) = split(&mut client);
            let (mut from_upstream, mut to_upstream) = split(&mut upstream);
            tokio::select! {
                _ = copy(&mut from_client, &mut to_upstream) => {}
                _ = copy(&mut from_upstream, &mut to_client) => {}
            }
        }
        // Whoever does not take the end of it has had it.
        let closed = async { tokio::join!(client.shutdown(), upstream.shutdown()) };
        let _ = timeout(CLOSE, closed).await;
        Ok(())
    }
}
