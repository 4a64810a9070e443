use test_case::test_case;

use super::*;
use crate::api::GroupResource;

#[test_case("node-a.example.com", true)]
#[test_case("", true; "none")]
#[test_case("..", false)]
#[test_case("a/b", false)]
#[test_case("a%2fb", false)]
#[test_case("a,spec.x=y", false)]
#[test_case("A", false)]
#[test_case("ä", false)]
fn only_names_are_put_into_a_question(text: &str, is: bool) {
    assert_eq!(is_name(text), is);
}

#[test_case(
    "",
    "v1",
    "",
    "persistentvolumes",
    "pv",
    "/api/v1/persistentvolumes?fieldSelector=metadata.name%3Dpv"
)]
#[test_case(
    "certificates.k8s.io",
    "v1beta1",
    "ns",
    "podcertificaterequests",
    "p",
    "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests?fieldSelector=metadata.name%3Dp"
)]
#[test_case(
    "certificates.k8s.io",
    "v1",
    "",
    "certificatesigningrequests",
    "A_b,c=\\d&e#ä/..",
    "/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=metadata.name%3DA%5Fb%5C%2Cc%5C%3D%5C%5Cd%26e%23%C3%A4%2F..";
    "a name of any letters"
)]
#[test_case(
    "",
    "v1",
    "N&s",
    "events",
    "Odd_name:1",
    "/api/v1/namespaces/N%26s/events?fieldSelector=metadata.name%3DOdd%5Fname%3A1";
    "a place of any letters"
)]
fn the_object_is_asked_for_as_a_list_of_one(
    group: &str,
    version: &str,
    namespace: &str,
    resource: &str,
    name: &str,
    expected: &str,
) {
    let request = ResourceRequest {
        resource: GroupResource {
            group: group.to_owned(),
            resource: resource.to_owned(),
        },
        version: version.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        subresource: String::new(),
        selectors: Default::default(),
    };
    assert_eq!(target(&request), expected);
}
