//! Secrets, config maps and leases that gardenlets create: of their own shoots and their own seed, in whatever way they are made.

use scopegate::api::garden::{GARDEN, bootstrap_token_secret};
use serde_json::{Value, json};
use test_case::test_case;

use super::{
    objects,
    served::{CORE, MANAGEMENT, OPERATIONS, Served, stored},
    world::{APPLY, JSON, Rules, World},
    writes::{BY_IMPERSONATION, CURRENT, Creator, core},
};
use crate::restriction::encode::{PROTOBUF, encode_one};

fn secret(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}})
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

fn lease(name: &str) -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}})
}

#[test_case(Served::Custom, CURRENT; "custom")]
#[test_case(Served::Gardener, BY_IMPERSONATION; "gardener")]
#[tokio::test]
async fn small_objects_are_made_for_ones_own_shoots(served: Served, rules: Rules) {
    let Some(world) = World::open(served, "so").await else {
        return;
    };
    let gate = world.gate(rules).await;
    let seed = world.seed("a");
    let creator = Creator {
        world: &world,
        gate: &gate,
        seed: seed.clone(),
    };
    let (own, other) = (world.bucket("a").await, world.bucket("b").await);
    let generated = |bucket: &str| secret(&format!("generated-bucket-{bucket}"));
    let (at_one, at_two) = ("/api/v1/namespaces/garden-{t}1", "/api/v1/namespaces/garden-{t}2");
    let leases = "/apis/coordination.k8s.io/v1/namespaces";
    let issuers = "/api/v1/namespaces/gardener-system-shoot-issuer/secrets";
    let shoot = format!("{CORE}/namespaces/{}/shoots/s1", world.named("garden-{t}1"));
    let uid = stored(&world.admin, &shoot).await.unwrap()["metadata"]["uid"].clone();
    // The name has to be of the same shoot, which Gardener does not look at.
    let issuer = |place: &str, name: &str, uid: &str| {
        let mut secret = secret(&world.named(&format!("{{t}}p1--{uid}")));
        let labels = json!({"shoot.gardener.cloud/name": name, "shoot.gardener.cloud/namespace": world.named(place),
            "discovery.gardener.cloud/public": "serviceaccount"});
        secret["metadata"]["labels"] = labels;
        secret
    };
    let nameless = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "s1.ca-cluster"}});
    let rows = [
        (format!("{at_one}/secrets"), secret("s1.ssh-keypair"), 201),
        (format!("{at_two}/secrets"), secret("s2.ssh-keypair"), 403),
        (format!("{at_one}/secrets"), secret("none.monitoring"), 403),
        (format!("{at_one}/secrets"), secret("s1.other"), 403),
        // The gate answers itself, since it may be gone when upstream looks: what is there is there.
        (format!("{at_one}/secrets"), secret("y"), 409),
        ("/api/v1/namespaces/garden/secrets".to_owned(), generated(&own), 201),
        ("/api/v1/namespaces/garden/secrets".to_owned(), generated(&other), 403),
        ("/api/v1/namespaces/garden/secrets".to_owned(), generated("none"), 403),
        (
            issuers.to_owned(),
            issuer("garden-{t}1", "s1", uid.as_str().unwrap()),
            201,
        ),
        (issuers.to_owned(), issuer("garden-{t}1", "s1", "other"), 403),
        (
            issuers.to_owned(),
            issuer("garden-{t}2", "s2", uid.as_str().unwrap()),
            403,
        ),
        (issuers.to_owned(), secret("unlabelled"), 422),
        (format!("{at_one}/configmaps"), config_map("s1.ca-cluster"), 201),
        (format!("{at_two}/configmaps"), config_map("s2.ca-cluster"), 403),
        (format!("{at_one}/configmaps"), config_map("aud1"), 403),
        (format!("{at_one}/configmaps"), nameless, 403),
        (format!("{leases}/gardener-system-seed-lease/leases"), lease(&seed), 201),
        (
            format!("{leases}/gardener-system-seed-lease/leases"),
            lease(&world.seed("b")),
            403,
        ),
        (format!("{leases}/garden/leases"), lease(&seed), 403),
        (
            format!("{leases}/garden-{{t}}1/leases"),
            lease("gardenlet-leader-election"),
            201,
        ),
        (
            "/api/v1/namespaces/seed-{t}-a/serviceaccounts".to_owned(),
            account("any"),
            201,
        ),
        (format!("{at_one}/serviceaccounts"), account("any"), 403),
    ];
    for (path, object, code) in &rows {
        creator.posts(path, object, *code).await;
        // In the other form that such objects are sent in.
        let Some(encoded) = encode_one(object) else { continue };
        creator.sends(("POST", path), (PROTOBUF, &encoded), object, *code).await;
    }
    for (place, name, code) in [("garden-{t}1", "s1", 201), ("garden-{t}2", "s2", 403)] {
        let path = format!("{CORE}/namespaces/{place}/internalsecrets");
        creator
            .posts(&path, &core("InternalSecret", &format!("{name}.ca-client")), code)
            .await;
    }
    for (place, shoot, seed, code) in [("garden-{t}1", "s1", "a", 201), ("garden-{t}2", "s2", "b", 403)] {
        let path = format!("{OPERATIONS}/namespaces/{place}/bastions");
        let mut bastion = objects::bastion(&world.named(place), "new", &world.seed(seed));
        bastion["spec"]["shootRef"]["name"] = json!(shoot);
        creator.posts(&path, &bastion, code).await;
    }
    created_otherwise(&world, &creator).await;
    tokens(&world, &creator).await;
}

fn account(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
}

/// A replacement and an applied object create what is not there.
async fn created_otherwise(world: &World, creator: &Creator<'_>) {
    let leases = "/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases";
    let maps = "/api/v1/namespaces/garden-{t}1/configmaps";
    let secrets = "/api/v1/namespaces/garden-{t}1/secrets";
    let own = lease(&world.seed("a"));
    // Upstream creates leases so, but no secrets.
    creator
        .sends(
            ("PUT", &format!("{leases}/{{t}}-a")),
            (JSON, own.to_string().as_bytes()),
            &own,
            201,
        )
        .await;
    let map = config_map("s1.ca-kubelet");
    let applied = |path: String| path + "?fieldManager=m";
    for (path, object, code) in [
        (format!("{leases}/{{t}}-a"), own, 201),
        (format!("{maps}/s1.ca-kubelet"), map, 201),
        (format!("{maps}/s2.ca-kubelet"), config_map("s2.ca-kubelet"), 403),
        // The shoot refers to it, so it may be changed, but it is not for the seed to make.
        (format!("{maps}/aud1"), config_map("aud1"), 403),
        (format!("{secrets}/z"), secret("z"), 403),
    ] {
        let body = object.to_string();
        creator
            .sends(("PATCH", &applied(path)), (APPLY, body.as_bytes()), &object, code)
            .await;
    }
    // What is there may be changed, in the same words.
    world.create(maps, config_map("aud1")).await;
    let changed = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "aud1"}, "data": {"a": "b"}});
    let path = applied(format!("{maps}/aud1"));
    creator
        .sends(("PATCH", &path), (APPLY, changed.to_string().as_bytes()), &changed, 200)
        .await;
}

/// With which the gardenlet of a managed seed begins.
async fn tokens(world: &World, creator: &Creator<'_>) {
    let child = world.seed("child");
    let token = |seed: &str, usage: &str| {
        let description = format!(
            "A bootstrap token for the Gardenlet for seedmanagement.gardener.cloud/v1alpha1.ManagedSeed resource garden/{seed}."
        );
        let mut secret = secret(&bootstrap_token_secret(GARDEN, seed));
        secret["type"] = json!("bootstrap.kubernetes.io/token");
        secret["stringData"] = json!({"description": description, "token-id": "abcdef", "token-secret": "0123456789abcdef",
            "usage-bootstrap-authentication": usage, "usage-bootstrap-signing": usage});
        secret
    };
    let path = "/api/v1/namespaces/kube-system/secrets";
    creator.posts(path, &token(&child, "true"), 201).await;
    creator.posts(path, &token(&child, "false"), 422).await;
    creator.posts(path, &token(&world.seed("b"), "true"), 403).await;
    // It has begun: there is its Seed.
    world.create("{core}/seeds", objects::seed(&child)).await;
    creator.posts(path, &token(&child, "true"), 400).await;
    let other = Creator {
        seed: world.seed("b"),
        ..*creator
    };
    other.posts(path, &token(&child, "true"), 403).await;
    let managed = format!("{MANAGEMENT}/namespaces/garden/managedseeds/{child}");
    let renew = json!({"metadata": {"annotations": {"gardener.cloud/operation": "renew-kubeconfig"}}});
    world.patch(&managed, renew).await;
    creator.posts(path, &token(&child, "true"), 201).await;
}
