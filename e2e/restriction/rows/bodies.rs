//! Bodies that are not what they should be.

use serde_json::json;

use super::{Names, Row, What, compare, row};
use crate::restriction::{JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC, encode::PROTOBUF};

const NAMES: Names = Names {
    namespace: "body-rows",
    nodes: ["br1", "br2"],
};
const NODES: &str = "/api/v1/nodes";
const OWN: &str = "/api/v1/nodes/br1";

#[tokio::test]
async fn bodies_are_read_as_kube_apiserver_does_or_refused() {
    compare(NAMES, rows()).await;
}

fn rows() -> Vec<Row> {
    let post = |name: &str, kind: &'static str, body: &[u8], code, text| {
        row(name, NODES, What::Bytes("POST", kind, body.to_vec()), code, text)
    };
    let patch = |name: &str, kind: &'static str, body: &[u8], code, text| {
        row(name, OWN, What::Bytes("PATCH", kind, body.to_vec()), code, text)
    };
    let node = br#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"br1"}}"#;
    let other = br#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"br2"}}"#;
    let label = br#"{"metadata":{"labels":{"a":"b"}}}"#;
    let many = json!(vec![
        json!({"op": "test", "path": "/metadata/name", "value": "br1"});
        10_001
    ])
    .to_string();
    let large = [&node[..], " ".repeat(3 * 1024 * 1024).as_bytes()].concat();
    let mut tail = node.to_vec();
    tail.extend_from_slice(b" {}");
    vec![
        post(
            "yaml is sent",
            "application/yaml",
            b"apiVersion: v1\nkind: Node\nmetadata: {name: br1}\n",
            409,
            "",
        ),
        post("cbor is sent", "application/cbor", b"\xa0", 415, "unknown format"),
        post("text is sent", "text/plain", node, 415, "unknown format"),
        post("no content type", "", node, 409, "already exists"),
        post(
            "no content type for another node",
            "",
            other,
            403,
            "is not allowed to modify node",
        ),
        post(
            "content type in capitals",
            "APPLICATION/JSON",
            other,
            403,
            "is not allowed to modify node",
        ),
        post(
            "content type with parameters",
            "application/json; charset=utf-8",
            other,
            403,
            "is not allowed to modify node",
        ),
        post("JSON as protobuf", PROTOBUF, node, 400, ""),
        post(
            "protobuf as JSON",
            JSON,
            b"k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node",
            400,
            "",
        ),
        post("nothing as protobuf", PROTOBUF, b"k8s\0", 400, ""),
        post(
            "without kind and version",
            JSON,
            br#"{"metadata":{"name":"br1"}}"#,
            409,
            "already exists",
        ),
        post(
            "another node without kind and version",
            JSON,
            br#"{"metadata":{"name":"br2"}}"#,
            403,
            "is not allowed to modify node",
        ),
        post(
            "another kind",
            JSON,
            br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"br1"}}"#,
            400,
            "",
        ),
        post(
            "another version",
            JSON,
            br#"{"apiVersion":"v2","kind":"Node","metadata":{"name":"br1"}}"#,
            400,
            "",
        ),
        post("a list", JSON, b"[]", 400, ""),
        post("null is sent", JSON, b"null", 403, "is not allowed to modify node"),
        post("nothing", JSON, b"", 400, ""),
        post("something behind it", JSON, &tail, 400, ""),
        post(
            "fields in capitals",
            JSON,
            br#"{"METADATA":{"name":"br1"},"metadata":{"NAME":"br1","name":"br2"}}"#,
            403,
            "br2",
        ),
        post(
            "a key stands twice",
            JSON,
            br#"{"metadata":{"name":"br1"},"metadata":{"labels":{"k8s.io/x":"y"}}}"#,
            403,
            "labels",
        ),
        post(
            "a text is not UTF-8",
            JSON,
            b"{\"metadata\":{\"name\":\"br1\",\"labels\":{\"a\":\"\xff\"}}}",
            422,
            "",
        ),
        post("metadata is a text", JSON, br#"{"metadata":"br1"}"#, 400, ""),
        post(
            "labels are a list",
            JSON,
            br#"{"metadata":{"name":"br1","labels":["k8s.io/x"]}}"#,
            400,
            "",
        ),
        post("one byte too many", JSON, &large, 413, "limit is 3145728"),
        patch("patch as JSON", JSON, label, 415, "Unsupported Media Type"),
        patch(
            "patch as merge patch with parameters",
            "application/merge-patch+json; charset=utf-8",
            label,
            200,
            "",
        ),
        patch("patch in capitals", "application/Merge-patch+json", label, 415, ""),
        patch("patch without type", "", label, 415, ""),
        patch("an object is applied", "application/apply-patch+yaml", label, 422, ""),
        patch(
            "a key stands twice in a patch",
            MERGE_PATCH,
            br#"{"metadata":{"labels":{"a":"b"},"labels":{"k8s.io/x":"b"}}}"#,
            403,
            "",
        ),
        patch("a patch that is a list", MERGE_PATCH, b"[]", 400, ""),
        patch("a patch that is a list, strategic", STRATEGIC, b"[]", 400, ""),
        patch("broken patch", STRATEGIC, br#"{"metadata":"#, 400, ""),
        patch("broken JSON patch", JSON_PATCH, br#"[{"op":"#, 400, ""),
        patch("too many operations", JSON_PATCH, many.as_bytes(), 413, "10000"),
        patch(
            "labels become a list",
            MERGE_PATCH,
            br#"{"metadata":{"labels":["k8s.io/x"]}}"#,
            422,
            "",
        ),
        patch(
            "an unknown field",
            MERGE_PATCH,
            br#"{"spec":{"nothing":{"taints":[]}}}"#,
            200,
            "",
        ),
    ]
}
