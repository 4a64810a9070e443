use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use scopegate::demo::site::{FRONT_PROXY, Site};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::gate::{FORWARD, Gate, Process, WATCH, admin, edit, get, send};

/// A request whose body is still to come.
const REVIEW: &str = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: x\r\n\
                      Content-Type: application/json\r\nContent-Length: 2\r\n\r\n";

/// After SIGTERM no connection is accepted, what runs may finish, and the exit code is 0.
#[tokio::test]
async fn a_stop_waits_for_what_is_under_way() {
    let mut gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let mut review = gate.connect("node-a", b"http/1.1").await;
    review.write_all(REVIEW.as_bytes()).await.unwrap();
    gate.under_way(1).await;
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
    review.write_all(b"{}").await.unwrap();
    let mut rest = String::new();
    review.read_to_string(&mut rest).await.unwrap();
    assert!(rest.starts_with("HTTP/1.1 201 "), "the request was cut: {rest}");
    assert_eq!(gate.exited().await.code(), Some(0), "{}", gate.log());
    drop(idle);
    let event = gate.event_where(|event| event["verb"] == "create").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "complete");
}

/// Watches end at once and as they should, so that their clients go on at another replica.
#[test_case::test_case(b"http/1.1"; "http1")]
#[test_case::test_case(b"h2"; "http2")]
#[tokio::test]
async fn a_stop_ends_watches(protocol: &[u8]) {
    let mut gate = Gate::start(FRONT_PROXY, FORWARD).await;
    if protocol == b"h2" {
        let (mut client, connection) = gate.http2("node-a").await;
        let mut watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
        let mut whole = watch
            .body_mut()
            .frame()
            .await
            .unwrap()
            .unwrap()
            .into_data()
            .unwrap()
            .to_vec();
        gate.signal("TERM");
        whole.extend(watch.into_body().collect().await.unwrap().to_bytes());
        assert!(whole.ends_with(b"}\n"), "in the middle of an event: {whole:?}");
        connection.await.unwrap().unwrap();
        assert!(client.send_request(get("/version")).await.is_err(), "still served");
    } else {
        let mut watch = gate.connect("node-a", protocol).await;
        watch.write_all(WATCH.as_bytes()).await.unwrap();
        while watch.read_u8().await.unwrap() != b'}' {}
        gate.signal("TERM");
        let mut rest = String::new();
        watch.read_to_string(&mut rest).await.unwrap();
        assert!(rest.ends_with("}\n\r\n0\r\n\r\n"), "not ended as it should be: {rest}");
    }
    assert_eq!(gate.exited().await.code(), Some(0), "{}", gate.log());
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "gate-stopped");
}

/// With a delay the gate says that it is leaving while it still accepts, so that a balancer can look elsewhere first.
#[tokio::test]
async fn a_stop_can_be_announced_first() {
    let site = Site::start().await.unwrap();
    let path = site.configuration(FRONT_PROXY, "").unwrap();
    edit(&path, &[("serving:\n", "  shutdownDelay: 10s\n")]);
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
    process.signal("INT");
    assert_eq!(
        process.exited().await.code(),
        Some(1),
        "the second signal ends it at once"
    );
}

/// An operator in a hurry.
#[tokio::test]
async fn a_second_signal_ends_the_gate_at_once() {
    let mut gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let mut review = gate.connect("node-a", b"http/1.1").await;
    review.write_all(REVIEW.as_bytes()).await.unwrap();
    gate.under_way(1).await;
    gate.signal("TERM");
    gate.logged("draining").await;
    gate.signal("INT");
    assert_eq!(gate.exited().await.code(), Some(1));
}

/// What does not finish in time is cut, and still audited.
#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let edits = [("serving:\n", "  drainTimeout: 300ms\n")];
    let mut gate = Gate::edited(site, FRONT_PROXY, FORWARD, &edits).await;
    for open in 1..=2 {
        let mut review = gate.connect("node-a", b"http/1.1").await;
        review.write_all(REVIEW.as_bytes()).await.unwrap();
        gate.under_way(open).await;
        std::mem::forget(review);
    }
    gate.signal("TERM");
    assert_eq!(gate.exited().await.code(), Some(0), "{}", gate.log());
    assert!(gate.log().contains("cutting connections that did not finish in time"));
    let audit = std::fs::read_to_string(gate.site.file("audit.log")).unwrap();
    assert_eq!(audit.matches("gate-stopped").count(), 2, "{audit}");
}
