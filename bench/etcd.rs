//! etcd with more in it than anybody would wait for an API server to take: objects are written where an API server that starts
//! afterwards finds them, through the JSON gateway that etcd has for programs without gRPC.

use std::{
    net::SocketAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, task::JoinSet, time::sleep};

use crate::cluster::{Cluster, assets, free};

/// A connection to it.
pub(crate) struct Etcd(SendRequest<Full<Bytes>>);

/// What is stored: where, and what.
pub(crate) type Stored = (String, String);

/// As many as etcd takes at a time.
const TOGETHER: usize = 128;
/// Connections that write at the same time.
const WRITERS: usize = 4;
const START: Duration = Duration::from_secs(60);

/// Ends the API server of a cluster, and starts its etcd again with room for some gigabytes. It forgets its log early, which
/// would otherwise be as large as all that is stored, in memory and on disk.
pub(crate) async fn enlarge(cluster: &Cluster) -> SocketAddr {
    let address: SocketAddr = cluster.etcd().trim_start_matches("http://").parse().unwrap();
    cluster.kill(cluster.api);
    cluster.kill(address);
    let (url, peer) = (cluster.etcd(), format!("http://{}", free()));
    let quota = (8_u64 << 30).to_string();
    cluster.spawn(
        address,
        Command::new(assets().unwrap().join("etcd"))
            .args(["--listen-client-urls", &url, "--advertise-client-urls", &url])
            .args(["--listen-peer-urls", &peer, "--data-dir", "etcd"])
            .args(["--quota-backend-bytes", &quota, "--max-request-bytes", "8388608"])
            .args([
                "--snapshot-count",
                "200",
                "--experimental-snapshot-catchup-entries",
                "10",
            ])
            .args(["--unsafe-no-fsync", "--log-level", "error"]),
        "etcd.log",
    );
    let began = Instant::now();
    loop {
        // It listens before it has a leader.
        if let Ok(mut etcd) = Etcd::open(address).await
            && etcd
                .put(&[("/scopegate/bench".to_owned(), "there".to_owned())])
                .await
                .is_ok()
        {
            return address;
        }
        assert!(began.elapsed() < START, "etcd does not start");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Writes what is made of each number below `count`, some at a time, and says how far it is.
pub(crate) async fn fill(
    etcd: SocketAddr,
    what: &str,
    count: usize,
    make: impl Fn(usize) -> Vec<Stored> + Send + Sync + 'static,
) {
    let (make, next) = (Arc::new(make), Arc::new(AtomicUsize::new(0)));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let (make, next) = (Arc::clone(&make), Arc::clone(&next));
        writers.spawn(async move {
            let mut etcd = Etcd::open(etcd).await.unwrap();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    break;
                }
                for some in make(at).chunks(TOGETHER) {
                    etcd.put(some).await.unwrap();
                }
            }
        });
    }
    let mut said = Instant::now();
    while !writers.is_empty() {
        let _ = tokio::time::timeout(Duration::from_secs(1), writers.join_next())
            .await
            .map(|ended| ended.unwrap().unwrap());
        if said.elapsed() > Duration::from_secs(5) {
            said = Instant::now();
            eprintln!("{} of {count} {what}", next.load(Ordering::Relaxed).min(count));
        }
    }
}

impl Etcd {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, String> {
        let tcp = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        tcp.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioIo::new(tcp)).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    /// All of it, or nothing.
    pub(crate) async fn put(&mut self, stored: &[Stored]) -> Result<(), String> {
        let mut body = String::with_capacity(stored.iter().map(|(_, object)| object.len() * 4 / 3 + 256).sum());
        body.push_str(r#"{"success":["#);
        for (at, (key, object)) in stored.iter().enumerate() {
            body.push_str(if at == 0 {
                r#"{"requestPut":{"key":""#
            } else {
                r#",{"requestPut":{"key":""#
            });
            BASE64_STANDARD.encode_string(key, &mut body);
            body.push_str(r#"","value":""#);
            BASE64_STANDARD.encode_string(object, &mut body);
            body.push_str(r#""}}"#);
        }
        body.push_str("]}");
        let request = Request::post("/v3/kv/txn")
            .header("host", "localhost")
            .body(Full::from(body))
            .unwrap();
        self.0.ready().await.map_err(|error| error.to_string())?;
        let answer = self.0.send_request(request).await.map_err(|error| error.to_string())?;
        let code = answer.status();
        let body = answer
            .into_body()
            .collect()
            .await
            .map_err(|error| error.to_string())?
            .to_bytes();
        match code {
            StatusCode::OK => Ok(()),
            code => Err(format!("{code}: {}", String::from_utf8_lossy(&body))),
        }
    }
}
