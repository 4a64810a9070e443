//! The headers upstream gets, and those the client gets back.
//!
//! Only headers on a short list are taken over from the client. A list of what to drop would have to know every
//! name that upstream may be configured to believe; this one need not.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{
        ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH,
        PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
    },
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Identity;
use crate::caller::User;

/// A user that cannot be told to upstream without becoming another one.
#[derive(Debug, thiserror::Error)]
#[error("{what} {value:?} of user {user:?} cannot be sent in a header")]
pub(super) struct UnencodableUser {
    user: String,
    what: &'static str,
    value: String,
}

static FORWARDED: [HeaderName; 9] = [
    ACCEPT,
    ACCEPT_ENCODING,
    CACHE_CONTROL,
    CONTENT_TYPE,
    IF_MODIFIED_SINCE,
    IF_NONE_MATCH,
    USER_AGENT,
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
];

/// Meant for one connection, not for the other side of a proxy.
static HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Bytes that stand for themselves in a header name; the key of an extra is percent-encoded otherwise.
const EXTRA_KEY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// What upstream gets: the client's headers that concern the answer, then who the caller is. The client's own list of
/// hop-by-hop headers is applied before the identity is added, so it cannot name the identity away.
pub(super) fn request(client: &HeaderMap, user: &User, identity: Identity) -> Result<HeaderMap, UnencodableUser> {
    let mut headers = HeaderMap::with_capacity(FORWARDED.len() + 4);
    for name in &FORWARDED {
        for value in client.get_all(name) {
            headers.append(name, value.clone());
        }
    }
    for name in connection_tokens(client) {
        headers.remove(name);
    }
    let names = match identity {
        Identity::FrontProxy { uid } => Names {
            user: HeaderName::from_static("x-remote-user"),
            group: HeaderName::from_static("x-remote-group"),
            uid: uid.then(|| HeaderName::from_static("x-remote-uid")),
            extra: "x-remote-extra-",
        },
        Identity::Impersonate => Names {
            user: HeaderName::from_static("impersonate-user"),
            group: HeaderName::from_static("impersonate-group"),
            uid: Some(HeaderName::from_static("impersonate-uid")),
            extra: "impersonate-extra-",
        },
        Identity::Own => return Ok(headers),
    };
    names.add(user, &mut headers)?;
    Ok(headers)
}

/// Drops what was meant for the connection to upstream alone.
pub(super) fn response(headers: &mut HeaderMap) {
    for name in connection_tokens(headers) {
        headers.remove(name);
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

/// The header names that a `Connection` header declares hop-by-hop.
fn connection_tokens(headers: &HeaderMap) -> Vec<HeaderName> {
    headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|token| token.trim().parse().ok())
        .collect()
}

/// Under which names a user travels.
struct Names {
    user: HeaderName,
    group: HeaderName,
    uid: Option<HeaderName>,
    extra: &'static str,
}

impl Names {
    fn add(&self, user: &User, headers: &mut HeaderMap) -> Result<(), UnencodableUser> {
        let unencodable = |what, value: &str| UnencodableUser {
            user: user.name.clone(),
            what,
            value: value.to_owned(),
        };
        let encode = |what, value: &str| header_value(value).ok_or_else(|| unencodable(what, value));
        headers.append(&self.user, encode("name", &user.name)?);
        for group in &user.groups {
            headers.append(&self.group, encode("group", group)?);
        }
        if let (Some(name), Some(uid)) = (&self.uid, &user.uid) {
            headers.append(name, encode("uid", uid)?);
        }
        for (key, values) in &user.extra {
            let escaped = utf8_percent_encode(key, EXTRA_KEY).to_string().to_ascii_lowercase();
            let name =
                HeaderName::try_from(format!("{}{escaped}", self.extra)).map_err(|_| unencodable("extra key", key))?;
            for value in values {
                headers.append(&name, encode("extra value", value)?);
            }
        }
        Ok(())
    }
}

/// A header value that the other side reads as exactly this string: readers trim white space and skip what is empty.
fn header_value(value: &str) -> Option<HeaderValue> {
    let whole = !value.is_empty() && value.trim() == value && !value.contains(char::is_control);
    HeaderValue::from_bytes(value.as_bytes()).ok().filter(|_| whole)
}

#[cfg(test)]
mod tests;
