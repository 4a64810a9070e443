//! Whether what an allowed request would do is acceptable. Pure, like authorization.
//!
//! [`Admitted`] is the proof that it is. Only [`admit`] makes one, only from an [`Authorized`], and
//! `upstream::forward` takes nothing else: a request that skipped a check cannot be sent.

use crate::{authorizer::Authorized, body::Body, caller::Caller, rejection::Rejection, request::Head};

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

/// Nothing a node is authorized to write is stored yet (self reviews are answered and forgotten), so the only rule
/// is about connections that leave HTTP.
pub fn admit(authorized: Authorized, intent: Intent) -> Result<Admitted, Rejection> {
    match intent.operation {
        // After the switch nothing could be judged any more.
        Operation::Connect => Err(Rejection::bad_request(
            "this gate does not carry upgraded connections (exec, attach, port-forward)",
        )),
        Operation::Read | Operation::Write => Ok(Admitted {
            authorized,
            body: intent.body,
        }),
    }
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
