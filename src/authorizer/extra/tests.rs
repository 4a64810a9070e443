use test_case::test_case;

use super::*;
use crate::authorizer::tests::head;

/// Verbs, groups, resources, names, namespaces; the core group is a dash.
fn resources(text: &str) -> ExtraRule {
    let mut columns = text.split(' ').map(|column| {
        let words = column.split(',').filter(|word| !word.is_empty());
        words.map(|word| word.replace('-', "")).collect::<Vec<String>>()
    });
    let mut next = || columns.next().unwrap_or_default();
    ExtraRule {
        verbs: next(),
        target: ExtraTarget::Resources(ExtraResources {
            groups: next(),
            resources: next(),
            names: next(),
            namespaces: next(),
        }),
    }
}

#[test_case("get - pods", "GET /api/v1/namespaces/a/pods/p" => true; "as it says")]
#[test_case("get - pods", "HEAD /api/v1/namespaces/a/pods/p" => true; "head is a get")]
#[test_case("get - pods", "GET /api/v1/namespaces/a/pods" => false; "a list is no get")]
#[test_case("list - pods", "GET /api/v1/pods" => true; "in all namespaces")]
#[test_case("list - pods", "GET /api/v1/pods?watch=1" => false; "a watch is no list")]
#[test_case("Get - pods", "GET /api/v1/namespaces/a/pods/p" => false; "case matters")]
#[test_case("get,list - secrets,pods", "GET /api/v1/namespaces/a/pods" => true; "any of several")]
#[test_case("get - pods", "GET /apis/apps/v1/namespaces/a/pods/p" => false; "another group")]
#[test_case("get * pods", "GET /apis/apps/v1/namespaces/a/pods/p" => true; "any group")]
#[test_case("* - pods", "DELETE /api/v1/pods" => true; "any verb")]
#[test_case("* - pods", "OPTIONS /api/v1/namespaces/a/pods/p" => true; "any verb, also none")]
#[test_case("get - pods", "GET /api/v1/namespaces/a/pods/p/log" => false; "a subresource is apart")]
#[test_case("get - pods/log", "GET /api/v1/namespaces/a/pods/p/log" => true; "and is named so")]
#[test_case("get - pods/log", "GET /api/v1/namespaces/a/pods/p" => false; "without what it is of")]
#[test_case("get - pods/lo", "GET /api/v1/namespaces/a/pods/p/log" => false; "the whole of it")]
#[test_case("get - */log", "GET /api/v1/namespaces/a/pods/p/log" => true; "of anything")]
#[test_case("get - */log", "GET /api/v1/namespaces/a/pods/p" => false; "but not the thing")]
#[test_case("get - */log", "GET /api/v1/namespaces/a/pods/p/xlog" => false; "the whole subresource")]
#[test_case("get - pods/*", "GET /api/v1/namespaces/a/pods/p/log" => false; "no such pattern in RBAC")]
#[test_case("get - *", "GET /api/v1/namespaces/a/pods/p/log" => true; "everything has subresources")]
#[test_case("get - pods p", "GET /api/v1/namespaces/a/pods/p" => true; "by name")]
#[test_case("get - pods p", "GET /api/v1/namespaces/b/pods/p" => true; "by name anywhere")]
#[test_case("get - pods p", "GET /api/v1/namespaces/a/pods/q" => false; "another name")]
#[test_case("get - pods *", "GET /api/v1/namespaces/a/pods/q" => false; "names are no patterns")]
#[test_case("list - pods p", "GET /api/v1/namespaces/a/pods" => false; "a list has no name")]
#[test_case("list - pods p", "GET /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp" => true; "unless it is selected")]
#[test_case("list - pods p", "GET /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dq" => false; "another one is selected")]
#[test_case("create - pods p", "POST /api/v1/namespaces/a/pods" => false; "a create has none")]
#[test_case("create - pods/eviction p", "POST /api/v1/namespaces/a/pods/p/eviction" => true; "but for subresources")]
#[test_case("deletecollection - pods p", "DELETE /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp" => false; "deletecollection never has one")]
#[test_case("get - pods p a", "GET /api/v1/namespaces/a/pods/p" => true; "in its namespace")]
#[test_case("get - pods p a,b", "GET /api/v1/namespaces/b/pods/p" => true; "in one of them")]
#[test_case("get - pods p a", "GET /api/v1/namespaces/b/pods/p" => false; "in another")]
#[test_case("list - pods  a", "GET /api/v1/pods" => false; "all are more than one")]
#[test_case("get - nodes  a", "GET /api/v1/nodes/n" => false; "in no namespace")]
#[test_case("get - namespaces  a", "GET /api/v1/namespaces/a" => true; "a namespace is in itself")]
#[test_case("get - namespaces  a", "GET /api/v1/namespaces/b" => false; "not in another")]
#[test_case("proxy - nodes", "GET /api/v1/proxy/nodes/n/logs" => true; "the ancient verb")]
#[test_case("get * *", "GET /metrics" => false; "resources are no paths")]
fn of_resources(rule: &str, request: &str) -> bool {
    allows(&resources(rule), request)
}

#[test_case("get /metrics", "GET /metrics" => true; "as it says")]
#[test_case("get /metrics", "HEAD /metrics" => false; "judged by the method")]
#[test_case("head /metrics", "HEAD /metrics" => true; "in lower case")]
#[test_case("* /metrics", "PUT /metrics" => true; "any method")]
#[test_case("get /metrics", "GET /metrics/slis" => false; "the whole path")]
#[test_case("get /metrics", "GET /metrics/" => false; "with its slash")]
#[test_case("get /metrics*", "GET /metrics/slis" => true; "what begins like it")]
#[test_case("get /metrics/*", "GET /metrics" => false; "not what is shorter")]
#[test_case("get /a,/metrics", "GET /metrics" => true; "any of several")]
#[test_case("get *", "GET /" => true; "all")]
#[test_case("get *", "GET /api/v1/pods" => false; "paths are no resources")]
#[test_case("get /api/*", "GET /api/v1/pods" => false; "however they are written")]
fn of_paths(rule: &str, request: &str) -> bool {
    let (verbs, paths) = rule.split_once(' ').unwrap();
    let words = |text: &str| text.split(',').map(str::to_owned).collect();
    let rule = ExtraRule {
        verbs: words(verbs),
        target: ExtraTarget::Paths(words(paths)),
    };
    allows(&rule, request)
}

fn allows(rule: &ExtraRule, request: &str) -> bool {
    let (method, target) = request.split_once(' ').unwrap();
    rule.allows(head(method, target).info())
}
