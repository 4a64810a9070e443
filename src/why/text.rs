//! Answers as text: a line that says it, then what it rests on.

use std::fmt;

use crate::api::printable;

/// Lines of a report, each below a heading of its own or of the line before.
#[derive(Debug, Default)]
pub(super) struct Report {
    lines: Vec<(&'static str, String)>,
}

/// Wide enough for every heading.
const HEADING: usize = 9;

impl Report {
    pub(super) fn line(&mut self, heading: &'static str, text: impl Into<String>) {
        self.lines.push((heading, text.into()));
    }

    /// The heading stands before the first.
    pub(super) fn lines<'a>(&mut self, heading: &'static str, lines: impl IntoIterator<Item = &'a String>) {
        let mut heading = heading;
        for line in lines {
            self.line(std::mem::take(&mut heading), line);
        }
    }

    pub(super) fn into_lines(self) -> Vec<(&'static str, String)> {
        self.lines
    }

    /// Names can be whatever somebody wrote into a pod: what would steer a terminal is shown and not sent.
    pub(super) fn write(&self, verdict: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", printable(verdict))?;
        for (heading, text) in &self.lines {
            let width = HEADING;
            writeln!(f, "  {heading:<width$} {}", printable(text))?;
        }
        Ok(())
    }
}
