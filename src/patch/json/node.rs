//! Values of the document.

use std::borrow::Cow;

use super::{Error, Work};
use crate::json::Json;

/// A value that can be changed in place.
#[derive(Clone)]
pub(super) enum Node<'a> {
    Null(Null),
    Scalar(Json<'a>),
    Array(Vec<Self>),
    /// Sorted by key.
    Object(Entries<'a>),
}

pub(super) type Entries<'a> = Vec<(Cow<'a, str>, Node<'a>)>;

/// Where a null comes from, by which the library tells them apart.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Null {
    /// The object had it, or the operation has no value: as if there were nothing.
    Absent,
    /// The value of an operation.
    Given,
    /// Copied from one that was given: an object without keys, which cannot get any.
    Copied,
}

/// Whether what was found passes a `test` for this value.
pub(super) fn same(found: Option<&Node<'_>>, value: Option<&Json<'_>>) -> Result<bool, Error> {
    match (found, value) {
        (None, None | Some(Json::Null)) => Ok(true),
        (None, Some(_)) | (Some(_), None) => Ok(false),
        (Some(Node::Null(null)), Some(Json::Null)) => Ok(*null == Null::Given),
        (Some(found), Some(value)) => found.equals(value),
    }
}

/// What the library does not survive; kube-apiserver answers for it with a 500.
pub(super) fn panics() -> Error {
    Error::Untyped("the JSON patch cannot be applied".to_owned())
}

impl<'a> Node<'a> {
    /// The value of an operation, if it has one.
    pub(super) fn given(value: Option<Json<'a>>) -> Self {
        match value {
            None => Self::Null(Null::Absent),
            Some(Json::Null) => Self::Null(Null::Given),
            Some(value) => Self::from(value),
        }
    }

    pub(super) fn from(value: Json<'a>) -> Self {
        match value {
            Json::Null => Self::Null(Null::Absent),
            Json::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Json::Object(object) => {
                let entries = object.into_iter().map(|(key, value)| (key, Self::from(value)));
                Self::Object(entries.collect())
            }
            scalar => Self::Scalar(scalar),
        }
    }

    pub(super) fn into_json(self) -> Json<'a> {
        match self {
            Self::Null(_) => Json::Null,
            Self::Scalar(scalar) => scalar,
            Self::Array(items) => Json::Array(items.into_iter().map(Self::into_json).collect()),
            Self::Object(object) => {
                let entries = object.into_iter().map(|(key, value)| (key, value.into_json()));
                Json::Object(entries.collect())
            }
        }
    }

    pub(super) fn is_container(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_) | Self::Null(Null::Copied))
    }

    /// As the library compares, only that it wants scalars to be spelled alike: what is equal to it is equal here.
    pub(super) fn equals(&self, value: &Json<'_>) -> Result<bool, Error> {
        match (self, value) {
            (Self::Null(Null::Copied), Json::Object(object)) => Ok(object.is_empty()),
            (Self::Scalar(scalar), value) => Ok(scalar == value),
            (Self::Array(items), Json::Array(values)) => {
                if items.len() != values.len() {
                    return Ok(false);
                }
                for (item, value) in items.iter().zip(values) {
                    if value.is_null() || matches!(item, Self::Null(Null::Absent)) {
                        return Err(panics());
                    }
                    if !item.equals(value)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Self::Object(object), Json::Object(values)) => {
                if object.len() != values.len() {
                    return Ok(false);
                }
                for ((key, node), (other, value)) in object.iter().zip(values.iter()) {
                    let same = match (node, value) {
                        _ if key != other => false,
                        (Self::Null(null), Json::Null) => *null == Null::Absent,
                        (node, value) => node.equals(value)?,
                    };
                    if !same {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    pub(super) fn check_depth(&self, most: usize, work: &mut Work) -> Result<(), Error> {
        work.steps(1)?;
        let too_deep = || Error::Rejected("the patch makes the object too deep".to_owned());
        match self {
            Self::Array(items) => {
                let most = most.checked_sub(1).ok_or_else(too_deep)?;
                items.iter().try_for_each(|item| item.check_depth(most, work))
            }
            Self::Object(entries) => {
                let most = most.checked_sub(1).ok_or_else(too_deep)?;
                entries.iter().try_for_each(|(_, value)| value.check_depth(most, work))
            }
            _ => Ok(()),
        }
    }
}
