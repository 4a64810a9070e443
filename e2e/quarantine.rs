//! Quarantine: in force at once, for what has begun as well, kept over restarts and shared by replicas.

mod real;

use std::{path::Path, process::Command, time::Duration};

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use scopegate::{
    demo::site::{FRONT_PROXY, Site},
    pki::Usage,
};
use serde_json::{Value, json};
use test_case::test_case;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::gate::{
    Answer, FORWARD, Gate, Process, admin, connect, eventually, get, operator, ready, scopegate, send, with_admin_tls,
};

const OWN_SECRET: &str = "/api/v1/namespaces/default/secrets/secret-of-web-on-node-a";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-a";
const IN_FILE: &str = "quarantine: {file: quarantine.json}\n";

/// What the command prints, and its exit code.
fn quarantine(gate: &Gate, arguments: &[&str]) -> (String, i32) {
    let output = Command::new(scopegate())
        .arg("quarantine")
        .args(arguments)
        .args(["--admin", &format!("http://{}", gate.admin)])
        .arg("--token-file")
        .arg(gate.site.file("admin.token"))
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (String::from_utf8(printed).unwrap(), output.status.code().unwrap())
}

async fn hold(gate: &Gate, hold: Value) -> Answer {
    change(gate, &hold.to_string()).await
}

async fn change(gate: &Gate, body: &str) -> Answer {
    gate.operate(Request::put("/quarantine"), body).await
}

/// The test that the issue of an operator at night comes down to: the node does nothing any more, everybody can see why, and all is
/// well again when it is lifted.
#[tokio::test]
async fn a_node_is_stopped_and_let_go() {
    let gate = Gate::start(FRONT_PROXY, IN_FILE).await;
    assert_eq!(gate.get("node-a", OWN_SECRET).await.code, StatusCode::OK);
    let (printed, code) = quarantine(&gate, &["node-a", "--for", "2h", "--reason", "ticket 4711"]);
    assert_eq!(code, 0, "{printed}");
    assert!(
        printed.starts_with("node node-a is in quarantine (Deny) since 20"),
        "{printed}"
    );
    assert!(
        printed.ends_with(", by the holder of admin.tokenFile: ticket 4711\n"),
        "{printed}"
    );
    assert!(printed.contains(" until 20"), "{printed}");

    for target in [OWN_SECRET, LEASE, "/version", "/api/v1/nodes/node-a"] {
        let before = gate.forwarded().len();
        let answer = gate.get("node-a", target).await;
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{target}");
        assert!(
            answer.message().ends_with(": the caller is in quarantine"),
            "{}",
            answer.body
        );
        assert!(
            !answer.body.contains("4711"),
            "the reason is for operators: {}",
            answer.body
        );
        assert_eq!(gate.forwarded().len(), before, "{target} was forwarded");
    }
    assert_eq!(gate.get("node-b", "/version").await.code, StatusCode::OK);

    let answer = gate.get("node-a", OWN_SECRET).await;
    let event = gate.event(&answer.audit_id()).await;
    let annotations = &event["annotations"];
    assert_eq!(annotations["scopegate.dev/rule"], "callers/quarantine");
    assert_eq!(annotations["authorization.k8s.io/decision"], "forbid");
    let reason = annotations["authorization.k8s.io/reason"].as_str().unwrap();
    assert!(reason.starts_with("node node-a is in quarantine (Deny) since ") && reason.contains("ticket 4711"));
    let event = gate.event_where(|event| event["requestURI"] == "/quarantine").await;
    assert_eq!(event["verb"], "update");
    assert_eq!(event["user"]["username"], "the holder of admin.tokenFile");
    let told = event["annotations"]["scopegate.dev/quarantine"].as_str().unwrap();
    assert!(told.contains("ticket 4711"), "{told}");
    gate.logged("quarantine begins").await;
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    assert!(
        metrics.contains("scopegate_quarantined{mode=\"Deny\"} 1\n"),
        "{metrics}"
    );
    assert!(metrics.contains("scopegate_quarantine_kept 1\n"), "{metrics}");
    let refused = "scopegate_rule_violations_total{rule=\"callers/quarantine\",mode=\"Enforce\"} 5\n";
    assert!(metrics.contains(refused), "{metrics}");
    let why = "/debug/why?node=node-a&verb=get&resource=secrets&namespace=default&name=secret-of-web-on-node-a";
    let why = gate.admin(Request::get(why), "").await.body;
    assert!(
        why.starts_with("REFUSED: ") && why.contains("rule      callers/quarantine"),
        "{why}"
    );
    assert!(why.contains("because   node node-a is in quarantine (Deny)"), "{why}");
    let (printed, _) = quarantine(&gate, &["node-a", "--mode", "ReadOnly"]);
    assert!(
        printed.contains("note: this takes the place of another: node node-a is in quarantine (Deny)"),
        "{printed}"
    );
    quarantine(&gate, &["node-a"]);
    let (listed, code) = quarantine(&gate, &[]);
    assert!(
        code == 0 && listed.contains("node node-a is in quarantine (Deny)"),
        "{listed}"
    );
    let (listed, _) = quarantine(&gate, &["-o", "json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["items"][0]["node"], "node-a");

    let (printed, code) = quarantine(&gate, &["system:node:node-a", "--lift"]);
    assert_eq!(
        (printed.as_str(), code),
        ("node node-a is no longer in quarantine\n", 0)
    );
    assert_eq!(gate.get("node-a", OWN_SECRET).await.code, StatusCode::OK);
    gate.logged("quarantine ends").await;
    let event = gate
        .event_where(|event| event["requestURI"] == "/quarantine" && event["verb"] == "delete")
        .await;
    assert_eq!(event["responseStatus"]["code"], 200);
    let (printed, code) = quarantine(&gate, &["node-a", "--lift"]);
    assert!(
        code == 1 && printed.contains("node node-a is not in quarantine"),
        "{printed}"
    );
}

/// A watch that is open ends, at once; of one who may read, it goes on.
#[test_case("Deny", true; "deny")]
#[test_case("HeartbeatOnly", true; "heartbeats")]
#[test_case("ReadOnly", false; "reading")]
#[tokio::test]
async fn a_live_watch_ends(mode: &str, ends: bool) {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let (mut client, _connection) = gate.http2("node-a").await;
    let target = "/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dnode-a";
    let watch = client.send_request(get(target)).await.unwrap();
    assert_eq!(watch.status(), StatusCode::OK);
    let (mut other, _other) = gate.http2("node-b").await;
    let others = other
        .send_request(get(&target.replace("node-a", "node-b")))
        .await
        .unwrap();
    let answer = hold(&gate, json!({"node": "node-a", "mode": mode})).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    let ended = tokio::time::timeout(Duration::from_secs(2), watch.into_body().collect()).await;
    assert_eq!(ended.is_ok(), ends);
    if ends {
        assert!(ended.unwrap().is_err(), "ended as if it were whole");
        let event = gate.event_where(|event| event["verb"] == "watch").await;
        assert_eq!(event["annotations"]["scopegate.dev/end"], "quarantined");
        let again = client.send_request(get(target)).await.unwrap();
        assert_eq!(again.status(), StatusCode::FORBIDDEN);
    }
    let others = tokio::time::timeout(Duration::from_millis(300), others.into_body().collect()).await;
    assert!(others.is_err(), "another node's watch ended too");
}

/// What a mode leaves is still judged by the rules.
#[tokio::test]
async fn a_heartbeat_is_what_is_left() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    hold(&gate, json!({"node": "node-a", "mode": "HeartbeatOnly"})).await;
    let lease = gate.get("node-a", LEASE).await;
    assert_eq!(lease.code, StatusCode::OK, "{}", lease.body);
    let renew = Request::put(LEASE).header("content-type", "application/json");
    assert_eq!(gate.send("node-a", renew, &lease.body).await.code, StatusCode::OK);
    let status = || {
        let patch = Request::patch("/api/v1/nodes/node-a/status");
        patch.header("content-type", "application/strategic-merge-patch+json")
    };
    let ready = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    assert_eq!(gate.send("node-a", status(), ready).await.code, StatusCode::OK);
    let taints = r#"{"metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}}}"#;
    let answer = gate.send("node-a", status(), taints).await;
    assert!(
        answer.body.contains("is not allowed to modify labels"),
        "{}",
        answer.body
    );
    assert_eq!(gate.get("node-a", OWN_SECRET).await.code, StatusCode::FORBIDDEN);

    hold(&gate, json!({"node": "node-a", "mode": "ReadOnly"})).await;
    assert_eq!(gate.get("node-a", OWN_SECRET).await.code, StatusCode::OK);
    assert_eq!(gate.send("node-a", status(), ready).await.code, StatusCode::FORBIDDEN);
    let foreign = gate
        .get("node-a", "/api/v1/namespaces/default/secrets/secret-of-web-on-node-b")
        .await;
    assert!(foreign.body.contains("no relationship found"), "{}", foreign.body);
}

/// A request that has begun is not let through for having begun: its body came after the quarantine.
#[tokio::test]
async fn a_body_that_comes_late_is_not_forwarded() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let body = r#"{"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#;
    let head = format!(
        "PATCH /api/v1/nodes/node-a/status HTTP/1.1\r\nHost: x\r\nContent-Type: application/strategic-merge-patch+json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body.as_bytes()[..10]).await.unwrap();
    stream.flush().await.unwrap();
    gate.under_way(1).await;
    hold(&gate, json!({"node": "node-a"})).await;
    stream.write_all(&body.as_bytes()[10..]).await.unwrap();
    let mut answer = vec![0; 4096];
    let read = stream.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(
        !gate.forwarded().iter().any(|seen| seen.starts_with("PATCH ")),
        "{:?}",
        gate.forwarded()
    );
    let event = gate.event_where(|event| event["verb"] == "patch").await;
    assert_eq!(event["annotations"]["scopegate.dev/rule"], "callers/quarantine");
}

/// A certificate, by its serial number and by its key, whoever's name is in it; a new one of the same node is not concerned.
#[tokio::test]
async fn a_certificate_is_held() {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let renewed = gate
        .site
        .pki
        .client_ca
        .issue("system:node:node-a", Some("system:nodes"), Usage::Client)
        .unwrap();
    renewed.write(gate.site.dir(), "renewed").unwrap();
    gate.site.kubeconfig("renewed", gate.serving).unwrap();
    let file = |name: &str| gate.site.file(name).display().to_string();
    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").args(arguments).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    let serial = String::from_utf8(openssl(&["x509", "-noout", "-serial", "-in", &file("node-a.crt")])).unwrap();
    let serial = serial.trim().strip_prefix("serial=").unwrap();
    let by_certificate = ["--certificate", &file("node-a.crt")];
    for whom in [["--serial", serial], by_certificate] {
        let (printed, code) = quarantine(&gate, &whom);
        assert_eq!(code, 0, "{printed}");
        assert_eq!(
            gate.get("node-a", "/version").await.code,
            StatusCode::FORBIDDEN,
            "{printed}"
        );
        assert_eq!(gate.get("renewed", "/version").await.code, StatusCode::OK, "{printed}");
        let (printed, code) = quarantine(&gate, &[whom[0], whom[1], "--lift"]);
        assert_eq!(code, 0, "{printed}");
        assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::OK, "{printed}");
    }
}

/// The time is over by itself, and what is typed wrongly is said.
#[tokio::test]
async fn times_and_slips() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let (printed, _) = quarantine(&gate, &["node-a", "--for", "1s"]);
    assert!(printed.contains("note: a restart of the gate forgets it"), "{printed}");
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::FORBIDDEN);
    gate.logged("quarantine ends").await;
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::OK);
    let (printed, code) = quarantine(&gate, &["nodea"]);
    assert!(
        code == 0 && printed.contains("note: the gate knows of no Node \"nodea\""),
        "{printed}"
    );
    for (wrong, said) in [
        (
            &["node-a", "--mode", "deny"][..],
            "[possible values: Deny, HeartbeatOnly, ReadOnly]",
        ),
        (&["node-a", "--for", "2 hours"], "like 30m, 2h or 7d"),
        (&["node-a", "--serial", "1"], "cannot be used with"),
        (&["--serial", "xyz"], "is not a serial number in hexadecimal"),
        (&["--lift"], "required arguments were not provided"),
        (&["--reason", "x"], "required arguments were not provided"),
    ] {
        let (printed, code) = quarantine(&gate, wrong);
        assert_eq!(code, 2, "{printed}");
        assert!(printed.contains(said), "{printed}");
    }
    for (body, said) in [
        ("{}", "exactly one of node, serial and publicKey"),
        (r#"{"node":"a","mode":"Off"}"#, "unknown variant"),
        (r#"{"node":"a","extra":1}"#, "unknown field"),
        (r#"{"node":"a","for":0}"#, "longer than no time"),
        ("[", "EOF"),
    ] {
        let answer = change(&gate, body).await;
        assert_eq!(answer.code, StatusCode::BAD_REQUEST);
        assert!(answer.body.contains(said), "{}", answer.body);
    }
    let answer = gate.operate(Request::delete("/quarantine"), "").await;
    assert_eq!(answer.code, StatusCode::BAD_REQUEST);
}

/// Who is on the gate's machine may look; only who can read the token may change anything.
#[tokio::test]
async fn who_is_on_the_machine_is_no_operator() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let body = r#"{"node":"node-a"}"#;
    for token in [None, Some("Bearer wrong-but-long-enough"), Some("Bearer ")] {
        for request in [Request::put("/quarantine"), Request::delete("/quarantine?node=node-a")] {
            let request = match token {
                Some(token) => request.header("authorization", token),
                None => request,
            };
            let answer = gate.admin(request, body).await;
            assert_eq!(answer.code, StatusCode::UNAUTHORIZED, "{token:?}");
            assert!(answer.body.contains("admin.tokenFile"), "{}", answer.body);
            let event = gate.event_where(|event| event["requestURI"] == "/quarantine").await;
            assert_eq!(event["responseStatus"]["code"], 401);
        }
    }
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::OK);
    assert_eq!(gate.admin(Request::get("/quarantine"), "").await.code, StatusCode::OK);
    let without = Gate::start(FRONT_PROXY, "").await;
    let output = Command::new(scopegate())
        .args(["quarantine", "node-a", "--admin", &format!("http://{}", without.admin)])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(
        printed.contains("answered 401 Unauthorized: this needs the token in admin.tokenFile"),
        "{printed}"
    );
}

/// A page that makes a browser on the gate's machine ask for it speaks to another name, and sees and changes nothing.
#[tokio::test]
async fn a_browser_is_no_operator() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    for host in [
        "evil.example.com",
        "evil.example.com:8444",
        "127.0.0.1.evil.example.com",
        "localhost.evil.example.com",
    ] {
        for request in [
            Request::get("/quarantine"),
            Request::get("/metrics"),
            Request::put("/debug/log-level"),
        ] {
            let answer = gate.operate(request.header("host", host), "error").await;
            assert_eq!(answer.code, StatusCode::UNAUTHORIZED, "{host}");
        }
        assert_eq!(
            gate.admin(Request::get("/livez").header("host", host), "").await.code,
            StatusCode::OK
        );
    }
    for host in ["localhost:8444", "[::1]:8444", "127.0.0.1"] {
        let answer = gate.operate(Request::get("/quarantine").header("host", host), "").await;
        assert_eq!(answer.code, StatusCode::OK, "{host}");
    }
}

/// Whoever listens in the gate's place gets no token, and cannot say that something was done.
#[tokio::test]
async fn an_impostor_gets_no_token() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let impostor = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = impostor.local_addr().unwrap();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = impostor.accept().await.unwrap();
        let mut read = vec![0; 4096];
        let length = stream.read(&mut read).await.unwrap();
        let body = r#"{"text":"node node-a is in quarantine"}"#;
        let answer = format!(
            "HTTP/1.1 200 OK\r\nScopegate-Proof: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            "0".repeat(64),
            body.len()
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&read[..length]).into_owned()
    });
    let token = gate.site.file("admin.token");
    let output = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(scopegate());
        command.args([
            "quarantine",
            "node-a",
            "--admin",
            &format!("http://{address}"),
            "--token-file",
        ]);
        command.arg(token).output().unwrap()
    });
    let output = output.await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("is not the gate whose token this is; nothing was sent to it"),
        "{said}"
    );
    let heard = heard.await.unwrap().to_lowercase();
    assert!(
        heard.contains("scopegate-challenge") && !heard.contains("authorization"),
        "{heard}"
    );
}

/// A change is on record although whoever made it did not wait for the answer.
#[tokio::test]
async fn who_hangs_up_is_on_record() {
    let gate = Gate::start(FRONT_PROXY, IN_FILE).await;
    hold(&gate, json!({"node": "node-a"})).await;
    let token = std::fs::read_to_string(gate.site.file("admin.token")).unwrap();
    let request = format!(
        "DELETE /quarantine?node=node-a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        token.trim()
    );
    // Whose connection ends before the gate has read the request has asked for nothing.
    until(async || {
        let mut stream = tokio::net::TcpStream::connect(gate.admin).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        drop(stream);
        tokio::time::sleep(Duration::from_millis(50)).await;
        gate.get("node-a", "/version").await.code == StatusCode::OK
    })
    .await;
    let event = gate
        .event_where(|event| event["requestURI"] == "/quarantine" && event["verb"] == "delete")
        .await;
    assert_eq!(event["user"]["username"], "the holder of admin.tokenFile");
    gate.logged("an operator lifts a quarantine").await;
}

/// A body that is too large to be waited for is on its way before it is whole; the rest of it is not sent after the quarantine.
#[tokio::test]
async fn a_large_body_is_not_finished() {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let filler = "x".repeat(900_000);
    let body =
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"large"}},"data":{{"a":"{filler}"}}}}"#);
    let head = format!(
        "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body.as_bytes()[..400_000]).await.unwrap();
    stream.flush().await.unwrap();
    gate.under_way(1).await;
    hold(&gate, json!({"node": "node-a"})).await;
    let _ = stream.write_all(&body.as_bytes()[400_000..]).await;
    let mut answer = vec![0; 4096];
    let read = stream.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let stored = gate.get("node-b", "/api/v1/namespaces/default/configmaps/large").await;
    assert_ne!(stored.code, StatusCode::OK, "it was stored");
}

/// Where operators have certificates, their names are on record, and a node's certificate does not make it one.
#[tokio::test]
async fn operators_are_known_by_their_certificates() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let operator = site.pki.client_ca.issue("alice", Some("ops"), Usage::Client).unwrap();
    operator.write(site.dir(), "alice").unwrap();
    let config = site.configuration(FRONT_PROXY, "audit: {path: audit.log}\n").unwrap();
    std::fs::write(&config, with_admin_tls(&std::fs::read_to_string(&config).unwrap())).unwrap();
    let process = Process::serve(&config);
    let (serving, admin) = process.addresses().await;
    process.line("upstream reached").await;
    let by = |user: &str, arguments: &[&str]| {
        let mut command = Command::new(scopegate());
        command.arg("quarantine").args(arguments);
        command.args(["--admin", &format!("https://localhost:{}", admin.port())]);
        for (flag, file) in [
            ("--cacert", "server-ca.crt"),
            ("--cert", &format!("{user}.crt")),
            ("--key", &format!("{user}.key")),
        ] {
            command.arg(flag).arg(site.file(file));
        }
        let output = command.output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        (String::from_utf8(printed).unwrap(), output.status.code().unwrap())
    };
    let (printed, code) = by("node-b", &["node-a"]);
    assert!(code == 1 && printed.contains("401"), "{printed}");
    let (printed, code) = by("alice", &["node-a"]);
    assert!(code == 0 && printed.contains(", by alice"), "{printed}");
    let kubeconfig = site.kubeconfig("node-a", serving).unwrap();
    assert_eq!(
        send(&kubeconfig, Request::get("/version"), "").await.code,
        StatusCode::FORBIDDEN
    );
    // Nor is whoever is in quarantine one, who could let itself go.
    let held = site.pki.client_ca.issue("mallory", Some("ops"), Usage::Client).unwrap();
    held.write(site.dir(), "mallory").unwrap();
    let certificate = site.file("mallory.crt").display().to_string();
    // Also not one who has begun before.
    let body = r#"{"node":"node-b"}"#;
    let mut begun = connect(site.dir(), admin, "mallory", b"http/1.1").await;
    let head = format!(
        "PUT /quarantine HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    begun.write_all(head.as_bytes()).await.unwrap();
    begun.flush().await.unwrap();
    // It is let in as an operator now, and waited for.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (printed, code) = by("alice", &["--certificate", &certificate]);
    assert_eq!(code, 0, "{printed}");
    begun.write_all(body.as_bytes()).await.unwrap();
    let mut answer = vec![0; 1024];
    let read = begun.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(
        answer.starts_with("HTTP/1.1 401 ") && answer.contains("whoever is in quarantine is no operator"),
        "{answer}"
    );
    for wish in [
        &["--certificate", &certificate, "--lift"][..],
        &["node-a", "--lift"],
        &[],
    ] {
        let (printed, code) = by("mallory", wish);
        assert!(code == 1 && printed.contains("401"), "{printed}");
    }
    let event = eventually("the audit event", || {
        let log = std::fs::read_to_string(site.file("audit.log")).unwrap();
        let mut events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.find(|event| event["requestURI"] == "/quarantine" && event["responseStatus"]["code"] == 200)
    })
    .await;
    assert_eq!(event["user"]["username"], "alice");
}

/// The file keeps it over a restart, can be written by hand, and is shared.
#[tokio::test]
async fn a_restart_forgets_nobody() {
    let mut gate = Gate::start(FRONT_PROXY, IN_FILE).await;
    hold(&gate, json!({"node": "node-a", "reason": "kept"})).await;
    gate.signal("TERM");
    assert!(gate.exited().await.success());
    let second = Process::serve(&gate.site.file("gate.yaml"));
    let (serving, admin_port) = second.addresses().await;
    ready(admin_port).await;
    let kubeconfig = gate.site.kubeconfig("node-a", serving).unwrap();
    let version = async || send(&kubeconfig, Request::get("/version"), "").await.code;
    assert_eq!(version().await, StatusCode::FORBIDDEN);

    // By hand, as a replica would: somebody else is held now, and this one no longer.
    let by_hand = "apiVersion: scopegate.dev/v1alpha1\nkind: QuarantineList\nitems:\n- {node: node-b, mode: Deny}\n";
    std::fs::write(gate.site.file("quarantine.json"), by_hand).unwrap();
    until(async || version().await == StatusCode::OK).await;
    // What cannot be read lets nobody go, and does not let the next gate begin.
    std::fs::write(gate.site.file("quarantine.json"), "items: [").unwrap();
    second.line("cannot read or write the quarantine list").await;
    let listed = admin(admin_port, Request::get("/quarantine"), "").await.body;
    assert!(listed.contains("node node-b is in quarantine"), "{listed}");
    let put = operator(Request::put("/quarantine"), &gate.site.file("admin.token"));
    let answer = admin(admin_port, put, r#"{"node":"node-a"}"#).await;
    assert_eq!(answer.code, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(
        answer.body.contains("in force at this gate, but not kept"),
        "{}",
        answer.body
    );
    assert_eq!(version().await, StatusCode::FORBIDDEN, "in force all the same");
    let third = serve_once(&gate.site.file("gate.yaml"));
    assert!(
        third.contains("quarantine.file: ") && third.contains("is not a quarantine list"),
        "{third}"
    );
}

fn serve_once(config: &Path) -> String {
    let output = Command::new(scopegate())
        .arg("serve")
        .arg("--config")
        .arg(config)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

async fn until(mut met: impl AsyncFnMut() -> bool) {
    let began = std::time::Instant::now();
    while !met().await {
        assert!(began.elapsed() < crate::gate::PATIENCE, "it never came to that");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
