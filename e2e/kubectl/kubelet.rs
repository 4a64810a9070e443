//! The endpoint of a kubelet that has no containers: logs are made up, and commands run beside the tests.

use std::{
    convert::Infallible,
    io::{Read, Write as _},
    net::SocketAddr,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{Sender, channel},
    },
    thread,
};

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use scopegate::{pki::Usage, server::tls};
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc, sync::watch};
use tokio_rustls::TlsAcceptor;

use super::spdy::{Event, Speaker, listen};
use crate::cluster::Cluster;

/// What it was asked, and what it does.
pub(crate) struct Kubelet {
    pub(crate) address: SocketAddr,
    /// Sessions that have begun and not ended.
    pub(super) sessions: Arc<Mutex<usize>>,
    /// Lines that the log has so far; those who follow it get new ones as they come.
    pub(super) log: watch::Sender<Vec<String>>,
}

/// What the streams of a session are, in the order in which clients open them: 1, 3, 5, …
struct Streams {
    error: u32,
    stdin: Option<u32>,
    stdout: Option<u32>,
    stderr: Option<u32>,
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

impl Kubelet {
    /// With a certificate of the cluster, which kube-apiserver does not look at.
    pub(crate) async fn start(cluster: &Cluster) -> Self {
        let pair = cluster
            .pki
            .server_ca
            .issue("kubelet", None, Usage::Server(&["127.0.0.1"]));
        let pair = pair.unwrap();
        let ca = cluster.pki.client_ca.certificate.as_bytes();
        let mut config = tls::server_config(pair.certificate.as_bytes(), pair.key.as_bytes(), ca).unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let sessions = Arc::new(Mutex::new(0));
        let log = watch::Sender::new(Vec::new());
        let (counted, lines) = (Arc::clone(&sessions), log.clone());
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(stream) = acceptor.accept(stream).await else {
                    continue;
                };
                let (counted, lines) = (Arc::clone(&counted), lines.subscribe());
                let service = service_fn(move |request| {
                    let answer = answer(request, Arc::clone(&counted), lines.clone());
                    async { Ok::<_, Infallible>(answer) }
                });
                let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection.with_upgrades());
            }
        });
        Self { address, sessions, log }
    }
}

fn answer(
    request: Request<Incoming>,
    sessions: Arc<Mutex<usize>>,
    log: watch::Receiver<Vec<String>>,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    match path.split('/').nth(1) {
        Some("containerLogs") => logs(log, query.contains("follow=true")),
        Some("exec") => {
            let command = query.split('&').filter_map(|pair| pair.strip_prefix("command="));
            // A query has its blanks as plus signs.
            let command = command.map(|word| {
                percent_decode_str(&word.replace('+', " "))
                    .decode_utf8()
                    .unwrap()
                    .into()
            });
            let command: Vec<String> = command.collect();
            session(request, sessions, &query, Some(command))
        }
        Some("attach") => session(
            request,
            sessions,
            &query,
            Some(["tr", "a-z", "A-Z"].map(str::to_owned).to_vec()),
        ),
        Some("portForward") => session(request, sessions, &query, None),
        _ => plain(StatusCode::NOT_FOUND, "there is no such thing"),
    }
}

fn plain(code: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::from(text).boxed_unsync());
    *response.status_mut() = code;
    response
}

/// All lines, and those to come, until the sender has gone.
fn logs(log: watch::Receiver<Vec<String>>, follow: bool) -> Response<Body> {
    let frames = stream::unfold((log, 0), move |(mut log, sent)| async move {
        loop {
            let new = log.borrow_and_update().get(sent..).unwrap_or_default().concat();
            if !new.is_empty() {
                let sent = log.borrow().len();
                return Some((Ok(Frame::data(Bytes::from(new))), (log, sent)));
            }
            let ended = log.borrow().last().is_some_and(|line| line == "end\n");
            if ended || !follow || log.changed().await.is_err() {
                return None;
            }
        }
    });
    Response::new(StreamBody::new(frames).boxed_unsync())
}

/// Agrees to SPDY and runs the command, or repeats in capitals what comes over a forwarded port.
fn session(
    mut request: Request<Incoming>,
    sessions: Arc<Mutex<usize>>,
    query: &str,
    command: Option<Vec<String>>,
) -> Response<Body> {
    let offered = request.headers().get_all("x-stream-protocol-version").iter();
    let offered: Vec<String> = offered.map(|value| value.to_str().unwrap().to_owned()).collect();
    let wanted = match &command {
        Some(_) => "v4.channel.k8s.io",
        None => "portforward.k8s.io",
    };
    let upgrade = request.headers().get("upgrade").map(|value| value.to_str().unwrap());
    if upgrade != Some("SPDY/3.1") || !offered.iter().any(|offer| offer.contains(wanted)) {
        return plain(StatusCode::BAD_REQUEST, "this kubelet speaks SPDY only");
    }
    let streams = Streams::of(query);
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let (reading, writing) = tokio::io::split(TokioIo::new(upgraded.await.unwrap()));
        *sessions.lock().unwrap() += 1;
        let speaker = Speaker::start(writing).await;
        let (events, heard) = mpsc::channel(16);
        match command {
            Some(command) => tokio::spawn(run(command, streams, speaker.clone(), heard)),
            None => tokio::spawn(echo(speaker.clone(), heard)),
        };
        let _ = listen(reading, &speaker, events).await;
        *sessions.lock().unwrap() -= 1;
    });
    let mut response = plain(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = response.headers_mut();
    headers.insert("connection", "Upgrade".parse().unwrap());
    headers.insert("upgrade", "SPDY/3.1".parse().unwrap());
    headers.insert("x-stream-protocol-version", wanted.parse().unwrap());
    response
}

impl Streams {
    fn of(query: &str) -> Self {
        let mut next = 1;
        let mut stream = |name: &str| {
            let wanted = query.split('&').any(|pair| pair == format!("{name}=1"));
            wanted.then(|| {
                next += 2;
                next
            })
        };
        Self {
            error: 1,
            stdin: stream("input"),
            stdout: stream("output"),
            stderr: stream("error"),
        }
    }

    fn last(&self) -> u32 {
        self.stderr.or(self.stdout).or(self.stdin).unwrap_or(self.error)
    }
}

/// A forwarded port: of the two streams of each connection, the first is for errors and the second for data.
async fn echo(speaker: Speaker, mut heard: mpsc::Receiver<Event>) {
    while let Some(event) = heard.recv().await {
        match event {
            Event::Data(id, data) => speaker.say(id, &data.to_ascii_uppercase(), false).await,
            Event::Ended(id) => speaker.say(id, b"", true).await,
            Event::Opened(_) => {}
        }
    }
}

/// Runs a command with what comes over the streams, and says at last how it ended.
async fn run(command: Vec<String>, streams: Streams, speaker: Speaker, mut heard: mpsc::Receiver<Event>) {
    while let Some(event) = heard.recv().await {
        if matches!(event, Event::Opened(id) if id == streams.last()) {
            break;
        }
    }
    let (stdin, for_stdin) = channel::<Vec<u8>>();
    let wanted = streams.stdin;
    thread::spawn(move || {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        thread::spawn(move || while for_stdin.recv().is_ok_and(|data| pipe.write_all(&data).is_ok()) {});
        let carried = [
            carry(child.stdout.take().unwrap(), streams.stdout, &speaker),
            carry(child.stderr.take().unwrap(), streams.stderr, &speaker),
        ];
        for thread in carried {
            thread.join().unwrap();
        }
        let code = child.wait().unwrap().code();
        speaker.blocking_say(streams.error, status(code).as_bytes(), true);
    });
    let mut stdin: Option<Sender<Vec<u8>>> = wanted.map(|_| stdin);
    while let Some(event) = heard.recv().await {
        match event {
            Event::Data(id, data) if Some(id) == wanted => {
                stdin.as_ref().map(|stdin| stdin.send(data));
            }
            Event::Ended(id) if Some(id) == wanted => stdin = None,
            _ => {}
        }
    }
}

fn carry(mut from: impl Read + Send + 'static, to: Option<u32>, speaker: &Speaker) -> thread::JoinHandle<()> {
    let speaker = speaker.clone();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            if let Some(id) = to {
                speaker.blocking_say(id, &buffer[..n], false);
            }
        }
        if let Some(id) = to {
            speaker.blocking_say(id, b"", true);
        }
    })
}

/// How a command ended, as the fourth version of the protocol says it.
fn status(code: Option<i32>) -> String {
    let status = match code {
        Some(0) => json!({"metadata": {}, "status": "Success"}),
        code => json!({
            "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "message": "it did not end well",
            "details": {"causes": [{"reason": "ExitCode", "message": code.unwrap_or(1).to_string()}]},
        }),
    };
    status.to_string()
}
