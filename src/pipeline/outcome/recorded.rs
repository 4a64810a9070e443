//! A response body that ends the record of its request when it ends itself.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};

use super::{End, Outcome};

/// What the client reads.
#[derive(Debug)]
pub struct RecordedBody {
    body: Body,
    outcome: Outcome,
}

#[derive(Debug)]
pub(super) enum Body {
    /// Of the gate itself.
    Own(Full<Bytes>),
    /// Streamed through, never buffered.
    Upstream(Incoming),
}

impl RecordedBody {
    pub(super) fn new(body: Body, outcome: Outcome) -> Self {
        Self { body, outcome }
    }

    fn ended(&mut self, end: End) {
        if self.outcome.end == End::ClientGone {
            self.outcome.end = end;
        }
    }
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = match &mut self.body {
            Body::Own(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Body::Upstream(body) => Pin::new(body).poll_frame(cx),
        };
        match &frame {
            Poll::Ready(None) => self.ended(End::Complete),
            Poll::Ready(Some(Err(_))) => self.ended(End::UpstreamCut),
            Poll::Ready(Some(Ok(_))) | Poll::Pending => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Body::Own(body) => body.is_end_stream(),
            Body::Upstream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Body::Own(body) => body.size_hint(),
            Body::Upstream(body) => body.size_hint(),
        }
    }
}

impl Drop for RecordedBody {
    /// The server stops asking once it knows there is no more, and never asks for the body of an answer to HEAD.
    fn drop(&mut self) {
        if self.is_end_stream() || self.outcome.method == http::Method::HEAD {
            self.ended(End::Complete);
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Own(Full::new(bytes))
    }
}
