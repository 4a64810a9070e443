//! What seeds get from upstream beside what the gate's rules allow: nothing by the groups that only the gate gives, and nothing from a
//! garden that has not scoped its gardenlets yet.

use std::sync::Arc;

use http::{Request, StatusCode};
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE, OWN};
use serde_json::{Value, json};
use test_case::test_case;

use super::{
    objects,
    served::{CORE, Served, bare, define, granted, until},
    told::ask,
    world::{Gated, JSON, MERGE, Rules, World},
};
use crate::{
    gate::ready,
    graph::{admin_client, created, deleted},
    pki::{CN, Entity, O, Template, UTF8, rdn},
};

const SEEDS: &str = "gardener.cloud:system:seeds";
/// Of whoever is allowed something by the rule about shoots.
const GRANTED: &str = "scopegate.dev:seed/shoots";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const MARK: &str = r#"{"metadata":{"annotations":{"changed":"true"}}}"#;

/// Who upstream takes the caller for, besides the gate.
fn groups(event: &Value, identity: &str) -> Vec<String> {
    let user = if identity == IMPERSONATE {
        "impersonatedUser"
    } else {
        "user"
    };
    let groups = event[user]["groups"].as_array().unwrap().iter();
    let mut groups: Vec<String> = groups.map(|group| group.as_str().unwrap().to_owned()).collect();
    groups.sort();
    groups
}

#[test_case(Served::Custom, "gf", FRONT_PROXY; "front proxy, custom")]
#[test_case(Served::Custom, "gi", IMPERSONATE; "impersonate, custom")]
#[test_case(Served::Gardener, "gf", FRONT_PROXY; "front proxy, gardener")]
#[test_case(Served::Gardener, "gi", IMPERSONATE; "impersonate, gardener")]
#[tokio::test]
async fn the_groups_that_count_upstream_are_only_the_gates_to_give(
    served: Served,
    test: &'static str,
    identity: &'static str,
) {
    let Some(world) = World::open(served, test).await else {
        return;
    };
    let gate = world.gate(Rules::new("Current", "Upstream", identity)).await;
    let shoots = world.named("{core}/namespaces/garden-{t}1/shoots");
    let (own, other) = (format!("{shoots}/s1"), format!("{shoots}/s4"));
    let usual = [SEEDS, "system:authenticated"];

    let client = gate.client(&world.seed("a")).await;
    let allowed = ask(&client, ("GET", &own), ("", ""), "").await;
    assert_eq!(allowed.code(), 200, "{}", allowed.answer.body);
    let all = [SEEDS, GRANTED, "system:authenticated"];
    assert_eq!(groups(&allowed.event(&world.cluster).await, identity), all);
    // Another rule, another group: what a request may do on its way is no more than that.
    let secret = world.named("/api/v1/namespaces/garden-{t}1/secrets/x");
    let allowed = ask(&client, ("GET", &secret), ("", ""), "").await;
    let by_secrets = [SEEDS, "scopegate.dev:seed/secrets", "system:authenticated"];
    assert_eq!(groups(&allowed.event(&world.cluster).await, identity), by_secrets);
    let left = ask(&client, ("GET", &other), ("", ""), "").await;
    left.is_refusal(403, &other);
    assert_eq!(groups(&left.event(&world.cluster).await, identity), usual);

    // Whoever issues certificates could put anybody into it, and upstream would believe it.
    let both = world.named("{t}-both");
    two_groups(
        &world,
        &both,
        &format!("gardener.cloud:system:seed:{}", world.seed("a")),
        [SEEDS, GRANTED],
    );
    let person = world.named("{t}-person");
    world.cluster.user(&person, &person, Some(GRANTED));
    let direct = crate::gate::Client::new(&world.cluster.file(&format!("{person}.kubeconfig"))).await;
    assert_eq!(direct.get(&other).await.code, StatusCode::OK, "else this shows nothing");
    for (user, expected) in [(&both, &usual[..]), (&person, &usual[1..])] {
        let client = gate.client(user).await;
        for target in [&other, "/api/v1/namespaces/garden/secrets"] {
            let told = ask(&client, ("GET", target), ("", ""), "").await;
            told.is_refusal(403, user);
            assert_eq!(groups(&told.event(&world.cluster).await, identity), expected, "{user}");
        }
    }
    // What can be nowhere is not looked for everywhere: whether there is one is nobody's business.
    let nowhere = ask(&client, ("DELETE", "/api/v1/secrets/nosuch"), ("", ""), "").await;
    assert_eq!(nowhere.code(), 403, "{}", nowhere.answer.body);
    // Nor by saying so.
    for name in ["X-Remote-Group", "Impersonate-Group"] {
        let request = Request::get(&other).header(name, GRANTED);
        let answer = client.send(request, "").await.unwrap();
        assert!(answer.code.is_client_error(), "{name}: {}", answer.body);
    }
    let allowed = ask(&gate.client(&both).await, ("GET", &own), ("", ""), "").await;
    assert_eq!(
        groups(&allowed.event(&world.cluster).await, identity),
        all,
        "once, as for all others"
    );
}

fn two_groups(world: &World, file: &str, user: &str, groups: [&str; 2]) {
    let ca = &world.cluster.pki.client_ca;
    let mut subject: Vec<Vec<u8>> = groups.iter().map(|group| rdn(O, UTF8, group.as_bytes())).collect();
    subject.push(rdn(CN, UTF8, user.as_bytes()));
    let ca = Entity::from_pem(&ca.certificate, &ca.key);
    let pair = ca.sign(Template::client(user).subject(&subject));
    std::fs::write(world.cluster.file(&format!("{file}.crt")), pair.pem()).unwrap();
    std::fs::write(world.cluster.file(&format!("{file}.key")), pair.key_pem()).unwrap();
}

/// The gate speaks for itself, so what its rules do not allow nobody else can.
#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn in_mode_own_the_gates_rights_are_used_within_its_rules(served: Served) {
    let Some(world) = World::open(served, "ow").await else {
        return;
    };
    let user = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "scopegate"});
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scopegate-seed-shoots"});
    let binding = json!({"metadata": {"name": "scopegate-seed-shoots-own"}, "roleRef": role, "subjects": [user]});
    created(&world.admin, BINDINGS, &binding).await;
    let gate = world.gate(Rules::new("Current", "Deny", OWN)).await;
    let client = gate.client(&world.seed("a")).await;
    let own = world.named("{core}/namespaces/garden-{t}1/shoots/s1");
    let mut told = ask(&client, ("PATCH", &own), (MERGE, MARK), "").await;
    if told.code() == 403 {
        // Upstream may take a moment to know of the binding.
        until("the gate has no rights", async || {
            told = ask(&client, ("PATCH", &own), (MERGE, MARK), "").await;
            told.code() == 200
        })
        .await;
    }
    assert_eq!(told.event(&world.cluster).await["user"]["username"], "scopegate");
    for (method, target, body) in [
        ("PATCH", "{core}/namespaces/garden-{t}2/shoots/s2", MARK),
        ("GET", "/api/v1/namespaces/garden/secrets", ""),
        ("GET", "/api/v1/namespaces/garden-{t}1/secrets/y", ""),
    ] {
        let form = if body.is_empty() { "" } else { MERGE };
        let told = ask(&client, (method, &world.named(target)), (form, body), "").await;
        told.is_refusal(403, target);
        told.is_not_forwarded(&world.cluster, &world.admin).await;
    }
}

/// With Gardener's own wildcard role, a refusal that is left to upstream would be none.
#[tokio::test]
async fn nothing_is_left_to_a_garden_that_grants_gardenlets_everything() {
    let Some(cluster) = bare().await.map(Arc::new) else {
        return;
    };
    define(&cluster, &["seeds", "shoots"]).await;
    granted(&cluster).await;
    let admin = admin_client(&cluster).await;
    cluster.user("seed-a", "gardener.cloud:system:seed:seed-a", Some(SEEDS));
    created(&admin, &format!("{CORE}/seeds"), &objects::seed("seed-a")).await;
    let shoots = format!("{CORE}/namespaces/garden/shoots");
    for (name, seed) in [("s1", "seed-a"), ("s2", "seed-b")] {
        created(&admin, &shoots, &objects::shoot("garden", name, seed, "cp1")).await;
    }
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"});
    let group = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": SEEDS});
    let binding = json!({"metadata": {"name": "gardener.cloud:system:seeds"}, "roleRef": role, "subjects": [group]});
    created(&admin, BINDINGS, &binding).await;
    let direct = crate::gate::Client::new(&cluster.file("seed-a.kubeconfig")).await;
    until("the binding counts for nothing", async || {
        direct.get(&format!("{shoots}/s2")).await.code == StatusCode::OK
    })
    .await;

    let left = Rules::new("Current", "Upstream", FRONT_PROXY);
    let gate = Gated::start(&cluster, "unbounded", left, "").await;
    ready(gate.admin).await;
    gate.process.line("upstream lets every gardenlet").await;
    let client = gate.client("seed-a").await;
    for target in [
        format!("{shoots}/s2"),
        "/api/v1/secrets".to_owned(),
        "/api/v1/nodes".to_owned(),
    ] {
        let told = ask(&client, ("GET", &target), ("", ""), "").await;
        told.is_refusal(503, &target);
        told.is_not_forwarded(&cluster, &admin).await;
    }
    // What the rules allow needs nobody else's word.
    let event = json!({"metadata": {"name": "e", "namespace": "garden"}, "involvedObject": {"namespace": "garden"}});
    for (method, target, form, body, code) in [
        ("PATCH", format!("{shoots}/s1"), MERGE, MARK.to_owned(), 200),
        (
            "POST",
            "/api/v1/namespaces/garden/events".to_owned(),
            JSON,
            event.to_string(),
            201,
        ),
    ] {
        let told = ask(&client, (method, &target), (form, body), "").await;
        assert_eq!(told.code(), code, "{}", told.answer.body);
    }
    // Nothing is left by this one.
    let strict = Gated::start(&cluster, "strict", Rules::new("Current", "Deny", FRONT_PROXY), "").await;
    ready(strict.admin).await;
    let told = ask(&strict.client("seed-a").await, ("GET", "/api/v1/secrets"), ("", ""), "").await;
    told.is_refusal(403, "nothing is left to upstream");

    deleted(&admin, &format!("{BINDINGS}/gardener.cloud:system:seeds")).await;
    until("the binding counts for ever", async || {
        direct.get(&format!("{shoots}/s2")).await.code == StatusCode::FORBIDDEN
    })
    .await;
    let healed = Gated::start(&cluster, "healed", left, "").await;
    ready(healed.admin).await;
    healed.process.line("upstream keeps gardenlets within bounds").await;
    let told = ask(
        &healed.client("seed-a").await,
        ("GET", &format!("{shoots}/s2")),
        ("", ""),
        "",
    )
    .await;
    told.is_refusal(403, "upstream decides");
    told.event(&cluster).await;
}
