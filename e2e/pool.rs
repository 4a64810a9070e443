//! Connections to upstream: as many as are needed, to whichever API server answers, and nothing sent twice.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use scopegate::demo::{
    cluster,
    site::{FRONT_PROXY, Site},
    standin::Standin,
    upstream::Upstream,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    gate::{FORWARD, Gate, eventually, get},
    scripted::{Scripted, head},
};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-a";

/// hyper#3623: with every stream of every connection taken by a watch, one more request finds a way.
#[tokio::test]
async fn watches_do_not_stand_in_the_way_of_a_lease() {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let mut watches = Vec::new();
    for _ in 0..2 {
        let (mut client, connection) = gate.http2("node-a").await;
        for _ in 0..250 {
            client.ready().await.unwrap();
            let watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
            assert_eq!(watch.status(), StatusCode::OK);
            watches.push(watch.into_body());
        }
        watches.last_mut().unwrap().frame().await.unwrap().unwrap();
        std::mem::forget((client, connection));
    }
    let lease = gate.get("node-a", LEASE).await;
    let renewed = Request::put(LEASE).header("content-type", "application/json");
    let answer = gate.send("node-a", renewed, &lease.body).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
}

/// Whether the gate asks for its own sake; what it forwards has the identifier of its audit event.
fn is_own<T>(request: &Request<T>) -> bool {
    !request.headers().contains_key("audit-id")
}

/// An API server over HTTP/2 that allows few streams and answers only when told to.
async fn few_streams(site: &Site, allowed: u32, held: Arc<AtomicUsize>) -> Scripted {
    Scripted::start(site, &[b"h2"], move |stream| {
        let held = Arc::clone(&held);
        async move {
            let mut builder = h2::server::Builder::new();
            let mut connection = builder
                .max_concurrent_streams(allowed)
                .handshake::<_, Bytes>(stream)
                .await
                .unwrap();
            let mut waiting = Vec::new();
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                if is_own(&request) {
                    let _ = respond.send_response(Response::new(()), true);
                } else {
                    held.fetch_add(1, Ordering::Relaxed);
                    waiting.push(respond);
                }
            }
        }
    })
    .await
}

/// However few streams a server allows on one connection, all requests get to it.
#[tokio::test]
async fn another_connection_is_opened_when_the_streams_of_one_run_out() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let held = Arc::new(AtomicUsize::new(0));
    let upstream = few_streams(&site, 10, Arc::clone(&held)).await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, FORWARD).await;
    let (client, _connection) = gate.http2("node-a").await;
    for _ in 0..45 {
        tokio::spawn(client.clone().send_request(get("/version")));
    }
    eventually("all requests", || (held.load(Ordering::Relaxed) == 45).then_some(())).await;
    let front_proxy = *upstream.connections.lock().unwrap() - 1;
    assert!(
        (5..=8).contains(&front_proxy),
        "{front_proxy} connections for 45 requests of 10 each"
    );
}

/// A server that refuses a stream says that it has not looked at it, so that the client may try again; the gate does not
/// by itself, since part of the request is spent.
#[tokio::test]
async fn a_refused_stream_is_503_and_not_repeated() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    let upstream = Scripted::start(&site, &[b"h2"], move |stream| {
        let seen = Arc::clone(&count);
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                if is_own(&request) {
                    let _ = respond.send_response(Response::new(()), true);
                } else {
                    seen.fetch_add(1, Ordering::Relaxed);
                    respond.send_reset(h2::Reason::REFUSED_STREAM);
                }
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, FORWARD).await;
    let answer = gate.send("node-a", Request::put(LEASE), "{}").await;
    assert_eq!(answer.code, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(seen.load(Ordering::Relaxed), 1);
}

/// Whatever a caller does to its connection to upstream, others keep theirs.
#[tokio::test]
async fn callers_have_connections_of_their_own() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    // Has enough of a connection as soon as the version is asked for on it.
    let upstream = Scripted::start(&site, &[b"h2"], move |stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let mut watches = Vec::new();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            match request.uri().path() {
                "/version" => connection.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM),
                "/readyz" => drop(respond.send_response(Response::new(()), true)),
                _ => watches.push(respond.send_response(Response::new(()), false)),
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, FORWARD).await;
    let (mut client, _connection) = gate.http2("node-b").await;
    let watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
    for _ in 0..3 {
        let answer = gate.get("node-a", "/version").await;
        assert_eq!(answer.code, StatusCode::BAD_GATEWAY, "{}", answer.body);
    }
    let broken = tokio::time::timeout(Duration::from_secs(1), watch.into_body().collect()).await;
    assert!(broken.is_err(), "the watch of another was broken");
}

/// Two API servers: reads the request it is given, then breaks off. What may have been acted on is not sent to the other.
#[tokio::test]
async fn what_may_have_been_acted_on_is_never_repeated() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let seen = Arc::new(Mutex::new(String::new()));
    let breaks_off = async || {
        let record = Arc::clone(&seen);
        Scripted::start(&site, &[b"http/1.1"], move |mut stream| {
            let record = Arc::clone(&record);
            async move {
                while let Some(head) = head(&mut stream).await {
                    if head.starts_with("GET /readyz ") {
                        let _ = stream.write_all(OK).await;
                    } else {
                        if !head.starts_with("GET ") {
                            let _ = stream.read(&mut [0; 64]).await;
                        }
                        // The gate has questions of its own.
                        if head.contains("/configmaps/a ") {
                            record.lock().unwrap().push_str(&head);
                        }
                        return;
                    }
                }
            }
        })
        .await
        .address
    };
    let servers = format!(
        "  servers: [\"https://{}\", \"https://{}\"]\n",
        breaks_off().await,
        breaks_off().await
    );
    let gate = Gate::edited(site, FRONT_PROXY, FORWARD, &[("upstream:\n", &servers)]).await;
    for (method, code, retry) in [("POST", 502, None), ("PUT", 502, None), ("GET", 502, Some("1"))] {
        seen.lock().unwrap().clear();
        let request = Request::builder()
            .method(method)
            .uri("/api/v1/namespaces/default/configmaps/a");
        let answer = gate.send("node-a", request, "{}").await;
        assert_eq!(answer.code.as_u16(), code, "{}", answer.body);
        let told = answer.headers.get("retry-after").map(|value| value.to_str().unwrap());
        assert_eq!(told, retry, "only what cannot have done anything is worth repeating");
        assert_eq!(seen.lock().unwrap().matches("HTTP/1.1\r\n").count(), 1);
    }
}

/// A server that goes away is left at once, and used again when it is back; every caller keeps to one of them.
#[tokio::test]
async fn another_api_server_takes_over() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let second = Upstream::start(&site.pki, Standin::new(cluster::objects()))
        .await
        .unwrap();
    let servers = format!(
        "  servers: [\"https://{}\", \"https://{}\"]\n",
        site.upstream.address, second.address
    );
    let mut gate = Gate::edited(site, FRONT_PROXY, FORWARD, &[("upstream:\n", &servers)]).await;
    for _ in 0..5 {
        assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::OK);
    }
    let at = |upstream: &Upstream| {
        upstream
            .seen()
            .iter()
            .filter(|request| request.target == "/version")
            .count()
    };
    let counts = (at(&gate.site.upstream), at(&second));
    assert!(
        matches!(counts, (5, 0) | (0, 5)),
        "a caller stays with one server: {counts:?}"
    );

    let (mut client, _connection) = gate.http2("node-a").await;
    let watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
    let left = if counts.0 == 5 {
        let elsewhere = Site::start().await.unwrap();
        drop(std::mem::replace(&mut gate.site.upstream, elsewhere.upstream));
        second
    } else {
        drop(second);
        Upstream::start(&gate.site.pki, Standin::new(Vec::new())).await.unwrap()
    };
    assert!(watch.into_body().collect().await.is_err(), "the watch is not whole");
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "upstream-cut");

    for _ in 0..5 {
        let answer = gate.get("node-a", "/version").await;
        assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    }
    gate.logged("others, if any, come first").await;
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    assert_eq!(metrics.matches("scopegate_upstream_healthy{").count(), 2, "{metrics}");
    drop(left);
}

/// Slow is not dead.
#[tokio::test]
async fn an_upstream_that_takes_its_time_is_waited_for_but_not_for_ever() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let upstream = Scripted::start(&site, &[b"http/1.1"], move |mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let wait = match head.split(' ').nth(1) {
                Some("/version") => 300,
                Some("/api") => 60_000,
                _ => 0,
            };
            tokio::time::sleep(Duration::from_millis(wait)).await;
            let _ = stream.write_all(OK).await;
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::edited(
        site,
        FRONT_PROXY,
        FORWARD,
        &[("upstream:\n", "  responseTimeout: 2s\n")],
    )
    .await;
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::OK);
    let answer = gate.get("node-a", "/api").await;
    assert_eq!(answer.code, StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(answer.json()["reason"], "Timeout");
}

/// A client that does not read what it asked for holds up nobody else, though they share connections to upstream.
#[tokio::test]
async fn clients_that_do_not_read_do_not_stop_others() {
    const LARGE: usize = 4 * 1024 * 1024;
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let upstream = Scripted::start(&site, &[b"h2"], move |stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let large = request.uri().path() == "/openapi/large";
            let mut body = respond.send_response(Response::new(()), !large).unwrap();
            if large {
                body.send_data(Bytes::from(vec![b' '; LARGE]), true).unwrap();
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, "").await;
    let (client, _connection) = gate.http2("node-a").await;
    let mut unread = Vec::new();
    for _ in 0..80 {
        unread.push(client.clone().send_request(get("/openapi/large")).await.unwrap());
    }
    for _ in 0..20 {
        assert_eq!(gate.get("node-b", "/version").await.code, StatusCode::OK);
    }
    // What it does not read stands in its own way only.
    unread.truncate(1);
    let whole = unread.pop().unwrap().into_body().collect().await.unwrap().to_bytes();
    assert_eq!(whole.len(), LARGE, "and what is read at last is whole");
}

/// Over HTTP/1.1 whoever gives up a request takes its connection away with it. A new one for each would cost upstream and the gate a
/// handshake, and the client next to nothing.
#[tokio::test]
async fn who_gives_up_requests_has_no_connections_opened_for_it() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let held = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&held);
    let upstream = Scripted::start(&site, &[b"h2", b"http/1.1"], move |mut stream| {
        let held = Arc::clone(&seen);
        async move {
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                let mut connection = h2::server::handshake(stream).await.unwrap();
                let mut waiting: Vec<h2::server::SendResponse<Bytes>> = Vec::new();
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    if is_own(&request) {
                        let _ = respond.send_response(Response::new(()), true);
                    } else {
                        held.fetch_add(1, Ordering::Relaxed);
                        waiting.push(respond);
                    }
                }
            } else if head(&mut stream).await.is_some() {
                held.fetch_add(1, Ordering::Relaxed);
                let _ = stream.read_u8().await;
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, FORWARD).await;
    let (client, _connection) = gate.http2("node-a").await;
    for count in 1..=60 {
        let given_up = tokio::spawn(client.clone().send_request(get("/version")));
        eventually("a request", || (held.load(Ordering::Relaxed) == count).then_some(())).await;
        given_up.abort();
    }
    let opened = *upstream.connections.lock().unwrap();
    assert!(opened <= 30, "{opened} connections for 60 requests that were given up");
}

/// Connections that callers share carry one request after the other. However many are given up in the middle of an answer, nobody is
/// given another one's.
#[tokio::test]
async fn answers_go_to_who_asked() {
    const TIMES: usize = 150;
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    // Says what it was asked for, in two pieces.
    let upstream = Scripted::start(&site, &[b"http/1.1"], move |mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let path = head.split(' ').nth(1).unwrap().to_owned();
            let (length, pause) = (2 * path.len(), Duration::from_millis(2));
            let first = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{path}");
            let sent = stream.write_all(first.as_bytes()).await;
            tokio::time::sleep(pause).await;
            if sent.is_err() || stream.write_all(path.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, "").await;
    let mut callers = tokio::task::JoinSet::new();
    for (at, node) in ["node-a", "node-b", "node-a", "node-b"].into_iter().enumerate() {
        let (client, connection) = gate.http2(node).await;
        callers.spawn(async move {
            let _connection = connection;
            for time in 0..TIMES {
                let path = format!("/openapi/{at}-{time}");
                let answer = client.clone().send_request(get(&path)).await.unwrap();
                assert_eq!(answer.status(), StatusCode::OK);
                // Every fourth is not waited for.
                if (at + time) % 4 > 0 {
                    let body = answer.into_body().collect().await.unwrap().to_bytes();
                    assert_eq!(body, path.repeat(2).as_bytes());
                }
            }
        });
    }
    callers.join_all().await;
    let opened = *upstream.connections.lock().unwrap();
    assert!(opened > 1 && opened < TIMES * 4, "{opened}");
}

/// An API server that is stopped politely closes the connections on which nothing is under way. Nobody waits for an answer on one of
/// those.
#[tokio::test]
async fn a_connection_that_was_closed_is_noticed_at_once() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let upstream = Scripted::start(&site, &[b"http/1.1"], move |mut stream| async move {
        if head(&mut stream).await.is_some() {
            let _ = stream.write_all(OK).await;
            // With a word of TLS, as Go does it.
            let _ = stream.shutdown().await;
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, FORWARD).await;
    let (client, _connection) = gate.http2("node-a").await;
    for _ in 0..20 {
        // Many at a time, so that there are many to be noticed.
        let asked: Vec<_> = (0..6)
            .map(|_| tokio::spawn(client.clone().send_request(get("/version"))))
            .collect();
        for answer in asked {
            let answer = tokio::time::timeout(Duration::from_secs(10), answer).await;
            assert_eq!(answer.expect("an answer").unwrap().unwrap().status(), StatusCode::OK);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
