//! A rejection → the response the client reads.

mod negotiate;
mod protobuf;
mod status;

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Method, Response,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS},
};

pub use self::negotiate::Wishes;
use self::{negotiate::Format, status::Status};
use crate::rejection::Rejection;

/// On every response of the gate, its own and upstream's.
pub const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// A `metav1.Status` with the headers kube-apiserver puts on one.
pub fn rejection(rejection: &Rejection, method: &Method, wishes: Wishes<'_>) -> Response<Bytes> {
    let (status, format) = (Status::from(rejection), Format::of(wishes));
    let body = match format {
        Format::Json => Bytes::from(status.to_json()),
        Format::Pretty => status.to_pretty_json().into(),
        Format::Protobuf => protobuf::encode(&status).into(),
    };
    let length = body.len();
    // Over HTTP/2 nobody else takes the body away.
    let head = *method == Method::HEAD;
    let mut response = Response::new(if head { Bytes::new() } else { body });
    *response.status_mut() = rejection.code;
    let headers = response.headers_mut();
    let content_type = match format {
        Format::Json | Format::Pretty => "application/json",
        Format::Protobuf => "application/vnd.kubernetes.protobuf",
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(seconds) = rejection.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response
}
