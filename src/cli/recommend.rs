//! `scopegate recommend`: a piece of configuration that allows what static pods use.

use std::process::ExitCode;

use super::log::{Logs, print};
use crate::report::{Recommendation, Usage};

/// Which events to learn from.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  scopegate recommend audit.log audit.log.1
  scopegate recommend audit.log --since 7d > pod-restriction.yaml")]
pub(super) struct Recommend {
    #[command(flatten)]
    logs: Logs,
}

impl Recommend {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut usage = Usage::default();
        let log = self.logs.read(Vec::new(), |event| usage.take(event))?;
        let times = log.wanted.times.filter(|_| !usage.is_empty());
        let Some(times) = times else {
            anyhow::bail!(
                "there is no mirror pod in {} events, so that there is nothing to recommend. A mirror pod is seen only when \
                 a node creates it: when a node joins, when a static pod is added or changed, or when its mirror pod was \
                 deleted (kubectl delete pod, one at a time; the static pod runs on and its kubelet creates the mirror \
                 pod anew). Let that happen on every node with static pods while the gate runs, and try again. A cluster \
                 without static pods needs no podRestriction, only featureGates.NodeRestrictionPods",
                log.wanted.events
            );
        };
        print(&Recommendation::new(&usage, times).to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}
