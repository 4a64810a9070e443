//! The messages that the rules read, and of each the fields that they look at, with the names these have in JSON.
//!
//! From the `generated.proto` files of Kubernetes 1.36. e2e/protobuf.rs holds every row against the struct tags of the Go types.

mod claim;
mod event;
mod garden;
mod meta;
mod node;
mod pod;
mod workload;

use self::meta::OBJECT_META;
pub use self::{
    claim::PERSISTENT_VOLUME_CLAIM,
    event::{CORE_EVENT, EVENT},
    garden::{CLUSTER_ROLE_BINDING, CONFIG_MAP, SECRET, SERVICE_ACCOUNT},
    meta::DELETE_OPTIONS,
    node::{CERTIFICATE_SIGNING_REQUEST, CSI_NODE, LEASE, NODE, POD_CERTIFICATE_REQUEST, RESOURCE_SLICE},
    pod::{EVICTION, POD, TOKEN_REQUEST},
    workload::{
        BINDING, CRON_JOB, DAEMON_SET, DEPLOYMENT, JOB, POD_TEMPLATE, REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET,
    },
};
use super::wire::Value;

/// How a message is read.
#[derive(Debug)]
pub struct Message {
    /// In the order of their numbers.
    pub fields: &'static [Field],
    /// Whether a field that is not in the table shows in the result. So it does wherever a rule asks that nothing has changed,
    /// or that nothing is there which it does not know: an API server may be newer than the gate.
    pub closed: bool,
}

/// A field that is read.
#[derive(Debug)]
pub struct Field {
    pub number: u32,
    /// In JSON; nothing for one whose own fields stand in its parent.
    pub name: &'static str,
    pub kind: Kind,
}

/// What a field holds, and so how it is merged: of one value the last counts, lists go on, messages and maps are put together.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    Texts,
    /// Base64 in JSON.
    Bytes,
    Bool,
    Int32,
    Int64,
    /// `metav1.Time`
    Time,
    Message(&'static Message),
    Messages(&'static Message),
    /// A message whose fields stand in its parent.
    Inline(&'static Message),
    TextMap,
    /// Base64 in JSON.
    BytesMap,
    QuantityMap,
    /// Known, but nothing that a rule would read.
    Ignored,
}

/// Only that it is there counts.
static PRESENT: Message = open(&[]);

impl Message {
    /// The numbers of fields within fields, by their names; nothing where the tables have no such field.
    pub fn numbers(&self, path: &[&str]) -> Option<Vec<u32>> {
        let Some((name, rest)) = path.split_first() else {
            return Some(Vec::new());
        };
        let field = self.fields.iter().find(|field| field.name == *name)?;
        let below = match (&field.kind, rest) {
            (_, []) => Vec::new(),
            (Kind::Message(message), rest) => message.numbers(rest)?,
            _ => return None,
        };
        Some([vec![field.number], below].concat())
    }

    pub(super) fn field(&self, number: u32) -> Option<&'static Field> {
        let at = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        self.fields.get(at)
    }
}

impl Kind {
    /// Whether it has the wire type of its kind.
    pub(super) fn fits(self, value: Value<'_>) -> bool {
        match self {
            Self::Bool | Self::Int32 | Self::Int64 => matches!(value, Value::Varint(_)),
            _ => matches!(value, Value::Bytes(_)),
        }
    }
}

const fn open(fields: &'static [Field]) -> Message {
    Message { fields, closed: false }
}

const fn closed(fields: &'static [Field]) -> Message {
    Message { fields, closed: true }
}

const fn field(number: u32, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind }
}

const fn text(number: u32, name: &'static str) -> Field {
    field(number, name, Kind::Text)
}

const fn message(number: u32, name: &'static str, message: &'static Message) -> Field {
    field(number, name, Kind::Message(message))
}

const fn messages(number: u32, name: &'static str, message: &'static Message) -> Field {
    field(number, name, Kind::Messages(message))
}

const fn inline(number: u32, message: &'static Message) -> Field {
    field(number, "", Kind::Inline(message))
}

/// Every object's.
const METADATA: Field = message(1, "metadata", &OBJECT_META);
