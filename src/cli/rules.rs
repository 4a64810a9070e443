//! `scopegate rules`: every rule there is, and whether it is enforced.

use std::{path::PathBuf, process::ExitCode};

use serde_json::{Value, json};

use super::Output;
use crate::{
    config::Config,
    rules::{Modes, Origin, Rule},
};

#[derive(Debug, clap::Args)]
pub(super) struct Rules {
    /// A configuration file: show the modes that it sets, instead of the defaults
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How to print them
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

impl Rules {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.config.as_deref().map(Config::load).transpose()?;
        let modes = config.map_or(Modes::DEFAULT, |config| config.authorizer.modes);
        match self.output {
            Output::Json => {
                let rules: Vec<Value> = Rule::ALL.iter().map(|rule| described(*rule, &modes)).collect();
                anstream::println!("{}", serde_json::to_string_pretty(&rules)?);
            }
            Output::Text => anstream::print!("{}", table(&modes)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn described(rule: Rule, modes: &Modes) -> Value {
    json!({
        "rule": rule.id(),
        "mode": modes.of(rule).as_str(),
        "default": rule.default_mode().as_str(),
        "origin": origin(rule),
        "text": rule.text(),
    })
}

/// One line a rule; a star marks a mode that is not the default.
fn table(modes: &Modes) -> String {
    let width = Rule::ALL.iter().map(|rule| rule.id().len()).max().unwrap_or_default();
    let mut lines = format!("{:width$}  {:8}  {:8}  WHAT IT SAYS\n", "RULE", "MODE", "ORIGIN");
    for rule in Rule::ALL {
        let changed = if modes.of(*rule) == rule.default_mode() {
            ""
        } else {
            "*"
        };
        let mode = format!("{}{changed}", modes.of(*rule));
        lines += &format!("{rule:width$}  {mode:8}  {:8}  {}\n", origin(*rule), rule.text());
    }
    lines
}

fn origin(rule: Rule) -> &'static str {
    match rule.origin() {
        Origin::Upstream => "upstream",
        Origin::Extended => "extended",
        Origin::Fixed => "fixed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Mode;

    #[test]
    fn every_rule_has_a_line_with_its_mode() {
        let mut modes = Modes::DEFAULT;
        modes.set(Rule::PodsMirrorLabels, Mode::Enforce);
        let table = table(&modes);
        assert_eq!(table.lines().count(), Rule::ALL.len() + 1);
        let line = |id: &str| table.lines().find(|line| line.starts_with(id)).unwrap();
        assert!(line("pods/mirror-labels ").contains(" Enforce* "));
        assert!(line("pods/mirror-annotations ").contains(" Audit "));
        assert!(line("node/secrets ").contains(" Enforce "));
    }
}
