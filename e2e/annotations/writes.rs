//! Who writes pods and what they are made from: nobody without the right, in any form; and with it, what comes of it is what came
//! of it without the gate.

use http::StatusCode;
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::{Value, json};
use test_case::test_case;

use super::world::{APPLY, CONTROLLER, JSON, JSON_PATCH, KERBEROS, KEY, KINDS, Kind, MERGE, STRATEGIC, World};
use crate::restriction::{encode, plain};

const REFUSED: &str = "may not use validated annotation kerberos=app";

/// Every way to create one that carries it: a form and a body.
fn creations(kind: &Kind, name: &str) -> Vec<(&'static str, Vec<u8>)> {
    let field = json!({"kerberos": "app"});
    let list = json!([{"kerberos": "app"}]);
    let spaced = kind.object(name, &json!({KEY: "{ \"kerberos\": \"app\" }"}));
    let mut ways = vec![
        (JSON, kind.annotated(name).to_string().into_bytes()),
        (JSON, kind.with_field(name, field).to_string().into_bytes()),
        (JSON, kind.with_field(name, list.clone()).to_string().into_bytes()),
        (JSON, spaced.to_string().into_bytes()),
        ("application/yaml", yaml(&kind.with_field(name, list), 0).into_bytes()),
    ];
    if kind.resource != "workers" {
        ways.extend(encode::encode_one(&kind.annotated(name)).map(|body| (encode::PROTOBUF, body)));
    }
    ways
}

/// As people write it.
fn yaml(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let entry = |key: &str, value: &Value| match value {
        Value::Object(map) if !map.is_empty() => format!("{indent}{key}:\n{}", yaml(value, depth + 1)),
        Value::Array(items) => {
            let items = items.iter().map(|item| format!("{indent}- {item}\n"));
            format!("{indent}{key}:\n{}", items.collect::<String>())
        }
        value => format!("{indent}{key}: {value}\n"),
    };
    let object = value.as_object().unwrap();
    object.iter().map(|(key, value)| entry(key, value)).collect()
}

#[test_case("create-f", FRONT_PROXY; "front proxy")]
#[test_case("create-i", IMPERSONATE; "impersonate")]
#[tokio::test(flavor = "multi_thread")]
async fn new_objects(test: &str, identity: &str) {
    let Some(world) = World::open(test, identity).await else {
        return;
    };
    if identity == IMPERSONATE {
        world.impersonation().await;
    }
    for kind in KINDS {
        let target = kind.collection(&world.namespace);
        for (number, (form, _)) in creations(kind, "x").into_iter().enumerate() {
            let name = format!("{}-{number}", kind.resource);
            let (_, body) = creations(kind, &name).swap_remove(number);
            let refused = world.send("carol", "POST", &target, form, &body).await;
            assert_eq!(
                refused.code,
                StatusCode::FORBIDDEN,
                "{form} {}: {}",
                kind.kind,
                refused.body
            );
            assert!(refused.message().contains(REFUSED), "{}", refused.body);
            assert_eq!(world.stored(&format!("{target}/{name}")).await, None);
            let allowed = world.send("dave", "POST", &target, form, &body).await;
            assert_eq!(
                allowed.code,
                StatusCode::CREATED,
                "{form} {}: {}",
                kind.kind,
                allowed.body
            );
            let stored = world.stored(&format!("{target}/{name}")).await.unwrap();
            assert_eq!(kind.told(&stored).0.as_deref(), Some(KERBEROS), "{form} {stored}");
        }
        let plain = kind.plain(&format!("{}-plain", kind.resource));
        let allowed = world.send("carol", "POST", &target, JSON, plain.to_string()).await;
        assert_eq!(allowed.code, StatusCode::CREATED, "{}", allowed.body);
    }
}

/// Every way to change an image: a method, a form and a body.
fn images(kind: &Kind, stored: &Value) -> Vec<(&'static str, &'static str, String)> {
    let containers = json!([{"name": "c", "image": "evil"}, {"name": "d", "image": "other"}]);
    let mut replaced = stored.clone();
    replaced.pointer_mut(kind.place).unwrap()["spec"]["containers"][0]["image"] = json!("evil");
    let mut unversioned = replaced.clone();
    let metadata = unversioned["metadata"].as_object_mut().unwrap();
    metadata.remove("resourceVersion");
    let name = stored["metadata"]["name"].clone();
    let merged = kind.at(json!({"spec": {"containers": containers}}));
    let strategic = kind.at(json!({"spec": {"containers": [{"name": "c", "image": "evil"}]}}));
    let path = format!("{}/spec/containers/0/image", kind.place);
    let mut applied = merged.clone();
    applied["apiVersion"] = json!(kind.api_version);
    applied["kind"] = json!(kind.kind);
    applied["metadata"]["name"] = name;
    vec![
        ("PUT", JSON, replaced.to_string()),
        ("PUT", JSON, unversioned.to_string()),
        ("PATCH", MERGE, merged.to_string()),
        ("PATCH", STRATEGIC, strategic.to_string()),
        (
            "PATCH",
            JSON_PATCH,
            json!([{"op": "replace", "path": path, "value": "evil"}]).to_string(),
        ),
        ("PATCH", APPLY, applied.to_string()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn images_of_what_carries_one() {
    let Some(world) = World::open("images", FRONT_PROXY).await else {
        return;
    };
    for kind in KINDS {
        let collection = kind.collection(&world.namespace);
        for number in 0..6 {
            let name = format!("{}-{number}", kind.resource);
            let made = world
                .send("dave", "POST", &collection, JSON, kind.annotated(&name).to_string())
                .await;
            assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
            let (method, form, body) = images(kind, &made.json()).swap_remove(number);
            // Of its own kinds upstream takes a write for any version; of others the gate names the one it has judged.
            let is_lenient = kind.resource == "workers" && number == 1;
            if !kind.takes(form) || is_lenient {
                continue;
            }
            let target = format!(
                "{collection}/{name}{}",
                if form == APPLY {
                    "?fieldManager=m&force=true"
                } else {
                    ""
                }
            );
            // Jobs are made for one template, and some others change little of it: upstream refuses what the gate lets pass.
            let direct = world.direct("dave", method, &target, form, &body, true).await;
            let refused = world.send("carol", method, &target, form, &body).await;
            if direct.code == StatusCode::OK {
                assert_eq!(
                    refused.code,
                    StatusCode::FORBIDDEN,
                    "{method} {form} {}: {}",
                    kind.kind,
                    refused.body
                );
            }
            assert_ne!(
                refused.code,
                StatusCode::OK,
                "{method} {form} {}: {}",
                kind.kind,
                refused.body
            );
            let stored = world.stored(&format!("{collection}/{name}")).await.unwrap();
            assert_eq!(kind.told(&stored), (Some(KERBEROS.to_owned()), "good".to_owned()));
            let allowed = world.send("dave", method, &target, form, &body).await;
            assert_eq!(
                allowed.code, direct.code,
                "{method} {form} {}: {}",
                kind.kind, allowed.body
            );
            if allowed.code == StatusCode::OK {
                let (mut ours, mut theirs) = (allowed.json(), direct.json());
                plain(&mut ours);
                plain(&mut theirs);
                assert_eq!(ours, theirs, "{method} {form} {}", kind.kind);
                assert_eq!(
                    kind.told(&allowed.json()),
                    (Some(KERBEROS.to_owned()), "evil".to_owned())
                );
            }
        }
    }
}

/// What the annotation says is changed, set or removed with the right to both only, in either form.
#[tokio::test(flavor = "multi_thread")]
async fn the_annotation_itself() {
    let Some(world) = World::open("itself", FRONT_PROXY).await else {
        return;
    };
    for kind in KINDS {
        // A Job's template, and a StatefulSet's in part, stay what they are.
        if kind.resource == "jobs" {
            continue;
        }
        let collection = kind.collection(&world.namespace);
        let name = format!("{}-x", kind.resource);
        let target = format!("{collection}/{name}");
        let made = world
            .send("carol", "POST", &collection, JSON, kind.plain(&name).to_string())
            .await;
        assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
        let escaped = KEY.replace('/', "~1");
        let annotations = format!("{}/metadata/annotations", kind.place);
        let field = format!("{}/spec/validatedAnnotations", kind.place);
        let set = [
            (MERGE, kind.at(json!({"metadata": {"annotations": {KEY: KERBEROS}}}))),
            (
                STRATEGIC,
                kind.at(json!({"metadata": {"annotations": {KEY: KERBEROS}}})),
            ),
            (
                JSON_PATCH,
                json!([{"op": "add", "path": annotations, "value": {KEY: KERBEROS}}]),
            ),
            (
                MERGE,
                kind.at(json!({"spec": {"validatedAnnotations": {"kerberos": "app"}}})),
            ),
            (
                STRATEGIC,
                kind.at(json!({"spec": {"validatedAnnotations": [{"kerberos": "app"}]}})),
            ),
            (
                JSON_PATCH,
                json!([{"op": "add", "path": field, "value": {"kerberos": "app"}}]),
            ),
        ];
        let removed = [
            (MERGE, kind.at(json!({"metadata": {"annotations": {KEY: null}}}))),
            (
                STRATEGIC,
                kind.at(json!({"metadata": {"annotations": {"$patch": "replace"}}})),
            ),
            (
                JSON_PATCH,
                json!([{"op": "remove", "path": format!("{annotations}/{escaped}")}]),
            ),
            (MERGE, kind.at(json!({"spec": {"validatedAnnotations": null}}))),
            (
                STRATEGIC,
                kind.at(json!({"spec": {"validatedAnnotations": {"kerberos": null}}})),
            ),
            (JSON_PATCH, json!([{"op": "remove", "path": field}])),
        ];
        for ((form, set), (_, removed)) in set.iter().zip(&removed).filter(|((form, _), _)| kind.takes(form)) {
            for (patch, before, after) in [(set, None, Some(KERBEROS)), (removed, Some(KERBEROS), None)] {
                let refused = world.send("carol", "PATCH", &target, form, patch.to_string()).await;
                assert_eq!(refused.code, StatusCode::FORBIDDEN, "{form} {patch}: {}", refused.body);
                assert_eq!(kind.told(&world.stored(&target).await.unwrap()).0.as_deref(), before);
                let allowed = world.send("dave", "PATCH", &target, form, patch.to_string()).await;
                assert_eq!(allowed.code, StatusCode::OK, "{form} {patch}: {}", allowed.body);
                assert_eq!(
                    kind.told(&world.stored(&target).await.unwrap()).0.as_deref(),
                    after,
                    "{form} {patch}"
                );
            }
        }
    }
}

/// What does not concern pods needs no right: labels, replicas, status, and an object that is sent back with something left out
/// that the API server fills in.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_alone() {
    let Some(world) = World::open("alone", FRONT_PROXY).await else {
        return;
    };
    for kind in KINDS {
        let collection = kind.collection(&world.namespace);
        let (name, manifest) = ("left", kind.annotated("left"));
        let target = format!("{collection}/{name}");
        let made = world
            .send("dave", "POST", &collection, JSON, manifest.to_string())
            .await;
        assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
        let labels = json!({"metadata": {"labels": {"a": "b"}}});
        let mut applied = labels.clone();
        applied["apiVersion"] = json!(kind.api_version);
        applied["kind"] = json!(kind.kind);
        let mut labelled = made.json();
        labelled["metadata"]["labels"]["c"] = json!("d");
        labelled["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        let mut ways = vec![
            ("PUT", JSON, labelled),
            ("PATCH", MERGE, labels.clone()),
            ("PATCH", STRATEGIC, labels),
            (
                "PATCH",
                JSON_PATCH,
                json!([{"op": "add", "path": "/metadata/labels/e", "value": "f"}]),
            ),
            ("PATCH", APPLY, applied),
        ];
        if !matches!(kind.resource, "pods" | "jobs" | "workers") {
            // As it was created: the rest is filled in as it was then.
            let mut sparse = manifest.clone();
            sparse["metadata"]["labels"] = json!({"sparse": "yes"});
            ways.push(("PUT", JSON, sparse));
        }
        for (method, form, body) in ways.into_iter().filter(|(_, form, _)| kind.takes(form)) {
            let target = format!("{target}{}", if form == APPLY { "?fieldManager=m" } else { "" });
            let allowed = world.send("carol", method, &target, form, body.to_string()).await;
            assert_eq!(
                allowed.code,
                StatusCode::OK,
                "{method} {form} {}: {}",
                kind.kind,
                allowed.body
            );
            let stored = world.stored(&format!("{collection}/{name}")).await.unwrap();
            assert_eq!(kind.told(&stored), (Some(KERBEROS.to_owned()), "good".to_owned()));
        }
        if kind.resource == "deployments" {
            let scale = json!({"spec": {"replicas": 3}}).to_string();
            for subresource in ["", "/scale"] {
                let allowed = world
                    .send("carol", "PATCH", &format!("{target}{subresource}"), MERGE, &scale)
                    .await;
                assert_eq!(allowed.code, StatusCode::OK, "{}", allowed.body);
            }
        }
    }
}

/// Server-side apply creates what is not there, and only what is not there: an object that comes in between is another one.
#[tokio::test(flavor = "multi_thread")]
async fn applied_objects_are_new_or_as_they_were() {
    let Some(world) = World::open("applied", FRONT_PROXY).await else {
        return;
    };
    for kind in KINDS {
        let collection = kind.collection(&world.namespace);
        let target = format!("{collection}/new?fieldManager=m");
        let body = kind.with_field("new", json!({"kerberos": "app"})).to_string();
        let refused = world.send("carol", "PATCH", &target, APPLY, &body).await;
        assert_eq!(refused.code, StatusCode::FORBIDDEN, "{}: {}", kind.kind, refused.body);
        assert_eq!(world.stored(&format!("{collection}/new")).await, None);
        let made = world.send("dave", "PATCH", &target, APPLY, &body).await;
        assert_eq!(made.code, StatusCode::CREATED, "{}: {}", kind.kind, made.body);
        assert_eq!(kind.told(&made.json()).0.as_deref(), Some(KERBEROS));
        // What the gate adds where there is nothing, where there is something.
        let mut late = kind.plain("new");
        late["metadata"]["resourceVersion"] = json!("1");
        let late = world
            .direct(
                "dave",
                "PATCH",
                &format!("{target}&force=true"),
                APPLY,
                &late.to_string(),
                false,
            )
            .await;
        assert_eq!(late.code, StatusCode::CONFLICT, "{}: {}", kind.kind, late.body);
        let target = format!("{collection}/plain?fieldManager=m");
        let plain = world
            .send("carol", "PATCH", &target, APPLY, kind.plain("plain").to_string())
            .await;
        assert_eq!(plain.code, StatusCode::CREATED, "{}: {}", kind.kind, plain.body);
    }
}

/// What makes pods from templates that were looked at.
#[tokio::test(flavor = "multi_thread")]
async fn controllers_that_are_trusted() {
    let Some(world) = World::open("trusted", FRONT_PROXY).await else {
        return;
    };
    let (pods, sets) = (&KINDS[0], &KINDS[5]);
    let mut uids = Vec::new();
    for (name, object, user) in [
        ("carries", sets.annotated("carries"), "dave"),
        ("plain", sets.plain("plain"), "carol"),
    ] {
        let made = world
            .send(user, "POST", &sets.collection("trusted"), JSON, object.to_string())
            .await;
        uids.push((name, made.json()["metadata"]["uid"].as_str().unwrap().to_owned()));
    }
    let pod = |name: &str, owner: &str, uid: &str| {
        let mut pod = pods.annotated(name);
        pod["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": uid, "controller": true}]);
        pod.to_string()
    };
    let carries = &uids[0].1;
    for (name, user, owner, uid, code) in [
        ("a", "controller", "carries", carries, 201),
        ("b", "controller", "plain", &uids[1].1, 403),
        ("c", "controller", "carries", &uids[1].1, 403),
        ("d", "controller", "gone", carries, 403),
        ("e", "carol", "carries", carries, 403),
    ] {
        let answer = world
            .send(user, "POST", &pods.collection("trusted"), JSON, pod(name, owner, uid))
            .await;
        assert_eq!(answer.code.as_u16(), code, "{name}: {}", answer.body);
    }
    let told = world.gate.stderr();
    assert!(told.contains(CONTROLLER), "{told}");
}

/// A field that another manager has is in conflict by itself, which asking again does not change.
#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_of_managers_is_one_request() {
    let Some(world) = World::open("managers", FRONT_PROXY).await else {
        return;
    };
    let kind = &KINDS[4];
    let collection = kind.collection("managers");
    let made = world
        .send("carol", "POST", &collection, JSON, kind.plain("d").to_string())
        .await;
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
    let mut other = kind.plain("d");
    other["spec"]["template"]["spec"]["containers"][0]["image"] = json!("another");
    let target = format!("{collection}/d?fieldManager=m");
    let answer = world.send("carol", "PATCH", &target, APPLY, other.to_string()).await;
    assert_eq!(answer.code, StatusCode::CONFLICT, "{}", answer.body);
    assert!(answer.body.contains("FieldManagerConflict"), "{}", answer.body);
    let log = world.cluster.file(crate::cluster::AUDIT_LOG);
    let id = answer.audit_id();
    let count = || std::fs::read_to_string(&log).unwrap().matches(&id).count();
    crate::gate::eventually("the event", || (count() > 0).then_some(())).await;
    assert_eq!(count(), 1);
    // And the client's own version is its own.
    other["metadata"]["resourceVersion"] = json!("1");
    let answer = world
        .send(
            "carol",
            "PATCH",
            &format!("{target}&force=true"),
            APPLY,
            other.to_string(),
        )
        .await;
    assert_eq!(answer.code, StatusCode::CONFLICT, "{}", answer.body);
}

/// What controllers make pods from besides templates.
#[tokio::test(flavor = "multi_thread")]
async fn other_sources_of_pods() {
    let Some(world) = World::open("sources", FRONT_PROXY).await else {
        return;
    };
    let revisions = "/apis/apps/v1/namespaces/sources/controllerrevisions";
    let revision = |name: &str| {
        json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": name}, "revision": 1, "data": {}})
            .to_string()
    };
    let refused = world.send("dave", "POST", revisions, JSON, revision("a")).await;
    assert_eq!(refused.code, StatusCode::FORBIDDEN, "{}", refused.body);
    let made = world.send("controller", "POST", revisions, JSON, revision("a")).await;
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
    let deployments = KINDS[4].collection("sources");
    let made = world
        .send("carol", "POST", &deployments, JSON, KINDS[4].plain("d").to_string())
        .await;
    assert_eq!(made.code, StatusCode::CREATED, "{}", made.body);
    let back = json!({"metadata": {"annotations": {"deprecated.deployment.rollback.to": "1"}}}).to_string();
    let refused = world
        .send("carol", "PATCH", &format!("{deployments}/d"), MERGE, back)
        .await;
    assert_eq!(refused.code, StatusCode::FORBIDDEN, "{}", refused.body);
}

/// As people copy it.
#[tokio::test]
async fn the_example_of_the_page_works() {
    let Some(cluster) = super::world::cluster().await else {
        return;
    };
    let page = include_str!("../../docs/validated-annotations.md");
    crate::page::works(&cluster, "validated-page", page, async {}).await;
}
