//! Every rule in every mode: what is refused when it is enforced is forwarded with a finding when it is not, and what stands
//! behind it is judged all the same.

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
    // Behind upstream's own rule on labels.
    Rule::PodsStatusLabels,
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

#[test_case(Mode::Enforce)]
#[test_case(Mode::Warn)]
#[test_case(Mode::Audit)]
#[test_case(Mode::Off)]
fn each_rule_in(mode: Mode) {
    for (rule, method, uri, body) in violations() {
        let mut rules = extended();
        rules.modes.set(rule, mode);
        let (found, _) = told(&World::default(), &rules, method, uri, &body);
        let finding = format!("[{mode} {rule}: ");
        match mode {
            Mode::Enforce => assert!(
                found.starts_with("403 ") || found.starts_with("422 "),
                "{rule}: {found}"
            ),
            Mode::Off => assert!(found.starts_with("passes") && !found.contains('['), "{rule}: {found}"),
            Mode::Warn | Mode::Audit => {
                assert!(
                    found.starts_with("passes") && found.contains(&finding),
                    "{rule}: {found}"
                );
                assert_eq!(found.matches(" [").count(), 1, "{rule}: {found}");
            }
        }
    }
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
