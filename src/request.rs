//! What is asked, read from the head of a request alone: method, path, query and headers.
//!
//! Everything later works on [`Head`]; the raw path and query are forwarded exactly as they were judged.
//! Whatever two readers could read differently is [`Malformed`] and goes no further.

mod creates;
mod headers;
mod info;
mod path;
mod query;
mod selector;
mod wish;

use std::sync::Arc;

use http::{HeaderMap, Method, Uri, request::Parts};

pub use self::{
    headers::Upgrade,
    info::{RequestInfo, ResourceRequest, Target},
    query::Query,
    selector::{FieldOperator, FieldRequirement, LabelOperator, LabelRequirement, Selectors},
    wish::Wish,
};

/// The head of a request, read once. Its parts cannot be changed apart from each other.
#[derive(Debug)]
pub struct Head {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    info: Arc<RequestInfo>,
    wish: Option<Box<Wish>>,
    upgrade: Option<Upgrade>,
}

/// A request head that has no single meaning. The text is for the client.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub(crate) String);

/// Longer than any method that anybody has registered.
const MAX_METHOD: usize = 32;

impl Head {
    pub fn read(parts: Parts) -> Result<Self, Malformed> {
        if parts.method == Method::CONNECT || parts.method.as_str().len() > MAX_METHOD {
            return Err(Malformed("this method has no meaning here".to_owned()));
        }
        if !parts
            .uri
            .path_and_query()
            .is_some_and(|target| target.as_str().starts_with('/'))
        {
            return Err(Malformed("the target has no path".to_owned()));
        }
        headers::unambiguous(&parts.headers)?;
        let query = Query::parse(parts.uri.query().unwrap_or_default())?;
        let info = RequestInfo::read(&parts.method, parts.uri.path(), &query)?;
        let upgrade = Upgrade::read(&parts)?;
        if upgrade.is_some() && !info.is_connection() {
            return Err(Malformed("this resource has no connection to upgrade".to_owned()));
        }
        Ok(Self {
            wish: Wish::read(&parts.headers)?,
            method: parts.method,
            uri: parts.uri,
            headers: parts.headers,
            info: Arc::new(info),
            upgrade,
        })
    }

    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Raw, as the client sent it. Only path and query are ever used.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub fn info(&self) -> &Arc<RequestInfo> {
        &self.info
    }

    /// As whom the client asks to act, if not as itself.
    pub fn wish(&self) -> Option<&Wish> {
        self.wish.as_deref()
    }

    /// A parameter of the query, decoded; of those that are there twice, the first.
    pub fn query(&self, key: &str) -> Option<String> {
        let query = Query::parse(self.uri.query().unwrap_or_default()).ok()?;
        query.get(key).map(str::to_owned)
    }

    /// The segments behind a `proxy` subresource, which are for whoever is behind it.
    pub fn proxied(&self) -> Vec<String> {
        info::behind_subresource(self.uri.path()).unwrap_or_default()
    }

    /// What the client wants to speak instead of HTTP on this connection (exec, attach, port-forward).
    pub fn upgrade(&self) -> Option<Upgrade> {
        self.upgrade
    }
}
