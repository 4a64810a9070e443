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
    /// How much of the line is there, and how long it has been like that of a bookmark and of a deletion.
    length: usize,
    bookmark: usize,
    deletion: usize,
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
        for byte in data {
            match byte {
                b'\n' if self.text || self.depth > 0 => return Err(Garbled::BrokenOff),
                b'\n' => self.end()?,
                _ if self.escaped => self.escaped = false,
                b'\\' if self.text => self.escaped = true,
                b'"' => self.text = !self.text,
                b'{' | b'[' if !self.text => self.depth = self.depth.saturating_add(1),
                b'}' | b']' if !self.text => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.list && *byte != b'\n' {
                self.compare(*byte);
            }
        }
        Ok(())
    }

    fn compare(&mut self, byte: u8) {
        let alike = |like: &mut usize, whole: &[u8]| {
            *like += usize::from(*like == self.length && whole.get(self.length) == Some(&byte));
        };
        alike(&mut self.bookmark, BOOKMARK);
        alike(&mut self.deletion, DELETION);
        self.length = self.length.saturating_add(1);
    }

    fn end(&mut self) -> Result<(), Garbled> {
        if self.deletion == DELETION.len() {
            return Err(Garbled::Deletion);
        }
        self.list &= self.bookmark != BOOKMARK.len();
        (self.length, self.bookmark, self.deletion) = (0, 0, 0);
        Ok(())
    }
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
