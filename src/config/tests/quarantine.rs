//! Where it is kept who is in quarantine, and who may change it.

use test_case::test_case;

use super::*;
use crate::pipeline::ward::Place;

#[test]
fn quarantine_is_kept_where_it_is_written() {
    let place = |more: &str| load(&format!("{GOOD}{more}")).unwrap().quarantine;
    assert_eq!(place(""), Place::Nowhere);
    let Place::File(path) = place("quarantine: {file: q.json}") else {
        panic!("no file");
    };
    assert!(path.is_absolute() && path.ends_with("q.json"), "{}", path.display());
    let expected = Place::ConfigMap {
        namespace: "ns".to_owned(),
        name: "q".to_owned(),
    };
    assert_eq!(place("quarantine: {configMap: ns/q}"), expected);
}

#[test_case("quarantine: {configMap: q}" => "quarantine.configMap: should be a namespace and a name with a slash between them"; "no namespace")]
#[test_case("quarantine: {configMap: 'a/b/c'}" => "quarantine.configMap: should be a namespace and a name with a slash between them"; "too many slashes")]
#[test_case("quarantine: {configMap: 'a/../b'}" => "quarantine.configMap: should be a namespace and a name with a slash between them"; "another path")]
#[test_case("quarantine: {configMap: 'a/..'}" => "quarantine.configMap: should be a namespace and a name with a slash between them"; "the path above")]
#[test_case("quarantine: {configMap: 'a/b?c'}" => "quarantine.configMap: should be a namespace and a name with a slash between them"; "a query")]
#[test_case("quarantine: {configMap: a/b, file: c}" => "quarantine.file: and configMap cannot both be set"; "two places")]
fn quarantine_that_cannot_be_kept(more: &str) -> String {
    let [problem] = problems(&format!("{GOOD}{more}")).try_into().unwrap();
    format!("{}: {}", problem.path, problem.message)
}

#[test]
fn a_token_is_for_an_admin_port_without_tls() {
    let admin = |more: &str| GOOD.replace("'127.0.0.1:8444'", &format!("'127.0.0.1:8444', {more}"));
    let token = load(&admin("tokenFile: t")).unwrap().admin.token.unwrap();
    assert!(token.is_absolute() && token.ends_with("t"), "{}", token.display());
    let [problem] = problems(&admin("tokenFile: t, certFile: a, keyFile: a, clientCAFile: a"))
        .try_into()
        .unwrap();
    assert_eq!(problem.path, "admin.tokenFile");
}
