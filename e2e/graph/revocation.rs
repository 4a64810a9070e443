//! What a node was allowed to watch ends when the reason for it does, and not before.

use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::json;

use super::{
    Gated, admin_client,
    between::{Between, Manner},
    created, deleted,
    objects::{namespace, node, pod_with_secret, secret},
    open_cluster, patched,
};
use crate::gate::{Client, PATIENCE};

const SECRETS: &str = "/api/v1/namespaces/revoked/secrets";
const PODS: &str = "/api/v1/namespaces/revoked/pods";
/// A second, as it is configured, and what a busy machine needs.
const SOON: Duration = Duration::from_secs(3);
/// Long enough that all open watches were looked at more than once.
const TWICE: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_watch_ends_with_the_last_pod_that_needs_its_object() {
    let Some(cluster) = open_cluster().await else {
        return;
    };
    namespace(&cluster, "revoked").await;
    node(&cluster, "revoked").await;
    let admin = admin_client(&cluster).await;
    for name in ["gone", "shared", "kept", "early", "late"] {
        created(&admin, SECRETS, &secret(name)).await;
    }
    for name in ["gone", "shared", "kept", "early"] {
        created(&admin, PODS, &pod_with_secret(name, "revoked")).await;
    }
    let mut second = pod_with_secret("second", "revoked");
    second["spec"]["volumes"][0]["secret"]["secretName"] = json!("shared");
    created(&admin, PODS, &second).await;
    let between = Between::start(&cluster).await;
    let gate = Gated::before(&cluster, "revoked", "gate", between.address, "").await;
    gate.ready().await;
    let client = gate.client("revoked").await;

    let [mut gone, mut shared, mut kept] = [
        Watch::open(&client, "gone").await,
        Watch::open(&client, "shared").await,
        Watch::open(&client, "kept").await,
    ];
    deleted(&admin, &format!("{PODS}/gone")).await;
    deleted(&admin, &format!("{PODS}/shared")).await;
    let began = Instant::now();
    gone.ends().await;
    println!("the watch ended after {:?}", began.elapsed());
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    let answer = client.get(&format!("{SECRETS}/gone")).await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    tokio::time::sleep(TWICE).await;
    for (watch, name) in [(&mut shared, "shared"), (&mut kept, "kept")] {
        watch.goes_on(&admin, name).await;
    }

    // Over before the gate has looked at it once.
    let mut early = Watch::open(&client, "early").await;
    deleted(&admin, &format!("{PODS}/early")).await;
    let began = Instant::now();
    early.ends().await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());

    // Upstream has allowed it, and the informers do not know why yet: good for a moment, then the client comes again.
    let held = Manner {
        held: Some(""),
        ..Manner::default()
    };
    between.treat(held);
    created(&admin, PODS, &pod_with_secret("late", "revoked")).await;
    let mut late = Watch::open(&client, "late").await;
    assert_eq!(gate.settled("live").await, 1.0);
    late.ends().await;
    between.treat(Manner::default());
    let mut late = Watch::open(&client, "late").await;
    tokio::time::sleep(TWICE).await;
    late.goes_on(&admin, "late").await;
    deleted(&admin, &format!("{PODS}/late")).await;
    late.ends().await;
}

/// Of one secret.
struct Watch {
    body: Incoming,
    seen: String,
}

impl Watch {
    async fn open(client: &Client, name: &str) -> Self {
        let target = format!("{SECRETS}?watch=true&fieldSelector=metadata.name%3D{name}");
        let response = client.open(Request::get(target), "").await.unwrap();
        let (code, mut watch) = (
            response.status(),
            Self {
                body: response.into_body(),
                seen: String::new(),
            },
        );
        if code != StatusCode::OK {
            watch.ends().await;
        }
        assert_eq!(code, StatusCode::OK, "{name}: {}", watch.seen);
        watch
    }

    /// Reads what there is until it ends.
    async fn ends(&mut self) {
        while self.next().await {}
    }

    /// Another change of the secret is seen.
    async fn goes_on(&mut self, admin: &Client, name: &str) {
        let change = uuid::Uuid::new_v4().to_string();
        let patch = json!({"metadata": {"annotations": {"change": change}}});
        let merge = "application/merge-patch+json";
        patched(admin, &format!("{SECRETS}/{name}"), merge, &patch).await;
        while !self.seen.contains(&change) {
            assert!(self.next().await, "the watch of {name} has ended");
        }
    }

    async fn next(&mut self) -> bool {
        let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await;
        match frame.expect("the watch stays open and says nothing") {
            Some(Ok(frame)) => {
                self.seen.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap()));
                true
            }
            Some(Err(_)) | None => false,
        }
    }
}
