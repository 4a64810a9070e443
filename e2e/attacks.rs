//! Known ways around node isolation and around proxies: which test stands for each, and those that need a real server and are
//! tried nowhere else.

mod extended;
mod reads;
mod register;

use std::{
    net::SocketAddr,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use http::{Request, StatusCode};
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::{Value, json};
use test_case::test_case;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::Mutex,
};

use crate::{
    cluster::{AUDIT_LOG, AUDITED, Cluster, Guard},
    gate::{Answer, Client, PATIENCE, Process, connect, ready, try_send},
    graph::{
        admin_client, created, deleted,
        objects::{namespace, node, pod, pod_with_secret, secret},
        open, patched,
    },
};

const WHO_AM_I: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const REVIEW: &str = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// A cluster that refuses nodes nothing and keeps an audit log. It serves all tests here that run at the same time.
async fn audited() -> Option<Arc<Cluster>> {
    static SHARED: Mutex<Weak<Cluster>> = Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(cluster) = shared.upgrade() {
        return Some(cluster);
    }
    let cluster = Arc::new(Cluster::start(Guard::None, AUDITED, "").await?);
    open(&cluster).await;
    cluster.grant(include_str!("../config/kubernetes/tokens.yaml")).await;
    cluster
        .grant(include_str!("../config/kubernetes/impersonate.yaml"))
        .await;
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

/// A node, a namespace and a gate of this name.
async fn gate(cluster: &Cluster, name: &str, identity: &str, more: &str) -> (Process, SocketAddr) {
    namespace(cluster, name).await;
    node(cluster, name).await;
    let process = Process::serve(&cluster.configuration(&format!("{name}.yaml"), identity, more));
    let (serving, admin) = process.addresses().await;
    ready(admin).await;
    (process, serving)
}

async fn client(cluster: &Cluster, user: &str, serving: SocketAddr) -> Client {
    Client::new(&cluster.kubeconfig(&format!("{user}-gated"), user, serving)).await
}

/// The audit events of upstream that something is true of.
fn upstream_saw(cluster: &Cluster, matches: impl Fn(&Value) -> bool) -> usize {
    let log = std::fs::read_to_string(cluster.file(AUDIT_LOG)).unwrap();
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(matches).count()
}

/// What a container that is added to a running pod refers to can be read, and not before.
#[tokio::test]
async fn attack_8_ephemeral_containers() {
    let Some(cluster) = audited().await else { return };
    let (_gate, serving) = gate(&cluster, "a8", FRONT_PROXY, "").await;
    let admin = admin_client(&cluster).await;
    created(&admin, "/api/v1/namespaces/a8/secrets", &secret("s3")).await;
    created(&admin, "/api/v1/namespaces/a8/pods", &pod("p", "a8", &json!({}))).await;
    let client = client(&cluster, "a8", serving).await;
    let target = "/api/v1/namespaces/a8/secrets/s3";
    assert_eq!(client.get(target).await.code, StatusCode::FORBIDDEN);
    let debug = json!({"name": "e", "image": "i", "envFrom": [{"secretRef": {"name": "s3"}}]});
    let added = json!({"spec": {"ephemeralContainers": [debug]}});
    let path = "/api/v1/namespaces/a8/pods/p/ephemeralcontainers";
    patched(&admin, path, STRATEGIC, &added).await;
    let began = Instant::now();
    while client.get(target).await.code != StatusCode::OK {
        assert!(
            began.elapsed() < PATIENCE,
            "what the new container needs cannot be read"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whoever has only half of what makes a node is none, whether it lacks the prefix, the group, the name, or has them in another case.
#[test_case("a11a", "system:node:a11a", None; "without the group")]
#[test_case("a11b", "a11b", Some("system:nodes"); "without the prefix")]
#[test_case("a11c", "system:node:", Some("system:nodes"); "without a name")]
#[test_case("a11d", "System:Node:a11d", Some("system:nodes"); "prefix in another case")]
#[test_case("a11e", "system:node:a11e", Some("System:Nodes"); "group in another case")]
#[tokio::test]
async fn attack_11_half_a_node(name: &str, common_name: &str, group: Option<&str>) {
    let Some(cluster) = audited().await else { return };
    let (_gate, serving) = gate(&cluster, name, FRONT_PROXY, "").await;
    let admin = admin_client(&cluster).await;
    let core = format!("/api/v1/namespaces/{name}");
    created(&admin, &format!("{core}/secrets"), &secret(name)).await;
    created(&admin, &format!("{core}/pods"), &pod_with_secret(name, name)).await;
    let whole = client(&cluster, name, serving).await;
    let target = format!("{core}/secrets/{name}");
    let began = Instant::now();
    while whole.get(&target).await.code != StatusCode::OK {
        assert!(began.elapsed() < PATIENCE, "the pod is not known");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let half = format!("{name}-half");
    cluster.user(&half, common_name, group);
    let client = client(&cluster, &half, serving).await;
    for target in [
        target,
        format!("/api/v1/nodes/{name}"),
        "/api/v1/pods?fieldSelector=spec.nodeName%3D".to_owned(),
    ] {
        let request = Request::get(&target).header("audit-id", &half);
        let answer = client.send(request, "").await.unwrap();
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{target}");
    }
    assert_eq!(upstream_saw(&cluster, |event| event["auditID"] == half.as_str()), 0);
}

/// CVE-2018-1002105: what stands behind a wish that the API server does not grant is not read as a request, by anybody.
#[tokio::test]
async fn attack_23_behind_a_refused_upgrade() {
    let Some(cluster) = audited().await else { return };
    let (_gate, serving) = gate(&cluster, "a23", FRONT_PROXY, "callers: {others: Forward}\n").await;
    let admin = admin_client(&cluster).await;
    created(&admin, "/api/v1/namespaces/a23/pods", &pod("p", "a23", &json!({}))).await;
    cluster.user("a23-operator", "a23-operator", None);
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "a23"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "a23-operator"}],
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    created(&admin, bindings, &binding).await;
    let exec = "POST /api/v1/namespaces/a23/pods/p/exec?command=a&stdout=1 HTTP/1.1\r\nHost: localhost\r\nAudit-ID: a23-exec\r\n\
        Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n";
    let hidden = "GET /api/v1/namespaces/a23/secrets HTTP/1.1\r\nHost: localhost\r\nAudit-ID: a23-hidden\r\n\r\n";
    let mut stream = connect(&cluster.file(""), serving, "a23-operator", b"http/1.1").await;
    stream.write_all(format!("{exec}{hidden}").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "the connection goes on");
    let answer = String::from_utf8_lossy(&answer);
    // The node has no kubelet, so nothing can come of it.
    assert!(
        answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5"),
        "{answer}"
    );
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    assert_eq!(upstream_saw(&cluster, |event| event["auditID"] == "a23-exec"), 1);
    assert_eq!(upstream_saw(&cluster, |event| event["auditID"] == "a23-hidden"), 0);
}

/// CVE-2022-23652: the headers that tell who the caller is can be neither brought along nor named away.
#[test_case("a27f", FRONT_PROXY; "front proxy")]
#[test_case("a27i", IMPERSONATE; "impersonate")]
#[tokio::test]
async fn attack_27_and_28_identity_headers(name: &str, identity: &str) {
    let Some(cluster) = audited().await else { return };
    let (_gate, serving) = gate(&cluster, name, identity, "").await;
    let client = client(&cluster, name, serving).await;
    for connection in [
        "X-Remote-User, X-Remote-Group, Impersonate-User, Impersonate-Group, Authorization",
        "close,x-remote-user ,  IMPERSONATE-USER,, authorization",
    ] {
        let request = Request::post(WHO_AM_I)
            .header("content-type", "application/json")
            .header("connection", connection)
            .header("x-remote-user", "admin")
            .header("x-remote-group", "system:masters")
            .header("x_remote_user", "admin")
            .header("authorization", "Bearer x");
        let answer = client.send(request, REVIEW).await.unwrap();
        assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
        let user = &answer.json()["status"]["userInfo"];
        assert_eq!(user["username"], format!("system:node:{name}"));
        assert_eq!(user["groups"], json!(["system:nodes", "system:authenticated"]));
    }
}

/// CVE-2023-48312: a token that upstream does not believe makes nobody of its holder, and none counts beside a certificate.
#[tokio::test]
async fn attack_29_tokens() {
    let Some(cluster) = audited().await else { return };
    let more = "callers: {others: Forward}\nauthentication: {tokenCacheTTL: 1s}\n";
    let (_gate, serving) = gate(&cluster, "a29", FRONT_PROXY, more).await;
    let admin = admin_client(&cluster).await;
    let accounts = "/api/v1/namespaces/a29/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}});
    created(&admin, accounts, &account).await;
    let request = Request::post(format!("{accounts}/robot/token")).header("content-type", "application/json");
    let token = admin.send(request, "{}").await.unwrap().json()["status"]["token"].clone();
    let token = format!("Bearer {}", token.as_str().unwrap());
    let through = cluster.kubeconfig("a29-gated", "a29", serving);
    let nobody = through.with_extension("nobody");
    std::fs::write(&nobody, scopegate::demo::site::kubeconfig(serving, None)).unwrap();
    let ask = async |kubeconfig: &std::path::Path, authorization: &str| -> Answer {
        let request = Request::post(WHO_AM_I).header("content-type", "application/json");
        try_send(kubeconfig, request.header("authorization", authorization), REVIEW)
            .await
            .unwrap()
    };
    let name = |answer: &Answer| answer.json()["status"]["userInfo"]["username"].clone();
    assert_eq!(name(&ask(&nobody, &token).await), "system:serviceaccount:a29:robot");
    assert_eq!(name(&ask(&through, &token).await), "system:node:a29");
    let (half, _) = token.split_at(token.len() - 5);
    for bad in ["Bearer ", "Bearer", "Bearer x.y.z", half, "bearer", "Basic YTpi", ""] {
        assert_eq!(ask(&nobody, bad).await.code, StatusCode::UNAUTHORIZED, "{bad}");
    }
    deleted(&admin, &format!("{accounts}/robot")).await;
    let began = Instant::now();
    while ask(&nobody, &token).await.code != StatusCode::UNAUTHORIZED {
        assert!(
            began.elapsed() < PATIENCE,
            "the token of an account that is gone is good"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
