use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use scopegate::demo::site::{FRONT_PROXY, Site};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::gate::{FORWARD, Gate, Process, WATCH, admin, connect, get, send};

/// After SIGTERM no connection is accepted, what runs may finish, and the exit code is 0.
#[tokio::test]
async fn a_stop_waits_for_what_is_under_way() {
    let mut gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let mut watch = gate.connect("node-a", b"http/1.1").await;
    watch
        .write_all(WATCH.replace("watch=true", "watch=true&timeoutSeconds=2").as_bytes())
        .await
        .unwrap();
    watch.read_u8().await.unwrap();
    let idle = gate.connect("node-b", b"http/1.1").await;
    gate.signal("TERM");
    gate.logged("draining").await;
    let ready = gate.admin(Request::get("/readyz"), "").await;
    assert_eq!(ready.code, StatusCode::SERVICE_UNAVAILABLE);
    assert!(ready.body.contains("[-]shutdown pending"), "{}", ready.body);
    assert!(
        tokio::net::TcpStream::connect(gate.serving).await.is_err(),
        "still accepting"
    );
    let mut rest = String::new();
    watch.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "the watch was cut: {rest}");
    assert_eq!(gate.exited().await.code(), Some(0), "{}", gate.log());
    drop(idle);
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "complete");
}

/// The same over HTTP/2, where one connection carries both what finishes and what comes too late.
#[tokio::test]
async fn a_stop_lets_http2_streams_finish() {
    let mut gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let (mut client, _connection) = gate.http2("node-a").await;
    let watch = client
        .send_request(get("/api/v1/pods?watch=true&timeoutSeconds=2"))
        .await
        .unwrap();
    gate.signal("TERM");
    gate.logged("draining").await;
    watch.into_body().collect().await.unwrap();
    assert_eq!(gate.exited().await.code(), Some(0), "{}", gate.log());
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "complete");
}

/// With a delay the gate says that it is leaving while it still accepts, so that a balancer can look elsewhere first.
#[tokio::test]
async fn a_stop_can_be_announced_first() {
    let site = Site::start().await.unwrap();
    let path = site.configuration(FRONT_PROXY, "").unwrap();
    let config = std::fs::read_to_string(&path)
        .unwrap()
        .replace("serving:\n", "serving:\n  shutdownDelay: 2s\n");
    std::fs::write(&path, config).unwrap();
    let mut process = Process::serve(&path);
    let (serving, address) = process.addresses().await;
    process.line("upstream reached").await;
    process.signal("TERM");
    process.line("stopping").await;
    let ready = admin(address, Request::get("/readyz"), "").await;
    assert_eq!(ready.code, StatusCode::SERVICE_UNAVAILABLE);
    let kubeconfig = site.kubeconfig("node-a", serving).unwrap();
    assert_eq!(
        send(&kubeconfig, Request::get("/version"), "").await.code,
        StatusCode::OK
    );
    assert_eq!(process.exited().await.code(), Some(0));
}

/// An operator in a hurry.
#[tokio::test]
async fn a_second_signal_ends_the_gate_at_once() {
    let mut gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let mut watch = gate.connect("node-a", b"http/1.1").await;
    watch.write_all(WATCH.as_bytes()).await.unwrap();
    watch.read_u8().await.unwrap();
    gate.signal("TERM");
    gate.logged("draining").await;
    gate.signal("INT");
    assert_eq!(gate.exited().await.code(), Some(1));
}

/// What does not finish in time is cut, and still audited.
#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    let site = Site::start().await.unwrap();
    let more = format!("audit: {{path: audit.log}}\n{FORWARD}");
    let path = site.configuration(FRONT_PROXY, &more).unwrap();
    let config = std::fs::read_to_string(&path)
        .unwrap()
        .replace("serving:\n", "serving:\n  drainTimeout: 300ms\n");
    std::fs::write(&path, config).unwrap();
    let mut process = Process::serve(&path);
    let (serving, _) = process.addresses().await;
    for _ in 0..2 {
        let mut watch = connect(&site, serving, "node-a", b"http/1.1").await;
        watch.write_all(WATCH.as_bytes()).await.unwrap();
        watch.read_u8().await.unwrap();
        std::mem::forget(watch);
    }
    process.signal("TERM");
    assert_eq!(process.exited().await.code(), Some(0), "{}", process.stderr());
    assert!(
        process
            .stderr()
            .contains("cutting connections that did not finish in time")
    );
    let audit = std::fs::read_to_string(site.file("audit.log")).unwrap();
    assert_eq!(audit.matches("gate-stopped").count(), 2, "{audit}");
}
