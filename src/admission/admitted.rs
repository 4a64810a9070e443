//! A request that may be forwarded, and the body that it has on the way there.

use std::sync::Arc;

use bytes::Bytes;
use http::Uri;

use super::{Edit, Found, Tie};
use crate::{
    authorizer::Authorized,
    body::{Body, BodyError, MAX_SETTLED},
    caller::Caller,
    rejection::Rejection,
    request::{Head, Query},
    rules::Rule,
};

/// The body of a request on its way to be judged.
#[derive(Debug)]
pub enum Payload {
    /// All of it, to be looked at.
    Whole(Bytes),
    /// The same, made JSON of YAML, and what it has to say of itself now.
    Made(Bytes, &'static str),
    /// As the client sends it.
    Stream(Body),
}

/// A request that may be forwarded, with exactly the head and body that were judged.
///
/// It cannot be made by hand:
///
/// ```compile_fail,E0451
/// # use std::sync::Arc;
/// # use scopegate::{admission::{Admitted, Tie}, authorizer::Authorized, body::Body};
/// fn forge(authorized: Arc<Authorized>, uri: http::Uri) -> Admitted {
///     Admitted { authorized, uri, body: Body::default(), content_type: None, tie: Tie::None, rehearsal: false, validated: false, found: None }
/// }
/// ```
#[derive(Debug)]
pub struct Admitted {
    authorized: Arc<Authorized>,
    uri: Uri,
    body: Body,
    content_type: Option<&'static str>,
    tie: Tie,
    rehearsal: bool,
    validated: bool,
    found: Option<Box<Found>>,
}

impl Payload {
    /// How many bytes there are to look at.
    pub fn weight(&self) -> usize {
        match self {
            Self::Whole(body) | Self::Made(body, _) => body.len(),
            Self::Stream(_) => 0,
        }
    }

    /// The same to look at; of what streams there is nothing to see.
    pub fn copy(&self) -> Self {
        match self {
            Self::Whole(body) => Self::Whole(body.clone()),
            Self::Made(body, content_type) => Self::Made(body.clone(), content_type),
            Self::Stream(_) => Self::default(),
        }
    }

    /// Larger than anything that nodes write all day.
    pub(super) fn is_large(&self) -> bool {
        self.weight() > MAX_SETTLED
    }

    /// To be sent. What was read whole can be sent again.
    fn take(&mut self) -> Body {
        match self {
            Self::Whole(body) | Self::Made(body, _) => Body::from(body.clone()),
            Self::Stream(body) => std::mem::take(body),
        }
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::Stream(Body::default())
    }
}

impl Admitted {
    pub(super) fn new(authorized: &Arc<Authorized>, payload: &mut Payload, edit: Edit) -> Result<Self, Rejection> {
        let uri = match &edit.query {
            None => authorized.head().uri().clone(),
            Some(more) => with_query(authorized.head().uri(), more)?,
        };
        let body = match edit.body {
            Some(body) => Body::from(Bytes::from(body)),
            None => payload.take(),
        };
        Ok(Self {
            authorized: Arc::clone(authorized),
            uri,
            body,
            content_type: edit.content_type.or(match payload {
                Payload::Made(_, content_type) => Some(*content_type),
                Payload::Whole(_) | Payload::Stream(_) => None,
            }),
            tie: edit.tie,
            rehearsal: false,
            validated: false,
            found: None,
        })
    }

    pub fn caller(&self) -> &Caller {
        self.authorized.caller()
    }

    pub fn head(&self) -> &Head {
        self.authorized.head()
    }

    /// What upstream is asked for; the head says what the client asked for.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// How the body is encoded, if that is another way than the client's.
    pub fn content_type(&self) -> Option<&'static str> {
        self.content_type
    }

    /// Whether the gate has looked at what it makes of validated annotations.
    pub fn is_validated(&self) -> bool {
        self.validated
    }

    /// The rule that allows it, where upstream is to take the gate's word for it.
    pub fn granted_by(&self) -> Option<Rule> {
        self.authorized.granted_by()
    }

    /// What the gate has tied the request to.
    pub fn tie(&self) -> &Tie {
        &self.tie
    }

    /// Whether the answer is for the gate to judge, and not for the client: it has to be the whole object, whatever the client
    /// would like to read.
    pub fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    /// To see what would come of it.
    pub(super) fn rehearsed(self) -> Self {
        Self {
            rehearsal: true,
            ..self
        }
    }

    /// Whether what it makes of validated annotations was looked at.
    pub(super) fn validated(self, validated: bool) -> Self {
        Self { validated, ..self }
    }

    pub(super) fn with(self, found: Found) -> Self {
        let found = (!found.is_nothing()).then(|| Box::new(found));
        Self { found, ..self }
    }

    /// What is to be recorded about it, given up; nothing if that is nothing.
    pub fn take_found(&mut self) -> Option<Box<Found>> {
        self.found.take()
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
            BodyError::Stopped => Self::stopped(error.to_string()),
            BodyError::Slow(_) => Self::request_timeout(error.to_string()),
            BodyError::TooLarge(limit) => Self::too_large(limit),
        }
    }
}

/// The same target with one more parameter.
fn with_query(uri: &Uri, more: &str) -> Result<Uri, Rejection> {
    let pieces = uri.query().map_or(0, |query| query.split('&').count());
    if pieces >= Query::MAX_PIECES {
        // Go would see no parameter at all.
        return Err(Rejection::bad_request("the query has no room for one more parameter"));
    }
    let separator = if uri.query().is_none() { '?' } else { '&' };
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let target = format!("{target}{separator}{more}");
    target
        .parse()
        .map_err(|_| Rejection::internal("a parameter cannot be added to the query"))
}
