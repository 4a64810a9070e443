//! Who enters a pod that runs.

use serde_json::json;
use test_case::test_case;

use super::{World, annotated, told};

const KERBEROS: &str = r#"{"kerberos":"app"}"#;

fn world(granted: &'static [&'static str]) -> World {
    let pod = |name: &str, set: Option<&str>, node: &str, state: &str| {
        let mut pod = annotated("v1", "Pod", "", set, None);
        pod["metadata"]["name"] = json!(name);
        pod["spec"]["nodeName"] = json!(node);
        pod["status"]["containerStatuses"] = json!([{"name": "c", "state": {state: {}}}]);
        pod
    };
    World {
        granted,
        stored: vec![
            pod("x", Some(KERBEROS), "nodes", "running"),
            pod("plain", None, "nodes", "running"),
            pod("elsewhere", None, "other", "running"),
            pod("waits", None, "nodes", "waiting"),
            pod("broken", Some("kerberos=app"), "nodes", "running"),
        ],
        ..World::default()
    }
}

#[test_case("POST", "exec" => "may create, pods ns/x, kerberos=app"; "exec")]
#[test_case("GET", "exec?command=id" => "may get, may create, pods ns/x, kerberos=app"; "exec by GET")]
#[test_case("GET", "attach" => "may get, may create, pods ns/x, kerberos=app"; "attach")]
#[test_case("GET", "portforward" => "may get, may create, pods ns/x, kerberos=app"; "port-forward")]
#[test_case("GET", "proxy" => "may get, pods ns/x, kerberos=app"; "proxy")]
#[test_case("GET", "proxy/a/b" => "may get, pods ns/x, kerberos=app"; "something behind it")]
#[test_case("DELETE", "proxy/a/b" => "may delete, pods ns/x, kerberos=app"; "any method")]
fn sessions(method: &str, subresource: &str) -> String {
    let uri = format!("/api/v1/namespaces/ns/pods/x/{subresource}");
    let refused = told(&world(&[]), method, &uri, "", b"");
    let expected = "403 pods \"x\" is forbidden: user \"bob\" may not use validated annotation kerberos=app [";
    let asked = refused.strip_prefix(expected).and_then(|asked| asked.strip_suffix(']'));
    let asked = asked.unwrap_or_else(|| panic!("{refused}"));
    let passes = told(&world(&["kerberos=app"]), method, &uri, "", b"");
    assert_eq!(passes, format!("passes: as it is [{asked}]"));
    asked.to_owned()
}

#[test_case("/api/v1/namespaces/ns/pods/plain/exec" => "passes: as it is [may create, pods ns/plain]"; "a pod that carries none")]
#[test_case("/api/v1/namespaces/ns/pods/gone/exec" => "404 pods \"gone\" not found [may create, pods ns/gone]"; "no pod")]
#[test_case("/api/v1/namespaces/ns/pods/broken/exec" => "403 pods \"broken\" is forbidden: user \"bob\" may not use validated annotation *=* [may create, pods ns/broken, *=*]"; "something unreadable")]
#[test_case("/api/v1/namespaces/ns/pods/waits/exec" => "400 pod \"waits\": the container does not run, as far as the API server knows [may create, pods ns/waits]"; "one that does not run, in whose place another may")]
#[test_case("/api/v1/namespaces/ns/pods/plain/exec?container=other" => "400 pod \"plain\": the container does not run, as far as the API server knows [may create, pods ns/plain]"; "another container")]
#[test_case("/api/v1/namespaces/ns/pods/https:plain:443/proxy/a" => "passes: as it is [may create, pods ns/plain]"; "a port and a scheme")]
#[test_case("/api/v1/namespaces/ns/pods/x:80/proxy" => "403 pods \"x:80\" is forbidden: user \"bob\" may not use validated annotation kerberos=app [may create, pods ns/x, kerberos=app]"; "a port")]
#[test_case("/api/v1/namespaces/ns/pods/a:b:c:d/proxy" => "400 invalid pod request [may create]"; "no name")]
#[test_case("/api/v1/namespaces/ns/pods/x/eviction" => "passes: as it is"; "no session")]
#[test_case("/api/v1/namespaces/ns/services/x/proxy" => "passes: as it is"; "no pod at all")]
fn others(uri: &str) -> String {
    told(&world(&[]), "POST", uri, "", b"")
}

#[test_case("portforward")]
#[test_case("proxy")]
fn ports_can_be_left_out(subresource: &str) {
    let world = World {
        ports: false,
        ..world(&[])
    };
    let uri = format!("/api/v1/namespaces/ns/pods/x/{subresource}");
    assert_eq!(told(&world, "POST", &uri, "", b""), "passes: as it is");
}

#[test]
fn nobody_hears_of_what_is_stored_who_may_not_ask() {
    let world = World {
        allowed: false,
        ..world(&["kerberos=app"])
    };
    for pod in ["x", "gone"] {
        let told = told(
            &world,
            "POST",
            &format!("/api/v1/namespaces/ns/pods/{pod}/exec"),
            "",
            b"",
        );
        let expected = format!(
            "403 pods \"{pod}\" is forbidden: User \"bob\" cannot create resource \"pods/exec\" in API group \"\" in the \
             namespace \"ns\" [may create]"
        );
        assert_eq!(told, expected);
    }
}

#[test_case("exec/ns/x/c" => "may get, may create, pods ns/x, kerberos=app"; "exec")]
#[test_case("run/ns/x/c" => "may get, may create, pods ns/x, kerberos=app"; "run")]
#[test_case("attach/ns/x/c" => "may get, may create, pods ns/x, kerberos=app"; "attach")]
#[test_case("portForward/ns/x" => "may get, may create, pods ns/x, kerberos=app"; "port-forward")]
#[test_case("checkpoint/ns/x/c" => "may get, may create, pods ns/x, kerberos=app"; "checkpoint")]
fn through_the_kubelet(path: &str) -> String {
    let uri = format!("/api/v1/nodes/nodes/proxy/{path}");
    let refused = told(&world(&[]), "GET", &uri, "", b"");
    let expected = "403 nodes \"nodes\" is forbidden: user \"bob\" may not use validated annotation kerberos=app [";
    let asked = refused.strip_prefix(expected).and_then(|asked| asked.strip_suffix(']'));
    let asked = asked.unwrap_or_else(|| panic!("{refused}"));
    let passes = told(&world(&["kerberos=app"]), "GET", &uri, "", b"");
    assert_eq!(passes, format!("passes: as it is [{asked}]"));
    asked.to_owned()
}

const UNTOLD: &str =
    "403 nodes \"nodes\" is forbidden: it cannot be told which pod that runs on this node this path leads to";

#[test_case("metrics" => "passes: as it is"; "no pod")]
#[test_case("exec/ns/plain/c" => "passes: as it is [may get, may create, pods ns/plain]"; "a pod that carries none")]
#[test_case("exec/ns/plain/uid/c" => "passes: as it is [may get, may create, pods ns/plain]"; "with a uid")]
#[test_case("cri/exec/abc" => UNTOLD; "some pod")]
#[test_case("exec/ns/gone/c" => format!("{UNTOLD} [may get, may create, pods ns/gone]"); "no pod that is known")]
#[test_case("exec/ns/elsewhere/c" => format!("{UNTOLD} [may get, may create, pods ns/elsewhere]"); "a pod of another node")]
#[test_case("exec/ns/waits/c" => format!("{UNTOLD} [may get, may create, pods ns/waits]"); "one that does not run")]
#[test_case("portForward/ns/waits" => "passes: as it is [may get, may create, pods ns/waits]"; "no container")]
fn other_paths_of_the_kubelet(path: &str) -> String {
    told(
        &world(&[]),
        "GET",
        &format!("/api/v1/nodes/nodes/proxy/{path}"),
        "",
        b"",
    )
}
