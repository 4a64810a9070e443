use test_case::test_case;

use super::*;
use crate::{api::GroupResource, pipeline::tests::nowhere};

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

/// One node has no more than its share of the questions that all have in common; another one does not notice.
#[tokio::test]
async fn a_node_has_a_few_questions_under_way() {
    let limits = Limits {
        burst: 10,
        per_second: 10,
    };
    let live = Live::new(limits, nowhere());
    let event = ResourceRequest {
        resource: GroupResource {
            group: String::new(),
            resource: "events".to_owned(),
        },
        version: "v1".to_owned(),
        namespace: "ns".to_owned(),
        name: "e".to_owned(),
        subresource: String::new(),
        selectors: Default::default(),
    };
    let busy = live.node("n1");
    let _under_way = busy.reading.try_acquire_many(u32::try_from(READING).unwrap()).unwrap();
    let ask = |node: &'static str, account| live.stored(Asker { node, account }, &event);
    assert!(matches!(ask("n1", Account::Records).await, Err(Unknown::Limited)));
    let waits = timeout(Duration::from_millis(50), ask("n1", Account::Events)).await;
    assert!(waits.is_err(), "it did not wait for its turn");
    assert!(matches!(ask("n2", Account::Events).await, Err(Unknown::Upstream(_))));
}
