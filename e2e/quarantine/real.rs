//! Before a real kube-apiserver: the ConfigMap with nothing but the rights that are shipped, and tokens that are bound to a node.

use std::net::SocketAddr;

use http::{Request, StatusCode};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::json;

use super::until;
use crate::{
    cluster::{Cluster, Guard},
    gate::{Client, Process, admin, operator, ready},
    graph::{
        admin_client, created,
        objects::{namespace, node, pod},
        open, post,
    },
};

const CONFIG_MAP: &str = "/api/v1/namespaces/scopegate/configmaps/quarantine";

struct Replica {
    _process: Process,
    serving: SocketAddr,
    admin: SocketAddr,
}

/// A gate whose own credentials are those of the service account that the manifests are for.
async fn replica(cluster: &Cluster, name: &str, more: &str) -> Replica {
    let more = format!("quarantine: {{configMap: scopegate/quarantine}}\n{more}");
    let config = cluster.configuration(&format!("{name}.yaml"), FRONT_PROXY, &more);
    let process = Process::serve(&config);
    let (serving, admin) = process.addresses().await;
    Replica {
        _process: process,
        serving,
        admin,
    }
}

async fn client(cluster: &Cluster, user: &str, replica: &Replica) -> Client {
    let file = format!("{user}-{}", replica.serving.port());
    Client::new(&cluster.kubeconfig(&file, user, replica.serving)).await
}

#[tokio::test]
async fn replicas_share_a_config_map() {
    let Some(cluster) = Cluster::start(Guard::None, &[], "").await else {
        return;
    };
    open(&cluster).await;
    let administrator = admin_client(&cluster).await;
    namespace(&cluster, "scopegate").await;
    node(&cluster, "q1").await;
    let one = replica(&cluster, "one", "").await;
    let readyz = async |replica: &Replica| admin(replica.admin, Request::get("/readyz?verbose"), "").await.body;
    until(async || readyz(&one).await.contains("[+]upstream-reached ok")).await;
    // Without the right to read the list nobody passes, and the probe names it.
    assert!(readyz(&one).await.contains("[-]quarantine pending"));
    let node_at_one = client(&cluster, "q1", &one).await;
    let answer = node_at_one.get("/version").await;
    assert_eq!(answer.code, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
    one._process
        .line("config/kubernetes/quarantine.yaml has the rights")
        .await;
    let listed = admin(one.admin, Request::get("/quarantine"), "").await;
    assert_eq!(listed.code, StatusCode::SERVICE_UNAVAILABLE, "{}", listed.body);
    let put = operator(Request::put("/quarantine"), &cluster.file("admin.token"));
    let held = admin(one.admin, put, r#"{"node":"q1"}"#).await;
    assert_eq!(held.code, StatusCode::SERVICE_UNAVAILABLE, "{}", held.body);
    cluster
        .grant(include_str!("../../config/kubernetes/quarantine.yaml"))
        .await;
    ready(one.admin).await;
    let two = replica(&cluster, "two", "").await;
    ready(two.admin).await;

    assert_eq!(administrator.get(CONFIG_MAP).await.code, StatusCode::NOT_FOUND);
    let node_at_two = client(&cluster, "q1", &two).await;
    assert_eq!(node_at_two.get("/version").await.code, StatusCode::OK);
    let held = admin(
        one.admin,
        operator(Request::put("/quarantine"), &cluster.file("admin.token")),
        r#"{"node":"q1","reason":"shared"}"#,
    )
    .await;
    assert_eq!(held.code, StatusCode::OK, "{}", held.body);
    assert_eq!(node_at_one.get("/version").await.code, StatusCode::FORBIDDEN, "at once");
    until(async || node_at_two.get("/version").await.code == StatusCode::FORBIDDEN).await;
    // Both write at the same time, again and again; nothing is lost.
    let write = async |replica: &Replica, from: u32| {
        for number in from..from + 10 {
            let body = format!(r#"{{"node":"other-{number}"}}"#);
            let answer = admin(
                replica.admin,
                operator(Request::put("/quarantine"), &cluster.file("admin.token")),
                &body,
            )
            .await;
            assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
        }
    };
    tokio::join!(write(&one, 0), write(&two, 10));
    let kept = administrator.get(CONFIG_MAP).await.json();
    let text = kept["data"]["quarantine.json"].as_str().unwrap();
    assert_eq!(text.matches("\"node\"").count(), 21, "{text}");

    // Deleted, it lets nobody go; an operator without the command writes that nobody is held.
    let deleted = administrator.send(Request::delete(CONFIG_MAP), "").await.unwrap();
    assert_eq!(deleted.code, StatusCode::OK);
    one._process.line("it is not there any more").await;
    assert_eq!(node_at_one.get("/version").await.code, StatusCode::FORBIDDEN);
    let nobody = "{apiVersion: scopegate.dev/v1alpha1, kind: QuarantineList, items: []}";
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "quarantine"}, "data": {"quarantine.json": nobody}});
    created(&administrator, "/api/v1/namespaces/scopegate/configmaps", &object).await;
    until(async || node_at_one.get("/version").await.code == StatusCode::OK).await;
    until(async || node_at_two.get("/version").await.code == StatusCode::OK).await;
}

/// Whoever has taken a node has the tokens of its pods, too.
#[tokio::test]
async fn tokens_of_its_pods_are_held_with_a_node() {
    let Some(cluster) = Cluster::start(Guard::None, &[], "").await else {
        return;
    };
    open(&cluster).await;
    cluster.grant(include_str!("../../config/kubernetes/tokens.yaml")).await;
    let administrator = admin_client(&cluster).await;
    namespace(&cluster, "scopegate").await;
    cluster
        .grant(include_str!("../../config/kubernetes/quarantine.yaml"))
        .await;
    namespace(&cluster, "q").await;
    for name in ["q1", "q2"] {
        node(&cluster, name).await;
    }
    let mut tokens = Vec::new();
    for name in ["q1", "q2"] {
        let mut object = pod(&format!("p-{name}"), name, &json!({"serviceAccountName": "default"}));
        object["metadata"]["namespace"] = json!("q");
        created(&administrator, "/api/v1/namespaces/q/pods", &object).await;
        let stored = administrator
            .get(&format!("/api/v1/namespaces/q/pods/p-{name}"))
            .await
            .json();
        let bound =
            json!({"apiVersion": "v1", "kind": "Pod", "name": format!("p-{name}"), "uid": stored["metadata"]["uid"]});
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"boundObjectRef": bound, "audiences": []}});
        let answer = post(
            &administrator,
            "/api/v1/namespaces/q/serviceaccounts/default/token",
            &request,
        )
        .await;
        assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
        tokens.push(answer.json()["status"]["token"].as_str().unwrap().to_owned());
    }
    let gate = replica(
        &cluster,
        "tokens",
        "callers: {others: Forward}\nauthentication: {tokenCacheTTL: 1s}\n",
    )
    .await;
    ready(gate.admin).await;
    let kubeconfig = cluster.without_certificate(&cluster.kubeconfig("tokens", "node-a", gate.serving));
    let nobody = Client::new(&kubeconfig).await;
    let ask = async |token: &str| {
        let request = Request::get("/version").header("authorization", format!("Bearer {token}"));
        nobody.send(request, "").await.unwrap().code
    };
    assert_eq!(
        (ask(&tokens[0]).await, ask(&tokens[1]).await),
        (StatusCode::OK, StatusCode::OK)
    );
    let held = admin(
        gate.admin,
        operator(Request::put("/quarantine"), &cluster.file("admin.token")),
        r#"{"node":"q1"}"#,
    )
    .await;
    assert_eq!(held.code, StatusCode::OK, "{}", held.body);
    assert_eq!(
        (ask(&tokens[0]).await, ask(&tokens[1]).await),
        (StatusCode::FORBIDDEN, StatusCode::OK)
    );
}
