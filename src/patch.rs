//! Patches, applied as kube-apiserver applies them: k8s.io/apiserver/pkg/endpoints/handlers/patch.go, 1.36, with
//! apimachinery's strategicpatch and gopkg.in/evanphx/json-patch.v4.
//!
//! What comes out is what the gate judges, so it has to be what is stored. Where upstream's own result is a matter of chance,
//! or where following it would cost far more than anybody needs, the patch is refused.

mod between;
mod json;
mod merge;
mod pin;
mod schema;
mod strategic;
mod text;
mod touch;
mod work;

use self::json::Operation;
use crate::json::{Json, Object};

pub use schema::{
    CRON_JOB, DAEMON_SET, DEPLOYMENT, JOB, NODE, OTHER, PERSISTENT_VOLUME_CLAIM, POD, POD_TEMPLATE, REPLICA_SET,
    REPLICATION_CONTROLLER, STATEFUL_SET, Schema,
};

/// Bytes of a text that quotes the patch.
const MAX_TEXT: usize = 1024;

/// Which of the three, as the content type says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Type {
    /// `application/json-patch+json`
    Json,
    /// `application/merge-patch+json`
    Merge,
    /// `application/strategic-merge-patch+json`
    Strategic,
}

/// A patch that was read once: the same value is looked at, applied and written.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch<'a>(Content<'a>);

/// Why a patch is not applied. The texts are kube-apiserver's where it has one.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// Not a patch of its type: 400.
    #[error("{0}")]
    Malformed(String),
    /// It does not apply: 422.
    #[error("{0}")]
    Rejected(String),
    /// It asks for more than anybody needs: 413.
    #[error("{0}")]
    TooLarge(String),
    /// kube-apiserver fails over it: 500 without a reason.
    #[error("{0}")]
    Untyped(String),
}

#[derive(Clone, Debug, PartialEq)]
enum Content<'a> {
    Json(Vec<Operation<'a>>),
    Merge(Object<'a>),
    Strategic(Object<'a>),
}

impl<'a> Patch<'a> {
    /// All of the bytes as one patch.
    pub fn read(kind: Type, body: &'a [u8]) -> Result<Self, Error> {
        Self::read_any(kind, body).map_err(Error::shortened)
    }

    fn read_any(kind: Type, body: &'a [u8]) -> Result<Self, Error> {
        let body = Json::parse(body).map_err(|error| Error::Malformed(format!("error decoding patch: {error}")))?;
        let content = match (kind, body) {
            (Type::Json, body) => Content::Json(json::read(body)?),
            (Type::Merge, Json::Object(object)) => Content::Merge(object),
            (Type::Merge, Json::Null) => return Err(Error::Malformed("Invalid JSON Patch".to_owned())),
            (Type::Strategic, Json::Object(object)) => Content::Strategic(object),
            // To upstream's reader this is a map that is not there, and so a patch that changes nothing.
            (Type::Strategic, Json::Null) => Content::Strategic(Object::default()),
            (Type::Merge | Type::Strategic, _) => {
                return Err(Error::Malformed("error decoding patch: it is not an object".to_owned()));
            }
        };
        Ok(Self(content))
    }

    /// The object as it would be stored, before defaulting.
    pub fn apply(&self, schema: &Schema, old: Json<'a>) -> Result<Json<'a>, Error> {
        let new = match &self.0 {
            Content::Json(operations) => json::apply(operations, old),
            Content::Merge(patch) => merge::apply(old, patch.clone()),
            Content::Strategic(patch) => strategic::apply(schema, old, patch.clone()),
        };
        new.map_err(Error::shortened)
    }

    /// Whether what comes of it is read as the type that was patched, whatever it says it is.
    pub fn is_typed(&self) -> bool {
        matches!(self.0, Content::Strategic(_))
    }

    /// Its bytes, with the pins.
    pub fn to_vec(&self) -> Vec<u8> {
        match &self.0 {
            Content::Json(operations) => json::to_vec(operations),
            Content::Merge(patch) | Content::Strategic(patch) => Json::Object(patch.clone()).to_vec(),
        }
    }
}

impl Error {
    /// Upstream repeats paths and whole items, which can be as long as the body; answers and log lines should not be.
    fn shortened(mut self) -> Self {
        let (Self::Malformed(text) | Self::Rejected(text) | Self::TooLarge(text) | Self::Untyped(text)) = &mut self;
        if text.len() > MAX_TEXT {
            let end = (0..=MAX_TEXT).rfind(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or_default());
            text.push('…');
        }
        self
    }
}

#[cfg(test)]
mod tests;
