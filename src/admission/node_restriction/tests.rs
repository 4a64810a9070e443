//! The rules, asked as the pipeline asks them: what they want to know is answered from a small cluster, and they are asked again.
//! Every request is judged with a graph that knows the cluster and with one that knows nothing, and every object that is sent is
//! sent as JSON and as protobuf. The answer has to be the same.

mod certificate;
mod claim;
pub(in crate::admission) mod encode;
mod events;
mod mirror;
mod modes;
mod node;
mod owned;
mod pod;
mod restricted;
mod token;
mod world;

use std::sync::Arc;

use http::{Method, Request, header::CONTENT_TYPE};
use test_case::test_case;

use self::world::World;
use super::*;
use crate::{
    admission::{Admission, Tie, Told, write::Writer},
    api::quote,
    caller::User,
    graph::Snapshot,
    protobuf::{self, Envelope},
    request::{Head, Target},
    review::Action,
    rules::Finding,
};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const APPLY: &str = "application/apply-patch+yaml";
const PATCHES: &[(&str, &str)] = &[
    ("json", "application/json-patch+json"),
    ("merge", "application/merge-patch+json"),
    ("strategic", "application/strategic-merge-patch+json"),
];

/// Those of upstream, all enforced.
fn upstream() -> Admission {
    Admission {
        node_restriction: NodeRestriction {
            audiences: true,
            any_certificate: false,
            pod_certificates: true,
            apply: false,
            mirror_pod_owner: MirrorPodOwner::Upstream,
            extended: Extended::default(),
        },
        seeds: None,
        validated: None,
        modes: Modes::UPSTREAM,
    }
}

fn upstream_with(change: impl FnOnce(&mut NodeRestriction)) -> Admission {
    let mut rules = upstream();
    change(&mut rules.node_restriction);
    rules
}

/// What becomes of a request of node n1. Of one that passes: what has been done to it.
fn outcome(method: &str, uri: &str, body: &str) -> String {
    told(&World::default(), &upstream(), method, uri, body).0
}

/// The same for a patch.
fn patched(kind: &str, uri: &str, body: &str) -> String {
    patched_by(&upstream(), kind, uri, body)
}

fn patched_by(rules: &Admission, kind: &str, uri: &str, body: &str) -> String {
    let world = World::default();
    let content_type = PATCHES.iter().find(|(name, _)| *name == kind).map_or(APPLY, |(_, t)| t);
    let knows = ask(
        &world,
        (&world.graph(), true),
        rules,
        "PATCH",
        uri,
        content_type,
        body.as_bytes(),
    );
    let ignorant = ask(
        &world,
        (&world.graph(), false),
        rules,
        "PATCH",
        uri,
        content_type,
        body.as_bytes(),
    );
    assert_eq!(knows.0, ignorant.0);
    knows.0
}

/// What becomes of a request, and what was asked for it if the graph knows everything.
fn told(world: &World, rules: &Admission, method: &str, uri: &str, body: &str) -> (String, Vec<String>) {
    let graph = world.graph();
    let json = "application/json";
    let (found, questions) = ask(world, (&graph, true), rules, method, uri, json, body.as_bytes());
    let ignorant = ask(world, (&graph, false), rules, method, uri, json, body.as_bytes());
    assert_eq!(ignorant.0, found, "with a graph that knows nothing");
    if !body.is_empty() {
        let encoded = encode::body(method, uri, body);
        let binary = ask(world, (&graph, true), rules, method, uri, PROTOBUF, &encoded);
        assert_eq!(binary.0, found, "as protobuf");
    }
    (found, questions)
}

fn ask(
    world: &World,
    graph: (&Snapshot, bool),
    rules: &Admission,
    method: &str,
    uri: &str,
    content_type: &str,
    body: &[u8],
) -> (String, Vec<String>) {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header(CONTENT_TYPE, content_type);
    let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
    let Target::Resource(request) = &head.info().target else {
        panic!("{uri} is no resource");
    };
    let user = Arc::new(User {
        name: "system:node:n1".to_owned(),
        ..User::default()
    });
    let operation = Operation::of(&head.info().verb).unwrap();
    let modes = &rules.modes;
    let look = rules.node_restriction.look("n1", &head.info().verb, request, modes);
    let read = || {
        let writer = Writer {
            node: "n1",
            user: &user,
            modes: modes.enforced(),
        };
        match look {
            Look::AtBody | Look::AtSmallBody => Write::read(writer, operation, (&head, request), body),
            Look::Away | Look::AtHead => Write::unread(writer, operation, (&head, request)),
        }
    };
    let mut asked = Asked {
        world,
        request,
        content_type,
        told: Told::default(),
        questions: Vec::new(),
    };
    if look == Look::Away {
        return ("away".to_owned(), asked.questions);
    }
    let enforced = rules.node_restriction.enforces("n1", request, modes);
    let mut passed = loop {
        let known = Known::new(graph, true, &asked.told);
        let judged = match read() {
            Ok(write) if enforced => rules.node_restriction.judge(&write, &known),
            Err(rejection) if enforced => Err(rejection.into()),
            _ => Ok(Edit::default()),
        };
        let no = match (judged, known.consulted()) {
            (Ok(edit), _) => break passed(&edit, content_type, request),
            (Err(No::Refused(rejection)), consulted) if consulted.is_empty() => {
                let details = rejection.details.as_deref();
                let kind = details.map(|details| details.kind.as_str()).unwrap_or_default();
                let refused = format!("{} {} {kind}", rejection.code.as_u16(), rejection.message);
                return (refused.trim_end().to_owned(), asked.questions);
            }
            (Err(No::Refused(_)), consulted) => No::Unsure(consulted),
            (Err(no), _) => no,
        };
        asked.answer(no, "");
    };
    // And now for the record.
    loop {
        let known = Known::new(graph, true, &asked.told);
        let Ok(write) = read() else {
            return (passed + " [unread]", asked.questions);
        };
        let finds = rules.node_restriction.find(write, modes, &known);
        if let Some(no) = finds.wants {
            asked.answer(no, "for the record: ");
            continue;
        }
        for Finding { rule, mode, message } in finds.notes.findings {
            passed += &format!(" [{mode} {rule}: {message}]");
        }
        if finds.unread {
            passed += " [unread]";
        }
        return (passed, asked.questions);
    }
}

/// What was asked of upstream, and what it said.
struct Asked<'w> {
    world: &'w World,
    request: &'w ResourceRequest,
    content_type: &'w str,
    told: Told,
    questions: Vec<String>,
}

impl Asked<'_> {
    fn answer(&mut self, no: No, why: &str) {
        assert!(self.questions.len() < 12, "{:?}", self.questions);
        let mut ask = |question: String| self.questions.push(format!("{why}{question}"));
        match no {
            No::Refused(rejection) => panic!("{rejection:?} is no question"),
            No::Stored => {
                ask("stored".to_owned());
                self.told.stored = Some(self.world.stored(self.request));
            }
            No::Reviews(reviews) => {
                for review in reviews {
                    let Action::Resource(action) = &review.action else {
                        panic!("{review:?} is about no resource");
                    };
                    ask(format!("audience {}", quote(&action.resource)));
                    let granted = action.resource == "granted";
                    self.told.reviews.push((review, granted));
                }
            }
            No::Rehearse(edit) => {
                ask(format!("rehearse {}", passed(&edit, self.content_type, self.request)));
                self.told.rehearsed = Some(self.world.rehearsed.clone());
            }
            No::Read(object) => panic!("{object} is nothing that a rule for nodes asks for"),
            No::Unsure(wanted) => {
                for wanted in wanted {
                    ask(wanted.key().to_string());
                    let fact = self.world.fact(wanted.key());
                    self.told.objects.push((wanted, fact));
                }
            }
        }
    }
}

/// What is forwarded, in words that do not tell one encoding from the other.
fn passed(edit: &Edit, content_type: &str, request: &ResourceRequest) -> String {
    let mut words = vec![match edit.tie {
        Tie::None => "passes".to_owned(),
        Tie::Uid(_) => "passes, tied to the object".to_owned(),
        Tie::Version(_) => "passes, tied to the version".to_owned(),
    }];
    words.extend(edit.query.clone());
    if let Some(body) = &edit.body {
        let json = match content_type {
            PROTOBUF => {
                let message = encode::message(
                    request,
                    matches!(edit.tie, Tie::Uid(_)) && request.subresource.is_empty(),
                );
                let json = Envelope::read(body).unwrap().object(message).unwrap();
                json.to_vec()
            }
            _ => body.clone(),
        };
        words.push(String::from_utf8(json).unwrap());
    }
    words.join(" ")
}

/// Another object, with a value at a path of it.
fn with(object: &str, path: &[&str], value: serde_json::Value) -> String {
    let mut object: serde_json::Value = serde_json::from_str(object).unwrap();
    let mut at = &mut object;
    for key in path {
        at = match key.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[*key],
        };
    }
    *at = value;
    object.to_string()
}

#[test_case("POST", "/api/v1/nodes/n1" => "405 the server does not allow this method on the requested resource"; "create by name")]
#[test_case("PUT", "/api/v1/nodes" => "405 the server does not allow this method on the requested resource"; "update of all")]
#[test_case("PUT", "/api/v1/namespaces/ns/configmaps/c" => "away"; "no rule is about it")]
#[test_case("POST", "/api/v1/namespaces/ns/pods/p2/exec" => "away"; "a connection")]
#[test_case("POST", "/api/v1/namespaces/ns/serviceaccounts" => "away"; "service accounts themselves")]
fn places(method: &str, uri: &str) -> String {
    let world = World::default();
    ask(
        &world,
        (&world.graph(), true),
        &upstream(),
        method,
        uri,
        "application/json",
        b"{}",
    )
    .0
}

#[test_case("/api/v1/nodes" => r#"nodes "n1" is forbidden: could not determine node from user "system:node:""#; "nodes")]
#[test_case("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    => r#"selfsubjectaccessreviews.authorization.k8s.io "Unknown" is forbidden: could not determine node from user "system:node:""#;
    "what no rule is about")]
fn a_node_without_a_name_may_nothing(uri: &str) -> String {
    let request = Request::post(uri).body(()).unwrap();
    let head = Head::read(request.into_parts().0).unwrap();
    let Target::Resource(request) = &head.info().target else {
        panic!("no resource");
    };
    let user = Arc::new(User {
        name: "system:node:".to_owned(),
        ..User::default()
    });
    let body = br#"{"metadata": {"name": "n1"}}"#;
    // Whatever else is only recorded: no other rule can be asked about it.
    let mut rules = upstream();
    rules.modes.dry_run();
    let modes = &rules.modes;
    assert_ne!(
        rules.node_restriction.look("", &head.info().verb, request, modes),
        Look::Away
    );
    let writer = Writer {
        node: "",
        user: &user,
        modes: *modes,
    };
    let write = Write::read(writer, Operation::Create, (&head, request), body).unwrap();
    let told = Told::default();
    let judged = rules
        .node_restriction
        .judge(&write, &Known::new((&Snapshot::default(), true), true, &told));
    let Err(No::Refused(rejection)) = judged else {
        panic!("{judged:?}");
    };
    rejection.message.into_owned()
}

/// Bodies that could be read in two ways, or not at all.
#[test_case("application/json", br#"{"metadata": {"name": "n1"}, "metadata": {}}"# => 400; "key twice")]
#[test_case("application/json", br#"{"metadata": {"name": "n1"}} {}"# => 400; "two objects")]
#[test_case("application/json", br#"[]"# => 400; "no object")]
#[test_case("application/json", br#""# => 400; "nothing")]
#[test_case("application/json", br#"{"kind": "Pod", "metadata": {"name": "n1"}}"# => 400; "another kind")]
#[test_case("application/json", br#"{"apiVersion": "v2", "metadata": {"name": "n1"}}"# => 400; "another version")]
#[test_case("application/json", br#"{"metadata": {"name": 1}}"# => 400; "name that is no text")]
#[test_case("application/json", br#"{"metadata": []}"# => 400; "metadata that is no object")]
#[test_case("application/json", b"k8s\0" => 400; "protobuf for JSON")]
#[test_case("application/json", b"\x1f\x8b\x08\x00" => 400; "compressed")]
#[test_case("application/yaml", b"metadata: {name: n1}" => 415; "yaml")]
#[test_case("application/cbor", b"\xa0" => 415; "cbor")]
#[test_case("text/plain", br#"{"metadata": {"name": "n1"}}"# => 415; "something else")]
#[test_case(PROTOBUF, br#"{"metadata": {"name": "n1"}}"# => 400; "JSON for protobuf")]
fn bad_bodies(content_type: &str, body: &[u8]) -> u16 {
    let world = World::default();
    let (found, _) = ask(
        &world,
        (&world.graph(), true),
        &upstream(),
        "POST",
        "/api/v1/nodes",
        content_type,
        body,
    );
    found.split(' ').next().unwrap().parse().unwrap()
}
