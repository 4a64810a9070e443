//! Fields of an object, read as the API server's typed decoder reads them.
//!
//! `null` is the same as nothing, and an empty text the same as none. What has another type than the field cannot be read at
//! all: the API server would refuse it, and so is it refused here.

use crate::{
    api::GroupResource,
    json::{Json, Object},
    rejection::Rejection,
};

/// The value of a key; nothing if it is not there or null.
pub(super) fn field<'j, 'a>(object: &'j Json<'a>, key: &str) -> Result<Option<&'j Json<'a>>, Rejection> {
    match object {
        Json::Object(object) => Ok(object.get(key).filter(|value| !value.is_null())),
        Json::Null => Ok(None),
        _ => Err(wrong(key, "stands in something that is no object")),
    }
}

/// The value at the end of a path.
pub(super) fn at<'j, 'a>(object: &'j Json<'a>, path: &[&str]) -> Result<Option<&'j Json<'a>>, Rejection> {
    let mut value = object;
    for key in path {
        value = match field(value, key)? {
            Some(value) => value,
            None => return Ok(None),
        };
    }
    Ok(Some(value))
}

/// A text; empty if it is not there.
pub(super) fn text<'j>(object: &'j Json<'_>, key: &str) -> Result<&'j str, Rejection> {
    Ok(optional_text(object, key)?.unwrap_or_default())
}

/// A text that may be missing, where that means something else than an empty one.
pub(super) fn optional_text<'j>(object: &'j Json<'_>, key: &str) -> Result<Option<&'j str>, Rejection> {
    match field(object, key)? {
        None => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(key, "is not a text")),
    }
}

pub(super) fn boolean(object: &Json<'_>, key: &str) -> Result<Option<bool>, Rejection> {
    match field(object, key)? {
        None => Ok(None),
        Some(Json::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(wrong(key, "is not true or false")),
    }
}

/// The items of a list; none if it is not there.
pub(super) fn list<'j, 'a>(object: &'j Json<'a>, key: &str) -> Result<&'j [Json<'a>], Rejection> {
    match field(object, key)? {
        None => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(_) => Err(wrong(key, "is not a list")),
    }
}

/// The entries of a map of texts, e.g. labels; a value of null is an empty text.
pub(super) fn texts<'j>(object: &'j Json<'_>, key: &str) -> Result<Vec<(&'j str, &'j str)>, Rejection> {
    let map = match field(object, key)? {
        None => return Ok(Vec::new()),
        Some(Json::Object(map)) => map,
        Some(_) => return Err(wrong(key, "is not a map")),
    };
    let entry = |(name, value): (&'j str, &'j Json<'_>)| match value {
        Json::String(text) => Ok((name, text.as_ref())),
        Json::Null => Ok((name, "")),
        _ => Err(wrong(key, "has a value that is not a text")),
    };
    Object::iter(map).map(entry).collect()
}

/// The name of an object; empty if upstream is to make one up.
pub(super) fn named<'j>(object: &'j Json<'_>) -> Result<&'j str, Rejection> {
    field(object, "metadata")?.map_or(Ok(""), |metadata| text(metadata, "name"))
}

/// 404 of an object that was looked up: with the singular of its kind, unlike the object that a request names.
pub(super) fn not_found(kind: &str, name: &str) -> Rejection {
    let kind = GroupResource {
        group: String::new(),
        resource: kind.to_owned(),
    };
    Rejection::not_found(&kind, name)
}

fn wrong(key: &str, what: &str) -> Rejection {
    Rejection::bad_request(format!("the object provided is unrecognized: {key} {what}"))
}
