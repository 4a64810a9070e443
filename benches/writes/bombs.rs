//! Bodies that are small to send and meant to be dear to read. They cost no more than any other body of their size that is
//! refused.

use std::time::Instant;

use bytes::Bytes;
use scopegate::patch;
use serde_json::json;

use super::{
    bodies::{self, Body, NODE_STATUS, POD_STATUS},
    gate::Gate,
    measure::allocated,
    refused,
    table::Table,
};

const SIZE: usize = 3 * 1024 * 1024;
const ROUNDS: usize = 5;

pub(super) fn print(gate: &Gate) {
    println!("Bodies of up to three mebibytes that are refused, and what they cost");
    let mut table = Table::new(&[
        "",
        "bytes",
        "answer",
        "judged in",
        "to an ordinary one",
        "allocated, times its size",
    ]);
    let plain = cost(gate, &plain());
    for body in bombs() {
        let (answer, seconds, bytes) = cost(gate, &body);
        table.row(&[
            &body.about,
            &body.bytes.len(),
            &answer,
            &format!("{:.1} ms", seconds * 1e3),
            &format!("{:.2} ×", seconds / plain.1),
            &format!("{:.1} ×", bytes as f64 / body.bytes.len() as f64),
        ]);
    }
    table.print();
}

/// The code of the answer, the seconds of the fastest round, and all that was allocated in one.
fn cost(gate: &Gate, body: &Body) -> (u16, f64, usize) {
    let written = gate.request(body);
    let stored = stored();
    let (mut code, mut fastest, mut bytes) = (0, f64::INFINITY, 0);
    for _ in 0..ROUNDS {
        let before = allocated();
        let began = Instant::now();
        let ruling = gate.judge(&written, Some(&stored));
        fastest = fastest.min(began.elapsed().as_secs_f64());
        bytes = allocated() - before;
        code = ruling.err().map_or(0, |rejection| rejection.code.as_u16());
    }
    (code, fastest, bytes)
}

/// A node with as many annotations as there can be, for patches to shift about.
fn stored() -> Bytes {
    let annotations: serde_json::Map<_, _> = (0..30_000).map(|number| (format!("a{number}"), json!(""))).collect();
    let node = json!({"metadata": {"name": "n1", "uid": "u", "resourceVersion": "1", "annotations": annotations},
        "spec": {}, "status": {"list": vec![0; 30_000]}});
    node.to_string().into()
}

/// A list of images as long as the others, which is refused because the pod is not there.
fn plain() -> Body {
    let mut body = refused();
    body.bytes = bodies::images(SIZE - 1024).into_bytes();
    body
}

fn bombs() -> Vec<Body> {
    let of = |about, text: String| Body {
        about,
        bytes: text.into_bytes(),
        ..refused()
    };
    let json_patch = |about, operations: String| Body {
        content_type: "application/json-patch+json",
        patch: Some(patch::Type::Json),
        target: NODE_STATUS.to_owned(),
        ..of(about, operations)
    };
    let repeated = |piece: &str| piece.repeat((SIZE - 64) / piece.len());
    let aliases = (0..9).map(|level| format!("a{level}: &a{level} [*a{level}, *a{level}]\n"));
    vec![
        plain(),
        of("numbers", format!("{{\"status\":[{}0]}}", repeated("0,"))),
        of("empty lists", format!("{{\"status\":[{}[]]}}", repeated("[],"))),
        of("small objects", format!("{{\"status\":[{}0]}}", repeated("{\"\":0},"))),
        of("many keys", {
            let keys: String = (0..SIZE / 13).map(|number| format!("\"{number:07}\":0,")).collect();
            format!("{{\"status\":{{{keys}\"x\":0}}}}")
        }),
        of(
            "one key many times",
            format!("{{\"status\":{{{}\"a\":0}}}}", repeated("\"a\":0,")),
        ),
        of("deep", "[".repeat(SIZE)),
        of("escapes", format!("{{\"status\":\"{}\"}}", repeated("\\u0041"))),
        json_patch(
            "JSON Patch, operations",
            format!(
                "[{}]",
                vec!["{\"op\":\"test\",\"path\":\"/metadata/labels\"}"; 60_000].join(",")
            ),
        ),
        json_patch("JSON Patch, copies of copies", {
            let copies = (0..9_000).map(|_| "{\"op\":\"copy\",\"from\":\"/metadata\",\"path\":\"/metadata/labels\"}");
            format!("[{}]", copies.collect::<Vec<_>>().join(","))
        }),
        json_patch("JSON Patch, keys in front of many", {
            let adds = (0..9_000).map(|number| {
                format!("{{\"op\":\"add\",\"path\":\"/metadata/annotations/A{number}\",\"value\":\"\"}}")
            });
            format!(
                "[{},{{\"op\":\"remove\",\"path\":\"/spec/taints\"}}]",
                adds.collect::<Vec<_>>().join(",")
            )
        }),
        Body {
            content_type: "application/yaml",
            method: "POST",
            target: "/api/v1/nodes".to_owned(),
            patch: None,
            ..of("YAML aliases", aliases.collect())
        },
        Body {
            content_type: "application/vnd.kubernetes.protobuf",
            method: "PUT",
            target: POD_STATUS.to_owned(),
            patch: None,
            bytes: [
                b"k8s\0".as_slice(),
                &[0x12, 0xff, 0xff, 0xbf, 0x01],
                &[0x0a, 0].repeat(SIZE / 2 - 8),
            ]
            .concat(),
            ..of("protobuf, empty messages", String::new())
        },
    ]
}
