//! Writes that go around the gate, and the policy that refuses them.

use std::time::{Duration, Instant};

use http::StatusCode;
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::{Value, json};
use test_case::test_case;

use super::world::{JSON, KERBEROS, KEY, KINDS, MERGE, World};

/// The policy as it is shipped, for one namespace: others are tested without it at the same time.
async fn install(world: &World) {
    let manifest = include_str!("../../config/kubernetes/validated-annotations.yaml");
    for document in manifest.split("\n---\n").skip(2) {
        let mut object: Value = serde_saphyr::from_str(document).unwrap();
        let resource = match object["kind"].as_str().unwrap() {
            "ValidatingAdmissionPolicy" => "validatingadmissionpolicies",
            _ => "validatingadmissionpolicybindings",
        };
        object["metadata"]["name"] = json!(world.namespace);
        if resource.ends_with("bindings") {
            object["spec"]["policyName"] = json!(world.namespace);
            let labels = json!({"kubernetes.io/metadata.name": world.namespace});
            object["spec"]["matchResources"] = json!({"namespaceSelector": {"matchLabels": labels}});
        }
        let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}");
        world.cluster.create(&path, &object).await;
    }
    // It takes a moment to be in force.
    let until = Instant::now() + Duration::from_secs(60);
    let pods = KINDS[0].collection(&world.namespace);
    loop {
        let probe = KINDS[0].annotated("probe").to_string();
        let answer = world.direct("dave", "POST", &pods, JSON, &probe, true).await;
        if answer.code == StatusCode::UNPROCESSABLE_ENTITY {
            return;
        }
        assert!(Instant::now() < until, "{}", answer.body);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[test_case("policy-f", FRONT_PROXY; "front proxy")]
#[test_case("policy-i", IMPERSONATE; "impersonate")]
#[tokio::test(flavor = "multi_thread")]
async fn what_goes_around_the_gate_is_refused(test: &str, identity: &str) {
    let Some(world) = World::open(test, identity).await else {
        return;
    };
    if identity == IMPERSONATE {
        world.impersonation().await;
    }
    install(&world).await;
    let message = "through scopegate only";
    // What the configuration adds has to be added to the policy too.
    for kind in KINDS.iter().filter(|kind| kind.resource != "workers") {
        let collection = kind.collection(&world.namespace);
        let target = format!("{collection}/around");
        let body = kind.annotated("around").to_string();
        let refused = world.direct("dave", "POST", &collection, JSON, &body, false).await;
        assert!(refused.body.contains(message), "{}: {}", kind.kind, refused.body);
        let made = world.send("dave", "POST", &collection, JSON, &body).await;
        assert_eq!(made.code, StatusCode::CREATED, "{}: {}", kind.kind, made.body);
        let changes = [
            kind.at(json!({"metadata": {"annotations": {KEY: null}}})),
            kind.at(json!({"metadata": {"annotations": {KEY: "{\"kerberos\":\"other\"}"}}})),
            kind.at(json!({"spec": {"containers": [{"name": "c", "image": "evil"}, {"name": "d", "image": "other"}]}})),
        ];
        for change in changes {
            let refused = world
                .direct("dave", "PATCH", &target, MERGE, &change.to_string(), false)
                .await;
            // Of some, Kubernetes itself keeps the template as it is.
            let is_refused = refused.body.contains(message)
                || refused.body.contains("immutable")
                || refused.body.contains("Forbidden:");
            assert!(is_refused, "{}: {}", kind.kind, refused.body);
            let stored = world.stored(&target).await.unwrap();
            assert_eq!(kind.told(&stored), (Some(KERBEROS.to_owned()), "good".to_owned()));
        }
        for patch in [
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({"metadata": {"annotations": {"a": "b"}}}),
        ] {
            let allowed = world
                .direct("carol", "PATCH", &target, MERGE, &patch.to_string(), false)
                .await;
            assert_eq!(allowed.code, StatusCode::OK, "{}: {}", kind.kind, allowed.body);
        }
        let plain = kind.plain("plain").to_string();
        let allowed = world.direct("carol", "POST", &collection, JSON, &plain, false).await;
        assert_eq!(allowed.code, StatusCode::CREATED, "{}: {}", kind.kind, allowed.body);
    }
    // The controllers that go around the gate make pods from what was looked at.
    let pods = KINDS[0].collection(&world.namespace);
    let made = KINDS[0].annotated("made").to_string();
    let made = world.direct("controller", "POST", &pods, JSON, &made, false).await;
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
    let binding = json!({
        "metadata": {"name": "plain", "annotations": {KEY: KERBEROS}}, "target": {"kind": "Node", "name": "n"},
        "apiVersion": "v1", "kind": "Binding",
    });
    let refused = world
        .direct(
            "dave",
            "POST",
            &format!("{pods}/plain/binding"),
            JSON,
            &binding.to_string(),
            false,
        )
        .await;
    assert!(refused.body.contains(message), "{}", refused.body);
    let revision = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"}, "revision": 1, "data": {},
    });
    let revisions = format!("/apis/apps/v1/namespaces/{}/controllerrevisions", world.namespace);
    for (user, code) in [("dave", 422), ("controller", 201)] {
        let answer = world
            .direct(user, "POST", &revisions, JSON, &revision.to_string(), false)
            .await;
        assert_eq!(answer.code.as_u16(), code, "{}", answer.body);
    }
    let back = json!({"metadata": {"annotations": {"deprecated.deployment.rollback.to": "1"}}}).to_string();
    let deployment = format!("{}/plain", KINDS[4].collection(&world.namespace));
    let refused = world.direct("carol", "PATCH", &deployment, MERGE, &back, false).await;
    assert!(refused.body.contains("rolled back by its template"), "{}", refused.body);
    // Whoever has no right to it hears so from the gate, also where it takes a dry run to know.
    let carries = format!("{}/around", KINDS[4].collection(&world.namespace));
    let mut evil = world.stored(&carries).await.unwrap();
    evil["spec"]["template"]["spec"]["containers"][0]["image"] = json!("evil");
    let refused = world.send("carol", "PUT", &carries, JSON, evil.to_string()).await;
    assert!(
        refused.body.contains("may not use validated annotation kerberos=app"),
        "{}",
        refused.body
    );
}
