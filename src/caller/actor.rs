//! Somebody who acts as another: who it is, and by whose leave.

use std::{fmt, sync::Arc};

use super::User;

/// Who asks, where that is not the one in whose name it is done.
#[derive(Clone, Debug)]
pub struct Actor {
    pub user: Arc<User>,
    pub leave: Leave,
    pub semantics: Semantics,
}

/// What lets an actor act as its subject.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Leave {
    /// `actingAs.delegations`, by its place.
    Delegation(usize),
    /// `actingAs.deputies`, by its place.
    Deputy(usize),
    /// Upstream's authorizers, asked as upstream itself asks them.
    Review(Impersonation),
}

/// The ways in which upstream lets somebody impersonate (KEP-5284), as far as the gate has a use for them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Impersonation {
    /// Verb `impersonate` on everything that the subject is: whatever is done as it then.
    Legacy,
    /// A service account, for some requests.
    ServiceAccount,
    /// Anybody who is neither that nor a node, for some requests.
    UserInfo,
}

/// Whose power counts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Semantics {
    /// What both may do: acting as somebody only ever lowers power.
    #[default]
    Intersection,
    /// What the subject may do, as in Kubernetes.
    Subject,
}

impl Impersonation {
    /// The verb that the actor needs on the subject.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Legacy => "impersonate",
            Self::ServiceAccount => "impersonate:serviceaccount",
            Self::UserInfo => "impersonate:user-info",
        }
    }
}

impl Leave {
    /// As a metric label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Delegation(_) => "delegation",
            Self::Deputy(_) => "deputy",
            Self::Review(_) => "review",
        }
    }
}

impl fmt::Display for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delegation(index) => write!(f, "delegations[{index}]"),
            Self::Deputy(index) => write!(f, "deputies[{index}]"),
            Self::Review(Impersonation::Legacy) => f.write_str("review"),
            Self::Review(constrained) => write!(f, "review {}", constrained.verb()),
        }
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Intersection => "Intersection",
            Self::Subject => "Subject",
        })
    }
}
