use std::sync::{Arc, Mutex};

use http::Request;
use serde_json::{Value, json};
use test_case::test_case;

use crate::{
    authorizer::Fallback,
    caller::{Caller, Semantics, User},
    pipeline::{
        outcome::Outcome,
        reviews::{self, Remember, Reviews},
        tests::pipeline,
    },
    request::Head,
};

/// What upstream says to each question: the verb, the resource and the name.
type Upstream = fn(&str, &str, &str) -> Option<bool>;

/// As whom the actor's request is made and by whose leave, or the code and the rule; and what upstream was asked.
async fn act(semantics: Semantics, others: Fallback, upstream: Upstream, request: &str) -> (String, Vec<String>) {
    let mut fixture = pipeline(None);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let questions = Arc::clone(&asked);
    let inner = Arc::get_mut(&mut fixture.0).unwrap();
    inner.acting.rules.semantics = semantics;
    inner.judge.authorizer.others = others;
    let answer = move |review: Value| {
        let attributes = &review["spec"]["resourceAttributes"];
        let word = |key: &str| attributes[key].as_str().unwrap_or_default();
        let (verb, resource, name) = (word("verb"), word("resource"), word("name"));
        questions.lock().unwrap().push(format!("{verb} {resource}"));
        let allowed = upstream(verb, resource, name).ok_or_else(|| "gone".to_owned());
        allowed.map(|allowed| (http::StatusCode::CREATED, json!({"status": {"allowed": allowed}})))
    };
    inner.reviews = Reviews::new(
        Arc::new(move |review| {
            let answer = answer(review);
            Box::pin(async move { answer })
        }),
        Remember::default(),
        reviews::Metrics::default(),
    );
    inner.judge.ward.sync().await.unwrap();
    let (target, headers) = request.split_once('\n').unwrap();
    let mut builder = Request::builder();
    let (method, target) = target.split_once(' ').unwrap();
    builder = builder.method(method).uri(target);
    for (name, value) in headers.lines().filter_map(|line| line.split_once(": ")) {
        builder = builder.header(name, value);
    }
    let head = Head::read(builder.body(()).unwrap().into_parts().0).unwrap();
    let user = User {
        name: "actor".to_owned(),
        ..User::default()
    };
    let caller = Caller::from(user.authenticated());
    let mut outcome = Outcome::begin(&fixture.0, ([127, 0, 0, 1], 1).into(), &fixture.1);
    let acted = fixture.0.act(caller, &head, &mut outcome).await;
    let acted = match acted {
        Ok(caller) => format!("{} by {}", caller.user.name, caller.actor.as_ref().unwrap().leave),
        Err(rejection) => {
            let rule = rejection.rule.map(|rule| format!(" {rule}"));
            format!("{}{}", rejection.code.as_u16(), rule.unwrap_or_default())
        }
    };
    let asked = asked.lock().unwrap().clone();
    (acted, asked)
}

const JANE: &str = "POST /api/v1/namespaces/ns/pods\nacting-as: jane";
const ALL: Upstream = |_, _, _| Some(true);
const NOTHING: Upstream = |_, _, _| Some(false);
const MAY_ACT: Upstream = |verb, _, _| Some(verb == "impersonate");
const MAY_CREATE: Upstream = |verb, _, _| Some(verb == "create");
const GONE: Upstream = |_, _, _| None;
const GONE_LATER: Upstream = |verb, _, _| (verb == "impersonate").then_some(true);

use Fallback::{Deny, Upstream as Forward};
use Semantics::{Intersection, Subject};

/// What costs nothing comes first, and whoever lacks one thing is not asked about the next.
#[test_case(Intersection, Forward, ALL => ("jane by review".to_owned(), 2); "both")]
#[test_case(Intersection, Forward, MAY_ACT => ("403 callers/intersection".to_owned(), 2); "not by itself")]
#[test_case(Intersection, Forward, MAY_CREATE => ("403 callers/impersonation".to_owned(), 1); "only by itself")]
#[test_case(Intersection, Forward, NOTHING => ("403 callers/impersonation".to_owned(), 1); "neither")]
#[test_case(Intersection, Deny, ALL => ("403 callers/others".to_owned(), 0); "not before the gate's own rules")]
#[test_case(Subject, Forward, ALL => ("jane by review".to_owned(), 1); "the subject alone")]
#[test_case(Subject, Forward, MAY_ACT => ("jane by review".to_owned(), 1); "though not by itself")]
#[test_case(Subject, Forward, MAY_CREATE => ("403 callers/impersonation".to_owned(), 1); "not without leave")]
#[test_case(Subject, Deny, ALL => ("jane by review".to_owned(), 1); "the rules are asked about the subject, later")]
#[test_case(Intersection, Forward, GONE => ("503".to_owned(), 1); "nobody knows")]
#[test_case(Intersection, Forward, GONE_LATER => ("503".to_owned(), 2); "nobody knows about the actor")]
#[tokio::test]
async fn whose_power_counts(semantics: Semantics, others: Fallback, upstream: Upstream) -> (String, usize) {
    let (acted, asked) = act(semantics, others, upstream, JANE).await;
    (acted, asked.len())
}

/// Attack 21: to open a connection is to create something.
#[test_case("GET /api/v1/namespaces/ns/pods/p/exec" => vec!["impersonate users", "get pods", "create pods"]; "exec by GET")]
#[test_case("POST /api/v1/namespaces/ns/pods/p/exec" => vec!["impersonate users", "create pods"]; "exec")]
#[test_case("GET /api/v1/nodes/n/proxy/x" => vec!["impersonate users", "get nodes", "create nodes"]; "a proxy")]
#[test_case("GET /api/v1/namespaces/ns/pods/p" => vec!["impersonate users", "get pods"]; "a read")]
#[test_case("PATCH /api/v1/namespaces/ns/pods/p\ncontent-type: application/apply-patch+yaml" => vec!["impersonate users", "patch pods", "create pods"]; "apply, which creates")]
#[test_case("PUT /api/v1/namespaces/ns/endpoints/e" => vec!["impersonate users", "update endpoints", "create endpoints"]; "a PUT that creates")]
#[test_case("POST /apis/rbac.authorization.k8s.io/v1/clusterroles" => vec!["impersonate users", "create clusterroles", "escalate clusterroles"]; "a role")]
#[test_case("POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings" => vec!["impersonate users", "create clusterrolebindings", "bind clusterroles"]; "a binding")]
#[test_case("PATCH /apis/rbac.authorization.k8s.io/v1/namespaces/ns/rolebindings/b" => vec!["impersonate users", "patch rolebindings", "bind roles", "bind clusterroles"]; "a binding in a namespace")]
#[test_case("PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval" => vec!["impersonate users", "update certificatesigningrequests", "approve signers"]; "approval")]
#[test_case("GET /apis/rbac.authorization.k8s.io/v1/clusterroles" => vec!["impersonate users", "list clusterroles"]; "a look at roles")]
#[tokio::test]
async fn what_is_asked(request: &str) -> Vec<String> {
    let (acted, asked) = act(Intersection, Forward, ALL, &format!("{request}\nacting-as: jane")).await;
    assert_eq!(acted, "jane by review");
    asked
}
