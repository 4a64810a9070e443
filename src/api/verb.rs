//! What a request does, in the words authorization uses.

use std::fmt;

/// The verb of a request. Resource requests have one of the named verbs, or [`Verb::Unknown`] for a
/// method Kubernetes gives no meaning; other paths are judged by their method in lower case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verb {
    Create,
    Delete,
    DeleteCollection,
    Get,
    List,
    Patch,
    Proxy,
    Update,
    Watch,
    /// A method without a meaning on resources. kube-apiserver writes it as the empty string.
    Unknown,
    /// The lower-case method of a request that is not for a resource, unless it is `get`.
    Method(String),
}

impl Verb {
    /// As kube-apiserver writes it in messages and audit events.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Method(method) => method,
            known => known.word().unwrap_or_default(),
        }
    }

    /// As a metric label: a client can invent methods, and must not be able to invent time series.
    pub fn label(&self) -> &'static str {
        self.word().unwrap_or("other")
    }

    fn word(&self) -> Option<&'static str> {
        Some(match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Get => "get",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Proxy => "proxy",
            Self::Update => "update",
            Self::Watch => "watch",
            Self::Unknown | Self::Method(_) => return None,
        })
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
