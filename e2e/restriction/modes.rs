//! Where upstream sees the node, it may enforce again: what the gate lets pass passes, and what it refuses reads the same.

use std::sync::Arc;

use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::json;
use test_case::test_case;

use super::{JSON, MERGE_PATCH, Names, STRATEGIC, Side, gate, state};
use crate::cluster::{Guard, shared};

const PROXY: Names = Names {
    namespace: "mode-proxy",
    nodes: ["mp1", "mp2"],
};
const IMPERSONATED: Names = Names {
    namespace: "mode-impersonate",
    nodes: ["mi1", "mi2"],
};

#[test_case(PROXY, FRONT_PROXY; "front proxy")]
#[test_case(IMPERSONATED, IMPERSONATE; "impersonate")]
#[tokio::test]
async fn writes_are_answered_alike(names: Names, identity: &str) {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    cluster
        .grant(include_str!("../../config/kubernetes/impersonate.yaml"))
        .await;
    state::fill(&cluster, names).await;
    let (_gate, serving) = gate(&cluster, names.namespace, (identity, ""), cluster.api).await;
    let [own, other] = names.nodes;
    let through = cluster.kubeconfig(&format!("{}-gated", names.namespace), own, serving);
    let gated = Side::new(Arc::clone(&cluster), through, names).await;
    let direct = Side::new(Arc::clone(&cluster), cluster.file(&format!("{own}.kubeconfig")), names).await;
    for side in [&direct, &gated] {
        side.known(names).await;
    }
    let pods = format!("/api/v1/namespaces/{}/pods", names.namespace);
    let node = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
    let eviction = |name: &str| json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    for (code, method, target, kind, body) in [
        (409, "POST", "/api/v1/nodes".to_owned(), JSON, node(own)),
        (403, "POST", "/api/v1/nodes".to_owned(), JSON, node(other)),
        (
            200,
            "PATCH",
            format!("/api/v1/nodes/{own}/status"),
            STRATEGIC,
            json!({"status": {"phase": "Running"}}),
        ),
        (
            200,
            "PATCH",
            format!("/api/v1/nodes/{own}"),
            MERGE_PATCH,
            json!({"metadata": {"labels": {"a": "b"}}}),
        ),
        (
            403,
            "PATCH",
            format!("/api/v1/nodes/{own}"),
            MERGE_PATCH,
            json!({"metadata": {"labels": null}}),
        ),
        (
            403,
            "PATCH",
            format!("/api/v1/nodes/{own}"),
            MERGE_PATCH,
            json!({"spec": {"taints": null}}),
        ),
        (
            200,
            "PATCH",
            format!("{pods}/p1/status"),
            STRATEGIC,
            json!({"status": {"phase": "Running"}}),
        ),
        (
            403,
            "PATCH",
            format!("{pods}/p1/status"),
            STRATEGIC,
            json!({"metadata": {"labels": {"a": "b"}}}),
        ),
        (
            403,
            "PATCH",
            format!("{pods}/p2/status"),
            STRATEGIC,
            json!({"status": {"phase": "Running"}}),
        ),
        (
            403,
            "DELETE",
            format!("{pods}/p2"),
            JSON,
            json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}),
        ),
        (
            200,
            "DELETE",
            format!("{pods}/p1"),
            JSON,
            json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}),
        ),
        (201, "POST", format!("{pods}/p1/eviction"), JSON, eviction("p1")),
        (404, "POST", format!("{pods}/nosuch/eviction"), JSON, eviction("nosuch")),
    ] {
        let target = format!("{target}?dryRun=All");
        let expected = direct.send_json(method, &target, kind, &body).await;
        assert_eq!(expected.code.as_u16(), code, "{method} {target}: {}", expected.body);
        let answer = gated.send_json(method, &target, kind, &body).await;
        assert_eq!(gated.summary(&answer), direct.summary(&expected), "{method} {target}");
    }
}
