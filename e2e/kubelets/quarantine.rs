//! A kubelet in quarantine: left its heartbeats it stays ready and can do nothing else; left nothing it is taken for dead; let go,
//! it does what it was told meanwhile.

use std::time::Duration;

use http::{Request, StatusCode};
use serde_json::{Value, json};

use super::{
    AS_FRONT_PROXY, Mode, Node, audit_log, gate,
    migration::{until, until_some},
    rights_of_nodes,
    sampler::is_ready,
    seen::Seen,
};
use crate::{
    cluster::{AUDITED, Cluster, Guard, program},
    gate::{Client, admin, operator},
    graph::{
        admin_client, created,
        objects::{namespace, pod_with_secret, secret},
    },
};

const NODE: &str = "suspect";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/suspect";
/// Kubelets renew their leases every ten seconds.
const RENEWAL: Duration = Duration::from_secs(25);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kubelet_in_quarantine() {
    let Some(kubemark) = program("kubemark") else { return };
    let Some(cluster) = Cluster::start(Guard::None, AUDITED, "").await else {
        return;
    };
    rights_of_nodes(&cluster).await;
    let administrator = admin_client(&cluster).await;
    let plain = Mode {
        enforced: "",
        ..AS_FRONT_PROXY
    };
    let (process, serving) = gate(&cluster, plain, "guard").await;
    let (_, admin_port) = process.addresses().await;
    let _node = Node::hollow(&cluster, &kubemark, NODE, serving);
    until(&administrator, "/api/v1/nodes/suspect", "the node is ready", is_ready).await;
    until(&administrator, LEASE, "it has a lease", |lease| {
        !lease["spec"]["renewTime"].is_null()
    })
    .await;
    namespace(&cluster, "q").await;

    hold(&cluster, admin_port, "HeartbeatOnly").await;
    // Everything that it had open was ended, and it is given nothing new.
    let log = cluster.file(&audit_log("guard"));
    until_some("its watches end", || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.contains(r#""scopegate.dev/end":"quarantined""#).then_some(())
    })
    .await;
    created(&administrator, "/api/v1/namespaces/q/secrets", &secret("p")).await;
    created(&administrator, "/api/v1/namespaces/q/pods", &pod_with_secret("p", NODE)).await;
    let (before, events) = (
        renewed(&administrator).await,
        Seen::read(std::slice::from_ref(&log)).len(),
    );
    tokio::time::sleep(RENEWAL).await;
    assert!(renewed(&administrator).await > before, "its lease is not renewed");
    let node = administrator.get("/api/v1/nodes/suspect").await.json();
    assert!(is_ready(&node), "{node}");
    let pod = administrator.get("/api/v1/namespaces/q/pods/p").await.json();
    assert_eq!(pod["status"]["phase"], "Pending", "it has heard of a pod");
    let passed = passed(&log, events);
    assert!(!passed.is_empty());
    let beats = ["get leases", "update leases", "get nodes", "patch nodes/status"];
    assert!(passed.iter().all(|asked| beats.contains(&asked.as_str())), "{passed:?}");

    hold(&cluster, admin_port, "Deny").await;
    // One that was under way may be there still.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = renewed(&administrator).await;
    tokio::time::sleep(RENEWAL).await;
    assert_eq!(renewed(&administrator).await, before, "its lease is renewed");

    let lifted = admin(
        admin_port,
        as_operator(Request::delete("/quarantine?node=suspect"), &cluster),
        "",
    )
    .await;
    assert_eq!(lifted.code, StatusCode::OK, "{}", lifted.body);
    until(&administrator, "/api/v1/namespaces/q/pods/p", "the pod runs", |pod| {
        pod["status"]["phase"] == "Running"
    })
    .await;
}

async fn hold(cluster: &Cluster, admin_port: std::net::SocketAddr, mode: &str) {
    let body = json!({"node": NODE, "mode": mode}).to_string();
    let answer = admin(admin_port, as_operator(Request::put("/quarantine"), cluster), &body).await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
}

fn as_operator(request: http::request::Builder, cluster: &Cluster) -> http::request::Builder {
    operator(request, &cluster.file("admin.token"))
}

async fn renewed(administrator: &Client) -> String {
    let lease = administrator.get(LEASE).await.json();
    lease["spec"]["renewTime"].as_str().unwrap().to_owned()
}

/// What the node was given since there were so many events.
fn passed(log: &std::path::Path, since: usize) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_node = events
        .skip(since)
        .filter(|event| event["user"]["username"] == "system:node:suspect");
    let passed = of_node.filter(|event| event["responseStatus"]["code"].as_u64().is_some_and(|code| code < 400));
    // What had been allowed before ends now.
    let passed = passed.filter(|event| event["annotations"]["scopegate.dev/end"] != "quarantined");
    let asked = passed.map(|event| {
        let text = |pointer: &str| {
            event
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (resource, subresource) = (text("/objectRef/resource"), text("/objectRef/subresource"));
        let slash = if subresource.is_empty() { "" } else { "/" };
        format!("{} {resource}{slash}{subresource}", text("/verb"))
    });
    asked.collect()
}
