//! What one client can take of the gate, however it tries.

use std::{sync::Arc, time::Duration};

use http::{Request, StatusCode};
use scopegate::demo::site::{FRONT_PROXY, Site};
use test_case::test_case;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::gate::{FORWARD, Gate, get};

const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

async fn gate(limits: &str) -> Gate {
    gate_with(limits, FORWARD).await
}

async fn gate_with(limits: &str, more: &str) -> Gate {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let limits = format!("  limits: {{{limits}}}\n");
    Gate::edited(site, FRONT_PROXY, more, &[("serving:\n", &limits)]).await
}

async fn failed(gate: &Gate, cause: &str) -> bool {
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    metrics.contains(&format!(
        "connections_failed_total{{listener=\"serving\",cause=\"{cause}\"}}"
    ))
}

async fn ends(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    let ended = tokio::time::timeout(crate::gate::PATIENCE, stream.read_to_end(&mut read)).await;
    assert!(ended.is_ok(), "the connection goes on");
    String::from_utf8_lossy(&read).into_owned()
}

/// Whoever has as many connections as one may have gets no more, and gets one again when another has ended.
#[tokio::test]
async fn connections_of_one_client() {
    let gate = gate("connectionsPerClient: 3").await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(gate.connect("node-a", b"http/1.1").await);
    }
    let mut more = TcpStream::connect(gate.serving).await.unwrap();
    assert_eq!(ends(&mut more).await, "");
    assert!(failed(&gate, "too-many-from-client").await);
    drop(open.pop());
    let free = async || {
        let mut stream = TcpStream::connect(gate.serving).await.unwrap();
        tokio::time::timeout(Duration::from_millis(300), stream.read_u8())
            .await
            .is_err()
    };
    for _ in 0..20 {
        if free().await {
            return;
        }
    }
    panic!("no place came back");
}

/// Silence at any stage ends the connection.
#[tokio::test]
async fn a_handshake_that_does_not_end() {
    let gate = gate("handshakeTimeout: 300ms").await;
    let mut stream = TcpStream::connect(gate.serving).await.unwrap();
    stream.write_all(b"\x16\x03\x01\x02").await.unwrap();
    ends(&mut stream).await;
    eventually_failed(&gate, "handshake-timeout").await;
}

#[test_case(b"http/1.1", ""; "nothing over http1")]
#[test_case(b"h2", ""; "nothing over http2")]
#[test_case(b"http/1.1", "GET /version HTTP/1.1\r\nHost: x\r\n"; "half a head")]
#[tokio::test]
async fn a_request_that_does_not_come(protocol: &[u8], bytes: &str) {
    let gate = gate("headerTimeout: 300ms").await;
    let mut stream = gate.connect("node-a", protocol).await;
    stream.write_all(bytes.as_bytes()).await.unwrap();
    ends(&mut stream).await;
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// A connection on which nothing is asked any more ends, one with a watch does not.
#[tokio::test]
async fn an_http2_connection_without_requests() {
    let gate = gate("idleTimeout: 3s").await;
    let (mut client, connection) = gate.http2("node-a").await;
    let watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(7)).await;
    assert!(!connection.is_finished(), "ended in spite of a watch");
    drop(watch);
    let ended = tokio::time::timeout(crate::gate::PATIENCE, connection).await;
    ended.expect("the idle connection goes on").unwrap().unwrap();
}

#[tokio::test]
async fn a_head_that_is_too_long() {
    let gate = gate("headerBytes: 16384").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let long = "a".repeat(20_000);
    let head = format!("GET /version HTTP/1.1\r\nHost: x\r\nX-Long: {long}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    assert!(ends(&mut stream).await.starts_with("HTTP/1.1 431 "));

    let (mut client, _connection) = gate.http2("node-a").await;
    let mut request = get("/version");
    request.headers_mut().insert("x-long", long.parse().unwrap());
    let answer = client.send_request(request).await;
    let code = answer.map(|answer| answer.status());
    assert!(
        matches!(code, Err(_) | Ok(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)),
        "{code:?}"
    );
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// A body that trickles is the client's fault and not upstream's.
#[test_case("bodyTimeout: 500ms", "Content-Length: 100\r\n\r\n{", 408; "slow")]
#[test_case("bodyBytes: 1000", "Content-Length: 1001\r\n\r\n{", 413; "announced too large")]
#[test_case("bodyBytes: 2", "Transfer-Encoding: chunked\r\n\r\n3\r\n{} \r\n0\r\n\r\n", 413; "too large")]
#[tokio::test]
async fn bodies(limits: &str, rest: &str, code: u16) {
    let gate = gate(limits).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let request = format!("POST {WHO_AM_I} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{rest}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = ends(&mut stream).await;
    assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
    assert!(answer.contains(&format!("\"code\":{code}}}")), "{answer}");
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    assert!(!metrics.contains("scopegate_upstream_errors_total{"), "{metrics}");
}

/// While a body trickles in, nothing upstream is held for it.
#[tokio::test]
async fn a_body_is_waited_for() {
    let gate = gate("").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let head = format!("POST {WHO_AM_I} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    gate.under_way(1).await;
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
    stream.write_all(b"}").await.unwrap();
    assert!(ends(&mut stream).await.starts_with("HTTP/1.1 201 "));
}

/// A caller has so much under way and no more, over all its connections; others are not concerned.
#[test_case("requestsPerCaller: 3", false; "requests")]
#[test_case("streamsPerCaller: 3", true; "streams")]
#[tokio::test]
async fn the_share_of_a_caller(limit: &str, watches: bool) {
    let gate = gate(limit).await;
    let watch = "GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: x\r\n\r\n".to_owned();
    let stuck = format!("POST {WHO_AM_I} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
    let (held, asked) = if watches {
        (watch, "/api/v1/pods?watch=true")
    } else {
        (stuck, "/version")
    };
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut stream = gate.connect("node-a", b"http/1.1").await;
        stream.write_all(held.as_bytes()).await.unwrap();
        open.push(stream);
    }
    gate.under_way(3).await;
    let refused = gate.get("node-a", asked).await;
    assert_eq!(refused.code, StatusCode::TOO_MANY_REQUESTS, "{}", refused.body);
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.json()["reason"], "TooManyRequests");
    let (mut other, _connection) = gate.http2("node-b").await;
    assert_eq!(other.send_request(get(asked)).await.unwrap().status(), StatusCode::OK);
    drop(open);
    for _ in 0..100 {
        let (mut again, _connection) = gate.http2("node-a").await;
        if again.send_request(get(asked)).await.unwrap().status() == StatusCode::OK {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the share did not come back");
}

/// One node asks for secrets of others as fast as it can, over many connections, and goes on when it is told to come again.
/// The others do not feel it, and it is not taken for dead.
#[tokio::test]
async fn a_flood_of_refusals() {
    let gate = Arc::new(gate_with("requestsPerCaller: 20", "").await);
    let flood = (0..8).map(|number| tokio::spawn(flood(Arc::clone(&gate), number)));
    let mut flood = std::pin::pin!(futures_util::future::join_all(flood));
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-a";
    let (mut other, _connection) = gate.http2("node-b").await;
    let mut served = 0;
    let ended: usize = loop {
        let serve = async {
            let answer = other.send_request(get("/version")).await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK);
            let own = ["/api/v1/nodes/node-a", lease];
            for target in own {
                let code = gate.get("node-a", target).await.code;
                assert!(
                    [StatusCode::OK, StatusCode::NOT_FOUND].contains(&code),
                    "{target}: {code}"
                );
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        tokio::select! {
            ended = flood.as_mut() => break ended.into_iter().map(Result::unwrap).sum(),
            () = serve => served += 1,
        }
    };
    assert!(served > 0, "the flood was over before it began");
    assert!(ended > 0, "who does not listen is hung up on");
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    let shed = "scopegate_requests_shed_total{reason=\"requests\"}";
    assert!(metrics.contains(shed), "{metrics}");
    assert!(metrics.contains("scopegate_task_delay_seconds"), "{metrics}");
    gate.logged("left_out=").await;
    let audited = gate
        .event_where(|event| event["objectRef"]["name"] == "none-0-0" && event["responseStatus"]["code"] != 499)
        .await;
    assert_eq!(audited["user"]["username"], "system:node:node-a");
}

/// How often the gate had enough of it.
async fn flood(gate: Arc<Gate>, number: usize) -> usize {
    let (mut client, _connection) = gate.http2("node-a").await;
    let mut ended = 0;
    for round in 0..10 {
        let asked = (0..50).map(|stream| {
            let name = format!("none-{number}-{}", round * 50 + stream);
            client.send_request(get(&format!("/api/v1/namespaces/default/secrets/{name}")))
        });
        for answer in futures_util::future::join_all(asked).await.into_iter().flatten() {
            match answer.status() {
                StatusCode::FORBIDDEN => {}
                StatusCode::TOO_MANY_REQUESTS => assert_eq!(answer.headers()["retry-after"], "1"),
                code => panic!("{code}"),
            }
        }
        if client.ready().await.is_err() {
            ended += 1;
            client = gate.http2("node-a").await.0;
        }
    }
    ended
}

/// A client that asks and does not read is cut; what it asked for is let go.
#[tokio::test]
async fn a_client_that_takes_nothing() {
    let gate = gate("stallTimeout: 500ms").await;
    let large = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": {"a": "a".repeat(2_000_000)},
    });
    let create = Request::post("/api/v1/namespaces/default/configmaps").header("content-type", "application/json");
    let created = gate.send("node-a", create, &large.to_string()).await;
    assert_eq!(created.code, StatusCode::CREATED, "{}", created.body);
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    // Far more than fits into the buffers on the way.
    let requests = "GET /api/v1/namespaces/default/configmaps/large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
    let _ = stream.write_all(requests.as_bytes()).await;
    eventually_failed(&gate, "stalled").await;
}

/// The same over HTTP/2, where the client goes on reading from the socket and only gives no leave to send.
#[tokio::test]
async fn a_client_that_gives_no_leave_to_send() {
    let gate = gate("stallTimeout: 500ms").await;
    let large = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": {"a": "a".repeat(1_000_000)},
    });
    let create = Request::post("/api/v1/namespaces/default/configmaps").header("content-type", "application/json");
    assert_eq!(
        gate.send("node-a", create, &large.to_string()).await.code,
        StatusCode::CREATED
    );
    let (mut client, connection) = gate.http2("node-a").await;
    let target = "/api/v1/namespaces/default/configmaps/large";
    let mut unread = Vec::new();
    for _ in 0..8 {
        unread.push(client.send_request(get(target)).await.unwrap());
    }
    eventually_failed(&gate, "stalled").await;
    assert!(connection.await.unwrap().is_err(), "ended as if all had been sent");
}

async fn eventually_failed(gate: &Gate, cause: &str) {
    for _ in 0..100 {
        if failed(gate, cause).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no connection failed with {cause}");
}

/// An answer in one piece is small enough to wait for its client in the gate, but not for ever; and whoever is nobody is not
/// waited for at all.
#[test_case("node-a", "stallTimeout: 1s", StatusCode::OK; "an answer")]
#[test_case("nobody", "stallTimeout: 300s", StatusCode::UNAUTHORIZED; "a refusal")]
#[tokio::test]
async fn an_answer_that_the_client_gives_no_leave_to_send(user: &str, limit: &str, code: StatusCode) {
    let gate = gate(limit).await;
    let stream = gate.connect(user, b"h2").await;
    let mut builder = h2::client::Builder::new();
    let (client, connection) = builder
        .initial_window_size(0)
        .handshake::<_, bytes::Bytes>(stream)
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::get("https://localhost/version").body(()).unwrap();
    let (answer, _) = client.ready().await.unwrap().send_request(request, true).unwrap();
    let answer = answer.await.unwrap();
    assert_eq!(answer.status(), code);
    let ended = tokio::time::timeout(crate::gate::PATIENCE, connection).await;
    assert!(ended.is_ok(), "the connection is held");
    drop(answer);
}

/// A body of one-byte pieces costs what it holds, and arrives whole.
#[tokio::test]
async fn a_body_in_crumbs() {
    let gate = gate("").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let head =
        format!("POST {WHO_AM_I} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let body = format!("{{{}}}", " ".repeat(500));
    for byte in body.chars() {
        stream.write_all(format!("1\r\n{byte}\r\n").as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    assert!(ends(&mut stream).await.starts_with("HTTP/1.1 201 "));
    let seen = gate.site.upstream.seen();
    let review = seen.iter().find(|request| request.target == WHO_AM_I).unwrap();
    assert_eq!(review.headers["content-length"], body.len().to_string());
}

/// CVE-2023-44487: streams that are opened and taken back at once, again and again.
#[tokio::test]
async fn rapid_resets() {
    let gate = gate("").await;
    let (mut client, connection) = h2::client::handshake(gate.connect("node-a", b"h2").await)
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    let mut sent = 0;
    while sent < 10_000 {
        match client.clone().ready().await {
            Err(_) => break,
            Ok(ready) => client = ready,
        }
        let request = Request::get("https://localhost/api/v1/pods").body(()).unwrap();
        let Ok((_, mut stream)) = client.send_request(request, true) else {
            break;
        };
        stream.send_reset(h2::Reason::CANCEL);
        sent += 1;
        if sent % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let ended = tokio::time::timeout(crate::gate::PATIENCE, connection).await;
    assert!(ended.is_ok(), "the connection goes on after {sent} resets");
    assert!(
        gate.forwarded().len() < 1_000,
        "{} of {sent} were forwarded",
        gate.forwarded().len()
    );
    assert_eq!(gate.get("node-b", "/version").await.code, StatusCode::OK);
}

/// A head that never ends, frame after frame (RUSTSEC-2024-0332).
#[tokio::test]
async fn continuation_frames_without_end() {
    let gate = gate("").await;
    let mut stream = gate.connect("node-a", b"h2").await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    let frame = |kind: u8, stream: u8, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, 0, 0, 0, 0, stream], payload].concat()
    };
    stream.write_all(&frame(4, 0, b"")).await.unwrap();
    // HEADERS without END_HEADERS, then CONTINUATION: literal fields that are not indexed.
    let field = [&[0_u8, 1, b'a', 100][..], &[b'b'; 100]].concat();
    stream.write_all(&frame(1, 1, &field.repeat(100))).await.unwrap();
    let flood = async {
        for _ in 0..10_000 {
            stream.write_all(&frame(9, 1, &field.repeat(100))).await?;
        }
        stream.flush().await
    };
    let flooded = tokio::time::timeout(crate::gate::PATIENCE, flood).await;
    assert!(
        flooded.is_ok_and(|flooded| flooded.is_err()),
        "the gate takes 100 MB of head"
    );
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// The gate tells how many streams it takes, and who opens more all the same is refused those.
#[tokio::test]
async fn streams_of_one_connection() {
    let gate = gate("streamsPerConnection: 5").await;
    let stream = gate.connect("node-a", b"h2").await;
    // More than the gate says, before it has said it.
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    let mut watches = Vec::new();
    for _ in 0..6 {
        let request = Request::get("https://localhost/api/v1/pods?watch=true")
            .body(())
            .unwrap();
        watches.push(client.send_request(request, true).unwrap());
    }
    tokio::spawn(connection);
    let mut answered = 0;
    for (answer, _) in watches {
        match tokio::time::timeout(crate::gate::PATIENCE, answer).await.unwrap() {
            Ok(answer) => {
                assert_eq!(answer.status(), StatusCode::OK);
                answered += 1;
                std::mem::forget(answer);
            }
            Err(error) => assert_eq!(error.reason(), Some(h2::Reason::REFUSED_STREAM), "{error}"),
        }
    }
    assert_eq!(answered, 5);
}
