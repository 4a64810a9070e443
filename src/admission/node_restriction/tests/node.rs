use serde_json::json;
use test_case::test_case;

use super::{world, *};

const N1: &str = "/api/v1/nodes/n1";
const STATUS: &str = "/api/v1/nodes/n1/status";
const FORBIDDEN: &str = r#"403 nodes "n1" is forbidden: "#;

#[test_case(r#"{"metadata": {"name": "n1", "labels": {"kubernetes.io/os": "linux", "example.com/x": ""}}, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}"#
    => "passes"; "own")]
#[test_case(r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u"}]}}"#
    => "passes"; "owned by anything")]
#[test_case(r#"{"metadata": {"name": "n2"}}"#
    => r#"403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2" nodes"#; "another")]
#[test_case(r#"{"metadata": {"generateName": "gen-"}}"#
    => r#"403 nodes "gen-" is forbidden: node "n1" is not allowed to modify node "" nodes"#; "made up by upstream")]
#[test_case("{}" => r#"403 nodes "Unknown" is forbidden: node "n1" is not allowed to modify node "" nodes"#; "nothing")]
#[test_case(r#"{"metadata": {"name": "n1"}, "spec": {"configSource": {}}}"#
    => r#"403 nodes "n1" is forbidden: node "n1" is not allowed to create pods with a non-nil configSource nodes"#; "config source")]
#[test_case(r#"{"metadata": {"name": "n1", "labels": {"node-role.kubernetes.io/x": "", "a.node-restriction.kubernetes.io/b": "", "x": ""}}}"#
    => r#"403 nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: a.node-restriction.kubernetes.io/b, node-role.kubernetes.io/x nodes"#; "labels")]
fn create(body: &str) -> String {
    outcome("POST", "/api/v1/nodes", body)
}

#[test]
fn delete() {
    assert_eq!(outcome("DELETE", N1, ""), "passes");
    let refused = r#"403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2" nodes"#;
    assert_eq!(outcome("DELETE", "/api/v1/nodes/n2", ""), refused);
    let refused = r#"403 nodes "Unknown" is forbidden: node "n1" is not allowed to modify node "" nodes"#;
    assert_eq!(outcome("DELETE", "/api/v1/nodes", ""), refused);
}

/// What is put, by what is different from what is stored.
#[test_case(&["apiVersion"], json!("v1"), "passes"; "the same")]
#[test_case(&["spec", "unschedulable"], json!(true), "passes"; "unschedulable")]
#[test_case(&["metadata", "labels", "x"], json!("2"), "passes"; "free label")]
#[test_case(&["metadata", "labels", "kubernetes.io/hostname"], json!("other"), "passes"; "kubelet label")]
#[test_case(&["spec", "configSource"], json!(null), "passes"; "config source dropped")]
#[test_case(&["spec", "taints", "0", "timeAdded"], json!("2024-01-01T02:00:00+02:00"), "passes"; "the same instant")]
#[test_case(&["spec", "configSource", "configMap", "name"], json!("d"),
    "node \"n1\" is not allowed to update configSource to a new non-nil configSource"; "config source")]
#[test_case(&["spec", "configSource", "configMap"], json!(null),
    "node \"n1\" is not allowed to update configSource to a new non-nil configSource"; "part of the config source")]
#[test_case(&["spec", "taints"], json!([]), "node \"n1\" is not allowed to modify taints"; "no taints")]
#[test_case(&["spec", "taints", "0", "effect"], json!("NoExecute"), "node \"n1\" is not allowed to modify taints"; "effect")]
#[test_case(&["spec", "taints", "0", "timeAdded"], json!("2024-01-01T00:00:01Z"), "node \"n1\" is not allowed to modify taints"; "another instant")]
#[test_case(&["spec"], json!({}), "node \"n1\" is not allowed to modify taints"; "no spec")]
#[test_case(&["metadata", "ownerReferences"], json!(null), "node \"n1\" is not allowed to modify ownerReferences"; "no owners")]
#[test_case(&["metadata", "ownerReferences", "0", "controller"], json!(null), "node \"n1\" is not allowed to modify ownerReferences"; "owner not said to be none")]
#[test_case(&["metadata", "ownerReferences", "0", "uid"], json!("u"), "node \"n1\" is not allowed to modify ownerReferences"; "another owner")]
#[test_case(&["metadata", "labels"], json!(null), "is not allowed to modify labels: node-role.kubernetes.io/worker"; "no labels")]
#[test_case(&["metadata", "labels", "node-role.kubernetes.io/worker"], json!("1"), "is not allowed to modify labels: node-role.kubernetes.io/worker"; "label changed")]
#[test_case(&["metadata", "labels", "k8s.io/a"], json!(""), "is not allowed to modify labels: k8s.io/a"; "label added")]
fn put(path: &[&str], value: serde_json::Value, expected: &str) {
    let body = with(&world::node("n1").to_string(), path, value);
    for uri in [N1, STATUS] {
        let found = outcome("PUT", uri, &body);
        match expected {
            "passes" => assert_eq!(found, "passes"),
            expected => assert_eq!(found, format!("{FORBIDDEN}{expected} nodes")),
        }
    }
}

#[test]
fn put_is_made_to_the_version_that_was_judged() {
    let body = with(
        &world::node("n1").to_string(),
        &["metadata", "resourceVersion"],
        json!(null),
    );
    let found = outcome("PUT", N1, &body);
    assert!(found.starts_with("passes, tied to the version {"), "{found}");
    assert!(found.contains(r#""resourceVersion":"7""#), "{found}");
    let body = with(&body, &["metadata", "resourceVersion"], json!("6"));
    let conflict = r#"409 Operation cannot be fulfilled on nodes "n1": the object has been modified; please apply your changes to the latest version and try again nodes"#;
    assert_eq!(outcome("PUT", N1, &body), conflict);
}

#[test]
fn nothing_comes_of_what_is_not_there() {
    let mut world = World::default();
    world.objects.clear();
    let body = world::node("n1").to_string();
    let (found, _) = told(&world, &upstream(), "PUT", N1, &body);
    assert_eq!(found, r#"404 nodes "n1" not found nodes"#);
}

#[test_case("strategic", r#"{"status": {"conditions": [{"type": "Ready"}], "$setElementOrder/conditions": [{"type": "Ready"}]}}"# => "passes"; "heartbeat")]
#[test_case("merge", r#"{"spec": {"unschedulable": true}}"# => "passes"; "unschedulable")]
#[test_case("merge", r#"{"metadata": {"annotations": {"a": "b"}}}"# => "passes"; "annotation")]
#[test_case("strategic", r#"{"metadata": {"labels": {"topology.kubernetes.io/zone": "z", "x.node.kubernetes.io/a": null}}}"# => "passes"; "labels that are the kubelet's")]
#[test_case("merge", r#"{"metadata": {"labels": {"x": "2"}}}"# => "passes"; "free label")]
#[test_case("json", r#"[{"op": "add", "path": "/metadata/annotations", "value": {}}]"# => "passes"; "json annotation")]
#[test_case("json", r#"[{"op": "add", "path": "/metadata/labels/x", "value": "2"}]"#
    => r#"passes, tied to the version [{"op":"add","path":"/metadata/labels/x","value":"2"},{"op":"add","path":"/metadata/resourceVersion","value":"7"}]"#; "json free label")]
#[test_case("merge", r#"{"metadata": {"labels": {"node-role.kubernetes.io/worker": ""}}}"#
    => r#"passes, tied to the version {"metadata":{"labels":{"node-role.kubernetes.io/worker":""},"resourceVersion":"7"}}"#; "forbidden label as it is")]
#[test_case("strategic", r#"{"metadata": {"resourceVersion": "7", "labels": {"node-role.kubernetes.io/worker": ""}}}"# => "passes"; "at the right version")]
#[test_case("merge", r#"{"metadata": {"labels": {"x": 1}}}"# => "400 the object provided is unrecognized: labels has a value that is not a text"; "label that is no text")]
#[test_case("merge", r#"{"metadata": {"name": "n2", "labels": null}}"# => "400 the name of the object (n2) does not match the name on the URL (n1)"; "another name")]
#[test_case("apply", r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}"#
    => "415 the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json"; "apply")]
fn patch(kind: &str, body: &str) -> String {
    let found = patched(kind, N1, body);
    assert_eq!(patched(kind, STATUS, body), found);
    found
}

#[test_case("strategic", r#"{"metadata": {"labels": {"topology.kubernetes.io/rack": "r"}}}"#, "is not allowed to modify labels: topology.kubernetes.io/rack"; "label")]
#[test_case("strategic", r#"{"metadata": {"labels": {"node-role.kubernetes.io/worker": null}}}"#, "is not allowed to modify labels: node-role.kubernetes.io/worker"; "label removed")]
#[test_case("merge", r#"{"metadata": {"labels": null}}"#, "is not allowed to modify labels: node-role.kubernetes.io/worker"; "all labels removed")]
#[test_case("strategic", r#"{"metadata": {"labels": {"$patch": "replace"}}}"#, "is not allowed to modify labels: node-role.kubernetes.io/worker"; "labels replaced")]
#[test_case("strategic", r#"{"metadata": {"$retainKeys": ["name", "ownerReferences"], "name": "n1"}}"#, "is not allowed to modify labels: node-role.kubernetes.io/worker"; "labels not retained")]
#[test_case("json", r#"[{"op": "remove", "path": "/metadata/labels/node-role.kubernetes.io~1worker"}]"#, "is not allowed to modify labels: node-role.kubernetes.io/worker"; "json label removed")]
#[test_case("json", r#"[{"op": "move", "from": "/metadata/labels/x", "path": "/metadata/labels/k8s.io~1x"}]"#, "is not allowed to modify labels: k8s.io/x"; "json label moved")]
#[test_case("merge", r#"{"spec": {"taints": null}}"#, "node \"n1\" is not allowed to modify taints"; "taints removed")]
#[test_case("strategic", r#"{"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}"#, "node \"n1\" is not allowed to modify taints"; "taints replaced")]
#[test_case("strategic", r#"{"$patch": "replace", "metadata": {"name": "n1"}}"#, "node \"n1\" is not allowed to modify taints"; "all replaced")]
#[test_case("strategic", r#"{"spec": {"$patch": "delete"}}"#, "node \"n1\" is not allowed to modify taints"; "spec deleted")]
#[test_case("json", r#"[{"op": "remove", "path": "/spec/taints/-1"}]"#, "node \"n1\" is not allowed to modify taints"; "json last taint removed")]
#[test_case("merge", r#"{"spec": {"configSource": {"configMap": {"name": "d"}}}}"#, "node \"n1\" is not allowed to update configSource to a new non-nil configSource"; "config source")]
fn patch_is_refused(kind: &str, body: &str, why: &str) {
    for uri in [N1, STATUS] {
        assert_eq!(patched(kind, uri, body), refused(why));
    }
}

fn refused(why: &str) -> String {
    format!("{FORBIDDEN}{why} nodes")
}

/// CVE-2025-5187: an owner that is not there makes the node go, and come again with other labels.
#[test_case("merge", r#"{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u"}]}}"#; "merge")]
#[test_case("strategic", r#"{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u"}]}}"#; "strategic")]
#[test_case("json", r#"[{"op": "add", "path": "/metadata/ownerReferences/-", "value": {"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u"}}]"#; "json")]
fn owners(kind: &str, body: &str) {
    for uri in [N1, STATUS] {
        assert_eq!(
            patched(kind, uri, body),
            refused("node \"n1\" is not allowed to modify ownerReferences")
        );
    }
}

/// Without a version, or with that of the API server's own types, what comes of a patch is read with other names of fields.
#[test_case("merge", r#"{"apiVersion": null, "name": "n1", "labels": {"node-role.kubernetes.io/x": ""}}"#; "no version")]
#[test_case("merge", r#"{"apiVersion": "__internal"}"#; "their own version")]
#[test_case("merge", r#"{"kind": null}"#; "no kind")]
#[test_case("json", r#"[{"op": "remove", "path": "/apiVersion"}]"#; "version removed")]
#[test_case("json", r#"[{"op": "move", "from": "/kind", "path": "/x"}]"#; "kind moved")]
#[test_case("json", r#"[{"op": "replace", "path": "", "value": {"name": "n1"}}]"#; "all replaced")]
#[test_case("strategic", r#"{"apiVersion": "__internal"}"#; "strategic")]
#[test_case("merge", r#"{"apiversion": "__internal", "name": "n1", "labels": {"node-role.kubernetes.io/x": ""}}"#; "other case")]
#[test_case("merge", r#"{"apiVersion": "v1", "apiversioN": "/", "name": "n1"}"#; "other case beside it")]
#[test_case("merge", "{\"apiVer\u{17f}ion\": \"__internal\", \"name\": \"n1\"}"; "long s")]
#[test_case("merge", r#"{"\u212aind": "List"}"#; "kelvin")]
#[test_case("json", r#"[{"op": "add", "path": "/apiversion", "value": "__internal"}]"#; "other case added")]
#[test_case("json", r#"[{"op": "copy", "from": "/metadata/labels", "path": "/labels"}]"#; "something else added")]
fn what_it_is_stays(kind: &str, body: &str) {
    for uri in [N1, STATUS] {
        assert_eq!(
            patched(kind, uri, body),
            "400 a patch may not change what kind of object it is made to"
        );
    }
}

#[test_case(&["metadata", "annotations"], json!({"a": "b"}), r#"passes, tied to the version {"metadata":{"name":"n1","resourceVersion":"7","uid":"N1"}}"#; "harmless")]
#[test_case(&["apiVersion"], json!("v2"), "400 a patch may not change what kind of object it is made to"; "another kind of answer")]
#[test_case(&["metadata", "uid"], json!("other"), "502 the API server did not give scopegate a usable answer"; "another object")]
#[test_case(&["metadata", "ownerReferences", "1"], json!({"uid": "u"}), &refused("node \"n1\" is not allowed to modify ownerReferences"); "owner")]
#[test_case(&["metadata", "labels"], json!(null), &refused("is not allowed to modify labels: node-role.kubernetes.io/worker"); "labels that nobody else owns")]
#[test_case(&["spec", "taints"], json!(null), &refused("node \"n1\" is not allowed to modify taints"); "taints that nobody else owns")]
fn apply_is_judged_by_what_upstream_says_would_come_of_it(path: &[&str], value: serde_json::Value, expected: &str) {
    let mut rehearsed = world::node("n1");
    rehearsed["apiVersion"] = "v1".into();
    rehearsed["kind"] = "Node".into();
    if path.last() == Some(&"1") {
        rehearsed["metadata"]["ownerReferences"]
            .as_array_mut()
            .unwrap()
            .push(value);
    } else {
        rehearsed = serde_json::from_str(&with(&rehearsed.to_string(), path, value)).unwrap();
    }
    let world = World {
        rehearsed: rehearsed.to_string().into(),
        ..World::default()
    };
    let rules = upstream_with(|rules| rules.apply = true);
    let body = br#"{"metadata":{"name":"n1"}}"#;
    let (found, questions) = ask(&world, (&world.graph(), true), &rules, "PATCH", N1, APPLY, body);
    let rehearsal = r#"rehearse passes, tied to the version dryRun=All {"metadata":{"name":"n1","resourceVersion":"7","uid":"N1"}}"#;
    assert_eq!(questions, ["stored", rehearsal]);
    assert_eq!(found, expected);
}

/// A patch of another node is refused before anybody is asked about it.
#[test]
fn another_node() {
    let world = World::default();
    let body = br#"{"metadata": {"labels": {"foo": "bar"}}}"#;
    let (found, questions) = ask(
        &world,
        (&world.graph(), true),
        &upstream(),
        "PATCH",
        "/api/v1/nodes/n2",
        PATCHES[1].1,
        body,
    );
    assert_eq!(
        found,
        r#"403 nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2" nodes"#
    );
    assert!(questions.is_empty());
}
