//! As much of SPDY/3.1 as a kubelet needs. Clients open the streams of a session in a known order, so that the headers of a
//! stream, which are compressed, need not be read to know what it is for.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc::{Receiver, Sender, channel},
};

/// What the other side has said.
#[derive(Debug)]
pub(super) enum Event {
    /// It has opened a stream.
    Opened(u32),
    Data(u32, Vec<u8>),
    /// It has nothing more to say on this stream.
    Ended(u32),
}

/// Says something on streams.
#[derive(Clone)]
pub(super) struct Speaker(Sender<Vec<u8>>);

const CONTROL: u32 = 0x8003_0000;
const SYN_STREAM: u32 = CONTROL | 1;
const SYN_REPLY: u32 = CONTROL | 2;
const RST_STREAM: u32 = CONTROL | 3;
const PING: u32 = CONTROL | 6;
const FIN: u8 = 1;

/// No headers, not compressed: how many there are in a stored block, and an empty one that flushes it.
const NO_HEADERS: [u8; 14] = [0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
/// All headers of a connection are one stream of zlib, which begins so.
const ZLIB: [u8; 2] = [0x78, 0x01];

impl Speaker {
    /// Writes what is said until nobody speaks any more.
    pub(super) async fn start(mut stream: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, mut said): (_, Receiver<Vec<u8>>) = channel(16);
        tokio::spawn(async move {
            while let Some(frame) = said.recv().await {
                if stream.write_all(&frame).await.is_err() {
                    return;
                }
                let _ = stream.flush().await;
            }
            let _ = stream.shutdown().await;
        });
        Self(sender)
    }

    pub(super) async fn say(&self, stream: u32, data: &[u8], last: bool) {
        let _ = self.0.send(data_frame(stream, data, last)).await;
    }

    /// The same for threads that may wait.
    pub(super) fn blocking_say(&self, stream: u32, data: &[u8], last: bool) {
        let _ = self.0.blocking_send(data_frame(stream, data, last));
    }

    async fn control(&self, kind: u32, payload: &[u8]) {
        let _ = self.0.send(frame(kind, 0, payload)).await;
    }
}

/// Answers what SPDY itself wants answered, and hands on the rest until the connection ends.
pub(super) async fn listen(
    mut stream: impl AsyncRead + Unpin,
    speaker: &Speaker,
    events: Sender<Event>,
) -> io::Result<()> {
    let mut replied = false;
    loop {
        let kind = stream.read_u32().await?;
        let length = stream.read_u32().await?;
        let last = (length >> 24) as u8 & FIN != 0;
        let mut payload = vec![0; (length & 0x00ff_ffff) as usize];
        stream.read_exact(&mut payload).await?;
        let id = |payload: &[u8]| u32::from_be_bytes([payload[0], payload[1], payload[2], payload[3]]);
        let (id, event) = match kind {
            SYN_STREAM => {
                let id = id(&payload);
                let mut reply = id.to_be_bytes().to_vec();
                if !std::mem::replace(&mut replied, true) {
                    reply.extend(ZLIB);
                }
                reply.extend(NO_HEADERS);
                speaker.control(SYN_REPLY, &reply).await;
                (id, Event::Opened(id))
            }
            RST_STREAM => (id(&payload), Event::Ended(id(&payload))),
            PING => {
                speaker.control(PING, &payload).await;
                continue;
            }
            id if id & 0x8000_0000 == 0 => (id, Event::Data(id, payload)),
            _ => continue,
        };
        if events.send(event).await.is_err() || last && events.send(Event::Ended(id)).await.is_err() {
            return Ok(());
        }
    }
}

fn data_frame(stream: u32, data: &[u8], last: bool) -> Vec<u8> {
    frame(stream, if last { FIN } else { 0 }, data)
}

fn frame(kind: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap() | u32::from(flags) << 24;
    let mut frame = kind.to_be_bytes().to_vec();
    frame.extend(length.to_be_bytes());
    frame.extend(payload);
    frame
}
