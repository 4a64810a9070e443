//! `scopegate report`: what rules that are not enforced yet would have refused.

use std::process::ExitCode;

use super::log::{Logs, print};
use crate::{report::Collector, rules::Rule};

/// Which events to summarise.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  scopegate report audit.log audit.log.1
  scopegate report audit.log --since 24h --rule node/secrets
  kubectl logs -n kube-system scopegate-0 | scopegate report - --format json")]
pub(super) struct Report {
    #[command(flatten)]
    logs: Logs,
    /// Only what this rule had against requests, e.g. pods/mirror-labels; can be repeated
    #[arg(long = "rule", value_name = "ID", value_parser = rule)]
    rules: Vec<String>,
    /// Only requests of this node; can be repeated
    #[arg(long = "node", value_name = "NAME")]
    nodes: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Format {
    Json,
    #[default]
    Text,
}

impl Report {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut collector = Collector::new(self.rules);
        let log = self.logs.read(self.nodes, |event| collector.take(event))?;
        let Some(summary) = collector.finish(&log) else {
            anyhow::bail!("there is no event");
        };
        match self.format {
            Format::Json => print(&summary.to_json()?)?,
            Format::Text => print(&summary.to_string())?,
        }
        Ok(if summary.would_refuse() {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// Nothing is found of a rule that there is not, which would look like a rule that can be enforced.
fn rule(text: &str) -> Result<String, String> {
    let rule: Result<Rule, ()> = text.parse();
    let rule = rule.map_err(|()| "there is no such rule; `scopegate rules` lists them".to_owned())?;
    Ok(rule.id().to_owned())
}
