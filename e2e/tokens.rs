//! Bearer tokens: who they stand for is upstream's word, and they go no further than that question.

use http::{Request, StatusCode};
use scopegate::{
    demo::{
        site::{FRONT_PROXY, IMPERSONATE, OWN, Site},
        standin::tokens::{BOOTSTRAP, SERVICE_ACCOUNT},
    },
    identity::token::TOKEN_REVIEWS,
};
use test_case::test_case;
use tokio::io::AsyncWriteExt as _;

use crate::{
    gate::{Gate, eventually},
    scripted::{Scripted, head},
};

const OTHERS: &str = "callers: {others: Forward}\n";
const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const REVIEW: &str = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;

fn with(token: &str) -> http::request::Builder {
    Request::post(WHO_AM_I).header("authorization", format!("Bearer {token}"))
}

fn reviews(gate: &Gate) -> usize {
    let seen = gate.site.upstream.seen();
    seen.iter().filter(|request| request.target == TOKEN_REVIEWS).count()
}

/// Upstream reads the user of the token and not the token; asked about it once, by the gate itself.
#[test_case(FRONT_PROXY; "front proxy")]
#[test_case(IMPERSONATE; "impersonate")]
#[tokio::test]
async fn a_token_stands_for_its_user(mode: &str) {
    let gate = Gate::start(mode, OTHERS).await;
    for _ in 0..3 {
        let answer = gate.send("nobody", with(SERVICE_ACCOUNT), REVIEW).await;
        assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
        let user = &answer.json()["status"]["userInfo"];
        assert_eq!(user["username"], "system:serviceaccount:default:default");
        assert_eq!(user["groups"][2], "system:authenticated");
    }
    assert_eq!(reviews(&gate), 1);
    let seen = gate.site.upstream.seen();
    let forwarded = seen.iter().find(|request| request.target == WHO_AM_I).unwrap();
    assert!(forwarded.certificate, "on the gate's connection");
    assert!(!forwarded.headers.contains_key("authorization"), "{forwarded:?}");
    gate.event_where(|event| event["verb"] == "create").await;
    let everything = format!(
        "{}{}",
        gate.log(),
        std::fs::read_to_string(gate.site.file("audit.log")).unwrap()
    );
    assert!(
        !everything.contains(SERVICE_ACCOUNT),
        "the token is in the log or the audit file"
    );
}

/// A node that joins goes on with its own token, on a connection that shows nothing of the gate's, whatever the mode.
#[test_case(FRONT_PROXY; "front proxy")]
#[test_case(IMPERSONATE; "impersonate")]
#[test_case(OWN; "own")]
#[tokio::test]
async fn a_bootstrap_token_is_passed_through(mode: &str) {
    let gate = Gate::start(mode, "").await;
    let answer = gate.send("nobody", with(BOOTSTRAP), REVIEW).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    assert_eq!(
        answer.json()["status"]["userInfo"]["username"],
        "system:bootstrap:abcdef"
    );
    let seen = gate.site.upstream.seen();
    let forwarded = seen.iter().find(|request| request.target == WHO_AM_I).unwrap();
    assert!(
        !forwarded.certificate,
        "the gate's certificate would count, and not the token"
    );
    assert_eq!(forwarded.headers["authorization"], format!("Bearer {BOOTSTRAP}"));
    let told = ["x-remote-", "impersonate-"];
    let told = |name: &http::HeaderName| told.iter().any(|prefix| name.as_str().starts_with(prefix));
    assert!(!forwarded.headers.keys().any(told), "{:?}", forwarded.headers);
    let event = gate.event(&answer.audit_id()).await;
    assert_eq!(event["user"]["username"], "system:bootstrap:abcdef");
}

#[tokio::test]
async fn joining_can_be_refused() {
    let gate = Gate::start(FRONT_PROXY, "callers: {bootstrap: Deny}\n").await;
    let answer = gate.send("nobody", with(BOOTSTRAP), REVIEW).await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN);
    assert!(
        answer.message().ends_with("this gate is not for joining"),
        "{}",
        answer.message()
    );
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
}

/// The certificate comes first: a token cannot make its holder somebody else, better or worse.
#[tokio::test]
async fn a_certificate_counts_more_than_a_token() {
    let gate = Gate::start(FRONT_PROXY, OTHERS).await;
    for token in [SERVICE_ACCOUNT, "made-up", BOOTSTRAP] {
        let answer = gate.send("node-a", with(token), REVIEW).await;
        assert_eq!(
            answer.json()["status"]["userInfo"]["username"],
            "system:node:node-a",
            "{}",
            answer.body
        );
    }
    assert_eq!(reviews(&gate), 0);
}

/// CVE-2023-48312 and its like: nothing but a plain yes of upstream lets anybody in.
#[test_case("Bearer made-up", 1; "unknown")]
#[test_case("Bearer ", 0; "empty")]
#[test_case("Bearer", 0; "nothing")]
#[test_case("Bearer a b", 0; "two words")]
#[test_case("Basic YWRtaW46YWRtaW4=", 0; "a password")]
#[test_case("demo-service-account-token", 0; "no scheme")]
#[tokio::test]
async fn what_is_no_good_token_is_401(authorization: &str, asked: usize) {
    let gate = Gate::start(FRONT_PROXY, OTHERS).await;
    let request = Request::get("/version").header("authorization", authorization);
    let answer = gate.send("nobody", request, "").await;
    assert_eq!(answer.code, StatusCode::UNAUTHORIZED);
    assert_eq!(answer.message(), "Unauthorized");
    assert_eq!(gate.forwarded(), [] as [&str; 0]);
    assert_eq!(reviews(&gate), asked);
}

#[tokio::test]
async fn two_credentials_are_none() {
    let gate = Gate::start(FRONT_PROXY, OTHERS).await;
    let request = with(SERVICE_ACCOUNT).header("authorization", format!("Bearer {BOOTSTRAP}"));
    let answer = gate.send("nobody", request, REVIEW).await;
    assert_eq!(answer.code, StatusCode::UNAUTHORIZED);
    assert_eq!(reviews(&gate), 0);
}

#[tokio::test]
async fn tokens_can_be_left_out() {
    let gate = Gate::start(FRONT_PROXY, "authentication: {tokenReview: false}\n").await;
    let answer = gate.send("nobody", with(SERVICE_ACCOUNT), REVIEW).await;
    assert_eq!(answer.code, StatusCode::UNAUTHORIZED);
    assert_eq!(reviews(&gate), 0);
    assert!(gate.logged(&answer.audit_id()).await.contains("tokenReview is off"));
}

/// Not knowing is not no: the client keeps its token and tries again.
#[test_case("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"; "upstream in trouble")]
#[test_case("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"; "the gate may not ask")]
#[test_case("SSH-2.0-OpenSSH_9.2\r\n"; "no HTTP")]
#[tokio::test]
async fn a_review_that_fails_is_503(answer: &'static str) {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let upstream = Scripted::start(&site, &[b"http/1.1"], move |mut stream| async move {
        while let Some(head) = head(&mut stream).await {
            let probe = head.starts_with("GET /readyz ");
            let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            let answer = if probe { ok } else { answer };
            let _ = stream.write_all(answer.as_bytes()).await;
            if !probe {
                let _ = stream.shutdown().await;
                return;
            }
        }
    })
    .await;
    site.kubeconfig("gate", upstream.address).unwrap();
    let gate = Gate::start_at(site, FRONT_PROXY, OTHERS).await;
    let answered = gate.send("nobody", with(SERVICE_ACCOUNT), REVIEW).await;
    // A review without a status says no.
    let expected = if answer.ends_with("{}") { 401 } else { 503 };
    assert_eq!(answered.code.as_u16(), expected, "{}", answered.body);
    if expected == 503 {
        assert_eq!(answered.headers["retry-after"], "1");
        assert_eq!(
            answered.headers["connection"], "close",
            "whoever is nobody holds no connection"
        );
        assert!(gate.logged(&answered.audit_id()).await.contains("token review failed"));
    }
}

/// Browsers cannot set headers, so that WebSockets carry the token as a subprotocol.
#[tokio::test]
async fn a_websocket_may_carry_its_token_as_a_subprotocol() {
    let gate = Gate::start(FRONT_PROXY, OTHERS).await;
    let mut stream = gate.connect("nobody", b"http/1.1").await;
    let encoded = "ZGVtby1zZXJ2aWNlLWFjY291bnQtdG9rZW4";
    let request = format!(
        "GET /api/v1/namespaces/default/pods/web-on-node-a/exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Protocol: v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.{encoded}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let seen = eventually("the request at upstream", || {
        let seen = gate.site.upstream.seen();
        seen.into_iter().find(|request| request.target.ends_with("/exec"))
    })
    .await;
    assert_eq!(seen.headers["x-remote-user"], "system:serviceaccount:default:default");
    assert_eq!(seen.headers["sec-websocket-protocol"], "v5.channel.k8s.io");
}
