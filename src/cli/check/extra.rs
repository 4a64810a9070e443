//! What `extraRules` give, where that is more than they seem to, or nothing.

mod breadth;
mod given;
mod rows;
mod scopes;

use self::{breadth::warnings, given::is_given};
use super::Report;
use crate::{
    authorizer::{ExtraRule, Fallback},
    config::{Config, Identity},
    decision::ExtraRuleAt,
};

/// Whom a rule is for, as far as it matters to what it gives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Whose {
    Nodes,
    /// Nobody looks at what they write.
    Rest,
}

pub(super) fn check(config: &Config, report: &mut Report) {
    let authorizer = &config.authorizer;
    let own = matches!(config.upstream.identity, Identity::Own);
    let lists = authorizer.extra.lists();
    if lists.iter().all(|(_, rules)| rules.is_empty()) {
        return report.note("extraRules: none");
    }
    let counts: Vec<String> = lists
        .iter()
        .map(|(list, rules)| format!("{} for {list}", rules.len()))
        .collect();
    report.note(format!("extraRules: {}", counts.join(", ")));
    report.note(if own {
        "extraRules of nodes act with the gate's own rights: upstream sees the gate, which needs what they allow"
    } else {
        "extraRules let requests pass the gate; upstream decides about them as the caller's, and must allow them too"
    });
    for (list, rules) in lists {
        let (whose, fallback, key) = match list {
            "nodes" => (Whose::Nodes, authorizer.nodes, "callers.nodes.fallback"),
            "bootstrap" => (Whose::Rest, authorizer.bootstrap, "callers.bootstrap"),
            _ => (Whose::Rest, authorizer.others, "callers.others"),
        };
        if fallback == Fallback::Upstream && !rules.is_empty() {
            report.warn(format!(
                "extraRules.{list}: change nothing, since {key} forwards everything"
            ));
        }
        for (index, rule) in rules.iter().enumerate() {
            let at = ExtraRuleAt { list, index };
            let given = whose == Whose::Nodes && is_given(authorizer, rule);
            for warning in given.then(nothing_new).into_iter().chain(warnings(rule, whose, own)) {
                report.warn(format!("{at}: {warning}"));
            }
        }
    }
}

fn nothing_new() -> String {
    "gives nothing new: nodes may do this without it".to_owned()
}

/// All that a rule says of something, in one line.
fn list(words: &[String]) -> String {
    words.join(", ")
}

/// Whether `*` is among them.
fn has_all(words: &[String]) -> bool {
    words.iter().any(|word| word == crate::authorizer::EVERYTHING)
}

/// Whether a rule is for a verb.
fn has_verb(rule: &ExtraRule, verb: &str) -> bool {
    has_all(&rule.verbs) || rule.verbs.iter().any(|word| word == verb)
}

#[cfg(test)]
mod tests;
