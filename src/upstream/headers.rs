//! The headers upstream gets, and those the client gets back.
//!
//! Only headers on a short list are taken over from the client. A list of what to drop would have to know every
//! name that upstream may be configured to believe; this one need not.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{
        ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, IF_MODIFIED_SINCE,
        IF_NONE_MATCH, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
    },
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Identity;
use crate::{
    api::{accounts, names},
    caller::{Token, User},
    request::Upgrade,
};

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

/// The handshakes of WebSocket, and of SPDY as Kubernetes speaks it.
static FORWARDED_WITH_UPGRADE: [HeaderName; 5] = [
    SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION,
    HeaderName::from_static("x-stream-protocol-version"),
];

/// What a request has on its way upstream, as a rule: a few headers of the client, and who it is.
const CAPACITY: usize = 24;

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

/// Bytes of an extra's key that are percent-encoded in a header name: also capitals, since header names have no case.
const EXTRA_KEY: &AsciiSet = &with_capitals(NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_'));

const fn with_capitals(mut set: AsciiSet) -> AsciiSet {
    let mut capital = b'A';
    while capital <= b'Z' {
        set = set.add(capital);
        capital += 1;
    }
    set
}

/// What upstream gets: the client's headers that concern the answer, then who the caller is. The client's own list of
/// hop-by-hop headers is applied before the identity is added, so it cannot name the identity away.
pub(super) fn request(
    client: &HeaderMap,
    upgrade: Option<Upgrade>,
    user: &User,
    identity: Identity,
) -> Result<HeaderMap, UnencodableUser> {
    let mut headers = of_client(client, upgrade);
    tell(user, identity, &mut headers)?;
    Ok(headers)
}

/// The same for a caller that goes with its own token.
pub(super) fn with_token(
    client: &HeaderMap,
    upgrade: Option<Upgrade>,
    token: &Token,
) -> Result<HeaderMap, UnencodableUser> {
    let mut headers = of_client(client, upgrade);
    let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()));
    let mut value = value.map_err(|_| UnencodableUser {
        user: "with a token".to_owned(),
        what: "token",
        value: String::new(),
    })?;
    value.set_sensitive(true);
    headers.insert(AUTHORIZATION, value);
    Ok(headers)
}

/// Who a user is, and nothing else.
pub(super) fn told(user: &User, identity: Identity) -> Result<HeaderMap, UnencodableUser> {
    let mut headers = HeaderMap::new();
    tell(user, identity, &mut headers)?;
    Ok(headers)
}

fn of_client(client: &HeaderMap, upgrade: Option<Upgrade>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(CAPACITY);
    let upgrades = upgrade.is_some();
    for (name, value) in client {
        if FORWARDED.contains(name) || (upgrades && FORWARDED_WITH_UPGRADE.contains(name)) {
            headers.append(name, value.clone());
        }
    }
    for name in connection_tokens(client) {
        // It says how the body is read, and has been believed already.
        if name != CONTENT_TYPE {
            headers.remove(name);
        }
    }
    let protocol = upgrade.map(|upgrade| match upgrade {
        Upgrade::Spdy => "SPDY/3.1",
        Upgrade::WebSocket => "websocket",
    });
    if let Some(protocol) = protocol {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static(protocol));
        let subprotocols = without_bearer(client);
        headers.remove(SEC_WEBSOCKET_PROTOCOL);
        subprotocols.map(|subprotocols| headers.insert(SEC_WEBSOCKET_PROTOCOL, subprotocols));
    }
    headers
}

/// The subprotocols that are no credentials: browsers, which cannot set headers, put a token there.
fn without_bearer(client: &HeaderMap) -> Option<HeaderValue> {
    let values = client.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    let kept: Vec<&str> = offered
        .map(str::trim)
        .filter(|protocol| !protocol.is_empty() && !is_bearer(protocol))
        .collect();
    let value = HeaderValue::from_str(&kept.join(", ")).ok();
    value.filter(|value| !value.is_empty())
}

/// In any case of letters: what one reader does not take for a credential, another may.
fn is_bearer(protocol: &str) -> bool {
    let start = protocol.get(..names::BEARER_SUBPROTOCOL.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(names::BEARER_SUBPROTOCOL))
}

fn tell(user: &User, identity: Identity, headers: &mut HeaderMap) -> Result<(), UnencodableUser> {
    match Names::of(identity) {
        Some(names) => names.add(user, identity, headers),
        None => Ok(()),
    }
}

/// The groups that upstream does not know by the name. To those of a service account it adds itself whoever is impersonated without
/// groups, and saying them would take a right to each.
fn said_groups(user: &User, identity: Identity) -> &[String] {
    let implied = match (identity, accounts::split(&user.name)) {
        (Identity::Impersonate, Some((namespace, _))) => {
            let [all, of_namespace] = accounts::groups(namespace);
            let own = [all.as_str(), of_namespace.as_str(), names::AUTHENTICATED_GROUP];
            user.groups.len() == own.len() && own.iter().all(|group| user.in_group(group))
        }
        _ => false,
    };
    if implied { &[] } else { &user.groups }
}

/// Tells upstream who acts as the user. Nobody else can: what users themselves have under such a key is not sent.
pub(super) fn actor(actor: &User, identity: Identity, headers: &mut HeaderMap) -> Result<(), UnencodableUser> {
    let Some(name) = Names::of(identity).and_then(|names| names.extra(names::ACTOR_EXTRA)) else {
        return Ok(());
    };
    let value = header_value(&actor.name).ok_or_else(|| UnencodableUser {
        user: actor.name.clone(),
        what: "name",
        value: actor.name.clone(),
    })?;
    headers.insert(name, value);
    Ok(())
}

/// Tells upstream something of the gate's own about the request, as an extra of the user that nobody else can have.
pub(super) fn mark(key: &str, identity: Identity, headers: &mut HeaderMap) {
    if let Some(name) = Names::of(identity).and_then(|names| names.extra(key)) {
        headers.insert(name, HeaderValue::from_static("true"));
    }
}

/// Makes the user a member of a group that only the gate gives. Beside it all others have to be said: upstream adds none by itself
/// to those that are.
pub(super) fn grant(
    group: &str,
    user: &User,
    identity: Identity,
    headers: &mut HeaderMap,
) -> Result<(), UnencodableUser> {
    let Some(names) = Names::of(identity) else {
        return Ok(());
    };
    let implied = if said_groups(user, identity).is_empty() {
        user.groups.as_slice()
    } else {
        &[]
    };
    let implied = implied.iter().filter(|group| !names::is_own_group(group));
    for group in implied.map(String::as_str).chain([group]) {
        let value = header_value(group).ok_or_else(|| UnencodableUser {
            user: user.name.clone(),
            what: "group",
            value: group.to_owned(),
        })?;
        headers.append(&names.group, value);
    }
    Ok(())
}

/// Drops what was meant for the connection to upstream alone.
pub(super) fn response(headers: &mut HeaderMap) {
    // HTTP/2 has none of them.
    if !headers.keys().any(|name| HOP_BY_HOP.contains(name)) {
        return;
    }
    for name in connection_tokens(headers) {
        headers.remove(name);
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

/// The same for an answer that ends HTTP on the connection; saying so is part of it.
pub(super) fn switched(headers: &mut HeaderMap) {
    let upgrade = headers.get(UPGRADE).cloned();
    response(headers);
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    upgrade.map(|upgrade| headers.insert(UPGRADE, upgrade));
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
    uid: HeaderName,
    extra: &'static str,
    /// The extra that every user with a certificate has.
    credential: HeaderName,
}

static FRONT_PROXY: Names = Names {
    user: HeaderName::from_static("x-remote-user"),
    group: HeaderName::from_static("x-remote-group"),
    uid: HeaderName::from_static("x-remote-uid"),
    extra: "x-remote-extra-",
    credential: HeaderName::from_static("x-remote-extra-authentication.kubernetes.io%2fcredential-id"),
};

static IMPERSONATE: Names = Names {
    user: HeaderName::from_static("impersonate-user"),
    group: HeaderName::from_static("impersonate-group"),
    uid: HeaderName::from_static("impersonate-uid"),
    extra: "impersonate-extra-",
    credential: HeaderName::from_static("impersonate-extra-authentication.kubernetes.io%2fcredential-id"),
};

impl Names {
    /// Nothing if upstream is told of nobody.
    fn of(identity: Identity) -> Option<&'static Self> {
        match identity {
            Identity::FrontProxy { .. } => Some(&FRONT_PROXY),
            Identity::Impersonate => Some(&IMPERSONATE),
            Identity::Own => None,
        }
    }

    fn extra(&self, key: &str) -> Option<HeaderName> {
        if key == names::CREDENTIAL_ID_EXTRA {
            return Some(self.credential.clone());
        }
        let escaped = utf8_percent_encode(key, EXTRA_KEY).to_string().to_ascii_lowercase();
        HeaderName::try_from(format!("{}{escaped}", self.extra)).ok()
    }

    fn add(&self, user: &User, identity: Identity, headers: &mut HeaderMap) -> Result<(), UnencodableUser> {
        let unencodable = |what, value: &str| UnencodableUser {
            user: user.name.clone(),
            what,
            value: value.to_owned(),
        };
        let encode = |what, value: &str| header_value(value).ok_or_else(|| unencodable(what, value));
        headers.append(&self.user, encode("name", &user.name)?);
        let groups = said_groups(user, identity).iter();
        for group in groups.filter(|group| !names::is_own_group(group)) {
            headers.append(&self.group, encode("group", group)?);
        }
        let uid = user.uid.as_ref();
        // Where upstream reads none, none is told.
        if let Some(uid) = uid.filter(|_| identity != Identity::FrontProxy { uid: false }) {
            headers.append(&self.uid, encode("uid", uid)?);
        }
        for (key, values) in user.extra.iter().filter(|(key, _)| !names::is_own(key)) {
            let name = self.extra(key).ok_or_else(|| unencodable("extra key", key))?;
            for value in values {
                headers.append(&name, encode("extra value", value)?);
            }
        }
        Ok(())
    }
}

/// A header value that the other side reads as exactly this string: readers trim white space and skip what is empty.
fn header_value(value: &str) -> Option<HeaderValue> {
    let whole = !value.is_empty() && value.trim() == value;
    let control = if value.is_ascii() {
        // Without a way out in the middle, so that many bytes are looked at at a time.
        value.bytes().fold(false, |found, byte| found | byte.is_ascii_control())
    } else {
        value.contains(char::is_control)
    };
    let whole = whole && !control;
    HeaderValue::from_bytes(value.as_bytes()).ok().filter(|_| whole)
}

#[cfg(test)]
mod tests;
