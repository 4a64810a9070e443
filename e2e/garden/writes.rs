//! The gate's SeedRestriction beside Gardener's own, over gardens and writes that are made up.
//!
//! Both see the same objects. What exists is compared apart: Gardener admits that it is created once more, and the gate does not let
//! it come that far. Where the gate asks for more, a write that it refuses says so itself.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use http::{Request, header::CONTENT_TYPE};
use jiff::Timestamp;
use scopegate::{
    admission::{
        Admission, Extended, Known, MirrorPodOwner, NodeRestriction, Payload, Ruling, SeedRestriction, Told, Unsure,
    },
    authorizer::{Authorized, Authorizer, Fallback, Profile, SeedRules},
    caller::Caller,
    graph::Snapshot,
    quarantine::Quarantine,
    request::{Head, ResourceRequest},
    rules::Modes,
};
use serde_json::{Value, json};

use super::{
    asked::somebody,
    created::{Write, write},
    differential::{Garden, gate},
    generated::THINGS,
    theirs::Gardener,
};
use crate::{
    oracle,
    random::{Random, seed},
    report,
};

const GARDENS: usize = 10;
const EVENTS: usize = 50;
const WRITES: usize = 400;

#[test]
fn writes_are_restricted_as_gardener_restricts_them() {
    let Some(oracle) = oracle::path("gardener") else { return };
    let mut gardener = Gardener::start(&oracle);
    let mut random = Random::new(seed());
    let (mut codes, mut stricter) = (BTreeMap::<u16, usize>::new(), BTreeMap::<&str, usize>::new());
    for _ in 0..GARDENS {
        let mut garden = Garden::default();
        for _ in 0..EVENTS {
            garden.event(&mut random);
        }
        garden.give(&mut gardener);
        let snapshot = garden.publish();
        for _ in 0..WRITES {
            let (user, _) = somebody(&mut random);
            let write = write(&mut random);
            let theirs = gardener.admit(&write.as_gardener_asks(&user.name, &user.groups));
            let exists = theirs.message == "object already exists";
            let (ours, why) = judge(&write, &Caller::from(user.clone()), &garden, &snapshot);
            let told = format!("{user:?} {write:?}: {theirs:?}, {ours} {why}, in\n{}", garden.told());
            match (theirs.code, ours) {
                (200, 409) => assert!(exists, "{told}"),
                // Only upstream knows whether it may create such things at all, so it is not told that there is one.
                (200, 403) if exists => {
                    let authorized = write.authorized(&Caller::from(user), &snapshot);
                    assert!(authorized.is_left_by_seed_rules(), "{told}");
                }
                (theirs, 403) if theirs != 403 && write.asks_for_more(&why).is_some() => {
                    *stricter.entry(write.asks_for_more(&why).unwrap()).or_default() += 1;
                }
                // Gardener gives up at the first managed seed whose shoot is not there; the gate asks about those that matter.
                (500, 200 | 403) if write.is_by_managed_seeds() => {
                    *stricter.entry("a managed seed of another seed").or_default() += 1;
                }
                (theirs, ours) => assert_eq!(theirs, ours, "{told}"),
            }
            *codes.entry(ours).or_default() += 1;
        }
    }
    println!("writes by what came of them: {codes:?}; the gate is stricter: {stricter:?}");
    for code in [200, 400, 403, 409, 422, 500] {
        assert!(codes.contains_key(&code), "no {code} in {codes:?}");
    }
    report::note("gardener-writes", &json!({"codes": codes, "stricter": stricter}));
}

/// What the gate answers, with all that it asks for on the way, and what it says about it.
fn judge(write: &Write, caller: &Caller, garden: &Garden, snapshot: &Arc<Snapshot>) -> (u16, String) {
    let authorized = write.authorized(caller, snapshot);
    let (admission, mut payload) = (admission(), Payload::Whole(Bytes::from(write.body())));
    let mut told = Told::default();
    loop {
        let known = Known::new((snapshot, true), true, &told).at(Timestamp::now());
        let unsure = match admission.admit(&authorized, &mut payload, &known) {
            Err(rejection) => return (rejection.code.as_u16(), rejection.message.to_string()),
            Ok(Ruling::Admitted(_)) => return (200, String::new()),
            Ok(Ruling::Unsure(unsure)) => unsure,
        };
        match unsure {
            Unsure::Read(object) => {
                let found = stored(garden, &object);
                told.read.push((*object, found));
            }
            Unsure::Objects(wanted) => told.objects.extend(wanted.into_iter().map(|wanted| (wanted, None))),
            other => panic!("{other:?} is asked for {write:?}"),
        }
    }
}

fn stored(garden: &Garden, request: &ResourceRequest) -> Option<Bytes> {
    let plural = |kind: &str| match kind {
        "BackupEntry" => "backupentries".to_owned(),
        kind => format!("{}s", kind.to_lowercase()),
    };
    let found = garden.objects.iter().find(|((kind, namespace, name), _)| {
        plural(kind) == request.resource.resource && *namespace == request.namespace && *name == request.name
    });
    found.map(|(_, object)| Bytes::from(object.to_string()))
}

impl Write {
    fn as_gardener_asks(&self, user: &str, groups: &[String]) -> Value {
        let kind = match self.resource {
            "backupentries" => "BackupEntry".to_owned(),
            _ => {
                let titles = scopegate::graph::Kind::ALL.iter().map(|kind| kind.title());
                let mut titles = titles.filter(|title| format!("{}s", title.to_lowercase()) == self.resource);
                titles.next().unwrap().to_owned()
            }
        };
        let api_version = match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        };
        let mut object = self.object.clone();
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(kind);
        json!({
            "user": user, "groups": groups, "operation": self.operation, "group": self.group, "version": self.version,
            "resource": self.resource, "kind": kind, "namespace": self.object["metadata"]["namespace"],
            "name": self.object["metadata"]["name"], "object": object,
        })
    }

    fn body(&self) -> String {
        self.object.to_string()
    }

    fn authorized(&self, caller: &Caller, snapshot: &Snapshot) -> Arc<Authorized> {
        let text = |key: &str| self.object["metadata"][key].as_str().unwrap_or_default();
        let mut path = match self.group {
            "" => "/api/v1".to_owned(),
            group => format!("/apis/{group}/{}", self.version),
        };
        if !text("namespace").is_empty() {
            path += &format!("/namespaces/{}", text("namespace"));
        }
        path += &format!("/{}", self.resource);
        let method = match self.operation {
            "CREATE" => "POST",
            "UPDATE" => "PUT",
            _ => "DELETE",
        };
        if method != "POST" {
            path += &format!("/{}", text("name"));
        }
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, "application/json");
        let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
        let authorizer = Authorizer {
            seeds: Some(SeedRules {
                profile: Profile::Current,
                fallback: Fallback::Upstream,
            }),
            ..gate()
        };
        let decided = authorizer.authorize(caller.clone(), head, Quarantine::nobody(), snapshot);
        Arc::new(decided.or_else(|denied| authorizer.condone(denied)).unwrap())
    }

    /// Whether nothing but a managed seed can tell whose it is.
    fn is_by_managed_seeds(&self) -> bool {
        let name = self.object["metadata"]["name"].as_str().unwrap();
        self.resource == "secrets" && (THINGS.contains(&name) || name == "x.y")
    }

    /// What the gate wants to see that Gardener does not look at.
    fn asks_for_more(&self, why: &str) -> Option<&'static str> {
        let known = [
            ("its only subject must be", "subjects of a binding"),
            (
                "it is not called like the bootstrap token",
                "the name of a bootstrap token",
            ),
            ("its name must end with the uid", "the name of an issuer"),
            ("it is not for a shoot of the seed", "the shoot of a bastion"),
        ];
        let found = known.iter().find(|(text, _)| why.contains(text));
        found.map(|(_, more)| *more)
    }
}

fn admission() -> Admission {
    Admission {
        node_restriction: NodeRestriction {
            audiences: true,
            any_certificate: false,
            pod_certificates: false,
            apply: false,
            mirror_pod_owner: MirrorPodOwner::Upstream,
            extended: Extended::default(),
        },
        seeds: Some(SeedRestriction {
            profile: Profile::Current,
        }),
        validated: None,
        modes: Modes::UPSTREAM,
    }
}
