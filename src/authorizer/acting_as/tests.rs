use http::Request;
use test_case::test_case;

use super::*;
use crate::{
    authorizer::ExtraResources,
    caller::{Impersonation, Token},
};

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// An actor of this name and these groups, unless it is one by another kind.
fn caller(name: &str, groups: &[&str]) -> Caller {
    let user = User {
        name: name.to_owned(),
        groups: words(groups),
        ..User::default()
    };
    Caller::from(user.authenticated())
}

/// `GET /path`, then `header: value` lines.
fn head(request: &str) -> Head {
    let mut lines = request.split('\n');
    let (method, target) = lines.next().and_then(|line| line.split_once(' ')).unwrap();
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        request = request.header(name, value);
    }
    Head::read(request.body(()).unwrap().into_parts().0).unwrap()
}

/// By whose leave, what is to be asked, or why not.
fn answer(rules: &ActingAs, caller: &Caller, request: &str) -> String {
    let head = head(request);
    let Some(wanted) = rules.wanted(caller, &head) else {
        return "itself".to_owned();
    };
    match rules.answer(caller, &wanted, &head) {
        Answer::Leave(leave) => format!("{leave} as {}", wanted.subject().name),
        Answer::Ask(_) => "ask".to_owned(),
        Answer::No(why) => why.to_owned(),
    }
}

const MACHINE: &str = "nodes, seeds and whoever joins act as nobody else";
const UNKNOWN: &str = "nobody acts as somebody who is not authenticated";
const NODE: &str = "nobody acts as a node or a seed, unless a delegation names it";

#[test_case("jane", &[] => "ask"; "a user")]
#[test_case("system:serviceaccount:ns:a", &[] => "ask"; "a service account")]
#[test_case("actor", &[] => "ask"; "itself is a wish like any other")]
#[test_case("jane", &["system:masters"] => "nobody acts as a member of \"system:masters\""; "masters")]
#[test_case("system:node:n1", &[] => NODE; "a node by its name")]
#[test_case("jane", &["system:nodes"] => NODE; "a node by its group")]
#[test_case("system:serviceaccount:ns:a", &["system:nodes"] => NODE; "a service account among nodes")]
#[test_case("gardener.cloud:system:seed:s", &[] => NODE; "a seed by its name")]
#[test_case("jane", &["gardener.cloud:system:seeds"] => NODE; "a seed by its group")]
#[test_case("system:anonymous", &[] => UNKNOWN; "the anonymous user")]
#[test_case("jane", &["system:unauthenticated"] => UNKNOWN; "somebody unauthenticated")]
fn subjects(name: &str, groups: &[&str]) -> String {
    let groups: String = groups
        .iter()
        .map(|group| format!("\nimpersonate-group: {group}"))
        .collect();
    let request = format!("GET /version\nimpersonate-user: {name}{groups}");
    answer(&ActingAs::DEFAULT, &caller("actor", &[]), &request)
}

/// No delegation and no deputy rule changes that.
#[test_case("system:node:n1", &["system:nodes"] => MACHINE; "a node")]
#[test_case("system:node:n1", &[] => MACHINE; "half a node")]
#[test_case("actor", &["system:nodes"] => MACHINE; "the other half")]
#[test_case("gardener.cloud:system:seed:s", &[] => MACHINE; "a seed")]
#[test_case("system:anonymous", &["system:unauthenticated"] => "who is not authenticated acts as nobody else"; "nobody")]
#[test_case("actor", &[] => "delegations[0] as jane"; "somebody")]
fn actors(name: &str, groups: &[&str]) -> String {
    let rules = ActingAs {
        delegations: vec![delegation(&[name], &["jane"])],
        ..ActingAs::DEFAULT
    };
    let caller = caller(name, groups);
    answer(&rules, &caller, "GET /version\nacting-as: jane")
}

#[test]
fn whoever_joins_acts_as_nobody() {
    let user = User {
        name: "system:bootstrap:a".to_owned(),
        groups: words(&["system:bootstrappers"]),
        ..User::default()
    };
    let caller = Caller::with_token(user, &Token::new("t"));
    assert_eq!(
        answer(&ActingAs::DEFAULT, &caller, "GET /version\nacting-as: jane"),
        MACHINE
    );
}

#[test]
fn there_are_no_chains() {
    let rules = ActingAs {
        delegations: vec![delegation(&["actor", "jane"], &["jane", "joe"])],
        ..ActingAs::DEFAULT
    };
    let head = head("GET /version\nacting-as: jane");
    let actor = caller("actor", &[]);
    let wanted = rules.wanted(&actor, &head).unwrap();
    let jane = wanted.granted(&actor, Leave::Delegation(0), Semantics::Subject);
    assert_eq!(
        answer(&rules, &jane, "GET /version\nacting-as: joe"),
        "somebody acts as it already, and there are no chains"
    );
}

fn delegation(actors: &[&str], subjects: &[&str]) -> Delegation {
    Delegation {
        actors: Actors {
            users: words(actors),
            groups: vec![],
        },
        subjects: Subjects {
            users: words(subjects),
            ..Subjects::default()
        },
        verbs: words(&["*"]),
        resources: None,
    }
}

fn resources(groups: &[&str], resources: &[&str]) -> ExtraResources {
    ExtraResources {
        groups: words(groups),
        resources: words(resources),
        names: vec![],
        namespaces: vec![],
    }
}

const POD: &str = "/api/v1/namespaces/ns/pods/p";

#[test_case(&format!("GET {POD}\nacting-as: jane") => "delegations[0] as jane"; "a user")]
#[test_case(&format!("GET {POD}\nimpersonate-user: jane") => "delegations[0] as jane"; "by the other header")]
#[test_case(&format!("GET {POD}\nacting-as: Jane") => "no delegation lets it"; "in another case")]
#[test_case(&format!("GET {POD}\nimpersonate-user: jane\nimpersonate-group: g") => "no delegation lets it"; "with a group")]
#[test_case(&format!("GET {POD}\nimpersonate-user: jane\nimpersonate-group: system:authenticated") => "delegations[0] as jane"; "with a group that all have")]
#[test_case(&format!("GET {POD}\nimpersonate-user: jane\nimpersonate-uid: 1") => "no delegation lets it"; "with a uid")]
#[test_case(&format!("GET {POD}\nimpersonate-user: jane\nimpersonate-extra-a: 1") => "no delegation lets it"; "with an extra")]
#[test_case(&format!("GET {POD}\nacting-as: system:node:n1") => "delegations[0] as system:node:n1"; "a node that is named")]
#[test_case(&format!("GET {POD}\nimpersonate-user: system:node:n1\nimpersonate-group: system:nodes") => "delegations[0] as system:node:n1"; "with the group that follows")]
#[test_case(&format!("GET {POD}\nimpersonate-user: system:node:n1\nimpersonate-group: system:masters") => "nobody acts as a member of \"system:masters\""; "not as a master")]
#[test_case(&format!("GET {POD}\nacting-as: system:node:n2") => NODE; "a node that is not")]
#[test_case(&format!("GET {POD}\nacting-as: system:serviceaccount:a:x") => "delegations[1] as system:serviceaccount:a:x"; "of a namespace")]
#[test_case(&format!("GET {POD}\nimpersonate-user: system:serviceaccount:a:x\nimpersonate-group: system:serviceaccounts:a\nimpersonate-group: system:serviceaccounts") => "delegations[1] as system:serviceaccount:a:x"; "with its groups")]
#[test_case(&format!("GET {POD}\nimpersonate-user: system:serviceaccount:a:x\nimpersonate-group: system:serviceaccounts:b") => "no delegation lets it"; "with groups of others")]
#[test_case(&format!("GET {POD}\nacting-as: system:serviceaccount:b:x") => "no delegation lets it"; "of another namespace")]
#[test_case(&format!("GET {POD}\nacting-as: system:serviceaccount:a:x:y") => "no delegation lets it"; "not quite of a namespace")]
#[test_case(&format!("GET {POD}\nacting-as: system:serviceaccount:ns:default") => "delegations[2] as system:serviceaccount:ns:default"; "of the request")]
#[test_case(&format!("GET {POD}\nacting-as: system:serviceaccount:ns:other") => "no delegation lets it"; "another of the request")]
#[test_case("GET /api/v1/namespaces/other/pods/p\nacting-as: system:serviceaccount:ns:default" => "no delegation lets it"; "of another request")]
#[test_case("DELETE /api/v1/namespaces/ns\nacting-as: system:serviceaccount:ns:default" => "no delegation lets it"; "a namespace is in none")]
#[test_case("GET /version\nacting-as: system:serviceaccount::default" => "no delegation lets it"; "of no namespace")]
fn delegations(request: &str) -> String {
    let mut of_namespace = delegation(&["actor"], &[]);
    of_namespace.subjects.account_namespaces = words(&["a"]);
    let mut of_request = delegation(&["actor"], &[]);
    of_request.subjects.default_of_request = true;
    let rules = ActingAs {
        by_review: false,
        delegations: vec![
            delegation(&["actor"], &["jane", "system:node:n1"]),
            of_namespace,
            of_request,
        ],
        ..ActingAs::DEFAULT
    };
    assert_ne!(answer(&rules, &caller("another", &[]), request), "itself");
    answer(&rules, &caller("actor", &[]), request)
}

#[test]
fn a_delegation_may_be_for_a_group() {
    let mut by_group = delegation(&[], &["jane"]);
    by_group.actors.groups = words(&["controllers"]);
    let rules = ActingAs {
        delegations: vec![by_group],
        ..ActingAs::DEFAULT
    };
    let ask = |groups: &[&str]| answer(&rules, &caller("actor", groups), "GET /version\nacting-as: jane");
    assert_eq!(ask(&["controllers"]), "delegations[0] as jane");
    assert_eq!(ask(&["controller"]), "ask");
}

/// What a connection is opened for is more than its GET says.
#[test_case(&["*"], "GET /api/v1/namespaces/ns/pods/p/exec" => true; "everything")]
#[test_case(&["get"], "GET /api/v1/namespaces/ns/pods/p" => true; "a read")]
#[test_case(&["get"], "GET /api/v1/namespaces/ns/pods/p/log" => true; "a log")]
#[test_case(&["get"], "GET /api/v1/namespaces/ns/pods/p/exec" => false; "exec by GET")]
#[test_case(&["get"], "GET /api/v1/namespaces/ns/services/s/proxy/x" => false; "a proxy")]
#[test_case(&["create"], "GET /api/v1/namespaces/ns/pods/p/attach" => false; "but for a GET")]
#[test_case(&["create", "get"], "GET /api/v1/namespaces/ns/pods/p/portforward" => true; "both")]
#[test_case(&["delete"], "DELETE /api/v1/namespaces/ns/pods" => false; "many are not one")]
#[test_case(&["get"], "POST /api/v1/namespaces/ns/pods" => false; "a write")]
fn delegated_verbs(verbs: &[&str], request: &str) -> bool {
    let rules = ActingAs {
        by_review: false,
        delegations: vec![Delegation {
            verbs: words(verbs),
            ..delegation(&["actor"], &["jane"])
        }],
        ..ActingAs::DEFAULT
    };
    let request = format!("{request}\nacting-as: jane");
    answer(&rules, &caller("actor", &[]), &request).starts_with("delegations")
}

#[test_case("GET /api/v1/namespaces/ns/pods/p" => true; "a resource")]
#[test_case("GET /api/v1/namespaces/ns/pods/p/log" => true; "a subresource that is named")]
#[test_case("GET /api/v1/namespaces/ns/pods/p/status" => false; "one that is not")]
#[test_case("GET /apis/apps/v1/namespaces/ns/pods/p" => false; "another group")]
#[test_case("GET /version" => false; "a path")]
fn delegated_resources(request: &str) -> bool {
    let rules = ActingAs {
        by_review: false,
        delegations: vec![Delegation {
            resources: Some(resources(&[""], &["pods", "pods/log"])),
            ..delegation(&["actor"], &["jane"])
        }],
        ..ActingAs::DEFAULT
    };
    let request = format!("{request}\nacting-as: jane");
    answer(&rules, &caller("actor", &[]), &request).starts_with("delegations")
}

const AS_DEFAULT: &str = "deputies[0] as system:serviceaccount:ns:default";

#[test_case("POST /api/v1/namespaces/ns/pods" => AS_DEFAULT; "create")]
#[test_case("PUT /apis/apps/v1/namespaces/ns/replicasets/r/scale" => AS_DEFAULT; "update")]
#[test_case("PATCH /api/v1/namespaces/ns/pods/p/status" => AS_DEFAULT; "patch")]
#[test_case("DELETE /api/v1/namespaces/ns/pods/p" => AS_DEFAULT; "delete")]
#[test_case("DELETE /api/v1/namespaces/ns/pods" => AS_DEFAULT; "delete many")]
#[test_case("POST /api/v1/namespaces/ns/pods/p/exec" => AS_DEFAULT; "exec")]
#[test_case("GET /api/v1/namespaces/ns/pods/p/exec" => AS_DEFAULT; "exec by GET")]
#[test_case("GET /api/v1/namespaces/ns/services/s/proxy" => AS_DEFAULT; "a proxy")]
#[test_case("GET /api/v1/namespaces/ns/pods/p" => "itself"; "get")]
#[test_case("GET /api/v1/namespaces/ns/pods?watch=1" => "itself"; "watch")]
#[test_case("GET /api/v1/pods" => "itself"; "list")]
#[test_case("DELETE /api/v1/nodes/n" => "itself"; "in no namespace")]
#[test_case("DELETE /api/v1/namespaces/ns" => "itself"; "a namespace")]
#[test_case("PUT /api/v1/namespaces/ns/finalize" => "itself"; "a namespace that ends")]
#[test_case("POST /metrics" => "itself"; "a path")]
#[test_case("POST /api/v1/namespaces/a:b/pods" => "the namespace has no service accounts"; "a namespace that cannot be")]
#[test_case("POST /api/v1/namespaces/A/pods" => "the namespace has no service accounts"; "a namespace in capitals")]
#[test_case("POST /api/v1/namespaces/ns/pods\nacting-as: jane" => "ask"; "its own word comes first")]
fn deputies(request: &str) -> String {
    let rules = ActingAs {
        deputies: vec![deputy(
            &["create", "update", "patch", "delete"],
            resources(&["*"], &["*"]),
        )],
        ..ActingAs::DEFAULT
    };
    let other = answer(&rules, &caller("another", &[]), request);
    assert!(["itself", "ask"].contains(&other.as_str()), "{other}");
    answer(&rules, &caller("actor", &[]), request)
}

#[test_case("POST /api/v1/namespaces/ns/pods" => "deputies[0] as system:serviceaccount:ns:builder"; "as it says")]
#[test_case("DELETE /api/v1/namespaces/ns/pods/p" => "itself"; "another verb")]
#[test_case("POST /api/v1/namespaces/ns/secrets" => "itself"; "another resource")]
#[test_case("POST /api/v1/namespaces/ns/pods/p/eviction" => "itself"; "a subresource")]
#[test_case("POST /api/v1/namespaces/else/pods" => "itself"; "another namespace")]
fn deputies_for_a_part(request: &str) -> String {
    let only = ExtraResources {
        namespaces: words(&["ns"]),
        ..resources(&[""], &["pods"])
    };
    let rules = ActingAs {
        deputies: vec![Deputy {
            service_account: "builder".to_owned(),
            ..deputy(&["create"], only)
        }],
        ..ActingAs::DEFAULT
    };
    answer(&rules, &caller("actor", &[]), request)
}

fn deputy(verbs: &[&str], resources: ExtraResources) -> Deputy {
    Deputy {
        user: "actor".to_owned(),
        service_account: "default".to_owned(),
        verbs: words(verbs),
        resources,
    }
}

/// As upstream's impersonation filter has it, but that nodes have the group that follows from their names.
#[test_case("acting-as: jane" => "system:authenticated"; "a user")]
#[test_case("impersonate-user: jane\nimpersonate-group: a\nimpersonate-group: b" => "a b system:authenticated"; "groups")]
#[test_case("impersonate-user: jane\nimpersonate-group: system:authenticated" => "system:authenticated"; "not twice")]
#[test_case("acting-as: system:serviceaccount:ns:a" => "system:serviceaccounts system:serviceaccounts:ns system:authenticated"; "a service account")]
#[test_case("impersonate-user: system:serviceaccount:ns:a\nimpersonate-uid: 1" => "system:serviceaccounts system:serviceaccounts:ns system:authenticated"; "with a uid")]
#[test_case("impersonate-user: system:serviceaccount:ns:a\nimpersonate-group: g" => "g system:authenticated"; "groups of its own")]
#[test_case("acting-as: system:serviceaccount:ns:a:b" => "system:authenticated"; "no service account")]
#[test_case("acting-as: system:node:n1" => "system:nodes system:authenticated"; "a node")]
fn groups(wish: &str) -> String {
    let head = head(&format!("GET /version\n{wish}"));
    let wanted = ActingAs::DEFAULT.wanted(&caller("actor", &[]), &head);
    wanted.unwrap().subject().groups.join(" ")
}

#[test]
fn the_subject_is_told_with_its_actor_and_what_that_is_known_by() {
    let certificate = std::sync::Arc::new(crate::caller::Certificate::new(&[7], [1; 32]));
    let actor = Caller {
        certificate: Some(certificate),
        ..caller("actor", &["g"])
    };
    let head = head("GET /version\nimpersonate-user: jane\nimpersonate-extra-a: 1");
    let wanted = ActingAs::DEFAULT.wanted(&actor, &head).unwrap();
    let leave = Leave::Review(Impersonation::Legacy);
    let jane = wanted.granted(&actor, leave, Semantics::Intersection);
    assert_eq!(jane.user.name, "jane");
    let extra = [("a", "1"), ("acting-as.scopegate.dev/actor", "actor")];
    assert_eq!(
        jane.user.extra,
        extra.map(|(key, value)| (key.to_owned(), words(&[value])))
    );
    assert_eq!(jane.certificate, actor.certificate);
    assert_eq!(jane.asker().name, "actor");
    assert_eq!(jane.kind, Kind::Other);
}

/// The questions of each way, `|` between ways; of those that may be answered at once, that first.
fn asked(request: &str, constrained: bool) -> Vec<String> {
    let rules = ActingAs {
        constrained,
        ..ActingAs::DEFAULT
    };
    let (actor, head) = (caller("actor", &[]), head(request));
    let wanted = rules.wanted(&actor, &head).unwrap();
    let Answer::Ask(ways) = rules.answer(&actor, &wanted, &head) else {
        panic!("nothing is asked");
    };
    let mut asked = Vec::new();
    for way in ways {
        asked.push(format!("{:?}", way.mode));
        for step in way.steps {
            asked.extend(step.at_once.map(|review| format!("at once: {}", review.action)));
            asked.extend(step.each.iter().map(|review| review.action.to_string()));
        }
    }
    asked
}

const WISH: &str =
    "impersonate-user: jane\nimpersonate-uid: 7\nimpersonate-group: g\nimpersonate-extra-acme.com%2Fk: v";

#[test]
fn reviews_of_old() {
    let asked = asked(&format!("GET {POD}\n{WISH}"), false);
    let expected = [
        "Legacy",
        "impersonate users \"jane\"",
        "impersonate uids in authentication.k8s.io \"7\"",
        "impersonate groups \"g\"",
        "impersonate userextras/acme.com/k in authentication.k8s.io \"v\"",
    ];
    assert_eq!(asked, expected);
}

#[test]
fn constrained_reviews_come_first() {
    let asked = asked(&format!("GET {POD}\n{WISH}"), true);
    let expected = [
        "UserInfo",
        "impersonate-on:user-info:get pods \"ns/p\"",
        "impersonate:user-info users in authentication.k8s.io \"jane\"",
        "impersonate:user-info uids in authentication.k8s.io \"7\"",
        "impersonate:user-info groups in authentication.k8s.io \"g\"",
        "impersonate:user-info userextras/acme.com/k in authentication.k8s.io \"v\"",
        "Legacy",
    ];
    assert_eq!(asked[..7], expected);
}

#[test_case("acting-as: system:serviceaccount:a:b", &[
    "ServiceAccount", "impersonate-on:serviceaccount:list pods in namespace \"ns\"",
    "impersonate:serviceaccount serviceaccounts in authentication.k8s.io \"a/b\"",
    "Legacy", "impersonate serviceaccounts \"a/b\""]; "a service account")]
#[test_case("impersonate-user: system:serviceaccount:a:b\nimpersonate-uid: 1", &[
    "Legacy", "impersonate serviceaccounts \"a/b\"", "impersonate uids in authentication.k8s.io \"1\""]; "more than its name")]
#[test_case("impersonate-user: jane\nimpersonate-extra-scopes: v", &[
    "Legacy", "impersonate users \"jane\"", "impersonate userextras/scopes in authentication.k8s.io \"v\""]; "a key without a domain")]
#[test_case("impersonate-user: jane\nimpersonate-extra-a.b%2F%41: v", &[
    "Legacy", "impersonate users \"jane\"", "impersonate userextras/a.b/A in authentication.k8s.io \"v\""]; "a key with capitals")]
fn reviews(wish: &str, expected: &[&str]) {
    assert_eq!(
        asked(&format!("GET /api/v1/namespaces/ns/pods\n{wish}"), true),
        expected
    );
}

#[test]
fn many_groups_may_be_allowed_at_once() {
    let groups = ["a", "b", "c", "d"]
        .map(|group| format!("\nimpersonate-group: {group}"))
        .concat();
    let asked = asked(&format!("GET /version\nimpersonate-user: jane{groups}"), true);
    let at_once = "at once: impersonate:user-info groups in authentication.k8s.io \"*\"";
    assert_eq!(asked[1], "impersonate-on:user-info:get /version");
    assert_eq!(asked[3], at_once);
    assert_eq!(
        asked.iter().filter(|asked| asked.starts_with("at once")).count(),
        1,
        "not of old"
    );
}
