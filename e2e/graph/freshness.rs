//! What is not known, or only from long ago, is neither allowed nor refused.

use std::process::Command;

use http::{Request, StatusCode};
use serde_json::{Value, json};
use test_case::test_case;

use super::{
    Gated, admin_client,
    between::{Between, Manner},
    created,
    objects::{namespace, node, pod_with_secret, secret},
    open_cluster,
};
use crate::{
    cluster::Cluster,
    gate::{Client, scopegate},
};

const HELD: Manner = Manner {
    held: Some(""),
    refused: None,
};

/// A node with a pod and its secret, all of the same name.
async fn prepare(cluster: &Cluster, name: &str) -> String {
    namespace(cluster, name).await;
    node(cluster, name).await;
    let admin = admin_client(cluster).await;
    let namespace = format!("/api/v1/namespaces/{name}");
    created(&admin, &format!("{namespace}/secrets"), &secret(name)).await;
    created(&admin, &format!("{namespace}/pods"), &pod_with_secret(name, name)).await;
    format!("{namespace}/secrets/{name}")
}

/// What needs no graph works without one.
async fn works_without_graph(client: &Client, name: &str) {
    for target in [
        format!("/api/v1/nodes/{name}"),
        format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{name}"),
        "/version".to_owned(),
    ] {
        let answer = client.get(&target).await;
        assert_eq!(answer.code, StatusCode::OK, "{target}: {}", answer.body);
    }
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let request = Request::put(format!("{leases}/{name}")).header("content-type", "application/json");
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name}, "spec": {"holderIdentity": name, "leaseDurationSeconds": 40},
    });
    let answer = client.send(request, &lease.to_string()).await.unwrap();
    assert!(answer.code.is_success(), "{}", answer.body);
}

async fn is_unknown(client: &Client, target: &str) -> bool {
    let answer = client.get(target).await;
    let unknown = answer.code == StatusCode::SERVICE_UNAVAILABLE;
    if unknown {
        assert_eq!(answer.headers["retry-after"], "1");
        assert_eq!(answer.json()["reason"], "ServiceUnavailable");
    }
    unknown
}

/// Informers without rights: the gate says which, and what to do about it.
#[tokio::test]
async fn a_gate_without_rights_is_not_ready() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    let target = prepare(&cluster, "norights").await;
    cluster.user("norights-gate", "norights-gate", None);
    let gate = Gated::before(&cluster, "norights", "norights-gate", cluster.api, "").await;
    let client = gate.client("norights").await;
    let line = gate.process.line("the gate may not watch pods").await;
    assert!(line.contains("apply config/kubernetes/informers.yaml"), "{line}");
    assert!(is_unknown(&client, &target).await);
    works_without_graph(&client, "norights").await;
    let ready = gate.readyz().await;
    assert!(!ready.code.is_success());
    assert!(ready.body.contains("[-]informer-pods"), "{}", ready.body);

    bind(&cluster, "norights", "scopegate-informers", "norights-gate").await;
    gate.ready().await;
    assert_eq!(client.get(&target).await.code, StatusCode::OK);
}

/// A right that only a recorded rule needs, as an older manifest has it: all goes on, and the rule finds nothing until it is there.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_only_recorded_holds_nothing_up() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    let target = prepare(&cluster, "norequests").await;
    cluster.user("norequests-gate", "norequests-gate", None);
    let (role, _) = include_str!("../../config/kubernetes/informers.yaml")
        .split_once("\n---\n")
        .unwrap();
    let older = role.replace("certificatesigningrequests, ", "");
    assert_ne!(older, role);
    let admin = admin_client(&cluster).await;
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let mut older: Value = serde_saphyr::from_str(&older).unwrap();
    older["metadata"]["name"] = "norequests".into();
    created(&admin, roles, &older).await;
    bind(&cluster, "norequests", "norequests", "norequests-gate").await;

    let gate = Gated::before(&cluster, "norequests", "norequests-gate", cluster.api, "").await;
    gate.ready().await;
    gate.process
        .line("the gate may not watch certificatesigningrequests")
        .await;
    let client = gate.client("norequests").await;
    assert_eq!(client.get(&target).await.code, StatusCode::OK);
    let request = "/apis/certificates.k8s.io/v1/certificatesigningrequests/nobodys";
    let found = async || {
        // Nobody has such a request.
        assert_eq!(client.get(request).await.code, StatusCode::NOT_FOUND);
        let rule = "rule=\"node/certificatesigningrequests\"";
        gate.metric("scopegate_rule_violations_total", rule).await
    };
    assert_eq!(found().await, 0.0);
    let config = cluster.file("norequests.yaml");
    let check = tokio::task::block_in_place(|| {
        Command::new(scopegate())
            .arg("check")
            .arg("--config")
            .arg(config)
            .output()
    });
    let printed = String::from_utf8(check.unwrap().stdout).unwrap();
    let warning =
        "warn  the gate may not list certificatesigningrequests in all namespaces: the rule about them finds nothing";
    assert!(
        printed.contains(warning) && !printed.contains("FAIL  the gate may not"),
        "{printed}"
    );

    bind(&cluster, "norequests-now", "scopegate-informers", "norequests-gate").await;
    let informer = "informer=\"certificatesigningrequests\"";
    gate.until("certificate requests", async || {
        gate.metric("scopegate_informer_synced", informer).await == 1.0
    })
    .await;
    assert_eq!(found().await, 1.0);
}

async fn bind(cluster: &Cluster, name: &str, role: &str, user: &str) {
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    created(&admin_client(cluster).await, bindings, &binding).await;
}

/// Upstream goes silent while it still answers nodes. A gate that is to fail static goes on with what it knew.
#[test_case("silent", false; "stale")]
#[test_case("static", true; "fail static")]
#[tokio::test]
async fn silence_is_noticed(name: &'static str, fail_static: bool) {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    let target = prepare(&cluster, name).await;
    let between = Between::start(&cluster).await;
    let graph = format!("staleAfter: 3s, failStatic: {fail_static}");
    let gate = Gated::before(&cluster, name, "gate", between.address, &graph).await;
    gate.ready().await;
    let client = gate.client(name).await;
    assert_eq!(client.get(&target).await.code, StatusCode::OK);

    between.treat(HELD);
    if fail_static {
        let silent = async || {
            gate.metric("scopegate_informer_silence_seconds", "informer=\"pods\"")
                .await
                >= 4.0
        };
        gate.until("silence", silent).await;
        assert_eq!(client.get(&target).await.code, StatusCode::OK);
        assert_eq!(gate.readyz().await.code, StatusCode::OK);
    } else {
        let took = gate.until("doubt", async || is_unknown(&client, &target).await).await;
        println!("in doubt after {took:?}");
        let named = async || gate.readyz().await.body.contains("[-]informer-pods");
        gate.until("readiness", named).await;
    }
    works_without_graph(&client, name).await;

    between.treat(Manner::default());
    gate.ready().await;
    let took = gate
        .until("an answer", async || client.get(&target).await.code == StatusCode::OK)
        .await;
    println!("known again after {took:?}");
}
