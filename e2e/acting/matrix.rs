//! Whose power counts: everybody may or may not by itself, under both semantics and both families of headers.

use http::StatusCode;
use scopegate::demo::site::FRONT_PROXY;
use test_case::test_case;

use super::{Gated, Subject, allow, ask, cluster, configmap, known, on_configmaps, seen, to_be_users};
use crate::graph::objects::namespace;

/// Attack 31: allowed for the actor and for the subject, or, as Kubernetes has it, for the subject alone.
#[test_case("Intersection"; "intersection")]
#[test_case("Subject"; "subject")]
#[tokio::test]
async fn whose_power_counts(semantics: &str) {
    let Some(cluster) = cluster().await else { return };
    let letter = if semantics == "Subject" { "ms" } else { "mi" };
    namespace(&cluster, letter).await;
    let of = |who: &str, may: bool| format!("{letter}-{who}-{}", if may { "yes" } else { "no" });
    let subjects = [of("subject", true), of("subject", false)];
    let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
    for may in [true, false] {
        let actor = of("actor", may);
        known(&cluster, &[&actor]);
        allow(&cluster, Subject::User(&actor), "", to_be_users(&subjects)).await;
        if may {
            allow(&cluster, Subject::User(&actor), letter, on_configmaps(&["create"])).await;
        }
    }
    allow(&cluster, Subject::User(subjects[0]), letter, on_configmaps(&["create"])).await;

    let more = format!("actingAs: {{semantics: {semantics}}}\n");
    let gate = Gated::start(&cluster, letter, FRONT_PROXY, &more).await;
    let target = format!("/api/v1/namespaces/{letter}/configmaps");
    let mut names = 0;
    for actor_may in [true, false] {
        let actor = of("actor", actor_may);
        let client = gate.client(&actor).await;
        for subject_may in [true, false] {
            let subject = of("subject", subject_may);
            for header in ["Acting-As", "Impersonate-User"] {
                names += 1;
                let body = configmap(&format!("c{names}"));
                let (answer, id) = ask(&client, ("POST", &target), &[(header, &subject)], &body).await;
                let case = format!("{semantics} {header}: {actor} as {subject}: {}", answer.body);
                let expected = match (semantics, actor_may, subject_may) {
                    (_, true, true) | ("Subject", false, true) => StatusCode::CREATED,
                    _ => StatusCode::FORBIDDEN,
                };
                assert_eq!(answer.code, expected, "{case}");
                let event = gate.event(&id).await;
                assert_eq!(event["user"]["username"], actor.as_str(), "{case}");
                let by_gate = semantics == "Intersection" && !actor_may;
                assert_eq!(seen(&cluster, &id), usize::from(!by_gate), "{case}");
                if by_gate {
                    // Both names, and what was missing.
                    for part in [&actor, &subject, "does not let it create configmaps"] {
                        assert!(answer.message().contains(part), "{case}");
                    }
                    assert_eq!(answer.json()["reason"], "Forbidden");
                    assert_eq!(answer.json()["details"]["kind"], "configmaps");
                    assert_eq!(event["annotations"]["scopegate.dev/rule"], "callers/intersection");
                    assert_eq!(event["annotations"]["authorization.k8s.io/decision"], "forbid");
                    assert_eq!(
                        event["annotations"]["scopegate.dev/acting-as"],
                        format!("not as {subject:?}")
                    );
                } else {
                    assert_eq!(event["impersonatedUser"]["username"], subject.as_str(), "{case}");
                    assert_eq!(
                        event["annotations"]["scopegate.dev/acting-as"],
                        format!("review, {semantics}")
                    );
                }
                if expected == StatusCode::FORBIDDEN && !by_gate {
                    assert!(
                        answer.message().contains(&format!("User {subject:?} cannot create")),
                        "{case}"
                    );
                }
            }
        }
    }
    let metrics = gate.metrics().await;
    assert!(
        metrics.contains("scopegate_acting_as_requests_total{outcome=\"allowed\",by=\"review\"}"),
        "{metrics}"
    );
}

/// The right to look does not become the right to run something, by whichever method it is asked for (attack 21).
#[tokio::test]
async fn exec_by_get_takes_the_right_to_create() {
    let Some(cluster) = cluster().await else { return };
    namespace(&cluster, "mexec").await;
    known(&cluster, &["mexec-actor", "mexec-both"]);
    let exec = |verbs: &[&str]| serde_json::json!({"apiGroups": [""], "resources": ["pods/exec"], "verbs": verbs});
    for (actor, verbs) in [("mexec-actor", &["get"][..]), ("mexec-both", &["get", "create"])] {
        allow(&cluster, Subject::User(actor), "", to_be_users(&["mexec-jane"])).await;
        allow(&cluster, Subject::User(actor), "mexec", exec(verbs)).await;
    }
    allow(&cluster, Subject::User("mexec-jane"), "mexec", exec(&["get", "create"])).await;
    let gate = Gated::start(&cluster, "mexec", FRONT_PROXY, "").await;
    let target = "/api/v1/namespaces/mexec/pods/p/exec?command=id";
    let upgrade = [
        ("acting-as", "mexec-jane"),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let (answer, id) = ask(&gate.client("mexec-actor").await, ("GET", target), &upgrade, "").await;
    assert_eq!(answer.code, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(
        answer.message().contains("does not let it create pods/exec"),
        "{}",
        answer.body
    );
    assert_eq!(seen(&cluster, &id), 0);
    // There is no such pod: upstream has looked for it.
    let (answer, _) = ask(&gate.client("mexec-both").await, ("GET", target), &upgrade, "").await;
    assert_eq!(answer.code, StatusCode::NOT_FOUND, "{}", answer.body);
}

/// What upstream asks of the subject alone the gate asks of the actor: who can only change things creates none, and who holds few
/// rights gives none away.
#[tokio::test]
async fn what_upstream_asks_beyond_the_request() {
    let Some(cluster) = cluster().await else { return };
    namespace(&cluster, "beyond").await;
    known(&cluster, &["beyond-actor", "beyond-both"]);
    let rule = |groups: &[&str], resources: &[&str], verbs: &[&str]| serde_json::json!({"apiGroups": groups, "resources": resources, "verbs": verbs});
    let rbac = "rbac.authorization.k8s.io";
    for actor in ["beyond-actor", "beyond-both"] {
        allow(&cluster, Subject::User(actor), "", to_be_users(&["beyond-jane"])).await;
        let changes = rule(&[""], &["configmaps", "endpoints"], &["get", "patch", "update"]);
        allow(&cluster, Subject::User(actor), "beyond", changes).await;
        let bindings = rule(
            &[rbac],
            &["clusterrolebindings", "clusterroles"],
            &["create", "get", "update", "patch"],
        );
        allow(&cluster, Subject::User(actor), "", bindings).await;
    }
    let creates = rule(&[""], &["configmaps", "endpoints"], &["create"]);
    allow(&cluster, Subject::User("beyond-both"), "beyond", creates).await;
    let gives = rule(&[rbac], &["clusterroles"], &["bind", "escalate"]);
    allow(&cluster, Subject::User("beyond-both"), "", gives).await;
    allow(&cluster, Subject::User("beyond-jane"), "", rule(&["*"], &["*"], &["*"])).await;
    let gate = Gated::start(&cluster, "beyond", FRONT_PROXY, "").await;
    let role = serde_json::json!({
        "apiVersion": format!("{rbac}/v1"), "kind": "ClusterRole", "metadata": {"name": "beyond-role"},
        "rules": [rule(&[""], &["secrets"], &["get"])],
    });
    let binding = serde_json::json!({
        "apiVersion": format!("{rbac}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": "beyond-binding"},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "apiGroup": rbac, "name": "beyond-actor"}],
    });
    let endpoints = r#"{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"made"}}"#;
    let requests = [
        (
            "PATCH",
            "/api/v1/namespaces/beyond/configmaps/made?fieldManager=m".to_owned(),
            "application/apply-patch+yaml",
            configmap("made"),
            "create configmaps",
        ),
        (
            "PUT",
            "/api/v1/namespaces/beyond/endpoints/made".to_owned(),
            "application/json",
            endpoints.to_owned(),
            "create endpoints",
        ),
        (
            "POST",
            format!("/apis/{rbac}/v1/clusterroles"),
            "application/json",
            role.to_string(),
            "escalate clusterroles",
        ),
        (
            "POST",
            format!("/apis/{rbac}/v1/clusterrolebindings"),
            "application/json",
            binding.to_string(),
            "bind clusterroles",
        ),
    ];
    for (method, target, form, body, missing) in requests {
        let headers = [("acting-as", "beyond-jane"), ("content-type", form)];
        let (refused, id) = ask(&gate.client("beyond-actor").await, (method, &target), &headers, &body).await;
        assert_eq!(refused.code, StatusCode::FORBIDDEN, "{}", refused.body);
        assert!(refused.message().contains(missing), "{}", refused.body);
        assert_eq!(seen(&cluster, &id), 0);
        let (made, _) = ask(&gate.client("beyond-both").await, (method, &target), &headers, &body).await;
        assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
    }
}

/// Nor does anybody get a pod's identity by somebody who may use it.
#[tokio::test]
async fn identities_of_pods_take_the_right_of_both() {
    let Some(cluster) = cluster().await else { return };
    namespace(&cluster, "both-use").await;
    known(&cluster, &["both-use-actor"]);
    let pods = serde_json::json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]});
    let kerberos = serde_json::json!({
        "apiGroups": ["authorization.k8s.io"], "resources": ["validatedannotations/app"], "resourceNames": ["kerberos"], "verbs": ["use"],
    });
    allow(
        &cluster,
        Subject::User("both-use-actor"),
        "",
        to_be_users(&["both-use-jane"]),
    )
    .await;
    for user in ["both-use-actor", "both-use-jane"] {
        allow(&cluster, Subject::User(user), "both-use", pods.clone()).await;
    }
    allow(&cluster, Subject::User("both-use-jane"), "", kerberos.clone()).await;
    let more = "validatedAnnotations: {enabled: true}\nreviews: {allowedTTL: 0s, deniedTTL: 0s}\n";
    let gate = Gated::start(&cluster, "both-use", FRONT_PROXY, more).await;
    let pod = serde_json::json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"automountServiceAccountToken": false, "containers": [{"name": "c", "image": "i"}], "validatedAnnotations": {"kerberos": "app"}},
    });
    let pod = pod.to_string();
    let target = "/api/v1/namespaces/both-use/pods";
    let client = gate.client("both-use-actor").await;
    let (refused, _) = ask(&client, ("POST", target), &[("acting-as", "both-use-jane")], &pod).await;
    assert_eq!(refused.code, StatusCode::FORBIDDEN, "{}", refused.body);
    assert!(
        refused.message().contains("\"both-use-actor\" may not use"),
        "{}",
        refused.body
    );
    allow(&cluster, Subject::User("both-use-actor"), "", kerberos).await;
    let (made, _) = ask(&client, ("POST", target), &[("acting-as", "both-use-jane")], &pod).await;
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
}
