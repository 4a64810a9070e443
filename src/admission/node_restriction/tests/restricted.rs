//! The extended rules on pods and addresses: each in every encoding, and in every mode.

use serde_json::{Value, json};
use test_case::test_case;

use super::*;
use crate::{
    admission::{Keys, MirrorPod, Owner},
    graph::Kind,
    rules::Origin,
};

const PODS: &str = "/api/v1/namespaces/ns/pods";
const STATUS: &str = "/api/v1/namespaces/ns/pods/marked/status";
const NODE_STATUS: &str = "/api/v1/nodes/n1/status";

/// With the feature gate on, and something allowed of each sort.
pub(super) fn extended() -> Admission {
    let mut rules = upstream_with(|rules| {
        rules.mirror_pod_owner = MirrorPodOwner::Either;
        let keys = |keys: &[&str]| Keys::new(keys.iter().map(|key| (*key).to_owned()));
        rules.extended = Extended {
            labels: keys(&["component", "tier", "example.com/*"]),
            annotations: keys(&["kubeadm.kubernetes.io/*"]),
            finalizers: keys(&["example.com/own"]),
            namespaces: vec!["ns".to_owned()],
            addresses: ["169.254.7.0/24", "*.compute.internal", "shared.example.com"]
                .map(|allowed| allowed.parse().unwrap())
                .to_vec(),
        };
    });
    for rule in Rule::ALL.iter().filter(|rule| rule.origin() == Origin::Extended) {
        rules.modes.set(*rule, Mode::Enforce);
    }
    rules
}

fn mirror(metadata: &Value) -> String {
    let mut pod = json!({
        "metadata": {"name": "m", "annotations": {"kubernetes.io/config.mirror": "hash"}},
        "spec": {"nodeName": "n1"},
    });
    for (key, value) in metadata.as_object().unwrap() {
        match value.as_object() {
            Some(more) if key == "annotations" => more
                .iter()
                .for_each(|(key, value)| pod["metadata"]["annotations"][key] = value.clone()),
            _ => pod["metadata"][key] = value.clone(),
        }
    }
    pod.to_string()
}

fn create(metadata: &Value) -> String {
    told(&World::default(), &extended(), "POST", PODS, &mirror(metadata)).0
}

fn refused(what: &str) -> String {
    format!(r#"403 pods "m" is forbidden: node "n1" is not allowed to create mirror pods with {what} pods"#)
}

#[test_case(&json!({}) => "passes"; "nothing")]
#[test_case(&json!({"labels": {"unrestricted.node.kubernetes.io/app": "a"}}) => "passes"; "unrestricted label")]
#[test_case(&json!({"labels": {"component": "etcd", "tier": "control-plane", "example.com/a": ""}}) => "passes"; "allowed labels")]
#[test_case(&json!({"labels": {"components": "etcd"}}) => refused("labels components"); "a longer key")]
#[test_case(&json!({"labels": {"example.com": "", "example.com.evil/a": ""}}) => refused("labels example.com, example.com.evil/a"); "no prefix")]
#[test_case(&json!({"labels": {"unrestricted.node.kubernetes.io": ""}}) => refused("labels unrestricted.node.kubernetes.io"); "the prefix alone")]
#[test_case(&json!({"labels": {"tier": "a", "k8s-app": "dns", "app": "b"}}) => refused("labels app, k8s-app"); "others among allowed ones")]
#[test_case(&json!({"annotations": {"kubernetes.io/config.hash": "h", "kubernetes.io/config.seen": "t", "kubernetes.io/config.source": "file"}}) => "passes"; "annotations of kubelets")]
#[test_case(&json!({"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "x", "seccomp.security.alpha.kubernetes.io/pod": "x"}}) => "passes"; "well-known annotations")]
#[test_case(&json!({"annotations": {"kubeadm.kubernetes.io/etcd.advertise-client-urls": "x"}}) => "passes"; "allowed annotations")]
#[test_case(&json!({"annotations": {"prometheus.io/scrape": "true"}}) => refused("annotations prometheus.io/scrape"); "another annotation")]
#[test_case(&json!({"finalizers": ["example.com/own"]}) => "passes"; "allowed finalizer")]
#[test_case(&json!({"finalizers": ["foregroundDeletion"]}) => refused("finalizers foregroundDeletion"); "another finalizer")]
#[test_case(&json!({"labels": (0..12).map(|i| (format!("l{i:02}"), "")).collect::<std::collections::BTreeMap<_, _>>()})
    => refused("labels l00, l01, l02, l03, l04, l05, l06, l07, l08, l09, …"); "very many")]
fn mirror_pods(metadata: &Value) -> String {
    create(metadata)
}

#[test]
fn mirror_pods_elsewhere() {
    let elsewhere = "/api/v1/namespaces/other/pods";
    let (found, _) = told(&World::default(), &extended(), "POST", elsewhere, &mirror(&json!({})));
    assert_eq!(
        found,
        r#"403 pods "m" is forbidden: node "n1" is not allowed to create mirror pods in namespace "other" pods"#
    );
    let anywhere = {
        let mut rules = extended();
        rules.node_restriction.extended.namespaces.clear();
        rules
    };
    assert_eq!(
        told(&World::default(), &anywhere, "POST", elsewhere, &mirror(&json!({}))).0,
        "passes"
    );
}

const SINGLE: &str =
    r#"403 pods "m" is forbidden: node "n1" can only create pods with a single owner reference set to itself pods"#;
const ITSELF: &str =
    r#"403 pods "m" is forbidden: node "n1" can only create pods with an owner reference set to itself pods"#;
const CONTROLLER: &str =
    r#"403 pods "m" is forbidden: node "n1" can only create pods with a controller owner reference set to itself pods"#;
const NO_CONTROLLER: &str = r#"403 pods "m" is forbidden: node "n1" can only create pods with an owner reference that is not the controller pods"#;
const BLOCKS: &str =
    r#"403 pods "m" is forbidden: node "n1" must not set blockOwnerDeletion on an owner reference pods"#;
const UID: &str = r#"403 pods "m" is forbidden: node n1 UID mismatch: expected V got N1 pods"#;

/// Under Upstream, Proposal and Either.
#[test_case(json!([]), [ITSELF, "passes", "passes"]; "none")]
#[test_case(json!([{"controller": true}]), ["passes", NO_CONTROLLER, "passes"]; "as kubelets send it")]
#[test_case(json!([{}]), [CONTROLLER, "passes", "passes"]; "as the proposal has it")]
#[test_case(json!([{"controller": false}]), [CONTROLLER, "passes", "passes"]; "said not to control")]
#[test_case(json!([{"controller": true, "blockOwnerDeletion": true}]), [BLOCKS, NO_CONTROLLER, BLOCKS]; "controls and blocks")]
#[test_case(json!([{"blockOwnerDeletion": true}]), [CONTROLLER, "passes", "passes"]; "blocks")]
#[test_case(json!([{"controller": true}, {}]), [SINGLE, SINGLE, SINGLE]; "both at once")]
#[test_case(json!([{"name": "n2"}]), [ITSELF, ITSELF, ITSELF]; "another node")]
#[test_case(json!([{"kind": "ReplicaSet", "apiVersion": "apps/v1"}]), [ITSELF, ITSELF, ITSELF]; "another kind")]
#[test_case(json!([{"uid": "V", "controller": true}]), [UID, NO_CONTROLLER, UID]; "another uid")]
#[test_case(json!([{"uid": "V"}]), [CONTROLLER, UID, UID]; "another uid as the proposal has it")]
fn owners(mut owners: Value, expected: [&str; 3]) {
    for owner in owners.as_array_mut().unwrap() {
        for (key, value) in [("apiVersion", "v1"), ("kind", "Node"), ("name", "n1"), ("uid", "N1")] {
            if owner[key].is_null() {
                owner[key] = json!(value);
            }
        }
    }
    let forms = [
        MirrorPodOwner::Upstream,
        MirrorPodOwner::Proposal,
        MirrorPodOwner::Either,
    ];
    for (form, expected) in forms.into_iter().zip(expected) {
        let rules = upstream_with(|rules| rules.mirror_pod_owner = form);
        let body = mirror(&json!({"ownerReferences": owners}));
        assert_eq!(
            told(&World::default(), &rules, "POST", PODS, &body).0,
            expected,
            "{form:?}"
        );
    }
}

/// What is recorded of a mirror pod, whatever the rules think of it.
#[test]
fn mirror_pods_are_observed() {
    let many: Vec<String> = (0..100).map(|i| format!("f{i:03}")).collect();
    let metadata = json!({"labels": {"component": "etcd", "tier": "a"}, "finalizers": many});
    let pod = observed(PODS, &mirror(&metadata));
    assert_eq!(
        (pod.namespace.as_str(), pod.name.as_str(), pod.owner),
        ("ns", "m", Owner::None)
    );
    assert_eq!(pod.labels, ["component", "tier"]);
    assert_eq!(pod.annotations, ["kubernetes.io/config.mirror"]);
    assert_eq!((pod.finalizers.len(), pod.left_out), (64, 36));
}

/// What a node makes up does not fill the log, whatever upstream says to it: the annotation is a text in a text.
#[test]
fn observations_are_small() {
    let domain = ["d"; 127].join(".");
    let long: Vec<String> = (0..200).map(|i| format!("{domain}/{i:063}")).collect();
    let short: Vec<String> = (0..200).map(|i| format!("k{i}")).collect();
    let hostile: Vec<String> = (0..200).map(|i| format!("{}{i}", "\"\u{1}\\".repeat(100))).collect();
    for keys in [&long, &short, &hostile] {
        let map: serde_json::Map<_, _> = keys.iter().map(|key| (key.clone(), json!(""))).collect();
        let name = if keys == &hostile {
            "\u{1}".repeat(253)
        } else {
            "n".repeat(253)
        };
        let metadata = json!({"name": name, "labels": map, "annotations": map, "finalizers": keys});
        let pod = observed(PODS, &mirror(&metadata));
        let written = json!(serde_json::to_string(&pod).unwrap()).to_string();
        assert!(written.len() <= 8192 + 256, "{} bytes", written.len());
        // With the annotation that makes it a mirror pod.
        let kept = pod.labels.len() + pod.annotations.len() + pod.finalizers.len();
        assert_eq!(kept + pod.left_out, 601);
        assert_eq!(pod.name.is_empty(), keys == &hostile);
        assert_eq!(pod.labels.is_empty(), keys == &hostile);
    }
}

/// What is noted of a mirror pod, though all is only recorded.
fn observed(uri: &str, body: &str) -> MirrorPod {
    let mut rules = upstream();
    rules.modes.dry_run();
    let request = Request::post(uri).header(CONTENT_TYPE, "application/json");
    let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
    let Target::Resource(request) = &head.info().target else {
        panic!("no resource");
    };
    let (user, modes) = (Arc::new(User::default()), &rules.modes);
    let writer = Writer {
        node: "n1",
        user: &user,
        modes: modes.enforced(),
    };
    let write = Write::read(writer, Operation::Create, (&head, request), body.as_bytes()).unwrap();
    let (told, graph) = (Told::default(), World::default().graph());
    let known = Known::new((&graph, true), true, &told);
    let notes = rules.node_restriction.find(write, modes, &known).notes;
    *notes.mirror_pod.unwrap()
}

fn changed(what: &str) -> String {
    format!(r#"403 pods "marked" is forbidden: node "n1" is not allowed to change {what} through pod status pods"#)
}

const LABELS: &str = r#"403 pods "marked" is forbidden: node "n1" cannot update labels through pod status pods"#;

/// The pod has label app=a, annotations a=1 and unrestricted.node.kubernetes.io/x=1, and finalizers keep and example.com/own.
#[test_case("merge", r#"{"metadata":{"annotations":{"a":"1"}}}"# => "passes, tied to the version"; "annotation as it is")]
#[test_case("merge", r#"{"metadata":{"annotations":{"a":"2"}}}"# => changed("annotations a"); "annotation changed")]
#[test_case("merge", r#"{"metadata":{"annotations":{"a":null}}}"# => changed("annotations a"); "annotation removed")]
#[test_case("merge", r#"{"metadata":{"annotations":{"b":"1"}}}"# => changed("annotations b"); "annotation added")]
#[test_case("merge", r#"{"metadata":{"annotations":null}}"# => changed("annotations a"); "annotations dropped")]
#[test_case("merge", r#"{"metadata":{"annotations":{"unrestricted.node.kubernetes.io/x":"2","kubeadm.kubernetes.io/x":"1"}}}"# => "passes, tied to the version"; "free annotations")]
#[test_case("merge", r#"{"metadata":{"finalizers":["example.com/own"]}}"# => changed("finalizers keep"); "finalizer removed")]
#[test_case("merge", r#"{"metadata":{"finalizers":["keep"]}}"# => "passes, tied to the version"; "free finalizer removed")]
#[test_case("merge", r#"{"metadata":{"finalizers":["example.com/own","keep"]}}"# => "passes, tied to the version"; "finalizers in another order")]
#[test_case("merge", r#"{"metadata":{"labels":{"unrestricted.node.kubernetes.io/x":"1"}}}"# => LABELS; "upstream takes no labels at all")]
#[test_case("strategic", r#"{"metadata":{"annotations":{"b":"1"}}}"# => changed("annotations b"); "strategic annotation")]
#[test_case("strategic", r#"{"metadata":{"annotations":{"$patch":"replace"}}}"# => changed("annotations a"); "strategic replacement")]
#[test_case("strategic", r#"{"metadata":{"annotations":{"$patch":"delete"}}}"# => changed("annotations a"); "strategic deletion")]
#[test_case("strategic", r#"{"metadata":{"finalizers":["more"]}}"# => changed("finalizers more"); "strategic finalizer")]
#[test_case("strategic", r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["keep"]}}"# => changed("finalizers keep"); "strategic finalizer removed")]
#[test_case("json", r#"[{"op":"add","path":"/metadata/annotations/b","value":"1"}]"# => changed("annotations b"); "json annotation")]
#[test_case("json", r#"[{"op":"move","from":"/metadata/annotations/a","path":"/metadata/annotations/unrestricted.node.kubernetes.io~1a"}]"# => changed("annotations a"); "json move")]
#[test_case("json", r#"[{"op":"remove","path":"/metadata/finalizers/0"}]"# => changed("finalizers keep"); "json finalizer removed")]
#[test_case("json", r#"[{"op":"replace","path":"/metadata","value":{"name":"marked","namespace":"ns","uid":"U-marked","resourceVersion":"7","labels":{"app":"a"}}}]"#
    => changed("annotations a"); "json metadata replaced")]
#[test_case("strategic", r#"{"metadata":{"uid":"U-marked"},"status":{"phase":"Running"}}"# => "passes"; "as kubelets do")]
fn pod_status(kind: &str, patch: &str) -> String {
    let found = patched_by(&extended(), kind, STATUS, patch);
    let tied = "passes, tied to the version";
    if found.starts_with(tied) {
        tied.to_owned()
    } else {
        found
    }
}

/// A whole object, as JSON and as protobuf.
#[test_case(&["metadata", "annotations", "b"], json!("1") => changed("annotations b"); "annotation added")]
#[test_case(&["metadata", "annotations"], json!({}) => changed("annotations a"); "annotations dropped")]
#[test_case(&["metadata", "finalizers"], json!(["example.com/own"]) => changed("finalizers keep"); "finalizer removed")]
#[test_case(&["status", "phase"], json!("Running") => "passes"; "nothing of it")]
fn pod_status_put(path: &[&str], value: Value) -> String {
    let world = World::default();
    let body = with(&world::marked().to_string(), path, value);
    told(&world, &extended(), "PUT", STATUS, &body).0
}

/// The proposal lets nodes change labels under its prefix. So it is where upstream's rule is off.
#[test_case(r#"{"metadata":{"labels":{"unrestricted.node.kubernetes.io/x":"1"}}}"# => "passes, tied to the version"; "free label")]
#[test_case(r#"{"metadata":{"labels":{"component":"x"}}}"# => "passes, tied to the version"; "allowed label")]
#[test_case(r#"{"metadata":{"labels":{"app":"b"}}}"# => changed("labels app"); "label changed")]
#[test_case(r#"{"metadata":{"labels":{"app":null}}}"# => changed("labels app"); "label removed")]
fn pod_status_labels(patch: &str) -> String {
    let mut rules = extended();
    rules.modes.set(Rule::RestrictionPodLabels, Mode::Off);
    let found = patched_by(&rules, "merge", STATUS, patch);
    let tied = "passes, tied to the version";
    if found.starts_with(tied) {
        tied.to_owned()
    } else {
        found
    }
}

fn claims(address: &str, what: &str) -> String {
    format!(
        r#"403 nodes "n1" is forbidden: node "n1" is not allowed to claim address "{address}", which is {what} nodes"#
    )
}

const NO_ADDRESS: &str = "neither an IP address nor a DNS name";

/// Node n2 has addresses 10.0.0.2, fd00::2, n2.example.com and n2.compute.internal.
#[test_case("InternalIP", "10.0.0.9" => "passes"; "of nobody")]
#[test_case("ExternalIP", "2001:db8::9" => "passes"; "of nobody, of IPv6")]
#[test_case("Hostname", "10.0.0.9" => "passes"; "a node whose name is an address")]
#[test_case("Hostname", "n1" => "passes"; "own name")]
#[test_case("InternalDNS", "n1" => "passes"; "own name as one of DNS")]
#[test_case("InternalIP", "n1" => claims("n1", "no IP address"); "own name as an IP address")]
#[test_case("InternalIP", "127.0.0.1" => claims("127.0.0.1", "a loopback address"); "loopback")]
#[test_case("Hostname", "127.0.0.1" => claims("127.0.0.1", "a loopback address"); "loopback as a name")]
#[test_case("Other", "127.0.0.1" => claims("127.0.0.1", "a loopback address"); "loopback as something else")]
#[test_case("InternalIP", "0.0.0.0" => claims("0.0.0.0", "an unspecified address"); "unspecified")]
#[test_case("InternalIP", "255.255.255.255" => claims("255.255.255.255", "a broadcast address"); "broadcast")]
#[test_case("InternalIP", "127。0。0。1" => claims("127。0。0。1", NO_ADDRESS); "loopback in other dots")]
#[test_case("Hostname", "127。0。0。1" => claims("127。0。0。1", NO_ADDRESS); "loopback in other dots as a name")]
#[test_case("Hostname", "ⓛocalhost" => claims("ⓛocalhost", NO_ADDRESS); "this host in other letters")]
#[test_case("Hostname", "127.0.0.1\u{ad}" => claims("127.0.0.1\u{ad}", NO_ADDRESS); "loopback and a soft hyphen")]
#[test_case("InternalIP", "169.254.169.254" => claims("169.254.169.254", "a link-local address"); "metadata service")]
#[test_case("InternalIP", "169.254.7.1" => "passes"; "allowed")]
#[test_case("InternalIP", "[169.254.7.1]" => claims("[169.254.7.1]", NO_ADDRESS); "allowed, in brackets")]
#[test_case("InternalIP", "10.0.0.2" => claims("10.0.0.2", r#"that of node "n2""#); "of another node")]
#[test_case("Hostname", "10.0.0.2" => claims("10.0.0.2", r#"that of node "n2""#); "of another node, as a name")]
#[test_case("InternalIP", "[10.0.0.2]" => claims("[10.0.0.2]", NO_ADDRESS); "of another node, in brackets")]
#[test_case("InternalIP", "::ffff:10.0.0.2" => claims("::ffff:10.0.0.2", r#"that of node "n2""#); "of another node, mapped")]
#[test_case("InternalIP", "::10.0.0.2" => claims("::10.0.0.2", r#"that of node "n2""#); "of another node, compatible")]
#[test_case("InternalIP", "64:ff9b::a00:2" => claims("64:ff9b::a00:2", r#"that of node "n2""#); "of another node, translated")]
#[test_case("InternalIP", "2002:a00:2::1" => claims("2002:a00:2::1", r#"that of node "n2""#); "of another node, 6to4")]
#[test_case("InternalIP", "2001:0:1:2:3:4:f5ff:fffd" => claims("2001:0:1:2:3:4:f5ff:fffd", r#"that of node "n2""#); "of another node, Teredo")]
#[test_case("InternalIP", "FD00:0::2" => claims("FD00:0::2", r#"that of node "n2""#); "of another node, written otherwise")]
#[test_case("InternalIP", "fd00::2%eth0" => claims("fd00::2%eth0", NO_ADDRESS); "of another node, with a link")]
#[test_case("Hostname", "n2" => claims("n2", "not its name"); "another node")]
#[test_case("Hostname", "n2.example.com" => claims("n2.example.com", "not its name"); "name of another node")]
#[test_case("Hostname", "N1" => claims("N1", NO_ADDRESS); "own name in capitals")]
#[test_case("Hostname", "localhost" => claims("localhost", "a name of this host"); "this host")]
#[test_case("Hostname", "ip6-localhost" => claims("ip6-localhost", "a name of this host"); "this host of IPv6")]
#[test_case("Hostname", "localhost.localdomain" => claims("localhost.localdomain", "a name of this host"); "this host with a domain")]
#[test_case("Hostname", "127.0.0.1.nip.io" => claims("127.0.0.1.nip.io", "not its name"); "a resolver of addresses")]
#[test_case("Hostname", "n1.127.0.0.1.nip.io" => claims("n1.127.0.0.1.nip.io", "not its name"); "own name before another domain")]
#[test_case("Hostname", "n1.127.0.0.1" => claims("n1.127.0.0.1", "not its name"); "own name before an address")]
#[test_case("ExternalDNS", "kubernetes.default.svc" => claims("kubernetes.default.svc", "not its name"); "a service")]
#[test_case("Hostname", "ip-10-0-0-1.eu-west-1.compute.internal" => "passes"; "in an allowed domain")]
#[test_case("InternalDNS", "n2.compute.internal" => claims("n2.compute.internal", r#"that of node "n2""#); "another node in an allowed domain")]
#[test_case("Hostname", "x.compute.internal.nip.io" => claims("x.compute.internal.nip.io", "not its name"); "an allowed domain within another")]
#[test_case("Hostname", "shared.example.com" => "passes"; "allowed name")]
#[test_case("Hostname", "127.1" => claims("127.1", NO_ADDRESS); "a short form")]
#[test_case("Hostname", "" => claims("", NO_ADDRESS); "nothing")]
fn addresses(kind: &str, address: &str) -> String {
    let (world, rules) = (World::default(), extended());
    let addresses = json!([{"type": "InternalIP", "address": "10.0.0.1"}, {"type": kind, "address": address}]);
    let mut node = world::node("n1");
    node["metadata"]["labels"] = json!({"x": "1"});
    node["spec"] = json!({});
    node["status"]["addresses"] = addresses.clone();
    let (created, _) = told(&world, &rules, "POST", "/api/v1/nodes", &node.to_string());
    let body = with(
        &world::node("n1").to_string(),
        &["status", "addresses"],
        addresses.clone(),
    );
    let (put, _) = told(&world, &rules, "PUT", NODE_STATUS, &body);
    assert_eq!(put, created, "PUT");
    let strategic = json!({"status": {"addresses": addresses}}).to_string();
    let pointed = json!([{"op": "add", "path": "/status/addresses/-", "value": {"type": kind, "address": address}}]);
    for (kind, patch) in [
        ("strategic", &strategic),
        ("merge", &strategic),
        ("json", &pointed.to_string()),
    ] {
        let found = patched_by(&rules, kind, NODE_STATUS, patch);
        let tied = found.starts_with("passes, tied to the version");
        assert_eq!(if tied { "passes" } else { &found }, created, "{kind}");
    }
    // It is not the place for it: upstream drops it.
    assert_eq!(patched_by(&rules, "merge", "/api/v1/nodes/n1", &strategic), "passes");
    created
}

/// Node n1, with these addresses.
fn having(addresses: &Value) -> String {
    with(
        &world::node("n1").to_string(),
        &["status", "addresses"],
        addresses.clone(),
    )
}

/// An address that it has claimed already is not judged again, unless as something else; a heartbeat does not even look.
#[test]
fn addresses_that_are_there() {
    let (mut world, rules) = (World::default(), extended());
    let many: Vec<Value> = (1..=20)
        .map(|host| json!({"type": "InternalIP", "address": format!("127.0.0.{host}")}))
        .collect();
    world.objects[0].1["status"]["addresses"] = json!(many);
    let body = with(&world.objects[0].1.to_string(), &["status", "phase"], json!("x"));
    assert_eq!(told(&world, &rules, "PUT", NODE_STATUS, &body).0, "passes");
    let fewer = having(&json!(many[..18]));
    assert_eq!(told(&world, &rules, "PUT", NODE_STATUS, &fewer).0, "passes");
    let other = having(&json!([{"type": "Hostname", "address": "127.0.0.1"}]));
    assert_eq!(
        told(&world, &rules, "PUT", NODE_STATUS, &other).0,
        claims("127.0.0.1", "a loopback address")
    );
    let heartbeat = r#"{"status":{"$setElementOrder/conditions":[{"type":"Ready"}],"conditions":[{"type":"Ready","status":"True"}]}}"#;
    let (found, questions) = ask(
        &world,
        (&world.graph(), true),
        &rules,
        "PATCH",
        NODE_STATUS,
        PATCHES[2].1,
        heartbeat.as_bytes(),
    );
    assert_eq!((found.as_str(), questions.len()), ("passes", 0));
}

/// A node does not take a whole network for itself.
#[test_case(16 => "passes"; "some")]
#[test_case(17 => r#"403 nodes "n1" is forbidden: node "n1" is not allowed to claim 17 addresses, more than 16 nodes"#; "too many")]
fn addresses_in_numbers(count: usize) -> String {
    let host = |host| json!({"type": "InternalIP", "address": format!("192.0.2.{host}")});
    let body = having(&(1..=count).map(host).collect());
    told(&World::default(), &extended(), "PUT", NODE_STATUS, &body).0
}

/// What a node is called is its own to say, also if another has said it before.
#[test]
fn own_names() {
    let mut world = World::default();
    world.objects[1].1["status"]["addresses"] =
        json!([{"type": "Hostname", "address": "n1"}, {"type": "Hostname", "address": "n1.example.com"}]);
    let body = having(&json!([{"type": "Hostname", "address": "n1"}]));
    assert_eq!(told(&world, &extended(), "PUT", NODE_STATUS, &body).0, "passes");
}

/// The graph said that the address was n2's, and upstream says that it is no more. Whether it is also n3's is asked then.
#[test_case(&[] => "passes"; "nobody's")]
#[test_case(&["n3"] => claims("10.0.0.2", r#"that of node "n3""#); "still that of another")]
#[test_case(&["n3", "n4"] => claims("10.0.0.2", r#"that of node "n3""#); "still that of others")]
#[test_case(&["n4"] => claims("10.0.0.2", r#"that of node "n4""#); "still that of the last")]
fn addresses_that_were_given_up(still: &[&str]) -> String {
    let node = |name: &str, has: bool| {
        let addresses = if has {
            json!([{"type": "InternalIP", "address": "::ffff:10.0.0.2"}])
        } else {
            json!([])
        };
        (
            Kind::Node,
            json!({"metadata": {"name": name, "uid": name}, "status": {"addresses": addresses}}),
        )
    };
    let mut world = World::default();
    world.objects.extend(["n3", "n4"].map(|name| node(name, true)));
    let graph = world.graph();
    let mut later = World::default();
    later.objects[1].1["status"]["addresses"] = json!([]);
    later
        .objects
        .extend(["n3", "n4"].map(|name| node(name, still.contains(&name))));
    let body = having(&json!([{"type": "InternalIP", "address": "10.0.0.2"}]));
    let json = "application/json";
    let (found, questions) = ask(
        &later,
        (&graph, true),
        &extended(),
        "PUT",
        NODE_STATUS,
        json,
        body.as_bytes(),
    );
    assert!(questions.contains(&"node n2".to_owned()), "{questions:?}");
    let asked_last = still
        .first()
        .is_none_or(|name| questions.contains(&format!("node {name}")));
    assert!(asked_last, "{questions:?}");
    if found.starts_with("passes") {
        "passes".to_owned()
    } else {
        found
    }
}
