//! Changes of what is stored.

use serde_json::{Value, json};
use test_case::test_case;

use super::{KINDS, World, annotated, told};

const OLD: &str = r#"{"kerberos":"app"}"#;
const NEW: &str = r#"{"kerberos":"other"}"#;
const JSON: &str = "application/json";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Everybody may use what there is; nobody what there could be.
fn world(object: Value) -> World {
    World {
        stored: vec![object],
        ..World::default()
    }
}

fn with_right(world: World) -> World {
    World {
        granted: &["kerberos=app"],
        ..world
    }
}

/// A value at the place of a template, as a patch has it.
fn at(place: &str, value: Value) -> Value {
    let keys = place.split('.').rev().filter(|key| !key.is_empty());
    keys.fold(value, |inner, key| json!({key: inner}))
}

fn pointer(place: &str) -> String {
    place
        .split('.')
        .filter(|key| !key.is_empty())
        .map(|key| format!("/{key}"))
        .collect()
}

/// The same image, in every way to write it.
fn image(place: &str, object: &Value) -> Vec<(&'static str, &'static str, Value)> {
    let container = json!([{"name": "c", "image": "evil"}]);
    let mut replaced = object.clone();
    let target = replaced.pointer_mut(&format!("{}/spec", pointer(place))).unwrap();
    target["containers"] = container.clone();
    let change = json!({"spec": {"containers": container}});
    let op = |op: &str, path: &str, value: Value| json!([{"op": op, "path": format!("{}{path}", pointer(place)), "value": value}]);
    vec![
        ("PUT", JSON, replaced),
        ("PATCH", MERGE, at(place, change.clone())),
        ("PATCH", STRATEGIC, at(place, change)),
        (
            "PATCH",
            JSON_PATCH,
            op("replace", "/spec/containers/0/image", json!("evil")),
        ),
        (
            "PATCH",
            JSON_PATCH,
            op("add", "/spec", json!({"containers": [{"name": "c", "image": "evil"}]})),
        ),
    ]
}

#[test]
fn an_image_is_changed_with_the_right_only() {
    for (uri, version, kind, place) in KINDS {
        let object = annotated(version, kind, place, Some(OLD), None);
        for (method, form, body) in image(place, &object) {
            if *kind == "Worker" && form == STRATEGIC {
                continue;
            }
            let told = |world: World| {
                let world = World {
                    rehearsed: Some(rehearsed(&body)),
                    ..world
                };
                told(&world, method, &format!("{uri}/x"), form, body.to_string().as_bytes())
            };
            let refused = told(world(object.clone()));
            assert!(
                refused.starts_with("403 ") && refused.contains("may not use validated annotation kerberos=app ["),
                "{method} {form} {kind}: {refused}"
            );
            let passes = told(with_right(world(object.clone())));
            assert!(
                passes.starts_with("passes at its version: ") && passes.contains("\"7\""),
                "{method} {form} {kind}: {passes}"
            );
            let verb = if method == "PUT" { "update" } else { "patch" };
            assert!(
                passes.ends_with(&format!("[may {verb}, stored, kerberos=app]")),
                "{passes}"
            );
        }
    }
}

fn rehearsed(body: &Value) -> Value {
    let mut result = body.clone();
    if let Some(object) = result.as_object_mut() {
        object.insert("uid".to_owned(), Value::Null);
        result["metadata"]["uid"] = json!("uid-x");
    }
    result
}

#[test]
fn what_carries_none_is_changed_freely_but_at_its_version() {
    for (uri, version, kind, place) in KINDS {
        let object = annotated(version, kind, place, None, None);
        for (method, form, body) in image(place, &object) {
            if *kind == "Worker" && form == STRATEGIC {
                continue;
            }
            let told = told(
                &world(object.clone()),
                method,
                &format!("{uri}/x"),
                form,
                body.to_string().as_bytes(),
            );
            assert!(
                told.starts_with("passes at its version: "),
                "{method} {form} {kind}: {told}"
            );
        }
    }
}

#[test]
fn what_is_left_alone_needs_no_right() {
    for (uri, version, kind, place) in KINDS {
        let object = annotated(version, kind, place, Some(OLD), None);
        let labels = json!({"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}});
        let mut all = object.clone();
        all["metadata"]["labels"] = json!({"a": "b"});
        let told = |method, form, body: &Value| {
            told(
                &world(object.clone()),
                method,
                &format!("{uri}/x"),
                form,
                body.to_string().as_bytes(),
            )
        };
        for form in [MERGE, STRATEGIC] {
            assert_eq!(told("PATCH", form, &labels), "passes: as it is", "{kind} {form}");
        }
        let add = json!([{"op": "add", "path": "/metadata/labels", "value": {}}]);
        assert_eq!(told("PATCH", JSON_PATCH, &add), "passes: as it is", "{kind}");
        let put = told("PUT", JSON, &all);
        assert!(put.starts_with("passes at its version: "), "{kind}: {put}");
        assert!(put.ends_with("[may update, stored]"), "{kind}: {put}");
    }
}

#[test]
fn both_what_was_and_what_comes_need_the_right() {
    for (uri, version, kind, place) in KINDS {
        let object = annotated(version, kind, place, Some(OLD), None);
        let set = |value: &str| json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": value}}});
        let field = json!({"spec": {"validatedAnnotations": {"kerberos": "other"}}});
        let add = |path: &str, value: Value| json!([{"op": "add", "path": format!("{}{path}", pointer(place)), "value": value}]);
        let bodies = [
            (MERGE, at(place, set(NEW))),
            (STRATEGIC, at(place, set(NEW))),
            (
                JSON_PATCH,
                add("/metadata/annotations/scopegate.dev~1validated-annotations", json!(NEW)),
            ),
            (MERGE, at(place, field.clone())),
            (STRATEGIC, at(place, field)),
            (JSON_PATCH, add("/spec/validatedAnnotations/kerberos", json!("other"))),
            (
                JSON_PATCH,
                add("/spec/validatedAnnotations", json!([{"kerberos": "other"}])),
            ),
        ];
        for (form, body) in bodies {
            if *kind == "Worker" && form == STRATEGIC {
                continue;
            }
            let told = |granted| {
                let world = World {
                    granted,
                    ..world(object.clone())
                };
                told(&world, "PATCH", &format!("{uri}/x"), form, body.to_string().as_bytes())
            };
            assert!(told(&[]).contains("kerberos=app ["), "{kind} {body}");
            assert!(told(&["kerberos=app"]).contains("kerberos=other ["), "{kind} {body}");
            assert!(told(&["kerberos=other"]).contains("kerberos=app ["), "{kind} {body}");
            let passes = told(&["kerberos=app", "kerberos=other"]);
            assert!(passes.starts_with("passes at its version"), "{kind} {body}: {passes}");
            assert!(
                !passes.contains("validatedAnnotations\""),
                "the field goes no further: {passes}"
            );
        }
    }
}

/// What the field comes to in a patch is written into the annotation.
#[test_case(MERGE, &json!({"spec": {"validatedAnnotations": {"b": "2"}}}) => r#"{"a":"1","b":"2"}"#; "merged")]
#[test_case(MERGE, &json!({"spec": {"validatedAnnotations": {"a": null, "b": "2"}}}) => r#"{"b":"2"}"#; "merged and removed")]
#[test_case(MERGE, &json!({"spec": {"validatedAnnotations": [{"b": "2"}]}}) => r#"{"b":"2"}"#; "a list replaces")]
#[test_case(STRATEGIC, &json!({"spec": {"validatedAnnotations": {"b": "2"}}}) => r#"{"a":"1","b":"2"}"#; "strategic")]
#[test_case(STRATEGIC, &json!({"spec": {"validatedAnnotations": {"$patch": "replace", "b": "2"}}}) => r#"{"b":"2"}"#; "strategic, replaced")]
#[test_case(JSON_PATCH, &json!([{"op": "add", "path": "/spec/validatedAnnotations/b", "value": "2"}]) => r#"{"a":"1","b":"2"}"#; "json patch")]
#[test_case(JSON_PATCH, &json!([{"op": "test", "path": "/spec/validatedAnnotations/a", "value": "1"}]) => r#"{"a":"1"}"#; "tested")]
#[test_case(JSON_PATCH, &json!([{"op": "remove", "path": "/spec/validatedAnnotations"}]) => "removed"; "removed")]
#[test_case(MERGE, &json!({"spec": {"validatedAnnotations": null}}) => "removed"; "removed by null")]
#[test_case(MERGE, &json!({"spec": {"validatedAnnotations": {"b": "2"}}, "metadata": {"annotations": {"scopegate.dev/validated-annotations": "{}"}}}) => "400"; "both, and different")]
#[test_case(MERGE, &json!({"spec": {"validatedAnnotations": [{"b": "2"}]}, "metadata": {"annotations": null}}) => r#"{"b":"2"}"#; "the field in place of the annotation")]
#[test_case(MERGE, &json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": " {\"b\" : \"2\"}"}}}) => r#"{"b":"2"}"#; "made canonical")]
fn fields_of_patches(form: &str, patch: &Value) -> String {
    let world = World {
        granted: &["a=1", "b=2"],
        ..world(annotated("v1", "Pod", "", Some(r#"{"a":"1"}"#), None))
    };
    let uri = format!("{}/x", KINDS[0].0);
    let told = told(&world, "PATCH", &uri, form, patch.to_string().as_bytes());
    if told.starts_with("400 ") {
        return "400".to_owned();
    }
    let sent = told.strip_prefix("passes at its version as application/json-patch+json: ");
    let sent = sent.unwrap_or_else(|| panic!("{told}")).split_once(" [").unwrap().0;
    let operations: Vec<Value> = serde_json::from_str(sent).unwrap();
    let path = "/metadata/annotations/scopegate.dev~1validated-annotations";
    let found = operations.iter().find(|operation| operation["path"] == path);
    match found {
        Some(operation) if operation["op"] == "remove" => "removed".to_owned(),
        Some(operation) => operation["value"].as_str().unwrap().to_owned(),
        None => r#"{"a":"1"}"#.to_owned(),
    }
}

#[test]
fn what_looks_different_may_come_out_the_same() {
    let (uri, version, kind, place) = KINDS[4];
    let object = annotated(version, kind, place, Some(OLD), None);
    let mut sparse = object.clone();
    sparse["spec"]["template"]["spec"]["containers"] = json!([{"name": "c"}]);
    let mut result = object.clone();
    result["metadata"]["uid"] = json!("uid-x");
    let told = |rehearsed: &Value| {
        let world = World {
            rehearsed: Some(rehearsed.clone()),
            ..world(object.clone())
        };
        told(&world, "PUT", &format!("{uri}/x"), JSON, sparse.to_string().as_bytes())
    };
    let passes = told(&result);
    assert!(passes.starts_with("passes at its version: "), "{passes}");
    assert!(
        passes.ends_with("[may update, stored, kerberos=app, dry run]"),
        "{passes}"
    );
    let mut other = result.clone();
    other["spec"]["template"]["spec"]["containers"][0]["image"] = json!("evil");
    assert!(told(&other).starts_with("403 "));
    let mut other = result;
    other["metadata"]["uid"] = json!("another");
    assert!(told(&other).starts_with("403 "));
}

#[test]
fn applied_objects() {
    let (uri, version, kind, place) = KINDS[4];
    let object = annotated(version, kind, place, Some(OLD), None);
    let mut same = object.clone();
    same["metadata"]["uid"] = json!("uid-x");
    let mut applied = annotated(version, kind, place, None, Some(json!({"kerberos": "app"})));
    applied["spec"]["template"]["spec"]["containers"] = json!([{"name": "c"}]);
    let told = |world: World| {
        told(
            &world,
            "PATCH",
            &format!("{uri}/x?fieldManager=m"),
            APPLY,
            applied.to_string().as_bytes(),
        )
    };

    let new = told(with_right(World::default()));
    assert!(
        new.starts_with("passes at its version as application/apply-patch+yaml: "),
        "{new}"
    );
    assert!(
        new.contains("\"resourceVersion\":\"1\"") && !new.contains("validatedAnnotations\""),
        "{new}"
    );
    assert!(told(World::default()).starts_with("403 "));

    let there = told(with_right(world(object.clone())));
    assert!(
        there.contains("\"uid\":\"uid-x\"") && there.contains("\"resourceVersion\":\"7\""),
        "{there}"
    );
    let changes = World {
        rehearsed: Some(json!({"metadata": {"uid": "uid-x"}, "spec": {}})),
        ..world(object.clone())
    };
    assert!(told(changes).starts_with("403 "));
    let changes_nothing = World {
        rehearsed: Some(same),
        ..world(object)
    };
    assert!(told(changes_nothing).starts_with("passes at its version"));
}

#[test_case("ephemeralcontainers")]
#[test_case("resize")]
fn what_runs_is_changed_with_the_right_only(subresource: &str) {
    let uri = format!("{}/x/{subresource}", KINDS[0].0);
    let object = annotated("v1", "Pod", "", Some(OLD), None);
    let patch = json!({"spec": {"ephemeralContainers": [{"name": "debug", "image": "evil"}]}}).to_string();
    let told = |world: World| told(&world, "PATCH", &uri, STRATEGIC, patch.as_bytes());
    assert!(told(world(object.clone())).starts_with("403 "));
    assert!(told(with_right(world(object))).starts_with("passes at its version: "));
}

#[test]
fn with_the_status_only_the_annotation_may_change() {
    let uri = format!("{}/x/status", KINDS[0].0);
    let object = annotated("v1", "Pod", "", Some(OLD), None);
    let told = |patch: Value| {
        let world = world(object.clone());
        told(&world, "PATCH", &uri, STRATEGIC, patch.to_string().as_bytes())
    };
    let status = json!({"metadata": {"uid": "uid-x"}, "status": {"phase": "Running"}});
    assert_eq!(told(status), "passes: as it is");
    let removed = json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": null}}});
    assert!(told(removed).starts_with("403 "));
    let replaced = json!({"metadata": {"annotations": {"$patch": "replace"}}});
    assert!(told(replaced).starts_with("403 "));
}

#[test]
fn nobody_hears_of_what_is_stored_who_may_not_change_it() {
    let (uri, version, kind, place) = KINDS[4];
    let object = annotated(version, kind, place, Some(OLD), None);
    for stored in [vec![object.clone()], vec![]] {
        let world = World {
            allowed: false,
            stored,
            ..World::default()
        };
        for (method, form, body) in image(place, &object) {
            let told = told(&world, method, &format!("{uri}/x"), form, body.to_string().as_bytes());
            assert!(
                told.starts_with("403 deployments.apps \"x\" is forbidden: User \"bob\" cannot "),
                "{told}"
            );
        }
    }
}

#[test_case(&json!({"apiVersion": "apps/v2"}); "another version")]
#[test_case(&json!({"kind": "Pod"}); "another kind")]
#[test_case(&json!({"APIVERSION": "apps/__internal"}); "another case")]
fn what_it_is_stays(patch: &Value) {
    let (uri, version, kind, place) = KINDS[4];
    let world = world(annotated(version, kind, place, Some(OLD), None));
    let told = told(
        &world,
        "PATCH",
        &format!("{uri}/x"),
        MERGE,
        patch.to_string().as_bytes(),
    );
    assert!(told.starts_with("400 "), "{told}");
}

/// Its controller would look for an older template, which nobody here has looked at.
#[test]
fn a_deployment_is_not_rolled_back_by_an_annotation() {
    let (uri, version, kind, place) = KINDS[4];
    let plain = annotated(version, kind, place, None, None);
    let annotation = json!({"metadata": {"annotations": {"deprecated.deployment.rollback.to": "3"}}});
    let mut whole = plain.clone();
    whole["metadata"]["annotations"] = annotation["metadata"]["annotations"].clone();
    let add = json!([{"op": "add", "path": "/metadata/annotations", "value": annotation["metadata"]["annotations"]}]);
    let x = format!("{uri}/x");
    for (method, target, form, body) in [
        ("POST", uri, JSON, &whole),
        ("PUT", &x, JSON, &whole),
        ("PATCH", &x, MERGE, &annotation),
        ("PATCH", &x, STRATEGIC, &annotation),
        ("PATCH", &x, JSON_PATCH, &add),
        ("PATCH", &x, APPLY, &whole),
    ] {
        let told = told(&world(plain.clone()), method, target, form, body.to_string().as_bytes());
        assert!(
            told.starts_with("403 ") && told.contains("rolled back by its template"),
            "{method} {form}: {told}"
        );
    }
}

/// The client's own condition stays one.
#[test_case("7" => "passes"; "this version")]
#[test_case("5" => "409"; "another version")]
#[test_case("0" => "passes"; "any version")]
fn applied_at_a_version(version: &str) -> String {
    let (uri, api_version, kind, place) = KINDS[4];
    let object = annotated(api_version, kind, place, None, None);
    let mut applied = object.clone();
    applied["metadata"]["resourceVersion"] = json!(version);
    let told = told(
        &world(object),
        "PATCH",
        &format!("{uri}/x"),
        APPLY,
        applied.to_string().as_bytes(),
    );
    told.split_once(' ').unwrap().0.to_owned()
}

/// Nobody need live with what nobody can read: whoever may use anything may replace it.
#[test]
fn what_is_unreadable_is_replaced_with_the_right_to_anything() {
    let (uri, version, kind, place) = KINDS[4];
    let object = annotated(version, kind, place, Some("kerberos=app"), None);
    let removed = at(
        place,
        json!({"metadata": {"annotations": {"scopegate.dev/validated-annotations": null}}}),
    );
    let named = at(place, json!({"spec": {"validatedAnnotations": {"kerberos": "app"}}}));
    let image = at(place, json!({"spec": {"containers": []}}));
    let mut labelled = object.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    let left = told(
        &world(object.clone()),
        "PUT",
        &format!("{uri}/x"),
        JSON,
        labelled.to_string().as_bytes(),
    );
    assert!(left.starts_with("passes at its version"), "{left}");
    for patch in [removed, named, image] {
        let told = |granted| {
            let world = World {
                granted,
                ..world(object.clone())
            };
            told(
                &world,
                "PATCH",
                &format!("{uri}/x"),
                MERGE,
                patch.to_string().as_bytes(),
            )
        };
        assert!(told(&["kerberos=app"]).starts_with("403 "));
        assert!(told(&["kerberos=app", "*=*"]).starts_with("passes at its version"));
    }
}
