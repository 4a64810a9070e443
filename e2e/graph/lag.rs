//! The gate is never behind in a way that a node could see as a refusal.

use std::time::Instant;

use http::{Request, StatusCode};
use serde_json::json;
use tokio::task::JoinSet;

use super::{
    Gated, admin_client,
    between::{Between, Manner},
    created,
    objects::{claim, namespace, node, pod, pod_with_secret, volume},
    open_cluster, post,
};
use crate::{gate::Client, release};

const PODS: usize = 1000;
const WORKERS: usize = 8;

/// A pod is bound and what it names is asked for in the same instant.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_pod_names_can_be_read_as_soon_as_it_is_bound() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    namespace(&cluster, "lag").await;
    let gate = Gated::start(&cluster, "lag", "").await;
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let name = format!("lag-{worker}");
        node(&cluster, &name).await;
        let (admin, node) = (admin_client(&cluster).await, gate.client(&name).await);
        workers.spawn(async move {
            let (mut early, mut late) = (0, 0);
            for at in (worker..PODS).step_by(WORKERS) {
                match bound_and_read(&admin, &node, &name, at).await {
                    Read::AtOnce => {}
                    Read::AtTheSecondTry => early += 1,
                    Read::Never => late += 1,
                }
            }
            (early, late)
        });
    }
    let refused = workers.join_all().await;
    let early: u32 = refused.iter().map(|(early, _)| early).sum();
    let late: u32 = refused.iter().map(|(_, late)| late).sum();
    let (publish, live, all) = (
        gate.settled("publish").await,
        gate.settled("live").await,
        gate.misses().await,
    );
    println!("{PODS} pods: {publish} requests rescued by the next publish, {live} by asking upstream");
    assert_eq!(late, 0);
    assert_eq!(publish + live + f64::from(early), all, "some were not rescued");
}

/// When a node could read what its pod names.
enum Read {
    AtOnce,
    /// It had asked before the pod was bound, and was told so before: an API server that is busy takes its time to bind one.
    AtTheSecondTry,
    Never,
}

/// When the node could read it. Pods are bound in two ways, and three kinds of objects asked for at three moments.
async fn bound_and_read(admin: &Client, node: &Client, node_name: &str, at: usize) -> Read {
    let pods = "/api/v1/namespaces/lag/pods";
    let name = format!("p{at}");
    let target = match at % 3 {
        0 => format!("/api/v1/namespaces/lag/secrets/{name}"),
        1 => format!("/api/v1/namespaces/lag/configmaps/{name}"),
        _ => format!("{pods}/{name}"),
    };
    let volumes = json!([
        {"name": "s", "secret": {"secretName": name}},
        {"name": "c", "configMap": {"name": name}},
    ]);
    let spec = json!({"volumes": volumes});
    let (path, object) = if at.is_multiple_of(2) {
        (pods.to_owned(), pod(&name, node_name, &spec))
    } else {
        created(admin, pods, &pod(&name, "", &spec)).await;
        let target = json!({"apiVersion": "v1", "kind": "Node", "name": node_name});
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target});
        (format!("{pods}/{name}/binding"), binding)
    };
    let write = async {
        let request = Request::post(&path).header("content-type", "application/json");
        let response = admin.open(request, &object.to_string()).await.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        response
    };
    let read = node.get(&target);
    let mut answer = if at % 5 == 4 {
        tokio::join!(write, read).1
    } else {
        // The head of the answer is the first that anybody outside can know of the write.
        let _response = write.await;
        read.await
    };
    // It may have been decided before the pod was bound, however late the answer came; now it is bound.
    let early = at % 5 == 4 && answer.code == StatusCode::FORBIDDEN;
    if early {
        answer = node.get(&target).await;
    }
    match answer.code.as_u16() {
        200 | 404 if early => Read::AtTheSecondTry,
        200 | 404 => Read::AtOnce,
        403 => Read::Never,
        _ => panic!("{}", answer.body),
    }
}

/// Informers that are far behind: upstream is asked, and where that is not enough, the node is told to come again.
#[tokio::test]
async fn upstream_is_asked_when_informers_are_far_behind() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    namespace(&cluster, "behind").await;
    node(&cluster, "behind").await;
    let admin = admin_client(&cluster).await;
    let stage = json!({"namespace": "kube-system", "name": "behind-stage"});
    let csi = json!({"driver": "example.com", "volumeHandle": "h", "nodeStageSecretRef": stage});
    let persistent = volume("behind", "behind", "claim", "csi", &csi);
    created(&admin, "/api/v1/persistentvolumes", &persistent).await;
    let claims = "/api/v1/namespaces/behind/persistentvolumeclaims";
    created(&admin, claims, &claim("claim")).await;
    let between = Between::start(&cluster).await;
    let gate = Gated::before(&cluster, "behind", "gate", between.address, "").await;
    gate.ready().await;
    let client = gate.client("behind").await;

    between.treat(Manner {
        held: Some(""),
        ..Manner::default()
    });
    let pods = "/api/v1/namespaces/behind/pods";
    for at in 0..10 {
        let name = format!("p{at}");
        created(&admin, pods, &pod_with_secret(&name, "behind")).await;
        let answer = client.get(&format!("/api/v1/namespaces/behind/secrets/{name}")).await;
        assert_eq!(answer.code, StatusCode::NOT_FOUND, "{}", answer.body);
    }
    assert_eq!(gate.settled("live").await, 10.0);
    let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}]);
    created(&admin, pods, &pod("v", "behind", &json!({"volumes": volumes}))).await;
    let answer = client.get("/api/v1/persistentvolumes/behind").await;
    assert_eq!(answer.code, StatusCode::OK, "{}", answer.body);
    let secret = "/api/v1/namespaces/kube-system/secrets/behind-stage";
    let answer = client.get(secret).await;
    assert_eq!(answer.code, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
    assert_eq!(answer.headers["retry-after"], "1");

    between.treat(Manner::default());
    gate.until("the secret", async || {
        let code = client.get(secret).await.code;
        assert_ne!(code, StatusCode::FORBIDDEN);
        code == StatusCode::NOT_FOUND
    })
    .await;

    // Pods and claims are known, and only the volume is behind.
    let mut bound = claim("bound");
    bound["spec"]["volumeName"] = json!("bound");
    created(&admin, claims, &bound).await;
    let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "bound"}}]);
    created(&admin, pods, &pod("bound", "behind", &json!({"volumes": volumes}))).await;
    let known = client.get(&format!("{claims}/bound")).await;
    assert_eq!(known.code, StatusCode::OK, "{}", known.body);
    between.treat(Manner {
        held: Some("/api/v1/persistentvolumes?"),
        ..Manner::default()
    });
    let stage = json!({"namespace": "kube-system", "name": "bound-stage"});
    let csi = json!({"driver": "example.com", "volumeHandle": "b", "nodeStageSecretRef": stage});
    let persistent = volume("bound", "behind", "bound", "csi", &csi);
    created(&admin, "/api/v1/persistentvolumes", &persistent).await;
    let before = gate.settled("live").await;
    let answer = client.get("/api/v1/namespaces/kube-system/secrets/bound-stage").await;
    assert_eq!(answer.code, StatusCode::NOT_FOUND, "{}", answer.body);
    assert_eq!(gate.settled("live").await, before + 1.0);
    let foreign = client.get("/api/v1/namespaces/kube-system/secrets/foreign").await;
    assert_eq!(foreign.code, StatusCode::FORBIDDEN, "{}", foreign.body);
}

/// Two thousand pods that appear at once, to a gate that is there and to one that comes later; which of the lists are
/// streamed; and that the rights which are shipped are enough for all of it.
#[tokio::test(flavor = "multi_thread")]
async fn many_pods_are_streamed() {
    const MANY: usize = 2000;
    let Some(cluster) = open_cluster().await else {
        return;
    };
    namespace(&cluster, "many").await;
    node(&cluster, "many").await;
    let there = Gated::start(&cluster, "many-there", "").await;
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let admin = admin_client(&cluster).await;
        workers.spawn(async move {
            for at in (worker..MANY).step_by(WORKERS) {
                let pod = pod_with_secret(&format!("p{at}"), "many");
                let answer = post(&admin, "/api/v1/namespaces/many/pods", &pod).await;
                assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
            }
        });
    }
    workers.join_all().await;
    let made = began.elapsed();
    let secrets = async |gate: &Gated<'_>| {
        let client = gate.client("many").await;
        for at in [0, MANY / 2, MANY - 1] {
            let answer = client.get(&format!("/api/v1/namespaces/many/secrets/p{at}")).await;
            assert_eq!(answer.code, StatusCode::NOT_FOUND, "{}", answer.body);
        }
        gate.misses().await
    };
    there.until("pods", async || pods(&there).await >= MANY).await;
    assert_eq!(secrets(&there).await, 0.0);

    let between = Between::start(&cluster).await;
    let began = Instant::now();
    let later = Gated::before(&cluster, "many-later", "gate", between.address, "").await;
    later.ready().await;
    println!(
        "{MANY} pods made in {made:?}; a gate is ready after {:?}",
        began.elapsed()
    );
    assert!(pods(&later).await >= MANY);
    assert_eq!(secrets(&later).await, 0.0);
    let seen = between.seen();
    let asked = |path: &str, what: &str| {
        let of_informers = seen
            .iter()
            .filter(|request| request.user.is_empty() && request.method == "GET");
        of_informers
            .filter(|request| request.target.split('?').next() == Some(path) && request.target.contains(what))
            .count()
    };
    for path in [
        "/api/v1/nodes",
        "/api/v1/persistentvolumeclaims",
        "/api/v1/persistentvolumes",
        "/api/v1/pods",
        "/api/v1/serviceaccounts",
        "/apis/resource.k8s.io/v1/resourceslices",
        "/apis/storage.k8s.io/v1/csidrivers",
        "/apis/storage.k8s.io/v1/volumeattachments",
    ] {
        let path = &release::served(path);
        assert_eq!(asked(path, "sendInitialEvents=true"), 1, "{path}");
        assert_eq!(asked(path, "limit=500"), 0, "{path}");
    }
}

async fn pods(gate: &Gated<'_>) -> usize {
    gate.metric("scopegate_graph_objects", "kind=\"pod\"").await as usize
}
