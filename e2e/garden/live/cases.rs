//! What gardenlets ask for, row by row, in both profiles, whoever refuses it.

use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::{Value, json};
use test_case::test_case;

use super::{
    objects,
    served::{OPERATIONS, Served, stored},
    told::ask,
    world::{Gated, JSON, MERGE, Rules, World},
};
use crate::release;

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// The gate lets it pass, and upstream answers so.
    Is(u16),
    /// The gate's rules do not allow it, for this reason.
    No(&'static str),
    /// The gate itself says that there is no such thing.
    Missing,
    /// The gate refuses it whatever upstream would say, since it is somebody else's.
    Never,
}

use Told::{Is, Missing, Never, No};

const UNRELATED: &str = "no relationship found";
const SELECTOR: &str = "can only list or watch with the";
const ONE: &str = "only one object at a time can be read, by its name";
const READ_ONLY: &str = "only the following verbs are allowed for this resource type: [get list watch]";
const GET_ONLY: &str = "only the following verbs are allowed for this resource type: [get]";
const NO_SUBRESOURCE: &str = "only the following subresources are allowed for this resource type: []";
const VERBS: &str = "only the following verbs are allowed for this resource type";
/// There is no row for it at all, so there is nothing to say.
const UNLISTED: &str = "cannot";

const MARK: &str = r#"{"metadata":{"annotations":{"changed":"true"}}}"#;
const STATUS: &str =
    r#"{"status":{"technicalID":"t","gardener":{"id":"i","name":"n","version":"1"},"hibernated":false}}"#;

/// The seed whose gardenlet asks, method and target, body, and what it is told in profile Current and in Document.
type Row = (&'static str, &'static str, &'static str, &'static str, Told, Told);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // 5
    ("a", "GET", "{core}/cloudprofiles/{t}-cp1", "", Is(200), Is(200)),
    ("a", "GET", "{core}/cloudprofiles/{t}-cp2", "", No(UNRELATED), No(UNRELATED)),
    ("b", "GET", "{core}/cloudprofiles/{t}-cp2", "", Is(200), Is(200)),
    ("a", "GET", "{core}/cloudprofiles/{t}-cp1/status", "", No(NO_SUBRESOURCE), No(NO_SUBRESOURCE)),
    ("a", "PATCH", "{core}/cloudprofiles/{t}-cp1", MARK, No(READ_ONLY), No(GET_ONLY)),
    // 7
    ("a", "GET", "/api/v1/namespaces/garden-{t}1", "", Is(200), Is(200)),
    ("a", "GET", "/api/v1/namespaces/garden-{t}2", "", No(UNRELATED), No(UNRELATED)),
    ("a", "GET", "/api/v1/namespaces/seed-{t}-a", "", Is(200), Is(200)),
    ("b", "GET", "/api/v1/namespaces/seed-{t}-a", "", No(UNRELATED), No(UNRELATED)),
    // 8
    ("a", "GET", "{core}/projects/{t}p1", "", Is(200), Is(200)),
    ("b", "GET", "{core}/projects/{t}p1", "", No(UNRELATED), No(UNRELATED)),
    // 10
    ("a", "GET", "{core}/namespaces/garden-{t}2/shoots/s2", "", No(UNRELATED), Is(200)),
    ("a", "PATCH", "{core}/namespaces/garden-{t}2/shoots/s2", MARK, No(UNRELATED), No(UNRELATED)),
    ("a", "PATCH", "{core}/namespaces/garden-{t}2/shoots/s2/status", STATUS, No(UNRELATED), No(UNRELATED)),
    ("a", "DELETE", "{core}/namespaces/garden-{t}1/shoots/s1", "", No(VERBS), No(VERBS)),
    ("a", "DELETE", "{core}/namespaces/garden-{t}1/shoots", "", No(VERBS), No(VERBS)),
    ("a", "PATCH", "{core}/namespaces/garden-{t}1/shoots/s1", MARK, Is(200), Is(200)),
    ("a", "PATCH", "{core}/namespaces/garden-{t}1/shoots/s1/status", STATUS, Is(200), Is(200)),
    ("a", "PATCH", "{core}/namespaces/garden-{t}1/shoots/s1/scale", "{}", No("subresources"), No("subresources")),
    // 11; whatever does not name the seed may select what is not its own.
    ("a", "GET", "{core}/shoots?labelSelector=name.seed.gardener.cloud%2F{t}-a%3Dtrue", "", Is(200), Is(200)),
    ("a", "GET", "{core}/shoots?labelSelector=name.seed.gardener.cloud%2F{t}-b%3Dtrue", "", No(SELECTOR), Is(200)),
    ("a", "GET", "{core}/shoots?labelSelector=%21foo", "", No(SELECTOR), Is(200)),
    ("a", "GET", "{core}/shoots?labelSelector=name.seed.gardener.cloud%2F{t}-a+in+%28true%2Cfalse%29", "", No(SELECTOR), Is(200)),
    ("a", "GET", "{core}/shoots", "", No(SELECTOR), Is(200)),
    ("a", "GET", "{core}/cloudprofiles", "", No(ONE), No(GET_ONLY)),
    ("a", "GET", "{core}/cloudprofiles?fieldSelector=metadata.name%3D{t}-cp1", "", Is(200), No(GET_ONLY)),
    ("a", "GET", "{core}/cloudprofiles?fieldSelector=metadata.name%3D{t}-cp2", "", No(UNRELATED), No(GET_ONLY)),
    ("a", "GET", "{management}/namespaces/garden/managedseeds?labelSelector=name.seed.gardener.cloud%2F{t}-a%3Dtrue", "", Is(200), Is(200)),
    ("a", "GET", "{management}/namespaces/garden/gardenlets?fieldSelector=metadata.name%3D{t}-a", "", Is(200), No(UNLISTED)),
    ("a", "GET", "{management}/namespaces/garden/gardenlets?fieldSelector=metadata.name%3D{t}-b", "", No(SELECTOR), No(UNLISTED)),
    ("a", "GET", "{management}/gardenlets?fieldSelector=metadata.name%3D{t}-a", "", No("only the following namespaces"), No(UNLISTED)),
    // 19
    ("a", "POST", "/api/v1/namespaces/garden-{t}2/events", "{event}", Is(201), Is(201)),
    ("a", "POST", "/api/v1/namespaces/garden-{t}2/events", "{event}", Is(409), Is(409)),
    ("a", "PATCH", "/api/v1/namespaces/garden-{t}2/events/e", MARK, Is(200), No("[create]")),
    ("a", "PUT", "/api/v1/namespaces/garden-{t}2/events/e", "{event}", No("[create patch]"), No("[create]")),
    ("a", "GET", "/api/v1/namespaces/garden-{t}2/events/e", "", No("[create patch]"), No("[create]")),
    // 23
    ("a", "GET", "/api/v1/namespaces/garden-{t}1/secrets/x", "", Is(200), No(UNLISTED)),
    ("a", "GET", "/api/v1/namespaces/garden-{t}1/secrets/y", "", No(UNRELATED), No(UNLISTED)),
    ("b", "GET", "/api/v1/namespaces/garden-{t}1/secrets/x", "", No(UNRELATED), No(UNLISTED)),
    ("a", "GET", "/api/v1/namespaces/seed-{t}-a/secrets", "", Is(200), No(UNLISTED)),
    ("b", "GET", "/api/v1/namespaces/seed-{t}-a/secrets", "", No(VERBS), No(UNLISTED)),
    ("a", "GET", "/api/v1/namespaces/garden/secrets", "", No(VERBS), No(UNLISTED)),
    ("a", "GET", "/api/v1/secrets", "", No(VERBS), No(UNLISTED)),
    ("a", "DELETE", "/api/v1/namespaces/garden/secrets/{t}-u", "", No(UNRELATED), No(UNLISTED)),
    ("a", "DELETE", "/api/v1/namespaces/garden/secrets/{t}-none", "", Missing, No(UNLISTED)),
    ("a", "DELETE", "{core}/namespaces/garden-{t}1/shootstates/none", "", Missing, No(VERBS)),
    ("a", "DELETE", "/api/v1/namespaces/garden/configmaps/{t}-none", "", Missing, No(GET_ONLY)),
    ("a", "GET", "/api/v1/namespaces/kube-system/configmaps/cluster-identity", "", Is(200), Is(200)),
    ("a", "PATCH", "/api/v1/namespaces/kube-system/configmaps/cluster-identity", MARK, No("can only be read"), No(GET_ONLY)),
    ("a", "DELETE", "/api/v1/namespaces/kube-system/configmaps/cluster-identity", "", No("can only be read"), No(GET_ONLY)),
    // Its seeds, and who else's it is.
    ("a", "GET", "{core}/seeds/{t}-a", "", Is(200), Is(200)),
    ("a", "GET", "{core}/seeds/{t}-b", "", No(UNRELATED), Is(200)),
    ("a", "PATCH", "{core}/seeds/{t}-b/status", r#"{"status":{"clusterIdentity":"i"}}"#, Never, Never),
    ("a", "PATCH", "{core}/seeds/{t}-a/status", r#"{"status":{"clusterIdentity":"i"}}"#, Is(200), Is(200)),
    ("a", "PATCH", "{management}/namespaces/garden/managedseeds/{t}-child", MARK, Is(200), Is(200)),
    ("b", "PATCH", "{management}/namespaces/garden/managedseeds/{t}-child", MARK, No(UNRELATED), No(UNRELATED)),
    // What it is made of is not for the child to say.
    ("child", "GET", "{management}/namespaces/garden/managedseeds/{t}-child", "", Is(200), Is(200)),
    ("child", "PATCH", "{management}/namespaces/garden/managedseeds/{t}-child", MARK, No(UNRELATED), No(UNRELATED)),
    // 25: what is on a child is not its parent's.
    ("a", "PATCH", "{core}/namespaces/garden-{t}1/shoots/s4", MARK, No(UNRELATED), No(UNRELATED)),
    ("a", "PATCH", "{core}/namespaces/garden-{t}1/shoots/s4/status", STATUS, No(UNRELATED), No(UNRELATED)),
    ("child", "PATCH", "{core}/namespaces/garden-{t}1/shoots/s4", MARK, Is(200), Is(200)),
    // Not about anything that the rules know.
    ("a", "GET", "/api/v1/nodes", "", No(UNLISTED), No(UNLISTED)),
    ("a", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", r#"{"metadata":{"name":"{t}"}}"#, No(UNLISTED), No(UNLISTED)),
];

#[test_case(Served::Custom, "cu", Rules::new("Current", "Upstream", FRONT_PROXY); "current, upstream, front proxy, custom")]
#[test_case(Served::Custom, "cd", Rules::new("Current", "Deny", IMPERSONATE); "current, deny, impersonate, custom")]
#[test_case(Served::Custom, "du", Rules::new("Document", "Upstream", IMPERSONATE); "document, upstream, impersonate, custom")]
#[test_case(Served::Custom, "dd", Rules::new("Document", "Deny", FRONT_PROXY); "document, deny, front proxy, custom")]
#[test_case(Served::Gardener, "cu", Rules::new("Current", "Upstream", IMPERSONATE); "current, upstream, impersonate, gardener")]
#[test_case(Served::Gardener, "cd", Rules::new("Current", "Deny", FRONT_PROXY); "current, deny, front proxy, gardener")]
#[test_case(Served::Gardener, "du", Rules::new("Document", "Upstream", FRONT_PROXY); "document, upstream, front proxy, gardener")]
#[test_case(Served::Gardener, "dd", Rules::new("Document", "Deny", IMPERSONATE); "document, deny, impersonate, gardener")]
#[tokio::test]
async fn a_gardenlet_is_told(served: Served, test: &'static str, rules: Rules) {
    let Some(world) = World::open(served, test).await else {
        return;
    };
    let identity = json!({"metadata": {"name": "cluster-identity"}, "data": {"cluster-identity": "garden"}});
    world
        .cluster
        .create("/api/v1/namespaces/kube-system/configmaps", &identity)
        .await;
    let gate = world.gate(rules).await;
    let mut failures = Vec::new();
    for row in ROWS {
        if let Err(failure) = tried(&world, &gate, rules, row).await {
            failures.push(failure);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    selected(&world, &gate, rules).await;
}

async fn tried(
    world: &World,
    gate: &Gated,
    rules: Rules,
    &(who, method, target, body, current, document): &Row,
) -> Result<(), String> {
    let told = if rules.profile == "Current" { current } else { document };
    let (target, seed) = (world.named(target), world.seed(who));
    let body = match body {
        "{event}" => event(world).to_string(),
        body => world.named(body),
    };
    let form = match (method, body.as_str()) {
        (_, "") => "",
        ("PATCH", _) => MERGE,
        _ => JSON,
    };
    let what = format!("{seed} {method} {target}");
    // A subresource is not there by itself.
    let object = target.split(['?']).next().unwrap();
    let object = object.trim_end_matches("/status").trim_end_matches("/scale");
    // What a POST writes has no name in the target.
    let is_write = !matches!(method, "GET" | "POST");
    let is_there = async || match stored(&world.admin, object).await {
        // Of a collection, only what is in it counts.
        Some(list) if list["items"].is_array() => Some(list["items"].clone()),
        there => there,
    };
    let before = if is_write { is_there().await } else { None };
    let client = gate.client(&seed).await;
    let asked = ask(&client, (method, &target), (form, body), "").await;
    let got = format!("{what}: {told:?}, but {} {}", asked.code(), asked.answer.body);
    match told {
        Is(code) if asked.code() != code => return Err(got),
        Is(_) => {
            asked.event(&world.cluster).await;
        }
        No(reason) => {
            if asked.code() != 403 {
                return Err(got);
            }
            asked.is_refusal(403, &what);
            let message = asked.answer.message();
            if rules.leaves_to_upstream() {
                // Upstream has refused it, in its own words: it knows no reasons.
                let seen = asked.event(&world.cluster).await;
                assert_eq!(seen["responseStatus"]["code"], 403, "{what}");
                if message.contains(reason) && reason != UNLISTED {
                    return Err(got);
                }
            } else {
                asked.is_not_forwarded(&world.cluster, &world.admin).await;
                if !message.contains(reason) {
                    return Err(got);
                }
            }
            if is_write && is_there().await != before {
                return Err(format!("{what}: it is changed"));
            }
        }
        Missing | Never => {
            let code = if matches!(told, Missing) { 404 } else { 403 };
            if asked.code() != code {
                return Err(got);
            }
            asked.is_refusal(code, &what);
            asked.is_not_forwarded(&world.cluster, &world.admin).await;
        }
    }
    if let (Is(200), "PATCH", MARK) = (told, method, MARK) {
        let object = stored(&world.admin, object).await.unwrap();
        let status = target.ends_with("/status");
        if !status && object["metadata"]["annotations"]["changed"] != "true" {
            return Err(format!("{what}: it is not changed: {object}"));
        }
    }
    Ok(())
}

fn event(world: &World) -> Value {
    let namespace = world.named("garden-{t}2");
    let about = json!({"kind": "Shoot", "namespace": namespace, "name": "s2"});
    json!({"metadata": {"name": "e", "namespace": namespace}, "involvedObject": about, "reason": "r", "type": "Normal"})
}

/// A list that is narrowed to the seed's own has nothing of others in it, whatever it is narrowed by.
async fn selected(world: &World, gate: &Gated, rules: Rules) {
    let client = gate.client(&world.seed("a")).await;
    let label = format!("?labelSelector=name.seed.gardener.cloud%2F{}%3Dtrue", world.seed("a"));
    let answer = client.get(&world.named(&format!("{{core}}/shoots{label}"))).await;
    assert_eq!(names(&answer.json()), [world.seed("child"), "s1".to_owned()]);
    // Custom resources could not be selected by their fields before.
    if rules.profile == "Document" || (world.served == Served::Custom && release::minor() < 32) {
        return;
    }
    // Gardener takes the seed of a bastion from its shoot.
    for (seed, bastion, place, shoot) in [("a", "own", "garden-{t}1", "s1"), ("b", "other", "garden-{t}2", "s2")] {
        let place = world.named(place);
        let mut object = objects::bastion(&place, bastion, &world.seed(seed));
        object["spec"]["shootRef"]["name"] = json!(shoot);
        let path = format!("{OPERATIONS}/namespaces/{place}/bastions");
        world.create(&path, object).await;
        let name = world.named(&format!("{{t}}-{bastion}"));
        let object = objects::installation(&name, &world.seed(seed));
        world.create("{core}/controllerinstallations", object).await;
    }
    for (path, field, own) in [
        (format!("{OPERATIONS}/bastions"), "spec.seedName", "own".to_owned()),
        (
            world.named("{core}/controllerinstallations"),
            "spec.seedRef.name",
            world.named("{t}-own"),
        ),
    ] {
        let answer = client
            .get(&format!("{path}?fieldSelector={field}%3D{}", world.seed("a")))
            .await;
        assert_eq!(names(&answer.json()), [own], "{}", answer.body);
        let other = format!("{path}?fieldSelector={field}%3D{}", world.seed("b"));
        let other = ask(&client, ("GET", &other), ("", ""), "").await;
        other.is_refusal(403, &path);
    }
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = items
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
