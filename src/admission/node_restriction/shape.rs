//! Whether two values are the same to Kubernetes, as its types tell.
//!
//! What is not there, what is null and what is empty are the same for most fields, but not behind a pointer. Times are the same
//! if they are the same instant, quantities if they are the same number. A field that is not listed has to be exactly the same:
//! nobody here knows what it means.

mod quantity;

use std::fmt;

use jiff::Timestamp;

use crate::{
    api::clip,
    json::{Json, Object},
};

/// The type of a field.
#[derive(Debug)]
pub(super) enum Shape {
    /// Is not compared.
    Any,
    /// A text that is this one if it is not there.
    Default(&'static str),
    List(&'static Self),
    /// By text; a key that is there with an empty value is there.
    Map(&'static Self),
    /// A text, number or boolean.
    Plain,
    /// Something that may not be there, which is not the same as being empty.
    Pointer(&'static Self),
    Quantity,
    Struct(&'static [(&'static str, Self)]),
    Time,
}

/// The fields that are not the same, by their paths; not all, if there are many.
#[derive(Debug, Default)]
pub(super) struct Differences(Vec<String>);

/// Compares one thing with another, and knows where it is.
struct Comparison<'j> {
    path: Vec<&'j str>,
    differences: Differences,
}

type Value<'j, 'a> = Option<&'j Json<'a>>;

/// So many are told of, and so many characters of each: the names of fields are the client's.
const MAX_DIFFERENCES: usize = 8;
const MAX_PATH: usize = 128;

impl Shape {
    pub(super) const OWNER_REFERENCE: Self = Self::Struct(&[
        ("apiVersion", Self::Plain),
        ("blockOwnerDeletion", Self::Pointer(&Self::Plain)),
        ("controller", Self::Pointer(&Self::Plain)),
        ("kind", Self::Plain),
        ("name", Self::Plain),
        ("uid", Self::Plain),
    ]);
    pub(super) const OWNER_REFERENCES: Self = Self::List(&Self::OWNER_REFERENCE);
    pub(super) const TEXTS: Self = Self::Map(&Self::Plain);
}

pub(super) fn is_same(shape: &Shape, old: Value<'_, '_>, new: Value<'_, '_>) -> bool {
    differences(shape, old, new).is_empty()
}

pub(super) fn differences(shape: &Shape, old: Value<'_, '_>, new: Value<'_, '_>) -> Differences {
    let mut comparison = Comparison {
        path: Vec::new(),
        differences: Differences::default(),
    };
    comparison.compare(shape, old, new);
    comparison.differences
}

impl Differences {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl<'j> Comparison<'j> {
    fn compare(&mut self, shape: &Shape, old: Value<'j, '_>, new: Value<'j, '_>) {
        if self.differences.0.len() >= MAX_DIFFERENCES {
            return;
        }
        // A time that is there, but none, is null also behind a pointer.
        if let Shape::Pointer(Shape::Time) = shape {
            return self.same_if(old.is_some() == new.is_some() && is_same_time(old, new));
        }
        let (old, new) = (given(old), given(new));
        match (shape, old, new) {
            (Shape::Any, ..) | (_, None, None) => {}
            (Shape::Default(text), ..) => {
                let (old, new) = (
                    old.map_or(Some(*text), Json::as_str),
                    new.map_or(Some(*text), Json::as_str),
                );
                self.same_if(old.is_some() && old == new);
            }
            (Shape::Plain, ..) => self.same_if(old.filter(|v| !is_zero(v)) == new.filter(|v| !is_zero(v))),
            (Shape::Time, ..) => self.same_if(is_same_time(old, new)),
            (Shape::Quantity, ..) => self.same_if(quantity::is_same(old, new)),
            (Shape::Pointer(inner), Some(_), Some(_)) => self.compare(inner, old, new),
            (Shape::List(inner), ..) => match (items(old), items(new)) {
                (Some(old), Some(new)) => self.lists(inner, old, new),
                _ => self.same_if(false),
            },
            (Shape::Map(inner), ..) => match (object(old), object(new)) {
                (Some(old), Some(new)) => self.maps(inner, old, new),
                _ => self.same_if(false),
            },
            (Shape::Struct(fields), ..) => match (object(old), object(new)) {
                (Some(old), Some(new)) => self.structs(fields, old, new),
                _ => self.same_if(false),
            },
            (Shape::Pointer(_), ..) => self.same_if(false),
        }
    }

    fn lists(&mut self, inner: &Shape, old: &'j [Json<'_>], new: &'j [Json<'_>]) {
        if old.len() != new.len() {
            return self.same_if(false);
        }
        for (old, new) in old.iter().zip(new) {
            self.compare(inner, Some(old), Some(new));
        }
    }

    fn maps(&mut self, inner: &Shape, old: Option<&'j Object<'_>>, new: Option<&'j Object<'_>>) {
        let has = |map: Option<&Object<'_>>, key| map.is_some_and(|map| map.contains_key(key));
        for (key, value) in entries(old) {
            self.within(key, |comparison| match new.and_then(|new| new.get(key)) {
                Some(new) => comparison.compare(inner, Some(value), Some(new)),
                None => comparison.same_if(false),
            });
        }
        for (key, _) in entries(new).filter(|(key, _)| !has(old, key)) {
            self.within(key, |comparison| comparison.same_if(false));
        }
    }

    fn structs(
        &mut self,
        fields: &'static [(&'static str, Shape)],
        old: Option<&'j Object<'_>>,
        new: Option<&'j Object<'_>>,
    ) {
        for (key, shape) in fields {
            let (old, new) = (old.and_then(|map| map.get(key)), new.and_then(|map| map.get(key)));
            self.within(key, |comparison| comparison.compare(shape, old, new));
        }
        let is_known = |key: &str| fields.iter().any(|(known, _)| *known == key);
        for (key, value) in entries(old).filter(|(key, _)| !is_known(key)) {
            let new = given(new.and_then(|map| map.get(key)));
            self.within(key, |comparison| comparison.same_if(given(Some(value)) == new));
        }
        for (key, value) in entries(new).filter(|(key, _)| !is_known(key)) {
            if !old.is_some_and(|old| old.contains_key(key)) {
                self.within(key, |comparison| comparison.same_if(value.is_null()));
            }
        }
    }

    fn within(&mut self, key: &'j str, compare: impl FnOnce(&mut Self)) {
        self.path.push(key);
        compare(self);
        self.path.pop();
    }

    fn same_if(&mut self, same: bool) {
        if !same && self.differences.0.len() < MAX_DIFFERENCES {
            let mut path = String::new();
            for key in &self.path {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&clip(key, MAX_PATH));
            }
            if path.is_empty() {
                path.push('.');
            }
            self.differences.0.push(clip(&path, MAX_PATH));
        }
    }
}

/// Null is the same as nothing.
fn given<'j, 'a>(value: Value<'j, 'a>) -> Value<'j, 'a> {
    value.filter(|value| !value.is_null())
}

fn is_zero(value: &Json<'_>) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Number(number) => number.as_i64() == Some(0),
        Json::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Nothing if it is something else than a list.
fn items<'j, 'a>(value: Value<'j, 'a>) -> Option<&'j [Json<'a>]> {
    value.map_or(Some(&[]), Json::as_array)
}

/// Nothing if it is something else than an object.
fn object<'j, 'a>(value: Value<'j, 'a>) -> Option<Option<&'j Object<'a>>> {
    match value {
        None => Some(None),
        Some(value) => value.as_object().map(Some),
    }
}

fn entries<'j, 'a>(object: Option<&'j Object<'a>>) -> impl Iterator<Item = (&'j str, &'j Json<'a>)> {
    object.into_iter().flat_map(Object::iter)
}

/// What cannot be read has to be written the same.
fn is_same_time(old: Value<'_, '_>, new: Value<'_, '_>) -> bool {
    let instant = |value: Value<'_, '_>| value?.as_str()?.parse::<Timestamp>().ok();
    let (old, new) = (given(old), given(new));
    old == new || instant(old).is_some() && instant(old) == instant(new)
}

#[cfg(test)]
mod tests;
