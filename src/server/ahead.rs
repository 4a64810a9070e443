//! The bytes of a socket, more of them at a time than are asked for.

use std::{
    cell::RefCell,
    fmt,
    future::poll_fn,
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    task::{coop, unconstrained},
};

/// rustls reads four kibibytes at a time, so that a record of sixteen would be five calls into the kernel. This reads as much as
/// there is, within reason, into a place that all connections of a thread share. What was not asked for yet is kept for as long
/// as nobody asks, `MOST` at most; while little comes, and all of it is asked for, nothing is.
pub struct Ahead {
    socket: TcpStream,
    /// What was read and not asked for.
    rest: Bytes,
}

/// Two records of TLS, and what is left of a third.
const MOST: usize = 36 * 1024;
/// A task may do 128 things at a time, so that it can read 32 KiB.
const UNIT: usize = 256;

thread_local! {
    static SHARED: RefCell<Vec<u8>> = RefCell::new(vec![0; MOST]);
}

impl Ahead {
    pub fn new(socket: TcpStream) -> Self {
        let rest = Bytes::new();
        Self { socket, rest }
    }

    fn poll_more(&mut self, cx: &mut Context<'_>, shared: &mut [u8], asked: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut read = ReadBuf::new(shared);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut read))?;
        let (now, later) = read.filled().split_at(read.filled().len().min(asked.remaining()));
        asked.put_slice(now);
        self.rest = Bytes::copy_from_slice(later);
        charge(now.len(), cx);
        Poll::Ready(Ok(()))
    }

    /// Writing uses up nothing: who reads until his turn is over would never come to write what others wait for. How much there is to
    /// write is bounded by what was read for it.
    fn poll_freely<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let socket = &mut self.socket;
        pin!(unconstrained(poll_fn(|cx| write(Pin::new(socket), cx)))).poll(cx)
    }
}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ahead").field(&self.socket).finish()
    }
}

impl AsyncRead for Ahead {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, asked: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            return SHARED.with_borrow_mut(|shared| self.poll_more(cx, shared, asked));
        }
        let turn = ready!(coop::poll_proceed(cx));
        let now = self.rest.len().min(asked.remaining());
        asked.put_slice(&self.rest.split_to(now));
        if self.rest.is_empty() {
            // Not only used up, but given back.
            self.rest = Bytes::new();
        }
        turn.made_progress();
        charge(now, cx);
        Poll::Ready(Ok(()))
    }
}

/// Uses up what the task may do at a time, by how much has come. tokio counts reads, however large: but a client may fill them with
/// frames that are tiny and mean nothing, each of which is work, on as many connections as it likes, and the thread has others.
fn charge(bytes: usize, cx: &mut Context<'_>) {
    for _ in 0..bytes / UNIT {
        match coop::poll_proceed(cx) {
            Poll::Ready(turn) => turn.made_progress(),
            // All is used up, and the next read waits for another turn.
            Poll::Pending => return,
        }
    }
}

impl AsyncWrite for Ahead {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_freely(cx, |socket, cx| socket.poll_write(cx, buffer))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Nearly always one record. The kernel has a shorter way for one buffer.
        if let [buffer] = buffers {
            return self.poll_write(cx, buffer);
        }
        self.poll_freely(cx, |socket, cx| socket.poll_write_vectored(cx, buffers))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    async fn pair() -> (TcpStream, Ahead) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (far, Ahead::new(listener.accept().await.unwrap().0))
    }

    /// However much is asked for at a time, and however much comes.
    #[tokio::test]
    async fn every_byte_comes_once_and_in_order() {
        let sent: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
        for asked in [1000, 4096, MOST, 2 * MOST] {
            let (mut far, mut near) = pair().await;
            let bytes = sent.clone();
            tokio::spawn(async move { far.write_all(&bytes).await.unwrap() });
            let (mut all, mut piece) = (Vec::new(), vec![0; asked]);
            loop {
                match near.read(&mut piece).await.unwrap() {
                    0 => break,
                    read => all.extend_from_slice(&piece[..read]),
                }
            }
            assert_eq!(all, sent, "{asked} at a time");
        }
    }

    /// A connection does not see what was read for another, and keeps nothing when all is taken.
    #[tokio::test]
    async fn nothing_is_kept_of_what_is_taken_or_belongs_to_others() {
        let ((mut far, mut near), (mut other_far, mut other)) = (pair().await, pair().await);
        far.write_all(&[1; 100]).await.unwrap();
        other_far.write_all(&[2; 10]).await.unwrap();
        let mut piece = [0; 60];
        assert_eq!(near.read(&mut piece).await.unwrap(), 60);
        assert_eq!((piece, near.rest.len()), ([1; 60], 40));
        let mut others = [0; 60];
        assert_eq!(other.read(&mut others).await.unwrap(), 10);
        assert_eq!(
            (&others[..11], other.rest.len()),
            (&[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0][..], 0)
        );
        assert_eq!(near.read(&mut piece).await.unwrap(), 40);
        assert_eq!((&piece[..40], near.rest.len()), (&[1; 40][..], 0));
        drop(far);
        assert_eq!(near.read(&mut piece).await.unwrap(), 0, "and its end is seen");
    }

    /// However it comes, and whether it was read ahead.
    #[test_case(1; "byte by byte")]
    #[test_case(4096; "as rustls asks")]
    #[test_case(2 * MOST; "all at once")]
    #[tokio::test]
    async fn so_much_at_a_time(asked: usize) {
        let (mut far, mut near) = pair().await;
        far.write_all(&[1; 200_000]).await.unwrap();
        near.socket.readable().await.unwrap();
        let (mut read, mut piece) = (0, vec![0; asked]);
        poll_fn(|cx| {
            let mut into = ReadBuf::new(&mut piece);
            while Pin::new(&mut near).poll_read(cx, &mut into).is_ready() {
                read += into.filled().len();
                into.clear();
            }
            Poll::Ready(())
        })
        .await;
        assert!((1..=MOST).contains(&read), "{read} bytes");
        let mut rest = vec![0; 200_000 - read];
        near.read_exact(&mut rest).await.unwrap();
    }

    #[tokio::test]
    async fn who_has_read_all_he_may_can_write() {
        let (mut far, mut near) = pair().await;
        poll_fn(|cx| {
            while pin!(coop::consume_budget()).poll(cx).is_ready() {}
            assert!(
                Pin::new(&mut near)
                    .poll_read(cx, &mut ReadBuf::new(&mut [0]))
                    .is_pending()
            );
            let written = Pin::new(&mut near).poll_write(cx, b"news");
            assert!(matches!(written, Poll::Ready(Ok(4))));
            Poll::Ready(())
        })
        .await;
        let mut news = [0; 4];
        far.read_exact(&mut news).await.unwrap();
        assert_eq!(&news, b"news");
    }
}
