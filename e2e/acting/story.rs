//! The story of the proposal: a manager of replication controllers that can be tricked, and what becomes of the trick.

use http::StatusCode;
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};

use super::{Gated, Subject, allow, ask, cluster, known, seen};
use crate::{
    gate::{Answer, Client},
    graph::{
        admin_client, created,
        objects::{namespace, pod},
    },
};

/// What somebody has asked the manager for, in an object of its own namespace.
async fn order(admin: &Client, home: &str, name: &str, into: &str) {
    let order = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"namespace": into, "pod": name},
    });
    created(admin, &format!("/api/v1/namespaces/{home}/configmaps"), &order).await;
}

/// The manager. It believes what it reads, which is the defect: nobody has checked that whoever wrote the order may do there what it
/// says. `says`: whether it tells for whom it works.
async fn reconcile(manager: &Client, home: &str, name: &str, says: bool) -> (Answer, String) {
    let target = format!("/api/v1/namespaces/{home}/configmaps/{name}");
    let (order, _) = ask(manager, ("GET", &target), &[], "").await;
    assert_eq!(order.code, StatusCode::OK, "{}", order.body);
    let order: Value = order.json()["data"].clone();
    let target = format!("/api/v1/namespaces/{}/pods", order["namespace"].as_str().unwrap());
    let pod = pod(order["pod"].as_str().unwrap(), "", &json!({})).to_string();
    let whom = format!("system:serviceaccount:{home}:default");
    let headers = [("Acting-As", whom.as_str())];
    let headers = if says { &headers[..] } else { &[] };
    ask(manager, ("POST", &target), headers, &pod).await
}

#[tokio::test]
async fn a_confused_deputy_does_no_harm() {
    let Some(cluster) = cluster().await else { return };
    let admin = admin_client(&cluster).await;
    for name in ["st-team", "st-bank"] {
        namespace(&cluster, name).await;
    }
    known(&cluster, &["rc-manager"]);
    let pods = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]});
    let orders = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]});
    for rule in [&pods, &orders] {
        allow(&cluster, Subject::User("rc-manager"), "", rule.clone()).await;
    }
    // The team lets its controllers make pods; the bank has nobody do that.
    allow(&cluster, Subject::Account("st-team", "default"), "st-team", pods).await;
    for (name, into) in [
        ("direct-work", "st-team"),
        ("direct-trick", "st-bank"),
        ("header-work", "st-team"),
        ("header-trick", "st-bank"),
        ("deputy-work", "st-team"),
        ("deputy-trick", "st-bank"),
    ] {
        order(&admin, "st-team", name, into).await;
    }

    // As it is without the gate: the team's order makes a pod in the bank.
    let direct = Client::new(&cluster.file("rc-manager.kubeconfig")).await;
    for name in ["direct-work", "direct-trick"] {
        let (answer, _) = reconcile(&direct, "st-team", name, false).await;
        assert_eq!(answer.code, StatusCode::CREATED, "{name}: {}", answer.body);
    }

    // The manager says for whom it works.
    let delegation = "
actingAs:
  delegations:
  - actors: {users: [rc-manager]}
    subjects: {serviceAccountsIn: [st-team, st-bank]}
    resources: [pods]
    verbs: [create]
";
    // It knows nothing of that, and the gate says it for it.
    let deputy = "actingAs: {deputies: [{user: rc-manager}]}\n";
    for (way, more, leave) in [
        ("header", delegation, "delegations[0], Intersection"),
        ("deputy", deputy, "deputies[0], Intersection"),
    ] {
        let gate = Gated::start(&cluster, &format!("story-{way}"), FRONT_PROXY, more).await;
        let manager = gate.client("rc-manager").await;
        let (answer, id) = reconcile(&manager, "st-team", &format!("{way}-work"), way == "header").await;
        assert_eq!(answer.code, StatusCode::CREATED, "{way}: {}", answer.body);
        let event = gate.event(&id).await;
        assert_eq!(event["user"]["username"], "rc-manager");
        assert_eq!(
            event["impersonatedUser"]["username"],
            "system:serviceaccount:st-team:default"
        );
        assert_eq!(event["annotations"]["scopegate.dev/acting-as"], leave);

        let (answer, id) = reconcile(&manager, "st-team", &format!("{way}-trick"), way == "header").await;
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "{way}: {}", answer.body);
        let whom = if way == "header" { "st-team" } else { "st-bank" };
        let words = format!("\"system:serviceaccount:{whom}:default\" cannot create resource \"pods\"");
        assert!(answer.message().contains(&words), "{way}: {}", answer.body);
        assert_eq!(seen(&cluster, &id), 1, "upstream itself has refused it");
        let made = admin.get(&format!("/api/v1/namespaces/st-bank/pods/{way}-trick")).await;
        assert_eq!(made.code, StatusCode::NOT_FOUND);
    }
}
