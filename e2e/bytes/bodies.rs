//! Odd bodies and what they are said to be.

use serde_json::json;

use super::{
    case::{Case, Request},
    framing::{REVIEW, REVIEWS},
};
use crate::random::Random;

pub(super) const EVENTS: &str = "/api/v1/namespaces/bytes/events";
const EVENT: &str = "/api/v1/namespaces/bytes/events/e1";
pub(super) const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/by1";
pub(super) const NODE: &str = "/api/v1/nodes/by1";
pub(super) const STATUS: &str = "/api/v1/nodes/by1/status";
pub(super) const ANNOTATION: &str = r#"{"metadata":{"annotations":{"a":"b"}}}"#;

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";

const TYPES: &[&str] = &[
    "",
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    "application/json; charset=\"utf-8\"",
    "application/json;",
    "application/json;;",
    "application/json; a",
    "application/json;a=b;a=c",
    "application/json, application/yaml",
    " application/json ",
    "application / json",
    "application/json\u{e9}",
    "application/yaml",
    "text/yaml",
    "application/cbor",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf;type=x",
    "application/merge-patch+json",
    "application/merge-patch+json;charset=utf-8",
    "application/Merge-Patch+json",
    "application/strategic-merge-patch+json",
    "application/strategic-merge-patch+json;a",
    "application/json-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
    "application/apply-patch",
    "text/plain",
    "*/*",
    "/",
    "json",
    "multipart/form-data; boundary=a",
    "application/x-www-form-urlencoded",
];

/// Instead of a good body of the kind. `@` is the good one.
const BODIES: &[&[u8]] = &[
    b"@",
    b" \t\r\n@\r\n",
    b"\xef\xbb\xbf@",
    b"\xff\xfe@",
    b"@@",
    b"@\n@",
    b"@\0",
    b"\0@",
    b"@x",
    b"@,",
    b"[@]",
    b"",
    b" ",
    b"{",
    b"{}",
    b"[]",
    b"null",
    b"true",
    b"1",
    b"\"a\"",
    b"{]",
    b"{\"a\":1,}",
    b"{'a':1}",
    b"{a:1}",
    b"// a\n@",
    b"/* a */@",
    b"NaN",
    b"{\"kind\":\"x\"}",
    b"---\na: b\n",
    b"a: b\n",
    b"{\"metadata\":{\"name\":\"by2\"}}",
    b"{\"metadata\":{\"namespace\":\"other\"}}",
    b"{\"metadata\":null}",
    b"{\"metadata\":[]}",
    b"{\"metadata\":\"a\"}",
    b"{\"metadata\":{\"annotations\":{\"a\":\"b\",\"a\":\"c\"}}}",
    b"{\"metadata\":{\"annotations\":{\"a\":\"b\"}},\"metadata\":{\"annotations\":{\"a\":\"b\"}}}",
    b"{\"metadata\":{\"annotations\":{\"a\":\"b\"}},\"Metadata\":{\"annotations\":{\"a\":\"b\"}}}",
    b"{\"metadata\":{\"annotations\":{\"a\":1}}}",
    b"{\"metadata\":{\"annotations\":{\"a\":\"\xff\"}}}",
    b"{\"metadata\":{\"annotations\":{\"a\":\"\\ud800\"}}}",
    b"{\"metadata\":{\"annotations\":{\"a\":\"\\u0000\"}}}",
    b"{\"metadata\":{\"annotations\":{\"a\":\"\n\"}}}",
    b"{\"\\u006detadata\":{\"annotations\":{\"a\":\"b\"}}}",
    b"{\"metadata\":{\"labels\":{\"node-role.kubernetes.io/x\":\"\"}}}",
    b"{\"spec\":{\"taints\":[]}}",
    b"{\"metadata\":{\"uid\":\"x\"}}",
    b"{\"metadata\":{\"resourceVersion\":\"1\"}}",
    b"{\"metadata\":{\"generation\":1e400}}",
    b"{\"metadata\":{\"generation\":1.5}}",
    b"{\"metadata\":{\"generation\":9223372036854775808}}",
    b"[{\"op\":\"add\",\"path\":\"/metadata/annotations/a\",\"value\":\"b\"}]",
    b"[{\"op\":\"test\",\"path\":\"/metadata/name\",\"value\":\"by1\"}]",
    b"[{\"op\":\"test\",\"path\":\"/metadata/name\",\"value\":\"by2\"}]",
    b"[{\"op\":\"Test\",\"path\":\"/metadata/name\"}]",
    b"[{\"op\":\"remove\",\"path\":\"/metadata/none\"}]",
    b"[{\"op\":\"test\",\"path\":\"metadata\",\"value\":1}]",
    b"[{\"op\":\"test\",\"path\":\"/metadata/name\",\"value\":\"by1\",\"op\":\"replace\"}]",
    b"[]",
    b"k8s\0",
    b"k8s\0\x0a\x00",
    b"k8s\0\x0a\x06\x0a\x02v1\x12\x00\x12\x00",
    b"k8s\0\x0a\xff\xff\xff\xff\x0f",
    b"k8s\0\x0a\x2f\x0a\x18authentication.k8s.io/v1\x12\x11SelfSubjectReview\x12\x02\x0a\x00\x1a\x00\x22\x00",
    b"k8s\0\x0a\x2f\x0a\x18authentication.k8s.io/v1\x12\x11SelfSubjectReview\x12\x02\x0a\x00\x1a\x04gzip\x22\x00",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00",
];

/// Method, target, type and body of what is written well.
pub(super) fn good() -> Vec<[String; 4]> {
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"generateName": "e-"}, "reason": "Bytes",
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "by1", "namespace": "bytes"},
    });
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "by1", "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": "by1", "leaseDurationSeconds": 40},
    });
    let access = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": "u", "resourceAttributes": {"verb": "get", "resource": "pods"}},
    });
    let accesses = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let operations = r#"[{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}]"#;
    [
        ["POST", REVIEWS, JSON, REVIEW],
        ["POST", EVENTS, JSON, &event.to_string()],
        ["POST", accesses, JSON, &access.to_string()],
        [
            "PUT",
            EVENT,
            JSON,
            &event.to_string().replace("generateName\":\"e-", "name\":\"e1"),
        ],
        ["PUT", LEASE, JSON, &lease.to_string()],
        ["PATCH", NODE, MERGE_PATCH, ANNOTATION],
        ["PATCH", STATUS, "application/strategic-merge-patch+json", ANNOTATION],
        ["PATCH", STATUS, MERGE_PATCH, ANNOTATION],
        ["PATCH", NODE, "application/json-patch+json", operations],
        ["PATCH", LEASE, MERGE_PATCH, r#"{"spec":{"leaseDurationSeconds":40}}"#],
    ]
    .map(|row| row.map(str::to_owned))
    .to_vec()
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for [method, target, kind, body] in good() {
        for other in TYPES {
            cases.push(request(&method, &target, other, body.as_bytes()).case("types"));
        }
        for odd in BODIES {
            cases.push(request(&method, &target, &kind, &filled(odd, &body)).case("bodies"));
        }
        let deep = |open: &str, close: &str, levels: usize| format!("{}{}", open.repeat(levels), close.repeat(levels));
        for deep in [deep("[", "]", 120), deep("[", "]", 20_000), deep("{\"a\":", "}", 2_000)] {
            let body = format!("{{\"x\":{deep}}}");
            cases.push(request(&method, &target, &kind, body.as_bytes()).case("bodies"));
        }
        for line in ["Content-Encoding: gzip", "Content-Encoding: identity", "Content-MD5: x"] {
            let request = request(&method, &target, &kind, body.as_bytes());
            cases.push(request.line(line).case("bodies"));
        }
    }
    // A body where none is expected.
    for target in ["/version", NODE, "/api/v1/services"] {
        cases.push(request("GET", target, JSON, REVIEW.as_bytes()).case("bodies"));
    }
    cases
}

fn request(method: &str, target: &str, kind: &str, body: &[u8]) -> Request {
    let request = Request::new(method, target);
    let request = if kind.is_empty() {
        request
    } else {
        request.line(format!("Content-Type: {kind}"))
    };
    request.body(body)
}

fn filled(odd: &[u8], good: &str) -> Vec<u8> {
    let pieces: Vec<&[u8]> = odd.split(|byte| *byte == b'@').collect();
    pieces.join(good.as_bytes())
}

/// A write with whatever is said of it and in it.
pub(super) fn written(random: &mut Random) -> Request {
    let rows = good();
    let [method, target, kind, body] = &rows[random.below(rows.len())];
    let kind = if random.one_in(4) { random.pick(TYPES) } else { kind };
    let body = if random.one_in(3) {
        filled(random.pick(BODIES), body)
    } else {
        body.clone().into_bytes()
    };
    request(method, target, kind, &body)
}
