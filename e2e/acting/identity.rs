//! What upstream is told, in every mode in which it can be told, with the rights that are shipped and no others; and what both audit
//! logs have of it.

use http::{Request, StatusCode};
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::{Value, json};
use test_case::test_case;

use super::{ACTOR, Gated, RBAC, Subject, WHO, WHO_AM_I, allow, ask, cluster, event, known, to_be_users};
use crate::{
    cluster::{AUDIT_LOG, Cluster},
    graph::objects::namespace,
    release,
};

const SUBJECT: &str = "Subject";

#[test_case("idf", FRONT_PROXY; "front proxy")]
#[test_case("idi", IMPERSONATE; "impersonate")]
#[tokio::test]
async fn upstream_sees_the_subject_and_is_told_the_actor(name: &str, identity: &str) {
    let Some(cluster) = cluster().await else { return };
    namespace(&cluster, name).await;
    let actor = format!("{name}-actor");
    known(&cluster, &[&actor]);
    allow(&cluster, Subject::User(&actor), "", to_be_users(&["jane"])).await;
    let uids = json!({"apiGroups": ["authentication.k8s.io"], "resources": ["uids"], "verbs": ["impersonate"]});
    allow(&cluster, Subject::User(&actor), "", uids).await;
    let account = format!("system:serviceaccount:{name}:default");
    let more = format!(
        "actingAs: {{semantics: {SUBJECT}, delegations: [{{actors: {{users: [{actor}]}}, subjects: {{serviceAccountsIn: [{name}]}}}}]}}\n"
    );
    let gate = Gated::start(&cluster, name, identity, &more).await;
    let client = gate.client(&actor).await;
    let all = "system:authenticated";
    let accounts = ["system:serviceaccounts", &format!("system:serviceaccounts:{name}"), all];
    for (headers, user, groups, leave) in [
        (&[("Acting-As", "jane")][..], "jane", &[all][..], "review, Subject"),
        (
            &[("Impersonate-User", "jane"), ("Impersonate-Uid", "7")],
            "jane",
            &[all],
            "review, Subject",
        ),
        (
            &[("Acting-As", &account)],
            &account,
            &accounts,
            "delegations[0], Subject",
        ),
    ] {
        let (answer, id) = ask(&client, ("POST", WHO_AM_I), headers, WHO).await;
        assert_eq!(answer.code, StatusCode::CREATED, "{headers:?}: {}", answer.body);
        let extra = json!({ACTOR: [actor.as_str()]});
        let mut expected = json!({"username": user, "groups": groups, "extra": extra});
        if headers.len() == 2 {
            expected["uid"] = json!("7");
        }
        assert_eq!(answer.json()["status"]["userInfo"], expected);

        let upstream = event(&cluster.file(AUDIT_LOG), &id).await;
        let seen = match identity {
            IMPERSONATE => {
                assert_eq!(upstream["user"]["username"], "scopegate");
                &upstream["impersonatedUser"]
            }
            _ => {
                assert_eq!(upstream.get("impersonatedUser"), None);
                &upstream["user"]
            }
        };
        assert_eq!(seen["username"], user);
        assert_eq!(seen["extra"], extra);

        let ours = gate.event(&id).await;
        assert_eq!(ours["user"]["username"], actor.as_str());
        assert_eq!(ours["impersonatedUser"], expected);
        assert_eq!(ours["annotations"]["scopegate.dev/acting-as"], leave);
        let line = gate.process.line(&id).await;
        for part in [
            format!("caller={actor:?}"),
            format!("acting_as={user:?}"),
            format!("acting_by={leave:?}"),
        ] {
            assert!(line.contains(&part), "missing {part} in {line}");
        }
    }
}

/// The same with nothing but rights of constrained impersonation; they are for users.
#[tokio::test]
async fn constrained_rights_are_enough_for_users() {
    let Some(cluster) = cluster().await else { return };
    if release::preset() != "1.36" {
        return;
    }
    known(&cluster, &["idc-gate", "idc-actor"]);
    for (manifest, first) in [
        (include_str!("../../config/kubernetes/informers.yaml"), ""),
        (
            include_str!("../../config/kubernetes/acting-as-constrained.yaml"),
            "impersonate:user-info",
        ),
    ] {
        grant(&cluster, manifest, "idc-gate", first).await;
    }
    allow(&cluster, Subject::User("idc-actor"), "", to_be_users(&["jane"])).await;
    let more = "actingAs: {semantics: Subject}\n";
    let gate = Gated::with_credentials(&cluster, "idc", IMPERSONATE, more, "idc-gate").await;
    crate::gate::ready(gate.admin).await;
    let client = gate.client("idc-actor").await;
    let (answer, id) = ask(&client, ("POST", WHO_AM_I), &[("Acting-As", "jane")], WHO).await;
    assert_eq!(answer.code, StatusCode::CREATED, "{}", answer.body);
    assert_eq!(
        answer.json()["status"]["userInfo"]["extra"],
        json!({ACTOR: ["idc-actor"]})
    );
    let upstream = event(&cluster.file(AUDIT_LOG), &id).await;
    assert_eq!(upstream["user"]["username"], "idc-gate");
    assert_eq!(upstream["impersonatedUser"]["username"], "jane");
    // Upstream itself refuses what these rights are not for.
    let delegated = Request::post(WHO_AM_I)
        .header("content-type", "application/json")
        .header("impersonate-user", "jane")
        .header("impersonate-group", "system:masters");
    let direct = cluster.send("idc-gate", delegated, WHO).await;
    assert_eq!(direct.code, StatusCode::FORBIDDEN, "{}", direct.body);
}

/// What an actor may by constrained rights alone, and in which mode it was.
#[tokio::test]
async fn constrained_rights_of_an_actor_count() {
    let Some(cluster) = cluster().await else { return };
    if release::preset() != "1.36" {
        return;
    }
    namespace(&cluster, "idr").await;
    known(&cluster, &["idr-actor"]);
    let actor = || Subject::User("idr-actor");
    let group = "authentication.k8s.io";
    let rules = [
        json!({"apiGroups": [group], "resources": ["users"], "resourceNames": ["idr-jane"], "verbs": ["impersonate:user-info"]}),
        json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["impersonate-on:user-info:list"]}),
        json!({"apiGroups": [group], "resources": ["serviceaccounts"], "verbs": ["impersonate:serviceaccount"]}),
        json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["impersonate-on:serviceaccount:list"]}),
    ];
    for rule in rules {
        allow(&cluster, actor(), "", rule).await;
    }
    let lists = super::on_configmaps(&["list", "get"]);
    for subject in [Subject::User("idr-jane"), Subject::Account("idr", "default")] {
        allow(&cluster, subject, "idr", lists.clone()).await;
    }
    let gate = Gated::start(&cluster, "idr", FRONT_PROXY, "actingAs: {semantics: Subject}\n").await;
    let client = gate.client("idr-actor").await;
    let target = "/api/v1/namespaces/idr/configmaps";
    for (subject, leave) in [
        ("idr-jane", "review impersonate:user-info, Subject"),
        (
            "system:serviceaccount:idr:default",
            "review impersonate:serviceaccount, Subject",
        ),
    ] {
        let wish = [("Impersonate-User", subject)];
        let (answer, id) = ask(&client, ("GET", target), &wish, "").await;
        assert_eq!(answer.code, StatusCode::OK, "{subject}: {}", answer.body);
        let event = gate.event(&id).await;
        assert_eq!(event["annotations"]["scopegate.dev/acting-as"], leave);
        let (answer, _) = ask(&client, ("GET", &format!("{target}/a")), &wish, "").await;
        assert_eq!(answer.code, StatusCode::FORBIDDEN, "only to list: {}", answer.body);
    }
}

/// A manifest that is shipped, for another user than that of the gate.
async fn grant(cluster: &Cluster, manifest: &str, user: &str, verb: &str) {
    for document in manifest.split("\n---\n") {
        let mut object: Value = serde_saphyr::from_str(document).unwrap();
        let name = format!("{user}-{}", object["metadata"]["name"].as_str().unwrap());
        object["metadata"]["name"] = json!(name);
        let resource = if object["kind"] == "ClusterRole" {
            "clusterroles"
        } else {
            object["roleRef"]["name"] = json!(name);
            object["subjects"] = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]);
            "clusterrolebindings"
        };
        cluster.create(&format!("{RBAC}/{resource}"), &object).await;
    }
    if !verb.is_empty() {
        let rule = json!({"apiGroups": ["authentication.k8s.io"], "resources": ["users"], "verbs": [verb]});
        let admin = crate::graph::admin_client(cluster).await;
        super::known_to_upstream(&admin, user, "", &rule).await;
    }
}
