//! The answer of an authorizer: a value, so that the log, the audit event and the tests all read the same.

use std::{fmt, sync::Arc};

use crate::{
    api::Verb,
    rules::{Mode, Rule},
};

/// What an authorizer thinks of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    Allow,
    Deny,
}

/// Why a request is refused. It is only made into words when a refusal is written, with the caller and the request at
/// hand: deciding costs no memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    /// kube-apiserver gives none either.
    None,
    Text(&'static str),
    /// A node wants to read all nodes.
    AllNodes,
    /// Nothing leads from the object to the node.
    NoRelationship,
    /// The rule knows these namespaces.
    OnlyNamespaces(&'static [&'static str]),
    /// The rule knows collections that are selected like this; without it, none.
    OnlySelected(Option<Selected>),
    /// The rule knows these subresources.
    OnlySubresources(&'static [&'static str]),
    /// The rule knows these verbs, in two parts.
    OnlyVerbs(&'static [Verb], &'static [Verb]),
    /// A node wants to read another one.
    OtherNode,
    /// Nodes may not do this with pod certificate requests.
    PodCertificateRequestVerb,
    /// The user is a node, but does not say which.
    UnknownNode,
}

/// What makes a collection that of one seed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Selected {
    /// This field, if it is the name of the seed.
    Field(&'static str),
    /// The label with the name of the seed in it.
    Label,
}

/// Why, as a path an operator can follow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// A rule that the configuration has added allows it.
    Extra(ExtraRuleAt),
    /// The rule has no opinion, and the configuration key named here says what that means.
    Fallback { rule: Rule, key: &'static str },
    /// The caller is in quarantine, which leaves it nothing of the kind. The text says since when and why, to operators.
    Quarantined(Arc<str>),
    /// The rule settled it.
    Rule(Rule),
    /// The rule allows it because the graph leads from the object to the node.
    Related {
        rule: Rule,
        /// How it leads there. Deciding leaves it out; it is for records.
        path: Option<String>,
    },
    /// The rule would allow it if the graph led from the object to the node: a refusal that a graph which lags behind
    /// could explain.
    Unrelated { rule: Rule },
}

/// Where in the configuration an extra rule stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ExtraRuleAt {
    pub list: &'static str,
    pub index: usize,
}

/// A verdict with its reason and evidence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    /// What the client reads behind the refusal.
    pub reason: Reason,
    pub evidence: Evidence,
    /// Of a request that passes though the rule is against it: how the rule is set.
    pub condoned: Option<Mode>,
}

impl Evidence {
    /// The rule that settled it; nothing if the configuration did by itself.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            Self::Extra(_) => None,
            Self::Quarantined(_) => Some(Rule::CallersQuarantine),
            Self::Fallback { rule, .. } | Self::Rule(rule) | Self::Related { rule, .. } | Self::Unrelated { rule } => {
                Some(*rule)
            }
        }
    }
}

impl fmt::Display for ExtraRuleAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { list, index } = self;
        write!(f, "extraRules.{list}[{index}]")
    }
}

impl Decision {
    pub fn allow(evidence: Evidence) -> Self {
        Self {
            verdict: Verdict::Allow,
            reason: Reason::None,
            evidence,
            condoned: None,
        }
    }

    pub fn deny(reason: Reason, evidence: Evidence) -> Self {
        Self {
            verdict: Verdict::Deny,
            reason,
            evidence,
            condoned: None,
        }
    }

    /// The same, but it passes.
    pub fn condone(self, mode: Mode) -> Self {
        Self {
            verdict: Verdict::Allow,
            condoned: Some(mode),
            ..self
        }
    }

    /// In the words of the `authorization.k8s.io/decision` audit annotation.
    pub fn annotation(&self) -> &'static str {
        match self.verdict {
            Verdict::Allow => "allow",
            Verdict::Deny => "forbid",
        }
    }
}
