mod lifetime;
mod variants;

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, sign::SingleCertAndKey},
};

use self::variants::{Expected, Roots};
use crate::{cluster::Cluster, gate::Answer};

/// Everybody gets through, so that upstream says whom it takes a client for.
const OPEN: &str = "callers: {nodes: {fallback: Upstream}, others: Forward, allowMasters: [master]}\n";

/// Whom kube-apiserver does not believe, the gate does not believe; whom both believe is the same user. Where the gate
/// believes less, the table says so and why. And whatever the certificate, the gate answers.
#[tokio::test]
async fn the_gate_believes_whom_kube_apiserver_believes() {
    let roots = Roots::new();
    let Some(cluster) = Cluster::with_client_cas(&roots.bundle()).await else {
        return;
    };
    everybody_may_ask_who_they_are(&cluster).await;
    let (gate, _) = cluster.gate("certificates", FRONT_PROXY, OPEN).await;
    let (serving, _) = gate.addresses().await;
    let server_ca = std::fs::read(cluster.file("server-ca.crt")).unwrap();
    let table = variants::table(&roots);
    let mut wrong = Vec::new();
    for variant in &table {
        let shown = variant.leaf.shown(&variant.behind);
        let direct = ask(cluster.api, &server_ca, &shown).await;
        let gated = ask(serving, &server_ca, &shown).await;
        let fits = match variant.expected {
            Expected::Believed => matches!(&direct, Ok((201, _))) && gated == direct,
            Expected::Refused => refused(&direct) && matches!(gated, Ok((401, _))),
            Expected::Stricter(_) => matches!(&direct, Ok((201, _))) && matches!(gated, Ok((401, _))),
        };
        if let Expected::Stricter(why) = variant.expected {
            println!("stricter than kube-apiserver: {}: {why}", variant.name);
        }
        if !fits {
            wrong.push(format!("{}\n  direct {direct:?}\n  gated  {gated:?}", variant.name));
        }
    }
    let count = |wanted: fn(&Expected) -> bool| table.iter().filter(|variant| wanted(&variant.expected)).count();
    println!(
        "{} certificates compared: {} believed by both, {} by neither, {} by kube-apiserver only",
        table.len(),
        count(|expected| matches!(expected, Expected::Believed)),
        count(|expected| matches!(expected, Expected::Refused)),
        count(|expected| matches!(expected, Expected::Stricter(_))),
    );
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        table.len(),
        wrong.join("\n")
    );
}

/// kube-apiserver breaks off the handshake over what it cannot parse.
fn refused(outcome: &Result<(u16, Value), String>) -> bool {
    outcome.as_ref().map_or(true, |(code, _)| *code == 401)
}

/// The code, and the user that upstream takes the client for.
async fn ask(address: SocketAddr, server_ca: &[u8], shown: &Arc<SingleCertAndKey>) -> Result<(u16, Value), String> {
    let anchors = scopegate::server::tls::anchors(server_ca).unwrap();
    let builder = ClientConfig::builder().with_root_certificates(anchors);
    let config = builder.with_client_cert_resolver(Arc::clone(shown) as _);
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = connector.connect("localhost".try_into().unwrap(), stream).await;
    let stream = TokioIo::new(stream.map_err(|error| error.to_string())?);
    let (mut client, connection) = hyper::client::conn::http1::handshake(stream)
        .await
        .map_err(|e| e.to_string())?;
    tokio::spawn(connection);
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let request = Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::<Bytes>::from(review))
        .unwrap();
    let response = client.send_request(request).await.map_err(|error| error.to_string())?;
    let answer = Answer::read(response).await;
    let user = match answer.code {
        StatusCode::CREATED => answer.json()["status"]["userInfo"].clone(),
        _ => Value::Null,
    };
    Ok((answer.code.as_u16(), user))
}

/// By default only the authenticated may; some of these are not.
async fn everybody_may_ask_who_they_are(cluster: &Cluster) {
    let group = |name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "who-am-i"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:basic-user"},
        "subjects": [
            group("system:unauthenticated"),
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:anonymous"},
        ],
    });
    cluster
        .create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding)
        .await;
}
