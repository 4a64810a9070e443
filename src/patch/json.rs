//! JSON patch: RFC 6902 as the library reads it that kube-apiserver uses, gopkg.in/evanphx/json-patch.v4.

mod document;
mod node;

use std::borrow::Cow;

use self::{
    document::Document,
    node::{Node, same},
};
use super::{Error, work::Work};
use crate::json::{Json, Object};

/// More are refused by kube-apiserver.
const MAX_OPERATIONS: usize = 10_000;

/// What all `copy` operations of one patch may add, as kube-apiserver sets it.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// One operation, with all keys that it came with: those that mean nothing are complained about upstream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Operation<'a>(Object<'a>);

pub(super) fn read(body: Json<'_>) -> Result<Vec<Operation<'_>>, Error> {
    let items = match body {
        Json::Array(items) => items,
        // To upstream's reader this is a list that is not there.
        Json::Null => Vec::new(),
        _ => return Err(Error::Malformed("error decoding patch: it is not a list".to_owned())),
    };
    check_number(items.len())?;
    items.into_iter().map(Operation::read).collect()
}

pub(super) fn check_number(operations: usize) -> Result<(), Error> {
    if operations > MAX_OPERATIONS {
        return Err(Error::TooLarge(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {operations}"
        )));
    }
    Ok(())
}

pub(super) fn apply<'a>(operations: &[Operation<'a>], old: Json<'a>) -> Result<Json<'a>, Error> {
    if !matches!(old, Json::Object(_)) {
        return Err(Error::Rejected("the object is not a JSON object".to_owned()));
    }
    let mut document = Document::new(old);
    let mut copied = 0;
    for operation in operations {
        operation.apply(&mut document, &mut copied)?;
    }
    Ok(document.into_json())
}

/// A `test` compares texts as they are spelled, so what Go escapes is written as Go does.
pub(super) fn to_vec(operations: &[Operation<'_>]) -> Vec<u8> {
    let operations = operations.iter().map(|operation| Json::Object(operation.0.clone()));
    let text = String::from_utf8(Json::Array(operations.collect()).to_vec()).unwrap_or_default();
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            c => escaped.push(c),
        }
    }
    escaped.into_bytes()
}

/// The keys of a path, unless it has none. What stands before the first slash is not looked at, as upstream does it.
pub(super) fn keys(path: &str) -> Option<impl Iterator<Item = Cow<'_, str>> + Clone> {
    let (_, keys) = path.split_once('/')?;
    Some(keys.split('/').map(key))
}

/// `~1` is a slash and `~0` a tilde; any other tilde is itself.
fn key(escaped: &str) -> Cow<'_, str> {
    if !escaped.contains('~') {
        return Cow::Borrowed(escaped);
    }
    let mut pieces = escaped.split('~');
    let mut key = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        if let Some(rest) = piece.strip_prefix('1') {
            key.push('/');
            key.push_str(rest);
        } else {
            key.push('~');
            key.push_str(piece.strip_prefix('0').unwrap_or(piece));
        }
    }
    Cow::Owned(key)
}

impl<'a> Operation<'a> {
    pub(super) fn new(op: &'static str, path: &'static str, value: &'a str) -> Self {
        Self::with(op, path.to_owned(), Some(value.into()))
    }

    pub(super) fn with(op: &'static str, path: String, value: Option<Json<'a>>) -> Self {
        let entries = [("op", Some(op.into())), ("path", Some(path.into())), ("value", value)];
        let entries = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.into(), value?)));
        Self(entries.collect())
    }

    fn read(item: Json<'a>) -> Result<Self, Error> {
        let object = match item {
            Json::Object(object) => object,
            Json::Null => Object::default(),
            _ => {
                let text = "error decoding patch: an operation is not an object";
                return Err(Error::Malformed(text.to_owned()));
            }
        };
        for key in ["op", "path", "from"] {
            if !matches!(object.get(key), None | Some(Json::Null | Json::String(_))) {
                return Err(Error::Malformed(format!("error decoding patch: {key} is not a string")));
            }
        }
        Ok(Self(object))
    }

    pub(super) fn op(&self) -> &str {
        self.text("op").unwrap_or("unknown")
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    fn apply(&self, document: &mut Document<'a>, copied: &mut usize) -> Result<(), Error> {
        match self.op() {
            "add" => {
                let path = self.path("add")?;
                let Some(place) = document.find(path) else {
                    return Err(missing(format!(
                        "add operation does not apply: doc is missing path: \"{path}\""
                    )));
                };
                document.add(&place, self.value()).map_err(within("add", path))
            }
            "remove" => {
                let path = self.path("remove")?;
                let Some(place) = document.find(path) else {
                    return Err(missing(format!(
                        "remove operation does not apply: doc is missing path: \"{path}\""
                    )));
                };
                document.remove(&place).map(drop).map_err(within("remove", path))
            }
            "replace" => self.replace(document),
            "move" => self.relocate(document),
            "test" => self.test(document),
            "copy" => self.copy(document, copied),
            op => Err(Error::Rejected(format!("Unexpected kind: {op}"))),
        }
    }

    fn replace(&self, document: &mut Document<'a>) -> Result<(), Error> {
        let path = self.path("replace")?;
        if path.is_empty() {
            return document.replace_all(self.value());
        }
        let Some(place) = document.find(path) else {
            return Err(missing(format!(
                "replace operation does not apply: doc is missing path: {path}"
            )));
        };
        document.set(&place, self.value()).map_err(|error| match error {
            Error::Rejected(_) => missing(format!("replace operation does not apply: doc is missing key: {path}")),
            error => error,
        })
    }

    fn relocate(&self, document: &mut Document<'a>) -> Result<(), Error> {
        let from = self.from("move")?;
        let Some(place) = document.find(from) else {
            return Err(missing(format!(
                "move operation does not apply: doc is missing from path: {from}"
            )));
        };
        let value = document.remove(&place).map_err(within("move", from))?;
        let path = self.path("move")?;
        let Some(place) = document.find(path) else {
            return Err(missing(format!(
                "move operation does not apply: doc is missing destination path: {path}"
            )));
        };
        document.add(&place, value).map_err(within("move", path))
    }

    fn copy(&self, document: &mut Document<'a>, copied: &mut usize) -> Result<(), Error> {
        let from = self.from("copy")?;
        let Some(place) = document.find(from) else {
            return Err(missing(format!(
                "copy operation does not apply: doc is missing from path: {from}"
            )));
        };
        // A key that is not there is copied as null.
        document.get(&place).map_err(within("copy", from))?;
        let path = self.path("copy")?;
        let Some(target) = document.find(path) else {
            return Err(missing(format!(
                "copy operation does not apply: doc is missing destination path: {path}"
            )));
        };
        let value = document.copied(&place, MAX_COPIED, copied)?;
        document.add(&target, value).map_err(within("copy", path))
    }

    fn test(&self, document: &Document<'a>) -> Result<(), Error> {
        let path = self.path("test")?;
        let value = self.0.get("value");
        let passes = if path.is_empty() {
            document.is(value)?
        } else {
            let Some(place) = document.find(path) else {
                return Err(missing(format!(
                    "test operation does not apply: is missing path: {path}"
                )));
            };
            let found = document.get(&place).map_err(within("test", path))?;
            same(found, value)?
        };
        if passes {
            Ok(())
        } else {
            Err(Error::Rejected(format!("testing value {path} failed: test failed")))
        }
    }

    fn value(&self) -> Node<'a> {
        Node::given(self.0.get("value").cloned())
    }

    fn path(&self, op: &str) -> Result<&str, Error> {
        self.text("path")
            .ok_or_else(|| missing(format!("{op} operation failed to decode path")))
    }

    fn from(&self, op: &str) -> Result<&str, Error> {
        let text = || {
            missing(format!(
                "{op} operation failed to decode from: operation, missing from field"
            ))
        };
        self.text("from").ok_or_else(text)
    }
}

fn missing(text: String) -> Error {
    Error::Rejected(text + ": missing value")
}

fn within(op: &str, path: &str) -> impl FnOnce(Error) -> Error {
    move |error| match error {
        Error::Rejected(text) => Error::Rejected(format!("error in {op} for path: '{path}': {text}")),
        error => error,
    }
}

#[cfg(test)]
mod tests;
