//! Objects in protobuf, as kube-apiserver's own code writes them, one at a time.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Mutex,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::oracle;

/// Without the oracle nothing is sent as protobuf.
pub(super) struct Encoder(Option<Mutex<Program>>);

struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Encoder {
    pub(super) fn start() -> Self {
        Self(oracle::path("protobuf").map(|program| {
            let mut child = Command::new(program)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let input = child.stdin.take().unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            Mutex::new(Program { child, input, output })
        }))
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Nothing where this is no object that could be written so.
    pub(super) fn encode(&self, object: &Value) -> Option<Vec<u8>> {
        let mut program = self.0.as_ref()?.lock().unwrap();
        let question = json!({"op": "encode", "object": object});
        writeln!(program.input, "{question}").unwrap();
        let mut line = String::new();
        program.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        Some(BASE64_STANDARD.decode(answer["body"].as_str()?).unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
