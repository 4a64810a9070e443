//! What a patch may change, told without the object.

use std::borrow::Cow;

use super::{
    Content, Patch, json,
    strategic::{DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS, SET_ELEMENT_ORDER},
};
use crate::json::{Json, Object};

impl<'a> Patch<'a> {
    /// Whether anything at, above or below the path may come out different, whatever the object is.
    pub fn touches(&self, path: &[&str]) -> bool {
        match &self.0 {
            Content::Json(operations) => operations.iter().any(|operation| match operation.op() {
                "test" => false,
                "move" => meets(operation.text("path"), path) || meets(operation.text("from"), path),
                _ => meets(operation.text("path"), path),
            }),
            Content::Merge(patch) => sets(patch, path, |_, _| false),
            Content::Strategic(patch) => sets(patch, path, directs),
        }
    }

    /// Whether it says something about the value at the path, or below it; not whether it replaces what that stands in.
    pub fn names(&self, path: &[&str]) -> bool {
        let within = |keys: Option<&str>| keys.and_then(json::keys).is_some_and(|keys| leads(keys, path));
        match &self.0 {
            Content::Json(operations) => operations
                .iter()
                .any(|operation| within(operation.text("path")) || within(operation.text("from"))),
            Content::Merge(patch) | Content::Strategic(patch) => {
                let Some((last, above)) = path.split_last() else {
                    return true;
                };
                let above = above.iter().try_fold(patch, |object, key| object.get(key)?.as_object());
                above.is_some_and(|object| object.contains_key(last))
            }
        }
    }

    /// Whether nothing may come out different but what is at or below these paths, if there are objects, or nothing, above them.
    pub fn touches_only(&self, paths: &[&[&str]]) -> bool {
        let within = |keys: Option<&str>| {
            let keys = keys.and_then(json::keys);
            keys.is_some_and(|keys| paths.iter().any(|path| leads(keys.clone(), path)))
        };
        match &self.0 {
            Content::Json(operations) => operations.iter().all(|operation| match operation.op() {
                "test" => true,
                "move" => within(operation.text("path")) && within(operation.text("from")),
                _ => within(operation.text("path")),
            }),
            Content::Merge(patch) => sets_only(patch, paths, false),
            Content::Strategic(patch) => sets_only(patch, paths, true),
        }
    }

    /// The object that would be merged plainly, key by key, into the one at the path: only for merge and strategic patches,
    /// only if no directive stands on the way or in it, and only if its values are scalars and nulls.
    pub fn merged(&self, path: &[&str]) -> Option<&Object<'a>> {
        let object = self.plain(path)?;
        let scalar = |value: &Json<'_>| !matches!(value, Json::Array(_) | Json::Object(_));
        let strategic = matches!(self.0, Content::Strategic(_));
        let plain = object
            .iter()
            .all(|(key, value)| scalar(value) && !(strategic && is_directive(key)));
        plain.then_some(object)
    }

    /// A text of the metadata as the patch sets it, if it plainly does.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        let metadata = self.plain(&["metadata"])?;
        if matches!(self.0, Content::Strategic(_)) && directs(metadata, key) {
            return None;
        }
        metadata.get(key)?.as_str()
    }

    /// The object at a path, if no directive stands on the way.
    fn plain(&self, path: &[&str]) -> Option<&Object<'a>> {
        let (patch, strategic) = match &self.0 {
            Content::Json(_) => return None,
            Content::Merge(patch) => (patch, false),
            Content::Strategic(patch) => (patch, true),
        };
        path.iter().try_fold(patch, |object, key| {
            let directed = strategic && directs(object, key);
            object.get(key).filter(|_| !directed)?.as_object()
        })
    }
}

/// Whether a path of JSON patch leads to, above or below this one. One that leads nowhere is taken to lead everywhere.
fn meets(path: Option<&str>, other: &[&str]) -> bool {
    let Some(keys) = path.and_then(json::keys) else {
        return true;
    };
    keys.zip(other).all(|(key, other)| key == *other)
}

/// Whether an object that is merged has something for the path, by its keys or by a directive for one of them.
fn sets<'a>(patch: &Object<'a>, path: &[&str], directs: impl Fn(&Object<'a>, &str) -> bool) -> bool {
    let mut object = patch;
    for key in path {
        if directs(object, key) {
            return true;
        }
        match object.get(key) {
            None => return false,
            Some(Json::Object(inner)) => object = inner,
            Some(_) => return true,
        }
    }
    true
}

/// Whether keys begin with those of the path.
fn leads<'k>(mut keys: impl Iterator<Item = Cow<'k, str>>, path: &[&str]) -> bool {
    path.iter().all(|key| keys.next().is_some_and(|other| other == *key))
}

/// Whether an object that is merged has something for these paths only. A directive for the value of a key counts as that key.
fn sets_only(patch: &Object<'_>, paths: &[&[&str]], strategic: bool) -> bool {
    patch.iter().all(|(key, value)| {
        let directed = strategic.then(|| directed(key)).flatten();
        if strategic && directed.is_none() && is_directive(key) {
            // It is about all of the object.
            return false;
        }
        let key = directed.unwrap_or(key);
        let below: Vec<&[&str]> = paths
            .iter()
            .filter_map(|path| path.split_first().filter(|(first, _)| **first == key))
            .map(|(_, rest)| rest)
            .collect();
        let is_end = below.iter().any(|rest| rest.is_empty());
        is_end
            || directed.is_none()
                && value
                    .as_object()
                    .is_some_and(|value| !below.is_empty() && sets_only(value, &below, strategic))
    })
}

/// The key that a directive is about.
fn directed(key: &str) -> Option<&str> {
    let named = [SET_ELEMENT_ORDER, DELETE_FROM_PRIMITIVE_LIST];
    named
        .iter()
        .find_map(|prefix| key.strip_prefix(prefix)?.strip_prefix('/'))
}

/// Whether there is a directive for all of the object, or for the value of this key.
fn directs(object: &Object<'_>, key: &str) -> bool {
    let names = |prefix: &str| object.contains_key(&format!("{prefix}/{key}"));
    object.contains_key(PATCH)
        || object.contains_key(RETAIN_KEYS)
        || names(SET_ELEMENT_ORDER)
        || names(DELETE_FROM_PRIMITIVE_LIST)
}

fn is_directive(key: &str) -> bool {
    let named = [SET_ELEMENT_ORDER, DELETE_FROM_PRIMITIVE_LIST];
    key == PATCH || key == RETAIN_KEYS || named.iter().any(|prefix| key.starts_with(prefix))
}
