//! Answers that stay open for long end when what allowed them does.

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use scopegate::{
    demo::{
        site::{FRONT_PROXY, Site},
        standin::tokens::SERVICE_ACCOUNT,
    },
    pki::{Authority, Usage},
};

use crate::gate::{FORWARD, Gate, get};

const EDITS: &[(&str, &str)] = &[("serving:\n", "  reloadInterval: 100ms\n")];

/// A watch that was allowed is cut within a second or two of the certificate's end.
#[tokio::test]
async fn a_watch_does_not_outlive_the_certificate() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let gate = Gate::edited(site, FRONT_PROXY, FORWARD, EDITS).await;
    let ca = &gate.site.pki.client_ca;
    let (life, name) = (time::Duration::seconds(8), "system:node:node-a");
    let pair = ca.issue_for(life, name, Some("system:nodes"), Usage::Client).unwrap();
    pair.write(gate.site.dir(), "short").unwrap();
    let (mut client, _connection) = gate.http2("short").await;
    let watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
    assert_eq!(watch.status(), StatusCode::OK);
    assert!(watch.into_body().collect().await.is_err(), "ended as if it were whole");
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "credential-lapsed");
}

/// Nor its CA.
#[tokio::test]
async fn a_watch_does_not_outlive_the_ca() {
    scopegate::server::tls::install_crypto();
    let site = Site::start().await.unwrap();
    let gate = Gate::edited(site, FRONT_PROXY, FORWARD, EDITS).await;
    let (mut client, _connection) = gate.http2("node-a").await;
    let watch = client.send_request(get("/api/v1/pods?watch=true")).await.unwrap();
    let other = Authority::new("other").unwrap();
    std::fs::write(gate.site.file("client-ca.crt"), other.certificate).unwrap();
    assert!(watch.into_body().collect().await.is_err(), "ended as if it were whole");
    let event = gate.event_where(|event| event["verb"] == "watch").await;
    assert_eq!(event["annotations"]["scopegate.dev/end"], "credential-lapsed");
}

/// One caller's refusal ends a connection for what comes after it, and not for what others have under way on it: clients
/// without certificates share one among many tokens.
#[tokio::test]
async fn a_refusal_lets_others_on_the_connection_finish() {
    let gate = Gate::start(FRONT_PROXY, "callers: {others: Forward}\n").await;
    let (client, connection) = gate.http2("nobody").await;
    let ask = async |target: &str, token: &str| {
        let mut request = get(target);
        request
            .headers_mut()
            .insert("authorization", format!("Bearer {token}").parse().unwrap());
        client.clone().send_request(request).await
    };
    let watch = ask("/api/v1/namespaces/default/configmaps?watch=true", SERVICE_ACCOUNT)
        .await
        .unwrap();
    assert_eq!(
        ask("/version", "made-up").await.unwrap().status(),
        StatusCode::UNAUTHORIZED
    );
    assert!(
        ask("/version", SERVICE_ACCOUNT).await.is_err(),
        "the connection is ending"
    );
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    let create = Request::post("/api/v1/namespaces/default/configmaps")
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {SERVICE_ACCOUNT}"));
    let late = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late"}}"#;
    assert_eq!(gate.send("nobody", create, late).await.code, StatusCode::CREATED);
    let (mut body, mut seen) = (watch.into_body(), String::new());
    while !seen.contains("\"late\"") {
        let frame = body.frame().await.expect("the watch was cut").unwrap();
        seen.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
    }
    drop(body);
    tokio::time::timeout(crate::gate::PATIENCE, connection)
        .await
        .expect("it never ends")
        .unwrap()
        .unwrap();
}
