//! The answer of an authorizer: a value, so that the log, the audit event and the tests all read the same.

use std::borrow::Cow;

/// What an authorizer thinks of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    Allow,
    Deny,
}

/// Why, as a path an operator can follow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// The rules have no opinion, and the configuration key named here says what that means.
    Fallback(&'static str),
    /// The named rule settled it.
    Rule(&'static str),
}

/// A verdict with its reason and evidence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    /// What the client reads behind the refusal. Empty where kube-apiserver gives no reason either.
    pub reason: Cow<'static, str>,
    pub evidence: Evidence,
}

impl Decision {
    pub fn allow(evidence: Evidence) -> Self {
        Self {
            verdict: Verdict::Allow,
            reason: Cow::Borrowed(""),
            evidence,
        }
    }

    pub fn deny(reason: impl Into<Cow<'static, str>>, evidence: Evidence) -> Self {
        Self {
            verdict: Verdict::Deny,
            reason: reason.into(),
            evidence,
        }
    }

    /// In the words of the `authorization.k8s.io/decision` audit annotation.
    pub fn annotation(&self) -> &'static str {
        match self.verdict {
            Verdict::Allow => "allow",
            Verdict::Deny => "forbid",
        }
    }

    /// One line for logs and the audit event: evidence first, then what the client was told.
    pub fn explain(&self) -> String {
        let evidence = match &self.evidence {
            Evidence::Fallback(key) => format!("no rule has an opinion, {key} decides"),
            Evidence::Rule(rule) => format!("rule {rule}"),
        };
        match self.reason.as_ref() {
            "" => evidence,
            reason => format!("{evidence}: {reason}"),
        }
    }
}
