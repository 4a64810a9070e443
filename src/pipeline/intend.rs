//! Takes the body of an authorized request, as much of it as has to be looked at.

use std::sync::Arc;

use hyper::body::Incoming;

use super::{
    shares::{Shares, TakenLarge},
    ward::Ward,
};
use crate::{
    admission::{Look, Payload},
    api::Verb,
    authorizer::Authorized,
    body::{Body, Limits},
    rejection::Rejection,
};

/// A read takes no body upstream, whatever the client sent. What is to be judged is read whole, and of large ones only so many at
/// a time; any other body is waited for, or streams if it is large.
pub(super) async fn intend(
    authorized: &Arc<Authorized>,
    look: Look,
    body: Incoming,
    limits: Limits,
    shares: &Shares,
    ward: &Arc<Ward>,
) -> Result<(Payload, Option<TakenLarge>), Rejection> {
    let head = authorized.head();
    let reads = matches!(head.info().verb, Verb::Get | Verb::List | Verb::Watch);
    if reads || head.upgrade().is_some() {
        return Ok((Payload::Stream(Body::default()), None));
    }
    let body = Body::client(body, limits)?.settled().await?;
    let streams = match look {
        Look::Away | Look::AtHead => true,
        Look::AtSmallBody => !body.is_whole(),
        Look::AtBody => false,
    };
    if streams {
        // What streams is on its way before it is whole, and an operator does not wait for the rest.
        let (authorized, ward) = (Arc::clone(authorized), Arc::clone(ward));
        let body = body.guarded(move || authorized.holds(&ward.current()).is_ok());
        return Ok((Payload::Stream(body), None));
    }
    let large = if body.is_whole() {
        None
    } else {
        Some(shares.take_large(authorized.caller())?)
    };
    Ok((Payload::Whole(body.whole().await?), large))
}
