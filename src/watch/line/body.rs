//! The body of an answer: whether it still comes, and whether its lines are whole.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use tokio::time::{Instant, Sleep, sleep};
use tower::BoxError;

use super::{super::state::Own, Answer};

/// Ends with an error when nothing comes for too long, and when a watch has an event that would get lost.
pub(super) struct Body {
    inner: Answer,
    patience: Duration,
    timer: Pin<Box<Sleep>>,
    /// Whose silence it ends, if it is a watch.
    own: Option<Own>,
    lines: Lines,
}

/// An event that kube would pass over in silence, though it may be the end of somebody's rights.
#[derive(Debug, thiserror::Error)]
pub(in crate::watch) enum Garbled {
    #[error("an event breaks off in the middle of its line")]
    BrokenOff,
    #[error("a deletion comes before the end of a streaming list")]
    Deletion,
}

/// Where in a line of JSON the body is.
#[derive(Debug, Default)]
struct Lines {
    depth: u32,
    text: bool,
    escaped: bool,
    /// Whether what there is at the beginning is still being sent. It ends with a bookmark.
    list: bool,
    /// How the line begins, as long as there is a list.
    start: Vec<u8>,
}

/// How these lines begin, the way Go writes them.
const BOOKMARK: &[u8] = b"{\"type\":\"BOOKMARK\"";
const DELETION: &[u8] = b"{\"type\":\"DELETED\"";

impl Body {
    /// `list` says whether it begins with a streaming list.
    pub(super) fn new(inner: Answer, patience: Duration, own: Option<Own>, list: bool) -> Self {
        let lines = Lines {
            list,
            ..Lines::default()
        };
        Self {
            inner,
            patience,
            timer: Box::pin(sleep(patience)),
            own,
            lines,
        }
    }

    /// The same, with less patience for the first of it.
    pub(super) fn first_within(mut self, patience: Duration) -> Self {
        self.timer.as_mut().reset(Instant::now() + patience);
        self
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) else {
            ready!(this.timer.as_mut().poll(context));
            // kube takes it for the end of a watch, and resumes.
            let silence = format!("nothing came for {:?}", this.patience);
            let silence = io::Error::new(io::ErrorKind::UnexpectedEof, silence);
            return Poll::Ready(Some(Err(silence.into())));
        };
        let Some(Ok(frame)) = frame else {
            return Poll::Ready(frame);
        };
        this.timer.as_mut().reset(Instant::now() + this.patience);
        if let Some(own) = &this.own {
            let data = frame.data_ref().map_or(&[] as &[u8], |data| data);
            if let Err(garbled) = this.lines.read(data) {
                return Poll::Ready(Some(Err(garbled.into())));
            }
            own.heard();
        }
        Poll::Ready(Some(Ok(frame)))
    }
}

impl Lines {
    /// Looks at what comes next. Lines must close what they open.
    fn read(&mut self, data: &[u8]) -> Result<(), Garbled> {
        let mut rest = data;
        self.begin(rest);
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            match byte {
                b'\n' if self.text || self.depth > 0 => return Err(Garbled::BrokenOff),
                b'\n' => {
                    self.end()?;
                    self.begin(rest);
                }
                _ if self.escaped => self.escaped = false,
                b'\\' if self.text => self.escaped = true,
                b'"' => self.text = !self.text,
                b'{' | b'[' if !self.text => self.depth = self.depth.saturating_add(1),
                b'}' | b']' if !self.text => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.text && !self.escaped {
                rest = rest.get(plain(rest)..).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Notes how the line begins.
    fn begin(&mut self, rest: &[u8]) {
        if self.list {
            let missing = BOOKMARK.len().saturating_sub(self.start.len());
            let start = rest.iter().take(missing).take_while(|byte| **byte != b'\n');
            self.start.extend(start);
        }
    }

    fn end(&mut self) -> Result<(), Garbled> {
        if self.start.starts_with(DELETION) {
            return Err(Garbled::Deletion);
        }
        self.list &= !self.start.starts_with(BOOKMARK);
        self.start.clear();
        Ok(())
    }
}

/// How much of a text is only that: it comes before what can end the text, or the line. Every byte of every event is looked at
/// here, and most of them are in texts, so that it is eight at a time.
fn plain(text: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    let (eights, few) = text.as_chunks();
    for (eight, at) in eights.iter().zip((0..).step_by(8)) {
        let eight = u64::from_le_bytes(*eight);
        // The upper bit of a byte that is this one, and perhaps of some behind it, of which none before it.
        let is = |byte: u8| {
            let differs = eight ^ (ONES * u64::from(byte));
            differs.wrapping_sub(ONES) & !differs & (ONES << 7)
        };
        let ends = is(b'"') | is(b'\\') | is(b'\n');
        if ends != 0 {
            return at + ends.trailing_zeros() as usize / 8;
        }
    }
    let ends = few.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
    text.len() - few.len() + ends.unwrap_or(few.len())
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    const ADDED: &str = "{\"type\":\"ADDED\",\"object\":{\"a\":[1,{}]}}\n";
    const DELETED: &str = "{\"type\":\"DELETED\",\"object\":{}}\n";
    const MARKED: &str = "{\"type\":\"BOOKMARK\",\"object\":{}}\n";

    #[test_case(&[ADDED, "{}\n"] => true; "whole lines")]
    #[test_case(&["\n\n"] => true; "empty lines")]
    #[test_case(&["{\"a\":\"}\\\"{\\\\\"}\n"] => true; "brackets and quotes in a text")]
    #[test_case(&["{\"a long text, with a \\\" in it, and }\":\"another \\\\\"}\n"] => true; "long texts")]
    #[test_case(&["{\"a long text, with the end of a line in \n it\":1}\n"] => false; "a long text that breaks off")]
    #[test_case(&["{\"type\":\"DELETED\",\"obj"] => true; "a line that goes on")]
    #[test_case(&["{\"type\":\"DELETED\",\"object\":{}\n"] => false; "a missing bracket")]
    #[test_case(&["{\"type\":\"DEL\n"] => false; "a missing quote")]
    #[test_case(&[ADDED, MARKED, ADDED, DELETED] => true; "a deletion after the list")]
    #[test_case(&[ADDED, DELETED, MARKED] => false; "a deletion in the list")]
    fn lines_are_read(lines: &[&str]) -> bool {
        let text = lines.concat();
        let list = || Lines {
            list: true,
            ..Lines::default()
        };
        // Also if every byte comes alone.
        let mut alone = list();
        let alone = text.bytes().all(|byte| alone.read(&[byte]).is_ok());
        assert_eq!(alone, list().read(text.as_bytes()).is_ok());
        alone
    }
}
