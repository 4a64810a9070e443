//! Gardener's answers: `e2e/oracle/gardener`, whose head describes the lines that go to and fro.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    slice, thread,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub(super) struct Gardener {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// What the authorizer says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Decision {
    pub(super) decision: String,
    pub(super) reason: String,
}

/// What the admission handler says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Admitted {
    pub(super) allowed: bool,
    pub(super) code: u16,
    pub(super) message: String,
}

/// What the graph says: whether it has a vertex, and a path from there to a seed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Reach {
    pub(super) vertex: bool,
    pub(super) path: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edges {
    edges: Vec<String>,
}

/// What is said of an event. Some objects end a real admission controller.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    panic: Option<String>,
}

impl Gardener {
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

    /// As many answers as there are questions, which may be very many.
    pub(super) fn answers(&mut self, questions: &[Value]) -> Vec<Value> {
        let Self { stdin, stdout, .. } = self;
        thread::scope(|scope| {
            scope.spawn(|| {
                let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
                stdin.write_all(lines.as_bytes()).unwrap();
            });
            let answers = questions.iter().map(|question| {
                let mut line = String::new();
                stdout.read_line(&mut line).unwrap();
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?} to {question}"))
            });
            answers.collect()
        })
    }

    /// Everything anew: no objects, an empty graph.
    pub(super) fn reset(&mut self) {
        self.tell(&json!({"op": "reset"}));
    }

    pub(super) fn apply(&mut self, object: &Value) {
        self.tell(&json!({"op": "apply", "object": object}));
    }

    pub(super) fn delete(&mut self, object: &Value) {
        self.tell(&json!({"op": "delete", "object": named(object)}));
    }

    /// Who asks for what, in the oracle's words: `user`, `groups`, `verb`, `group`, `resource`, …
    pub(super) fn authorize(&mut self, request: &Value) -> Decision {
        self.ask("authorize", request)
    }

    /// Who writes what: `user`, `groups`, `operation`, `group`, `version`, `resource`, `kind`, `object`, …
    pub(super) fn admit(&mut self, write: &Value) -> Admitted {
        self.ask("admit", write)
    }

    pub(super) fn reach(&mut self, kind: &str, namespace: &str, name: &str, seed: &str) -> Reach {
        let vertex = json!({"kind": kind, "namespace": namespace, "name": name, "seed": seed});
        self.ask("path", &vertex)
    }

    /// All edges, sorted, as `Kind:namespace/name -> Kind:name`.
    pub(super) fn edges(&mut self) -> Vec<String> {
        self.ask::<Edges>("edges", &json!({})).edges
    }

    fn tell(&mut self, question: &Value) {
        let told: Told = self.one(question);
        assert!(told.panic.is_none(), "Gardener panics over {question}: {told:?}");
    }

    fn ask<T: DeserializeOwned>(&mut self, op: &str, question: &Value) -> T {
        let mut question = question.clone();
        question["op"] = json!(op);
        self.one(&question)
    }

    fn one<T: DeserializeOwned>(&mut self, question: &Value) -> T {
        let answer = self.answers(slice::from_ref(question)).remove(0);
        serde_json::from_value(answer).unwrap()
    }
}

impl Drop for Gardener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// So much of an object as tells it from others; the rest may not be what Gardener has.
fn named(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let metadata = match &metadata["namespace"] {
        Value::Null => json!({"name": metadata["name"]}),
        namespace => json!({"namespace": namespace, "name": metadata["name"]}),
    };
    json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": metadata})
}
