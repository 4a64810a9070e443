//! Upstream restarts, and comes back from a backup.

use std::{path::Path, process::Command, time::Instant};

use http::StatusCode;

use super::{
    Gated, admin_client, created, deleted,
    objects::{config_map, namespace, node, pod_with_secret, secret},
    open,
};
use crate::{
    cluster::{Cluster, assets},
    gate::Client,
};

/// Writes between the backup and its use, so that all that the API server itself writes when it starts does not make up for
/// them.
const WRITES: usize = 500;

#[tokio::test]
async fn what_a_backup_does_not_hold_is_forgotten() {
    let (Some(assets), Some(cluster)) = (assets(), Cluster::with_client_cas("").await) else {
        return;
    };
    open(&cluster).await;
    namespace(&cluster, "ns").await;
    node(&cluster, "restored").await;
    let admin = admin_client(&cluster).await;
    let (pods, secrets) = ("/api/v1/namespaces/ns/pods", "/api/v1/namespaces/ns/secrets");
    for name in ["kept", "deleted", "made"] {
        created(&admin, secrets, &secret(name)).await;
    }
    for name in ["kept", "deleted"] {
        created(&admin, pods, &pod_with_secret(name, "restored")).await;
    }
    let gate = Gated::start(&cluster, "restored", "").await;
    let client = gate.client("restored").await;
    let code = async |name: &str| client.get(&format!("{secrets}/{name}")).await.code.as_u16();
    assert_eq!(code("kept").await, 200);

    // A restart. What the graph allows cannot be forwarded meanwhile; what it does not, nobody can be sure of.
    cluster.stop();
    assert!([502, 503].contains(&code("kept").await));
    assert_eq!(code("made").await, 503);
    let (etcd, backup) = (cluster.file("etcd"), cluster.file("etcd.backup"));
    copy(&etcd, &backup);
    cluster.run(&assets).await;
    let began = Instant::now();
    gate.until("answer", async || code("kept").await == 200).await;
    println!("served {:?} after the restart", began.elapsed());
    gate.until("refusal", async || code("made").await == 403).await;

    let admin = admin_client(&cluster).await;
    for at in 0..WRITES {
        let path = "/api/v1/namespaces/ns/configmaps";
        created(&admin, path, &config_map(&format!("write-{at}"))).await;
    }
    created(&admin, pods, &pod_with_secret("made", "restored")).await;
    deleted(&admin, &format!("{pods}/deleted")).await;
    gate.until("right", async || code("made").await == 200).await;
    gate.until("end of a right", async || code("deleted").await == 403)
        .await;
    known(&gate, &client).await;

    cluster.stop();
    std::fs::remove_dir_all(&etcd).unwrap();
    copy(&backup, &etcd);
    cluster.run(&assets).await;
    let began = Instant::now();
    gate.until("end of a right", async || code("made").await == 403).await;
    println!("refused {:?} after the backup came back", began.elapsed());
    gate.until("right", async || code("deleted").await == 200).await;
    gate.ready().await;
    // A server that has just started may also refuse a watch for other reasons, which lead to a list too.
    let noticed = gate.process.stderr().contains("upstream has gone back in time");
    println!("noticed by its resource version: {noticed}");
}

/// Waits until the informers are behind no longer, so that it is they who know what comes next.
async fn known(gate: &Gated<'_>, client: &Client) {
    gate.until("pod", async || {
        let misses = gate.misses().await;
        let code = client.get("/api/v1/namespaces/ns/secrets/made").await.code;
        code == StatusCode::OK && gate.misses().await == misses
    })
    .await;
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}
