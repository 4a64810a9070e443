use std::sync::Arc;

use http::{Method, Request};
use test_case::test_case;

use super::*;
use crate::{
    caller::{Caller, Leave, Semantics, User},
    request::{Head, RequestInfo},
};

const KEY: [u8; 32] = [0xab; 32];

fn info(method: &str, target: &str) -> RequestInfo {
    let method: Method = method.parse().unwrap();
    let request = Request::builder().method(method).uri(target).body(()).unwrap();
    Head::read(request.into_parts().0).unwrap().info().as_ref().clone()
}

fn node(name: &str) -> Caller {
    Caller::from(User {
        name: format!("system:node:{name}"),
        groups: vec!["system:nodes".to_owned()],
        ..User::default()
    })
}

fn entry(target: Target, mode: Mode) -> Entry {
    Entry {
        target,
        mode,
        reason: "ticket 4711".to_owned(),
        by: "alice".to_owned(),
        since: "2026-03-02T06:00:00Z".parse().unwrap(),
        until: None,
    }
}

/// Whether n1 may do it under Deny, HeartbeatOnly and ReadOnly.
#[test_case("GET", "/api/v1/nodes/n1" => "-hr"; "its own node")]
#[test_case("GET", "/api/v1/nodes/n2" => "--r"; "another node")]
#[test_case("GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dn1" => "--r"; "its own node in a list")]
#[test_case("GET", "/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Dn1" => "--r"; "its own node in a watch")]
#[test_case("PATCH", "/api/v1/nodes/n1/status" => "-h-"; "status patched")]
#[test_case("PUT", "/api/v1/nodes/n1/status" => "-h-"; "status put")]
#[test_case("PATCH", "/api/v1/nodes/n2/status" => "---"; "status of another")]
#[test_case("PATCH", "/api/v1/nodes/n1" => "---"; "the node itself")]
#[test_case("POST", "/api/v1/nodes" => "---"; "a new node")]
#[test_case("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1" => "-hr"; "lease read")]
#[test_case("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1" => "-h-"; "lease renewed")]
#[test_case("PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1" => "-h-"; "lease patched")]
#[test_case("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases" => "-h-"; "lease made anew")]
#[test_case("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1" => "---"; "lease deleted")]
#[test_case("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2" => "---"; "lease of another")]
#[test_case("PUT", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/n1" => "---"; "lease elsewhere")]
#[test_case("PUT", "/apis/example.com/v1/namespaces/kube-node-lease/leases/n1" => "---"; "lease of another group")]
#[test_case("GET", "/api/v1/namespaces/ns/secrets/s" => "--r"; "secret")]
#[test_case("GET", "/api/v1/namespaces/ns/pods/p/log" => "--r"; "log")]
#[test_case("GET", "/version" => "--r"; "path")]
#[test_case("HEAD", "/version" => "--r"; "head of a path")]
#[test_case("POST", "/version" => "---"; "post to a path")]
#[test_case("OPTIONS", "/api/v1/pods" => "---"; "no verb")]
#[test_case("POST", "/api/v1/namespaces/ns/serviceaccounts/sa/token" => "---"; "token")]
#[test_case("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews" => "---"; "self review")]
#[test_case("DELETE", "/api/v1/namespaces/ns/pods/p" => "---"; "delete")]
#[test_case("GET", "/api/v1/namespaces/ns/pods/p/exec" => "---"; "exec by websocket")]
#[test_case("GET", "/api/v1/namespaces/ns/pods/p/attach" => "---"; "attach by websocket")]
#[test_case("GET", "/api/v1/namespaces/ns/pods/p/portforward" => "---"; "port-forward by websocket")]
#[test_case("GET", "/api/v1/nodes/n2/proxy/run/ns/p/c" => "---"; "through a proxy")]
#[test_case("GET", "/api/v1/namespaces/ns/services/s/proxy/x" => "---"; "through a service")]
#[test_case("GET", "/api/v1/proxy/nodes/n2/x" => "---"; "through a proxy in the old form")]
fn what_is_left(method: &str, target: &str) -> String {
    let (caller, info) = (node("n1"), info(method, target));
    let lets = |mode| {
        let quarantine: Quarantine = [entry(Target::Node("n1".to_owned()), mode)].into_iter().collect();
        quarantine.stops(&caller, &info).is_none()
    };
    let marks = [(Mode::Deny, 'd'), (Mode::HeartbeatOnly, 'h'), (Mode::ReadOnly, 'r')];
    marks
        .map(|(mode, mark)| if lets(mode) { mark } else { '-' })
        .iter()
        .collect()
}

fn read() -> Asks {
    Asks {
        reads: true,
        heartbeat: false,
    }
}

fn with_certificate(caller: Caller, serial: &[u8], public_key: [u8; 32]) -> Caller {
    Caller {
        certificate: Some(Arc::new(Certificate::new(serial, public_key))),
        ..caller
    }
}

/// Whoever acts as somebody is held as if it did not, and so is the one it acts as.
#[test]
fn an_actor_is_held_too() {
    let acted = |subject: &str, by: &Caller| {
        let subject = User {
            name: subject.to_owned(),
            ..User::default()
        };
        Caller::acted(subject, by, Leave::Delegation(0), Semantics::Subject)
    };
    let free = Caller::from(User::default());
    let quarantine = |node: Option<&str>, serial: Option<&str>| {
        let target = Target::read(node, serial, None).unwrap();
        Quarantine::from_iter([entry(target, Mode::Deny)])
    };
    let by_node = quarantine(Some("n1"), None);
    assert!(by_node.is_about(&acted("jane", &bound_to("n1"))));
    assert!(!by_node.is_about(&acted("jane", &bound_to("n2"))));
    assert!(by_node.is_about(&acted("system:node:n1", &free)));
    let by_serial = quarantine(None, Some("0a"));
    assert!(by_serial.is_about(&acted("jane", &with_certificate(free.clone(), &[10], [0; 32]))));
    assert!(!by_serial.is_about(&acted("jane", &free)));
}

fn bound_to(node: &str) -> Caller {
    Caller::from(User {
        name: "system:serviceaccount:ns:sa".to_owned(),
        extra: vec![(
            "authentication.kubernetes.io/node-name".to_owned(),
            vec![node.to_owned()],
        )],
        ..User::default()
    })
}

#[test_case(&node("n1"), &[true, false, false]; "a node")]
#[test_case(&node("n2"), &[false, false, false]; "another node")]
#[test_case(&node("n1x"), &[false, false, false]; "a longer name")]
#[test_case(&Caller::from(User { name: "system:node:n1".to_owned(), ..User::default() }), &[true, false, false]; "its name without the group")]
#[test_case(&bound_to("n1"), &[true, false, false]; "a token that is bound to it")]
#[test_case(&bound_to("n2"), &[false, false, false]; "a token that is bound to another")]
#[test_case(&with_certificate(node("n2"), &[0, 0x0a, 0x1b], KEY), &[false, true, true]; "a certificate")]
#[test_case(&with_certificate(node("n2"), &[0x0a, 0x1c], [0; 32]), &[false, false, false]; "another certificate")]
fn who_is_held(caller: &Caller, expected: &[bool; 3]) {
    let targets = [
        Target::read(Some("system:node:n1"), None, None),
        Target::read(None, Some("00:0A:1B"), None),
        Target::read(None, None, Some(&format!("sha256:{}", "AB".repeat(32)))),
    ];
    for (target, held) in targets.into_iter().zip(expected) {
        let target = target.unwrap();
        let quarantine: Quarantine = [entry(target.clone(), Mode::Deny)].into_iter().collect();
        assert_eq!(quarantine.against(caller, read()).is_some(), *held, "{target}");
    }
}

/// Whoever is held twice has what both leave.
#[test]
fn every_entry_counts() {
    let caller = with_certificate(node("n1"), &[7], KEY);
    let quarantine: Quarantine = [
        entry(Target::Node("n1".to_owned()), Mode::ReadOnly),
        entry(Target::Serial(vec![7]), Mode::HeartbeatOnly),
    ]
    .into_iter()
    .collect();
    assert!(quarantine.against(&caller, read()).is_some());
    let heartbeat = Asks {
        reads: false,
        heartbeat: true,
    };
    assert!(quarantine.against(&caller, heartbeat).is_some());
    let both = Asks {
        reads: true,
        heartbeat: true,
    };
    assert!(quarantine.against(&caller, both).is_none(), "to read its own lease");
}

#[test_case(None, None, None => "exactly one of node, serial and publicKey has to be given"; "none")]
#[test_case(Some("n"), Some("1"), None => "exactly one of node, serial and publicKey has to be given"; "two")]
#[test_case(Some(""), None, None => "\"\" is not the name of a node"; "no name")]
#[test_case(Some("system:node:"), None, None => "\"\" is not the name of a node"; "a prefix alone")]
#[test_case(Some("a\nb"), None, None => "\"a\\nb\" is not the name of a node"; "a line break")]
#[test_case(None, Some("xyz"), None => "\"xyz\" is not a serial number in hexadecimal"; "no digits")]
#[test_case(None, Some(""), None => "\"\" is not a serial number in hexadecimal"; "no serial")]
#[test_case(None, Some("000"), None => "\"000\" is not a serial number in hexadecimal"; "zero")]
#[test_case(None, None, Some("abcd") => "\"abcd\" is not the SHA-256 of a public key, which has 64 hexadecimal digits"; "a short digest")]
fn targets_that_are_none(node: Option<&str>, serial: Option<&str>, key: Option<&str>) -> String {
    Target::read(node, serial, key).unwrap_err().to_string()
}

#[test]
fn serial_numbers_are_numbers() {
    let same = ["0a1b", "A1B", "00:0a:1b", "0x0A1B", "serial=0A1B"];
    for serial in same {
        assert_eq!(
            Target::read(None, Some(serial), None),
            Ok(Target::Serial(vec![0x0a, 0x1b])),
            "{serial}"
        );
    }
}

#[test]
fn a_list_is_read_as_it_was_written() {
    let mut list = List::default();
    let until = "2026-03-02T08:00:00Z".parse().unwrap();
    list.apply(&Change::Hold(Entry {
        until: Some(until),
        ..entry(Target::Node("n1".to_owned()), Mode::ReadOnly)
    }));
    list.apply(&Change::Hold(entry(Target::Serial(vec![1, 2]), Mode::Deny)));
    list.apply(&Change::Hold(entry(Target::PublicKey(KEY), Mode::HeartbeatOnly)));
    let text = list.write().unwrap();
    assert_eq!(List::parse(&text).unwrap(), list, "{text}");
    let told = list.get(&Target::Node("n1".to_owned())).unwrap().to_string();
    assert_eq!(
        told,
        "node n1 is in quarantine (ReadOnly) since 2026-03-02T06:00:00Z until 2026-03-02T08:00:00Z, by alice: ticket 4711"
    );
    let mut later = list.clone();
    later.expire(until);
    assert_eq!(later.entries().count(), 2);
    let entry = later.get(&Target::PublicKey(KEY)).unwrap().clone();
    later.apply(&Change::Lift(Entry {
        reason: "another".to_owned(),
        ..entry.clone()
    }));
    assert_eq!(later.entries().count(), 2, "it is another one now");
    later.apply(&Change::Lift(entry));
    assert_eq!(later.entries().count(), 1);
}

/// As people write it who have no gate at hand.
#[test]
fn a_list_by_hand() {
    let text = "apiVersion: scopegate.dev/v1alpha1\nkind: QuarantineList\nitems:\n- {node: n1, mode: Deny}\n- {serial: \"0a:1b\", mode: ReadOnly}\n";
    let list = List::parse(text).unwrap();
    let targets: Vec<String> = list.entries().map(|entry| entry.target.to_string()).collect();
    assert_eq!(targets, ["node n1", "serial 0a1b"]);
    let entry = list.get(&Target::Node("n1".to_owned())).unwrap();
    assert_eq!(entry.to_string(), "node n1 is in quarantine (Deny)");
}

const HEAD: &str = "apiVersion: scopegate.dev/v1alpha1\nkind: QuarantineList\n";

#[test_case(" \n"; "nothing")]
#[test_case("items: []" ; "no kind")]
#[test_case(&format!("{HEAD}items: [{{node: n, mode: deny}}]"); "another mode")]
#[test_case(&format!("{HEAD}items: [{{mode: Deny}}]"); "nobody")]
#[test_case(&format!("{HEAD}items: [{{node: n, mode: Deny, unti: x}}]"); "an unknown key")]
#[test_case(&format!("{HEAD}items: [{{node: n, mode: Deny}}, {{node: 'system:node:n', mode: ReadOnly}}]"); "one twice")]
#[test_case(&format!("{HEAD}items: [{{node: n, mode: Deny, until: tomorrow}}]"); "no time")]
#[test_case("{\"items\": ["; "no document")]
fn lists_that_are_none(text: &str) {
    assert!(List::parse(text).is_err(), "{text}");
}

#[test]
fn a_list_has_an_end() {
    let mut list = List::default();
    for number in 0..10_000 {
        list.apply(&Change::Hold(entry(Target::Node(format!("node-{number}")), Mode::Deny)));
    }
    assert!(list.write().unwrap_err().to_string().contains("lift some"));
}
