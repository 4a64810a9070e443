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
#[test_case("GET", "/apis" => "get /apis")]
#[test_case("GET", "/apis/" => "get /apis/")]
#[test_case("GET", "/apis/apps/v1/" => "get /apis/apps/v1/"; "a group version with a slash")]
#[test_case("GET", "/apis/apps/watch" => "get /apis/apps/watch"; "watch where a version goes")]
#[test_case("GET", "/api/watch" => "get /api/watch"; "watch where a core version goes")]
#[test_case("GET", "/API/v1/nodes" => "get /API/v1/nodes"; "prefixes are in lower case")]
#[test_case("GET", "/apiss/apps/v1/x" => "get /apiss/apps/v1/x"; "something like a prefix")]
#[test_case("GET", "/%61pi" => "get /api"; "decoded")]
#[test_case("GET", "/logs/a+b" => "get /logs/a+b"; "a plus sign is no space in a path")]
#[test_case("GET", "/caf%C3%A9" => "get /café"; "decoded UTF-8")]
#[test_case("GET", "/version?watch=1&limit=x" => "get /version"; "the query means nothing")]
#[test_case("POST", "/version" => "post /version")]
#[test_case("get", "/version" => "get /version"; "by the method in lower case")]
#[test_case("Get", "/version" => "get /version"; "whatever its case was")]
#[test_case("PROPFIND", "/version" => "propfind /version")]
#[test_case("watch", "/version" => "watch /version"; "a method that looks like a verb")]
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
#[test_case("HEAD", "/api/v1/nodes" => "list nodes /"; "head of a collection")]
#[test_case("HEAD", "/api/v1/nodes?watch=1" => "watch nodes /"; "head of a watch")]
#[test_case("POST", "/api/v1/nodes/n1" => "create nodes /n1"; "create with a name")]
#[test_case("PUT", "/api/v1/nodes" => "update nodes /"; "update without a name")]
#[test_case("PATCH", "/api/v1/nodes" => "patch nodes /"; "patch without a name")]
#[test_case("DELETE", "/api/v1/nodes?fieldSelector=metadata.name=n1" => "deletecollection nodes /"; "a selector pins no name for delete")]
#[test_case("DELETE", "/api/v1/namespaces/x" => "delete namespaces x/x")]
#[test_case("DELETE", "/api/v1/namespaces" => "deletecollection namespaces /")]
#[test_case("DELETE", "/api/v1/namespaces/x/pods" => "deletecollection pods x/")]
#[test_case("DELETE", "/api/v1/watch/nodes" => "watch nodes /"; "watch in the path of a delete")]
#[test_case("GET", "/api/v1/namespaces/x/status" => "get namespaces/status x/x")]
#[test_case("GET", "/api/v1/namespaces/x/status/y" => "get namespaces/status x/x"; "behind a namespace's subresource")]
#[test_case("GET", "/api/v1/namespaces/x/finalizers" => "list finalizers x/"; "almost a subresource")]
#[test_case("GET", "/api/v1/namespaces/x/namespaces" => "list namespaces x/"; "namespaces in a namespace")]
#[test_case("GET", "/api/v1/namespaces/x/namespaces/y" => "get namespaces x/y"; "a namespace in a namespace")]
#[test_case("GET", "/api/v1/namespaces/namespaces" => "get namespaces namespaces/namespaces"; "a namespace of that name")]
#[test_case("GET", "/api/v1/namespaces/watch/pods" => "list pods watch/"; "a namespace called watch")]
#[test_case("GET", "/api/v1/namespaces/x/watch/pods" => "get watch x/pods"; "watch is a verb in front only")]
#[test_case("GET", "/api/v1/namespaces/" => "list namespaces /"; "no namespace behind the slash")]
#[test_case("GET", "/api/v1/watch/namespaces" => "watch namespaces /"; "watch namespaces in the path")]
#[test_case("GET", "/api/v1/watch/namespaces/x" => "watch namespaces x/x"; "watch a namespace in the path")]
#[test_case("GET", "/api/v1/watch/namespaces/x/pods/p/log" => "watch pods/log x/p"; "watch keeps the subresource")]
#[test_case("GET", "/api/v1/watch/watch" => "watch watch /"; "watch twice")]
#[test_case("GET", "/api/v1/watch/proxy/x" => "watch proxy /x"; "only the first is a verb")]
#[test_case("GET", "/api/v1/proxy/namespaces/x/services/s/y" => "proxy services x/s"; "proxy in a namespace")]
#[test_case("GET", "/api/v1/proxy/namespaces/x/status" => "proxy namespaces x/x"; "proxy of a namespace")]
#[test_case("DELETE", "/api/v1/proxy/nodes" => "proxy nodes /"; "proxy in the path whatever the method")]
#[test_case("GET", "/api/watch/watch/x" => "watch x /"; "watch as a version")]
#[test_case("GET", "/apis/apps/v1/deployments" => "list deployments.apps /")]
#[test_case("GET", "/apis/apps/v1/watch/deployments" => "watch deployments.apps /"; "watch in the path of a group")]
#[test_case("GET", "/apis/apps/v1/namespaces/x" => "get namespaces.apps x/x"; "namespaces of a group")]
#[test_case("CREATE", "/api/v1/nodes" => " nodes /"; "a verb is no method")]
#[test_case("PoST", "/api/v1/nodes" => " nodes /"; "methods are exact")]
#[test_case("TRACE", "/api/v1/nodes/n1" => " nodes /n1"; "method without meaning on an object")]
#[test_case("OPTIONS", "/api/v1/nodes?fieldSelector=metadata.name=n1" => " nodes /"; "no name for a method without meaning")]
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
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=%2B5" => "list nodes /n1"; "a number with its sign")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=+5" => "list nodes /"; "a number with a space")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=-5" => "list nodes /n1"; "a negative number")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=007" => "list nodes /n1"; "leading zeros")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=0x10" => "list nodes /"; "not decimal")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=1_0" => "list nodes /"; "digits with a separator")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&limit=9223372036854775808" => "list nodes /"; "too large a number")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&timeoutSeconds=1.5" => "list nodes /"; "a fraction")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&timeoutSeconds=x&watch=1" => "watch nodes /"; "watch is looked at all the same")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&timeoutSeconds=x&watch=False" => "list nodes /"; "and read the same way")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&labelSelector=a%3D%3D%3Db" => "list nodes /"; "a bad label selector")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&labelSelector=a" => "list nodes /n1"; "a good label selector")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1,x&watch" => "watch nodes /"; "a bad field selector")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&shardSelector=((" => "list nodes /n1"; "a shard selector is read later")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&resourceVersion=x&resourceVersionMatch=y&continue=z" => "list nodes /n1"; "texts convert")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&allowWatchBookmarks=x&sendInitialEvents" => "list nodes /n1"; "booleans convert")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&gracePeriodSeconds=x" => "list nodes /n1"; "options of others do not count")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n1&Limit=x" => "list nodes /n1"; "options are exact")]
#[test_case("/api/v1/nodes?field%53elector=metadata.name%3dn1" => "list nodes /n1"; "keys are decoded")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=n+1" => "list nodes /n 1"; "a plus sign is a space")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name%2Bn1" => "list nodes /"; "an escaped plus sign is none")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=" => "list nodes /"; "an empty name")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=,metadata.name=n1" => "list nodes /"; "an empty name comes first")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name==n1,metadata.name=n2" => "list nodes /n1"; "sorted by text, operator included")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=.." => "list nodes /"; "dots are no name")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=a%2525" => "list nodes /"; "a percent sign is no part of a name")]
#[test_case("/api/v1/nodes?fieldSelector=+metadata.name=n1" => "list nodes /"; "another field")]
#[test_case("/api/v1/namespaces?fieldSelector=metadata.name=x" => "list namespaces /x"; "a namespace by its name has none")]
#[test_case("/api/v1/namespaces/x/pods?fieldSelector=metadata.name=p&watch=1" => "watch pods x/p"; "in a namespace")]
#[test_case("/api/v1/nodes?&&watch&" => "watch nodes /"; "empty pieces")]
#[test_case("/api/v1/nodes?=watch" => "list nodes /"; "a value without a key")]
#[test_case("/api/v1/nodes?watch==0" => "watch nodes /"; "the first equals sign counts")]
#[test_case("/api/v1/nodes?watch=00" => "watch nodes /"; "only one zero is false")]
#[test_case("/api/v1/nodes?watch=%20false" => "watch nodes /"; "nothing is trimmed")]
#[test_case("/api/v1/nodes?x=1&x=2" => "list nodes /"; "other parameters may be repeated")]
fn collections(target: &str) -> String {
    read("GET", target)
}

#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName=n1&labelSelector=a,!b" => "1 2")]
#[test_case("HEAD", "/api/v1/pods?fieldSelector=spec.nodeName=n1&labelSelector=a" => "1 1")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName=n1&watch=1" => "1 0"; "watch")]
#[test_case("DELETE", "/api/v1/pods?fieldSelector=spec.nodeName=n1&labelSelector=a" => "1 1"; "deletecollection")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName=n1&labelSelector=a&limit=x" => "1 1"; "other options do not count")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName=n1&labelSelector=((" => "1 0"; "each by itself")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName=n1,x&labelSelector=a" => "0 1"; "nothing of a bad selector")]
#[test_case("GET", "/api/v1/pods?fieldSelector=metadata.name=p" => "1 0"; "also with the name they pin")]
#[test_case("GET", "/api/v1/namespaces/x/pods/p?fieldSelector=a=b&labelSelector=a" => "0 0"; "not with a name in the path")]
#[test_case("DELETE", "/api/v1/namespaces/x/pods/p?fieldSelector=a=b" => "0 0"; "not for delete")]
#[test_case("POST", "/api/v1/pods?fieldSelector=a=b" => "0 0"; "not for create")]
#[test_case("PATCH", "/api/v1/pods?fieldSelector=a=b" => "0 0"; "not for patch")]
#[test_case("OPTIONS", "/api/v1/pods?fieldSelector=a=b" => "0 0"; "not for a method without meaning")]
#[test_case("GET", "/api/v1/watch/pods?fieldSelector=spec.nodeName=n1" => "0 0"; "not with the verb in the path")]
fn selectors(method: &str, target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap();
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let info = RequestInfo::read(&method, path, &Query::parse(query).unwrap()).unwrap();
    let Target::Resource(request) = info.target else {
        panic!("not a resource");
    };
    format!("{} {}", request.selectors.fields.len(), request.selectors.labels.len())
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
#[test_case("/apis/apps/v1/proxy/"; "proxy of nothing")]
#[test_case("/api/v1/nodes/n1/."; "single dot at the end")]
#[test_case("/api/v1/nodes/n1/%2E%2e/"; "encoded dots at the end")]
#[test_case("/api/v1/nodes%3Fwatch=1"; "hidden question mark")]
#[test_case("/api/v1/nodes/a%5C..%5Cb"; "backslashes")]
#[test_case("/api/v1/nodes/a\\b"; "raw backslash")]
#[test_case("/api/v1/nodes/a%23b"; "hidden fragment")]
#[test_case("/api/v1/nodes/a%0Ab"; "line break")]
#[test_case("/api/v1/nodes/%C2%85"; "control character beyond ASCII")]
#[test_case("/api/v1/nodes/%C0%AE"; "overlong encoding")]
#[test_case("/api/v1/nodes/%252e"; "twice encoded")]
#[test_case("/api/v1/nodes/é"; "raw bytes beyond ASCII")]
#[test_case("/api/v1/nodes/a b"; "raw space")]
#[test_case("api/v1/nodes"; "no slash in front")]
#[test_case("/api/v1/nodes?fieldSelector=metadata.name=a%0Ab"; "a pinned name with a line break")]
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
