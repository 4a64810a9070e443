//! What operators have said, as it is kept: the same document in a file and in a ConfigMap, JSON or YAML.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, Entry, Target};

/// Everybody who is held, each once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct List(BTreeMap<Target, Entry>);

/// Why a document is not a list. Nothing is guessed: what it says of others would be lost.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    api_version: String,
    kind: String,
    items: Vec<Entry>,
}

const API_VERSION: &str = "scopegate.dev/v1alpha1";
const KIND: &str = "QuarantineList";
/// A ConfigMap has room for twice as much; in JSON it takes more.
const MAX_DOCUMENT: usize = 512 * 1024;

impl List {
    /// Reads a document. One that is empty was cut off; a list of nobody says so.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        if text.trim().is_empty() {
            return Err(Unreadable(
                "it is empty; if nobody is held, it says items: []".to_owned(),
            ));
        }
        let document: Document = serde_saphyr::from_str(text).map_err(|error| Unreadable(error.to_string()))?;
        if document.api_version != API_VERSION || document.kind != KIND {
            return Err(Unreadable(format!("it is no {KIND} of {API_VERSION}")));
        }
        let mut list = Self::default();
        for entry in document.items {
            let target = entry.target.clone();
            if list.0.insert(target.clone(), entry).is_some() {
                return Err(Unreadable(format!("{target} stands in it twice")));
            }
        }
        Ok(list)
    }

    /// The document, or that it has become too long to be kept.
    pub fn write(&self) -> Result<String, Unreadable> {
        let document = Document {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            items: self.0.values().cloned().collect(),
        };
        let mut text = serde_json::to_string_pretty(&document).map_err(|error| Unreadable(error.to_string()))?;
        text.push('\n');
        if text.len() > MAX_DOCUMENT {
            let length = text.len();
            return Err(Unreadable(format!(
                "it would have {length} bytes, more than {MAX_DOCUMENT}; lift some"
            )));
        }
        Ok(text)
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }

    pub fn get(&self, target: &Target) -> Option<&Entry> {
        self.0.get(target)
    }

    /// Whether somebody is held here who is not held there.
    pub fn holds_more_than(&self, other: &Self) -> bool {
        self.0.keys().any(|target| other.get(target).is_none())
    }

    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Hold(entry) => drop(self.0.insert(entry.target.clone(), entry.clone())),
            Change::Lift(entry) if self.get(&entry.target) == Some(entry) => drop(self.0.remove(&entry.target)),
            Change::Lift(_) => {}
        }
    }

    /// Lets go whose time is over.
    pub fn expire(&mut self, now: Timestamp) {
        self.0.retain(|_, entry| !entry.is_over(now));
    }
}
