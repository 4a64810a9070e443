//! What Gardener's SeedAuthorizer and SeedRestriction say, in rows: the gate's rules for gardenlets are made after them. And a
//! cluster that has Gardener's resources.
//!
//! `e2e/oracle/gardener` is Gardener's own code. Rows in which it allows what it should not say so; the gate is stricter there.

mod asked;
mod created;
mod differential;
mod generated;
mod live;
mod server;
mod theirs;
mod world;
mod writes;

use serde_json::{Value, json};

use self::{
    theirs::{Gardener, Reach},
    world::{CORE, Who, bucket, core, entry, managed_seed, shoot, world},
};
use crate::oracle;

const A: Who = Who::Gardenlet("seed-a");
const B: Who = Who::Gardenlet("seed-b");
const CHILD: Who = Who::Gardenlet("child");
const EXTENSION: Who = Who::Account("extension-x");

const ALLOW: &str = "allow";
const UNRELATED: &str = "no relationship found";
const SELECTOR: &str = "must specify field or label selector for name seed-a";

/// Who, verb, group, resource or resource/subresource, namespace, name, label selector, and either `allow` or why there is no opinion.
type Read = (
    Who,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

#[rustfmt::skip]
const READS: &[Read] = &[
    (Who::Impostor, "patch", CORE, "shoots", "garden-p1", "s1", "", ""),
    (Who::Account("default"), "get", CORE, "seeds", "", "seed-a", "", ""),
    (Who::Gardenlet("<ambiguous>"), "get", CORE, "cloudprofiles", "", "cp1", "", UNRELATED),
    (EXTENSION, "create", "coordination.k8s.io", "leases", "seed-seed-a", "", "", ALLOW),
    (EXTENSION, "create", "coordination.k8s.io", "leases", "gardener-system-seed-lease", "", "", "lease object is not in seed namespace"),
    (A, "get", CORE, "cloudprofiles", "", "cp1", "", ALLOW),
    (A, "get", CORE, "cloudprofiles", "", "cp2", "", UNRELATED),
    (A, "get", CORE, "cloudprofiles/status", "", "cp1", "", "only the following subresources are allowed for this resource type: []"),
    (A, "patch", CORE, "cloudprofiles", "", "cp1", "", "only the following verbs are allowed for this resource type: [get list watch]"),
    (A, "get", "", "namespaces", "garden-p1", "garden-p1", "", ALLOW),
    (A, "get", "", "namespaces", "garden-p2", "garden-p2", "", UNRELATED),
    (A, "get", "", "namespaces", "seed-seed-a", "seed-seed-a", "", ALLOW),
    (A, "get", CORE, "projects", "", "p1", "", ALLOW),
    (A, "get", CORE, "shoots", "garden-p2", "s2", "", UNRELATED),
    (A, "delete", CORE, "shoots", "garden-p1", "s1", "", "only the following verbs are allowed for this resource type: [get list patch update watch]"),
    (A, "list", CORE, "shoots", "", "", "name.seed.gardener.cloud/seed-a=true", ALLOW),
    (A, "list", CORE, "shoots", "", "", "name.seed.gardener.cloud/seed-b=true", SELECTOR),
    // These two select what is not its own.
    (A, "list", CORE, "shoots", "", "", "!foo", ALLOW),
    (A, "list", CORE, "shoots", "", "", "name.seed.gardener.cloud/seed-a in (true,false)", ALLOW),
    (A, "list", CORE, "shoots", "", "", "", SELECTOR),
    (A, "list", CORE, "cloudprofiles", "", "", "", SELECTOR),
    (A, "update", CORE, "seeds", "", "", "", "No Object name found"),
    (A, "get", "seedmanagement.gardener.cloud", "gardenlets", "other", "seed-a", "", "only the following namespaces are allowed for this resource type: [garden]"),
    (A, "create", "", "events", "any", "", "", ALLOW),
    (A, "update", "events.k8s.io", "events", "any", "e", "", "only the following verbs are allowed for this resource type: [create patch]"),
    (A, "delete", CORE, "seeds", "", "child", "", ALLOW),
    (B, "delete", CORE, "seeds", "", "child", "", UNRELATED),
    (CHILD, "delete", CORE, "seeds", "", "child", "", ALLOW),
    // Its Seed is not there, but a ManagedSeed names it.
    (CHILD, "get", CORE, "seeds", "", "child", "", ALLOW),
    (Who::Gardenlet("nobody"), "get", CORE, "seeds", "", "nobody", "", UNRELATED),
    (EXTENSION, "create", "certificates.k8s.io", "certificatesigningrequests", "", "", "", "only the following verbs are allowed for this resource type: [get list watch]"),
    (A, "get", "", "secrets", "garden-p1", "x", "", ALLOW),
    (A, "list", "", "secrets", "seed-seed-a", "", "", ALLOW),
    (A, "list", "", "secrets", "garden", "", "", "only the following verbs are allowed for this resource type: [create delete get patch update]"),
    // It may be there, and somebody else's: the graph has never heard of it.
    (A, "delete", "", "secrets", "garden", "u", "", ALLOW),
];

#[test]
fn the_authorizer_says() {
    let Some(mut gardener) = gardener() else {
        return;
    };
    for row in READS {
        let &(who, verb, group, resource, namespace, name, labels, expected) = row;
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let mut request = who.user();
        let rest = json!({"verb": verb, "group": group, "resource": resource, "subresource": subresource,
            "namespace": namespace, "name": name, "labelSelector": labels});
        request
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        let answer = gardener.authorize(&request);
        let (decision, reason) = if expected == ALLOW {
            (ALLOW, "")
        } else {
            ("noopinion", expected)
        };
        assert_eq!(
            (answer.decision.as_str(), answer.reason.as_str()),
            (decision, reason),
            "{row:?}"
        );
    }
}

#[test]
fn the_restriction_says() {
    let Some(mut gardener) = gardener() else {
        return;
    };
    let not_its_own = "object does not belong to seed \"seed-a\"";
    let create = |object: Value| ("CREATE", object);
    let rows = [
        (Who::Impostor, create(bucket("n", Some("seed-b"))), 200, ""),
        (A, create(bucket("n", Some("seed-a"))), 200, ""),
        (A, create(bucket("n", Some("seed-b"))), 403, not_its_own),
        (A, create(bucket("n", None)), 403, not_its_own),
        // There is one already, so kube-apiserver will refuse it.
        (A, create(bucket("ub", Some("seed-b"))), 200, "object already exists"),
        (A, ("DELETE", bucket("ua", None)), 200, ""),
        (
            A,
            ("DELETE", bucket("ub", None)),
            403,
            "cannot delete unrelated BackupBucket",
        ),
        (
            A,
            ("UPDATE", bucket("ua", None)),
            400,
            "unexpected operation: \"UPDATE\"",
        ),
        (A, create(entry("n", "seed-a", "ua")), 200, ""),
        (A, create(entry("n", "seed-a", "ub")), 403, not_its_own),
        (A, create(entry("n", "seed-b", "ua")), 403, not_its_own),
        (
            A,
            create(entry("n", "seed-a", "none")),
            500,
            "BackupBucket.core.gardener.cloud \"none\" not found",
        ),
        (A, create(core("ShootState", "garden-p1", "s1", &json!({}))), 200, ""),
        (
            A,
            create(core("ShootState", "garden-p2", "s2", &json!({}))),
            403,
            not_its_own,
        ),
        (
            A,
            create(core("ShootState", "garden-p1", "none", &json!({}))),
            500,
            "Shoot.core.gardener.cloud \"none\" not found",
        ),
        (
            A,
            ("DELETE", core("Seed", "", "child", &json!({}))),
            403,
            "object can only be deleted if corresponding ManagedSeed has a deletion timestamp",
        ),
        (CHILD, ("DELETE", core("Seed", "", "child", &json!({}))), 200, ""),
        (A, create(core("Seed", "", "child", &json!({}))), 403, not_its_own),
        (
            A,
            create(core("Quota", "garden", "q", &json!({}))),
            400,
            "unexpected resource: \"quotas.core.gardener.cloud\"",
        ),
    ];
    for (who, (operation, object), code, message) in rows {
        let answer = gardener.admit(&write(who, operation, &object));
        let expected = (code == 200, code, message);
        assert_eq!(
            (answer.allowed, answer.code, answer.message.as_str()),
            expected,
            "{who:?} {operation} {object}"
        );
    }

    // Only while its shoot is being restored, and only a copy of the entry that the shoot has.
    let source = write(A, "CREATE", &entry("source-e", "seed-a", "ub"));
    let restored = |kind: &str| {
        let mut shoot = shoot("garden-p1", "s1", "seed-a", "cp1");
        let time = "2026-01-01T00:00:00Z";
        shoot["status"] = json!({"lastOperation":
            {"type": kind, "state": "Processing", "description": "", "lastUpdateTime": time, "progress": 1}});
        shoot
    };
    gardener.apply(&restored("Reconcile"));
    assert_eq!(gardener.admit(&source).code, 403);
    gardener.apply(&restored("Restore"));
    assert_eq!(gardener.admit(&source).code, 403, "there is nothing to copy");
    gardener.apply(&entry("e", "seed-b", "ub"));
    assert_eq!(gardener.admit(&source).code, 403, "it is no copy");
    gardener.apply(&entry("e", "seed-a", "ub"));
    assert_eq!(gardener.admit(&source).code, 200);

    let mut leaving = managed_seed();
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    gardener.apply(&leaving);
    let delete = |who| write(who, "DELETE", &core("Seed", "", "child", &json!({})));
    assert_eq!(gardener.admit(&delete(A)).code, 200);
    assert_eq!(gardener.admit(&delete(B)).code, 403);
}

#[test]
fn the_graph_follows_events() {
    let Some(mut gardener) = gardener() else {
        return;
    };
    let to_a = |gardener: &mut Gardener, kind, namespace, name| gardener.reach(kind, namespace, name, "seed-a");
    let (yes, no) = (
        Reach {
            vertex: true,
            path: true,
        },
        Reach {
            vertex: false,
            path: false,
        },
    );

    gardener.apply(&world::binding("y"));
    assert_eq!(to_a(&mut gardener, "Secret", "garden-p1", "x"), no);
    assert_eq!(to_a(&mut gardener, "Secret", "garden-p1", "y"), yes);

    // Whoever deletes a binding takes its shoot's edge along, and nobody puts it back.
    gardener.delete(&world::binding("y"));
    gardener.apply(&world::binding("y"));
    assert_eq!(
        to_a(&mut gardener, "SecretBinding", "garden-p1", "sb1"),
        Reach {
            vertex: true,
            path: false
        }
    );

    // What is on a child of the seed is in reach of the seed, by way of the child.
    gardener.apply(&shoot("garden-p1", "s4", "child", "cp4"));
    assert_eq!(to_a(&mut gardener, "Shoot", "garden-p1", "s4"), yes);

    gardener.reset();
    gardener.apply(&managed_seed());
    let edges = [
        "ManagedSeed:garden/child -> Seed:child",
        "ManagedSeed:garden/child -> Shoot:garden/child",
        "Secret:kube-system/bootstrap-token-872184 -> ManagedSeed:garden/child",
        "Seed:child -> ManagedSeed:garden/child",
    ];
    assert_eq!(gardener.edges(), edges);
}

fn gardener() -> Option<Gardener> {
    let mut gardener = Gardener::start(&oracle::path("gardener")?);
    for object in world() {
        gardener.apply(&object);
    }
    Some(gardener)
}

/// As kube-apiserver asks its webhooks.
fn write(who: Who, operation: &str, object: &Value) -> Value {
    let kind = object["kind"].as_str().unwrap();
    let resource = match kind {
        "BackupEntry" => "backupentries".to_owned(),
        kind => format!("{}s", kind.to_lowercase()),
    };
    let mut write = who.user();
    let rest = json!({"operation": operation, "group": CORE, "version": "v1beta1", "resource": resource, "kind": kind,
        "namespace": object["metadata"]["namespace"], "name": object["metadata"]["name"], "object": object});
    write.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    write
}
