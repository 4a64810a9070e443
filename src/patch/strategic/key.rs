//! By what items of lists are found, and the order they are put into.

use std::collections::HashMap;

use super::{Cow, Error, Go, Json, PATCH, Work, chance, incomparable};
use crate::patch::text::go_type;

/// A value that upstream can compare.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Key<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Float(u64),
    Text(Cow<'a, str>),
}

/// Items and their keys.
pub(super) type Items<'a> = Vec<(Key<'a>, Json<'a>)>;

/// Where each key stands first.
pub(super) struct Index<'a>(HashMap<Key<'a>, usize>);

impl<'a> Key<'a> {
    pub(super) fn of(value: &Json<'a>, work: &mut Work) -> Result<Self, Error> {
        let key = match value {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Self::Integer(integer),
                // To Go `-0` is the integer zero and `-0.0` is not; here they cannot be told apart.
                (None, Some(float)) if float != 0.0 || float.is_sign_positive() => Self::Float(float.to_bits()),
                _ => return Err(incomparable(value)),
            },
            Json::String(text) => {
                work.bytes(text.len())?;
                Self::Text(text.clone())
            }
            Json::Array(_) | Json::Object(_) => return Err(incomparable(value)),
        };
        work.steps(1)?;
        Ok(key)
    }

    /// The key of an item that is an object.
    pub(super) fn of_item(item: &Json<'a>, name: &str, work: &mut Work) -> Result<Self, Error> {
        if item.as_object().is_none() {
            let received = go_type(item);
            return Err(Error::Untyped(format!(
                "expected a map[string]interface {{}}, but received a {received}"
            )));
        }
        match item.get(name) {
            Some(value) => Self::of(value, work),
            None => Err(Error::Untyped(format!(
                "map: {} does not contain declared merge key: {name}",
                Go(item)
            ))),
        }
    }
}

impl<'a> Index<'a> {
    pub(super) fn new<'k>(keys: impl IntoIterator<Item = &'k Key<'a>>) -> Self
    where
        'a: 'k,
    {
        let mut index = Self(HashMap::new());
        for (at, key) in keys.into_iter().enumerate() {
            index.0.entry(key.clone()).or_insert(at);
        }
        index
    }

    pub(super) fn get(&self, key: &Key<'a>) -> Option<usize> {
        self.0.get(key).copied()
    }

    pub(super) fn insert(&mut self, key: Key<'a>, at: usize) {
        self.0.insert(key, at);
    }
}

/// Puts items into the order that the patch has, and those which it does not name among them as they stood on the server.
pub(super) fn arrange<'a>(items: Items<'a>, order: &Index<'a>, server: &Index<'a>) -> Result<Items<'a>, Error> {
    let (mut named, mut others): (Vec<_>, Vec<_>) = items.into_iter().partition(|(key, _)| order.get(key).is_some());
    // What still says that it is to be deleted comes last: an item that the patch has added with directives in it.
    let deleted = |item: &Json<'_>| {
        item.get(PATCH)
            .is_some_and(|directive| directive.as_str() == Some("delete"))
    };
    let place = |index: &Index<'a>, key: &Key<'a>, item: &Json<'a>| {
        let deleted = deleted(item);
        (deleted, index.get(key).filter(|_| !deleted))
    };
    named.sort_by_key(|(key, item)| place(order, key, item));
    others.sort_by_key(|(key, item)| place(server, key, item));
    // They are first now, those that stand nowhere before all others.
    let unplaced = |other: &(Key<'a>, Json<'a>)| place(server, &other.0, &other.1) == (false, None);
    let sorted = others.iter().filter(|(_, item)| !deleted(item)).count();
    if sorted > 1 && others.first().is_some_and(unplaced) {
        return Err(chance("the order of items that are nowhere in order"));
    }
    let mut arranged = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in named {
        let place = server.get(&item.0);
        while let Some(other) = others.next_if(|(key, _)| {
            let other = server.get(key);
            other.is_some() && place.is_some() && other < place
        }) {
            arranged.push(other);
        }
        arranged.push(item);
    }
    arranged.extend(others);
    Ok(arranged)
}
