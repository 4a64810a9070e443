//! From what a client sent to what is stored: kind, name and namespace that agree with the path,
//! patches applied, and the fields a write may not touch kept as they were.

use serde_json::Value;

use super::{
    answer::Refusal,
    kinds::Kind,
    object::{carry, carry_meta, set_meta, text},
    store::Key,
};
use crate::{
    json::Json,
    patch::{self, Patch, Type},
};

/// What a patch of this type makes of an object.
pub(super) fn patched(kind: &Kind, content_type: Option<&str>, body: &[u8], old: &Value) -> Result<Value, Refusal> {
    let patch_type = match media_type(content_type.unwrap_or_default()) {
        "application/json-patch+json" => Type::Json,
        "application/merge-patch+json" => Type::Merge,
        "application/strategic-merge-patch+json" => Type::Strategic,
        other => {
            return Err(Refusal::media_type(format!(
                "the stand-in does not do patches of type {other:?}"
            )));
        }
    };
    let schema = match kind.kind {
        "Node" => &patch::NODE,
        "PersistentVolumeClaim" => &patch::PERSISTENT_VOLUME_CLAIM,
        "Pod" => &patch::POD,
        // No list of theirs is merged but those that every object has.
        _ => &patch::OTHER,
    };
    let refused = |error: patch::Error| match error {
        patch::Error::Malformed(why) => Refusal::bad_request(why),
        error => Refusal::invalid(error.to_string()),
    };
    let old = old.to_string();
    let old = Json::parse(old.as_bytes()).map_err(|error| Refusal::invalid(error.to_string()))?;
    let patch = Patch::read(patch_type, body).map_err(refused)?;
    let new = patch.apply(schema, old).map_err(refused)?;
    serde_json::from_slice(&new.to_vec()).map_err(|error| Refusal::invalid(error.to_string()))
}

/// Makes an object say its kind, which it may leave out but not contradict.
pub(super) fn typed(kind: &Kind, object: &mut Value) -> Result<(), Refusal> {
    for (field, right) in [("apiVersion", kind.api_version()), ("kind", kind.kind.to_owned())] {
        let said = text(object, &format!("/{field}"));
        if !said.is_empty() && said != right {
            let message = format!("{field} in the body is {said:?}, the path is for {right:?}");
            return Err(Refusal::bad_request(message));
        }
        let Some(object) = object.as_object_mut() else {
            return Err(Refusal::bad_request("the body is not a JSON object"));
        };
        object.insert(field.to_owned(), Value::String(right));
    }
    Ok(())
}

/// The key of an object in `namespace`, which the object may leave out but not contradict.
pub(super) fn identify(kind: &'static Kind, namespace: String, object: &mut Value) -> Result<Key, Refusal> {
    let name = text(object, "/metadata/name").to_owned();
    if name.is_empty() {
        let message = "metadata.name: Required value: name or generateName is required";
        return Err(Refusal::invalid(message));
    }
    let said = text(object, "/metadata/namespace");
    if !said.is_empty() && said != namespace {
        let message = format!("{name}: namespace in the body is {said:?}, not {namespace:?}");
        return Err(Refusal::bad_request(message));
    }
    if kind.namespaced() {
        set_meta(object, "namespace", namespace.as_str());
    }
    Ok(Key { kind, namespace, name })
}

/// What an update or patch from `old` to `new` stores. A `whole` write keeps the status of kinds
/// that have a subresource for it; a write of the subresource keeps all but status, labels and
/// annotations.
pub(super) fn settle(key: &Key, whole: bool, old: &Value, mut new: Value) -> Result<Value, Refusal> {
    typed(key.kind, &mut new)?;
    let named = identify(key.kind, key.namespace.clone(), &mut new)?;
    if named != *key {
        let message = format!("name in the body is {:?}, not {:?}", named.name, key.name);
        return Err(Refusal::bad_request(message));
    }
    let expected = text(&new, "/metadata/resourceVersion");
    if !expected.is_empty() && expected != text(old, "/metadata/resourceVersion") {
        return Err(Refusal::conflict(key));
    }
    if !whole {
        let mut kept = old.clone();
        carry(&new, &mut kept, "status");
        for field in ["labels", "annotations"] {
            carry_meta(&new, &mut kept, field);
        }
        return Ok(kept);
    }
    if key.kind.has_status() {
        carry(old, &mut new, "status");
    }
    for field in ["uid", "creationTimestamp", "resourceVersion"] {
        carry_meta(old, &mut new, field);
    }
    Ok(new)
}

/// A content type without its parameters.
pub(super) fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}
