//! Seeds themselves, and the certificates of those who speak for them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use scopegate::demo::site::FRONT_PROXY;
use serde_json::{Value, json};
use test_case::test_case;

use super::{
    objects,
    served::{CORE, Served, stored},
    told::ask,
    world::{JSON, Rules, World},
    writes::{CURRENT, Creator},
};
use crate::{
    graph::deleted,
    restriction::encode::{PROTOBUF, encode_one},
};

const CERTIFICATES: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const SEEDS: &str = "gardener.cloud:system:seeds";
const USAGES: [&str; 3] = ["key encipherment", "digital signature", "client auth"];

/// 20: a seed goes by its own hand, or by its parent's once it is given up.
#[test_case(Served::Custom, "sc", CURRENT; "current, custom")]
#[test_case(Served::Gardener, "sc", CURRENT; "current, gardener")]
#[test_case(Served::Custom, "sd", Rules::new("Document", "Deny", FRONT_PROXY); "document, custom")]
#[test_case(Served::Gardener, "sd", Rules::new("Document", "Deny", FRONT_PROXY); "document, gardener")]
#[tokio::test]
async fn a_seed_is_deleted_by_itself_or_by_the_parent_that_gives_it_up(
    served: Served,
    test: &'static str,
    rules: Rules,
) {
    let Some(world) = World::open(served, test).await else {
        return;
    };
    // Gardener keeps a seed for as long as something is on it.
    deleted(&world.admin, &world.named("{core}/namespaces/garden-{t}1/shoots/s4")).await;
    let gate = world.gate(rules).await;
    let child = objects::seed(&world.seed("child"));
    let target = format!("{CORE}/seeds/{}", world.seed("child"));
    let deletes = async |who: &str| {
        let client = gate.client(&world.seed(who)).await;
        ask(&client, ("DELETE", &target), ("", ""), "").await
    };
    let creates = async |who: &str| {
        let client = gate.client(&world.seed(who)).await;
        let path = format!("{CORE}/seeds");
        ask(&client, ("POST", &path), (JSON, child.to_string()), "").await
    };
    for who in ["a", "b"] {
        let told = creates(who).await;
        told.is_refusal(403, who);
        told.is_not_forwarded(&world.cluster, &world.admin).await;
    }
    assert_eq!(stored(&world.admin, &target).await, None);
    assert_eq!(creates("child").await.code(), 201);
    for who in ["b", "a"] {
        let told = deletes(who).await;
        told.is_refusal(403, who);
        told.is_not_forwarded(&world.cluster, &world.admin).await;
        assert!(stored(&world.admin, &target).await.is_some());
    }
    let told = deletes("child").await;
    assert_eq!(told.code(), 200, "{}", told.answer.body);
    assert_eq!(stored(&world.admin, &target).await, None);

    world.create("{core}/seeds", child.clone()).await;
    // It has a finalizer, so it stays and is on its way.
    deleted(
        &world.admin,
        &world.named("{management}/namespaces/garden/managedseeds/{t}-child"),
    )
    .await;
    deletes("b").await.is_refusal(403, "not its child");
    assert!(stored(&world.admin, &target).await.is_some());
    let told = deletes("a").await;
    assert_eq!(told.code(), 200, "{}", told.answer.body);
    assert_eq!(stored(&world.admin, &target).await, None);
}

/// 22: a gardenlet asks for its own certificate only. The extension's request is one of those that are left to upstream, which lets
/// nobody else ask either.
#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn a_gardenlet_asks_for_certificates_of_its_own_name(served: Served) {
    let Some(world) = World::open(served, "cs").await else {
        return;
    };
    let gate = world.gate(CURRENT).await;
    let (own, other) = (world.seed("a"), world.seed("b"));
    let creator = Creator {
        world: &world,
        gate: &gate,
        seed: own.clone(),
    };
    let name = world.named("{t}-request");
    let asks = |pem: String, usages: &[&str], signer: &str| {
        let spec = json!({"request": BASE64_STANDARD.encode(pem), "usages": usages, "signerName": signer});
        json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name}, "spec": spec})
    };
    let client = "kubernetes.io/kube-apiserver-client";
    let good = request(&own, SEEDS, &[]);
    let rows = [
        (asks(good.clone(), &USAGES, client), 201),
        (asks(request(&other, SEEDS, &[]), &USAGES, client), 403),
        (asks(request(&own, "system:masters", &[]), &USAGES, client), 403),
        (asks(request(&own, SEEDS, &["example.com"]), &USAGES, client), 403),
        (asks(good.clone(), &USAGES[..2], client), 403),
        // Gardener would not look.
        (asks(good.clone(), &USAGES, "example.com/any"), 403),
        (asks("no request".to_owned(), &USAGES, client), 400),
    ];
    for (object, code) in rows {
        creator.posts(CERTIFICATES, &object, code).await;
        if let Some(encoded) = encode_one(&object) {
            creator
                .sends(("POST", CERTIFICATES), (PROTOBUF, &encoded), &object, code)
                .await;
        }
    }
    // Its own can be read, and those of others not.
    for (seed, code) in [(&own, 200), (&other, 403)] {
        let mut object: Value = asks(request(seed, SEEDS, &[]), &USAGES, client);
        object["metadata"]["name"] = json!(format!("{seed}-stored"));
        world.create(CERTIFICATES, object).await;
        let target = format!("{CERTIFICATES}/{seed}-stored");
        let told = ask(&gate.client(&own).await, ("GET", &target), ("", ""), "").await;
        assert_eq!(told.code(), code, "{}", told.answer.body);
    }
    let token = world.token("extension-x").await;
    let object = asks(good, &USAGES, client).to_string();
    let told = ask(&gate.nobody().await, ("POST", CERTIFICATES), (JSON, object), &token).await;
    told.is_refusal(403, "an extension");
    assert_eq!(stored(&world.admin, &format!("{CERTIFICATES}/{name}")).await, None);
}

fn request(seed: &str, organization: &str, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, organization);
    let name = format!("gardener.cloud:system:seed:{seed}");
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    params.serialize_request(&key).unwrap().pem().unwrap()
}
