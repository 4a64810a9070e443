//! What upstream has proposed and not built: the extended NodeRestriction for pods, and the future work of the first proposal.
//!
//! A node must not make others do its work: controllers and services choose pods by labels, finalizers hold up deletions, events are
//! read by people and programs, and the API server connects to the addresses that a node says it has.

mod addresses;
mod events;
mod pods;

pub use self::addresses::AllowedAddress;
pub(super) use self::pods::observe;
use super::{Known, No, Operation, Write, read};

/// What is allowed beyond the lists of the proposal.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Extended {
    pub labels: Keys,
    pub annotations: Keys,
    pub finalizers: Keys,
    /// Where mirror pods may be; anywhere if there are none.
    pub namespaces: Vec<String>,
    /// Addresses that nodes may claim besides.
    pub addresses: Vec<AllowedAddress>,
}

/// Keys, and domains whose every key is meant.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Keys {
    whole: Vec<String>,
    /// Each with the slash at its end.
    prefixes: Vec<String>,
}

impl Keys {
    /// Each is a key, or a domain followed by `/*`.
    pub fn new(patterns: impl IntoIterator<Item = String>) -> Self {
        let mut keys = Self::default();
        for pattern in patterns {
            match pattern.strip_suffix('*') {
                Some(prefix) => keys.prefixes.push(prefix.to_owned()),
                None => keys.whole.push(pattern),
            }
        }
        keys
    }

    fn has(&self, key: &str) -> bool {
        self.whole.iter().any(|whole| whole == key) || self.prefixes.iter().any(|prefix| key.starts_with(prefix))
    }
}
