//! Odd headers.

use super::case::{Case, Request};

/// Lines of an ordinary read, one or several.
const LINES: &[&str] = &[
    "Host: other",
    "host: localhost",
    "Host: a b",
    "Host:",
    "X: a\r\n b",
    "X: a\r\n\tb",
    " X: a",
    "X : a",
    "X\t: a",
    "X",
    ": a",
    "X:a",
    "X:\ta\t",
    "X: \u{e9}",
    "X: a\u{1}b",
    "X: a\u{7f}b",
    "X: a\rb",
    "X\u{e9}: a",
    "X(y): a",
    "X: a\0b",
    "X-\u{0}: a",
    "Audit-ID: other",
    "Accept: application/json",
    "Accept: application/yaml",
    "Accept: application/vnd.kubernetes.protobuf",
    "Accept: application/cbor",
    "Accept: text/html",
    "Accept: */*;q=0",
    "Accept: ,,,",
    "Accept:",
    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io",
    "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "Accept: application/json;as=x;v=y;g=z",
    "Accept: text/html\r\nAccept: application/json",
    "Accept: application/json\r\nAccept: text/html",
    "Accept: application/json;stream=watch",
    "Accept-Encoding: gzip",
    "Accept-Encoding: identity;q=0",
    "Accept-Encoding: br, gzip;q=0",
    "If-None-Match: *",
    "If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT",
    "If-Match: x",
    "Range: bytes=0-1",
    "Expect: 100-continue",
    "Expect: x",
    "Connection: close",
    "Connection: keep-alive, X-Remote-User, Impersonate-User,  Authorization",
    "Connection: X-Remote-Group\r\nConnection: x-remote-user",
    "Connection: Audit-ID",
    "Connection: Host",
    "Connection: User-Agent, Content-Length",
    "Connection: ,,",
    "Connection: upgrade",
    "Upgrade: websocket",
    "Connection: upgrade\r\nUpgrade: websocket",
    "Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
    "Connection: upgrade\r\nUpgrade: SPDY/3.1",
    "Keep-Alive: timeout=5",
    "Proxy-Connection: keep-alive",
    "Proxy-Authorization: Basic YTpi",
    "TE: trailers",
    "TE: gzip",
    "Trailer: X-Remote-User",
    "Authorization: Bearer x",
    "Authorization: Bearer ",
    "Authorization: Basic YTpi",
    "Authorization: a\r\nAuthorization: b",
    "X-Remote-User: admin",
    "X-Remote-User: admin\r\nX-Remote-Group: system:masters",
    "x_remote_user: admin\r\nx_remote_group: system:masters",
    "X_Remote-User: admin",
    "X-Remote-Uid: 1",
    "X-Remote-Extra-Scopes: a",
    "X-Remote-Extra-%: a",
    "Impersonate-User: admin",
    "Impersonate-User:",
    "Impersonate-User: system:node:by1",
    "Impersonate-Group: system:masters",
    "Impersonate-Uid: 1",
    "Impersonate-Extra-a: b",
    "Impersonate-Unheard: b",
    "impersonate-user: system:node:by2\r\nimpersonate-group: system:nodes",
    "Impersonate_User: admin",
    "X-Forwarded-For: 192.0.2.1",
    "X-Real-Ip: 192.0.2.1",
    "Forwarded: for=192.0.2.1;host=other",
    "X-Forwarded-Host: other\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Uri: /api/v1/secrets",
    "X-Original-URL: /api/v1/secrets\r\nX-Rewrite-URL: /api/v1/secrets",
    "X-HTTP-Method-Override: DELETE",
    "X-HTTP-Method: DELETE\r\nX-Method-Override: DELETE",
    "X-Envoy-Original-Path: /api/v1/secrets",
    "Content-Type: application/json",
    "Content-Type: a\r\nContent-Type: b",
    "Content-Length: 0",
    "Content-Length: 5\r\n\r\nhello",
    "Transfer-Encoding: chunked\r\n\r\n0\r\n",
    "User-Agent: a/b\r\nUser-Agent: c",
    "User-Agent:",
    "User-Agent: \u{e9}\"\\",
    "Cookie: a=b\r\nCookie: c=d",
    "Origin: http://evil.example.com\r\nAccess-Control-Request-Method: DELETE",
    "Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.YQ",
    "Warning: 299 - \"x\"",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "traceparent: x\r\ntracestate: y",
    "Content-Encoding: gzip",
    "Max-Forwards: 0",
    "Via: 1.0 x",
    "Date: x",
];

const TARGETS: &[&str] = &["/api/v1/nodes/by1", "/version", "/api/v1/namespaces/bytes/secrets/p2"];

/// Whole heads, with the placeholder for the identifier in them.
const HEADS: &[&str] = &[
    "GET /version HTTP/1.0\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.0\r\nHost: localhost\r\nAudit-ID: bytes-????\r\nConnection: keep-alive\r\n\r\n",
    "GET /version HTTP/1.1\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.1\r\nHost: a\r\nHost: a\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.1\nHost: localhost\nAudit-ID: bytes-????\n\n",
    "GET /version HTTP/1.1\r\nHost: localhost\nAudit-ID: bytes-????\r\n\n",
    "\r\nGET /version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "\n\nGET /version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    " GET /version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET  /version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version  HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET\t/version\tHTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.1 \r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.1 x\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version http/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.2\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/2.0\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/0.9\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version\r\n\r\n",
    "GET /version HTTP/1.1\rHost: localhost\rAudit-ID: bytes-????\r\r\n\r\n",
    "GET http://other/version HTTP/1.1\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET http://other/version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET http://a b/version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET http://%zz/version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\n\r\n",
    "GET /version HTTP/1.1\r\nHost: localhost\r\nAudit-ID: bytes-????\r\nAudit-ID: bytes-????\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for target in TARGETS {
        let with = |line: &&str| Request::new("GET", target).line(line).case("headers");
        cases.extend(LINES.iter().map(with));
    }
    for number in [50, 90, 300] {
        let many = (0..number).fold(Request::new("GET", "/version"), |request, at| {
            request.line(format!("X-{at}: a"))
        });
        cases.push(many.case("headers"));
    }
    cases.push(
        Request::new("GET", "/version")
            .line(format!("X: {}", "a".repeat(60_000)))
            .case("headers"),
    );
    cases.extend(HEADS.iter().map(|head| Case::of("heads", head)));
    cases
}

/// A line for a request that is put together.
pub(super) fn line(random: &mut crate::random::Random) -> &'static str {
    random.pick(LINES)
}
