//! Kubernetes' protobuf bodies, read into the JSON that the same object would be: one rule reads both.
//!
//! The tables in `schema` name what the rules look at; everything else is skipped. What kube-apiserver 1.36 reads is what its
//! gogo-generated code does, one `Unmarshal` a message, with `metav1.Time` and `resource.Quantity` written by hand; where that
//! code is lax (lengths that leave a map entry, tags beyond 32 bits, groups, texts that are no UTF-8), the body is refused.

mod read;
mod schema;
mod wire;

pub use self::schema::{
    BINDING, CERTIFICATE_SIGNING_REQUEST, CLUSTER_ROLE_BINDING, CONFIG_MAP, CORE_EVENT, CRON_JOB, CSI_NODE, DAEMON_SET,
    DELETE_OPTIONS, DEPLOYMENT, EVENT, EVICTION, Field, JOB, Kind, LEASE, Message, NODE, PERSISTENT_VOLUME_CLAIM, POD,
    POD_CERTIFICATE_REQUEST, POD_TEMPLATE, REPLICA_SET, REPLICATION_CONTROLLER, RESOURCE_SLICE, SECRET,
    SERVICE_ACCOUNT, STATEFUL_SET, TOKEN_REQUEST,
};
use self::wire::{Fields, Value, put, text, wrong_wire_type};
use crate::json::{Json, Malformed};

/// Where every object begins.
const MAGIC: &[u8] = b"k8s\0";

/// What every object is wrapped in, `runtime.Unknown`.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    pub api_version: &'a str,
    pub kind: &'a str,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    pub fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        let Some(unknown) = body.strip_prefix(MAGIC) else {
            return Err(Malformed("protobuf: the body does not begin with k8s\\0".into()));
        };
        let mut envelope = Self {
            api_version: "",
            kind: "",
            raw: &[],
        };
        for field in Fields(unknown) {
            match field? {
                (1, Value::Bytes(type_meta)) => envelope.read_type_meta(type_meta)?,
                (2, Value::Bytes(raw)) => envelope.raw = raw,
                // contentEncoding and contentType, which nobody reads.
                (3 | 4, Value::Bytes(_)) => {}
                (number @ 1..=4, _) => return Err(wrong_wire_type(number)),
                _ => {}
            }
        }
        Ok(envelope)
    }

    /// As JSON, without apiVersion and kind. A text that is there but empty is "", and a time that is there but zero is null.
    /// In a message that is closed, a field that nobody here knows has the key "?" and its number.
    pub fn object(&self, message: &Message) -> Result<Json<'a>, Malformed> {
        read::object(self.raw, message)
    }

    /// The same object with these fields behind it, which its reader merges into it. Only for an object that has been read:
    /// in one that ends within a field they would be part of that.
    pub fn append(&self, tail: &[u8]) -> Vec<u8> {
        envelope(self.api_version, self.kind, &[self.raw, tail])
    }

    /// Called again for the same envelope, it merges, as upstream does.
    fn read_type_meta(&mut self, type_meta: &'a [u8]) -> Result<(), Malformed> {
        for field in Fields(type_meta) {
            match field? {
                (1, Value::Bytes(bytes)) => self.api_version = text(bytes)?,
                (2, Value::Bytes(bytes)) => self.kind = text(bytes)?,
                (number @ 1..=2, _) => return Err(wrong_wire_type(number)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// An object, given in parts, in its envelope, byte for byte as Kubernetes writes it: texts are there even if they are empty.
pub fn envelope(api_version: &str, kind: &str, object: &[&[u8]]) -> Vec<u8> {
    let mut type_meta = Vec::new();
    put(&mut type_meta, 1, &[api_version.as_bytes()]);
    put(&mut type_meta, 2, &[kind.as_bytes()]);
    let mut body = MAGIC.to_vec();
    put(&mut body, 1, &[&type_meta]);
    put(&mut body, 2, object);
    put(&mut body, 3, &[]);
    put(&mut body, 4, &[]);
    body
}

/// A text in messages within messages: `[1, 6]` is metadata.resourceVersion.
pub fn text_field(path: &[u32], text: &str) -> Vec<u8> {
    within(path, text.as_bytes().to_vec())
}

fn within(path: &[u32], value: Vec<u8>) -> Vec<u8> {
    path.iter().rev().fold(value, |inner, number| {
        let mut field = Vec::new();
        put(&mut field, *number, &[&inner]);
        field
    })
}

/// An entry of a map of texts in messages within messages: `[1, 12]` is metadata.annotations. It stands for any other with its key.
pub fn entry_field(path: &[u32], key: &str, value: &str) -> Vec<u8> {
    let entry = [text_field(&[1], key), text_field(&[2], value)].concat();
    within(path, entry)
}

#[cfg(test)]
mod tests;
