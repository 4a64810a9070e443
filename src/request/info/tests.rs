use test_case::test_case;

use super::*;

/// `verb resource[/subresource][.group] namespace/name`, or `verb path`, or the refusal.
fn read(method: &str, target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let info = Query::parse(query).and_then(|query| RequestInfo::read(&method, path, &query));
    match info {
        Err(Malformed(_)) => "refused".to_owned(),
        Ok(info) => match info.target {
            Target::Path(path) => format!("{} {path}", info.verb),
            Target::Resource(r) => {
                let sub = match r.subresource.as_str() {
                    "" => String::new(),
                    sub => format!("/{sub}"),
                };
                let group = match r.resource.group.as_str() {
                    "" => String::new(),
                    group => format!(".{group}"),
                };
                format!(
                    "{} {}{sub}{group} {}/{}",
                    info.verb, r.resource.resource, r.namespace, r.name
                )
            }
        },
    }
}

#[test_case("GET", "/" => "get /")]
#[test_case("GET", "/version" => "get /version")]
#[test_case("GET", "/version/" => "get /version/")]
#[test_case("HEAD", "/version" => "head /version")]
#[test_case("GET", "/api" => "get /api")]
#[test_case("GET", "/api/v1" => "get /api/v1")]
#[test_case("GET", "/api/v1/" => "get /api/v1/")]
#[test_case("GET", "/apis/apps/v1" => "get /apis/apps/v1")]
#[test_case("GET", "/apis/apps" => "get /apis/apps")]
#[test_case("GET", "/openapi/v3/apis/apps/v1" => "get /openapi/v3/apis/apps/v1")]
#[test_case("GET", "/metrics" => "get /metrics")]
fn paths(method: &str, target: &str) -> String {
    read(method, target)
}

#[test_case("GET", "/api/v1/nodes" => "list nodes /")]
#[test_case("GET", "/api/v1/nodes/n1" => "get nodes /n1")]
#[test_case("GET", "/api/v1/nodes/n1/" => "get nodes /n1"; "one trailing slash")]
#[test_case("HEAD", "/api/v1/nodes/n1" => "get nodes /n1")]
#[test_case("PUT", "/api/v1/nodes/n1/status" => "update nodes/status /n1")]
#[test_case("PATCH", "/api/v1/nodes/n1/status" => "patch nodes/status /n1")]
#[test_case("POST", "/api/v1/nodes" => "create nodes /")]
#[test_case("DELETE", "/api/v1/nodes/n1" => "delete nodes /n1")]
#[test_case("DELETE", "/api/v1/nodes" => "deletecollection nodes /")]
#[test_case("OPTIONS", "/api/v1/nodes" => " nodes /"; "method without meaning")]
#[test_case("get", "/api/v1/nodes" => " nodes /"; "lower-case method without meaning")]
#[test_case("GET", "/api/v1/namespaces" => "list namespaces /")]
#[test_case("GET", "/api/v1/namespaces/x" => "get namespaces x/x")]
#[test_case("PUT", "/api/v1/namespaces/x/finalize" => "update namespaces/finalize x/x")]
#[test_case("GET", "/api/v1/namespaces/x/pods" => "list pods x/")]
#[test_case("GET", "/api/v1/namespaces/x/pods/p/log" => "get pods/log x/p")]
#[test_case("GET", "/api/v1/namespaces/x/services/s/proxy/a/b" => "get services/proxy x/s"; "tail is ignored")]
#[test_case("GET", "/api/v1/%6eodes/n1" => "get nodes /n1"; "escapes are decoded")]
#[test_case("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1" => "get leases.coordination.k8s.io kube-node-lease/n1")]
#[test_case("GET", "/api/v1/watch/nodes/n1" => "watch nodes /n1"; "watch in the path")]
#[test_case("POST", "/api/v1/watch/nodes/n1" => "watch nodes /n1"; "watch in the path whatever the method")]
#[test_case("GET", "/api/v1/watch/nodes?fieldSelector=metadata.name=n1" => "watch nodes /"; "watch in the path ignores selectors")]
#[test_case("GET", "/api/v1/proxy/nodes/n1/x" => "proxy nodes /n1"; "proxy in the path has no subresource")]
fn resources(method: &str, target: &str) -> String {
    read(method, target)
}

#[test_case("/api/v1/secrets/s?watch=true" => "get secrets /s"; "watch means nothing with a name")]
#[test_case("/api/v1/pods?watch" => "watch pods /"; "watch without a value")]
#[test_case("/api/v1/pods?watch=" => "watch pods /"; "watch with an empty value")]
#[test_case("/api/v1/pods?watch=no" => "watch pods /"; "watch with an odd value")]
#[test_case("/api/v1/pods?watch=0" => "list pods /")]
#[test_case("/api/v1/pods?watch=FALSE" => "list pods /")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name%3Dn1" => "list nodes /n1")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name==n1&watch=1" => "watch nodes /n1")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name!=n1" => "list nodes /"; "not equal pins nothing")]
#[test_case("/api/v1/nodes?fieldSelector=a=b,metadata.name=n1" => "list nodes /n1")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n2,metadata.name=n1" => "list nodes /n1"; "first in sorted order")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=a%5C,b" => "list nodes /a,b"; "escaped comma")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=a=b" => "list nodes /"; "bare equals sign")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=a%2Fb" => "list nodes /"; "not a path segment")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=abc" => "list nodes /"; "an option that cannot be converted")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=" => "list nodes /"; "an option that is empty")]
fn collections(target: &str) -> String {
    read("GET", target)
}

#[test_case("/openapi/../api/v1/secrets"; "dot segments")]
#[test_case("/openapi/%2e%2e/api/v1/secrets"; "encoded dot segments")]
#[test_case("/api/v1/./nodes"; "single dot")]
#[test_case("//"; "two slashes")]
#[test_case("//api/v1/nodes/n1"; "empty segment in front")]
#[test_case("/api/v1//nodes"; "empty segment inside")]
#[test_case("/api/v1/namespaces//pods"; "empty namespace")]
#[test_case("/api/v1/nodes/n1//"; "two trailing slashes")]
#[test_case("/api/v1/namespaces/ns%2Fsecrets%2Fs2"; "hidden slash")]
#[test_case("/api/v1/nodes/n%001"; "control character")]
#[test_case("/api/v1/nodes/%25"; "escaped percent sign")]
#[test_case("/api/v1/nodes/%zz"; "bad escape")]
#[test_case("/api/v1/nodes/%f"; "short escape")]
#[test_case("/api/v1/nodes/%ff"; "not UTF-8")]
#[test_case("/api/v1/nodes/n1;x"; "path parameter")]
#[test_case("*"; "asterisk form")]
#[test_case("/api/v1/watch"; "watch of nothing")]
#[test_case("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1%2Cmetadata.name%21%3Da;b"; "raw semicolon")]
#[test_case("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1%2Cmetadata.name%21%3D%zz"; "bad escape in the query")]
#[test_case("/api/v1/pods?watch=1&watch=0"; "repeated parameter")]
#[test_case("/api/v1/pods?watch=1&w%61tch=0"; "repeated parameter in disguise")]
#[test_case("/api/v1/pods?watch=fal%C5%BFe"; "a long s, which only Go's folding takes for an s")]
#[test_case("/api/v1/pods?labelSelector=a%00,b"; "a NUL, where some readers end")]
#[test_case("/api/v1/pods?%00"; "a NUL in a key")]
#[test_case("/api/v1/pods?x=%ff"; "a value that is not UTF-8")]
#[test_case("/api/v1/pods?a;b"; "raw semicolon in a key")]
fn refused(target: &str) {
    assert_eq!(read("GET", target), "refused");
}

#[test]
fn names_longer_than_any_are_refused() {
    let (longest, longer) = ("n".repeat(253), "n".repeat(254));
    for target in ["/api/v1/nodes/", "/api/v1/nodes?fieldSelector=metadata.name="] {
        assert_eq!(read("GET", &format!("{target}{longer}")), "refused");
        assert!(read("GET", &format!("{target}{longest}")).ends_with(&longest));
    }
    let query = Query::default();
    let Malformed(message) = RequestInfo::read(&Method::GET, &format!("/{longer}"), &query).unwrap_err();
    assert!(message.len() < 300, "{message}");
}

/// Go counts what stands between ampersands, also nothing, and reads nothing at all if that is too much.
#[test_case("a&", 10_000; "one letter each")]
#[test_case("&", 10_000; "nothing but ampersands")]
fn more_parameters_than_go_reads_are_refused(piece: &str, times: usize) {
    let pieces = piece.repeat(times);
    assert!(Query::parse(&format!("{pieces}fieldSelector=spec.nodeName%3Dn1")).is_err());
    assert!(Query::parse(&format!("fieldSelector=spec.nodeName%3Dn1&{pieces}")).is_err());
    let one_less = pieces.get(piece.len()..).unwrap();
    assert!(Query::parse(&format!("{one_less}fieldSelector=spec.nodeName%3Dn1")).is_ok());
}
