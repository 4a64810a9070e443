//! A response body that ends the record of its request when it ends itself.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::{End, Outcome, events::Events};
use crate::upstream::Streaming;

/// What the client reads.
#[derive(Debug)]
pub struct RecordedBody {
    body: Body,
    /// Absent where the record is kept by something else.
    outcome: Option<Box<Outcome>>,
    /// Set once it has to end.
    cut: Option<End>,
}

/// An answer that could not be brought to its end.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("the answer broke off on the way from upstream: {0}")]
    Upstream(#[source] hyper::Error),
    #[error("what had allowed this answer is no longer good")]
    Lapsed,
}

#[derive(Debug)]
pub(super) enum Body {
    /// Of the gate itself.
    Own(Full<Bytes>),
    /// Streamed through, never buffered.
    Upstream(Streaming, Events),
}

impl RecordedBody {
    pub(super) fn new(body: Body, outcome: Box<Outcome>) -> Self {
        Self {
            body,
            outcome: Some(outcome),
            cut: None,
        }
    }

    pub(super) fn nothing() -> Self {
        Self {
            body: Body::from(Bytes::new()),
            outcome: None,
            cut: None,
        }
    }

    fn ended(&mut self, end: End) {
        if let Some(outcome) = &mut self.outcome
            && outcome.facts.end == End::ClientGone
        {
            outcome.facts.end = end;
        }
    }

    fn is_unknown(&self) -> bool {
        matches!(&self.body, Body::Upstream(_, events) if events.are_whole().is_none())
    }

    /// Why it has to end now, if it has to.
    fn poll_cut(&mut self, cx: &mut Context<'_>) -> Option<End> {
        if self.cut.is_none() {
            let cut = self.outcome.as_mut()?.cut.as_mut()?;
            self.cut = match Pin::new(cut).poll(cx) {
                Poll::Ready(end) => Some(end.unwrap_or(End::GateStopped)),
                Poll::Pending => None,
            };
        }
        self.cut
    }
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let cut = self.poll_cut(cx);
        let whole = matches!(&self.body, Body::Upstream(_, events) if events.are_whole() == Some(true));
        match cut {
            // Between two events, so that the client reads a watch that is over.
            Some(end @ (End::GateStopped | End::Revoked)) if whole => {
                self.ended(end);
                return Poll::Ready(None);
            }
            Some(end @ (End::Lapsed | End::Quarantined | End::Revoked)) => {
                self.ended(end);
                return Poll::Ready(Some(Err(Broken::Lapsed)));
            }
            _ => {}
        }
        let frame = match &mut self.body {
            Body::Own(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Body::Upstream(body, events) => {
                let frame = Pin::new(body).poll_frame(cx).map_err(Broken::Upstream);
                if let Poll::Ready(Some(Ok(frame))) = &frame {
                    events.pass(frame.data_ref().map_or(&[], |data| data.as_ref()));
                }
                frame
            }
        };
        match (&frame, cut) {
            // In a form that is not known: most likely between two events.
            (Poll::Pending, Some(end)) if self.is_unknown() => {
                self.ended(end);
                return Poll::Ready(None);
            }
            (Poll::Ready(None), _) => self.ended(End::Complete),
            (Poll::Ready(Some(Err(_))), _) => self.ended(End::UpstreamCut),
            (Poll::Ready(Some(Ok(_))) | Poll::Pending, _) => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Body::Own(body) => body.is_end_stream(),
            Body::Upstream(body, _) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Body::Own(body) => body.size_hint(),
            Body::Upstream(body, _) => body.size_hint(),
        }
    }
}

impl Drop for RecordedBody {
    /// The server stops asking once it knows there is no more, and never asks for the body of an answer to HEAD.
    fn drop(&mut self) {
        let asked = self.outcome.as_ref().map(|outcome| &outcome.facts.method);
        if self.is_end_stream() || asked == Some(&http::Method::HEAD) {
            self.ended(End::Complete);
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Own(Full::new(bytes))
    }
}
