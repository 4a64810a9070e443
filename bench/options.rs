//! What is asked for on the command line: names of parts, `key=value` for how much of them, and `--write`; and what follows from that.
//!
//! - `rounds=3`: how often everything is measured; the median counts.
//! - `seconds=4`: how long each measurement of requests is.
//! - `skip=0 protocols=2`: which of HTTP/1.1 and HTTP/2.
//! - `nodes=1000 events=50`: of the part `watches`; `handshakes=1000`; `flood=20` (seconds of it).

use crate::load::Protocol;

/// What is usual.
pub(crate) const ROUNDS: usize = 3;
pub(crate) const SECONDS: usize = 4;

/// The parts that were named; none means all of them.
pub(crate) fn parts() -> Vec<String> {
    let words = std::env::args().skip(1);
    words
        .filter(|word| !word.starts_with('-') && !word.contains('='))
        .collect()
}

/// Whether docs/performance.md is to be written anew.
pub(crate) fn writes() -> bool {
    std::env::args().any(|word| word == "--write")
}

pub(crate) fn number(name: &str, usual: usize) -> usize {
    let given = std::env::args().find_map(|word| word.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
    given.map_or(usual, |given| given.parse().expect("a number behind ="))
}

/// Each in turn, unless told otherwise.
pub(crate) fn protocols() -> impl Iterator<Item = Protocol> {
    let both = [Protocol::Http1, Protocol::Http2].into_iter();
    both.skip(number("skip", 0)).take(number("protocols", 2))
}

/// In which order so many take their turns: forth and back.
pub(crate) fn turns(round: usize, of: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..of).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}
