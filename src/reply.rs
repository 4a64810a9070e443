//! A rejection → the response the client reads.

mod status;

use http::{
    HeaderName, HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS},
};

use self::status::Status;
use crate::{rejection::Rejection, server::Hangup};

/// On every response of the gate, its own and upstream's.
pub const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// A `metav1.Status` with the headers kube-apiserver puts on one.
pub fn rejection<B: From<bytes::Bytes>>(rejection: &Rejection) -> Response<B> {
    let mut response = Response::new(B::from(Status::from(rejection).to_json().into()));
    *response.status_mut() = rejection.code;
    if rejection.code == StatusCode::UNAUTHORIZED {
        // Whoever is nobody holds no connection, as with kube-apiserver.
        response.extensions_mut().insert(Hangup);
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(seconds) = rejection.retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response
}
