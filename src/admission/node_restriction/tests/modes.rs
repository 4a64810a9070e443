//! Every rule in every mode: what is refused when it is enforced is forwarded with a finding when it is not, and what stands
//! behind it is judged all the same. What is forwarded is the same as if nobody looked.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use test_case::test_case;

use super::{restricted::extended, *};

const MIRROR: &str = r#"{"metadata":{"name":"m","annotations":{"kubernetes.io/config.mirror":"h"},
    "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":"N1","controller":true}]},"spec":{"nodeName":"n1"}}"#;
const TOKEN: &str = "/api/v1/namespaces/ns/serviceaccounts/sa1/token";
const CERTIFICATES: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const POD_CERTIFICATES: &str = "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests";

/// One request that each rule is against, and no other is.
fn violations() -> Vec<(Rule, &'static str, &'static str, String)> {
    let mirror = |path: &[&str], value: Value| with(MIRROR, path, value);
    let pods = "/api/v1/namespaces/ns/pods";
    let status = "/api/v1/namespaces/ns/pods/marked/status";
    let marked = |path: &[&str], value: Value| with(&world::marked().to_string(), path, value);
    let n1 = |path: &[&str], value: Value| with(&world::node("n1").to_string(), path, value);
    let node = "/api/v1/nodes/n1";
    let bound = |name: &str, uid: &str, audience: &str| {
        let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid});
        json!({"spec": {"boundObjectRef": bound, "audiences": [audience]}}).to_string()
    };
    let event = |about: &str, host: &str| {
        json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Node", "name": about}, "source": {"host": host}})
            .to_string()
    };
    let named = |name: &str| json!({"metadata": {"name": name}}).to_string();
    let events = "/api/v1/namespaces/default/events";
    vec![
        (
            Rule::RestrictionCertificates,
            "POST",
            CERTIFICATES,
            certificate::for_other(),
        ),
        (
            Rule::RestrictionCsiNodes,
            "POST",
            "/apis/storage.k8s.io/v1/csinodes",
            named("n2"),
        ),
        (
            Rule::RestrictionLeases,
            "POST",
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
            named("n2"),
        ),
        (
            Rule::RestrictionMirrorAnnotation,
            "PUT",
            status,
            marked(&["metadata", "annotations", "kubernetes.io/config.mirror"], json!("h")),
        ),
        (
            Rule::RestrictionMirrorOwner,
            "POST",
            pods,
            mirror(&["metadata", "ownerReferences", "0", "name"], json!("n2")),
        ),
        (
            Rule::RestrictionMirrorPods,
            "POST",
            pods,
            mirror(&["spec", "nodeName"], json!("n2")),
        ),
        (
            Rule::RestrictionMirrorReferences,
            "POST",
            pods,
            mirror(&["spec", "serviceAccountName"], json!("sa")),
        ),
        (
            Rule::RestrictionNodes,
            "PUT",
            "/api/v1/nodes/n2",
            with(
                &json!({"metadata": {"name": "n2", "uid": "N2", "resourceVersion": "8"}}).to_string(),
                &["metadata", "labels"],
                json!({"x": "1"}),
            ),
        ),
        (
            Rule::RestrictionNodeConfigSource,
            "PUT",
            node,
            n1(&["spec", "configSource", "configMap", "name"], json!("d")),
        ),
        (
            Rule::RestrictionNodeLabels,
            "PUT",
            node,
            n1(&["metadata", "labels", "node-role.kubernetes.io/worker"], json!("x")),
        ),
        (
            Rule::RestrictionNodeOwners,
            "PUT",
            node,
            n1(&["metadata", "ownerReferences"], json!([])),
        ),
        (
            Rule::RestrictionNodeTaints,
            "PUT",
            node,
            n1(&["spec", "taints"], json!([])),
        ),
        (
            Rule::RestrictionPersistentVolumeClaims,
            "PUT",
            "/api/v1/namespaces/ns/persistentvolumeclaims/pvc1/status",
            with(
                &world::claimed("pvc1", "pv1").to_string(),
                &["metadata", "labels"],
                json!({}),
            ),
        ),
        (
            Rule::RestrictionPodCertificates,
            "PUT",
            "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests/r",
            String::new(),
        ),
        (
            Rule::RestrictionPodClaims,
            "PUT",
            status,
            marked(&["status", "resourceClaimStatuses"], json!([{"name": "a"}])),
        ),
        (
            Rule::RestrictionPodLabels,
            "PUT",
            status,
            marked(&["metadata", "labels", "component"], json!("a")),
        ),
        (
            Rule::RestrictionPods,
            "DELETE",
            "/api/v1/namespaces/ns/pods/p2",
            String::new(),
        ),
        (
            Rule::RestrictionResourceSlices,
            "POST",
            "/apis/resource.k8s.io/v1/resourceslices",
            json!({"metadata": {"name": "s"}, "spec": {"nodeName": "n2"}}).to_string(),
        ),
        (
            Rule::RestrictionTokenAudiences,
            "POST",
            TOKEN,
            bound("p1", "U-p1", "nobody"),
        ),
        (Rule::RestrictionTokens, "POST", TOKEN, bound("p2", "U-p2", "aud2")),
        (
            Rule::PodsMirrorAnnotations,
            "POST",
            pods,
            mirror(&["metadata", "annotations", "a"], json!("b")),
        ),
        (
            Rule::PodsMirrorFinalizers,
            "POST",
            pods,
            mirror(&["metadata", "finalizers"], json!(["f"])),
        ),
        (
            Rule::PodsMirrorLabels,
            "POST",
            pods,
            mirror(&["metadata", "labels"], json!({"app": "a"})),
        ),
        (
            Rule::PodsMirrorNamespace,
            "POST",
            "/api/v1/namespaces/other/pods",
            MIRROR.to_owned(),
        ),
        (
            Rule::PodsStatusAnnotations,
            "PUT",
            status,
            marked(&["metadata", "annotations", "a"], json!("2")),
        ),
        (
            Rule::PodsStatusFinalizers,
            "PUT",
            status,
            marked(&["metadata", "finalizers"], json!([])),
        ),
        (
            Rule::PodsStatusLabels,
            "PUT",
            status,
            marked(&["metadata", "labels", "app"], json!("b")),
        ),
        (Rule::EventsObject, "POST", events, event("n2", "n1")),
        (Rule::EventsSource, "POST", events, event("n1", "n2")),
        (
            Rule::NodesAddresses,
            "PUT",
            "/api/v1/nodes/n1/status",
            n1(
                &["status", "addresses"],
                json!([{"type": "InternalIP", "address": "::1"}]),
            ),
        ),
    ]
}

/// Rules of admission that the table has no request for, and where they have one instead.
const ELSEWHERE: &[Rule] = &[
    // A node without a name is none of the world's.
    Rule::RestrictionName,
];

#[test]
fn every_rule_of_admission_is_here() {
    let of_admission = |rule: &&Rule| {
        let prefixes = ["restriction/", "pods/", "events/", "nodes/"];
        prefixes.iter().any(|prefix| rule.id().starts_with(prefix))
    };
    let all: BTreeSet<Rule> = Rule::ALL.iter().filter(of_admission).copied().collect();
    let here: BTreeSet<Rule> = violations().iter().map(|violation| violation.0).collect();
    let elsewhere = ELSEWHERE.iter().copied().collect();
    assert_eq!(&all - &here, elsewhere);
}

/// The same as patches: what a merge patch and a strategic one say, and a JSON patch.
fn patches() -> Vec<(Rule, &'static str, Value, Value)> {
    let set = |path: &str, value: Value| json!([{"op": "add", "path": path, "value": value}]);
    let remove = |path: &str| json!([{"op": "remove", "path": path}]);
    let (node, status) = ("/api/v1/nodes/n1", "/api/v1/namespaces/ns/pods/marked/status");
    let (core, events) = (
        "/api/v1/namespaces/ns/events/own",
        "/apis/events.k8s.io/v1/namespaces/ns/events/own",
    );
    let loopback = json!([{"type": "InternalIP", "address": "::1"}]);
    vec![
        (
            Rule::RestrictionCsiNodes,
            "/apis/storage.k8s.io/v1/csinodes/n2",
            json!({"metadata": {"labels": {"a": "b"}}}),
            set("/metadata/labels", json!({})),
        ),
        (
            Rule::RestrictionLeases,
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2",
            json!({"spec": {"holderIdentity": "n1"}}),
            set("/spec/holderIdentity", json!("n1")),
        ),
        (
            Rule::RestrictionMirrorAnnotation,
            status,
            json!({"metadata": {"annotations": {"kubernetes.io/config.mirror": "h"}}}),
            set("/metadata/annotations/kubernetes.io~1config.mirror", json!("h")),
        ),
        (
            Rule::RestrictionNodes,
            "/api/v1/nodes/n2",
            json!({"metadata": {"labels": {"x": "1"}}}),
            set("/metadata/labels", json!({"x": "1"})),
        ),
        (
            Rule::RestrictionNodeConfigSource,
            node,
            json!({"spec": {"configSource": {"configMap": {"name": "d"}}}}),
            set("/spec/configSource/configMap/name", json!("d")),
        ),
        (
            Rule::RestrictionNodeLabels,
            node,
            json!({"metadata": {"labels": {"node-role.kubernetes.io/worker": null}}}),
            remove("/metadata/labels/node-role.kubernetes.io~1worker"),
        ),
        (
            Rule::RestrictionNodeOwners,
            node,
            json!({"metadata": {"ownerReferences": null}}),
            remove("/metadata/ownerReferences"),
        ),
        (
            Rule::RestrictionNodeTaints,
            node,
            json!({"spec": {"taints": null}}),
            remove("/spec/taints/0"),
        ),
        (
            Rule::RestrictionPersistentVolumeClaims,
            "/api/v1/namespaces/ns/persistentvolumeclaims/pvc1/status",
            json!({"metadata": {"labels": {"app": "b"}}}),
            remove("/metadata/labels"),
        ),
        (
            Rule::RestrictionPodCertificates,
            "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests/r",
            json!({}),
            json!([]),
        ),
        (
            Rule::RestrictionPodClaims,
            status,
            json!({"status": {"resourceClaimStatuses": null}}),
            remove("/status/extendedResourceClaimStatus"),
        ),
        (
            Rule::RestrictionPodLabels,
            status,
            json!({"metadata": {"labels": {"component": "a"}}}),
            set("/metadata/labels/component", json!("a")),
        ),
        (
            Rule::RestrictionPods,
            "/api/v1/namespaces/ns/pods/p2/status",
            json!({"status": {"phase": "Running"}}),
            set("/status/phase", json!("Running")),
        ),
        (
            Rule::PodsStatusAnnotations,
            status,
            json!({"metadata": {"annotations": {"a": "2"}}}),
            remove("/metadata/annotations/a"),
        ),
        (
            Rule::PodsStatusFinalizers,
            status,
            json!({"metadata": {"finalizers": null}}),
            remove("/metadata/finalizers/0"),
        ),
        (
            Rule::PodsStatusLabels,
            status,
            json!({"metadata": {"labels": {"app": "b"}}}),
            remove("/metadata/labels/app"),
        ),
        (
            Rule::EventsObject,
            core,
            json!({"involvedObject": {"name": "n2"}}),
            set("/related", json!({"kind": "Node", "name": "n2"})),
        ),
        (
            Rule::EventsObject,
            events,
            json!({"regarding": {"name": "n2"}}),
            set("/regarding/name", json!("n2")),
        ),
        (
            Rule::EventsSource,
            core,
            json!({"reportingInstance": "n2"}),
            remove("/source"),
        ),
        (
            Rule::EventsSource,
            events,
            json!({"deprecatedSource": {"host": "n2"}}),
            set("/deprecatedSource/host", json!("n2")),
        ),
        (
            Rule::NodesAddresses,
            "/api/v1/nodes/n1/status",
            json!({"status": {"addresses": loopback}}),
            set("/status/addresses", loopback.clone()),
        ),
    ]
}

/// What they are about is only created, or patched by no means but server-side apply that a rule looks at.
const UNPATCHED: &[Rule] = &[
    Rule::RestrictionCertificates,
    Rule::RestrictionMirrorOwner,
    Rule::RestrictionMirrorPods,
    Rule::RestrictionMirrorReferences,
    Rule::RestrictionResourceSlices,
    Rule::RestrictionTokenAudiences,
    Rule::RestrictionTokens,
    Rule::PodsMirrorAnnotations,
    Rule::PodsMirrorFinalizers,
    Rule::PodsMirrorLabels,
    Rule::PodsMirrorNamespace,
];

#[test]
fn every_rule_that_patches_meet_is_here() {
    let all: BTreeSet<Rule> = violations().iter().map(|violation| violation.0).collect();
    let here: BTreeSet<Rule> = patches().iter().map(|patch| patch.0).collect();
    assert_eq!(&all - &here, UNPATCHED.iter().copied().collect());
}

/// All rules enforced, but this one in this mode.
fn set(rule: Rule, mode: Mode) -> Admission {
    let mut rules = extended();
    if rule == Rule::PodsStatusLabels {
        // It stands behind upstream's own rule on labels.
        rules.modes.set(Rule::RestrictionPodLabels, Mode::Off);
    }
    rules.modes.set(rule, mode);
    rules
}

/// Whether all that becomes of a request is right for the mode of the one rule that it is against.
fn is_right(rule: Rule, mode: Mode, found: &str, unseen: &str, what: &str) {
    let refused = found.starts_with("403 ") || found.starts_with("422 ");
    match mode {
        Mode::Enforce => assert!(refused, "{rule}, {what}: {found}"),
        Mode::Off => assert!(
            !refused && !found.contains(&format!("{rule}: ")),
            "{rule}, {what}: {found}"
        ),
        Mode::Warn | Mode::Audit => {
            let finding = format!(" [{mode} {rule}: ");
            let (forwarded, findings) = found.split_at(found.find(&finding).unwrap_or_default());
            assert_eq!(forwarded, unseen.replace("away", "passes"), "{rule}, {what}: {found}");
            assert_eq!(findings.matches(" [").count(), 1, "{rule}, {what}: {found}");
        }
    }
}

#[test_case(Mode::Enforce)]
#[test_case(Mode::Warn)]
#[test_case(Mode::Audit)]
#[test_case(Mode::Off)]
fn each_rule_in(mode: Mode) {
    let world = World::default();
    for (rule, method, uri, body) in violations() {
        let (found, _) = told(&world, &set(rule, mode), method, uri, &body);
        let (unseen, _) = told(&world, &set(rule, Mode::Off), method, uri, &body);
        is_right(rule, mode, &found, &unseen, "whole");
    }
}

#[test_case(Mode::Enforce)]
#[test_case(Mode::Warn)]
#[test_case(Mode::Audit)]
#[test_case(Mode::Off)]
fn each_rule_by_patches_in(mode: Mode) {
    for (rule, uri, merge, json) in patches() {
        for (kind, patch) in [("json", &json), ("merge", &merge), ("strategic", &merge)] {
            let found = patched_by(&set(rule, mode), kind, uri, &patch.to_string());
            let unseen = patched_by(&set(rule, Mode::Off), kind, uri, &patch.to_string());
            is_right(rule, mode, &found, &unseen, kind);
        }
    }
}

/// Every rule stands by itself: whatever it needs is looked at though no other rule wants to know.
#[test]
fn each_rule_alone() {
    let world = World::default();
    let alone = |rule: Rule| {
        let mut rules = extended();
        rules.modes = rules.modes.only(rule);
        rules
    };
    for (rule, method, uri, body) in violations() {
        let (found, _) = told(&world, &alone(rule), method, uri, &body);
        is_right(rule, Mode::Enforce, &found, "", "whole");
    }
    for (rule, uri, merge, json) in patches() {
        for (kind, patch) in [("json", &json), ("merge", &merge), ("strategic", &merge)] {
            let found = patched_by(&alone(rule), kind, uri, &patch.to_string());
            is_right(rule, Mode::Enforce, &found, "", kind);
        }
    }
}

/// What is only recorded is asked for apart, and ties the write to nothing.
#[test_case("PUT", "/api/v1/nodes/n1/status", "application/json",
    &json!({"metadata": {"name": "n1"}, "status": {"addresses": [{"address": "::1"}]}}); "node status")]
#[test_case("PATCH", "/api/v1/nodes/n1/status", PATCHES[2].1, &json!({"status": {"addresses": [{"address": "::1"}]}}); "addresses")]
#[test_case("PATCH", "/api/v1/namespaces/ns/pods/marked/status", PATCHES[2].1, &json!({"metadata": {"annotations": {"a": "2"}}}); "annotations")]
#[test_case("PATCH", "/api/v1/namespaces/ns/events/own", PATCHES[2].1, &json!({"involvedObject": {"name": "n2"}}); "event")]
#[test_case("POST", "/api/v1/namespaces/ns/events", "application/json",
    &json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "p2"}}); "new event")]
#[test_case("DELETE", "/api/v1/namespaces/ns/pods/p2", "application/json", &json!({}); "delete")]
#[test_case("PUT", "/api/v1/namespaces/ns/persistentvolumeclaims/pvc1/status", "application/json", &json!({"metadata": {"name": "pvc1"}}); "claim")]
fn a_dry_run_asks_for_the_record_only(method: &str, uri: &str, content_type: &str, body: &Value) {
    let world = World::default();
    let mut rules = extended();
    rules.modes.dry_run();
    let body = body.to_string();
    let graph = world.graph();
    let (found, questions) = ask(
        &world,
        (&graph, true),
        &rules,
        method,
        uri,
        content_type,
        body.as_bytes(),
    );
    assert!(found.starts_with("passes ["), "{found}");
    assert!(!questions.is_empty());
    for question in questions {
        assert!(question.starts_with("for the record: "), "{question}");
    }
}

/// By default, what kubelets report of nodes, pods and events needs no question, and where a rule that is only recorded has one, it
/// ties the write to nothing that it was not tied to anyway.
#[test_case("/api/v1/nodes/n1/status", r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#, "passes", 0; "heartbeat")]
#[test_case("/api/v1/nodes/n1/status", r#"{"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.9"}]}}"#, "passes", 1; "addresses")]
#[test_case("/api/v1/namespaces/ns/pods/marked/status", r#"{"status":{"phase":"Running"}}"#, "passes, tied to the object", 0; "pod")]
#[test_case("/api/v1/namespaces/ns/pods/marked/status", r#"{"metadata":{"annotations":{"a":"2"}}}"#, "passes, tied to the object", 1; "annotations")]
#[test_case("/api/v1/namespaces/ns/events/own", r#"{"count":2,"message":"again"}"#, "passes", 0; "event")]
#[test_case("/apis/events.k8s.io/v1/namespaces/ns/events/own", r#"{"series":{"count":2}}"#, "passes", 0; "new event")]
#[test_case("/api/v1/namespaces/ns/events/own", r#"{"reportingComponent":"x"}"#, "passes", 0; "component")]
#[test_case("/api/v1/namespaces/ns/events/own", r#"{"related":null}"#, "passes", 1; "related")]
fn by_default(uri: &str, patch: &str, tied: &str, records: usize) {
    let world = World::default();
    let mut rules = extended();
    rules.modes = Modes::DEFAULT;
    let graph = world.graph();
    let (found, questions) = ask(
        &world,
        (&graph, true),
        &rules,
        "PATCH",
        uri,
        PATCHES[2].1,
        patch.as_bytes(),
    );
    assert!(
        found.starts_with(tied) && !found.contains("tied to the version"),
        "{found}"
    );
    let expected = vec!["for the record: stored".to_owned(); records];
    assert_eq!(questions, expected, "{found}");
}

/// One rule that is not enforced must not hide another that is.
#[test]
fn what_stands_behind_is_judged() {
    let pod = json!({
        "metadata": {"name": "m", "annotations": {"a": "b"}, "labels": {"app": "a"}},
        "spec": {"nodeName": "n2", "serviceAccountName": "sa"},
    });
    let uri = "/api/v1/namespaces/ns/pods";
    let order = [
        (Rule::RestrictionMirrorPods, "pod does not have"),
        (
            Rule::RestrictionMirrorReferences,
            "can not create pods that reference serviceaccounts",
        ),
        (Rule::PodsMirrorLabels, "labels app"),
        (Rule::PodsMirrorAnnotations, "annotations a"),
    ];
    let mut rules = extended();
    for (rule, message) in order {
        let (found, _) = told(&World::default(), &rules, "POST", uri, &pod.to_string());
        assert!(found.starts_with("403 ") && found.contains(message), "{rule}: {found}");
        rules.modes.set(rule, Mode::Audit);
    }
    let (found, _) = told(&World::default(), &rules, "POST", uri, &pod.to_string());
    assert!(found.starts_with("passes"), "{found}");
    for (rule, message) in order {
        assert!(
            found.contains(&format!("[Audit {rule}: ")) && found.contains(message),
            "{found}"
        );
    }
}

/// The others are the pod certificate's; they ask one after another.
#[test]
fn a_pod_certificate_for_everything_wrong() {
    let mut rules = extended();
    rules.modes.set(Rule::RestrictionPodCertificates, Mode::Audit);
    let spec = json!({"nodeName": "n2", "nodeUID": "X", "podName": "p2", "podUID": "X", "serviceAccountName": "other"});
    let body = json!({"metadata": {"name": "r"}, "spec": spec}).to_string();
    let (found, _) = told(&World::default(), &rules, "POST", POD_CERTIFICATES, &body);
    assert!(found.starts_with("passes"), "{found}");
    assert!(
        found.matches("[Audit restriction/podcertificates: ").count() >= 5,
        "{found}"
    );
}
