//! Callers that are held back, whatever the rules would let them do: what an operator does about a node that may be compromised
//! before anybody knows more. Kubernetes has no such thing: it cannot take a certificate back.
//!
//! Pure. A [`List`] is what operators have said, and what is kept; a [`Quarantine`] is made from it for requests to be held against.
//! Who keeps it and tells replicas is `pipeline::ward`.

mod held;
mod list;

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::{
    held::{Asks, Quarantine},
    list::{List, Unreadable},
};
use crate::{
    api::{clip, hex, names},
    caller::Certificate,
};

/// What somebody in quarantine may still do, if the rules let it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Mode {
    /// Nothing.
    Deny,
    /// Say that it is there: its lease and the status of its Node. So its pods are not moved, and it learns nothing.
    HeartbeatOnly,
    /// Read.
    ReadOnly,
}

/// Who is held.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Target {
    /// A node by its name, and whoever has a token that is bound to it.
    Node(String),
    /// Whoever shows a certificate with this key: the SHA-256 of its SubjectPublicKeyInfo.
    PublicKey([u8; 32]),
    /// Whoever shows a certificate with this serial number, of whichever CA.
    Serial(Vec<u8>),
}

/// One that is held, and what is known about it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Entry {
    pub target: Target,
    pub mode: Mode,
    /// For operators; the one that is held does not read it.
    pub reason: String,
    /// Who has said so.
    pub by: String,
    pub since: Timestamp,
    /// Nothing: until it is lifted.
    pub until: Option<Timestamp>,
}

/// Something that an operator has said: hold this one, or let it go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    Hold(Entry),
    /// What the operator saw. If it is written down late, and somebody is held anew meanwhile, that is not undone.
    Lift(Entry),
}

/// What cannot stand in a list. The text is for operators.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

/// An entry as it is written: one of the first three says who.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    serial: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    mode: Mode,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
}

/// Longest text that an operator may leave; it stands in every audit event of the one that is held.
const MAX_TEXT: usize = 256;
/// Nothing in Kubernetes has a longer name.
const MAX_NAME: usize = 253;
/// RFC 5280 allows 20; some CAs do not mind.
const MAX_SERIAL: usize = 64;

impl Mode {
    pub const ALL: &[Self] = &[Self::Deny, Self::HeartbeatOnly, Self::ReadOnly];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "Deny",
            Self::HeartbeatOnly => "HeartbeatOnly",
            Self::ReadOnly => "ReadOnly",
        }
    }
}

impl Target {
    /// From what an operator has written, of which exactly one must be there.
    pub fn read(node: Option<&str>, serial: Option<&str>, public_key: Option<&str>) -> Result<Self, Invalid> {
        match (node, serial, public_key) {
            (Some(node), None, None) => {
                // Whoever copies it from a log has the name of the user.
                let node = node.strip_prefix(names::NODE_USER_PREFIX).unwrap_or(node);
                if node.is_empty() || node.len() > MAX_NAME || node.contains(char::is_control) {
                    return Err(Invalid(format!("{node:?} is not the name of a node")));
                }
                Ok(Self::Node(node.to_owned()))
            }
            (None, Some(serial), None) => match unhex(serial).as_deref().map(Certificate::significant) {
                Some([]) | None => Err(Invalid(format!("{serial:?} is not a serial number in hexadecimal"))),
                Some(bytes) if bytes.len() > MAX_SERIAL => Err(Invalid("the serial number is too long".to_owned())),
                Some(bytes) => Ok(Self::Serial(bytes.to_vec())),
            },
            (None, None, Some(key)) => {
                let digest = unhex(key.strip_prefix("sha256:").unwrap_or(key)).and_then(|bytes| bytes.try_into().ok());
                let what = "is not the SHA-256 of a public key, which has 64 hexadecimal digits";
                digest
                    .map(Self::PublicKey)
                    .ok_or_else(|| Invalid(format!("{key:?} {what}")))
            }
            _ => Err(Invalid(
                "exactly one of node, serial and publicKey has to be given".to_owned(),
            )),
        }
    }

    /// As the keys node, serial or publicKey and their value.
    pub fn written(&self) -> (&'static str, String) {
        match self {
            Self::Node(node) => ("node", node.clone()),
            Self::PublicKey(digest) => ("publicKey", hex(digest)),
            Self::Serial(serial) => ("serial", hex(serial)),
        }
    }
}

impl Entry {
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl Change {
    pub fn target(&self) -> &Target {
        match self {
            Self::Hold(entry) | Self::Lift(entry) => &entry.target,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.iter().find(|mode| mode.as_str() == text);
        known
            .copied()
            .ok_or_else(|| Invalid(format!("{text:?} is none of Deny, HeartbeatOnly and ReadOnly")))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, value) = self.written();
        let key = if key == "publicKey" { "public key sha256:" } else { key };
        let space = if key.ends_with(':') { "" } else { " " };
        f.pad(&format!("{key}{space}{value}"))
    }
}

/// In one line: who is held how, since when and by whom, and why.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in quarantine ({})", self.target, self.mode)?;
        // Whoever writes a list by hand may leave it out.
        if self.since != Timestamp::UNIX_EPOCH {
            write!(f, " since {:.0}", self.since)?;
        }
        if let Some(until) = self.until {
            write!(f, " until {until:.0}")?;
        }
        if !self.by.is_empty() {
            write!(f, ", by {}", self.by)?;
        }
        if !self.reason.is_empty() {
            write!(f, ": {}", self.reason)?;
        }
        Ok(())
    }
}

impl TryFrom<Written> for Entry {
    type Error = Invalid;

    fn try_from(written: Written) -> Result<Self, Invalid> {
        let Written {
            node,
            serial,
            public_key,
            mode,
            reason,
            by,
            since,
            until,
        } = written;
        Ok(Self {
            target: Target::read(node.as_deref(), serial.as_deref(), public_key.as_deref())?,
            mode,
            reason: clip(&reason, MAX_TEXT),
            by: clip(&by, MAX_TEXT),
            since: since.unwrap_or(Timestamp::UNIX_EPOCH),
            until,
        })
    }
}

impl From<Entry> for Written {
    fn from(entry: Entry) -> Self {
        let (key, value) = entry.target.written();
        let given = |wanted: &str| (wanted == key).then(|| value.clone());
        Self {
            node: given("node"),
            serial: given("serial"),
            public_key: given("publicKey"),
            mode: entry.mode,
            reason: entry.reason,
            by: entry.by,
            since: (entry.since != Timestamp::UNIX_EPOCH).then_some(entry.since),
            until: entry.until,
        }
    }
}

/// As openssl and others print numbers: with or without a name, colons, and with an odd number of digits.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix("serial=").unwrap_or(text);
    let text = text.strip_prefix("0x").unwrap_or(text);
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| *c != ':')
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| !digits.is_empty())?;
    let (odd, pairs) = digits.split_at(digits.len() % 2);
    let pairs = pairs
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit));
    Some(odd.iter().copied().chain(pairs).collect())
}

#[cfg(test)]
mod tests;
