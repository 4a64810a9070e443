//! What runs beside the requests, for as long as the gate does.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::{runtime::Handle, task::JoinSet};
use tracing::error;

use crate::ready::Ready;

/// Tasks, which end with this.
#[derive(Default)]
pub(super) struct Background {
    pub(super) ready: Ready,
    tasks: JoinSet<()>,
}

impl Background {
    /// Without one of these the gate would go on with old files or old rights, and nobody would know. So a task that fails
    /// takes readiness with it.
    pub(super) fn spawn(&mut self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_on(&Handle::current(), name, task);
    }

    /// The same, elsewhere.
    pub(super) fn spawn_on(
        &mut self,
        runtime: &Handle,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let ready = self.ready.clone();
        let task = async move {
            if AssertUnwindSafe(task).catch_unwind().await.is_err() {
                error!(
                    task = name,
                    "a background task failed; the gate is not ready any more, restart it"
                );
                let _failed = ready.task(name);
                std::future::pending::<()>().await;
            }
        };
        self.tasks.spawn_on(task, runtime);
    }

    pub(super) async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_fails_is_told() {
        let mut background = Background::default();
        background.spawn("fine", async {});
        background.spawn("broken", async { panic!("as a test") });
        let broken = async {
            while background.ready.conditions().is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(10), broken)
            .await
            .unwrap();
        assert_eq!(background.ready.conditions(), [("broken", false)]);
        background.stop().await;
    }
}
