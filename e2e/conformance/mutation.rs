//! Small changes of bodies.

use std::fmt;

use serde_json::{Map, Value};

/// Behind a key, it makes this key stand a second time in what is sent.
pub(super) const AGAIN: &str = "\0";

#[derive(Clone, Debug)]
pub(super) struct Mutation {
    pub(super) at: At,
    pub(super) change: Change,
}

#[derive(Clone, Debug)]
pub(super) enum At {
    Pointer(String),
    /// Wherever one gets by counting all places of the document.
    Nth(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Set(Value),
    Remove,
    /// The key stands twice, the second time with this value.
    Again(Value),
}

impl Mutation {
    /// Removing is null in a patch. Nothing happens where there is no such place.
    pub(super) fn apply(&self, document: &mut Value, patch: bool) {
        let pointer = match &self.at {
            At::Pointer(pointer) => pointer.clone(),
            At::Nth(number) => {
                let mut all = Vec::new();
                places(document, String::new(), &mut all);
                match all.len() {
                    0 => return,
                    count => all.swap_remove(number % count),
                }
            }
        };
        let Some((parent, last)) = pointer.rsplit_once('/') else {
            return;
        };
        let last = last.replace("~1", "/").replace("~0", "~");
        match (&self.change, parent_at(document, parent)) {
            (Change::Set(value), Some(Value::Object(object))) => _ = object.insert(last, value.clone()),
            (Change::Set(value), Some(Value::Array(items))) => match last.parse::<usize>() {
                Ok(at) if at < items.len() => items[at] = value.clone(),
                _ => items.push(value.clone()),
            },
            (Change::Remove, Some(Value::Object(object))) if patch => _ = object.insert(last, Value::Null),
            (Change::Remove, Some(Value::Object(object))) => _ = object.remove(&last),
            (Change::Remove, Some(Value::Array(items))) => {
                if let Ok(at) = last.parse::<usize>()
                    && at < items.len()
                {
                    items.remove(at);
                }
            }
            (Change::Again(value), Some(Value::Object(object))) if object.contains_key(&last) => {
                object.insert(format!("{last}{AGAIN}"), value.clone());
            }
            _ => {}
        }
    }
}

/// Makes the maps on the way that are not there yet.
fn parent_at<'a>(document: &'a mut Value, pointer: &str) -> Option<&'a mut Value> {
    pointer
        .split('/')
        .skip(1)
        .try_fold(document, |value, key| {
            let key = key.replace("~1", "/").replace("~0", "~");
            if value.is_null() {
                *value = Value::Object(Map::new());
            }
            match value {
                Value::Object(object) => Some(object.entry(key).or_insert(Value::Null)),
                Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
                _ => None,
            }
        })
        .map(|parent| {
            if parent.is_null() {
                *parent = Value::Object(Map::new());
            }
            parent
        })
}

fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                places(
                    value,
                    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    all,
                );
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                places(value, format!("{at}/{number}"), all);
            }
        }
        _ => {}
    }
    if !at.is_empty() {
        all.push(at);
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Pointer(pointer) => write!(out, "{pointer}")?,
            At::Nth(number) => write!(out, "place {number}")?,
        }
        match &self.change {
            Change::Set(value) => write!(out, " = {value}"),
            Change::Remove => write!(out, " removed"),
            Change::Again(value) => write!(out, " again with {value}"),
        }
    }
}
