//! Objects in protobuf, as kube-apiserver's own code writes them.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::oracle;

pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Nothing where there is no oracle.
pub(super) fn encode(objects: &[Value]) -> Option<Vec<Vec<u8>>> {
    let mut child = Command::new(oracle::path("protobuf")?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = String::new();
    for object in objects {
        lines += &format!("{}\n", json!({"op": "encode", "object": object}));
    }
    let mut input = child.stdin.take().unwrap();
    // It answers while it reads, and neither may wait for the other.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    let encoded: Vec<Vec<u8>> = answers
        .lines()
        .zip(objects)
        .map(|(line, object)| body(line, object))
        .collect();
    assert_eq!(encoded.len(), objects.len());
    Some(encoded)
}

/// One object.
pub(crate) fn encode_one(object: &Value) -> Option<Vec<u8>> {
    encode(std::slice::from_ref(object))?.pop()
}

fn body(answer: &str, object: &Value) -> Vec<u8> {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let Some(body) = answer["body"].as_str() else {
        panic!("{object} is not encoded: {answer}");
    };
    BASE64_STANDARD.decode(body).unwrap()
}
