//! Connections that stop being HTTP: joined only when upstream has agreed, and never a way around the gate.

use std::sync::{Arc, Mutex};

use scopegate::demo::site::{FRONT_PROXY, Site};
use test_case::test_case;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    gate::{FORWARD, Gate, eventually},
    scripted::{Scripted, head},
};

const EXEC: &str = "/api/v1/namespaces/default/pods/web-on-node-a/exec?command=sh";
const WEBSOCKET: &str =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n";
const SPDY: &str = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n";
const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/// What an upstream read, all connections together.
type Record = Arc<Mutex<String>>;

/// A gate before an upstream that answers everything but probes with these bytes, then echoes what it reads, in capitals,
/// until it reads `bye`.
async fn gate_before(answer: &'static str, edits: &[(&str, &str)]) -> (Gate, Record) {
    gate_with(FORWARD, answer, edits).await
}

/// The same with something else in its configuration.
async fn gate_with(more: &str, answer: &'static str, edits: &[(&str, &str)]) -> (Gate, Record) {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let record = Record::default();
    let shared = Arc::clone(&record);
    let upstream = Scripted::start(&site, &[b"http/1.1"], move |mut stream| {
        let record = Arc::clone(&shared);
        async move {
            while let Some(head) = head(&mut stream).await {
                // The gate asks for its own sake.
                if !head.contains("\r\naudit-id: ") {
                    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                    stream.write_all(ok).await.unwrap();
                    continue;
                }
                record.lock().unwrap().push_str(&head);
                stream.write_all(answer.as_bytes()).await.unwrap();
                let mut buffer = [0; 1024];
                while let Ok(n @ 1..) = stream.read(&mut buffer).await {
                    let read = String::from_utf8_lossy(&buffer[..n]).into_owned();
                    record.lock().unwrap().push_str(&read);
                    if read.contains("bye") {
                        break;
                    }
                    stream.write_all(read.to_uppercase().as_bytes()).await.unwrap();
                }
                record.lock().unwrap().push_str("<closed>");
                let _ = stream.shutdown().await;
                return;
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    (Gate::edited(site, FRONT_PROXY, more, edits).await, record)
}

async fn read_until(stream: &mut (impl tokio::io::AsyncRead + Unpin), wanted: &str) -> String {
    let mut read = String::new();
    while !read.contains(wanted) {
        let byte = stream.read_u8().await;
        let Ok(byte) = byte else {
            panic!("no {wanted:?} in {read:?}")
        };
        read.push(char::from(byte));
    }
    read
}

/// As RBAC has it, get is enough for a session over WebSocket.
#[tokio::test]
async fn an_extra_rule_opens_a_session() {
    let rule = "{apiGroups: [''], resources: [pods/exec], resourceNames: [web-on-node-a], verbs: [get]}";
    let (gate, record) = gate_with(&format!("extraRules: {{nodes: [{rule}]}}\n"), AGREED, &[]).await;
    for (target, code) in [(EXEC, "101"), (&EXEC.replace("on-node-a", "on-node-b"), "403")] {
        let mut stream = gate.connect("node-a", b"http/1.1").await;
        let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n{WEBSOCKET}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = read_until(&mut stream, "\r\n\r\n").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
    }
    assert!(
        !record.lock().unwrap().contains("node-b"),
        "what no rule allows stays here"
    );
    let event = gate.event_where(|event| event["responseStatus"]["code"] == 101).await;
    let reason = &event["annotations"]["authorization.k8s.io/reason"];
    assert_eq!(reason, "extraRules.nodes[0]");
}

/// Bytes sent along with the heads, by either side, are carried too; when one side ends, so does the other.
#[test_case("GET", WEBSOCKET, true; "websocket, ended by the client")]
#[test_case("GET", WEBSOCKET, false; "websocket, ended by upstream")]
#[tokio::test]
async fn bytes_pass_both_ways(method: &str, wish: &str, client_ends: bool) {
    let (gate, record) = gate_before(
        concat!(
            "HTTP/1.1 101 Switching Protocols\r\n",
            "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nwelcome "
        ),
        &[],
    )
    .await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let request = format!("{method} {EXEC} HTTP/1.1\r\nHost: x\r\n{wish}\r\nhello ");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = read_until(&mut stream, "HELLO ").await;
    assert!(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{answer}");
    assert!(answer.contains("upgrade: websocket\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nwelcome HELLO "), "{answer}");
    stream.write_all(b"more").await.unwrap();
    read_until(&mut stream, "MORE").await;
    if client_ends {
        stream.shutdown().await.unwrap();
        eventually("the end of upstream's connection", || {
            record.lock().unwrap().contains("<closed>").then_some(())
        })
        .await;
    } else {
        stream.write_all(b"bye").await.unwrap();
    }
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert_eq!(rest, b"", "nothing comes after the end");
    let event = gate.event_where(|event| event["responseStatus"]["code"] == 101).await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "complete");
    assert_eq!(event["objectRef"]["subresource"], "exec");
}

/// Who asks is told to upstream, with the handshake and without the client's own claims and credentials.
#[tokio::test]
async fn upstream_reads_the_handshake_and_the_node() {
    let (gate, record) = gate_before(AGREED, &[]).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let claims = "Connection: X-Remote-User, Upgrade\r\nX-Remote-User: admin\r\nAuthorization: Bearer abc\r\n\
                  Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.YWJj, v5.channel.k8s.io\r\n";
    let request = format!("GET {EXEC} HTTP/1.1\r\nHost: x\r\n{WEBSOCKET}{claims}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    let read = record.lock().unwrap().to_lowercase();
    for wanted in [
        "x-remote-user: system:node:node-a\r\n",
        "connection: upgrade\r\n",
        "upgrade: websocket\r\n",
        "sec-websocket-key: x\r\n",
        "sec-websocket-protocol: v5.channel.k8s.io\r\n",
    ] {
        assert!(read.contains(wanted), "no {wanted} in {read}");
    }
    assert!(!read.contains("bearer") && !read.contains("admin"), "{read}");
}

/// CVE-2018-1002105: a refusal leaves no pipe open behind which a second request could go with the gate's identity.
#[test_case("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 403 "; "refused")]
#[test_case("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 "; "not understood")]
#[test_case("HTTP/1.1 302 Found\r\nLocation: https://192.0.2.1/\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 502 "; "redirected")]
#[test_case("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "HTTP/1.1 502 "; "to something else")]
#[test_case("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n", "HTTP/1.1 502 "; "to nothing")]
#[tokio::test]
async fn without_an_agreement_both_sides_end(answer: &'static str, told: &str) {
    let (gate, record) = gate_before(answer, &[]).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let smuggled = "GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n";
    let request = format!("POST {EXEC} HTTP/1.1\r\nHost: x\r\n{SPDY}\r\n{smuggled}");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    let read = String::from_utf8_lossy(&read);
    assert!(read.starts_with(told), "{read}");
    assert_eq!(read.matches("HTTP/1.1 ").count(), 1, "{read}");
    assert!(read.contains("connection: close\r\n"), "{read}");
    eventually("the end of upstream's connection", || {
        record.lock().unwrap().contains("<closed>").then_some(())
    })
    .await;
    assert!(!record.lock().unwrap().contains("/api/v1/secrets"), "smuggled");
}

/// An answer that is none to the upgrade is still brought to its end, however long it takes.
#[tokio::test]
async fn an_answer_without_an_upgrade_is_whole() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let upstream = Scripted::start(&site, &[b"http/1.1"], |mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let probe = head.starts_with("GET /readyz ");
            let length = if probe { 0 } else { 4 };
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            if !probe {
                stream.write_all(b"ab").await.unwrap();
                tokio::time::sleep(std::time::Duration::from_secs(5)).await;
                stream.write_all(b"cd").await.unwrap();
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, FORWARD).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let request = format!("GET {EXEC} HTTP/1.1\r\nHost: x\r\n{WEBSOCKET}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    let read = String::from_utf8_lossy(&read);
    assert!(
        read.starts_with("HTTP/1.1 200 ") && read.ends_with("\r\n\r\nabcd"),
        "{read}"
    );
}

/// Where nothing can be upgraded, or not to this, upstream is not even asked, and the connection ends.
#[test_case("/api/v1/pods?watch=true", WEBSOCKET; "a watch")]
#[test_case("/version", WEBSOCKET; "no resource")]
#[test_case("/apis/x.io/v1/namespaces/a/pods/b/exec", WEBSOCKET; "pods of another group")]
#[test_case(EXEC, "Connection: Upgrade\r\nUpgrade: h2c\r\n"; "to HTTP/2")]
#[test_case(EXEC, "Upgrade: websocket\r\n"; "not announced")]
#[test_case(EXEC, "Connection: Upgrade\r\n"; "to nothing")]
#[test_case(EXEC, "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n"; "with a body")]
#[tokio::test]
async fn what_cannot_be_upgraded_is_400(target: &str, wish: &str) {
    let (gate, record) = gate_before(AGREED, &[]).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n{wish}\r\nGET /version HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = read_until(&mut stream, "\"code\":400}").await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    if wish.contains("Upgrade: ") {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert_eq!(String::from_utf8_lossy(&rest).trim(), "", "the connection goes on");
        assert_eq!(*record.lock().unwrap(), "");
    }
}

/// What a gate that stops cannot wait for any longer is cut, upgraded or not.
#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    let (mut gate, record) = gate_before(AGREED, &[("serving:\n", "  drainTimeout: 4s\n")]).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let request = format!("GET {EXEC} HTTP/1.1\r\nHost: x\r\n{WEBSOCKET}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    gate.signal("TERM");
    gate.logged("draining").await;
    stream.write_all(b"still there").await.unwrap();
    read_until(&mut stream, "STILL THERE").await;
    assert_eq!(gate.exited().await.code(), Some(0), "{}", gate.log());
    assert!(stream.read_u8().await.is_err());
    eventually("the end of upstream's connection", || {
        record.lock().unwrap().contains("<closed>").then_some(())
    })
    .await;
    let event = gate.event_where(|event| event["responseStatus"]["code"] == 101).await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "gate-stopped");
}
