mod seeds;

use jiff::Timestamp;
use serde_json::json;
use test_case::test_case;

use super::*;
use crate::{
    authorizer::{Authorizer, ExtraResources, ExtraRule, ExtraRules, ExtraTarget, Fallback, NodeRules},
    graph::{PersistentVolume, Pod, ServiceAccount, Store, VolumeAttachment, Watched},
    quarantine::{Entry, Mode, Target},
    rules::Modes,
};

pub(crate) const GATE: Authorizer = Authorizer {
    nodes: Fallback::Deny,
    seeds: None,
    node_rules: NodeRules {
        selectors: true,
        trust_bundles: false,
        pod_certificates: false,
        service_accounts: Some(true),
        events_group: true,
    },
    modes: Modes::UPSTREAM,
    bootstrap: Fallback::Deny,
    others: Fallback::Deny,
    extra: ExtraRules::NONE,
    masters: Vec::new(),
    caller_known_upstream: true,
};

pub(super) fn apply<T: Watched>(store: &mut Store, object: serde_json::Value) {
    store.apply(&serde_json::from_value::<T>(object).unwrap());
}

/// web-a is on node-a and web-b on node-b; both need the secret shared. web-b has a volume with a secret of its own.
fn known() -> Known {
    let mut store = Store::default();
    for node in ["a", "b"] {
        let pod = json!({
            "metadata": {"name": format!("web-{node}"), "namespace": "default"},
            "spec": {"nodeName": format!("node-{node}"), "volumes": [
                {"secret": {"secretName": "shared"}},
                {"secret": {"secretName": format!("only-{node}")}},
                {"persistentVolumeClaim": {"claimName": format!("data-{node}")}},
            ]},
        });
        apply::<Pod>(&mut store, pod);
    }
    let volume = json!({
        "metadata": {"name": "pv-b"},
        "spec": {
            "claimRef": {"namespace": "default", "name": "data-b"},
            "csi": {"nodeStageSecretRef": {"namespace": "kube-system", "name": "stage"}},
        },
    });
    apply::<PersistentVolume>(&mut store, volume);
    let attachment = json!({"metadata": {"name": "va-b"}, "spec": {"nodeName": "node-b"}});
    apply::<VolumeAttachment>(&mut store, attachment);
    let account = json!({"metadata": {"name": "idle", "namespace": "default"}});
    apply::<ServiceAccount>(&mut store, account);
    Known {
        nodes: view(&mut store),
        seeds: None,
        quarantine: Some(Arc::default()),
    }
}

pub(super) fn view(store: &mut Store) -> View {
    View {
        graph: store.publish(),
        origin: "upstream".to_owned(),
        age: Some(Duration::from_millis(1250)),
        doubt: None,
    }
}

fn doubtful(doubt: &str) -> Known {
    let known = known();
    Known {
        nodes: View {
            doubt: Some(doubt.to_owned()),
            ..known.nodes
        },
        ..known
    }
}

/// `caller verb resource name namespace fields labels`.
pub(super) fn asked(text: &str) -> Asked {
    let mut words = text.split(' ').map(str::to_owned);
    let mut word = || words.next().unwrap_or_default();
    let question = Question {
        caller: word(),
        verb: word(),
        resource: word(),
        name: word(),
        namespace: word(),
        field_selector: word(),
        label_selector: word(),
    };
    question.parse().unwrap()
}

fn why(text: &str) -> Explanation {
    explain(&asked(text), &GATE, &known())
}

#[test]
fn an_allowed_request_shows_its_path() {
    let expected = "\
ALLOWED: node-a may get secrets default/shared
  rule      node/secrets
  path      node-a ← pod default/web-a (spec.volumes[0].secret.secretName) ← secret default/shared
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
";
    assert_eq!(why("node-a get secret shared").to_string(), expected);
}

#[test]
fn a_refused_request_shows_who_is_related_instead() {
    let expected = "\
REFUSED: node-a may not get secrets default/only-b
  rule      node/secrets
  missing   secret default/only-b is needed by pod default/web-b (spec.volumes[1].secret.secretName), which is on node-b, not on node-a
  client    403 secrets \"only-b\" is forbidden: User \"system:node:node-a\" cannot get resource \"secrets\" in API group \"\" in the namespace \"default\": no relationship found between node 'node-a' and this object
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
            a request is refused only after the graph had time to catch up and upstream was asked too
";
    assert_eq!(why("node-a get secret only-b").to_string(), expected);
}

#[test_case("node-a get secret stage kube-system" => vec!["secret kube-system/stage is needed by persistentvolume pv-b (spec.csi.nodeStageSecretRef), which belongs to persistentvolumeclaim default/data-b (spec.claimRef), which is needed by pod default/web-b (spec.volumes[2].persistentVolumeClaim.claimName), which is on node-b, not on node-a"]; "through a volume")]
#[test_case("node-a get volumeattachment va-b" => vec!["volumeattachment va-b is for node-b, not for node-a"]; "attachment")]
#[test_case("node-a get pod web-b" => vec!["pod default/web-b is on node-b, not on node-a"]; "pod")]
#[test_case("node-a get pod gone" => vec!["pod default/gone is not there, or not bound to any node (spec.nodeName)"]; "no pod")]
#[test_case("node-a get secret gone" => vec!["no pod on any node refers to secret default/gone, nor does a volume that such a pod claims; mirror pods do not count"]; "no secret")]
#[test_case("node-a get sa idle" => vec!["serviceaccount default/idle is there, but no pod on any node refers to it; mirror pods do not count"]; "known")]
#[test_case("node-a get sa gone" => vec!["no pod on any node refers to serviceaccount default/gone; mirror pods do not count"]; "not known")]
#[test_case("node-a get volumeattachment gone" => vec!["volumeattachment gone is not there, or names no node (spec.nodeName)"]; "no attachment")]
#[test_case("node-a get pv gone" => vec!["persistentvolume gone is not there, or no pod on any node uses the claim that it is for (spec.claimRef)"]; "no volume")]
#[test_case("nodea get pod web-a" => vec!["no Node nodea is known, and nothing is on it; is that its name?", "pod default/web-a is on node-a, not on nodea"]; "no node")]
fn what_is_missing_is_told(text: &str) -> Vec<String> {
    why(text).missing.unwrap().text
}

#[test]
fn a_few_of_many_readers_are_enough() {
    let mut store = Store::default();
    for node in 0..6 {
        let pod = json!({
            "metadata": {"name": format!("p{node}"), "namespace": "ns"},
            "spec": {"nodeName": format!("n{node}"), "volumes": [{"configMap": {"name": "all"}}]},
        });
        apply::<Pod>(&mut store, pod);
    }
    let known = Known {
        nodes: view(&mut store),
        ..known()
    };
    let missing = explain(&asked("other get cm all ns"), &GATE, &known).missing.unwrap();
    assert_eq!((missing.readers, missing.others.len(), missing.text.len()), (6, 3, 5));
    assert_eq!(missing.text[4], "3 more nodes are related to it");
}

#[test_case("node-a list pods" => ("node/pods".into(), "403 pods is forbidden: User \"system:node:node-a\" cannot list resource \"pods\" in API group \"\" at the cluster scope: can only list/watch pods with spec.nodeName field selector".into()); "by a rule")]
#[test_case("node-a get deployments.apps web default" => ("none has an opinion; callers.nodes.fallback refuses it".into(), "403 deployments.apps \"web\" is forbidden: User \"system:node:node-a\" cannot get resource \"deployments\" in API group \"apps\" in the namespace \"default\"".into()); "by none")]
fn other_refusals_name_the_rule(text: &str) -> (String, String) {
    let explanation = why(text);
    assert_eq!(
        (explanation.answer, explanation.missing.is_none()),
        (Answer::Deny, true)
    );
    let text = explanation.to_string();
    let rule = text.lines().find_map(|line| line.strip_prefix("  rule      "));
    (rule.unwrap().to_owned(), explanation.client.unwrap())
}

#[test]
fn what_upstream_decides_is_said_to_be_left_to_it() {
    let gate = Authorizer {
        nodes: Fallback::Upstream,
        ..GATE
    };
    let text = explain(&asked("node-a get secret only-b"), &gate, &known()).to_string();
    assert!(text.starts_with("ALLOWED: "), "{text}");
    assert!(
        text.contains("none allows it; callers.nodes.fallback leaves it to upstream"),
        "{text}"
    );
    assert!(text.contains("which is on node-b, not on node-a"), "{text}");
}

/// Whoever is in quarantine is refused for that, and no longer among those that can.
#[test]
fn quarantine_settles_it() {
    let entry = Entry {
        target: Target::Node("node-b".to_owned()),
        mode: Mode::Deny,
        reason: "ticket 4711".to_owned(),
        by: "alice".to_owned(),
        since: Timestamp::UNIX_EPOCH,
        until: None,
    };
    let known = Known {
        quarantine: Some(Arc::new([entry].into_iter().collect())),
        ..known()
    };
    for (object, verdict) in [
        ("only-b", "REFUSED: node-b may not get secrets default/only-b"),
        ("only-a", "REFUSED: "),
    ] {
        let text = explain(&asked(&format!("node-b get secret {object}")), &GATE, &known).to_string();
        assert!(text.starts_with(verdict), "{text}");
        assert!(text.contains("  rule      callers/quarantine\n"), "{text}");
        let told = "  because   node node-b is in quarantine (Deny), by alice: ticket 4711\n";
        assert!(text.contains(told), "{text}");
        assert!(text.contains(": the caller is in quarantine\n"), "{text}");
        assert!(!text.contains("missing"), "{text}");
    }
    assert_eq!(
        explain(&asked("node-a get secret only-a"), &GATE, &known).answer,
        Answer::Allow
    );
    let unknown = Known {
        quarantine: None,
        ..known.clone()
    };
    assert_eq!(
        explain(&asked("node-a get secret only-a"), &GATE, &unknown).answer,
        Answer::Unknown
    );
    let question = Object {
        resource: "secret".to_owned(),
        namespace: "default".to_owned(),
        name: "shared".to_owned(),
    };
    let who = who_can(&question.parse().unwrap(), &GATE, &known).unwrap();
    assert_eq!(who.nodes.len(), 1);
    let text = who.to_string();
    assert!(
        text.contains("  held      in quarantine, and could otherwise: node-b\n"),
        "{text}"
    );
}

#[test]
fn a_graph_in_doubt_answers_nothing_that_depends_on_it() {
    let known = doubtful("pods has not synced yet");
    for secret in ["only-a", "only-b"] {
        let explanation = explain(&asked(&format!("node-a get secret {secret}")), &GATE, &known);
        assert_eq!(explanation.answer, Answer::Unknown);
        assert!(
            explanation.client.as_ref().unwrap().starts_with("503 "),
            "{explanation}"
        );
        assert!(
            explanation
                .to_string()
                .contains("not to be relied on: pods has not synced yet")
        );
    }
    let lists = explain(&asked("node-a list pods   spec.nodeName=node-a"), &GATE, &known);
    assert_eq!(lists.answer, Answer::Allow, "{lists}");
}

#[test]
fn names_cannot_steer_a_terminal() {
    let mut store = Store::default();
    let pod = json!({
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"nodeName": "n\u{1b}[2J\n\u{202e}", "volumes": [{"configMap": {"name": "all"}}]},
    });
    apply::<Pod>(&mut store, pod);
    let known = Known {
        nodes: view(&mut store),
        ..known()
    };
    let text = explain(&asked("other get cm all ns"), &GATE, &known).to_string();
    assert!(text.contains(r"is on n\u{1b}[2J\u{a}\u{202e}, not on other"), "{text}");
}

#[test]
fn json_has_the_parts() {
    let value = serde_json::to_value(why("node-a get secret only-a")).unwrap();
    let text = "node-a ← pod default/web-a (spec.volumes[1].secret.secretName) ← secret default/only-a";
    assert_eq!(
        value,
        json!({
            "answer": "allow",
            "request": {
                "node": "node-a", "verb": "get", "group": "", "resource": "secrets", "subresource": "",
                "namespace": "default", "name": "only-a", "text": "get secrets default/only-a",
            },
            "rule": "node/secrets",
            "reason": format!("rule node/secrets, by the graph: {text}"),
            "client": null,
            "path": {
                "node": "node-a",
                "steps": [
                    {"kind": "pod", "namespace": "default", "name": "web-a", "field": "spec.nodeName"},
                    {"kind": "secret", "namespace": "default", "name": "only-a", "field": "spec.volumes[1].secret.secretName"},
                ],
                "text": text,
            },
            "missing": null,
            "then": null,
            "snapshot": {"generation": 1, "origin": "upstream", "ageSeconds": 1.25, "doubt": null},
        })
    );
}

#[test_case("node-a get secret only-a")]
#[test_case("node-a get secret only-b")]
fn json_is_read_back(text: &str) {
    let explanation = why(text);
    let json = serde_json::to_string(&explanation).unwrap();
    assert_eq!(serde_json::from_str::<Explanation>(&json).unwrap(), explanation);
}

fn who(resource: &str, name: &str, gate: &Authorizer) -> WhoCan {
    let object = Object {
        resource: resource.to_owned(),
        name: name.to_owned(),
        ..Object::default()
    };
    let who_can = who_can(&object.parse().unwrap(), gate, &known()).unwrap();
    let json = serde_json::to_string(&who_can).unwrap();
    assert_eq!(serde_json::from_str::<WhoCan>(&json).unwrap(), who_can);
    who_can
}

#[test]
fn every_reader_is_listed_with_its_path() {
    let expected = "\
2 nodes can read secret default/shared
  path      node-a ← pod default/web-a (spec.volumes[0].secret.secretName) ← secret default/shared
            node-b ← pod default/web-b (spec.volumes[0].secret.secretName) ← secret default/shared
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
";
    assert_eq!(who("secret", "shared", &GATE).to_string(), expected);
}

#[test]
fn no_reader_is_explained() {
    let expected = "\
no node can read secret default/gone
  missing   no pod on any node refers to secret default/gone, nor does a volume that such a pod claims; mirror pods do not count
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
";
    let nobody = who("secret", "gone", &GATE);
    assert_eq!(nobody.to_string(), expected);
    assert!(!nobody.is_anyone());
}

#[test]
fn the_rules_have_the_last_word() {
    let closed = Authorizer {
        seeds: None,
        node_rules: NodeRules {
            service_accounts: Some(false),
            ..GATE.node_rules
        },
        ..GATE
    };
    let text = who("sa", "idle", &closed).to_string();
    assert!(
        text.starts_with("no node can read serviceaccount default/idle\n"),
        "{text}"
    );
    assert!(
        text.contains("rule node/serviceaccounts: not allowed to get service accounts"),
        "{text}"
    );

    let unscoped = Authorizer {
        seeds: None,
        node_rules: NodeRules {
            selectors: false,
            ..GATE.node_rules
        },
        ..GATE
    };
    let everyone = who("pod", "web-a", &unscoped);
    assert!(
        everyone
            .to_string()
            .starts_with("every node can read pod default/web-a\n"),
        "{everyone}"
    );
    assert!(everyone.is_anyone());

    let open = Authorizer {
        nodes: Fallback::Upstream,
        ..GATE
    };
    let left = who("secret", "only-a", &open).to_string();
    assert!(left.starts_with("1 node can read secret default/only-a\n"), "{left}");
    assert!(
        left.contains("callers.nodes.fallback leaves the reads of any other node to upstream"),
        "{left}"
    );
}

#[test]
fn an_extra_rule_is_named() {
    let rule = ExtraRule {
        verbs: vec!["get".to_owned()],
        target: ExtraTarget::Resources(ExtraResources {
            groups: vec![String::new()],
            resources: vec!["secrets".to_owned()],
            names: vec!["only-a".to_owned()],
            namespaces: Vec::new(),
        }),
    };
    let gate = Authorizer {
        extra: ExtraRules {
            nodes: vec![rule],
            ..ExtraRules::NONE
        },
        ..GATE
    };
    let question = Question {
        caller: "node-b".to_owned(),
        verb: "get".to_owned(),
        resource: "secret".to_owned(),
        name: "only-a".to_owned(),
        ..Question::default()
    };
    let asked = question.parse().unwrap();
    for known in [known(), doubtful("nobody has heard from upstream")] {
        let explanation = explain(&asked, &gate, &known);
        assert_eq!(explanation.answer, Answer::Allow, "whatever the graph says");
        assert_eq!(explanation.rule, "extraRules.nodes[0]");
        assert_eq!(explanation.missing, None);
        let text = explanation.to_string();
        assert!(text.contains("  rule      extraRules.nodes[0]\n"), "{text}");
    }
    let text = who("secret", "only-a", &gate).to_string();
    assert!(
        text.starts_with("every node can read secret default/only-a\n  because   extraRules.nodes[0]\n"),
        "{text}"
    );
}

#[test]
fn a_long_list_is_cut_as_text_only() {
    let mut store = Store::default();
    for node in 0..25 {
        let pod = json!({"metadata": {"name": format!("p{node:02}"), "namespace": "default"},
            "spec": {"nodeName": format!("n{node:02}"), "serviceAccountName": "all"}});
        apply::<Pod>(&mut store, pod);
    }
    let known = Known {
        nodes: view(&mut store),
        ..known()
    };
    let object = Object {
        resource: "sa".to_owned(),
        name: "all".to_owned(),
        ..Object::default()
    };
    let all = who_can(&object.parse().unwrap(), &GATE, &known).unwrap();
    assert_eq!(all.nodes.len(), 25);
    let text = all.to_string();
    assert!(
        text.contains("  path      n00 ← pod") && text.contains("            n19 ← pod"),
        "{text}"
    );
    assert!(!text.contains("n20"), "{text}");
    assert!(text.contains("and 5 more; JSON has them all"), "{text}");
}
