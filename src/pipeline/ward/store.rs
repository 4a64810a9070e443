//! Where the quarantine list is kept: nowhere but here, in a file, or in a ConfigMap upstream.

use std::{
    fmt,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;

use super::{config_map::ConfigMap, file::File};
use crate::{
    quarantine::{Change, List},
    upstream::Upstream,
};

/// The `quarantine` section of the configuration.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Place {
    /// In memory; a restart forgets it.
    #[default]
    Nowhere,
    File(PathBuf),
    ConfigMap {
        namespace: String,
        name: String,
    },
}

/// A place, and the way there. Writers do not lose each other's words.
#[derive(Debug)]
pub enum Store {
    Memory(Mutex<List>),
    File(File),
    ConfigMap(ConfigMap),
}

/// Why a list could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotKept(pub(super) String);

/// How long after its time an entry is kept. Whether it is in force, every gate tells by its own clock.
const OVER: Duration = Duration::from_secs(3600);

impl Place {
    pub fn open(&self, upstream: &Upstream) -> Store {
        match self {
            Self::Nowhere => Store::Memory(Mutex::default()),
            Self::File(path) => Store::File(File::new(path)),
            Self::ConfigMap { namespace, name } => Store::ConfigMap(ConfigMap {
                namespace: namespace.clone(),
                name: name.clone(),
                upstream: upstream.clone(),
            }),
        }
    }
}

impl Store {
    /// What is there; nothing if there never was anything, or no more.
    pub async fn read(&self) -> Result<Option<List>, NotKept> {
        match self {
            Self::Memory(list) => Ok(Some(list.lock().unwrap_or_else(PoisonError::into_inner).clone())),
            Self::File(file) => file.read().await,
            Self::ConfigMap(map) => map.read().await,
        }
    }

    /// Makes the changes to what is there, or else to what was known, and says what is there then.
    pub(super) async fn update(&self, changes: &[Change], known: List) -> Result<List, NotKept> {
        match self {
            Self::Memory(list) => {
                let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
                change(&mut list, changes);
                Ok(list.clone())
            }
            Self::File(file) => file.update(changes, known).await,
            Self::ConfigMap(map) => map.update(changes, &known).await,
        }
    }
}

impl NotKept {
    pub(super) fn half() -> Self {
        Self(
            "somebody seems to be writing it, who has not written everybody yet; it is read again in a moment"
                .to_owned(),
        )
    }

    pub(super) fn gone() -> Self {
        let told =
            "it is not there any more; whoever wants to let everybody go writes items: [], and does not delete it";
        Self(told.to_owned())
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(_) => f.write_str("memory"),
            Self::File(file) => file.fmt(f),
            Self::ConfigMap(map) => map.fmt(f),
        }
    }
}

pub(super) fn change(list: &mut List, changes: &[Change]) {
    changes.iter().for_each(|change| list.apply(change));
    // Whoever writes also tidies up, but not by its own clock alone.
    list.expire(Timestamp::now() - OVER);
}
