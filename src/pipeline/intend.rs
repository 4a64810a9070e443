//! Works out what an authorized request would do: its operation, and the body it would do it with.

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};

use crate::{
    admission::{Intent, Operation},
    api::Verb,
    authorizer::Authorized,
    body::{Body, BodyError, MAX_BODY},
    rejection::Rejection,
};

/// A read takes no body upstream, whatever the client sent. Any other body streams, up to the size kube-apiserver takes.
pub(super) fn intend(authorized: &Authorized, body: Incoming) -> Result<Intent, Rejection> {
    let head = authorized.head();
    let operation = match head.info().verb {
        _ if head.upgrade().is_some() => Operation::Connect,
        Verb::Get | Verb::List | Verb::Watch => Operation::Read,
        _ => Operation::Write,
    };
    let body = match operation {
        Operation::Connect | Operation::Read => Body::default(),
        Operation::Write => {
            let announced = body.size_hint().lower();
            if announced > MAX_BODY {
                return Err(Rejection::too_large(MAX_BODY));
            }
            let limit = usize::try_from(MAX_BODY).unwrap_or(usize::MAX);
            Limited::new(body, limit).map_err(BodyError).boxed_unsync()
        }
    };
    Ok(Intent { operation, body })
}
