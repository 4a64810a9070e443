//! Whether what an allowed request would do is acceptable. Pure, like authorization.
//!
//! [`Admitted`] is the proof that it is. Only [`admit`] makes one, only from an [`Authorized`], and
//! `upstream::forward` takes nothing else: a request that skipped a check cannot be sent.

use crate::{
    authorizer::Authorized,
    body::{Body, BodyError},
    caller::Caller,
    rejection::Rejection,
    request::Head,
};

/// What the request would do upstream.
#[derive(Debug)]
pub struct Intent {
    pub operation: Operation,
    pub body: Body,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Stop speaking HTTP and pass bytes both ways.
    Connect,
    Read,
    Write,
}

/// A request that may be forwarded, with exactly the head and body that were judged.
///
/// It cannot be made by hand:
///
/// ```compile_fail,E0451
/// # use scopegate::{admission::Admitted, authorizer::Authorized, body::Body};
/// fn forge(authorized: Authorized) -> Admitted {
///     Admitted { authorized, body: Body::default() }
/// }
/// ```
#[derive(Debug)]
pub struct Admitted {
    authorized: Authorized,
    body: Body,
}

/// What nodes write is judged by upstream's own NodeRestriction, which knows the caller; where it would not, the authorizer
/// has refused the write. So there is no rule here yet.
pub fn admit(authorized: Authorized, intent: Intent) -> Result<Admitted, Rejection> {
    Ok(Admitted {
        authorized,
        body: intent.body,
    })
}

impl Admitted {
    pub fn caller(&self) -> &Caller {
        self.authorized.caller()
    }

    pub fn head(&self) -> &Head {
        self.authorized.head()
    }

    /// The body, given up: an admitted request is sent once.
    pub fn into_body(self) -> Body {
        self.body
    }
}

/// It was the client that broke the request.
impl From<BodyError> for Rejection {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Broken => Self::bad_request("the request body could not be read"),
            BodyError::Slow(_) => Self::request_timeout(error.to_string()),
            BodyError::TooLarge(limit) => Self::too_large(limit),
        }
    }
}
