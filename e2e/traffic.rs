//! What nodes do all day, through the gate to a real kube-apiserver: watch, renew leases, come with tokens, join.

use std::net::IpAddr;

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE, OWN};
use serde_json::{Value, json};
use test_case::test_case;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    cluster::{Cluster, Guard, shared},
    gate::{Answer, FORWARD, connect, get, http2, send},
    release,
    scripted::head,
};

const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const OTHERS: &str = "callers: {others: Forward}\n";
pub(crate) const TOKENS: &str = include_str!("../config/kubernetes/tokens.yaml");

/// kube-apiserver takes 100 streams on a connection; a node with 500 watches still renews its lease.
#[tokio::test]
async fn watches_do_not_stand_in_the_way_of_a_lease() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}});
    cluster.create("/api/v1/nodes", &node).await;
    let (gate, through) = cluster.gate("watches", FRONT_PROXY, FORWARD).await;
    let (serving, _) = gate.addresses().await;
    let mut watches = Vec::new();
    for _ in 0..2 {
        let (mut client, connection) = http2(&cluster.file(""), serving, "node-a").await;
        for _ in 0..250 {
            client.ready().await.unwrap();
            let target = "/api/v1/nodes?fieldSelector=metadata.name%3Dnode-a&watch=true";
            let mut watch = client.send_request(get(target)).await.unwrap();
            assert_eq!(watch.status(), StatusCode::OK);
            let event = watch.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(event.starts_with(b"{\"type\":\"ADDED\""));
            watches.push(watch);
        }
        std::mem::forget((client, connection));
    }
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "node-a", "namespace": "kube-node-lease"}, "spec": {"holderIdentity": "node-a"},
    });
    let json = |request: http::request::Builder| request.header("content-type", "application/json");
    let made = send(&through, json(Request::post(leases)), &lease.to_string()).await;
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
    let renewed = send(&through, json(Request::put(format!("{leases}/node-a"))), &made.body).await;
    assert_eq!(renewed.code, StatusCode::OK, "{}", renewed.body);
}

/// A service account's token makes the same user of its holder as it does without the gate: name, uid, groups and extra.
#[tokio::test]
async fn a_token_stands_for_the_same_user() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let token = robot_token(&cluster).await;
    let (_gate, through) = cluster.gate("robot", FRONT_PROXY, OTHERS).await;
    let ask = async |kubeconfig: &std::path::Path| -> Answer {
        let request = Request::post(WHO_AM_I)
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        send(
            &cluster.without_certificate(kubeconfig),
            request,
            r#"{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}"#,
        )
        .await
    };
    let direct = ask(&cluster.file("node-a.kubeconfig")).await;
    let gated = ask(&through).await;
    assert_eq!(direct.code, StatusCode::CREATED, "{}", direct.body);
    let user = |answer: &Answer| {
        let mut user = answer.json()["status"]["userInfo"].clone();
        // Before 1.33 a front proxy cannot tell it.
        if release::minor() < 33 {
            user["uid"].take();
        }
        user
    };
    assert_eq!(user(&direct)["username"], "system:serviceaccount:default:robot");
    assert_eq!(user(&gated), user(&direct));
}

/// A WebSocket to a pod, through the gate and a real kube-apiserver, which refuses to proxy to loopback.
#[tokio::test]
async fn a_websocket_reaches_a_pod() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let Some(address) = own_address() else {
        println!("SKIPPED: this machine has no address but loopback, and kube-apiserver does not proxy there");
        return;
    };
    let port = echo(address).await;
    let token = robot_token(&cluster).await;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    cluster
        .create("/api/v1/namespaces/default/serviceaccounts", &account)
        .await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "echo"},
        "spec": {"nodeName": "elsewhere", "containers": [{"name": "echo", "image": "echo"}]},
    });
    cluster.create("/api/v1/namespaces/default/pods", &pod).await;
    let patch = Request::patch("/api/v1/namespaces/default/pods/echo/status")
        .header("content-type", "application/merge-patch+json");
    let status = json!({"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}});
    let patched = cluster.send("admin", patch, &status.to_string()).await;
    assert_eq!(patched.code, StatusCode::OK, "{}", patched.body);

    let (gate, _) = cluster.gate("websocket", FRONT_PROXY, OTHERS).await;
    let (serving, _) = gate.addresses().await;
    let mut stream = connect(&cluster.file(""), serving, "nobody", b"http/1.1").await;
    let request = format!(
        "GET /api/v1/namespaces/default/pods/echo:{port}/proxy/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer {token}\r\n\r\nping"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    while !answer.contains("PING") {
        let byte = stream.read_u8().await;
        answer.push(char::from(
            byte.unwrap_or_else(|error| panic!("{error} after {answer}")),
        ));
    }
    assert!(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{answer}");
    stream.shutdown().await.unwrap();
    assert!(stream.read_u8().await.is_err(), "the tunnel goes on");
}

/// A node that joins: its certificate signing request is made by the bootstrap user, in every mode, as it is without the
/// gate. Otherwise nobody would approve it.
#[test_case(FRONT_PROXY, "join-front-proxy"; "front proxy")]
#[test_case(IMPERSONATE, "join-impersonate"; "impersonate")]
#[test_case(OWN, "join-own"; "own")]
#[tokio::test]
async fn joining_works_as_without_the_gate(identity: &str, name: &str) {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    cluster.grant(TOKENS).await;
    let token = bootstrap_token(&cluster).await;
    let (_gate, through) = cluster.gate(name, identity, "").await;
    let create = async |kubeconfig: &std::path::Path| -> Value {
        let request = Request::post("/apis/certificates.k8s.io/v1/certificatesigningrequests")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        let answer = send(&cluster.without_certificate(kubeconfig), request, &signing_request()).await;
        assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
        answer.json()["spec"].clone()
    };
    let direct = create(&cluster.file("node-a.kubeconfig")).await;
    let gated = create(&through).await;
    assert_eq!(direct["username"], "system:bootstrap:abcdef");
    for key in ["username", "groups", "uid", "extra"] {
        assert_eq!(gated[key], direct[key], "{key}");
    }
    let secrets = Request::get("/api/v1/secrets").header("authorization", format!("Bearer {token}"));
    let refused = send(&cluster.without_certificate(&through), secrets, "").await;
    assert_eq!(
        refused.code,
        StatusCode::FORBIDDEN,
        "upstream decides: {}",
        refused.body
    );
}

/// Refusals are written in the client's format, byte for byte as kube-apiserver writes them.
#[tokio::test]
async fn refusals_are_written_as_the_client_wants_them() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    let (_gate, through) = cluster.gate("formats", FRONT_PROXY, "").await;
    for (accept, agent) in [
        (
            "application/vnd.kubernetes.protobuf, application/json",
            "kubelet/v1.36.3",
        ),
        ("application/vnd.kubernetes.protobuf", "curl/8"),
        ("application/json", "kubelet/v1.36.3"),
        ("application/json", "curl/8"),
        ("*/*", "Wget/1"),
        ("text/html", "kubelet/v1.36.3"),
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            "kubectl/v1.36.3",
        ),
    ] {
        for target in [
            "/api/v1/namespaces/a/secrets/b",
            "/apis/apps/v1/deployments?pretty=true",
            "/metrics",
            "/secret%3C&%3E",
        ] {
            let request = || {
                Request::get(target)
                    .header("accept", accept)
                    .header("user-agent", agent)
            };
            let direct = cluster.send("node-a", request(), "").await;
            let gated = send(&through, request(), "").await;
            let told = |answer: &Answer| (answer.code, answer.headers["content-type"].clone(), answer.body.clone());
            assert_eq!(told(&gated), told(&direct), "{accept} of {agent} for {target}");
        }
        let request = || {
            Request::get("/version")
                .header("accept", accept)
                .header("user-agent", agent)
        };
        let direct = cluster.send("stranger", request(), "").await;
        let gated = send(&cluster.stranger(&through), request(), "").await;
        assert_eq!((gated.code, gated.body), (direct.code, direct.body), "401 for {accept}");
    }
}

/// An address of this machine that is not loopback, if it has one.
fn own_address() -> Option<IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the system only chooses a way out.
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// Agrees to any upgrade, and then says everything again in capitals.
async fn echo(address: IpAddr) -> u16 {
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await.unwrap();
        let agreed = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
        stream.write_all(agreed.as_bytes()).await.unwrap();
        let mut buffer = [0; 64];
        while let Ok(n @ 1..) = stream.read(&mut buffer).await {
            stream.write_all(&buffer[..n].to_ascii_uppercase()).await.unwrap();
        }
    });
    port
}

/// The token of a service account that may do everything.
async fn robot_token(cluster: &Cluster) -> String {
    cluster.grant(TOKENS).await;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}});
    cluster
        .create("/api/v1/namespaces/default/serviceaccounts", &account)
        .await;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "robot"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}],
    });
    cluster
        .create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding)
        .await;
    let request = Request::post("/api/v1/namespaces/default/serviceaccounts/robot/token");
    let token = cluster
        .send("admin", request.header("content-type", "application/json"), "{}")
        .await;
    token.json()["status"]["token"].as_str().unwrap().to_owned()
}

/// What upstream compresses stays compressed.
#[tokio::test]
async fn compressed_answers_are_not_touched() {
    let Some(cluster) = shared(Guard::None).await else {
        return;
    };
    let (_gate, through) = cluster.gate("compressed", FRONT_PROXY, "").await;
    let request = || Request::get("/openapi/v2").header("accept-encoding", "gzip");
    let direct = cluster.send("node-a", request(), "").await;
    let gated = send(&through, request(), "").await;
    assert_eq!(direct.headers["content-encoding"], "gzip");
    assert_eq!(gated.headers["content-encoding"], "gzip");
    assert_eq!(gated.headers["etag"], direct.headers["etag"]);
    assert!(gated.body == direct.body, "the bytes differ");
}

pub(crate) async fn bootstrap_token(cluster: &Cluster) -> &'static str {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"},
        "stringData": {
            "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
        },
    });
    cluster.create("/api/v1/namespaces/kube-system/secrets", &secret).await;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "joining"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:bootstrappers"}],
    });
    cluster
        .create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding)
        .await;
    "abcdef.0123456789abcdef"
}

fn signing_request() -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(rcgen::DnType::OrganizationName, "system:nodes");
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "system:node:node-new");
    let request = params.serialize_request(&key).unwrap().pem().unwrap();
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"generateName": "csr-"},
        "spec": {
            "request": STANDARD.encode(request), "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
        },
    })
    .to_string()
}
