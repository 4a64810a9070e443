use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE, OWN};
use test_case::test_case;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::gate::{Answer, FORWARD, Gate, get};

const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const REVIEW: &str = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;

/// Upstream learns the whole user, in both modes that tell it.
#[test_case(FRONT_PROXY; "front proxy")]
#[test_case(IMPERSONATE; "impersonate")]
#[tokio::test]
async fn upstream_sees_the_node_and_not_the_gate(mode: &str) {
    let gate = Gate::start(mode, "").await;
    let answer = gate.send("node-a", Request::post(WHO_AM_I), REVIEW).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    let user = &answer.json()["status"]["userInfo"];
    assert_eq!(user["username"], "system:node:node-a");
    assert_eq!(
        user["groups"],
        serde_json::json!(["system:nodes", "system:authenticated"])
    );
    let credential = user["extra"]["authentication.kubernetes.io/credential-id"][0]
        .as_str()
        .unwrap();
    assert!(credential.starts_with("X509SHA256="), "{credential}");
}

/// In mode Own upstream would answer about the gate, so it is not asked.
#[tokio::test]
async fn with_the_gates_own_identity_self_reviews_are_refused() {
    let gate = Gate::start(OWN, "").await;
    assert_eq!(gate.get("node-a", "/version").await.code, StatusCode::OK);
    let answer = gate.send("node-a", Request::post(WHO_AM_I), REVIEW).await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN);
    assert!(
        answer.message().ends_with("would answer about the gate"),
        "{}",
        answer.message()
    );
    assert_eq!(gate.forwarded(), ["GET /version"]);
}

#[test_case("/api/v1/namespaces/default/secrets/secret-of-web-on-node-b", 403)]
#[test_case("/api/v1/nodes/node-b", 403)]
#[test_case("/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-b", 403)]
#[test_case("/metrics", 403)]
#[test_case("/version?a=1;b=2", 400; "semicolon")]
#[test_case("/version?a=%zz", 400; "bad escape in the query")]
#[test_case("/openapi/../api/v1/secrets", 400; "dot segments")]
#[test_case("/openapi/%2e%2e/api/v1/secrets", 400; "encoded dot segments")]
#[test_case("/openapi/..%2fapi/v1/secrets", 400; "encoded slash")]
#[test_case("//version", 400; "two slashes")]
#[test_case("//api/v1/secrets", 400; "two slashes before a resource")]
#[test_case("/api/v1/watch/pods?fieldSelector=spec.nodeName%3Dnode-a", 403; "the verb in the path ignores selectors")]
#[test_case("/api/v1/watch/namespaces/default/secrets/secret-of-web-on-node-b", 403; "the verb in the path, of an object")]
#[test_case("/api/v1/proxy/nodes/node-b:10250/exec", 403; "the other verb in the path")]
#[test_case("/api/v1/namespaces/default%2Fsecrets%2Fa", 400; "hidden segments")]
#[test_case("/api/v1/%6eodes", 403; "a letter in disguise")]
#[test_case("/api/v1/namespaces/default/pods/..%2f..%2fsecrets", 400; "hidden dot segments")]
#[test_case("/version%00", 400; "a hidden NUL")]
#[test_case("/version%25", 400; "a hidden escape")]
#[test_case("/version;x", 400; "a path parameter")]
#[test_case("/version%23", 400; "a hidden fragment")]
#[test_case("/api/v1/pods?watch=true&watch=false", 400; "a watch or not")]
#[test_case("/api/v1/pods?fieldSelector=a%3Db&fieldSelector=c%3Dd", 400; "two selectors")]
#[tokio::test]
async fn what_is_refused_never_reaches_upstream(target: &str, code: u16) {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let answer = gate.get("node-a", target).await;
    assert_eq!(answer.code.as_u16(), code, "{}", answer.body);
    let status = answer.json();
    assert_eq!(status["kind"], "Status");
    assert_eq!(status["code"], code);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// A method that is none, or another one in disguise, does nothing.
#[test_case("get", "/api/v1/nodes/node-a"; "lower case")]
#[test_case("PROPFIND", "/version"; "another protocol's")]
#[test_case("OPTIONS", "/version"; "options")]
#[test_case("TRACE", "/version"; "trace")]
#[test_case("HEAD", "/version"; "head, which discovery does not include")]
#[tokio::test]
async fn odd_methods_are_refused(method: &str, target: &str) {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header("x-http-method-override", "GET");
    let answer = gate.send("node-a", request, "").await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// No certificate is not a failed handshake but an answer, also for a password or claims in headers.
#[tokio::test]
async fn nobody_is_told_so() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let plain = Request::get("/version");
    let token = Request::get("/version").header("authorization", "Basic YTpi");
    let claims = Request::get("/version")
        .header("x-remote-user", "admin")
        .header("x-remote-group", "system:masters");
    for request in [plain, token, claims] {
        let answer = gate.send("nobody", request, "").await;
        assert_eq!(answer.code, StatusCode::UNAUTHORIZED);
        assert_eq!(answer.message(), "Unauthorized");
    }
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// Whoever is nobody holds no connection: it ends with the refusal, in either protocol.
#[tokio::test]
async fn a_connection_ends_with_401() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let mut stream = gate.connect("nobody", b"http/1.1").await;
    let twice = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2);
    stream.write_all(twice.as_bytes()).await.unwrap();
    let mut answers = Vec::new();
    let _ = stream.read_to_end(&mut answers).await;
    assert_eq!(String::from_utf8_lossy(&answers).matches("HTTP/1.1 401").count(), 1);

    let (mut client, ended) = gate.http2("nobody").await;
    let refused = client.send_request(get("/version")).await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    ended.await.unwrap().unwrap();
    assert!(
        client.send_request(get("/version")).await.is_err(),
        "served after the 401"
    );
}

/// A wish to be taken for somebody weaker is not left out of account.
#[test_case("impersonate-user", 403; "user")]
#[test_case("impersonate-group", 400; "group without user")]
#[test_case("impersonate-unheard-of", 400; "anything else without user")]
#[tokio::test]
async fn impersonation_is_refused(header: &str, code: u16) {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let answer = gate
        .send("node-a", Request::get("/version").header(header, "weaker"), "")
        .await;
    assert_eq!(answer.code.as_u16(), code, "{}", answer.body);
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// However long the target, what is written about it stays short.
#[tokio::test]
async fn a_client_cannot_make_the_gate_write_much() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let long = "&".repeat(50_000);
    let many = |segments| format!("/apis/{}", vec!["&".repeat(250); segments].join("/"));
    for target in [format!("/{long}"), format!("/version?{long}%zz"), many(8), many(200)] {
        let answer = gate.get("node-a", &target).await;
        assert!(answer.body.len() < 20_000, "{} bytes of answer", answer.body.len());
        let event = gate.event(&answer.audit_id()).await;
        assert!(
            event.to_string().len() < 10_000,
            "{} bytes of event",
            event.to_string().len()
        );
        assert!(gate.logged(&answer.audit_id()).await.len() < 4_000);
    }
}

/// A body that the client breaks is the client's fault, not upstream's.
#[tokio::test]
async fn a_broken_body_is_not_blamed_on_upstream() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let head = format!("POST {WHO_AM_I} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(format!("{head}zz\r\n").as_bytes()).await.unwrap();
    let answer = read_answers(&mut stream, 1).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let metrics = gate.admin(Request::get("/metrics"), "").await.body;
    assert!(!metrics.contains("scopegate_upstream_errors_total{"), "{metrics}");
}

/// Whatever the client claims or wants stripped, upstream reads the certificate's user and nothing else.
#[test_case(FRONT_PROXY, "x-remote-"; "front proxy")]
#[test_case(IMPERSONATE, "impersonate-"; "impersonate")]
#[tokio::test]
async fn claims_in_headers_do_not_reach_upstream(mode: &str, prefix: &str) {
    let gate = Gate::start(mode, "").await;
    let request = Request::get("/version")
        .header(
            "connection",
            "close, X-Remote-User, Impersonate-User, Impersonate-Group, x-remote-group, traceparent",
        )
        .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        .header("x-remote-user", "admin")
        .header("x-remote-group", "system:masters")
        .header("x-remote-extra-a", "b")
        .header("authorization", "Bearer abc")
        .header("x-forwarded-for", "192.0.2.1")
        .header("x-original-url", "/api/v1/secrets");
    assert_eq!(gate.send("node-a", request, "").await.code, StatusCode::OK);
    let seen = gate.site.upstream.seen();
    let seen = seen.iter().find(|request| request.target == "/version").unwrap();
    let identity: Vec<&str> = seen.headers.keys().map(http::HeaderName::as_str).collect();
    let claims = [
        "x-remote-",
        "impersonate-",
        "authorization",
        "x-forwarded",
        "x-original",
        "traceparent",
    ];
    for name in identity
        .iter()
        .filter(|name| claims.iter().any(|claim| name.starts_with(claim)))
    {
        assert!(name.starts_with(prefix), "{name} reached upstream");
    }
    assert_eq!(seen.headers[format!("{prefix}user")], "system:node:node-a");
    let groups: Vec<_> = seen.headers.get_all(format!("{prefix}group")).iter().collect();
    assert_eq!(groups, ["system:nodes", "system:authenticated"]);
}

/// Requests whose framing or form two servers could read differently, byte for byte.
#[test_case("GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"; "two lengths")]
#[test_case("GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello"; "signed length")]
#[test_case("GET /version HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n"; "folded header")]
#[test_case("GET /version HTTP/1.1\r\nHost : x\r\n\r\n"; "space in a header name")]
#[test_case("GET *  HTTP/1.1\r\nHost: x\r\n\r\n"; "spaces in the target")]
#[test_case("CONNECT upstream:443 HTTP/1.1\r\nHost: x\r\n\r\n"; "connect")]
#[test_case("CONNECT /version HTTP/1.1\r\nHost: x\r\n\r\n"; "connect to a path")]
#[test_case("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"; "asterisk")]
#[test_case("GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n"; "two credentials")]
#[tokio::test]
async fn ambiguous_bytes_are_refused(bytes: &str) {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let answer = read_answers(&mut stream, 1).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// Of two framings the chunked one counts, as it does for Go; nothing behind it is read as a request, and upstream gets
/// one framing.
#[tokio::test]
async fn two_framings_end_the_connection() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let head = format!("POST {WHO_AM_I} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json");
    let body = format!("{:x}\r\n{REVIEW}\r\n0\r\n\r\n", REVIEW.len());
    let both = format!("{head}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
    let behind = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(format!("{both}{behind}").as_bytes()).await.unwrap();
    let answer = read_answers(&mut stream, 2).await;
    assert!(answer.starts_with("HTTP/1.1 201 Created"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    let seen = gate.site.upstream.seen();
    let review = seen.iter().find(|request| request.target == WHO_AM_I).unwrap();
    assert!(
        !review.headers.contains_key("transfer-encoding"),
        "{:?}",
        review.headers
    );
    assert_eq!(review.headers["content-length"], REVIEW.len().to_string());
    assert_eq!(gate.forwarded(), [format!("POST {WHO_AM_I}")]);
}

/// Reads until so many answers have begun and their bodies, if any, are there, or nothing more comes.
async fn read_answers(stream: &mut (impl tokio::io::AsyncRead + Unpin), count: usize) -> String {
    let mut answer = String::new();
    let mut buffer = [0; 4096];
    let complete = |answer: &str| {
        answer.matches("HTTP/1.1 ").count() >= count
            && (answer.ends_with("}\n") || answer.contains("content-length: 0"))
    };
    while !complete(&answer) {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(n) => answer.push_str(&String::from_utf8_lossy(&buffer[..n])),
        }
    }
    answer
}

/// The target's authority is not the gate's business, and cannot lead it elsewhere.
#[tokio::test]
async fn an_absolute_target_only_names_a_path() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let bytes = b"GET http://192.0.2.1/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(bytes).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert_eq!(gate.forwarded(), ["GET /version"]);
}

/// kube-apiserver's limit, whether the size is announced or not.
#[test_case(true; "announced")]
#[test_case(false; "not announced")]
#[tokio::test]
async fn a_body_over_the_limit_is_refused(announced: bool) {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let mut stream = gate.connect("node-a", b"http/1.1").await;
    let size = 3 * 1024 * 1024 + 1;
    let framing = if announced {
        format!("Content-Length: {size}")
    } else {
        "Transfer-Encoding: chunked".to_owned()
    };
    let head = format!(
        "POST {WHO_AM_I} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n{framing}\r\n\r\n"
    );
    let (mut read, mut write) = tokio::io::split(&mut stream);
    let send = async {
        write.write_all(head.as_bytes()).await?;
        if !announced {
            write.write_all(format!("{size:x}\r\n").as_bytes()).await?;
            write.write_all(&vec![b' '; size]).await?;
            write.write_all(b"\r\n0\r\n\r\n").await?;
        }
        write.flush().await
    };
    let mut answer = Vec::new();
    let receive = async {
        let mut buffer = [0; 1024];
        while !String::from_utf8_lossy(&answer).contains("\"code\":") {
            match read.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(n) => answer.extend_from_slice(&buffer[..n]),
            }
        }
    };
    // The gate may answer and stop reading before everything is sent.
    let _ = tokio::join!(send, receive);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(
        answer.contains("Request entity too large: limit is 3145728"),
        "{answer}"
    );
}

/// Two requests on one HTTP/2 connection, each judged by itself.
#[tokio::test]
async fn http2_is_spoken() {
    let gate = Gate::start(FRONT_PROXY, "").await;
    let (mut client, _connection) = gate.http2("node-a").await;
    for (target, code) in [("/version", 200), ("/api/v1/secrets", 403)] {
        let answer = Answer::read(client.send_request(get(target)).await.unwrap()).await;
        assert_eq!(answer.code.as_u16(), code, "{}", answer.body);
    }
    assert_eq!(gate.forwarded(), ["GET /version"]);
}

/// With `fallback: Upstream` a watch streams through: the event comes while the request is still open.
#[tokio::test]
async fn watches_stream() {
    let gate = Gate::start(FRONT_PROXY, FORWARD).await;
    let (mut client, _connection) = gate.http2("node-a").await;
    let request = get("/api/v1/namespaces/default/configmaps?watch=true");
    let mut body = client.send_request(request).await.unwrap().into_body();
    let mut seen = String::new();
    let mut next = async |wanted: &str| {
        while !seen.contains(wanted) {
            let frame = body.frame().await.unwrap().unwrap();
            seen.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
        }
    };
    next("config-of-web-on-node-a").await;
    let late = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late"}}"#;
    let create = Request::post("/api/v1/namespaces/default/configmaps").header("content-type", "application/json");
    assert_eq!(gate.send("node-a", create, late).await.code, StatusCode::CREATED);
    next("\"late\"").await;
}

/// Not reaching upstream is the gate's trouble, not the client's, and worth trying again.
#[tokio::test]
async fn a_lost_upstream_is_503() {
    let mut gate = Gate::start(FRONT_PROXY, "").await;
    let elsewhere = scopegate::demo::site::Site::start().await.unwrap();
    let lost = std::mem::replace(&mut gate.site.upstream, elsewhere.upstream);
    drop(lost);
    let answer = gate.get("node-a", "/version").await;
    assert_eq!(answer.code, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.json()["details"]["retryAfterSeconds"], 1);
    let event = gate.event(&answer.audit_id()).await;
    let cause = event["annotations"]["scopegate.dev/cause"].as_str().unwrap();
    assert!(cause.contains("Connection refused"), "the log tells why: {event}");
}
