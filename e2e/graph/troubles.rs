//! Whatever upstream does to the informers, what is gone is gone, and what is new is known.

use http::StatusCode;

use super::{
    Gated, admin_client,
    between::{Between, Event, Manner},
    created, deleted,
    objects::{namespace, node, pod_with_secret, slice},
    open_cluster,
};
use crate::cluster::Cluster;

const PODS: &str = "/api/v1/pods?";
const GONE: &str = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\
                    \"message\":\"too old resource version\",\"code\":410}}\n";
const GARBAGE: &str = "<html>502 Bad Gateway</html>\n";
const UNREADABLE: &str = "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":7}}}\n";
const BROKEN_OFF: &str = "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"p\"\n";

/// What happens to the watch of pods, and whether all has to be listed again.
const TROUBLES: &[(&str, Event, bool)] = &[
    ("cut", Event::Cut, false),
    ("gone", Event::Say(GONE), true),
    ("garbage", Event::Say(GARBAGE), true),
    ("unreadable", Event::Say(UNREADABLE), true),
    ("brokenoff", Event::Say(BROKEN_OFF), true),
];

#[tokio::test]
async fn nothing_is_missed() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    // They mostly wait.
    let troubles = TROUBLES.iter().map(|trouble| nothing_is_missed_over(&cluster, trouble));
    futures_util::future::join_all(troubles).await;
}

/// A pod goes and another comes meanwhile.
async fn nothing_is_missed_over(cluster: &Cluster, (name, event, lists_again): &(&'static str, Event, bool)) {
    namespace(cluster, name).await;
    node(cluster, name).await;
    let admin = admin_client(cluster).await;
    let pods = format!("/api/v1/namespaces/{name}/pods");
    created(&admin, &pods, &pod_with_secret("before", name)).await;
    let between = Between::start(cluster).await;
    let gate = Gated::before(cluster, name, "gate", between.address, "").await;
    gate.ready().await;
    let client = gate.client(name).await;
    let read = async |secret: &str| {
        let target = format!("/api/v1/namespaces/{name}/secrets/{secret}");
        client.get(&target).await.code
    };
    assert_eq!(read("before").await, StatusCode::NOT_FOUND);
    let listed = async || gate.metric("scopegate_informer_lists_total", "informer=\"pods\"").await;
    assert_eq!(listed().await, 1.0);

    // The changes come when nothing gets through, so only what follows the event can tell of them.
    between.treat(Manner {
        held: Some(""),
        ..Manner::default()
    });
    deleted(&admin, &format!("{pods}/before")).await;
    created(&admin, &pods, &pod_with_secret("after", name)).await;
    between.happen(PODS, *event);
    between.treat(Manner::default());
    gate.until("end of the right", async || {
        read("before").await == StatusCode::FORBIDDEN
    })
    .await;
    let known = async || {
        let misses = gate.misses().await;
        read("after").await == StatusCode::NOT_FOUND && gate.misses().await == misses
    };
    gate.until("right", known).await;
    assert_eq!(listed().await, if *lists_again { 2.0 } else { 1.0 });
    assert!(gate.process.stderr().contains("informer failed; it tries again"));
}

/// An API that upstream does not have, and then has.
#[tokio::test]
async fn an_api_that_comes_later_is_found() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    node(&cluster, "later").await;
    let admin = admin_client(&cluster).await;
    let slices = "/apis/resource.k8s.io/v1/resourceslices";
    created(&admin, slices, &slice("later", "later")).await;
    let between = Between::start(&cluster).await;
    between.treat(Manner {
        refused: Some(("/apis/resource.k8s.io/", StatusCode::NOT_FOUND)),
        ..Manner::default()
    });
    let gate = Gated::before(&cluster, "later", "gate", between.address, "staleAfter: 6s").await;
    gate.ready().await;
    let client = gate.client("later").await;
    let target = format!("{slices}/later");
    assert_eq!(client.get(&target).await.code, StatusCode::FORBIDDEN);
    between.treat(Manner::default());
    let known = async || gate.metric("scopegate_graph_objects", "kind=\"resourceslice\"").await > 0.0;
    gate.until("slice", known).await;
    assert_eq!(client.get(&target).await.code, StatusCode::OK);
    assert_eq!(gate.readyz().await.code, StatusCode::OK);
}
