//! Strategic merge patch: apimachinery's strategicpatch, applied to a stored object.
//!
//! Upstream goes through the keys of a patch in an order that is different each time, and sorts with a comparison that
//! contradicts itself for items it does not find. Where that shows, the outcome is chance, and the patch is refused.

mod key;
mod list;

use std::{borrow::Cow, collections::HashSet};

use super::{
    Error,
    schema::{Place, Schema},
    text::Go,
    work::Work,
};
use crate::json::{Json, Object};

pub(super) const PATCH: &str = "$patch";
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const SET_ELEMENT_ORDER: &str = "$setElementOrder";
pub(super) const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

/// Directives that name a list, by the list's key.
type Directives<'a> = Vec<(String, Json<'a>)>;

/// What is done with two values, within the work that is left.
struct Merger {
    work: Work,
}

pub(super) fn apply<'a>(schema: &Schema, old: Json<'a>, patch: Object<'a>) -> Result<Json<'a>, Error> {
    let Json::Object(old) = old else {
        return Err(Error::Untyped("the object is not a JSON object".to_owned()));
    };
    let mut merger = Merger { work: Work::new() };
    merger.objects(old, patch, schema.root()).map(Json::Object)
}

impl Merger {
    fn objects<'a>(&mut self, old: Object<'a>, mut patch: Object<'a>, place: Place) -> Result<Object<'a>, Error> {
        match patch.get(PATCH).map(Json::as_str) {
            None => {}
            Some(Some("replace")) => {
                patch.remove(PATCH);
                return Ok(patch);
            }
            Some(Some("delete")) => return Ok(Object::default()),
            Some(_) => return Err(unknown_directive(&patch)),
        }
        self.work.keys(&old)?;
        self.work.keys(&patch)?;
        let mut old = retain_keys(old, &mut patch)?;
        let (orders, deletions, mut patch) = split(patch)?;
        for (key, order) in orders {
            self.order(&mut old, &mut patch, &key, order, place)?;
        }
        let mut dropped = HashSet::new();
        for (key, list) in deletions {
            if patch.contains_key(&key) {
                return Err(chance(&format!("{key} and the items to delete from it")));
            }
            if list.is_null() {
                dropped.insert(key);
            } else if let Some(value) = old.get_mut(&key) {
                let current = std::mem::take(value);
                *value = if kind(&current) == kind(&list) {
                    self.values(current, list, place.child(&key), true)?
                } else {
                    current
                };
            }
        }
        if !dropped.is_empty() {
            old.retain(|key, _| !dropped.contains(key));
        }
        self.entries(old, patch, place)
    }

    /// What is left of a patch when no directive is.
    fn entries<'a>(&mut self, old: Object<'a>, patch: Object<'a>, place: Place) -> Result<Object<'a>, Error> {
        let mut merged = Vec::with_capacity(old.len() + patch.len());
        let mut old = old.into_iter().peekable();
        // Both are sorted by key.
        for (key, value) in patch {
            while let Some(entry) = old.next_if(|(other, _)| *other < key) {
                merged.push(entry);
            }
            let current = old.next_if(|(other, _)| *other == key);
            let value = match (current, value) {
                (_, Json::Null) => None,
                (Some((_, current)), value) if kind(&current) == kind(&value) => {
                    Some(self.values(current, value, place.child(&key), false)?)
                }
                (_, value) => without_directives(without_nulls(value)),
            };
            merged.extend(value.map(|value| (key, value)));
        }
        merged.extend(old);
        Ok(merged.into_iter().collect())
    }

    /// Two values of one kind.
    fn values<'a>(&mut self, old: Json<'a>, patch: Json<'a>, place: Place, delete: bool) -> Result<Json<'a>, Error> {
        match (old, patch) {
            (Json::Object(old), Json::Object(patch)) => self.objects(old, patch, place).map(Json::Object),
            (Json::Array(old), Json::Array(patch)) => self.lists(old, patch, place, delete).map(Json::Array),
            (_, patch) => Ok(patch),
        }
    }
}

/// The kinds that upstream tells apart: numbers with and without a fraction are two.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Null,
    Bool,
    Integer,
    Float,
    Text,
    List,
    Object,
}

fn kind(value: &Json<'_>) -> Kind {
    match value {
        Json::Null => Kind::Null,
        Json::Bool(_) => Kind::Bool,
        Json::Number(number) if number.is_i64() => Kind::Integer,
        Json::Number(_) => Kind::Float,
        Json::String(_) => Kind::Text,
        Json::Array(_) => Kind::List,
        Json::Object(_) => Kind::Object,
    }
}

/// Drops every key that the patch does not want to stay; one that it sets has to be among them.
fn retain_keys<'a>(mut old: Object<'a>, patch: &mut Object<'a>) -> Result<Object<'a>, Error> {
    let bad = || Error::Malformed("invalid patch format of retainKeys".to_owned());
    let Some(list) = patch.remove(RETAIN_KEYS) else {
        return Ok(old);
    };
    let Json::Array(list) = list else {
        return Err(bad());
    };
    let mut keys = HashSet::with_capacity(list.len());
    for item in &list {
        match item {
            Json::String(key) => {
                keys.insert(key.as_ref());
            }
            Json::Array(_) | Json::Object(_) => return Err(incomparable(item)),
            _ => {}
        }
    }
    let directive = |key: &str| key.starts_with(DELETE_FROM_PRIMITIVE_LIST) || key.starts_with(SET_ELEMENT_ORDER);
    if patch
        .iter()
        .any(|(key, value)| !value.is_null() && !directive(key) && !keys.contains(key))
    {
        return Err(bad());
    }
    old.retain(|key, _| keys.contains(key));
    Ok(old)
}

/// Takes out of a patch the directives for the order of lists and for what is deleted from them.
fn split(patch: Object<'_>) -> Result<(Directives<'_>, Directives<'_>, Object<'_>), Error> {
    let (mut orders, mut deletions) = (Vec::new(), Vec::new());
    if !patch.iter().any(|(key, _)| key.starts_with('$')) {
        return Ok((orders, deletions, patch));
    }
    let mut rest = Vec::with_capacity(patch.len());
    for (key, value) in patch {
        if let Some(list) = key.strip_prefix(SET_ELEMENT_ORDER) {
            if value.as_array().is_none() {
                return Err(list::not_a_list(&value));
            }
            let Some(list) = list.strip_prefix('/') else {
                return Err(Error::Malformed(
                    "invalid patch format of setElementOrder list".to_owned(),
                ));
            };
            orders.push((list.to_owned(), value));
        } else if let Some(list) = key.strip_prefix(DELETE_FROM_PRIMITIVE_LIST) {
            let Some(list) = list.strip_prefix('/') else {
                return Err(Error::Malformed("invalid patch format of primitive list".to_owned()));
            };
            // Without a name it is itself what it deletes from.
            let list = if list.is_empty() { key.as_ref() } else { list };
            deletions.push((list.to_owned(), value));
        } else {
            rest.push((key, value));
        }
    }
    Ok((orders, deletions, rest.into_iter().collect()))
}

/// Without the keys that are null, at any depth. Nulls in lists stay.
fn without_nulls(value: Json<'_>) -> Json<'_> {
    match value {
        Json::Array(items) => Json::Array(items.into_iter().map(without_nulls).collect()),
        Json::Object(mut object) => {
            object.retain(|_, value| !value.is_null());
            let entries = object.into_iter().map(|(key, value)| (key, without_nulls(value)));
            Json::Object(entries.collect())
        }
        scalar => scalar,
    }
}

/// Without the objects that have a `$patch`, which are instructions for something that is not there.
fn without_directives(value: Json<'_>) -> Option<Json<'_>> {
    match value {
        Json::Array(items) => Some(Json::Array(items.into_iter().filter_map(without_directives).collect())),
        Json::Object(object) if object.contains_key(PATCH) => None,
        Json::Object(object) => {
            let entries = object
                .into_iter()
                .filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Json::Object(entries.collect()))
        }
        scalar => Some(scalar),
    }
}

fn unknown_directive(object: &Object<'_>) -> Error {
    let directive = object.get(PATCH).map(|value| Go(value).to_string()).unwrap_or_default();
    let map = Json::Object(object.clone());
    Error::Untyped(format!("unknown patch type: {directive} in map: {}", Go(&map)))
}

/// Upstream compares or hashes a value that Go cannot, which ends in a panic as soon as it meets another of its kind.
fn incomparable(value: &Json<'_>) -> Error {
    Error::Untyped(format!("{} is no key of a list item", Go(value)))
}

/// Upstream's result is different from one time to the next.
fn chance(what: &str) -> Error {
    Error::Untyped(format!("the patch has more than one outcome: {what}"))
}

#[cfg(test)]
mod tests;
