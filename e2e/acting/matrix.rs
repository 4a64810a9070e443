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
