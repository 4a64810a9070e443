use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::gate::{FORWARD, Gate, Process, WATCH, connect, get};

/// Credentials and contents are in no log line and no audit event, at the loudest level.
#[tokio::test]
async fn secrets_are_never_written() {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    gate.operate(Request::put("/debug/log-level"), "trace").await;
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"k":"aHVzaC1ib2R5"}}"#;
    let create = Request::post("/api/v1/namespaces/default/secrets")
        .header("content-type", "application/json")
        .header("authorization", "Bearer hush-token")
        .header("cookie", "hush-cookie");
    assert_eq!(gate.send("node-a", create, secret).await.code, StatusCode::CREATED);
    let read = gate.get("node-a", "/api/v1/namespaces/default/secrets/s").await;
    assert!(read.body.contains("aHVzaC1ib2R5"));
    let refused = Request::get("/version").header("authorization", "Bearer hush-token");
    let refused = gate.send("nobody", refused, "").await;
    gate.event(&refused.audit_id()).await;
    let malformed = gate.get("node-a", "/version?token=hush-query%zz").await;
    gate.logged(&malformed.audit_id()).await;
    let audit = std::fs::read_to_string(gate.site.file("audit.log")).unwrap();
    let log = gate.log();
    assert!(
        log.contains("secrets default/s"),
        "the request itself is logged:\n{log}"
    );
    assert!(!log.contains("hush-query"), "a query in the log");
    for hush in ["hush-token", "hush-cookie", "aHVzaC1ib2R5"] {
        assert!(!log.contains(hush), "{hush} in the log");
        assert!(!audit.contains(hush), "{hush} in the audit log");
    }
}

/// One event each, with who, what, how it ended, and why.
#[tokio::test]
async fn every_request_has_one_audit_event() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let allowed = gate.get("node-a", "/version").await.audit_id();
    let forbidden = gate
        .get("node-a", "/api/v1/namespaces/default/secrets/s?x=1")
        .await
        .audit_id();
    let unauthorized = gate.get("nobody", "/version").await.audit_id();
    let malformed = gate.get("node-a", "//").await.audit_id();

    let event = gate.event(&allowed).await;
    assert_eq!(event["apiVersion"], "audit.k8s.io/v1");
    assert_eq!(event["stage"], "ResponseComplete");
    assert_eq!(event["user"]["username"], "system:node:node-a");
    assert_eq!(event["responseStatus"]["code"], 200);
    assert_eq!(event["annotations"]["authorization.k8s.io/decision"], "allow");
    assert_eq!(
        event["annotations"]["authorization.k8s.io/reason"],
        "rule everyone/discovery"
    );
    assert_eq!(event["sourceIPs"], serde_json::json!(["127.0.0.1"]));

    let event = gate.event(&forbidden).await;
    assert_eq!(event["requestURI"], "/api/v1/namespaces/default/secrets/s?x=1");
    assert_eq!(event["verb"], "get");
    assert_eq!(
        event["objectRef"],
        serde_json::json!({"resource": "secrets", "namespace": "default", "name": "s", "apiVersion": "v1"})
    );
    assert_eq!(event["responseStatus"]["code"], 403);
    assert_eq!(event["annotations"]["authorization.k8s.io/decision"], "forbid");

    let event = gate.event(&unauthorized).await;
    assert_eq!(event["responseStatus"]["code"], 401);
    assert_eq!(event["annotations"]["scopegate.dev/cause"], "no client certificate");
    let event = gate.event(&malformed).await;
    assert_eq!(event["responseStatus"]["code"], 400);

    let log = std::fs::read_to_string(gate.site.file("audit.log")).unwrap();
    assert_eq!(log.lines().count(), 4, "{log}");
}

/// The client goes away in the middle of an answer.
#[tokio::test]
async fn a_client_that_leaves_during_a_watch_is_audited() {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    stream.write_all(WATCH.as_bytes()).await.unwrap();
    stream.read_u8().await.unwrap();
    drop(stream);
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "client-gone");
    assert_eq!(event["responseStatus"]["code"], 200);
}

/// One stream of an HTTP/2 connection is given up, and the connection goes on.
#[tokio::test]
async fn a_stream_that_is_reset_is_audited() {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let (mut client, _connection) = gate.http2("node-a").await;
    let watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    assert!(metrics.contains("scopegate_requests_in_flight 1"), "{metrics}");
    drop(watch);
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "client-gone");
    assert_eq!(
        client.send_request(get("/version")).await.unwrap().status(),
        StatusCode::OK
    );
}

/// The client goes away so early that hyper sees it before anybody has begun to handle what it has asked.
#[tokio::test]
async fn a_client_that_leaves_at_once_is_audited() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    for turn in 0..20 {
        let mut stream = gate.connect("node-a", b"http/1.1").await;
        let request = format!("GET /version?turn={turn} HTTP/1.1\r\nHost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.get_mut().0.shutdown().await.unwrap();
        // Whether or not there is an answer.
        let _ = stream.read_to_end(&mut Vec::new()).await;
        let uri = format!("/version?turn={turn}");
        gate.event_where(|event| event["requestURI"] == uri.as_str()).await;
    }
    let log = std::fs::read_to_string(gate.site.file("audit.log")).unwrap();
    assert_eq!(log.lines().count(), 20, "{log}");
}

/// The client goes away before there is an answer: upstream accepts the connection and then says nothing.
#[tokio::test]
async fn a_client_that_leaves_before_the_answer_is_audited() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    gate.site.kubeconfig("gate", silent.local_addr().unwrap()).unwrap();
    let process = Process::serve(&gate.site.file("gate.yaml"));
    let (serving, _) = process.addresses().await;
    let mut stream = connect(gate.site.dir(), serving, "node-a", b"http/1.1").await;
    stream
        .write_all(b"GET /apis HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    // The gate waits for upstream once it has connected there: to see whether it is up, to follow it, and with the request.
    let _waiting = [
        silent.accept().await.unwrap(),
        silent.accept().await.unwrap(),
        silent.accept().await.unwrap(),
    ];
    drop(stream);
    let event = gate.event_where(|event| event["requestURI"] == "/apis").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "client-gone");
    assert_eq!(event["responseStatus"]["code"], 499);
}
