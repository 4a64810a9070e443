//! A log, read line by line.

use std::io::{self, BufRead, Read as _};

use jiff::Timestamp;

use super::Event;

/// Which events are wanted, and what was seen so far.
#[derive(Debug, Default)]
pub struct Log {
    /// Those from this time on.
    pub since: Option<Timestamp>,
    /// Those before this time.
    pub until: Option<Timestamp>,
    /// Those of these nodes, if there are any.
    pub nodes: Vec<String>,
    /// All the events there were.
    pub all: Seen,
    /// Those that were wanted.
    pub wanted: Seen,
    /// Lines that are none.
    pub not_events: u64,
}

/// So many events, and when.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub events: u64,
    pub times: Option<(Timestamp, Timestamp)>,
}

/// No event of a gate is as long.
const MAX_LINE: u64 = 1024 * 1024;

impl Log {
    /// Reads all of it, takes the events that are wanted, and says how many events there were. The order of logs does not matter.
    pub fn read(&mut self, from: impl BufRead, mut take: impl FnMut(&Event<'_>)) -> io::Result<u64> {
        let before = self.all.events;
        each_line(from, |line| {
            if line.is_some_and(<[u8]>::is_empty) {
                return;
            }
            let Some(event) = line.and_then(Event::read) else {
                self.not_events += 1;
                return;
            };
            self.all.note(event.time);
            if self.wants(&event) {
                self.wanted.note(event.time);
                take(&event);
            }
        })?;
        Ok(self.all.events - before)
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        let in_time =
            self.since.is_none_or(|since| event.time >= since) && self.until.is_none_or(|until| event.time < until);
        let named = |node| self.nodes.iter().any(|wanted| wanted == node);
        in_time && (self.nodes.is_empty() || event.node().is_some_and(named))
    }
}

impl Seen {
    fn note(&mut self, time: Timestamp) {
        self.events += 1;
        self.times = match self.times {
            Some((first, last)) => Some((first.min(time), last.max(time))),
            None => Some((time, time)),
        };
    }
}

/// Nothing stands for a line that is too long to be one of ours.
fn each_line(mut from: impl BufRead, mut take: impl FnMut(Option<&[u8]>)) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if line.ends_with(b"\n") || (read as u64) < MAX_LINE {
            take(Some(line.trim_ascii()));
        } else {
            from.skip_until(b'\n')?;
            take(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    #[test]
    fn lines_are_bounded() {
        let long = "x".repeat(3 * 1024 * 1024);
        let log = format!("a\n\n{long}\n b \r\n{long}");
        let mut lines = Vec::new();
        super::each_line(BufReader::new(log.as_bytes()), |line| {
            lines.push(line.map(|line| String::from_utf8(line.to_vec()).unwrap()));
        })
        .unwrap();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(lines, [some("a"), some(""), None, some("b"), None]);
    }
}
