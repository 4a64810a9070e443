//! The proposal's migration, with a real kubelet: what its static pod is labelled with is recorded, recommended, allowed, moved to
//! keys that need no allowing, and refused at last.

use std::{process::Command, time::Duration};

use serde_json::{Value, json};

use super::{AS_FRONT_PROXY, KUBEADM, MIGRATED, Mode, gate, rights_of_nodes, sampler::is_ready};
use crate::{
    cluster::{AUDITED, Cluster, Guard, program},
    gate::{Client, PATIENCE, scopegate},
    graph::{admin_client, objects::pod},
};

const NODE: &str = "migrates";
const MIRROR: &str = "/api/v1/namespaces/kube-system/pods/etcd-migrates";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn labels_of_static_pods_migrate() {
    let Some(kubemark) = program("kubemark") else { return };
    let Some(cluster) = Cluster::start(Guard::None, AUDITED, "").await else {
        return;
    };
    rights_of_nodes(&cluster).await;
    let admin = admin_client(&cluster).await;
    // Nothing is enforced that upstream does not have.
    let (process, serving) = gate(&cluster, configured(""), "recording").await;
    let balancer = super::Balancer::before(serving).await;
    let node = super::Node::hollow(&cluster, &kubemark, NODE, balancer.address);
    until(&admin, "/api/v1/nodes/migrates", "the node is ready", is_ready).await;
    node.add_static_pod(&labelled(&[KUBEADM]));
    until(&admin, MIRROR, "the mirror pod is there", |pod| has(pod, "component")).await;
    let recommended = recommend(&cluster, "recording");
    assert!(
        recommended.contains("allowedLabels:\n    - component "),
        "{recommended}"
    );
    drop(process);

    // As recommended, with the feature gate that comes with it: the pod may be what it is.
    let (process, serving) = gate(
        &cluster,
        Mode {
            enforced: leak(recommended),
            ..AS_FRONT_PROXY
        },
        "allowing",
    )
    .await;
    balancer.switch(serving);
    node.remove_static_pod();
    gone(&admin).await;
    node.add_static_pod(&labelled(&[KUBEADM, MIGRATED]));
    until(&admin, MIRROR, "both labels are there", |pod| {
        has(pod, "component") && has(pod, "unrestricted.node.kubernetes.io/component")
    })
    .await;
    drop(process);

    // Nothing is allowed any more but what needs no allowing.
    let enforced = configured("featureGates: {NodeRestrictionPods: true}\n");
    let (_process, serving) = gate(&cluster, enforced, "enforcing").await;
    balancer.switch(serving);
    node.remove_static_pod();
    gone(&admin).await;
    node.add_static_pod(&labelled(&[MIGRATED]));
    until(&admin, MIRROR, "the new label is there", |pod| {
        !has(pod, "component") && has(pod, "unrestricted.node.kubernetes.io/component")
    })
    .await;
    node.remove_static_pod();
    gone(&admin).await;
    node.add_static_pod(&labelled(&[KUBEADM]));
    let log = cluster.file(&super::audit_log("enforcing"));
    until_some("the kubelet is refused", || {
        let events = std::fs::read_to_string(&log).unwrap_or_default();
        let rule = |line: &str| line.contains(r#""scopegate.dev/rule":"pods/mirror-labels""#);
        events.lines().find(|line| rule(line)).map(str::to_owned)
    })
    .await;
    assert_eq!(admin.get(MIRROR).await.code, 404);
}

fn configured(enforced: &'static str) -> Mode {
    Mode {
        enforced,
        ..AS_FRONT_PROXY
    }
}

/// A mode lives as long as the test.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn labelled(keys: &[[&str; 2]]) -> Value {
    let mut manifest = pod("etcd", "", &json!({}));
    manifest["metadata"]["namespace"] = json!("kube-system");
    for [component, tier] in keys {
        manifest["metadata"]["labels"][component] = json!("etcd");
        manifest["metadata"]["labels"][tier] = json!("control-plane");
    }
    manifest
}

fn has(pod: &Value, label: &str) -> bool {
    !pod["metadata"]["labels"][label].is_null()
}

fn recommend(cluster: &Cluster, gate: &str) -> String {
    let mut command = Command::new(scopegate());
    let output = command
        .arg("recommend")
        .arg(cluster.file(&super::audit_log(gate)))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(super) async fn until(admin: &Client, path: &str, what: &str, is: impl Fn(&Value) -> bool) {
    for _ in 0..PATIENCE.as_secs() * 6 {
        let answer = admin.get(path).await;
        if answer.code == 200 && is(&answer.json()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("never: {what}: {}", admin.get(path).await.body);
}

async fn gone(admin: &Client) {
    for _ in 0..PATIENCE.as_secs() * 6 {
        if admin.get(MIRROR).await.code == 404 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("the mirror pod never went");
}

pub(super) async fn until_some<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    for _ in 0..PATIENCE.as_secs() * 6 {
        if let Some(found) = look() {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("never: {what}");
}
