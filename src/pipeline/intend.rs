//! Works out what an authorized request would do: its operation, and the body it would do it with.

use hyper::body::Incoming;

use crate::{
    admission::{Intent, Operation},
    api::Verb,
    authorizer::Authorized,
    body::{Body, Limits},
    rejection::Rejection,
};

/// A read takes no body upstream, whatever the client sent. Any other body is waited for, or streams if it is large.
pub(super) async fn intend(authorized: &Authorized, body: Incoming, limits: Limits) -> Result<Intent, Rejection> {
    let head = authorized.head();
    let operation = match head.info().verb {
        _ if head.upgrade().is_some() => Operation::Connect,
        Verb::Get | Verb::List | Verb::Watch => Operation::Read,
        _ => Operation::Write,
    };
    let body = match operation {
        Operation::Connect | Operation::Read => Body::default(),
        Operation::Write => Body::client(body, limits)?.settled().await?,
    };
    Ok(Intent { operation, body })
}
