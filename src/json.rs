//! JSON that has one meaning: no key twice in an object, nothing behind the value, nothing deeper or larger than anybody needs.
//!
//! Readers disagree about a key that stands twice: one takes the first, one the last, and kube-apiserver merges the two. So it is
//! refused. Texts are borrowed from the bytes they were read from wherever that is possible.

mod read;
mod write;

use std::borrow::Cow;

pub use serde_json::Number;

/// Values in one body. What anybody sends of three megabytes has far fewer; a body of nothing but `0,` would become sixteen
/// times as large in memory.
pub const MAX_VALUES: usize = 128 * 1024;

/// A value, without its layout.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json<'a> {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    Array(Vec<Self>),
    Object(Object<'a>),
}

/// Keys and values, sorted by key: it tells at once which keys stand twice, and finds each quickly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

/// Bytes that are not JSON, or not with one meaning. The text is for the client.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl<'a> Json<'a> {
    /// All of the bytes as one value.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        read::parse(bytes, None)
    }

    /// The same, without what an object has on top at this key. That may be whatever it likes.
    pub fn parse_without(bytes: &'a [u8], key: &str) -> Result<Self, Malformed> {
        read::parse(bytes, Some(key))
    }

    pub fn to_vec(&self) -> Vec<u8> {
        write::to_vec(self)
    }

    /// As bytes, with these texts set in the object at a path. What is missing or null on the way there becomes an object; nothing
    /// comes of it if something else stands there.
    pub fn with_texts(&self, path: &[&str], texts: &[(&str, &str)]) -> Option<Vec<u8>> {
        write::with_texts(self, path, texts)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// The value at the end of a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }
}

impl<'a> Object<'a> {
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        let at = self.position(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json<'a>> {
        let at = self.position(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_ok()
    }

    /// Sets a key, and gives back what it was.
    pub fn insert(&mut self, key: Cow<'a, str>, value: Json<'a>) -> Option<Json<'a>> {
        match self.position(&key) {
            Ok(at) => self.0.get_mut(at).map(|(_, old)| std::mem::replace(old, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    pub fn remove(&mut self, key: &str) -> Option<Json<'a>> {
        let at = self.position(key).ok()?;
        Some(self.0.remove(at).1)
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Json<'a>) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    /// In the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), value))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing if a key stands there twice.
    fn from_entries(mut entries: Vec<(Cow<'a, str>, Json<'a>)>) -> Result<Self, Cow<'a, str>> {
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let twice = entries
            .windows(2)
            .position(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
        match twice {
            Some(at) => Err(entries.swap_remove(at).0),
            None => Ok(Self(entries)),
        }
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_ref().cmp(key))
    }
}

impl<'a> FromIterator<(Cow<'a, str>, Json<'a>)> for Object<'a> {
    /// Of a key that stands there twice, the last counts.
    fn from_iter<T: IntoIterator<Item = (Cow<'a, str>, Json<'a>)>>(entries: T) -> Self {
        let mut entries: Vec<_> = entries.into_iter().collect();
        // Sorted from the last to the first, so that the last of equal keys is the one that stays.
        entries.reverse();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.dedup_by(|(a, _), (b, _)| a == b);
        Self(entries)
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Json<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
}

impl<'a> From<Object<'a>> for Json<'a> {
    fn from(object: Object<'a>) -> Self {
        Self::Object(object)
    }
}

#[cfg(test)]
mod tests;
