//! The bytes of a connection: the other end has to take what is written to it, and is left in good order.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// Fails a write that makes no progress at all for too long: without that, a client that stops reading would hold its
/// connection, and what is meant for it, for ever. And it does not close on a client that is still writing: that would
/// take away from it the answer it has not read yet, which says why.
#[derive(Debug)]
pub struct Stream<T> {
    stream: T,
    limit: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Runs after the last byte was written.
    lingering: Option<Pin<Box<Sleep>>>,
    lingered: usize,
}

/// How long, and how much, a client may go on writing to somebody who has said all he had to say: the rest of the largest
/// body, say.
const LINGER: Duration = Duration::from_millis(500);
const MAX_LINGERING: usize = 4 * 1024 * 1024;

impl<T> Stream<T> {
    pub fn new(stream: T, limit: Duration) -> Self {
        Self {
            stream,
            limit,
            waiting: None,
            lingering: None,
            lingered: 0,
        }
    }

    fn watch<R>(&mut self, written: Poll<io::Result<R>>, cx: &mut Context<'_>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        match waiting.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let why = format!("the client took nothing for {limit:?}");
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Stream<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buffer);
        self.watch(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, buffers);
        self.watch(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
            ready!(self.watch(shut, cx))?;
            self.lingering = Some(Box::pin(sleep(LINGER)));
        }
        let Self {
            stream,
            lingering: Some(until),
            lingered,
            ..
        } = &mut *self
        else {
            return Poll::Ready(Ok(()));
        };
        let mut scratch = [0; 16 * 1024];
        while *lingered < MAX_LINGERING {
            let mut buffer = ReadBuf::new(&mut scratch);
            let read = Pin::new(&mut *stream).poll_read(cx, &mut buffer);
            if until.as_mut().poll(cx).is_ready() {
                break;
            }
            match (ready!(read), buffer.filled().len()) {
                // It has closed, too.
                (Err(_), _) | (Ok(()), 0) => break,
                (Ok(()), more) => *lingered += more,
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        time::Instant,
    };

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_is_given_up() {
        let (near, _far) = duplex(4);
        let began = Instant::now();
        let error = Stream::new(near, LIMIT).write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), LIMIT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_waited_for() {
        let (near, mut far) = duplex(4);
        let read = tokio::spawn(async move {
            for _ in 0..25 {
                sleep(LIMIT - Duration::from_secs(1)).await;
                far.read_exact(&mut [0; 4]).await.unwrap();
            }
        });
        Stream::new(near, LIMIT).write_all(&[0; 100]).await.unwrap();
        read.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_still_writes_can_finish_and_read_the_answer() {
        let (near, mut far) = duplex(4);
        let mut near = Stream::new(near, LIMIT);
        let client = tokio::spawn(async move {
            far.write_all(&[0; 100]).await.unwrap();
            let mut answer = Vec::new();
            far.read_to_end(&mut answer).await.unwrap();
            answer
        });
        near.write_all(b"no").await.unwrap();
        near.shutdown().await.unwrap();
        assert_eq!(client.await.unwrap(), b"no");
    }

    #[tokio::test]
    async fn who_never_stops_writing_is_not_listened_to_for_ever() {
        let (near, mut far) = duplex(4);
        tokio::spawn(async move { while far.write_all(&[0; 4]).await.is_ok() {} });
        let shut = tokio::time::timeout(LIMIT, async { Stream::new(near, LIMIT).shutdown().await });
        shut.await.expect("it is listened to for ever").unwrap();
    }
}
