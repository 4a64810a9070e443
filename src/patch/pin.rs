//! Ties a patch to what the gate has looked at, so that upstream applies it to nothing else.

use super::{
    Content, Error, Patch,
    json::{self, Operation},
    strategic::{DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS},
};
use crate::json::{Json, Object};

const UID: &str = "uid";
const RESOURCE_VERSION: &str = "resourceVersion";

impl<'a> Patch<'a> {
    /// Ties the patch to one object: metadata.uid, or a leading `test` for JSON patch.
    pub fn pin_uid(&mut self, uid: &'a str) -> Result<(), Error> {
        match &mut self.0 {
            Content::Json(operations) => {
                json::check_number(operations.len() + 1)?;
                operations.insert(0, Operation::new("test", "/metadata/uid", uid));
                Ok(())
            }
            Content::Merge(patch) => pin(patch, UID, uid),
            Content::Strategic(patch) => pin_strategic(patch, UID, uid),
        }
    }

    /// Ties the patch to one version: metadata.resourceVersion, or a last `add` for JSON patch. A version that the patch
    /// sets itself must be the same one, or it would be lost; what a JSON patch makes of it, only applying it tells.
    pub fn pin_version(&mut self, version: &'a str) -> Result<(), Error> {
        match &mut self.0 {
            Content::Json(operations) => {
                json::check_number(operations.len() + 1)?;
                operations.push(Operation::new("add", "/metadata/resourceVersion", version));
                Ok(())
            }
            Content::Merge(patch) => pin(patch, RESOURCE_VERSION, version),
            Content::Strategic(patch) => pin_strategic(patch, RESOURCE_VERSION, version),
        }
    }
}

fn pin_strategic<'a>(patch: &mut Object<'a>, key: &'static str, value: &'a str) -> Result<(), Error> {
    let metadata = patch.get("metadata").and_then(Json::as_object);
    let directive = [Some(&*patch), metadata]
        .into_iter()
        .flatten()
        .find_map(|object| object.get(PATCH));
    // One that empties the object would empty it of the pin, and one for the same key could come after it.
    let deletes = |object: &Object<'_>, key: &str| object.contains_key(&format!("{DELETE_FROM_PRIMITIVE_LIST}/{key}"));
    if directive.is_some_and(|directive| directive.as_str() != Some("replace"))
        || deletes(patch, "metadata")
        || metadata.is_some_and(|metadata| deletes(metadata, key))
    {
        return Err(Error::Malformed(format!("a directive is about metadata.{key}")));
    }
    retain(patch, "metadata");
    if let Some(Json::Object(metadata)) = patch.get_mut("metadata") {
        retain(metadata, key);
    }
    pin(patch, key, value)
}

fn pin<'a>(patch: &mut Object<'a>, key: &'static str, value: &'a str) -> Result<(), Error> {
    if !patch.contains_key("metadata") {
        patch.insert("metadata".into(), Json::Object(Object::default()));
    }
    let Some(Json::Object(metadata)) = patch.get_mut("metadata") else {
        return Err(Error::Malformed("metadata is not an object".to_owned()));
    };
    match metadata.insert(key.into(), value.into()) {
        None | Some(Json::Null) => Ok(()),
        // To upstream an empty text is none, and so is a version of zero.
        Some(Json::String(old)) if old == value || old.is_empty() || (key == RESOURCE_VERSION && old == "0") => Ok(()),
        Some(_) => Err(modified()),
    }
}

/// Lets a key stay where only some may, since a patch may set no other.
fn retain<'a>(object: &mut Object<'a>, key: &'static str) {
    if let Some(Json::Array(keys)) = object.get_mut(RETAIN_KEYS)
        && !keys.iter().any(|other| other.as_str() == Some(key))
    {
        keys.push(key.into());
    }
}

fn modified() -> Error {
    Error::Rejected(
        "the object has been modified; please apply your changes to the latest version and try again".to_owned(),
    )
}
