//! So many requests a second, whatever becomes of them: each for another secret that is not the node's own.
//!
//! On a thread of its own, so that those who are measured do not queue behind it in this program.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use http::{StatusCode, header::RETRY_AFTER};
use http_body_util::{BodyExt as _, Full};
use rustls::ClientConfig;

use crate::load::{Protocol, Sender, request};

/// It goes on until it is stopped.
pub(super) struct Torrent {
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<(Counts, Duration)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) asked: u64,
    /// There were too many under way, or no connection.
    pub(super) held_back: u64,
    /// By what they were answered with; 0 where there was no answer.
    pub(super) codes: BTreeMap<u16, u64>,
    pub(super) without_retry_after: u64,
    pub(super) connections: u64,
}

/// One of its connections. The gate ends those that ask for too much, and a flood comes back.
#[derive(Clone, Default)]
struct Connection {
    open: Arc<Mutex<Option<Sender>>>,
    opening: Arc<AtomicBool>,
}

const CONNECTIONS: usize = 32;
/// Of one connection; the gate takes a few more.
const UNDER_WAY: usize = 200;
const TICK: Duration = Duration::from_millis(1);

impl Torrent {
    pub(super) fn start(tls: Arc<ClientConfig>, gate: SocketAddr, rate: u64) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stopped);
        let thread = thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime
                .enable_all()
                .build()
                .unwrap()
                .block_on(run(tls, gate, rate, &stops))
        });
        Self { stopped, thread }
    }

    /// What has been asked and answered, and over what time.
    pub(super) fn stop(self) -> (Counts, Duration) {
        self.stopped.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

async fn run(tls: Arc<ClientConfig>, gate: SocketAddr, rate: u64, stopped: &AtomicBool) -> (Counts, Duration) {
    let counts = Arc::new(Mutex::new(Counts::default()));
    let under_way = Arc::new(AtomicUsize::new(0));
    let connections: Vec<_> = (0..CONNECTIONS).map(|_| Connection::default()).collect();
    for connection in &connections {
        connection.open(&tls, gate, &counts).await;
    }
    let (began, mut ticks, mut next) = (Instant::now(), tokio::time::interval(TICK), 0_u64);
    while !stopped.load(Ordering::Relaxed) {
        ticks.tick().await;
        for connection in &connections {
            connection.look(&tls, gate, &counts);
        }
        let now = began.elapsed().as_micros() as u64 * rate / 1_000_000;
        while next < now {
            // The first that is open, beginning with another one each time.
            let turns = (0..CONNECTIONS).map(|turn| &connections[(next as usize + turn) % CONNECTIONS]);
            let sender = turns.filter_map(Connection::sender).next();
            match sender.filter(|_| under_way.load(Ordering::Relaxed) < CONNECTIONS * UNDER_WAY) {
                Some(sender) => {
                    under_way.fetch_add(1, Ordering::Relaxed);
                    tokio::spawn(ask(sender, next, Arc::clone(&counts), Arc::clone(&under_way)));
                }
                None => counts.lock().unwrap().held_back += 1,
            }
            next += 1;
        }
    }
    let counts = counts.lock().unwrap().clone();
    (counts, began.elapsed())
}

impl Connection {
    fn sender(&self) -> Option<Sender> {
        let open = self.open.lock().unwrap();
        open.as_ref().filter(|sender| !sender.is_closed()).map(Sender::again)
    }

    /// Opens it again in the background if the gate has ended it.
    fn look(&self, tls: &Arc<ClientConfig>, gate: SocketAddr, counts: &Arc<Mutex<Counts>>) {
        if self.sender().is_none() && !self.opening.swap(true, Ordering::Relaxed) {
            let (this, tls, counts) = (self.clone(), Arc::clone(tls), Arc::clone(counts));
            tokio::spawn(async move { this.open(&tls, gate, &counts).await });
        }
    }

    async fn open(&self, tls: &Arc<ClientConfig>, gate: SocketAddr, counts: &Mutex<Counts>) {
        let opened = Sender::try_over(Arc::clone(tls), gate, Protocol::Http2).await;
        *self.open.lock().unwrap() = opened.ok();
        counts.lock().unwrap().connections += 1;
        self.opening.store(false, Ordering::Relaxed);
    }
}

async fn ask(mut sender: Sender, number: u64, counts: Arc<Mutex<Counts>>, under_way: Arc<AtomicUsize>) {
    counts.lock().unwrap().asked += 1;
    let target = format!("/api/v1/namespaces/default/secrets/foreign-{number}");
    let request = request("GET", &target).body(Full::default()).unwrap();
    let answer = sender.send(request).await;
    let (mut code, mut lacking) = (0, false);
    if let Ok(response) = answer {
        let head = (response.status(), response.headers().contains_key(RETRY_AFTER));
        if response.into_body().collect().await.is_ok() {
            code = head.0.as_u16();
            lacking = head.0 == StatusCode::TOO_MANY_REQUESTS && !head.1;
        }
    }
    under_way.fetch_sub(1, Ordering::Relaxed);
    let mut counts = counts.lock().unwrap();
    *counts.codes.entry(code).or_default() += 1;
    counts.without_retry_after += u64::from(lacking);
}
