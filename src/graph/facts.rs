//! What is to be known of an object beside who refers to it.

use std::{fmt, sync::Arc};

use uuid::{Uuid, fmt::Hyphenated};

/// The few fields of an object that a decision reads. An object that is there has its facts, if its kind has any.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Facts {
    CsiDriver {
        /// For whom the driver wants service account tokens; an empty one means the API server.
        token_audiences: Vec<String>,
    },
    Gardenlet {
        /// Whether it is told to begin anew.
        renews: bool,
        begins: Begins,
    },
    ManagedSeed {
        renews: bool,
        begins: Begins,
    },
    Node {
        uid: String,
        /// In their canonical form, in order, each once. Behind a pointer, since other facts, of which there are more, would take
        /// as much room.
        addresses: Arc<Vec<String>>,
    },
    PersistentVolume {
        driver: Driver,
    },
    PersistentVolumeClaim {
        /// The persistent volume that it is bound to; empty if none.
        volume: String,
    },
    Seed {
        /// When the certificate of its gardenlet expires, in seconds since 1970.
        expires: Option<i64>,
    },
    ServiceAccount {
        uid: String,
    },
}

/// With what a gardenlet can come to its certificate, when it may.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Begins {
    /// It has to bring its own.
    None,
    ServiceAccount,
    Token,
}

/// What is to be known of a pod that is bound to a node. None of it ever changes for one uid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PodFacts {
    pub uid: Uid,
    pub tokens: Tokens,
    /// Whether the node has written it itself.
    pub mirror: bool,
}

/// An object's uid, in as little room as it takes: there is one for every pod.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Uid {
    Uuid([u8; 16]),
    Other(Box<str>),
}

/// What a pod's volumes want service account tokens for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tokens {
    /// For the API server, and nobody else; that is what Kubernetes itself mounts.
    Server,
    /// In the order of the volumes.
    Volumes(Arc<[TokenSource]>),
}

/// One reason to have tokens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TokenSource {
    /// A projected volume names the audience; an empty one means the API server.
    Audience(Box<str>),
    /// A CSI driver may want some.
    Driver(Driver),
    /// So may the driver of the volume that this claim is bound to.
    Claim(Box<str>),
}

/// Who mounts a volume.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Driver {
    /// No CSI driver.
    None,
    Named(Box<str>),
    /// A volume of a kind that CSI drivers have taken over, with something in it that they do not take; and why.
    Untranslatable(Box<str>),
}

impl Facts {
    /// Those of a node; nothing else has any.
    pub(super) fn addresses(&self) -> &[String] {
        match self {
            Self::Node { addresses, .. } => addresses,
            _ => &[],
        }
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        let mut buffer = Uuid::encode_buffer();
        match Uuid::try_parse(text) {
            // Only if it is written back as it was.
            Ok(uuid) if uuid.hyphenated().encode_lower(&mut buffer) == text => Self::Uuid(uuid.into_bytes()),
            _ => Self::Other(text.into()),
        }
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(bytes) => Hyphenated::from_uuid(Uuid::from_bytes(*bytes)).fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl Tokens {
    pub(super) fn new(sources: &[TokenSource]) -> Self {
        match sources {
            [TokenSource::Audience(audience)] if audience.is_empty() => Self::Server,
            sources => Self::Volumes(sources.into()),
        }
    }

    pub fn sources(&self) -> &[TokenSource] {
        static SERVER: std::sync::LazyLock<[TokenSource; 1]> =
            std::sync::LazyLock::new(|| [TokenSource::Audience(Box::default())]);
        match self {
            Self::Server => SERVER.as_slice(),
            Self::Volumes(sources) => sources,
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test]
    fn facts_are_small() {
        assert_eq!(size_of::<Facts>(), 32);
    }

    #[test_case("6ba7b810-9dad-11d1-80b4-00c04fd430c8", true; "as Kubernetes makes them")]
    #[test_case("6BA7B810-9dad-11d1-80b4-00c04fd430c8", false; "upper case")]
    #[test_case("6ba7b8109dad11d180b400c04fd430c8", false; "no hyphens")]
    #[test_case("u1", false; "something else")]
    #[test_case("", false; "nothing")]
    fn uids_are_written_back_as_they_were(text: &str, short: bool) {
        let uid = Uid::from(text);
        assert_eq!(uid.to_string(), text);
        assert_eq!(matches!(uid, Uid::Uuid(_)), short);
    }
}
