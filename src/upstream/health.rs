//! Which API servers answer, asked every so often; and which connections to them nobody needs any more.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::future::join_all;
use http::StatusCode;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::{Client, Upstream, ask::readyz, chain, client::Server};

/// How often, and how long a server may take.
const EVERY: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(3);

impl Upstream {
    /// Keeps looking, for ever. A server that says it is not ready (one that is stopping does) is asked last until it is.
    pub async fn watch_health(self) {
        let may_ask = AtomicBool::new(false);
        loop {
            let clients = self.clients.load_full();
            let servers = clients.own.servers().iter().enumerate();
            join_all(servers.map(|(at, server)| self.look(&clients.own, at, server, &may_ask))).await;
            for client in [&clients.own, &clients.told, &clients.bare] {
                client.tidy();
            }
            sleep(EVERY).await;
        }
    }

    async fn look(&self, own: &Client, at: usize, server: &Server, may_ask: &AtomicBool) {
        let Some(client) = own.only(at) else { return };
        let trouble = match timeout(ANSWER, readyz(&client)).await {
            Ok(Ok(code)) if is_ready(code, may_ask) => None,
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

/// What a server means by its answer. One that has just started serves before it knows what anybody may do, and refuses all; it is
/// not ready. Where no server has ever let the gate ask, a refusal says only that it is there.
fn is_ready(code: StatusCode, may_ask: &AtomicBool) -> bool {
    if code.is_success() {
        may_ask.store(true, Ordering::Relaxed);
    }
    code.is_success() || !code.is_server_error() && !may_ask.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(&[200, 200] => true; "ready")]
    #[test_case(&[500] => false; "not ready")]
    #[test_case(&[200, 500] => false; "stopping")]
    #[test_case(&[403, 401, 403] => true; "nobody may ask")]
    #[test_case(&[403, 200, 403] => false; "started again, and knows nobody's rights yet")]
    #[test_case(&[200, 403, 200] => true; "knows them again")]
    fn readiness(codes: &[u16]) -> bool {
        let may_ask = AtomicBool::new(false);
        let ready = |code: &u16| is_ready(StatusCode::from_u16(*code).unwrap(), &may_ask);
        codes.iter().map(ready).last().unwrap()
    }
}
