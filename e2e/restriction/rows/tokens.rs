//! Tokens of service accounts.

use serde_json::{Value, json};

use super::{Names, Row, compare, create};
use crate::{
    cluster::{Guard, shared},
    gate::Client,
    graph::{admin_client, created},
    restriction::own_cluster,
};

const NAMES: Names = Names {
    namespace: "token-rows",
    nodes: ["tr1", "tr2"],
};

#[tokio::test]
async fn tokens_are_given_as_node_restriction_has_it() {
    let (Some(guarded), Some(open)) = (shared(Guard::Node).await, own_cluster().await) else {
        return;
    };
    for cluster in [&guarded, &open] {
        grant(&admin_client(cluster).await, "granted", "tr1").await;
    }
    compare(NAMES, rows()).await;
}

/// A node may have tokens for an audience whatever its pods mount.
pub(super) async fn grant(admin: &Client, audience: &str, node: &str) {
    let group = "rbac.authorization.k8s.io";
    let (roles, version) = (format!("/apis/{group}/v1"), format!("{group}/v1"));
    let rule = json!({"apiGroups": [""], "resources": [audience], "verbs": ["request-serviceaccounts-token-audience"]});
    let role = json!({"apiVersion": version, "kind": "ClusterRole", "metadata": {"name": audience}, "rules": [rule]});
    created(admin, &format!("{roles}/clusterroles"), &role).await;
    let binding = json!({
        "apiVersion": version, "kind": "ClusterRoleBinding", "metadata": {"name": audience},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": audience},
        "subjects": [{"apiGroup": group, "kind": "User", "name": format!("system:node:{node}")}],
    });
    created(admin, &format!("{roles}/clusterrolebindings"), &binding).await;
}

fn rows() -> Vec<Row> {
    let request = |pod: &str, audiences: Value, more: Value| {
        let mut reference = json!({"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": format!("uid-of-{pod}")});
        for (key, value) in more.as_object().unwrap() {
            reference[key] = value.clone();
        }
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"audiences": audiences, "expirationSeconds": 3600, "boundObjectRef": reference}})
    };
    let none = json!({});
    let unbound =
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["aud1"]}});
    let not_bound = "node requested token not bound to a pod";
    let not_found = "is not authorized to request tokens for this audience";
    let rows = [
        (
            "sa1",
            "projected audience",
            request("p1", json!(["aud1"]), none.clone()),
            201,
            "",
        ),
        (
            "sa1",
            "audience of a driver",
            request("p1", json!(["csi-aud"]), none.clone()),
            201,
            "",
        ),
        (
            "sa1",
            "audience granted",
            request("p3", json!(["granted"]), none.clone()),
            400,
            "different serviceaccount name",
        ),
        (
            "sa3",
            "audience granted to an own",
            request("p3", json!(["granted"]), none.clone()),
            201,
            "",
        ),
        (
            "sa3",
            "another audience",
            request("p3", json!(["aud1"]), none.clone()),
            403,
            not_found,
        ),
        (
            "sa3",
            "no audience",
            request("p3", json!([]), none.clone()),
            403,
            not_found,
        ),
        (
            "sa1",
            "another audience and a lost volume",
            request("p1", json!(["other"]), none.clone()),
            403,
            "error validating audience \"other\"",
        ),
        (
            "sa1",
            "two audiences",
            request("p1", json!(["aud1", "csi-aud"]), none.clone()),
            403,
            "node may only request 0 or 1 audiences",
        ),
        ("sa1", "not bound", unbound, 403, not_bound),
        (
            "sa1",
            "bound to another kind",
            request("p1", json!(["aud1"]), json!({"kind": "Secret"})),
            403,
            not_bound,
        ),
        (
            "sa1",
            "bound to another version",
            request("p1", json!(["aud1"]), json!({"apiVersion": "v2"})),
            403,
            not_bound,
        ),
        (
            "sa1",
            "bound without a name",
            request("p1", json!(["aud1"]), json!({"name": ""})),
            403,
            not_bound,
        ),
        (
            "sa1",
            "bound without a uid",
            request("p1", json!(["aud1"]), json!({"uid": ""})),
            403,
            "node requested token with a pod binding without a uid",
        ),
        (
            "sa1",
            "bound to a pod that is not there",
            request("nosuch", json!(["aud1"]), json!({"uid": "u"})),
            404,
            "pod \"nosuch\" not found",
        ),
        (
            "sa1",
            "bound to a pod that was",
            request("p1", json!(["aud1"]), json!({"uid": "was"})),
            403,
            "the UID in the bound object reference (was) does not match the UID in record",
        ),
        (
            "sa1",
            "bound to another node's pod",
            request("p2", json!(["aud1"]), none.clone()),
            403,
            "node requested token bound to a pod scheduled on a different node",
        ),
        (
            "sa2",
            "of an account of another node's pod",
            request("p2", json!(["aud1"]), none),
            403,
            "no relationship found",
        ),
    ];
    let rows = rows.into_iter().map(|(account, name, body, code, text)| {
        let target = format!("/api/v1/namespaces/token-rows/serviceaccounts/{account}/token");
        create(&format!("token: {name}"), target, body, code, text)
    });
    rows.collect()
}
