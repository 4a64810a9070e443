//! Who enters a pod that runs.

use serde_json::json;
use test_case::test_case;

use super::{World, annotated, told};

const KERBEROS: &str = r#"{"kerberos":"app"}"#;

fn world(granted: &'static [&'static str]) -> World {
    let mut other = annotated("v1", "Pod", "", None, None);
    other["metadata"]["name"] = json!("plain");
    let mut broken = annotated("v1", "Pod", "", Some("kerberos=app"), None);
    broken["metadata"]["name"] = json!("broken");
    World {
        granted,
        stored: vec![annotated("v1", "Pod", "", Some(KERBEROS), None), other, broken],
        ..World::default()
    }
}

#[test_case("POST", "exec" => "may create, stored, kerberos=app"; "exec")]
#[test_case("GET", "exec?command=id" => "may get, may create, stored, kerberos=app"; "exec by GET")]
#[test_case("GET", "attach" => "may get, may create, stored, kerberos=app"; "attach")]
#[test_case("GET", "portforward" => "may get, may create, stored, kerberos=app"; "port-forward")]
#[test_case("GET", "proxy" => "may get, stored, kerberos=app"; "proxy")]
#[test_case("GET", "proxy/a/b" => "may get, stored, kerberos=app"; "something behind it")]
#[test_case("DELETE", "proxy/a/b" => "may delete, stored, kerberos=app"; "any method")]
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

#[test_case("/api/v1/namespaces/ns/pods/plain/exec" => "passes: as it is [may create, stored]"; "a pod that carries none")]
#[test_case("/api/v1/namespaces/ns/pods/gone/exec" => "404 pods \"gone\" not found [may create, stored]"; "no pod")]
#[test_case("/api/v1/namespaces/ns/pods/broken/exec" => "403 pods \"broken\" is forbidden: what is stored cannot be read: metadata.annotations[scopegate.dev/validated-annotations] is not JSON with one meaning: expected value at line 1 column 1 [may create, stored]"; "something unreadable")]
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

#[test_case("metrics" => "passes: as it is"; "no pod")]
#[test_case("exec/ns/plain/c" => "passes: as it is [may get, may create, pods ns/plain]"; "a pod that carries none")]
#[test_case("cri/exec/abc" => "403 nodes \"n\" is forbidden: it cannot be told which pod this path leads to"; "some pod")]
#[test_case("exec/ns/gone/c" => "403 nodes \"n\" is forbidden: there is no pod \"gone\" in the namespace \"ns\" that could tell what it may be used with [may get, may create, pods ns/gone]"; "no pod that is known")]
fn other_paths_of_the_kubelet(path: &str) -> String {
    told(&world(&[]), "GET", &format!("/api/v1/nodes/n/proxy/{path}"), "", b"")
}
