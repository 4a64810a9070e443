use serde_json::{Value, json};
use test_case::test_case;

use super::*;
use crate::graph::{Anchor, Gardenlet, ManagedSeed, Seed, Shoot};

const NOW: i64 = 1000;
/// A second before, the same one, and a second later.
const BEFORE: &str = "1970-01-01T00:16:39Z";
const THEN: &str = "1970-01-01T00:16:40Z";
const LATER: &str = "1970-01-01T00:16:41Z";

const TOKEN: (Kind, &str, &str) = (Kind::Secret, "kube-system", "bootstrap-token-872184");
const ACCOUNT: (Kind, &str, &str) = (Kind::ServiceAccount, "garden", "gardenlet-bootstrap-child");
const BINDING: (Kind, &str, &str) = (
    Kind::ClusterRoleBinding,
    "",
    "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child",
);

fn seed(expires: Option<&str>) -> Seed {
    let status = json!({"clientCertificateExpirationTimestamp": expires});
    serde_json::from_value(json!({"metadata": {"name": "child"}, "status": status})).unwrap()
}

fn metadata(renews: bool) -> Value {
    let annotations = if renews {
        json!({"gardener.cloud/operation": "renew-kubeconfig"})
    } else {
        json!({})
    };
    json!({"namespace": "garden", "name": "child", "annotations": annotations})
}

fn managed_seed(bootstrap: &str, renews: bool) -> ManagedSeed {
    let spec = json!({"shoot": {"name": "shoot"}, "gardenlet": {"bootstrap": bootstrap}});
    serde_json::from_value(json!({"metadata": metadata(renews), "spec": spec})).unwrap()
}

fn gardenlet(renews: bool) -> Gardenlet {
    serde_json::from_value(json!({"metadata": metadata(renews)})).unwrap()
}

/// With the shoot of the ManagedSeed on another seed.
fn store() -> Store {
    let mut store = Store::new(Anchor::Seed);
    let shoot = json!({"metadata": {"namespace": "garden", "name": "shoot"}, "spec": {"seedName": "parent"}});
    store.apply(&serde_json::from_value::<Shoot>(shoot).unwrap());
    store
}

fn reaches(store: &mut Store, seed: &str, (kind, namespace, name): (Kind, &str, &str)) -> bool {
    store.publish().reaches(seed, Key::new(kind, namespace, name))
}

#[test_case(None, false => (true, None); "no seed")]
#[test_case(None, true => (true, None); "no seed, and told to")]
#[test_case(Some(None), false => (false, None); "no certificate known")]
#[test_case(Some(None), true => (true, None); "no certificate known, and told to")]
#[test_case(Some(Some(LATER)), false => (false, Some(1002)); "a good certificate")]
#[test_case(Some(Some(LATER)), true => (true, Some(1002)); "a good certificate, and told to")]
#[test_case(Some(Some(THEN)), false => (false, Some(1001)); "it expires just now")]
#[test_case(Some(Some(BEFORE)), false => (true, None); "an expired certificate")]
fn a_managed_seed_begins(there: Option<Option<&str>>, renews: bool) -> (bool, Option<i64>) {
    let mut store = store();
    there.iter().for_each(|expires| store.apply(&seed(*expires)));
    store.apply(&managed_seed("BootstrapToken", renews));
    let again = store.settle_bootstrap("garden", "child", NOW);
    let begins = reaches(&mut store, "parent", TOKEN);
    assert_eq!(reaches(&mut store, "child", TOKEN), begins, "its own, too");
    assert_eq!(store.count(Kind::Bootstrap), usize::from(begins));
    (begins, again)
}

#[test_case(None, false => (false, None); "no seed")]
#[test_case(None, true => (false, None); "no seed, and told to")]
#[test_case(Some(None), true => (true, None); "told to")]
#[test_case(Some(Some(LATER)), false => (false, Some(1002)); "a good certificate")]
#[test_case(Some(Some(LATER)), true => (true, Some(1002)); "a good certificate, and told to")]
#[test_case(Some(Some(THEN)), false => (false, Some(1001)); "it expires just now")]
#[test_case(Some(Some(BEFORE)), false => (true, None); "an expired certificate")]
fn a_gardenlet_begins_again(there: Option<Option<&str>>, renews: bool) -> (bool, Option<i64>) {
    let mut store = store();
    there.iter().for_each(|expires| store.apply(&seed(*expires)));
    store.apply(&gardenlet(renews));
    let again = store.settle_bootstrap("garden", "child", NOW);
    assert!(!reaches(&mut store, "parent", TOKEN), "nobody else's");
    (reaches(&mut store, "child", TOKEN), again)
}

#[test_case("BootstrapToken" => (true, false, false); "by token")]
#[test_case("ServiceAccount" => (false, true, true); "by account")]
#[test_case("None" => (false, false, false); "by itself")]
fn ways_to_begin(bootstrap: &str) -> (bool, bool, bool) {
    let mut store = store();
    store.apply(&managed_seed(bootstrap, false));
    store.settle_bootstrap("garden", "child", NOW);
    let mut reaches = |what| reaches(&mut store, "parent", what);
    (reaches(TOKEN), reaches(ACCOUNT), reaches(BINDING))
}

#[test]
fn time_passes() {
    let mut store = store();
    store.apply(&seed(Some(THEN)));
    store.apply(&managed_seed("ServiceAccount", false));
    let again = store.settle_bootstrap("garden", "child", NOW - 500).unwrap();
    for (now, begins) in [(again - 1, false), (again, true), (again + 1, true)] {
        store.settle_bootstrap("garden", "child", now);
        assert_eq!(reaches(&mut store, "parent", ACCOUNT), begins, "{now}");
    }
    store.apply(&seed(Some("1970-01-01T01:00:00Z")));
    assert_eq!(store.settle_bootstrap("garden", "child", NOW + 10), Some(3601));
    assert!(!reaches(&mut store, "parent", ACCOUNT), "it has a new one");
}

/// Both are settled at once, and neither is taken for the other.
#[test]
fn a_managed_seed_and_a_gardenlet_of_one_name() {
    let mut store = store();
    store.apply(&seed(Some(BEFORE)));
    store.apply(&managed_seed("ServiceAccount", false));
    store.apply(&gardenlet(false));
    store.settle_bootstrap("garden", "child", NOW);
    assert_eq!(store.count(Kind::Bootstrap), 2);
    assert!(reaches(&mut store, "parent", ACCOUNT) && !reaches(&mut store, "parent", TOKEN));
    assert!(reaches(&mut store, "child", TOKEN));
    let expected = [("garden".to_owned(), "child".to_owned())];
    assert!(store.beginners().into_iter().eq(expected.clone()));

    store.retain(Kind::ManagedSeed, |_| false);
    store.retain(Kind::Gardenlet, |_| false);
    assert!(
        store.beginners().into_iter().eq(expected),
        "their leaves are still there"
    );
    assert_eq!(store.settle_bootstrap("garden", "child", NOW), None);
    assert_eq!(store.count(Kind::Bootstrap), 0);
    assert!(store.beginners().is_empty());
}

#[test]
fn what_nobody_begins_is_not_waited_for() {
    let mut store = store();
    store.apply(&seed(Some(LATER)));
    assert_eq!(store.settle_bootstrap("garden", "child", NOW), None);
}

#[test]
fn a_path_tells_of_the_leave() {
    let mut store = store();
    store.apply(&managed_seed("BootstrapToken", false));
    store.settle_bootstrap("garden", "child", NOW);
    let path = store
        .publish()
        .path("parent", Key::new(TOKEN.0, TOKEN.1, TOKEN.2))
        .unwrap();
    let expected = "parent ← shoot garden/shoot ← managedseed garden/child (spec.shoot.name) ← \
        bootstrap garden/child (the same metadata.name, metadata.name) ← secret kube-system/bootstrap-token-872184";
    assert_eq!(path.to_string(), expected);
}
