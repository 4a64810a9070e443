//! Upstream's reading: `e2e/oracle/protobuf`.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    rc::Rc,
    thread,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) struct Oracle {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// A Go type, by its struct tags.
#[derive(Clone)]
pub(super) struct Type {
    messages: Rc<HashMap<String, Vec<Field>>>,
    name: String,
}

#[derive(Clone, Deserialize)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) kind: String,
    #[serde(default)]
    r#type: String,
    /// Whether it tells what is empty from what is not there.
    pub(super) pointer: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    error: Option<String>,
    body: Option<String>,
    object: Option<Value>,
    root: Option<String>,
    messages: Option<HashMap<String, Vec<Field>>>,
}

impl Oracle {
    pub(super) fn start(program: &OsStr) -> Self {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    pub(super) fn root(&mut self, api_version: &str, kind: &str) -> Type {
        let question = json!({"op": "fields", "apiVersion": api_version, "kind": kind});
        let answer = self.ask(&[question]).remove(0);
        Type {
            messages: Rc::new(answer.messages.unwrap()),
            name: answer.root.unwrap(),
        }
    }

    pub(super) fn encode(&mut self, objects: &[Value]) -> Vec<Vec<u8>> {
        let questions: Vec<_> = objects
            .iter()
            .map(|object| json!({"op": "encode", "object": object}))
            .collect();
        let answers = self.ask(&questions).into_iter();
        answers
            .map(|answer| STANDARD.decode(answer.body.unwrap()).unwrap())
            .collect()
    }

    pub(super) fn decode(&mut self, bodies: &[Vec<u8>]) -> Vec<Result<Value, String>> {
        let questions = bodies
            .iter()
            .map(|body| json!({"op": "decode", "body": STANDARD.encode(body)}));
        let answers = self.ask(&questions.collect::<Vec<_>>()).into_iter();
        answers
            .map(|answer| answer.object.ok_or_else(|| answer.error.unwrap()))
            .collect()
    }

    fn ask(&mut self, questions: &[Value]) -> Vec<Line> {
        let Self { stdin, stdout, .. } = self;
        thread::scope(|scope| {
            scope.spawn(|| {
                for question in questions {
                    writeln!(stdin, "{question}").unwrap();
                }
            });
            let answers = questions.iter().map(|_| {
                let mut line = String::new();
                stdout.read_line(&mut line).unwrap();
                serde_json::from_str(&line).unwrap()
            });
            answers.collect()
        })
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Type {
    pub(super) fn fields(&self) -> &[Field] {
        &self.messages[&self.name]
    }

    pub(super) fn field(&self, number: u32) -> Option<&Field> {
        self.fields().iter().find(|field| field.number == number)
    }

    /// The message that a field holds.
    pub(super) fn of(&self, field: &Field) -> Self {
        Self {
            messages: Rc::clone(&self.messages),
            name: field.r#type.clone(),
        }
    }
}
