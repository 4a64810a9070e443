//! Everything of one HTTP/2 connection in one task.
//!
//! hyper makes several tasks of a connection: one that takes requests, one that moves bytes, and one for each body on its way. A
//! request then wakes them one after the other, which has a second thread woken and put to sleep again for it, and may send its
//! head and its body apart. Here they are polled together by the one task that the connection has anyway.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use hyper::rt::Executor;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Part = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where hyper puts the parts of a connection.
#[derive(Clone, Debug)]
pub(super) struct Parts(UnboundedSender<Part>);

/// Polls them.
#[derive(Debug)]
pub(super) struct Driver {
    come: UnboundedReceiver<Part>,
    running: FuturesUnordered<Part>,
}

impl Parts {
    pub(super) fn new() -> (Self, Driver) {
        let (sender, come) = unbounded_channel();
        let running = FuturesUnordered::new();
        (Self(sender), Driver { come, running })
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Parts {
    fn execute(&self, part: F) {
        // Whose driver is gone has no connection any more.
        let _ = self.0.send(Box::pin(part));
    }
}

impl Driver {
    /// Does what there is to do now. Ready when nothing is left, though more may come.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            while let Poll::Ready(Some(part)) = self.come.poll_recv(cx) {
                self.running.push(part);
            }
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn parts_run_to_their_end_also_those_that_parts_begin() {
        let (parts, mut driver) = Parts::new();
        let ended = Arc::new(AtomicUsize::new(0));
        for _ in 0..10 {
            let (more, all) = (parts.clone(), Arc::clone(&ended));
            parts.execute(async move {
                yield_now().await;
                let inner = Arc::clone(&all);
                more.execute(async move {
                    yield_now().await;
                    inner.fetch_add(1, Ordering::Relaxed);
                });
                all.fetch_add(1, Ordering::Relaxed);
            });
        }
        poll_fn(|cx| driver.poll(cx)).await;
        assert_eq!(ended.load(Ordering::Relaxed), 20);
    }
}
