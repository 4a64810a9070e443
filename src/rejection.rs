//! Every way a request ends in the gate instead of upstream.
//!
//! A rejection keeps apart what the client reads, what the log says, and whose fault it was. `reply` turns
//! it into a response; nothing else does.

use std::{borrow::Cow, fmt};

use http::StatusCode;

use crate::{
    api::{GroupResource, clip, quote},
    rules::Rule,
};

/// Whose fault it was; decides how loud the log is about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    Client,
    Gate,
    Upstream,
}

/// `details` of a `metav1.Status`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Details {
    pub name: String,
    pub group: String,
    pub kind: String,
    pub causes: Vec<Cause>,
}

/// What is wrong with which field; an entry of `details.causes`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cause {
    /// A word of Kubernetes'.
    pub reason: &'static str,
    pub message: String,
    pub field: String,
}

/// The end of a request that upstream will not see, or did not answer.
#[derive(Clone, Debug)]
pub struct Rejection {
    pub code: StatusCode,
    /// `reason` of the Status, a machine-readable word; empty where Kubernetes has none for the code.
    pub reason: &'static str,
    /// `message` of the Status, for the client.
    pub message: Cow<'static, str>,
    pub details: Option<Box<Details>>,
    pub retry_after: Option<u32>,
    /// What the log says beyond the message; never sent to the client.
    pub log: Option<String>,
    pub fault: Fault,
    /// The rule that refused the request, where one did.
    pub rule: Option<Rule>,
}

/// Longer than any message has to be.
const MAX_MESSAGE: usize = 8 * 1024;
/// Nothing in Kubernetes has a longer name.
const MAX_NAME: usize = 253;

impl Cause {
    pub fn forbidden(field: impl Into<String>, why: &str) -> Self {
        Self {
            reason: "FieldValueForbidden",
            message: format!("Forbidden: {why}"),
            field: field.into(),
        }
    }

    pub fn invalid(field: impl Into<String>, value: &str, why: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {}: {why}", quote(value)),
            field: field.into(),
        }
    }
}

impl Details {
    pub fn of(resource: &GroupResource, name: &str) -> Self {
        Self {
            name: clip(name, MAX_NAME),
            group: resource.group.clone(),
            kind: resource.resource.clone(),
            causes: Vec::new(),
        }
    }
}

impl Rejection {
    /// 400: the request cannot be read, or could be read in two ways.
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::client(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 401: no usable credential. The client is not told which check failed; the log is.
    pub fn unauthorized(log: impl Into<String>) -> Self {
        Self {
            log: Some(log.into()),
            ..Self::client(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
        }
    }

    /// 403, worded by the authorizer.
    pub fn forbidden(message: String, details: Details) -> Self {
        Self {
            details: Some(Box::new(details)),
            ..Self::client(StatusCode::FORBIDDEN, "Forbidden", message)
        }
    }

    /// 403 in the middle of a request.
    pub fn stopped(message: impl Into<Cow<'static, str>>) -> Self {
        Self::client(StatusCode::FORBIDDEN, "Forbidden", message)
    }

    /// 404: there is no such object.
    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} not found", quote(name));
        Self {
            details: Some(Box::new(Details::of(resource, name))),
            ..Self::client(StatusCode::NOT_FOUND, "NotFound", message)
        }
    }

    /// 405: Kubernetes has nothing at this place that could be written so.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self {
            details: Some(Box::default()),
            ..Self::client(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
        }
    }

    /// 409: the object is not the one, or not the version, that the client means.
    pub fn conflict(resource: &GroupResource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} {}: {why}", quote(name));
        Self {
            details: Some(Box::new(Details::of(resource, name))),
            ..Self::client(StatusCode::CONFLICT, "Conflict", message)
        }
    }

    /// 409: what is to be created is there.
    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} already exists", quote(name));
        Self {
            details: Some(Box::new(Details::of(resource, name))),
            ..Self::client(StatusCode::CONFLICT, "AlreadyExists", message)
        }
    }

    /// 408: the client did not send what it had announced.
    pub fn request_timeout(message: String) -> Self {
        Self::client(StatusCode::REQUEST_TIMEOUT, "Timeout", message)
    }

    /// 413: the body is over the limit kube-apiserver has too.
    pub fn too_large(limit: u64) -> Self {
        Self::client(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            format!("Request entity too large: limit is {limit}"),
        )
    }

    /// 413: it would become too large, or cost too much.
    pub fn entity_too_large(why: impl fmt::Display) -> Self {
        let message = format!("Request entity too large: {why}");
        Self::client(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
    }

    /// 415: these are the forms that are understood.
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::client(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    }

    /// 422: a patch cannot be applied.
    pub fn unprocessable(why: impl Into<String>) -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self {
            log: Some(why.into()),
            details: Some(Box::default()),
            ..Self::client(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
        }
    }

    /// 422: a field of the object may not be so, as was found once or several times.
    pub fn invalid(kind: &str, name: &str, mut cause: Cause, times: usize) -> Self {
        cause.message = clip(&cause.message, MAX_MESSAGE);
        let message = format!("{kind} {} is invalid: {}: {}", quote(name), cause.field, cause.message);
        let details = Details {
            name: name.to_owned(),
            group: String::new(),
            kind: kind.to_owned(),
            causes: vec![cause; times],
        };
        Self {
            details: Some(Box::new(details)),
            ..Self::client(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
        }
    }

    /// 500 where kube-apiserver has an error without a type: the client is to blame, and may try again.
    pub fn untyped(message: impl Into<Cow<'static, str>>) -> Self {
        Self::client(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    /// What is put on record of it: not the details, and so many characters of each text.
    pub fn recorded(&self, most: usize) -> Self {
        Self {
            message: match &self.message {
                Cow::Borrowed(message) => Cow::Borrowed(*message),
                Cow::Owned(message) => Cow::Owned(clip(message, most)),
            },
            details: None,
            log: self.log.as_deref().map(|log| clip(log, most)),
            ..*self
        }
    }

    /// 429: worth trying again in a moment.
    pub fn too_many_requests(log: impl Into<String>) -> Self {
        let message = "the server has received too many requests and has asked us to try again later";
        Self {
            retry_after: Some(1),
            log: Some(log.into()),
            ..Self::client(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message)
        }
    }

    /// 500: a defect of the gate. The client gets no detail.
    pub fn internal(log: impl Into<String>) -> Self {
        Self {
            log: Some(log.into()),
            fault: Fault::Gate,
            ..Self::client(
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalError",
                "scopegate could not handle this request",
            )
        }
    }

    /// 500: an object that the answer depends on could not be read.
    pub fn failed_lookup(log: impl Into<String>) -> Self {
        Self::upstream(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            "Internal error occurred: an object that this request depends on could not be read",
            log,
        )
    }

    /// 503: the gate does not know enough of the cluster to allow or to refuse this.
    pub fn not_known(log: impl Into<String>) -> Self {
        Self {
            retry_after: Some(1),
            ..Self::upstream(
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "scopegate does not know the state of the cluster well enough to decide this now",
                log,
            )
        }
    }

    /// 503: upstream could not be reached, so nothing was acted on; worth trying again.
    pub fn unreachable(log: impl Into<String>) -> Self {
        Self {
            retry_after: Some(1),
            ..Self::upstream(
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "scopegate cannot reach the API server",
                log,
            )
        }
    }

    /// 502: upstream was reached, but gave no usable answer; it may have acted on the request.
    pub fn bad_gateway(log: impl Into<String>) -> Self {
        let message = "the API server did not give scopegate a usable answer";
        Self::upstream(StatusCode::BAD_GATEWAY, "", message, log)
    }

    /// 504: upstream was reached, but did not begin to answer in time; it may have acted on the request.
    pub fn timeout(log: impl Into<String>) -> Self {
        let message = "the API server did not answer scopegate in time";
        Self::upstream(StatusCode::GATEWAY_TIMEOUT, "Timeout", message, log)
    }

    /// The same, by the word of a rule.
    pub fn by(self, rule: Rule) -> Self {
        Self {
            rule: Some(rule),
            ..self
        }
    }

    /// What a client has sent is not sent back at any length.
    fn client(code: StatusCode, reason: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let mut message = message.into();
        if message.len() > MAX_MESSAGE {
            message = clip(&message, MAX_MESSAGE).into();
        }
        Self {
            code,
            reason,
            message,
            details: None,
            retry_after: None,
            log: None,
            fault: Fault::Client,
            rule: None,
        }
    }

    fn upstream(code: StatusCode, reason: &'static str, message: &'static str, log: impl Into<String>) -> Self {
        Self {
            log: Some(log.into()),
            fault: Fault::Upstream,
            ..Self::client(code, reason, message)
        }
    }
}
