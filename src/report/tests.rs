//! Logs in, texts out; the recorded one is that of docs/rollout.md.

use serde_json::{Value, json};
use test_case::test_case;

use super::{Collector, Event, Log, Recommendation, Summary, Usage};

const RECORDED: &str = include_str!("../../e2e/recorded/audit.log");
const ROLLOUT: &str = include_str!("../../docs/rollout.md");

/// What the page shows is what the commands print.
#[test_case("scopegate report audit.log", &[])]
#[test_case("scopegate report audit.log --rule nodes/addresses", &["nodes/addresses"])]
fn the_page_shows_the_report(command: &str, rules: &[&str]) {
    same(command, &summary(RECORDED, Log::default(), rules).to_string());
}

#[test]
fn the_page_shows_the_recommendation() {
    same("scopegate recommend audit.log", &recommendation(RECORDED));
}

#[test]
fn the_recorded_recommendation_is_configuration() {
    let read: Value = serde_saphyr::from_str(&recommendation(RECORDED)).unwrap();
    let expected = json!({
        "podRestriction": {
            "mirrorPodOwner": "Upstream",
            "allowedLabels": ["component", "tier"],
            "allowedAnnotations": [
                "kubeadm.kubernetes.io/etcd.advertise-client-urls",
                "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint",
            ],
            "allowedFinalizers": [],
            "mirrorPodNamespaces": ["kube-system"],
        },
        "featureGates": {"NodeRestrictionPods": true},
    });
    assert_eq!(read, expected);
}

#[test]
fn the_order_of_logs_does_not_matter() {
    let lines: Vec<_> = RECORDED.lines().collect();
    let (old, new) = lines.split_at(lines.len() / 2);
    let turned = [new, old].concat().join("\n");
    let print = |log: &str| summary(log, Log::default(), &[]).to_string();
    assert_eq!(print(&turned), print(RECORDED));
}

#[test]
fn as_json() {
    let summary = serde_json::to_value(summary(RECORDED, Log::default(), &[])).unwrap();
    assert_eq!(summary["events"], 48);
    assert_eq!(summary["first"], "2026-03-02T06:00:03.913752Z");
    assert_eq!(summary["nodes"], 5);
    assert_eq!(summary["otherCallers"], 1);
    assert_eq!(summary["notEvents"], 3);
    assert_eq!(summary["findings"]["rules"][1]["rule"], "node/secrets");
    assert_eq!(
        summary["findings"]["objects"][0],
        json!({"name": "logging/secrets/shipper-tls", "requests": 8})
    );
    assert_eq!(summary["stepSeconds"], 3 * 60 * 60);
    assert_eq!(summary["overTime"].as_array().unwrap().len(), 9);
}

#[test]
fn json_steers_no_terminal_either() {
    let object = json!({"resource": "secrets", "name": "\u{1b}[2J \u{9b}2J \u{7f} \u{202e} \u{1f600} ü"});
    let findings = json!({"scopegate.dev/findings": "[{\"rule\":\"node/secrets\"}]"});
    let log = event("n1", &json!({"objectRef": object}), &findings).to_string();
    let summary = summary(&log, Log::default(), &[]);
    let text = summary.to_json().unwrap();
    assert!(text.chars().all(|c| c == '\n' || (' '..='~').contains(&c)), "{text:?}");
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, serde_json::to_value(&summary).unwrap());
}

#[test_case(&json!({}) => (48, 28); "all")]
#[test_case(&json!({"since": "2026-03-03T02:00:00Z"}) => (12, 7); "since")]
#[test_case(&json!({"until": "2026-03-03T02:00:00Z"}) => (36, 21); "until")]
#[test_case(&json!({"nodes": ["worker-1", "cp-1"]}) => (18, 10); "nodes")]
#[test_case(&json!({"nodes": ["jane"]}) => (0, 0); "a user is no node")]
#[test_case(&json!({"rules": ["node/secrets", "pods/mirror-namespace"]}) => (48, 11); "rules")]
fn only_what_is_asked_for(asked: &Value) -> (u64, u64) {
    let texts = |key| {
        let texts = asked[key].as_array().into_iter().flatten();
        texts.map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let time = |key| asked[key].as_str().map(|time| time.parse().unwrap());
    let mut log = Log {
        since: time("since"),
        until: time("until"),
        nodes: texts("nodes"),
        ..Log::default()
    };
    let mut collector = Collector::new(texts("rules"));
    log.read(RECORDED.as_bytes(), |event| collector.take(event)).unwrap();
    let summary = collector.finish(&log);
    summary.map_or((0, 0), |summary| (summary.events, summary.findings.requests))
}

#[test_case(&[], &[] => "Nothing would have been refused in this time: as far as it shows, every rule that was at Warn or Audit can be enforced."; "nothing")]
#[test_case(&[], &["a/b"] => "Nothing would have been refused in this time: as far as it shows, a/b can be enforced if at Warn or Audit all the time."; "nothing of a rule")]
#[test_case(&["a/b"], &["a/b"] => "Look first at a/b (1 request of 1 node): these requests would have been refused."; "the rule asked for")]
#[test_case(&["a/b"], &["a/b", "c/d"] => "Look first at a/b (1 request of 1 node): these requests would have been refused.\nAs far as this time shows, c/d can be enforced if at Warn or Audit all the time."; "one of two rules")]
#[test_case(&["a/1", "a/2", "a/3", "a/4"], &[] => "Look first at a/1 (1 request of 1 node), a/2 (1 request of 1 node), a/3 (1 request of 1 node) and 1 more: these requests would have been refused.\nAs far as this time shows, every other rule that was at Warn or Audit can be enforced."; "many")]
fn conclusion(found: &[&str], asked: &[&str]) -> String {
    let findings: Vec<_> = found
        .iter()
        .map(|rule| json!({"rule": rule, "mode": "Audit"}))
        .collect();
    let annotations = match findings.as_slice() {
        [] => json!({}),
        _ => json!({"scopegate.dev/findings": Value::from(findings).to_string()}),
    };
    let log = event("n1", &json!({}), &annotations).to_string();
    let summary = summary(&log, Log::default(), asked);
    assert_eq!(summary.would_refuse(), !found.is_empty());
    summary.conclusion
}

#[test_case(&json!({"code": 200}), &json!({}) => (vec![], None); "nothing")]
#[test_case(&json!({"code": 200}), &json!({"scopegate.dev/findings": "[{\"rule\":\"a/b\",\"message\":\"m\"},{\"rule\":\"a/b\",\"message\":\"n\"},{\"rule\":\"a/a\"}]"})
    => (vec!["a/a: ".to_owned(), "a/b: m".to_owned()], None); "findings, one a rule")]
#[test_case(&json!({"code": 200}), &json!({"scopegate.dev/findings": "[{\"rule\":\"a/b\",\"mess…"})
    => (vec!["(unreadable): [{\"rule\":\"a/b\",\"mess…".to_owned()], None); "findings that are cut off are findings")]
#[test_case(&json!({"code": 403, "message": "no"}), &json!({"scopegate.dev/rule": "a/b"}) => (vec![], Some("a/b: no".to_owned())); "refused")]
#[test_case(&json!({"code": 403, "message": "no"}), &json!({"authorization.k8s.io/decision": "forbid"})
    => (vec![], Some("(no rule allows it): no".to_owned())); "no rule")]
#[test_case(&json!({"code": 403, "message": "no"}), &json!({}) => (vec![], None); "refused by upstream")]
#[test_case(&json!({"code": 503, "message": "?"}), &json!({"authorization.k8s.io/decision": "forbid"}) => (vec![], None); "not known")]
fn verdicts(status: &Value, annotations: &Value) -> (Vec<String>, Option<String>) {
    let line = event("n1", &json!({"responseStatus": status}), annotations).to_string();
    let event = Event::read(line.as_bytes());
    let event = event.unwrap_or_else(|| panic!("{line}"));
    let findings = event.findings();
    let text = |finding: &super::event::Finding| format!("{}: {}", finding.rule, finding.message);
    (findings.iter().map(text).collect(), event.refusal().as_ref().map(text))
}

#[test_case(&json!({"resource": "pods", "namespace": "a", "name": "b", "subresource": "status"}), "", "" => "a/pods/b/status"; "all of it")]
#[test_case(&json!({"resource": "nodes", "name": "n1"}), "", "" => "nodes/n1"; "no namespace")]
#[test_case(&json!({"resource": "pods", "namespace": "a"}), "", "{\"namespace\":\"a\",\"name\":\"etcd\"}" => "a/pods/etcd"; "mirror pod")]
#[test_case(&json!({"resource": "pods", "namespace": "a"}), "pods \"etcd\" is forbidden: …", "" => "a/pods/etcd"; "by the message")]
#[test_case(&json!({"resource": "pods", "namespace": "a"}), "pods is forbidden: User \"x\"", "" => "a/pods"; "nobody names it")]
#[test_case(&Value::Null, "", "" => "(no object)"; "a path")]
fn object(reference: &Value, message: &str, mirror_pod: &str) -> String {
    let status = json!({"code": 403, "message": message});
    let fields = json!({"objectRef": reference, "responseStatus": status});
    let line = event("n1", &fields, &json!({"scopegate.dev/mirror-pod": mirror_pod})).to_string();
    Event::read(line.as_bytes()).unwrap().object()
}

#[test]
fn a_hostile_node_costs_little_and_steers_no_terminal() {
    let mut log = String::new();
    for n in 0..2_000 {
        let object = json!({"resource": "secrets", "namespace": "a", "name": format!("s\u{1b}[2J\n{n}")});
        let findings =
            json!({"scopegate.dev/findings": "[{\"rule\":\"node/secrets\",\"message\":\"\\u001b]0;x\\u0007\\n\"}]"});
        log.push_str(&format!("{}\n", event("bad", &json!({"objectRef": object}), &findings)));
    }
    let object = json!({"resource": "secrets", "namespace": "b", "name": "s"});
    let findings = json!({"scopegate.dev/findings": "[{\"rule\":\"node/secrets\"}]"});
    log.push_str(&event("good", &json!({"objectRef": object}), &findings).to_string());
    let summary = summary(&log, Log::default(), &[]);
    assert_eq!(summary.findings.objects.len(), 501);
    assert_eq!(summary.findings.other_objects, 1_500);
    assert!(
        summary
            .findings
            .objects
            .iter()
            .any(|object| object.name == "b/secrets/s")
    );
    let text = summary.to_string();
    assert!(text.contains("   481  and 481 more"), "{text}");
    assert!(
        text.contains("  1500  and others, too many to tell them apart"),
        "{text}"
    );
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
}

#[test_case(&["Upstream", "Upstream", "Upstream"] => "Upstream"; "as kubelets do")]
#[test_case(&["Proposal", "None", "None"] => "Proposal"; "as the proposal has it")]
#[test_case(&["Upstream", "Upstream", "Proposal"] => "Upstream"; "one node out of three")]
#[test_case(&["Upstream", "Upstream", "Proposal", "Proposal"] => "Either"; "both")]
#[test_case(&["Upstream", "Proposal"] => "Either"; "one node out of two")]
#[test_case(&["Other", "Other"] => "Either"; "neither")]
fn owner(owners: &[&str]) -> String {
    let lines = owners.iter().enumerate().map(|(n, owner)| {
        let pod = json!({"namespace": "kube-system", "name": "p", "owner": owner});
        created(&format!("n{n}"), &pod)
    });
    let text = recommendation(&lines.collect::<Vec<_>>().join("\n"));
    let read: Value = serde_saphyr::from_str(&text).unwrap();
    read["podRestriction"]["mirrorPodOwner"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_planted_becomes_configuration() {
    let planted = json!({
        "namespace": "kube-system\nfeatureGates: {}",
        "name": "p\nothers: Forward\u{2028}#",
        "labels": ["a\n    - b", "", "*", "true", "planted"],
        "annotations": ["kubernetes.io/config.hash", "x: y"],
        "finalizers": ["x/y/z"],
        "owner": "Other\n  mirrorPodOwner: Either",
    });
    let used = json!({"namespace": "kube-system", "name": "p", "labels": ["true", "1.5", "tier"], "owner": "Upstream"});
    let lines = [
        created("bad", &planted),
        created("n1", &used),
        created("n2", &used),
        event("n3", &json!({}), &json!({"scopegate.dev/mirror-pod": "{"})).to_string(),
        event(
            "n3",
            &json!({"responseStatus": {"code": 422}}),
            &json!({"scopegate.dev/mirror-pod": planted.to_string()}),
        )
        .to_string(),
    ];
    let text = recommendation(&lines.join("\n"));
    let read: Value = serde_saphyr::from_str(&text).unwrap();
    let expected = json!({
        "podRestriction": {
            "mirrorPodOwner": "Upstream",
            "allowedLabels": ["true", "1.5", "tier"],
            "allowedAnnotations": [],
            "allowedFinalizers": [],
            "mirrorPodNamespaces": ["kube-system"],
        },
        "featureGates": {"NodeRestrictionPods": true},
    });
    assert_eq!(read, expected, "{text}");
    assert!(text.contains("# - planted "), "{text}");
    assert!(
        text.contains("# Warning: 5 keys are not well-formed and left out."),
        "{text}"
    );
    assert!(text.contains("# Warning: 1 mirror pods could not be read."), "{text}");
    assert!(!text.contains("does not keep"), "{text}");
}

/// The labels that are allowed, and those that are left for an operator to decide.
#[test_case(&[("n1", &["a"])] => (vec!["a"], vec![]); "the only node")]
#[test_case(&[("n1", &["a"]), ("n2", &[])] => (vec![], vec!["a"]); "one of two nodes")]
#[test_case(&[("n1", &["a", "b"]), ("n2", &["a"])] => (vec!["a"], vec!["b"]); "both, and one of two nodes")]
#[test_case(&[("n1", &["a", "b"]), ("n2", &["a"]), ("n3", &["c"])] => (vec!["a"], vec!["b", "c"]); "some of three")]
fn what_one_of_several_nodes_uses_is_marked(
    used: &[(&str, &[&'static str])],
) -> (Vec<&'static str>, Vec<&'static str>) {
    let lines = used.iter().map(|(node, labels)| match labels {
        [] => event(node, &json!({}), &json!({})).to_string(),
        labels => {
            let pod = json!({"namespace": "kube-system", "name": node, "labels": labels, "owner": "Upstream"});
            created(node, &pod)
        }
    });
    let text = recommendation(&lines.collect::<Vec<_>>().join("\n"));
    let (labels, _) = text.split_once("allowedAnnotations").unwrap();
    let having = |mark: &str| {
        let is_there = |label: &&str| {
            labels
                .lines()
                .any(|line| line.starts_with(&format!("    {mark}- {label} ")))
        };
        ["a", "b", "c"].into_iter().filter(is_there).collect()
    };
    (having(""), having("# "))
}

#[test]
fn what_the_log_does_not_keep_is_told() {
    let pod = json!({"namespace": "kube-system", "name": "p", "labels": ["a"], "owner": "Upstream", "leftOut": 3});
    let text = recommendation(&created("n1", &pod));
    assert!(
        text.contains("# Warning: 1 times a pod had keys that the log does not keep: malformed ones, or too many."),
        "{text}"
    );
}

#[test]
fn no_namespace_is_any_namespace() {
    let lines = ["a", "b", "c"].map(|n| created(n, &json!({"namespace": n, "name": "p", "owner": "Upstream"})));
    let text = recommendation(&lines.join("\n"));
    let read: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(read["podRestriction"].get("mirrorPodNamespaces"), None, "{text}");
    assert!(text.contains("# mirrorPodNamespaces:  # any"), "{text}");
}

/// A request of a node that upstream was content with, unless the fields say otherwise.
fn event(node: &str, fields: &Value, annotations: &Value) -> Value {
    let mut annotations = annotations.clone();
    annotations["scopegate.dev/end"] = "complete".into();
    let mut event = json!({
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "user": {"username": format!("system:node:{node}"), "groups": ["system:nodes", "system:authenticated"]},
        "objectRef": {"resource": "pods", "namespace": "kube-system"},
        "responseStatus": {"metadata": {}, "code": 201},
        "requestReceivedTimestamp": "2026-03-02T08:00:00.000000Z",
        "annotations": annotations,
    });
    for (key, value) in fields.as_object().unwrap() {
        event[key] = value.clone();
    }
    event
}

fn created(node: &str, pod: &Value) -> String {
    event(node, &json!({}), &json!({"scopegate.dev/mirror-pod": pod.to_string()})).to_string()
}

fn summary(text: &str, mut log: Log, rules: &[&str]) -> Summary {
    let mut collector = Collector::new(rules.iter().map(|rule| (*rule).to_owned()).collect());
    log.read(text.as_bytes(), |event| collector.take(event)).unwrap();
    collector.finish(&log).unwrap()
}

fn recommendation(text: &str) -> String {
    let (mut log, mut usage) = (Log::default(), Usage::default());
    log.read(text.as_bytes(), |event| usage.take(event)).unwrap();
    Recommendation::new(&usage, log.wanted.times.unwrap()).to_string()
}

/// The block of the page that begins with the command has this behind it.
#[track_caller]
fn same(command: &str, printed: &str) {
    let (_, rest) = ROLLOUT
        .split_once(&format!("```console\n$ {command}\n"))
        .expect(command);
    let (shown, _) = rest.split_once("```\n").unwrap();
    assert_eq!(
        shown, printed,
        "docs/rollout.md has another output of {command}; it should be\n{printed}"
    );
}
