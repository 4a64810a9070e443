//! Upstreams that misbehave: whatever they do, the client gets an answer that says whose fault it was, and the record says
//! how it ended.

use std::net::SocketAddr;

use http::{Request, StatusCode};
use scopegate::demo::site::{FRONT_PROXY, Site};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

use crate::{gate::Gate, scripted::Scripted};

/// Answers every connection with the same bytes, whatever is asked, and closes it.
async fn scripted(site: &Site, answer: &'static str) -> SocketAddr {
    let script = move |mut stream: TlsStream<TcpStream>| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    };
    Scripted::start(site, &[b"http/1.1"], script).await.address
}

async fn gate_before(answer: &'static str) -> Gate {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let upstream = scripted(&site, answer).await;
    site.kubeconfig("gate", upstream).unwrap();
    Gate::start_at(site, FRONT_PROXY, "").await
}

async fn upstream_errors(gate: &Gate, cause: &str) -> bool {
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    metrics.contains(&format!("scopegate_upstream_errors_total{{cause=\"{cause}\"}} 1"))
}

/// Following it, or letting the client follow it, would carry credentials elsewhere.
#[tokio::test]
async fn a_redirect_is_neither_followed_nor_passed_on() {
    let answer = "HTTP/1.1 302 Found\r\nLocation: https://192.0.2.1/\r\nContent-Length: 0\r\n\r\n";
    let gate = gate_before(answer).await;
    let answer = gate.get("node-a", "/version").await;
    assert_eq!(answer.code, StatusCode::BAD_GATEWAY);
    assert!(!answer.headers.contains_key("location"));
    assert_eq!(answer.json()["kind"], "Status");
    let event = gate.event(&answer.audit_id()).await;
    assert_eq!(
        event["annotations"]["scopegate.dev/cause"],
        "upstream answered with a redirect (302 Found)"
    );
    assert!(upstream_errors(&gate, "redirect").await);
}

/// 401 is about the gate's credentials; the kubelet must not throw its own away over it.
#[tokio::test]
async fn credentials_that_upstream_refuses_are_the_gates_trouble() {
    let gate = gate_before("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n").await;
    let answer = gate.get("node-a", "/version").await;
    assert_eq!(answer.code, StatusCode::BAD_GATEWAY);
    assert!(upstream_errors(&gate, "credentials").await);
    assert!(
        gate.logged(&answer.audit_id())
            .await
            .contains("does not accept the gate's credentials")
    );
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_502() {
    let gate = gate_before("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n").await;
    let noise = scripted(&gate.site, "SSH-2.0-OpenSSH_9.2\r\n").await;
    gate.site.kubeconfig("gate", noise).unwrap();
    let other = crate::gate::Process::serve(&gate.site.file("gate.yaml"));
    let (serving, _) = other.addresses().await;
    let kubeconfig = gate.site.kubeconfig("node-a", serving).unwrap();
    let answer = crate::gate::send(&kubeconfig, Request::get("/version"), "").await;
    assert_eq!(answer.code, StatusCode::BAD_GATEWAY);
    assert_eq!(
        answer.message(),
        "the API server did not give scopegate a usable answer"
    );
}

/// The client sees that the answer is not whole, and so does the record.
#[tokio::test]
async fn an_answer_that_breaks_off_is_recorded_as_such() {
    let gate = gate_before("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"half\":").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    stream
        .write_all(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(String::from_utf8_lossy(&answer).ends_with("{\"half\":"));
    let event = gate.event_where(|event| event["requestURI"] == "/version").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "upstream-cut");
}
