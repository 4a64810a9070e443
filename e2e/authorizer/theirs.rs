//! Upstream's answers: `e2e/oracle/authorizer`.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Write as _},
    iter,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
};

use serde::Deserialize;

use super::{
    Answer,
    story::{Step, Story},
};

pub(super) struct Oracle {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    decision: Option<String>,
    #[serde(default)]
    reason: String,
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

    /// One answer for each question of the story.
    pub(super) fn answers(&mut self, story: &Story) -> Vec<Answer> {
        let lines = lines(story);
        let Self { stdin, stdout, .. } = self;
        thread::scope(|scope| {
            scope.spawn(|| {
                let text = lines.join("\n") + "\n";
                stdin.write_all(text.as_bytes()).unwrap();
            });
            let answers = lines.iter().filter_map(|_| {
                let mut line = String::new();
                stdout.read_line(&mut line).unwrap();
                answer(serde_json::from_str(&line).unwrap())
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

/// All that the oracle has to be told; it can be piped into it by hand.
pub(super) fn lines(story: &Story) -> Vec<String> {
    let steps = story.steps.iter().flat_map(Step::lines);
    iter::once(story.release.line()).chain(steps).collect()
}

fn answer(line: Line) -> Option<Answer> {
    let decision = line.decision?;
    // There are rules that allow and rules that say nothing, and none that forbid.
    assert_ne!(decision, "deny", "{}", line.reason);
    Some(Answer {
        allowed: decision == "allow",
        reason: line.reason,
    })
}
