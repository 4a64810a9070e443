//! Odd requests over HTTP/2, frame by frame.

use super::{
    case::{Case, ID},
    framing::{REVIEW, REVIEWS},
};

type Field<'a> = (&'a str, &'a str);

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const GET: [Field<'_>; 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "localhost"),
    (":path", "/version"),
];

/// Instead of one pseudo-header of an ordinary request.
const INSTEAD: &[Field<'_>] = &[
    (":path", "/version"),
    (":path", "/api/v1/nodes/by1"),
    (":path", "/api/v1/namespaces/bytes/secrets/p2"),
    (":path", ""),
    (":path", "version"),
    (":path", "*"),
    (":path", "/version#a"),
    (":path", "/version?a=b#c"),
    (":path", "/version a"),
    (":path", "//version"),
    (":path", "/apis/../version"),
    (":path", "/version%zz"),
    (":path", "https://localhost/version"),
    (":path", "/version\r\nX: y"),
    (":path", "/version\0"),
    (":path", "/versi\u{f3}n"),
    (":method", "get"),
    (":method", "HEAD"),
    (":method", "OPTIONS"),
    (":method", "CONNECT"),
    (":method", "PROPFIND"),
    (":method", ""),
    (":method", "G T"),
    (":scheme", "http"),
    (":scheme", ""),
    (":scheme", "x"),
    (":scheme", "https://other/api/v1/secrets?"),
    (":authority", ""),
    (":authority", "other:1"),
    (":authority", "user:password@other"),
    (":authority", "a b"),
    (":authority", "localhost/api/v1/secrets?"),
];

/// Behind an ordinary request's.
const MORE: &[&[Field<'_>]] = &[
    &[(":path", "/api/v1/secrets")],
    &[(":method", "POST")],
    &[("x", "y"), (":path", "/api/v1/secrets")],
    &[(":protocol", "websocket")],
    &[(":status", "200")],
    &[(":x", "y")],
    &[("host", "other")],
    &[("host", "localhost")],
    &[("host", "a"), ("host", "b")],
    &[("connection", "close")],
    &[("connection", "x-remote-user")],
    &[("upgrade", "websocket")],
    &[("keep-alive", "x")],
    &[("proxy-connection", "x")],
    &[("transfer-encoding", "chunked")],
    &[("te", "gzip")],
    &[("te", "trailers")],
    &[("content-length", "0")],
    &[("content-length", "5")],
    &[("content-length", "x")],
    &[("content-length", "0"), ("content-length", "0")],
    &[("X-Remote-User", "admin")],
    &[("x-remote-user", "admin"), ("x-remote-group", "system:masters")],
    &[("x_remote_user", "admin")],
    &[("impersonate-user", "admin")],
    &[("impersonate-group", "system:masters")],
    &[("authorization", "Bearer x")],
    &[("authorization", "a"), ("authorization", "b")],
    &[("cookie", "a=b"), ("cookie", "c=d")],
    &[("accept", "text/html"), ("accept", "application/json")],
    &[("content-type", "a"), ("content-type", "b")],
    &[("x", "a\r\nimpersonate-user: admin")],
    &[("x", "a\0b")],
    &[("x", " a ")],
    &[("x y", "a")],
    &[("", "a")],
    &[("x:", "a")],
    &[("expect", "100-continue")],
    &[
        ("x-forwarded-uri", "/api/v1/secrets"),
        ("x-original-url", "/api/v1/secrets"),
    ],
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![headers_only(&GET)];
    for instead in INSTEAD {
        let fields = GET.map(|field| if field.0 == instead.0 { *instead } else { field });
        cases.push(headers_only(&fields));
    }
    for missing in GET {
        let fields: Vec<Field<'_>> = GET.into_iter().filter(|field| *field != missing).collect();
        cases.push(headers_only(&fields));
    }
    for more in MORE {
        cases.push(headers_only(&[&GET[..], more].concat()));
    }
    cases.push(headers_only(&[&[("x", "y")], &GET[..]].concat()));
    cases.extend(with_bodies());
    cases
}

/// A review, with what is said of its length, and what comes of it.
fn with_bodies() -> Vec<Case> {
    let post = |length: &str| {
        let mut fields = GET.to_vec();
        fields[0].1 = "POST";
        fields[3].1 = REVIEWS;
        fields.push(("content-type", "application/json"));
        if !length.is_empty() {
            fields.push(("content-length", length));
        }
        headers(1, &fields, false)
    };
    let exact = REVIEW.len().to_string();
    let (shorter, longer) = ((REVIEW.len() - 1).to_string(), (REVIEW.len() + 1).to_string());
    let whole = frame(0, 1, 1, REVIEW.as_bytes());
    let (first, second) = REVIEW.split_at(20);
    let split = [
        frame(0, 0, 1, first.as_bytes()),
        frame(0, 0, 1, b""),
        frame(0, 1, 1, second.as_bytes()),
    ]
    .concat();
    let trailed = |name: &str| {
        let trailers = frame(1, 5, 1, &literal(name, "admin"));
        [frame(0, 0, 1, REVIEW.as_bytes()), trailers].concat()
    };
    let bodies: &[(&str, Vec<u8>)] = &[
        (&exact, whole.clone()),
        ("", whole.clone()),
        (&shorter, whole.clone()),
        (&longer, whole.clone()),
        ("0", whole.clone()),
        ("+5", whole.clone()),
        ("", split.clone()),
        (&exact, split),
        ("", frame(0, 1, 1, b"")),
        ("", trailed("x-remote-user")),
        ("", trailed("impersonate-user")),
        ("", trailed("content-length")),
        ("", trailed(":path")),
        ("", trailed("X")),
    ];
    bodies
        .iter()
        .map(|(length, frames)| {
            let mut made = case(&[post(length), frames.clone()]);
            made.meant = *frames == trailed(":path");
            made
        })
        .collect()
}

fn headers_only(fields: &[Field<'_>]) -> Case {
    let mut made = case(&[headers(1, fields, true)]);
    // A scheme that is none; a user before the host.
    made.meant = fields.iter().any(|field| match *field {
        (":scheme", scheme) => matches!(scheme, "" | "x"),
        (":authority", authority) => authority.contains('@'),
        _ => false,
    });
    if let Some(at) = fields
        .iter()
        .position(|(name, value)| *name == ":path" && value.contains('#'))
    {
        let mut read = fields.to_vec();
        read[at].1 = read[at].1.split('#').next().unwrap();
        made.read = Some(headers_only(&read).bytes);
    }
    made
}

fn case(frames: &[Vec<u8>]) -> Case {
    let settings = frame(4, 0, 0, b"");
    let mut case = Case::of("http2", [PREFACE, &settings, &frames.concat()].concat());
    case.http2 = true;
    case
}

fn headers(stream: u8, fields: &[Field<'_>], ends: bool) -> Vec<u8> {
    let id = ("audit-id", ID);
    let block: Vec<u8> = fields
        .iter()
        .chain([&id])
        .flat_map(|(name, value)| literal(name, value))
        .collect();
    frame(1, 4 | u8::from(ends), stream, &block)
}

/// A field that is in no table.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).unwrap();
    [&[0, length(name)], name.as_bytes(), &[length(value)], value.as_bytes()].concat()
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}
