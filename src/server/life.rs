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
    /// Those of them that have no answer yet.
    unanswered: AtomicUsize,
    /// When a request last began or ended, in milliseconds since the connection began.
    moved: AtomicU64,
    asked: AtomicBool,
    answered: AtomicUsize,
    abandoned: AtomicUsize,
    /// Whether somebody was answered who may go on.
    welcome: AtomicBool,
    refused: AtomicUsize,
    abused: AtomicBool,
    ending: AtomicBool,
    pub(super) hangup: Notify,
    takeover: Mutex<Option<Takeover>>,
    /// Whether clients take answers one by one, and not with the connection.
    multiplexed: bool,
    /// Answers that were begun.
    begun: Mutex<Vec<Weak<Offered>>>,
}

/// When the last piece of an answer was offered to the client, in milliseconds since the connection began; zero while there
/// is none that it could take. Over HTTP/2 a client decides for every answer by itself whether to take it, and goes on
/// reading from the socket if it does not. (The last piece counts, too: the answer is kept until it is taken.)
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
/// Many more than a connection has under way.
const MAX_BEGUN: usize = 1000;
/// So many requests may be made on a connection that is ending, before the client must have heard of it.
const MAX_REFUSED: usize = 300;

impl Life {
    pub(super) fn new(multiplexed: bool) -> Self {
        Self {
            began: Instant::now(),
            under_way: AtomicUsize::new(0),
            unanswered: AtomicUsize::new(0),
            moved: AtomicU64::new(0),
            asked: AtomicBool::new(false),
            answered: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
            welcome: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            abused: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            hangup: Notify::new(),
            takeover: Mutex::new(None),
            multiplexed,
            begun: Mutex::default(),
        }
    }

    /// Another request on a connection that is ending.
    pub(super) fn refuses(&self) {
        if self.refused.fetch_add(1, Ordering::Relaxed) > MAX_REFUSED {
            self.abused.store(true, Ordering::Relaxed);
        }
    }

    /// Somebody was answered who may go on.
    pub(super) fn welcomes(&self) {
        self.welcome.store(true, Ordering::Relaxed);
    }

    pub(super) fn asked(self: &Arc<Self>) -> Asked {
        self.asked.store(true, Ordering::Relaxed);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.unanswered.fetch_add(1, Ordering::Relaxed);
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

    /// Whether a connection that is to end has something to wait for: requests that are being handled, which takes no time
    /// for who is turned away, and answers to who was not. Whoever asks for too much is not waited for.
    pub(super) fn is_waited_for(&self) -> bool {
        let handled = self.unanswered.load(Ordering::Relaxed) > 0;
        let answered = self.welcome.load(Ordering::Relaxed) && self.is_busy();
        !self.abused.load(Ordering::Relaxed) && (handled || answered)
    }

    pub(super) fn is_multiplexed(&self) -> bool {
        self.multiplexed
    }

    fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }

    /// Whether there is an answer of which the client takes nothing.
    pub(super) fn stalled_for(&self, limit: Duration) -> bool {
        let now = self.now();
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.retain(|offered| offered.strong_count() > 0);
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        begun.iter().filter_map(Weak::upgrade).any(|offered| {
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
        self.life.unanswered.fetch_sub(1, Ordering::Relaxed);
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
            life.unanswered.fetch_sub(1, Ordering::Relaxed);
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
            let mut begun = life.begun.lock().unwrap_or_else(PoisonError::into_inner);
            begun.push(Arc::downgrade(&offered));
            // Those that have ended are forgotten by and by.
            if begun.len() > MAX_BEGUN {
                begun.retain(|offered| offered.strong_count() > 0);
            }
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
            Poll::Ready(Some(Ok(_))) if self.asked.life.multiplexed => self.offer(),
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
        let life = Arc::new(Life::new(true));
        for _ in 0..500 {
            drop(life.asked().answered(Full::<bytes::Bytes>::default()));
        }
        for _ in 0..=500 {
            drop(life.asked());
            assert!(!life.is_ending());
        }
        drop(life.asked());
        let _busy = life.asked();
        life.welcomes();
        assert!(life.is_ending() && !life.is_waited_for());
    }

    #[test]
    fn only_who_is_welcome_is_waited_for() {
        let life = Arc::new(Life::new(true));
        let handled = life.asked();
        assert!(life.is_waited_for(), "not known yet");
        let _turned_away = handled.answered(Full::<bytes::Bytes>::default());
        assert!(!life.is_waited_for());
        life.welcomes();
        assert!(life.is_waited_for());
        for _ in 0..=MAX_REFUSED + 1 {
            life.refuses();
        }
        assert!(!life.is_waited_for(), "it does not hear");
    }

    /// A whole answer in one piece waits in the server until the client takes it.
    #[tokio::test(start_paused = true)]
    async fn the_last_piece_has_to_be_taken_too() {
        let life = Arc::new(Life::new(true));
        let mut body = life.asked().answered(Full::<bytes::Bytes>::from("whole"));
        body.frame().await.unwrap().unwrap();
        tokio::time::advance(LIMIT + Duration::from_millis(1)).await;
        assert!(life.stalled_for(LIMIT));
        drop(body);
        assert!(!life.stalled_for(LIMIT));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_takes_is_seen() {
        let life = Arc::new(Life::new(true));
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
