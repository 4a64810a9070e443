//! Answers: JSON responses, and refusals as `metav1.Status`. What is refused, and why, is for the
//! callers to say.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use super::{Body, kinds::Kind, store::Key};

/// A request that was not done.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: StatusCode,
    pub(super) reason: &'static str,
    pub(super) message: String,
    about: Option<(&'static Kind, String)>,
}

impl Refusal {
    pub(super) fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            about: None,
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// A body that was understood and cannot be an object of its kind.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
    }

    /// A path at which nothing is served.
    pub(super) fn no_such_path() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    pub(super) fn not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
    }

    pub(super) fn media_type(message: impl Into<String>) -> Self {
        let code = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Self::new(code, "UnsupportedMediaType", message)
    }

    /// A resource version the stand-in can no longer (or not yet) start a watch from.
    pub(super) fn expired(asked: u64) -> Self {
        let message = format!("resource version {asked} is not in the stand-in's log: list again");
        Self::new(StatusCode::GONE, "Expired", message)
    }

    pub(super) fn not_found(key: &Key) -> Self {
        let message = format!("{} \"{}\" not found", key.kind.qualified(), key.name);
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).about(key)
    }

    pub(super) fn already_exists(key: &Key) -> Self {
        let message = format!("{} \"{}\" already exists", key.kind.qualified(), key.name);
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).about(key)
    }

    pub(super) fn conflict(key: &Key) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please \
             apply your changes to the latest version and try again",
            key.kind.qualified(),
            key.name,
        );
        Self::new(StatusCode::CONFLICT, "Conflict", message).about(key)
    }

    /// The refusal as a `metav1.Status`, also what an ERROR event of a watch carries.
    pub(super) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code.as_u16(),
        });
        if let (Some((kind, name)), Some(status)) = (&self.about, status.as_object_mut()) {
            let details = json!({ "name": name, "group": kind.group, "kind": kind.plural });
            status.insert("details".to_owned(), details);
        }
        status
    }

    pub(super) fn response(&self) -> Response<Body> {
        json_response(self.code, &self.status())
    }

    fn about(self, key: &Key) -> Self {
        Self {
            about: Some((key.kind, key.name.clone())),
            ..self
        }
    }
}

/// A `metav1.Status` that says `key` is gone, with the uid clients wait on.
pub(super) fn deleted(key: &Key, uid: &str) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": key.name,
            "group": key.kind.group,
            "kind": key.kind.plural,
            "uid": uid,
        },
    })
}

/// One JSON document.
pub(super) fn json_response(code: StatusCode, document: &Value) -> Response<Body> {
    response(code, "application/json", full(document.to_string()))
}

/// One line of text, as the health paths answer.
pub(super) fn text_response(text: &'static str) -> Response<Body> {
    response(StatusCode::OK, "text/plain; charset=utf-8", full(text))
}

/// A body under a status code and a media type.
pub(super) fn response(code: StatusCode, media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}
