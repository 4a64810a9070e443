//! What happens on a connection, as far as it decides how long the connection lives.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Frame, SizeHint};
use tokio::{sync::Notify, time::Instant};

/// An extension of a response that ends HTTP on its connection: what happens there afterwards. It counts as the connection
/// still, in limits, metrics and when the server stops.
#[derive(Clone)]
pub struct Takeover(Arc<Mutex<Option<Rest>>>);

type Rest = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Debug)]
pub(super) struct Life {
    began: Instant,
    /// Requests whose answers have not ended.
    under_way: AtomicUsize,
    /// When a request last began or ended, in milliseconds since the connection began.
    moved: AtomicU64,
    asked: AtomicBool,
    answered: AtomicUsize,
    abandoned: AtomicUsize,
    abused: AtomicBool,
    ending: AtomicBool,
    pub(super) hangup: Notify,
    takeover: Mutex<Option<Takeover>>,
    /// Answers of more than one piece.
    long: Mutex<Vec<Weak<Offered>>>,
}

/// When the last piece of an answer was offered to the client, in milliseconds since the connection began; zero while there
/// is none that it could take. Over HTTP/2 a client decides for every answer by itself whether to take it, and goes on
/// reading from the socket if it does not.
type Offered = AtomicU64;

/// A request until its answer has ended.
#[derive(Debug)]
pub(super) struct Asked {
    life: Arc<Life>,
    answered: bool,
}

/// The body of an answer, which keeps its request counted.
#[derive(Debug)]
pub(super) struct Answered<B> {
    body: B,
    asked: Asked,
    offered: Option<Arc<Offered>>,
}

/// So many requests may be taken back before their answer, and then one for each that was not. A client that makes the
/// server work and then does not want to know (the rapid reset of CVE-2023-44487) has no good reason.
const MAX_ABANDONED: usize = 100;

impl Life {
    pub(super) fn asked(self: &Arc<Self>) -> Asked {
        self.asked.store(true, Ordering::Relaxed);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.moves();
        Asked {
            life: Arc::clone(self),
            answered: false,
        }
    }

    /// Ends the connection when what is under way has finished; nothing more is begun.
    pub(super) fn hang_up(&self) {
        if !self.ending.swap(true, Ordering::Relaxed) {
            self.hangup.notify_one();
        }
    }

    pub(super) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Whether the client has lost the right to have its requests finished.
    pub(super) fn is_abused(&self) -> bool {
        self.abused.load(Ordering::Relaxed)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }

    /// Whether there is an answer of which the client takes nothing.
    pub(super) fn stalled_for(&self, limit: Duration) -> bool {
        let now = self.now();
        let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        long.retain(|offered| offered.strong_count() > 0);
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        long.iter().filter_map(Weak::upgrade).any(|offered| {
            let since = offered.load(Ordering::Relaxed);
            since > 0 && now.saturating_sub(since) >= limit
        })
    }

    pub(super) fn never_asked_for(&self, limit: Duration) -> bool {
        !self.asked.load(Ordering::Relaxed) && self.began.elapsed() >= limit
    }

    pub(super) fn idle_for(&self, limit: Duration) -> bool {
        let since = Duration::from_millis(self.moved.load(Ordering::Relaxed));
        !self.is_busy() && self.began.elapsed().saturating_sub(since) >= limit
    }

    pub(super) fn take_over(&self, takeover: Takeover) {
        *self.takeover.lock().unwrap_or_else(PoisonError::into_inner) = Some(takeover);
    }

    pub(super) fn taken_over(&self) -> Option<Rest> {
        let takeover = self.takeover.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        takeover.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn moves(&self) {
        self.moved.store(self.now(), Ordering::Relaxed);
    }

    /// In milliseconds since the connection began, and never zero.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).map_or(u64::MAX, |now| now.max(1))
    }
}

impl Default for Life {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            under_way: AtomicUsize::new(0),
            moved: AtomicU64::new(0),
            asked: AtomicBool::new(false),
            answered: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
            abused: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            hangup: Notify::new(),
            takeover: Mutex::new(None),
            long: Mutex::default(),
        }
    }
}

impl Takeover {
    pub fn new(rest: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::pin(rest)))))
    }
}

impl fmt::Debug for Takeover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Takeover")
    }
}

impl Asked {
    pub(super) fn life(&self) -> &Life {
        &self.life
    }

    pub(super) fn answered<B>(mut self, body: B) -> Answered<B> {
        self.answered = true;
        self.life.answered.fetch_add(1, Ordering::Relaxed);
        Answered {
            body,
            asked: self,
            offered: None,
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let life = &self.life;
        life.under_way.fetch_sub(1, Ordering::Relaxed);
        life.moves();
        if !self.answered {
            let abandoned = life.abandoned.fetch_add(1, Ordering::Relaxed);
            if abandoned > MAX_ABANDONED.max(life.answered.load(Ordering::Relaxed)) {
                life.abused.store(true, Ordering::Relaxed);
                life.hang_up();
            }
        }
    }
}

impl<B> Answered<B> {
    fn offer(&mut self) {
        let life = &self.asked.life;
        let offered = self.offered.get_or_insert_with(|| {
            let offered = Arc::new(Offered::new(0));
            let mut long = life.long.lock().unwrap_or_else(PoisonError::into_inner);
            long.push(Arc::downgrade(&offered));
            offered
        });
        offered.store(life.now(), Ordering::Relaxed);
    }

    fn withdraw(&self) {
        if let Some(offered) = &self.offered {
            offered.store(0, Ordering::Relaxed);
        }
    }
}

impl<B: Body + Unpin> Body for Answered<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match &frame {
            Poll::Ready(Some(Ok(_))) if !self.body.is_end_stream() => self.offer(),
            _ => self.withdraw(),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn whoever_takes_back_more_than_it_waits_for_is_not_served_any_longer() {
        let life = Arc::new(Life::default());
        for _ in 0..500 {
            drop(life.asked().answered(Full::<bytes::Bytes>::default()));
        }
        for _ in 0..=500 {
            drop(life.asked());
            assert!(!life.is_ending());
        }
        drop(life.asked());
        assert!(life.is_ending() && life.is_abused());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_takes_is_seen() {
        let life = Arc::new(Life::default());
        let mut body = life.asked().answered(pieces());
        body.frame().await.unwrap().unwrap();
        assert!(!life.stalled_for(LIMIT));
        tokio::time::advance(LIMIT + Duration::from_millis(1)).await;
        assert!(
            life.stalled_for(LIMIT),
            "a piece was offered and nothing was asked for since"
        );
        body.frame().await.unwrap().unwrap();
        assert!(!life.stalled_for(LIMIT), "it moves");
        assert!(futures_util::poll!(std::pin::pin!(body.frame())).is_pending());
        tokio::time::advance(LIMIT * 2).await;
        assert!(
            !life.stalled_for(LIMIT),
            "a watch without events is not the client's doing"
        );
        drop(body);
        assert!(life.idle_for(Duration::ZERO) && !life.idle_for(LIMIT));
        tokio::time::advance(LIMIT).await;
        assert!(life.idle_for(LIMIT));
    }

    /// Two pieces at once, then nothing for ever.
    fn pieces() -> UnsyncBoxBody<bytes::Bytes, Infallible> {
        use futures_util::{StreamExt as _, stream};
        let piece = || Ok(Frame::data(bytes::Bytes::from_static(b"a")));
        StreamBody::new(stream::iter([piece(), piece()]).chain(stream::pending())).boxed_unsync()
    }
}
