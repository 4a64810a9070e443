//! Events of both groups.

use serde_json::{Value, json};
use test_case::test_case;

use super::{restricted::extended, *};

const CORE: &str = "/api/v1/namespaces/ns/events";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/ns/events";

fn event(group: &str, about: &Value, host: &str, instance: &str) -> String {
    let (regarding, source) = match group {
        CORE => ("involvedObject", "source"),
        _ => ("regarding", "deprecatedSource"),
    };
    json!({"metadata": {"name": "e"}, regarding: about, source: {"host": host}, "reportingInstance": instance})
        .to_string()
}

fn object(name: &str) -> String {
    format!(r#"is forbidden: node "n1" can only write events about itself and pods bound to it, not about {name}"#)
}

const SOURCE: &str = r#"is forbidden: node "n1" can only write events with itself as source and reporting instance"#;

#[test_case(&json!({"kind": "Node", "name": "n1", "uid": "n1"}), "n1", "n1" => "passes"; "itself")]
#[test_case(&json!({"kind": "Node", "name": "n1"}), "n1", "" => "passes"; "by old kubelets")]
#[test_case(&json!({"kind": "Node", "name": "n1"}), "", "n1" => "passes"; "by new clients")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "p1", "apiVersion": "v1"}), "n1", "n1" => "passes"; "its pod")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "m1", "uid": "hash"}), "n1", "n1" => "passes"; "its static pod")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "etcd-n1", "uid": "hash"}), "n1", "n1" => "passes"; "a static pod that has no mirror pod yet")]
#[test_case(&json!({"kind": "Pod", "name": "etcd-n1"}), "n1", "n1" => object(r#"Pod "etcd-n1""#); "a static pod that is nowhere")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "etcd-n2"}), "n1", "n1" => object(r#"Pod "etcd-n2""#); "another node's static pod")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "-n1"}), "n1", "n1" => object(r#"Pod "-n1""#); "no static pod")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "etcdn1"}), "n1", "n1" => object(r#"Pod "etcdn1""#); "a name that only ends so")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "of-n2-n1"}), "n1", "n1" => object(r#"Pod "of-n2-n1""#); "another node's pod that is called like one")]
#[test_case(&json!({"kind": "Node", "name": "n2"}), "n1", "n1" => object(r#"Node "n2""#); "another node")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "p2"}), "n1", "n1" => object(r#"Pod "p2""#); "another pod")]
#[test_case(&json!({"kind": "Pod", "namespace": "other", "name": "p1"}), "n1", "n1" => object(r#"Pod "p1""#); "a pod elsewhere")]
#[test_case(&json!({"kind": "Pod", "namespace": "ns", "name": "gone"}), "n1", "n1" => object(r#"Pod "gone""#); "a pod that is not there")]
#[test_case(&json!({"kind": "Deployment", "namespace": "ns", "name": "d", "apiVersion": "apps/v1"}), "n1", "n1" => object(r#"Deployment "d""#); "something else")]
#[test_case(&json!({"kind": "Node", "name": "n1", "apiVersion": "example.com/v1"}), "n1", "n1" => object(r#"Node "n1""#); "of another group")]
#[test_case(&json!({}), "n1", "n1" => object(r#" """#); "nothing")]
#[test_case(&json!({"kind": "Node", "name": "n1"}), "n2", "n1" => SOURCE; "another source")]
#[test_case(&json!({"kind": "Node", "name": "n1"}), "n1", "n2" => SOURCE; "another instance")]
#[test_case(&json!({"kind": "Node", "name": "n1"}), "", "" => SOURCE; "nobody")]
fn created(about: &Value, host: &str, instance: &str) -> String {
    let create = |group| {
        let (found, _) = told(
            &World::default(),
            &extended(),
            "POST",
            group,
            &event(group, about, host, instance),
        );
        let found = found
            .replace("events.events.k8s.io", "events")
            .replace(".events.k8s.io", "");
        let found = found.strip_prefix(r#"403 events "e" "#).unwrap_or(&found);
        found.strip_suffix(" events").unwrap_or(found).to_owned()
    };
    let found = create(CORE);
    assert_eq!(create(EVENTS), found, "events.k8s.io");
    found
}

/// Stored are own, about n1, and foreign, about n2.
#[test_case("own", "strategic", r#"{"count":2}"# => "passes, tied to the version"; "as kubelets do")]
#[test_case("own", "merge", r#"{"count":2}"# => "passes, tied to the version"; "merge")]
#[test_case("own", "json", r#"[{"op":"replace","path":"/count","value":2}]"# => "passes, tied to the version"; "json")]
#[test_case("foreign", "strategic", r#"{"count":2}"# => object(r#"Node "n2""#); "another's")]
#[test_case("foreign", "strategic", r#"{"involvedObject":{"name":"n1"},"source":{"host":"n1"}}"# => object(r#"Node "n2""#); "another's to be its own")]
#[test_case("own", "strategic", r#"{"involvedObject":{"name":"n2"}}"# => object(r#"Node "n2""#); "its own to be another's")]
#[test_case("own", "merge", r#"{"related":{"kind":"Node","name":"n2"}}"# => object(r#"Node "n2""#); "related to another")]
#[test_case("own", "json", r#"[{"op":"remove","path":"/source"}]"# => SOURCE; "its own to be nobody's")]
#[test_case("gone", "strategic", r#"{"count":2}"# => r#"404 events "gone" not found"#; "gone")]
#[test_case("own", "apply", r#"{"count":2}"# => "is forbidden: this gate cannot tell what becomes of an applied event"; "apply")]
fn patched(name: &str, kind: &str, patch: &str) -> String {
    let in_group = |group: &str, patch: &str| {
        let found = patched_by(&extended(), kind, &format!("{group}/{name}"), patch);
        let found = found.replace("events.events.k8s.io", "events");
        let tied = "passes, tied to the version";
        let found = if found.starts_with(tied) { tied } else { &found };
        let found = found.strip_prefix(&format!(r#"403 events "{name}" "#)).unwrap_or(found);
        found.strip_suffix(" events").unwrap_or(found).to_owned()
    };
    let found = in_group(CORE, patch);
    let renamed = patch
        .replace("involvedObject", "regarding")
        .replace(r#""source"#, r#""deprecatedSource"#)
        .replace("/source", "/deprecatedSource");
    assert_eq!(in_group(EVENTS, &renamed), found, "events.k8s.io");
    found
}

/// An event that is there is put in place of by whoever it belongs to, before and after.
#[test_case("own", "n1" => "passes, tied to the version"; "its own")]
#[test_case("own", "n2" => object(r#"Node "n2""#); "its own to be another's")]
#[test_case("foreign", "n1" => object(r#"Node "n2""#); "another's to be its own")]
#[test_case("foreign", "n2" => object(r#"Node "n2""#); "another's")]
fn put(name: &str, node: &str) -> String {
    let put = |group: &str| {
        let sent = event(group, &json!({"kind": "Node", "name": node}), node, node);
        let sent = with(&sent, &["metadata", "name"], json!(name));
        let (found, _) = told(&World::default(), &extended(), "PUT", &format!("{group}/{name}"), &sent);
        let found = found.replace("events.events.k8s.io", "events");
        let tied = "passes, tied to the version";
        let found = if found.starts_with(tied) { tied } else { &found };
        let found = found.strip_prefix(&format!(r#"403 events "{name}" "#)).unwrap_or(found);
        found.strip_suffix(" events").unwrap_or(found).to_owned()
    };
    let found = put(CORE);
    assert_eq!(put(EVENTS), found, "events.k8s.io");
    found
}

/// Whichever rule is enforced refuses it.
#[test_case(Rule::EventsObject)]
#[test_case(Rule::EventsSource)]
fn applied(enforced: Rule) {
    let mut rules = extended();
    rules.modes.set(Rule::EventsObject, Mode::Audit);
    rules.modes.set(Rule::EventsSource, Mode::Audit);
    let apply = |rules: &Admission| patched_by(rules, "apply", &format!("{CORE}/own"), r#"{"count":2}"#);
    let found = apply(&rules);
    assert_eq!(found.matches("[Audit events/").count(), 2, "{found}");
    rules.modes.set(enforced, Mode::Enforce);
    assert!(apply(&rules).starts_with("403 "), "{enforced}");
}

/// What cannot be judged for want of an answer leaves what can.
#[test]
fn put_without_an_answer() {
    let mut rules = extended();
    rules.modes.set(Rule::EventsObject, Mode::Audit);
    rules.modes.set(Rule::EventsSource, Mode::Audit);
    let sent = event(CORE, &json!({"kind": "Pod", "namespace": "ns", "name": "p2"}), "n2", "");
    let sent = with(&sent, &["metadata", "name"], json!("own"));
    let request = Request::put(format!("{CORE}/own")).header(CONTENT_TYPE, "application/json");
    let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
    let Target::Resource(request) = &head.info().target else {
        panic!("no resource");
    };
    let (user, modes) = (Arc::new(User::default()), rules.modes.enforced());
    let writer = Writer {
        node: "n1",
        user: &user,
        modes,
    };
    let write = Write::read(writer, Operation::Update, (&head, request), sent.as_bytes()).unwrap();
    let (told, graph) = (Told::default(), World::default().graph());
    let known = Known::new((&graph, true), true, &told);
    let finds = rules.node_restriction.find(write, &rules.modes, &known);
    assert!(finds.wants.is_some());
    let found: Vec<Rule> = finds.notes.findings.iter().map(|finding| finding.rule).collect();
    // That the pod is another's, only the graph has said.
    assert_eq!(found, [Rule::EventsSource]);
}

#[test]
fn put_where_there_is_none() {
    let uri = format!("{CORE}/gone");
    let put = |about: &Value| {
        let event = with(&event(CORE, about, "n1", ""), &["metadata", "name"], json!("gone"));
        told(&World::default(), &extended(), "PUT", &uri, &event).0
    };
    assert_eq!(put(&json!({"kind": "Node", "name": "n1"})), "passes");
    assert!(put(&json!({"kind": "Node", "name": "n2"})).starts_with("403 "));
}

/// Nobody is asked about events where nobody wants to know.
#[test]
fn not_looked_at() {
    let event = event(CORE, &json!({"kind": "Node", "name": "n2"}), "n2", "");
    assert_eq!(outcome("POST", CORE, &event), "away");
    let mut rules = extended();
    rules.modes.set(Rule::EventsObject, Mode::Audit);
    rules.modes.set(Rule::EventsSource, Mode::Warn);
    let (found, _) = told(&World::default(), &rules, "POST", CORE, &event);
    assert_eq!(found.matches("[Audit events/object: ").count(), 1, "{found}");
    assert_eq!(found.matches("[Warn events/source: ").count(), 1, "{found}");
}
