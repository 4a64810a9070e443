//! Findings, one a line, and the exit code they add up to.

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

/// What was found so far; printed as it is found, since some findings take a while.
#[derive(Debug, Default)]
pub(super) struct Report {
    failures: usize,
    warnings: usize,
}

const OK: Style = AnsiColor::Green.on_default();
const WARN: Style = AnsiColor::Yellow.on_default();
const FAIL: Style = AnsiColor::Red.on_default();
const BOLD: Style = Style::new().bold();

impl Report {
    pub(super) fn section(&self, title: &str) {
        anstream::println!("{BOLD}{title}{BOLD:#}");
    }

    pub(super) fn ok(&self, text: impl AsRef<str>) {
        anstream::println!("  {OK}ok{OK:#}    {}", text.as_ref());
    }

    pub(super) fn note(&self, text: impl AsRef<str>) {
        anstream::println!("  -     {}", text.as_ref());
    }

    /// Works, but not as an operator would want it.
    pub(super) fn warn(&mut self, text: impl AsRef<str>) {
        self.warnings += 1;
        anstream::println!("  {WARN}warn{WARN:#}  {}", text.as_ref());
    }

    /// The gate would not work.
    pub(super) fn fail(&mut self, text: impl AsRef<str>) {
        self.failures += 1;
        anstream::println!("  {FAIL}FAIL{FAIL:#}  {}", text.as_ref());
    }

    pub(super) fn finish(self) -> ExitCode {
        anstream::println!("{} failed, {} warned", self.failures, self.warnings);
        match self.failures {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        }
    }
}
