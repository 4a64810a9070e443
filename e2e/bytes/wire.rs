//! Writes bytes and reads what comes back.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use super::case::Case;
use crate::{
    cluster::Cluster,
    gate::{PATIENCE, admin, connect},
};

/// Sends a case as the node, and says which code came back, if any did. Of HTTP/2 only the end is waited for: audit events tell the
/// code.
pub(super) async fn exchange(cluster: &Cluster, address: SocketAddr, case: &Case, id: &str) -> Option<u16> {
    let protocol: &[u8] = if case.http2 { b"h2" } else { b"http/1.1" };
    let mut stream = connect(&cluster.file(""), address, "by1", protocol).await;
    let talk = async {
        // A server may answer and close before everything is written.
        let _ = stream.write_all(&case.with(id)).await;
        let _ = stream.flush().await;
        if case.ends {
            let _ = stream.shutdown().await;
        }
        if case.http2 {
            stream_ends(&mut stream).await;
            None
        } else {
            code(&mut stream).await
        }
    };
    match timeout(PATIENCE, talk).await {
        Ok(code) => code,
        Err(_) => panic!("no end of it: {}", case.shown()),
    }
}

/// The final code of the first answer; nothing if the connection ends before.
async fn code(stream: &mut (impl AsyncRead + Unpin)) -> Option<u16> {
    loop {
        let head = crate::scripted::head(stream).await?;
        let code = head.split(' ').nth(1)?.parse().ok()?;
        if code >= 200 {
            return Some(code);
        }
    }
}

/// Reads frames until one ends the first stream, or all of them.
async fn stream_ends(stream: &mut (impl AsyncRead + Unpin)) {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const RESET: u8 = 3;
    const GO_AWAY: u8 = 7;
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).await.is_err() {
            return;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        if stream.read_exact(&mut payload).await.is_err() {
            return;
        }
        let (kind, ends) = (head[3], head[4] & 1 == 1);
        if kind == RESET || kind == GO_AWAY || (kind == DATA || kind == HEADERS) && ends {
            return;
        }
    }
}

/// All answers on one connection, until it is closed.
pub(super) async fn answers(cluster: &Cluster, address: SocketAddr, bytes: &[u8]) -> Vec<u16> {
    let mut stream = connect(&cluster.file(""), address, "by1", b"http/1.1").await;
    let _ = stream.write_all(bytes).await;
    let mut answered = Vec::new();
    let read = stream.read_to_end(&mut answered);
    let ended = timeout(PATIENCE, read).await;
    assert!(ended.is_ok(), "the connection goes on behind {}", bytes.escape_ascii());
    let text = String::from_utf8_lossy(&answered);
    let codes = text.split("HTTP/1.1 ").skip(1);
    codes.filter_map(|answer| answer.get(..3)?.parse().ok()).collect()
}

/// Waits until the gate handles nothing.
pub(super) async fn idle(address: SocketAddr) {
    for _ in 0..500 {
        let metrics = admin(address, http::Request::get("/metrics"), "").await.body;
        if metrics.contains("scopegate_requests_in_flight 0\n") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the gate is never idle");
}
