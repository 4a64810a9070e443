//! That the guard can fail, and when it does not.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod stored;

use test_case::test_case;

use self::stored::{Counted, Stored, Verdict};

const FILE: &str = "\
# A comment.
for: x86_64, rustc 1.0

a decision: 1000 ± 2 %
GET, HTTP/1.1: secret: 200000 ± 5 %
";

fn counted(name: &str, instructions: u64) -> Counted {
    Counted {
        name: name.to_owned(),
        instructions,
        tolerance: 3.0,
    }
}

#[test_case("a decision", 1000 => Verdict::Same)]
#[test_case("a decision", 1020 => Verdict::Same; "as much more as it may")]
#[test_case("a decision", 1021 => Verdict::More)]
#[test_case("a decision", 980 => Verdict::Same; "as much less as goes without saying")]
#[test_case("a decision", 979 => Verdict::Less)]
#[test_case("GET, HTTP/1.1: secret", 209_999 => Verdict::Same; "each has a tolerance of its own")]
#[test_case("GET, HTTP/1.1: secret", 210_001 => Verdict::More; "and exceeds it")]
#[test_case("another", 1 => Verdict::Unknown)]
fn verdicts(name: &str, instructions: u64) -> Verdict {
    Stored::read(FILE).unwrap().verdict(&counted(name, instructions))
}

#[test]
fn a_stored_zero_is_exceeded() {
    let stored = Stored::read("a: 0 ± 2 %").unwrap();
    assert_eq!(stored.verdict(&counted("a", 1)), Verdict::More);
}

#[test_case("a decision 1000 ± 2 %"; "no colon")]
#[test_case("a decision: 1000"; "no tolerance")]
#[test_case("a decision: many ± 2 %"; "no number")]
fn what_cannot_be_read_is_no_figure(line: &str) {
    assert!(Stored::read(line).is_err());
}

#[test]
fn storing_keeps_tolerances_and_drops_what_is_no_longer_counted() {
    let new = [counted("a decision", 900), counted("another", 7)];
    let stored = Stored::read(FILE).unwrap().replaced("elsewhere", &new);
    assert_eq!(stored.place, "elsewhere");
    let tolerance = |name| {
        stored
            .figure(name)
            .map(|figure| (figure.instructions, figure.tolerance))
    };
    assert_eq!(tolerance("a decision"), Some((900, 2.0)));
    assert_eq!(tolerance("another"), Some((7, 3.0)));
    assert_eq!(tolerance("GET, HTTP/1.1: secret"), None);
    assert_eq!(Stored::read(&stored.to_string()).unwrap(), stored);
}

/// What is in the repository can be read, and has every line once.
#[test]
fn the_stored_figures_are_figures() {
    let text = include_str!("stored.txt");
    let stored = Stored::read(text).unwrap();
    assert_eq!(stored.to_string(), text);
    assert_ne!(stored.place, "");
}
