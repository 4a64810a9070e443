//! Which API servers answer, asked every so often.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::{Client, Upstream, ask::readyz, chain, client::Server};

/// How often, and how long a server may take.
const EVERY: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(3);

impl Upstream {
    /// Keeps looking, for ever. A server that says it is not ready (one that is stopping does) is asked last until it is.
    pub async fn watch_health(self) {
        loop {
            let clients = self.clients.load_full();
            let servers = clients.own.servers().iter().enumerate();
            join_all(servers.map(|(at, server)| self.look(&clients.own, at, server))).await;
            sleep(EVERY).await;
        }
    }

    async fn look(&self, own: &Client, at: usize, server: &Server) {
        let Some(client) = own.only(at) else { return };
        let trouble = match timeout(ANSWER, readyz(&client)).await {
            Ok(Ok(code)) if !code.is_server_error() => None,
            Ok(Ok(code)) => Some(format!("it answers {code}")),
            Ok(Err(error)) => Some(chain(&error)),
            Err(_) => Some(format!("no answer within {ANSWER:?}")),
        };
        let url = server.url().to_string();
        self.metrics.healthy(&url, trouble.is_none());
        let news = server.is(trouble.is_none());
        match trouble {
            Some(why) if news => warn!(
                server = url,
                why, "API server is not healthy; others, if any, come first"
            ),
            None if news => info!(server = url, "API server is healthy again"),
            _ => {}
        }
    }
}
