//! New objects.

use serde_json::{Value, json};
use test_case::test_case;

use super::{KINDS, World, annotated, told};
use crate::{
    admission::validated::places::Place,
    protobuf::{self, entry_field},
};

const KERBEROS: &str = r#"{"kerberos":"app"}"#;

fn created(world: &World, uri: &str, object: &Value) -> String {
    told(world, "POST", uri, "application/json", object.to_string().as_bytes())
}

fn granted() -> World {
    World {
        granted: &["kerberos=app"],
        ..World::default()
    }
}

#[test]
fn without_the_right_nothing_is_created_that_carries_one() {
    let refused = "is forbidden: user \"bob\" may not use validated annotation kerberos=app [kerberos=app]";
    for (uri, version, kind, place) in KINDS {
        let forms = [
            annotated(version, kind, place, Some(KERBEROS), None),
            annotated(version, kind, place, None, Some(json!({"kerberos": "app"}))),
            annotated(version, kind, place, None, Some(json!([{"kerberos": "app"}]))),
        ];
        for object in forms {
            let told = created(&World::default(), uri, &object);
            assert!(told.starts_with("403 ") && told.ends_with(refused), "{kind}: {told}");
        }
        let plain = annotated(version, kind, place, None, None);
        assert_eq!(created(&World::default(), uri, &plain), "passes: as it is", "{kind}");
    }
}

#[test]
fn with_the_right_it_is_and_carries_the_annotation() {
    for (uri, version, kind, place) in KINDS {
        let stored = annotated(version, kind, place, Some(KERBEROS), None);
        assert_eq!(
            created(&granted(), uri, &stored),
            "passes: as it is [kerberos=app]",
            "{kind}"
        );
        let others = [
            annotated(version, kind, place, Some("{ \"kerberos\" : \"app\" }"), None),
            annotated(version, kind, place, None, Some(json!({"kerberos": "app"}))),
            annotated(version, kind, place, None, Some(json!([{"kerberos": "app"}]))),
            annotated(version, kind, place, Some(KERBEROS), Some(json!([{"kerberos": "app"}]))),
        ];
        for other in others {
            let told = created(&granted(), uri, &other);
            let sent = told
                .strip_prefix("passes: ")
                .and_then(|told| told.strip_suffix(" [kerberos=app]"));
            let sent: Value = serde_json::from_str(sent.unwrap_or_else(|| panic!("{kind}: {told}"))).unwrap();
            assert_eq!(sent, stored, "{kind}");
        }
    }
}

#[test]
fn protobuf_carries_the_annotation() {
    for (place, (uri, version, kind, _)) in Place::known().iter().zip(KINDS) {
        let numbers = place.templates[0].numbers(place.endpoint().message.unwrap()).unwrap();
        let body = |value: &str| {
            let metadata = protobuf::text_field(&[1, 1], "x");
            let entry = entry_field(&numbers, "scopegate.dev/validated-annotations", value);
            protobuf::envelope(version, kind, &[&metadata, &entry])
        };
        let told = |world: &World, value| {
            let body = body(value);
            told(world, "POST", uri, "application/vnd.kubernetes.protobuf", &body)
        };
        assert!(told(&World::default(), KERBEROS).starts_with("403 "), "{kind}");
        assert_eq!(told(&granted(), KERBEROS), "passes: as it is [kerberos=app]", "{kind}");
        assert!(told(&granted(), "x").starts_with("400 "), "{kind}");
        let canonical = told(&granted(), "{\"kerberos\": \"app\"}");
        assert!(canonical.contains(KERBEROS), "{kind}: {canonical}");
    }
}

#[test_case("application/yaml"; "yaml")]
#[test_case("application/yaml; charset=utf-8"; "with a parameter")]
fn yaml_becomes_json(content_type: &str) {
    let body = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  validatedAnnotations:\n  - kerberos: app\n";
    let told = |world| told(&world, "POST", KINDS[0].0, content_type, body.as_bytes());
    assert!(told(World::default()).starts_with("403 "));
    assert_eq!(
        told(granted()),
        "passes as application/json: {\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"annotations\":\
         {\"scopegate.dev/validated-annotations\":\"{\\\"kerberos\\\":\\\"app\\\"}\"},\"name\":\"x\"},\"spec\":{}} [kerberos=app]"
    );
}

#[test_case(&json!({"spec": {"validatedAnnotations": "x"}}) => "400 spec.validatedAnnotations is neither a map nor a list of maps with one entry each"; "a text")]
#[test_case(&json!({"spec": {"validatedAnnotations": {"": "x"}}}) => "400 spec.validatedAnnotations has an empty key"; "empty key")]
#[test_case(&json!({"spec": {"validatedAnnotations": {"a": 1}}}) => "400 spec.validatedAnnotations has something else than a text for \"a\""; "no text")]
#[test_case(&json!({"spec": {"validatedAnnotations": [{"a": "1"}, {"a": "2"}]}}) => "400 spec.validatedAnnotations has the key \"a\" twice"; "twice")]
#[test_case(&json!({"spec": {"validatedAnnotations": {"a b": "1"}}}) => "422 Pod \"\" is invalid: spec.validatedAnnotations: Invalid value: \"a b\": cannot be the key of an annotation"; "no key")]
#[test_case(&json!({"spec": []}) => "400 spec is not an object"; "no spec")]
#[test_case(&json!({"metadata": {"annotations": []}}) => "400 metadata.annotations is not an object"; "no annotations")]
#[test_case(&json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": 1}}}) => "400 metadata.annotations[scopegate.dev/validated-annotations] is not a text"; "a number")]
#[test_case(&json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": null}}}) => "400 metadata.annotations[scopegate.dev/validated-annotations] is not a text"; "null, which is an empty text upstream")]
#[test_case(&json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": "{}"}}, "spec": {"validatedAnnotations": {"a": "1"}}}) => "400 spec.validatedAnnotations and metadata.annotations[scopegate.dev/validated-annotations] say different things; leave one of them out"; "both")]
fn malformed(object: &Value) -> String {
    created(&granted(), KINDS[0].0, object)
}

#[test_case(&json!({"spec": {"validatedAnnotations": null}}) => "passes: {\"spec\":{}}"; "no field")]
#[test_case(&json!({"spec": {"validatedAnnotations": {}}}) => "passes: {\"spec\":{}}"; "an empty field")]
#[test_case(&json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": "{}"}}}) => "passes: as it is"; "an empty annotation")]
fn nothing_carried(object: &Value) -> String {
    created(&World::default(), KINDS[0].0, object)
}

fn owned(version: &str, kind: &str, uid: &str) -> Value {
    let mut pod = annotated("v1", "Pod", "", Some(KERBEROS), None);
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": version, "kind": kind, "name": "x", "uid": uid, "controller": true}]);
    pod
}

#[test_case("apps/v1", "ReplicaSet", "uid-x" => "passes: as it is [replicasets.apps ns/x]"; "its owner carries the same")]
#[test_case("apps/v1", "ReplicaSet", "another" => "403 [replicasets.apps ns/x, kerberos=app]"; "another object of that name")]
#[test_case("apps/v1", "ReplicaSet", "" => "403 [kerberos=app]"; "no uid")]
#[test_case("apps/v1", "StatefulSet", "uid-x" => "403 [statefulsets.apps ns/x, kerberos=app]"; "no such owner")]
#[test_case("batch/v1", "Job", "uid-x" => "403 [jobs.batch ns/x, kerberos=app]"; "an owner that carries something else")]
#[test_case("v1", "Pod", "uid-x" => "403 [kerberos=app]"; "a pod, which makes no pods")]
#[test_case("other/v1", "Thing", "uid-x" => "403 [kerberos=app]"; "a kind that nobody knows")]
fn trusted_creators(version: &str, kind: &str, uid: &str) -> String {
    let world = World {
        user: "system:serviceaccount:kube-system:replicaset-controller",
        stored: vec![
            annotated("apps/v1", "ReplicaSet", "spec.template", Some(KERBEROS), None),
            annotated(
                "batch/v1",
                "Job",
                "spec.template",
                Some(r#"{"kerberos":"other"}"#),
                None,
            ),
        ],
        ..World::default()
    };
    let told = created(&world, KINDS[0].0, &owned(version, kind, uid));
    match told.split_once(" [") {
        Some((refused, asked)) if refused.starts_with("403") => format!("403 [{asked}"),
        _ => told,
    }
}

/// Nor whoever acts as one who is.
#[test_case("bob", false; "somebody")]
#[test_case("system:serviceaccount:kube-system:replicaset-controller", true; "somebody who acts as one")]
fn nobody_else_is_trusted(user: &'static str, acted: bool) {
    let world = World {
        user,
        acted,
        stored: vec![annotated(
            "apps/v1",
            "ReplicaSet",
            "spec.template",
            Some(KERBEROS),
            None,
        )],
        ..World::default()
    };
    let told = created(&world, KINDS[0].0, &owned("apps/v1", "ReplicaSet", "uid-x"));
    assert!(told.starts_with("403 "), "{told}");
}

#[test]
fn bindings_set_no_validated_annotation() {
    for uri in ["/api/v1/namespaces/ns/bindings", "/api/v1/namespaces/ns/pods/x/binding"] {
        let mut binding =
            json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "x"}, "target": {"name": "n"}});
        assert_eq!(created(&granted(), uri, &binding), "passes: as it is");
        binding["metadata"]["annotations"] = json!({"scopegate.dev/validated-annotations": KERBEROS});
        let told = created(&granted(), uri, &binding);
        assert!(told.starts_with("403 "), "{told}");
    }
}

#[test_case("bob" => "403 controllerrevisions.apps is forbidden: only validatedAnnotations.trustedCreators write controller revisions"; "anybody")]
#[test_case("system:serviceaccount:kube-system:replicaset-controller" => "passes: as it is"; "a controller")]
fn revisions(user: &'static str) -> String {
    let world = World {
        user,
        ..World::default()
    };
    created(&world, "/apis/apps/v1/namespaces/ns/controllerrevisions", &json!({}))
}
