//! The headers that decide how a request is read.

use http::{
    HeaderMap, HeaderName, Method, Version,
    header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TRANSFER_ENCODING, UPGRADE},
    request::Parts,
};

use super::Malformed;

/// What a client wants to speak instead of HTTP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Upgrade {
    Spdy,
    WebSocket,
}

impl Upgrade {
    /// What the client wants, if anything. A wish that one reader could see and another not is refused: behind it the
    /// connection is no longer HTTP for one of them.
    pub(super) fn read(parts: &Parts) -> Result<Option<Self>, Malformed> {
        let Parts {
            headers,
            method,
            version,
            ..
        } = parts;
        let refuse = |why: &str| Err(Malformed(why.to_owned()));
        single(headers, &UPGRADE)?;
        let announced = has_token(headers, &CONNECTION, "upgrade");
        let upgrade = match (headers.get(UPGRADE), announced) {
            (None, false) => return Ok(None),
            (None, true) => return refuse("Connection: Upgrade without an Upgrade header"),
            (Some(_), false) => return refuse("an Upgrade header without Connection: Upgrade"),
            (Some(value), true) if value.as_bytes().eq_ignore_ascii_case(b"websocket") => Self::WebSocket,
            (Some(value), true) if value.as_bytes().eq_ignore_ascii_case(b"spdy/3.1") => Self::Spdy,
            (Some(_), true) => return refuse("only websocket and SPDY/3.1 can be upgraded to"),
        };
        let fits = match upgrade {
            Self::Spdy => [Method::GET, Method::POST].contains(method),
            Self::WebSocket => *method == Method::GET,
        };
        let empty = headers.get(CONTENT_LENGTH).is_none_or(|length| length == "0");
        if !fits || *version != Version::HTTP_11 || !empty || headers.contains_key(TRANSFER_ENCODING) {
            return refuse("an upgrade has to be an HTTP/1.1 GET (or POST, for SPDY) without a body");
        }
        Ok(Some(upgrade))
    }

    /// Whether an answer of 101 agrees to this and nothing else.
    pub fn is_agreed(self, headers: &HeaderMap) -> bool {
        let name: &[u8] = match self {
            Self::Spdy => b"spdy/3.1",
            Self::WebSocket => b"websocket",
        };
        let mut values = headers.get_all(UPGRADE).iter();
        let first = values.next();
        first.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(name)) && values.next().is_none()
    }
}

/// What kube-apiserver's HTTP library refuses, or reads in another way than the gate's, which takes any list of encodings that ends
/// with `chunked` and decodes only that one.
pub(super) fn unambiguous(headers: &HeaderMap) -> Result<(), Malformed> {
    for name in [&AUTHORIZATION, &CONTENT_TYPE, &EXPECT, &HOST, &TRANSFER_ENCODING] {
        single(headers, name)?;
    }
    for (name, known) in [(EXPECT, "100-continue"), (TRANSFER_ENCODING, "chunked")] {
        let value = headers.get(&name).map_or(known.as_bytes(), |value| value.as_bytes());
        if !value.eq_ignore_ascii_case(known.as_bytes()) {
            return Err(Malformed(format!("header {name} can only be {known}")));
        }
    }
    Ok(())
}

/// A header that decides how a request is read may appear once: readers differ on which copy counts.
pub(super) fn single(headers: &HeaderMap, name: &HeaderName) -> Result<(), Malformed> {
    match headers.get_all(name).iter().count() {
        0 | 1 => Ok(()),
        n => Err(Malformed(format!("header {name} is given {n} times"))),
    }
}

/// Whether a header that holds a list, over however many lines, has a word in it.
fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter();
    values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use http::Request;
    use test_case::test_case;

    use super::*;

    #[test_case("GET", &[] => "none"; "nothing")]
    #[test_case("GET", &["connection: keep-alive"] => "none"; "keep alive")]
    #[test_case("GET", &["connection: Upgrade", "upgrade: websocket"] => "WebSocket"; "websocket")]
    #[test_case("GET", &["connection: foo,  uPgRaDe", "upgrade: WebSocket"] => "WebSocket"; "any case and a list")]
    #[test_case("GET", &["connection: foo", "connection: upgrade", "upgrade: websocket"] => "WebSocket"; "two lines")]
    #[test_case("POST", &["connection: upgrade", "upgrade: SPDY/3.1"] => "Spdy"; "spdy")]
    #[test_case("POST", &["connection: upgrade", "upgrade: SPDY/3.1", "content-length: 0"] => "Spdy"; "empty body")]
    #[test_case("POST", &["connection: upgrade", "upgrade: websocket"] => "400"; "websocket by POST")]
    #[test_case("PUT", &["connection: upgrade", "upgrade: SPDY/3.1"] => "400"; "spdy by PUT")]
    #[test_case("GET", &["connection: upgrade"] => "400"; "to nothing")]
    #[test_case("GET", &["upgrade: websocket"] => "400"; "not announced")]
    #[test_case("GET", &["connection: upgrades", "upgrade: websocket"] => "400"; "another word")]
    #[test_case("GET", &["connection: upgrade", "upgrade: h2c"] => "400"; "h2c")]
    #[test_case("GET", &["connection: upgrade", "upgrade: websocket, SPDY/3.1"] => "400"; "a list of protocols")]
    #[test_case("GET", &["connection: upgrade", "upgrade: websocket", "upgrade: websocket"] => "400"; "twice")]
    #[test_case("GET", &["connection: upgrade", "upgrade: websocket", "content-length: 5"] => "400"; "with a body")]
    #[test_case("GET", &["connection: upgrade", "upgrade: websocket", "transfer-encoding: chunked"] => "400"; "chunked")]
    fn upgrade(method: &str, lines: &[&str]) -> String {
        let mut request = Request::builder().method(method);
        for (name, value) in lines.iter().filter_map(|line| line.split_once(": ")) {
            request = request.header(name, value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        match Upgrade::read(&parts) {
            Ok(None) => "none".to_owned(),
            Ok(Some(upgrade)) => format!("{upgrade:?}"),
            Err(_) => "400".to_owned(),
        }
    }

    #[test_case(&["host: a", "content-type: b", "authorization: c"] => true; "one of each")]
    #[test_case(&["host: a", "host: a"] => false; "two hosts")]
    #[test_case(&["authorization: a", "authorization: a"] => false; "two credentials")]
    #[test_case(&["content-type: a", "content-type: a"] => false; "two types")]
    #[test_case(&["expect: 100-Continue"] => true; "the usual expectation")]
    #[test_case(&["expect: x"] => false; "another expectation")]
    #[test_case(&["transfer-encoding: Chunked"] => true; "chunked")]
    #[test_case(&["transfer-encoding: gzip, chunked"] => false; "compressed and chunked")]
    #[test_case(&["transfer-encoding: chunked, chunked"] => false; "chunked and chunked")]
    #[test_case(&["transfer-encoding: chunked", "transfer-encoding: chunked"] => false; "chunked twice")]
    #[test_case(&["transfer-encoding: identity"] => false; "identity")]
    fn unambiguous(lines: &[&str]) -> bool {
        let mut request = Request::builder();
        for (name, value) in lines.iter().filter_map(|line| line.split_once(": ")) {
            request = request.header(name, value);
        }
        super::unambiguous(&request.body(()).unwrap().into_parts().0.headers).is_ok()
    }
}
