//! The bearer token of a request, if it has one.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{
    HeaderMap,
    header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL, UPGRADE},
};

use crate::{api::names, caller::Token};

/// Credentials that one reader could take for something else than another. For the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Malformed(&'static str);

/// Service account tokens have one to two thousand characters.
const MAX_TOKEN: usize = 16 * 1024;

/// Of the `Authorization` header; else of a WebSocket subprotocol, where browsers put it, which cannot set headers.
pub(super) fn read(headers: &HeaderMap) -> Result<Option<Token>, Malformed> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return of_websocket(headers);
    };
    if values.next().is_some() {
        return Err(Malformed("more than one Authorization header"));
    }
    let value = value
        .to_str()
        .map_err(|_| Malformed("Authorization is not plain ASCII"))?;
    let Some((scheme, token)) = value.split_once(' ') else {
        return Ok(None);
    };
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    plain(token).map(Some)
}

fn of_websocket(headers: &HeaderMap) -> Result<Option<Token>, Malformed> {
    let websocket = headers
        .get(UPGRADE)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    if !websocket {
        return Ok(None);
    }
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    let mut tokens = offered.filter_map(|protocol| protocol.trim().strip_prefix(names::BEARER_SUBPROTOCOL));
    let Some(encoded) = tokens.next() else {
        return Ok(None);
    };
    if tokens.next().is_some() {
        return Err(Malformed("more than one bearer subprotocol"));
    }
    let decoded = URL_SAFE_NO_PAD.decode(encoded).ok();
    let decoded = decoded.and_then(|token| String::from_utf8(token).ok());
    let token = decoded.ok_or(Malformed("the bearer subprotocol is not base64url of a token"))?;
    plain(&token).map(Some)
}

/// The characters of RFC 6750, and no more of them than a token needs.
fn plain(token: &str) -> Result<Token, Malformed> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=:".contains(&byte);
    if token.is_empty() {
        Err(Malformed("the bearer token is empty"))
    } else if token.len() > MAX_TOKEN {
        Err(Malformed("the bearer token is longer than any"))
    } else if !token.bytes().all(known) {
        Err(Malformed("the bearer token has characters that no token has"))
    } else {
        Ok(Token::new(token))
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(&[] => Ok(None); "nothing")]
    #[test_case(&["authorization: Bearer abc"] => Ok(Some("abc".into())); "plain")]
    #[test_case(&["authorization: bEARER abc.d-_~+/="] => Ok(Some("abc.d-_~+/=".into())); "any case of the scheme")]
    #[test_case(&["authorization: Basic YTpi"] => Ok(None); "another scheme")]
    #[test_case(&["authorization: abc"] => Ok(None); "no scheme")]
    #[test_case(&["authorization: Bearer "] => Err("the bearer token is empty"); "empty")]
    #[test_case(&["authorization: Bearer  abc"] => Err("the bearer token has characters that no token has"); "two spaces")]
    #[test_case(&["authorization: Bearer abc def"] => Err("the bearer token has characters that no token has"); "two words")]
    #[test_case(&["authorization: Bearer a,b"] => Err("the bearer token has characters that no token has"); "a list")]
    #[test_case(&["authorization: Bearer a", "authorization: Bearer b"] => Err("more than one Authorization header"); "two headers")]
    #[test_case(&["upgrade: websocket", "sec-websocket-protocol: v4, base64url.bearer.authorization.k8s.io.YWJj"] => Ok(Some("abc".into())); "websocket")]
    #[test_case(&["sec-websocket-protocol: base64url.bearer.authorization.k8s.io.YWJj"] => Ok(None); "no websocket")]
    #[test_case(&["upgrade: websocket", "sec-websocket-protocol: base64url.bearer.authorization.k8s.io.%"] => Err("the bearer subprotocol is not base64url of a token"); "not base64")]
    #[test_case(&["upgrade: websocket", "sec-websocket-protocol: base64url.bearer.authorization.k8s.io."] => Err("the bearer token is empty"); "websocket empty")]
    #[test_case(&["upgrade: websocket", "sec-websocket-protocol: base64url.bearer.authorization.k8s.io.YQ", "sec-websocket-protocol: base64url.bearer.authorization.k8s.io.Yg"] => Err("more than one bearer subprotocol"); "websocket twice")]
    fn bearer(lines: &[&str]) -> Result<Option<String>, &'static str> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines.iter().filter_map(|line| line.split_once(": ")) {
            let name: http::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        let token = read(&headers).map_err(|error| error.0)?;
        Ok(token.map(|token| token.reveal().to_owned()))
    }

    #[test]
    fn tokens_have_an_end() {
        let value = format!("Bearer {}", "a".repeat(MAX_TOKEN + 1));
        let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
        assert!(read(&headers).is_err());
    }
}
