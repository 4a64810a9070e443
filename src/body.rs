//! Request bodies on their way upstream.

use http_body_util::combinators::UnsyncBoxBody;

/// A request body, streamed.
pub type Body = UnsyncBoxBody<bytes::Bytes, BodyError>;

/// The client's body broke off, or went past [`MAX_BODY`].
#[derive(Debug, thiserror::Error)]
#[error("cannot read the request body")]
pub struct BodyError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The most kube-apiserver reads of a request body.
pub const MAX_BODY: u64 = 3 * 1024 * 1024;
