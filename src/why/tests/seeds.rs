use serde_json::{Value, json};
use test_case::test_case;

use super::*;
use crate::{
    authorizer::{Profile, SeedRules},
    graph::{Anchor, BackupBucket, BackupEntry, ManagedSeed, SecretBinding, Seed, Shoot},
};

fn gate(profile: Profile, fallback: Fallback) -> Authorizer {
    Authorizer {
        seeds: Some(SeedRules { profile, fallback }),
        ..GATE
    }
}

fn shoot(name: &str, seed: &str, more: &Value) -> Value {
    let mut shoot = json!({
        "metadata": {"name": name, "namespace": "garden-p1", "uid": format!("uid-of-{name}"),
            "annotations": {"authentication.gardener.cloud/issuer": "managed"}},
        "spec": {"seedName": seed, "secretBindingName": format!("binding-{name}")},
    });
    if let (Some(spec), Some(more)) = (shoot["spec"].as_object_mut(), more.as_object()) {
        spec.extend(more.clone());
    }
    shoot
}

/// Shoot a is on seed-a and b on seed-b, each with a binding to a secret; the seed child is made of shoot c, which is on seed-a. The
/// bucket is seed-b's, and seed-a has an entry in it. A node needs a secret that shoot a needs too.
fn garden() -> Known {
    let mut store = Store::new(Anchor::Seed);
    for seed in ["seed-a", "seed-b", "child"] {
        apply::<Seed>(&mut store, json!({"metadata": {"name": seed}}));
    }
    for (name, seed) in [("a", "seed-a"), ("b", "seed-b")] {
        let more = json!({"resources": [{"name": "r", "resourceRef":
            {"apiVersion": "v1", "kind": "Secret", "name": "shared"}}]});
        apply::<Shoot>(&mut store, shoot(name, seed, &more));
        let binding = json!({"metadata": {"name": format!("binding-{name}"), "namespace": "garden-p1"},
            "secretRef": {"namespace": "garden-p1", "name": format!("cloud-{name}")}});
        apply::<SecretBinding>(&mut store, binding);
    }
    let made = json!({"metadata": {"name": "c", "namespace": "garden"}, "spec": {"seedName": "seed-a"}});
    apply::<Shoot>(&mut store, made);
    let managed = json!({"metadata": {"name": "child", "namespace": "garden"}, "spec": {"shoot": {"name": "c"}}});
    apply::<ManagedSeed>(&mut store, managed);
    let bucket = json!({"metadata": {"name": "bucket"}, "spec": {"seedName": "seed-b"}});
    apply::<BackupBucket>(&mut store, bucket);
    let entry = json!({"metadata": {"name": "entry", "namespace": "garden-p1"},
        "spec": {"seedName": "seed-a", "bucketName": "bucket"}});
    apply::<BackupEntry>(&mut store, entry);

    let mut pods = Store::default();
    let pod = json!({"metadata": {"name": "web", "namespace": "garden-p1"},
        "spec": {"nodeName": "node-a", "volumes": [{"secret": {"secretName": "shared"}}]}});
    apply::<Pod>(&mut pods, pod);
    Known {
        nodes: view(&mut pods),
        seeds: Some(view(&mut store)),
        quarantine: Some(Arc::default()),
    }
}

fn told(text: &str, profile: Profile, fallback: Fallback) -> Explanation {
    let explanation = explain(&asked(text), &gate(profile, fallback), &garden());
    let json = serde_json::to_string(&explanation).unwrap();
    assert_eq!(
        serde_json::from_str::<Explanation>(&json).unwrap(),
        explanation,
        "{json}"
    );
    explanation
}

#[test]
fn an_allowed_request_of_a_seed_shows_its_path() {
    let expected = "\
ALLOWED: seed seed-a may get secrets garden-p1/cloud-a
  rule      seed/secrets
  path      seed-a ← shoot garden-p1/a (spec.secretBindingName) ← secretbinding garden-p1/binding-a (secretRef) ← secret garden-p1/cloud-a
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
";
    let told = told(
        "seed/seed-a get secret cloud-a garden-p1",
        Profile::Current,
        Fallback::Deny,
    );
    assert_eq!(told.to_string(), expected);
    let json = serde_json::to_value(&told).unwrap();
    assert_eq!(
        (&json["request"]["seed"], &json["path"]["seed"]),
        (&json!("seed-a"), &json!("seed-a"))
    );
    assert!(json["request"].get("node").is_none(), "{json}");
}

#[test]
fn a_refused_request_of_a_seed_shows_whose_it_is() {
    let expected = "\
REFUSED: seed seed-a may not get secrets garden-p1/cloud-b
  rule      seed/secrets
  missing   secret garden-p1/cloud-b is needed by secretbinding garden-p1/binding-b (secretRef), which is needed by shoot garden-p1/b (spec.secretBindingName), which belongs to seed-b (spec.seedName), not to seed-a
  client    403 secrets \"cloud-b\" is forbidden: User \"gardener.cloud:system:seed:seed-a\" cannot get resource \"secrets\" in API group \"\" in the namespace \"garden-p1\": no relationship found between seed 'seed-a' and this object
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
            a request is refused only after the graph had time to catch up and upstream was asked too
";
    let text = "seed/seed-a get secret cloud-b garden-p1";
    assert_eq!(told(text, Profile::Current, Fallback::Deny).to_string(), expected);

    let left = told(text, Profile::Current, Fallback::Upstream);
    assert_eq!((left.answer, left.client.as_ref()), (Answer::Allow, None));
    let left = left.to_string();
    for part in [
        "LEFT TO UPSTREAM: whether seed seed-a may get secrets garden-p1/cloud-b\n",
        "  rule      none allows it; callers.seeds.fallback leaves it to upstream, whose RBAC decides\n",
        "which belongs to seed-b (spec.seedName), not to seed-a\n",
        "a request is left to it only after the graph had time",
    ] {
        assert!(left.contains(part), "{part} in {left}");
    }
}

#[test_case("seed/seed-a get secret gone garden-p1" => vec!["nothing on seed seed-a refers to secret garden-p1/gone, nor does anything on another"]; "nobody's")]
#[test_case("seed/other get shoot a garden-p1" => vec!["no Seed other is known, and nothing is on it; is that its name?", "shoot garden-p1/a belongs to seed-a (spec.seedName), not to other"]; "no seed")]
#[test_case("seed/seed-a get shoot gone garden-p1" => vec!["shoot garden-p1/gone is not there, or is on no seed (spec.seedName)"]; "no shoot")]
#[test_case("seed/seed-a update bbc bucket" => vec!["seed-a ← backupentry garden-p1/entry (spec.bucketName) ← backupbucket bucket, but a bucket is written by the seed that it is assigned to (spec.seedName), not by those with entries in it", "backupbucket bucket belongs to seed-b (spec.seedName), not to seed-a"]; "a bucket")]
#[test_case("seed/child update ms child garden" => vec!["child ← managedseed garden/child, but a seed may only read the ManagedSeed it is made of; it is written by the seed that the shoot is on (spec.shoot.name)", "managedseed garden/child belongs to shoot garden/c (spec.shoot.name), which belongs to seed-a (spec.seedName), not to child"]; "a managed seed")]
#[test_case("seed/seed-a get secret p1--uid-of-b gardener-system-shoot-issuer" => vec!["secret gardener-system-shoot-issuer/p1--uid-of-b is needed by shoot garden-p1/b (metadata.uid), which belongs to seed-b (spec.seedName), not to seed-a"]; "an issuer")]
#[test_case("seed/seed-a get secret x seed-seed-b" => vec!["nothing on seed seed-a refers to secret seed-seed-b/x, nor does anything on another"]; "in the namespace of another")]
#[test_case("seed/seed-a get seed seed-b" => vec!["seed seed-b is made of no shoot that is on a seed; only its own gardenlet reads it"]; "another seed")]
fn what_is_missing_on_a_seed_is_told(text: &str) -> Vec<String> {
    let told = told(text, Profile::Current, Fallback::Deny);
    assert_eq!(told.answer, Answer::Deny, "{told}");
    told.missing.unwrap().text
}

#[test_case("seed/seed-b update bbc bucket" => "seed-b ← backupbucket bucket"; "a bucket of its own")]
#[test_case("seed/seed-a patch ms child garden" => "seed-a ← shoot garden/c ← managedseed garden/child (spec.shoot.name)"; "a managed seed by its shoot")]
#[test_case("seed/seed-a get secret p1--uid-of-a gardener-system-shoot-issuer" => "seed-a ← shoot garden-p1/a (metadata.uid) ← secret gardener-system-shoot-issuer/p1--uid-of-a"; "an issuer")]
#[test_case("seed/seed-a get seed seed-a" => "seed-a: it is the object itself"; "itself")]
#[test_case("seed/seed-a get ns garden-p1" => "seed-a ← shoot garden-p1/a (metadata.namespace) ← namespace garden-p1"; "a namespace")]
#[test_case("system:serviceaccount:seed-seed-a:extension-x get shoot a garden-p1" => "seed-a ← shoot garden-p1/a"; "an extension")]
fn what_leads_there_is_told(text: &str) -> String {
    let told = told(text, Profile::Current, Fallback::Deny);
    assert_eq!((told.answer, &told.missing), (Answer::Allow, &None), "{told}");
    told.path.unwrap().text
}

#[test_case("seed/seed-a list shoots" => "REFUSED: seed seed-a may not list shoots.core.gardener.cloud"; "no selector")]
#[test_case("seed/seed-a list shoots    name.seed.gardener.cloud/seed-a=true" => "ALLOWED: seed seed-a may list shoots.core.gardener.cloud with label selector name.seed.gardener.cloud/seed-a=true"; "by label")]
#[test_case("seed/seed-a watch bastions   spec.seedName=seed-a" => "ALLOWED: seed seed-a may watch bastions.operations.gardener.cloud with field selector spec.seedName=seed-a"; "by field")]
#[test_case("system:serviceaccount:seed-seed-a:extension-x get shoot a garden-p1" => "ALLOWED: system:serviceaccount:seed-seed-a:extension-x, for seed seed-a, may get shoots.core.gardener.cloud garden-p1/a"; "an extension")]
fn verdicts(text: &str) -> String {
    told(text, Profile::Current, Fallback::Deny).verdict()
}

#[test]
fn what_seeds_write_is_for_seed_restriction() {
    let text = told("seed/seed-a create shootstates", Profile::Current, Fallback::Deny).to_string();
    assert!(
        text.contains("  then      what it writes is judged by SeedRestriction when it comes\n"),
        "{text}"
    );
}

#[test]
fn seeds_without_rules_are_like_anybody_else() {
    let text = explain(&asked("seed/seed-a get shoot a garden-p1"), &GATE, &known()).to_string();
    for part in [
        "REFUSED: seed seed-a may not get shoots",
        "  rule      none has an opinion; callers.others refuses it\n",
        "  because   this gate has no rules for seeds (callers.seeds.enabled)\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let extension = "system:serviceaccount:seed-seed-a:extension-x get shoot a garden-p1";
    let text = told(extension, Profile::Document, Fallback::Deny).to_string();
    assert!(
        text.contains("know no extensions in this profile (callers.seeds.profile)"),
        "{text}"
    );
}

/// Each is answered from its own graph.
#[test]
fn doubts_about_one_graph_are_not_about_the_other() {
    let mut known = garden();
    known.seeds.as_mut().unwrap().doubt = Some("shoots has not synced yet".to_owned());
    for fallback in [Fallback::Deny, Fallback::Upstream] {
        let gate = gate(Profile::Current, fallback);
        for (text, answer) in [
            ("seed/seed-a get secret cloud-a garden-p1", Answer::Unknown),
            ("seed/seed-a get secret cloud-b garden-p1", Answer::Unknown),
            ("seed/seed-a get controllerregistrations x", Answer::Allow),
            ("node-a get secret shared garden-p1", Answer::Allow),
        ] {
            assert_eq!(
                explain(&asked(text), &gate, &known).answer,
                answer,
                "{text} {fallback:?}"
            );
        }
    }
}

fn who(resource: &str, namespace: &str, name: &str, fallback: Fallback) -> WhoCan {
    let object = Object {
        resource: resource.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    let gate = gate(Profile::Current, fallback);
    let who = who_can(&object.parse().unwrap(), &gate, &garden()).unwrap();
    let json = serde_json::to_string(&who).unwrap();
    assert_eq!(serde_json::from_str::<WhoCan>(&json).unwrap(), who, "{json}");
    who
}

#[test]
fn readers_are_nodes_and_seeds() {
    let expected = "\
1 node can read secret garden-p1/shared
  path      node-a ← pod garden-p1/web (spec.volumes[0].secret.secretName) ← secret garden-p1/shared
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
2 seeds can read secret garden-p1/shared
  path      seed-a ← shoot garden-p1/a (spec.resources[0].resourceRef) ← secret garden-p1/shared
            seed-b ← shoot garden-p1/b (spec.resources[0].resourceRef) ← secret garden-p1/shared
  snapshot  generation 1 from upstream, all of it confirmed within the last 1.2 s
";
    assert_eq!(
        who("secret", "garden-p1", "shared", Fallback::Deny).to_string(),
        expected
    );
}

#[test_case("shoot", "garden-p1", "a" => "1 seed can read shoot garden-p1/a|seed-a ← shoot garden-p1/a"; "only seeds")]
#[test_case("shoot", "garden", "seed-a" => "1 seed can read shoot garden/seed-a|seed-a: it is its own, whatever refers to it"; "a seed that hosts itself")]
#[test_case("seed", "", "child" => "2 seeds can read seed child|child: it is the object itself|seed-a ← shoot garden/c ← managedseed garden/child (spec.shoot.name, metadata.name) ← seed child"; "a seed")]
#[test_case("seed", "", "seed-b" => "1 seed can read seed seed-b|seed-b: it is the object itself"; "a seed made of nothing")]
#[test_case("ctrlreg", "", "x" => "every seed can read controllerregistration x"; "everybody")]
#[test_case("lease", "gardener-system-seed-lease", "seed-a" => "1 seed can read lease gardener-system-seed-lease/seed-a|seed-a ← lease gardener-system-seed-lease/seed-a"; "a lease")]
#[test_case("ns", "", "garden-p1" => "2 seeds can read namespace garden-p1|seed-a ← shoot garden-p1/a (metadata.namespace) ← namespace garden-p1|seed-b ← shoot garden-p1/b (metadata.namespace) ← namespace garden-p1"; "a namespace")]
fn readers_of_a_garden(resource: &str, namespace: &str, name: &str) -> String {
    let who = who(resource, namespace, name, Fallback::Deny);
    assert!(who.is_anyone() && who.others.is_none(), "{who}");
    let verdict = who.to_string().lines().next().unwrap().to_owned();
    let paths = who.seeds.unwrap().readers.into_iter().map(|trail| trail.text);
    std::iter::once(verdict).chain(paths).collect::<Vec<_>>().join("|")
}

#[test]
fn a_secret_of_a_seed_is_read_by_it() {
    let own = who("secret", "seed-seed-a", "x", Fallback::Deny).seeds.unwrap();
    assert_eq!(own.readers[0].text, "seed-a: it is its own, whatever refers to it");
    let issuer = who("secret", "gardener-system-shoot-issuer", "p1--uid-of-b", Fallback::Deny);
    assert_eq!(issuer.object, "secret gardener-system-shoot-issuer/p1--uid-of-b");
    let by = &issuer.seeds.unwrap().readers[0];
    assert_eq!(
        by.text,
        "seed-b ← shoot garden-p1/b (metadata.uid) ← secret gardener-system-shoot-issuer/p1--uid-of-b"
    );
    let left = who("secret", "garden-p1", "gone", Fallback::Upstream).to_string();
    for part in [
        "no seed is related to secret garden-p1/gone, and upstream decides who can read it\n",
        "  missing   nothing on any seed refers to secret garden-p1/gone\n",
        "  others    callers.seeds.fallback leaves the reads of any other seed to upstream\n",
    ] {
        assert!(left.contains(part), "{part} in {left}");
    }
}

#[test]
fn without_rules_for_seeds_their_objects_are_nobodys() {
    for resource in ["shoots", "leases"] {
        let object = Object {
            resource: resource.to_owned(),
            name: "x".to_owned(),
            ..Object::default()
        };
        let unclear = who_can(&object.parse().unwrap(), &GATE, &garden())
            .unwrap_err()
            .to_string();
        for part in ["does not depend on what refers to it", "callers.seeds.enabled"] {
            assert!(unclear.contains(part), "{unclear}");
        }
    }
}
