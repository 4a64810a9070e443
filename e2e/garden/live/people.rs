//! Who speaks for a seed: gardenlets by certificate, extensions by token, and who does not.

use http::StatusCode;
use scopegate::demo::site::{FRONT_PROXY, IMPERSONATE};
use serde_json::json;
use test_case::test_case;

use super::{
    served::{Served, until},
    told::ask,
    world::{JSON, MERGE, Rules, World},
};
use crate::{
    graph::created,
    kubectl::{kubectl, run},
};

const SEEDS: &str = "gardener.cloud:system:seeds";
const MARK: &str = r#"{"metadata":{"annotations":{"changed":"true"}}}"#;

#[test_case(Served::Custom, "xf", FRONT_PROXY; "front proxy, custom")]
#[test_case(Served::Gardener, "xi", IMPERSONATE; "impersonate, gardener")]
#[tokio::test]
async fn an_extension_is_known_by_its_token(served: Served, test: &'static str, identity: &'static str) {
    let Some(world) = World::open(served, test).await else {
        return;
    };
    if identity == IMPERSONATE {
        may_be_accounts(&world).await;
    }
    let [extension, other] = [world.token("extension-x").await, world.token("default").await];
    let rules = Rules::new("Current", "Upstream", identity);
    let gate = world.gate(rules).await;
    let document = world
        .gate_with(
            "-document",
            Rules {
                profile: "Document",
                ..rules
            },
            "",
        )
        .await;
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}}).to_string();
    let leases = |place: &str| format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", world.named(place));
    let home = leases("seed-{t}-a");
    let one = format!("{home}/l");
    let csrs = "/apis/certificates.k8s.io/v1/certificatesigningrequests".to_owned();
    let shoot = world.named("{core}/namespaces/garden-{t}1/shoots/s1");
    let foreign = world.named("{core}/namespaces/garden-{t}2/shoots/s2");
    // The gate, the token, method and target, body, and the code.
    let rows = [
        (&gate, &other, "POST", &home, lease.as_str(), 403),
        (&document, &extension, "POST", &home, &lease, 403),
        (&gate, &extension, "POST", &home, &lease, 201),
        (&gate, &extension, "POST", &home, &lease, 409),
        (&gate, &extension, "PATCH", &one, MARK, 200),
        (&gate, &extension, "GET", &home, "", 200),
        (&gate, &other, "GET", &one, "", 403),
        (
            &gate,
            &extension,
            "POST",
            &leases("gardener-system-seed-lease"),
            &lease,
            403,
        ),
        (&gate, &extension, "POST", &leases("garden"), &lease, 403),
        (&gate, &extension, "GET", &shoot, "", 200),
        (&gate, &extension, "PATCH", &shoot, MARK, 200),
        (&gate, &extension, "PATCH", &foreign, MARK, 403),
        (&gate, &other, "GET", &shoot, "", 403),
        (&gate, &extension, "GET", &csrs, "", 403),
        (&gate, &extension, "DELETE", &one, "", 200),
    ];
    for (gate, token, method, target, body, code) in rows {
        let form = match (body, method) {
            ("", _) => "",
            (_, "PATCH") => MERGE,
            _ => JSON,
        };
        let told = ask(&gate.nobody().await, (method, target), (form, body), token).await;
        if code == 200 || code == 201 {
            assert_eq!(told.code(), code, "{method} {target}: {}", told.answer.body);
        } else {
            told.is_refusal(code, &format!("{method} {target}"));
        }
    }
    for place in ["gardener-system-seed-lease", "garden"] {
        let answer = world.admin.get(&format!("{}/l", leases(place))).await;
        assert_eq!(answer.code, StatusCode::NOT_FOUND);
    }
}

/// What an operator adds for the extensions of each seed: to be service accounts in its namespace, and their groups.
async fn may_be_accounts(world: &World) {
    let groups = [
        "system:serviceaccounts".to_owned(),
        world.named("system:serviceaccounts:seed-{t}-a"),
    ];
    let groups = json!({"apiGroups": [""], "resources": ["groups"], "resourceNames": groups, "verbs": ["impersonate"]});
    let accounts = json!({"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]});
    let (name, place) = (world.named("{t}-accounts"), world.named("/namespaces/seed-{t}-a"));
    for (place, prefix, kind, rule) in [("", "cluster", "ClusterRole", groups), (&place, "", "Role", accounts)] {
        let path = format!("/apis/rbac.authorization.k8s.io/v1{place}/{prefix}role");
        let role = json!({"metadata": {"name": name}, "rules": [rule]});
        created(&world.admin, &format!("{path}s"), &role).await;
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
        let user = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "scopegate"});
        let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": [user]});
        created(&world.admin, &format!("{path}bindings"), &binding).await;
    }
}

#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn names_that_only_look_like_a_seeds_are_nobodys(served: Served) {
    let Some(world) = World::open(served, "nb").await else {
        return;
    };
    let prefix = "gardener.cloud:system:seed:";
    let own = format!("{prefix}{}", world.seed("a"));
    let people = [
        ("ambiguous", format!("{prefix}<ambiguous>"), Some(SEEDS)),
        ("nameless", prefix.to_owned(), Some(SEEDS)),
        ("groupless", own, None),
        ("unprefixed", world.seed("a"), Some(SEEDS)),
    ];
    let gate = world.gate(Rules::new("Current", "Upstream", FRONT_PROXY)).await;
    let strict = world
        .gate_with("-strict", Rules::new("Current", "Deny", FRONT_PROXY), "")
        .await;
    for (file, name, group) in &people {
        let file = world.named(&format!("{{t}}-{file}"));
        world.cluster.user(&file, name, *group);
        for gate in [&gate, &strict] {
            let client = gate.client(&file).await;
            for (method, target, body) in [
                ("GET", "{core}/cloudprofiles/{t}-cp1", ""),
                ("PATCH", "{core}/namespaces/garden-{t}1/shoots/s1", MARK),
                ("GET", "/api/v1/namespaces/seed-{t}-a/secrets", ""),
            ] {
                let form = if body.is_empty() { "" } else { MERGE };
                let told = ask(&client, (method, &world.named(target)), (form, body), "").await;
                told.is_refusal(403, &format!("{name} {method} {target}"));
            }
        }
    }
}

#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn kubectl_tells_a_gardenlet_what_it_may(served: Served) {
    let Some(world) = World::open(served, "kc").await else {
        return;
    };
    let gate = world.gate(Rules::new("Current", "Upstream", FRONT_PROXY)).await;
    let seed = world.seed("a");
    gate.client(&seed).await;
    let kubeconfig = world.cluster.file(&format!("{}-{seed}-client.kubeconfig", gate.name));
    let place = world.named("garden-{t}1");
    let label = format!("name.seed.gardener.cloud/{seed}=true");
    let steps: &[(&[&str], bool, &str)] = &[
        (
            &["get", "shoot", "s1", "-n", &place, "-o", "name"],
            true,
            "shoot.core.gardener.cloud/s1",
        ),
        (
            &["get", "shoots", "-A", "-l", &label, "-o", "name"],
            true,
            "shoot.core.gardener.cloud/s1",
        ),
        (&["get", "shoots", "-A"], false, "(Forbidden)"),
        (
            &["annotate", "shoot", "s1", "-n", &place, "by=kubectl"],
            true,
            "annotated",
        ),
        (
            &["annotate", "shoot", "s4", "-n", &place, "by=kubectl"],
            false,
            "(Forbidden)",
        ),
        (&["get", "secret", "x", "-n", &place, "-o", "name"], true, "secret/x"),
        (&["get", "secret", "y", "-n", &place], false, "(Forbidden)"),
        (&["delete", "secret", "none", "-n", &place], false, "(NotFound)"),
    ];
    for (arguments, works, says) in steps {
        let Some((worked, said)) = kubectl(&kubeconfig, arguments).await else {
            return;
        };
        assert!(worked == *works && said.contains(says), "{arguments:?}: {said}");
    }
    let lease = |name: &str| {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": name, "namespace": "gardener-system-seed-lease"}})
        .to_string()
    };
    for (name, works, says) in [
        (seed, true, "created"),
        (world.seed("b"), false, "does not belong to seed"),
    ] {
        let (worked, said) = run(&kubeconfig, &["create", "-f", "-"], &lease(&name), &[])
            .await
            .unwrap();
        assert!(worked == works && said.contains(says), "{said}");
    }
}

/// By the names that dashboards of Gardener know.
#[test_case(Served::Custom; "custom")]
#[test_case(Served::Gardener; "gardener")]
#[tokio::test]
async fn gardeners_metrics_are_kept_by_their_names(served: Served) {
    let Some(world) = World::open(served, "mt").await else {
        return;
    };
    let gate = world.gate(Rules::new("Current", "Deny", FRONT_PROXY)).await;
    let client = gate.client(&world.seed("a")).await;
    for target in [
        "{core}/cloudprofiles/{t}-cp1",
        "/api/v1/namespaces/garden-{t}1/secrets/y",
    ] {
        client.get(&world.named(target)).await;
    }
    world
        .patch("{core}/seeds/{t}-b", serde_json::from_str(MARK).unwrap())
        .await;
    let prefix = "gardener_admission_controller_seed_authorizer_graph";
    let wanted = [
        format!("{prefix}_update_duration_seconds_count{{kind=\"Seed\",operation=\"CreateOrUpdate\"}}"),
        format!("{prefix}_update_duration_seconds_count{{kind=\"Shoot\",operation=\"CreateOrUpdate\"}}"),
        format!("{prefix}_path_check_duration_seconds_count{{fromKind=\"CloudProfile\",toKind=\"Seed\"}}"),
        format!("{prefix}_path_check_duration_seconds_count{{fromKind=\"Secret\",toKind=\"Seed\"}}"),
        format!("{prefix}_path_check_duration_seconds_bucket{{le=\"0.2048\",fromKind=\"Secret\",toKind=\"Seed\"}}"),
    ];
    for metric in wanted {
        until(&format!("there is no {metric}"), async || {
            gate.metrics().await.lines().any(|line| line.starts_with(&metric))
        })
        .await;
    }
}
