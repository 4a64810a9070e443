//! Where upstream's graph is not what the objects say, and the gate's is. Its handlers rely on hearing of every deletion, and
//! on what an API server refuses to change, and pass over the rest.

use serde_json::{Value, json};

use super::{
    both,
    question::Question,
    release::Release,
    story::{Step, Story},
    theirs::Oracle,
};
use crate::oracle;

/// What happens, what is asked for, and what the gate says; upstream says the opposite.
struct Row {
    why: &'static str,
    objects: Vec<Value>,
    asked: (&'static str, &'static str, &'static str),
    allowed: bool,
}

#[test]
fn what_upstream_passes_over_the_gate_does_not() {
    let Some(program) = oracle::path("authorizer") else {
        return;
    };
    let mut oracle = Oracle::start(&program);
    for row in rows() {
        let mut steps: Vec<Step> = row.objects.into_iter().map(Step::Apply).collect();
        steps.push(Step::Ask(get(row.asked)));
        let release = Release::with(36, "PodCertificateRequest");
        let story = Story { release, steps };
        assert!(!story.is_plausible(), "should not be generated: {}", row.why);
        let (ours, theirs) = both(&mut oracle, &story);
        assert_eq!(
            (ours[0].allowed, theirs[0].allowed),
            (row.allowed, !row.allowed),
            "{}",
            row.why
        );
    }
}

/// Upstream keeps an index of what two hundred need. An edge that a pod has twice is counted there twice, and taken back once.
#[test]
fn what_hundreds_need_is_forgotten_as_well() {
    let Some(program) = oracle::path("authorizer") else {
        return;
    };
    let mut oracle = Oracle::start(&program);
    let named = |name: String, node: &str, secrets: &[&str]| {
        let mut pod = pod("1", node, "o");
        pod["metadata"]["name"] = name.into();
        let volume = |secret: &&str| json!({"name": "v", "secret": {"secretName": secret}});
        pod["spec"]["volumes"] = secrets.iter().map(volume).collect();
        pod
    };
    let twice = named("twice".to_owned(), "n1", &["o", "o"]);
    let crowd = (0..200).map(|number| named(format!("crowd-{number}"), "n2", &["o"]));
    // The node is known for something else.
    let other = named("other".to_owned(), "n1", &["other"]);
    let mut steps: Vec<Step> = crowd.chain([other, twice.clone()]).map(Step::Apply).collect();
    steps.extend([Step::Delete(twice), Step::Ask(get(("", "secrets", "ns")))]);
    let release = Release::with(36, "PodCertificateRequest");
    let (ours, theirs) = both(&mut oracle, &Story { release, steps });
    assert_eq!((ours[0].allowed, theirs[0].allowed), (false, true));
}

fn rows() -> Vec<Row> {
    let slice = |node: &str| {
        let meta = json!({"name": "o"});
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": meta, "spec": {"nodeName": node}})
    };
    let request = |node: &str| {
        json!({
            "apiVersion": "certificates.k8s.io/v1beta1",
            "kind": "PodCertificateRequest",
            "metadata": {"namespace": "ns", "name": "o"},
            "spec": {"nodeName": node},
        })
    };
    let mut extended = pod("1", "n1", "o");
    extended["status"] = json!({"extendedResourceClaimStatus": {"requestMappings": [], "resourceClaimName": "o"}});
    vec![
        Row {
            why: "a pod is gone, and one of the same name is not bound yet",
            objects: vec![pod("1", "n1", "o"), pod("2", "", "o")],
            asked: ("", "secrets", "ns"),
            allowed: false,
        },
        Row {
            why: "a pod refers to something else, which no API server allows",
            objects: vec![pod("1", "n1", "o"), pod("1", "n1", "other")],
            asked: ("", "secrets", "ns"),
            allowed: false,
        },
        Row {
            why: "a claim is made for extended resources after the pod was bound",
            objects: vec![pod("1", "n1", "o"), extended],
            asked: ("resource.k8s.io", "resourceclaims", "ns"),
            allowed: true,
        },
        Row {
            why: "a slice is gone, and one of the same name is another node's",
            objects: vec![slice("n1"), slice("n2")],
            asked: ("resource.k8s.io", "resourceslices", ""),
            allowed: false,
        },
        Row {
            why: "a request is gone, and one of the same name is another node's",
            objects: vec![request("n1"), request("n2")],
            asked: ("certificates.k8s.io", "podcertificaterequests", "ns"),
            allowed: false,
        },
    ]
}

fn pod(uid: &str, node: &str, secret: &str) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "ns", "name": "p", "uid": uid},
        "spec": {"volumes": [{"name": "v", "secret": {"secretName": secret}}]},
    });
    if !node.is_empty() {
        pod["spec"]["nodeName"] = node.into();
    }
    pod
}

/// By node `n1`, of the one object.
fn get((group, resource, namespace): (&'static str, &'static str, &'static str)) -> Question {
    Question {
        user: "system:node:n1".to_owned(),
        groups: vec!["system:nodes"],
        verb: "get",
        group,
        resource,
        subresource: "",
        namespace,
        name: "o".to_owned(),
        path: "",
        fields: Vec::new(),
    }
}
