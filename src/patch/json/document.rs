//! The document that operations change one after the other.

use std::borrow::Cow;

use super::{
    Error, Work, keys,
    node::{Entries, Node, Null, panics},
};
use crate::json::Json;

/// Deeper ones are not read either. A few operations can put one value into the depth of another again and again.
const MAX_DEPTH: usize = 128;

/// A document and what may still be done to it.
pub(super) struct Document<'a> {
    root: Node<'a>,
    work: Work,
}

/// A container, by the keys that lead to it, and the key in it.
#[derive(Clone)]
pub(super) struct Place<'p> {
    keys: Vec<Cow<'p, str>>,
    last: Cow<'p, str>,
}

impl<'a> Document<'a> {
    pub(super) fn new(value: Json<'a>) -> Self {
        Self {
            root: Node::from(value),
            work: Work::new(),
        }
    }

    pub(super) fn into_json(self) -> Json<'a> {
        self.root.into_json()
    }

    /// Nothing if there is no container at the path before its last key.
    pub(super) fn find<'p>(&self, path: &'p str) -> Option<Place<'p>> {
        let mut keys: Vec<_> = keys(path)?.collect();
        let last = keys.pop()?;
        let place = Place { keys, last };
        self.container(&place).map(|_| place)
    }

    /// Nothing if an object has no such key, or a null that stands for it. An index that is not there is an error.
    pub(super) fn get(&self, place: &Place<'_>) -> Result<Option<&Node<'a>>, Error> {
        let found = match self.container(place) {
            Some(Node::Object(entries)) => value_of(entries, &place.last),
            Some(Node::Array(items)) => items.get(existing(&place.last, items.len())?),
            _ => None,
        };
        Ok(found.filter(|node| !matches!(node, Node::Null(Null::Absent))))
    }

    pub(super) fn add(&mut self, place: &Place<'_>, value: Node<'a>) -> Result<(), Error> {
        value.check_depth(MAX_DEPTH.saturating_sub(place.keys.len() + 1), &mut self.work)?;
        let last = &place.last;
        match Self::container_mut(&mut self.root, place) {
            Some(Node::Object(entries)) => put(entries, last, value, &mut self.work),
            Some(Node::Array(items)) => {
                let at = if last == "-" {
                    items.len()
                } else {
                    let parsed = parse(last);
                    let parsed = parsed.map_err(|text| {
                        Error::Rejected(format!("value was not a proper array index: '{last}': {text}"))
                    })?;
                    within(parsed, items.len() + 1)?
                };
                self.work.steps(items.len().saturating_sub(at))?;
                items.insert(at, value);
                Ok(())
            }
            _ => Err(panics()),
        }
    }

    /// An object gets a key that it does not have; a list has to have the index.
    pub(super) fn set(&mut self, place: &Place<'_>, value: Node<'a>) -> Result<(), Error> {
        value.check_depth(MAX_DEPTH.saturating_sub(place.keys.len() + 1), &mut self.work)?;
        match Self::container_mut(&mut self.root, place) {
            Some(Node::Object(entries)) => put(entries, &place.last, value, &mut self.work),
            Some(Node::Array(items)) => {
                let at = existing(&place.last, items.len())?;
                match items.get_mut(at) {
                    Some(item) => *item = value,
                    None => return Err(panics()),
                }
                Ok(())
            }
            _ => Err(panics()),
        }
    }

    pub(super) fn remove(&mut self, place: &Place<'_>) -> Result<Node<'a>, Error> {
        let key = &place.last;
        let nonexistent = || Error::Rejected(format!("Unable to remove nonexistent key: {key}: missing value"));
        match Self::container_mut(&mut self.root, place) {
            Some(Node::Object(entries)) => {
                let at = position(entries, key).map_err(|_| nonexistent())?;
                self.work.steps(entries.len().saturating_sub(at))?;
                Ok(entries.remove(at).1)
            }
            Some(Node::Array(items)) => {
                let at = existing(key, items.len())?;
                self.work.steps(items.len().saturating_sub(at))?;
                Ok(items.remove(at))
            }
            _ => Err(nonexistent()),
        }
    }

    pub(super) fn replace_all(&mut self, value: Node<'a>) -> Result<(), Error> {
        if matches!(value, Node::Null(Null::Absent)) {
            return Err(panics());
        }
        if !matches!(value, Node::Array(_) | Node::Object(_)) {
            let text = "replace operation value must be object or array";
            return Err(Error::Rejected(text.to_owned()));
        }
        self.root = value;
        Ok(())
    }

    /// What is at a place once more, if it and all before it are small enough together.
    pub(super) fn copied(&mut self, place: &Place<'_>, most: usize, so_far: &mut usize) -> Result<Node<'a>, Error> {
        let Some(found) = self.get(place)? else {
            return Ok(Node::Null(Null::Absent));
        };
        let value = match found {
            Node::Null(_) => Node::Null(Null::Copied),
            // Through its bytes, in which no null has an origin.
            node => Node::from(node.clone().into_json()),
        };
        let size = value.clone().into_json().to_vec().len();
        *so_far += size;
        if *so_far > most {
            return Err(Error::Rejected(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {so_far}, exceeding the limit {most}"
            )));
        }
        self.work.bytes(size)?;
        Ok(value)
    }

    /// Whether the whole of it is this.
    pub(super) fn is(&self, value: Option<&Json<'_>>) -> Result<bool, Error> {
        match value {
            Some(value) => self.root.equals(value),
            None => Err(panics()),
        }
    }

    fn container(&self, place: &Place<'_>) -> Option<&Node<'a>> {
        let container = place.keys.iter().try_fold(&self.root, |node, key| match node {
            Node::Object(entries) => value_of(entries, key),
            Node::Array(items) => items.get(existing(key, items.len()).ok()?),
            _ => None,
        })?;
        container.is_container().then_some(container)
    }

    fn container_mut<'d>(root: &'d mut Node<'a>, place: &Place<'_>) -> Option<&'d mut Node<'a>> {
        place.keys.iter().try_fold(root, |node, key| match node {
            Node::Object(entries) => {
                let at = position(entries, key).ok()?;
                entries.get_mut(at).map(|(_, value)| value)
            }
            Node::Array(items) => {
                let at = existing(key, items.len()).ok()?;
                items.get_mut(at)
            }
            _ => None,
        })
    }
}

fn position(entries: &Entries<'_>, key: &str) -> Result<usize, usize> {
    entries.binary_search_by(|(other, _)| other.as_ref().cmp(key))
}

fn value_of<'d, 'a>(entries: &'d Entries<'a>, key: &str) -> Option<&'d Node<'a>> {
    let at = position(entries, key).ok()?;
    entries.get(at).map(|(_, value)| value)
}

fn put<'a>(entries: &mut Entries<'a>, key: &str, value: Node<'a>, work: &mut Work) -> Result<(), Error> {
    let at = match position(entries, key) {
        Ok(at) => at,
        Err(at) => {
            work.steps(entries.len().saturating_sub(at))?;
            entries.insert(at, (Cow::Owned(key.to_owned()), Node::Null(Null::Absent)));
            at
        }
    };
    if let Some((_, old)) = entries.get_mut(at) {
        *old = value;
    }
    Ok(())
}

/// An index of one that is there; those below zero count from the end.
fn existing(key: &str, len: usize) -> Result<usize, Error> {
    let parsed = parse(key).map_err(Error::Rejected)?;
    within(parsed, len)
}

fn parse(key: &str) -> Result<i64, String> {
    key.parse()
        .map_err(|_| format!("strconv.Atoi: parsing {key:?}: invalid syntax"))
}

fn within(index: i64, len: usize) -> Result<usize, Error> {
    let invalid = || {
        Error::Rejected(format!(
            "Unable to access invalid index: {index}: invalid index referenced"
        ))
    };
    let from_end = usize::try_from(index.unsigned_abs()).ok();
    let at = if index < 0 {
        from_end.and_then(|back| len.checked_sub(back))
    } else {
        from_end.filter(|at| *at < len)
    };
    at.ok_or_else(invalid)
}
