//! What happens to gates and API servers. The kubelets are not told.

use std::time::Duration;

use jiff::Timestamp;

use super::{GATES, Scene, workload::End};
use crate::cluster::assets;

/// From the end of kube-apiserver until it is ready again.
#[derive(Clone, Copy)]
pub(super) struct Outage {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

/// For how long nobody serves, on top of what a start takes.
const OUTAGE: Duration = Duration::from_secs(5);

impl Outage {
    pub(super) fn contains(self, time: Timestamp) -> bool {
        (self.from..=self.until).contains(&time)
    }

    fn duration(self) -> Duration {
        Duration::try_from(self.until.duration_since(self.from)).unwrap()
    }
}

impl Scene {
    /// The oldest that a lease has been.
    pub(super) async fn faults(&mut self) -> Duration {
        let mut oldest = Duration::ZERO;

        self.gate.signal("KILL");
        self.gate.exited().await;
        self.serve(GATES[0]).await;
        self.passing_pods("gate-killed", End::Deletion).await;
        oldest = oldest.max(self.leases_are_fresh(Duration::ZERO));

        let stopped = Timestamp::now();
        self.cluster.stop();
        tokio::time::sleep(OUTAGE).await;
        self.cluster.run(&assets().unwrap()).await;
        let outage = Outage {
            from: stopped,
            until: Timestamp::now(),
        };
        let down = outage.duration();
        self.outage = Some(outage);
        self.passing_pods("upstream-killed", End::Eviction).await;
        oldest = oldest.max(self.leases_are_fresh(down));

        let mut first = self.serve(GATES[1]).await;
        first.signal("TERM");
        assert!(first.exited().await.success(), "{}", first.stderr());
        self.passing_pods("gate-replaced", End::Deletion).await;
        oldest.max(self.leases_are_fresh(Duration::ZERO))
    }
}
