//! JSON merge patch: RFC 7386, with one thing to know about nulls.

use super::Error;
use crate::json::{Json, Object};

pub(super) fn apply<'a>(old: Json<'a>, patch: Object<'a>) -> Result<Json<'a>, Error> {
    match old {
        Json::Object(old) => Ok(Json::Object(merge(old, patch))),
        _ => Err(Error::Untyped("Invalid JSON Document".to_owned())),
    }
}

fn merge<'a>(mut old: Object<'a>, patch: Object<'a>) -> Object<'a> {
    // Emptied first and put together at the end: setting and dropping keys one by one would move the others each time.
    let mut changed = Vec::with_capacity(patch.len());
    for (key, value) in patch {
        let current = old.get_mut(&key).map(std::mem::take);
        let value = match (current, value) {
            (_, Json::Null) => Json::Null,
            (Some(Json::Object(current)), Json::Object(value)) => Json::Object(merge(current, value)),
            // Upstream prunes what it adds, but not a list that takes the place of an object.
            (Some(Json::Object(_)), value) => value,
            (_, value) => pruned(value),
        };
        changed.push((key, value));
    }
    // Both are sorted, so it is one pass.
    let mut dropped = changed
        .iter()
        .filter(|(_, value)| value.is_null())
        .map(|(key, _)| key.clone())
        .peekable();
    old.retain(|key, _| {
        while dropped.next_if(|dropped| dropped.as_ref() < key).is_some() {}
        dropped.peek().is_none_or(|dropped| dropped != key)
    });
    drop(dropped);
    old.into_iter()
        .chain(changed.into_iter().filter(|(_, value)| !value.is_null()))
        .collect()
}

/// Without nulls in objects, at any depth. Those in lists stay.
fn pruned(value: Json<'_>) -> Json<'_> {
    match value {
        Json::Array(items) => Json::Array(items.into_iter().map(pruned).collect()),
        Json::Object(mut object) => {
            object.retain(|_, value| !value.is_null());
            Json::Object(object.into_iter().map(|(key, value)| (key, pruned(value))).collect())
        }
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::super::{Type, tests::outcome};

    #[test_case(r#"{"a":1,"b":2}"#, r#"{"a":null,"c":3,"x":null}"# => r#"{"b":2,"c":3}"#; "set and dropped")]
    #[test_case(r#"{"a":{"b":1}}"#, r#"{"a":{"c":{"d":null,"e":[{"f":null},null]}}}"# => r#"{"a":{"b":1,"c":{"e":[{},null]}}}"#; "pruned where it is new")]
    #[test_case(r#"{"a":1,"n":null}"#, r#"{"a":{"b":null},"n":[{"b":null}]}"# => r#"{"a":{},"n":[{}]}"#; "pruned where it was none")]
    #[test_case(r#"{"a":{"b":1}}"#, r#"{"a":[{"b":null}]}"# => r#"{"a":[{"b":null}]}"#; "a list for an object is not pruned")]
    #[test_case(r#"{"a":null,"b":[1]}"#, r#"{"b":[2]}"# => r#"{"a":null,"b":[2]}"#; "lists are replaced and old nulls stay")]
    #[test_case(r#"{"a":{"b":1}}"#, r#"{"a":{"$patch":"delete"}}"# => r#"{"a":{"$patch":"delete","b":1}}"#; "no directives")]
    #[test_case("{}", "null" => "400 Invalid JSON Patch"; "null")]
    #[test_case("{}", "[]" => "400 error decoding patch: it is not an object"; "list")]
    #[test_case("{}", r#"{"a":1,"a":2}"# => "400 error decoding patch: key \"a\" stands twice in one object at line 1 column 13"; "key twice")]
    fn merged(old: &str, patch: &str) -> String {
        outcome(Type::Merge, old, patch)
    }
}
