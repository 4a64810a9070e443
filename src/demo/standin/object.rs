//! Reading and writing the few fields of an object the stand-in itself cares about. Everything
//! else in an object is the client's and is stored as it came.

use serde_json::{Map, Value};

/// A string at a JSON pointer; empty where it is absent or something else, which Kubernetes
/// treats alike.
pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Sets a field of `metadata`.
pub(super) fn set_meta(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(meta) = meta(object) {
        meta.insert(field.to_owned(), value.into());
    }
}

/// Makes a field of `to` what it is in `from`, absent included.
pub(super) fn carry(from: &Value, to: &mut Value, field: &str) {
    if let Some(to) = to.as_object_mut() {
        put(to, field, from.get(field));
    }
}

/// The same for a field of `metadata`.
pub(super) fn carry_meta(from: &Value, to: &mut Value, field: &str) {
    let value = from.get("metadata").and_then(|meta| meta.get(field));
    if let Some(to) = meta(to) {
        put(to, field, value);
    }
}

/// Now, to the second, as `creationTimestamp` writes it.
pub(super) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A new uid, as `metadata.uid` writes it.
pub(super) fn uid() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn meta(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let meta = object.as_object_mut()?.entry("metadata").or_insert(Value::Null);
    if meta.is_null() {
        *meta = Value::Object(Map::new());
    }
    meta.as_object_mut()
}

fn put(map: &mut Map<String, Value>, field: &str, value: Option<&Value>) {
    match value {
        Some(value) => map.insert(field.to_owned(), value.clone()),
        None => map.remove(field),
    };
}
