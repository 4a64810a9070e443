//! Random patches of the three types: what the gate works out is what kube-apiserver makes of them.

mod generate;

use scopegate::{
    json::Json,
    patch::{self, Patch, Schema, Type},
};
use serde_json::Value;

use self::generate::{JSON_POINTERS, Maker};
use super::{JSON_PATCH, MERGE_PATCH, Names, STRATEGIC, state};
use crate::{
    cluster::{Guard, shared},
    gate::Client,
    graph::admin_client,
    random::{Random, seed},
    report,
};

const NAMES: Names = Names {
    namespace: "stored",
    nodes: ["st1", "st2"],
};
/// Of each type, for each endpoint.
const PATCHES: usize = 60;

/// Where objects are patched, and what of them the endpoint keeps: the rest is reset before anything is stored.
struct Endpoint {
    path: &'static str,
    sub: &'static str,
    schema: &'static Schema,
    kept: &'static [&'static str],
    pointers: &'static [&'static str],
}

/// What follows from other fields where it is not there: podIPs, capacity.
const DEFAULTED: &[&str] = &["podIP", "allocatable"];
/// What the gate says of a patch that upstream itself applies now in one way and now in another.
const BY_CHANCE: &str = "more than one outcome";

const METADATA: &[&str] = &["labels", "annotations", "finalizers"];

#[tokio::test]
async fn patches_come_to_what_kube_apiserver_makes_of_them() {
    let Some(cluster) = shared(Guard::Node).await else {
        return;
    };
    state::fill(&cluster, NAMES).await;
    let admin = admin_client(&cluster).await;
    let endpoints = [
        Endpoint {
            path: "/api/v1/nodes/st1",
            sub: "",
            schema: &patch::NODE,
            kept: &["spec"],
            pointers: JSON_POINTERS[0],
        },
        Endpoint {
            path: "/api/v1/nodes/st1",
            sub: "/status",
            schema: &patch::NODE,
            kept: &["status"],
            pointers: JSON_POINTERS[1],
        },
        Endpoint {
            path: "/api/v1/namespaces/stored/pods/p1",
            sub: "/status",
            schema: &patch::POD,
            kept: &["status"],
            pointers: JSON_POINTERS[2],
        },
        Endpoint {
            path: "/api/v1/namespaces/stored/persistentvolumeclaims/pvc1",
            sub: "/status",
            schema: &patch::PERSISTENT_VOLUME_CLAIM,
            kept: &["status"],
            pointers: JSON_POINTERS[3],
        },
    ];
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut different, mut compared, mut stored) = (Vec::new(), 0, 0);
    for endpoint in &endpoints {
        let old = admin.get(endpoint.path).await.body;
        for kind in [Type::Json, Type::Merge, Type::Strategic] {
            for _ in 0..PATCHES {
                let mut maker = Maker::new(&mut random, endpoint.pointers);
                let body = maker.patch(kind, &old).to_string();
                compared += 1;
                match endpoint.compare(&admin, kind, &old, &body).await {
                    Ok(was_stored) => stored += usize::from(was_stored),
                    Err(why) => different.push(format!("{}{} {kind:?} {body}: {why}", endpoint.path, endpoint.sub)),
                }
            }
        }
    }
    println!("{compared} patches compared, of which {stored} would have been stored; seed {seed}");
    let what = "random patches, as the gate works them out and kube-apiserver stores them";
    report::compared("stored", what, compared);
    assert!(
        different.is_empty(),
        "seed {seed}: {} of {compared} differ:\n{}",
        different.len(),
        different.join("\n")
    );
    assert!(
        stored > compared / 3,
        "only {stored} of {compared} patches come to anything"
    );
}

impl Endpoint {
    /// Whether kube-apiserver would have stored it.
    async fn compare(&self, admin: &Client, kind: Type, old: &str, body: &str) -> Result<bool, String> {
        let content_type = match kind {
            Type::Json => JSON_PATCH,
            Type::Merge => MERGE_PATCH,
            Type::Strategic => STRATEGIC,
        };
        let target = format!("{}{}?dryRun=All", self.path, self.sub);
        let request = http::Request::patch(target).header("content-type", content_type);
        let theirs = admin.send(request, body).await.unwrap();
        let ours = Patch::read(kind, body.as_bytes()).and_then(|patch| {
            patch
                .apply(self.schema, Json::parse(old.as_bytes()).unwrap())
                .map(|new| new.to_vec())
        });
        match (theirs.code.as_u16(), ours) {
            (200, Ok(ours)) => {
                let ours: Value = serde_json::from_slice(&ours).unwrap();
                let (ours, theirs) = (self.kept(&ours), self.kept(&theirs.json()));
                if ours == theirs {
                    Ok(true)
                } else {
                    Err(format!("\n  ours   {ours}\n  theirs {theirs}"))
                }
            }
            (200, Err(ours)) if ours.to_string().contains(BY_CHANCE) => Ok(false),
            (200, Err(ours)) => Err(format!("theirs is stored, ours fails: {ours}")),
            // What was worked out is not valid, or cannot be read as the object that it should be.
            (400 | 422, Ok(_)) => Ok(false),
            (code, Ok(_)) => Err(format!("ours is fine, theirs is {code} {}", theirs.body)),
            (code, Err(ours)) => {
                let expected = match ours {
                    patch::Error::Malformed(_) => 400,
                    patch::Error::Rejected(_) => 422,
                    patch::Error::Untyped(_) => 500,
                    patch::Error::TooLarge(_) => 413,
                };
                if code == expected {
                    Ok(false)
                } else {
                    Err(format!("ours is {ours:?}, theirs {code} {}", theirs.body))
                }
            }
        }
    }

    /// What the endpoint does not reset, without what is empty: that is not written.
    fn kept(&self, object: &Value) -> Value {
        let mut kept = serde_json::Map::new();
        for key in METADATA {
            kept.insert((*key).to_owned(), object["metadata"][key].clone());
        }
        for key in self.kept {
            kept.insert((*key).to_owned(), object[key].clone());
        }
        let mut kept = Value::Object(kept);
        without_empty(&mut kept);
        kept
    }
}

fn without_empty(value: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
    };
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(without_empty);
            // Directives in a list that is new are unknown fields of its elements, and dropped.
            object.retain(|key, value| !is_empty(value) && !key.starts_with('$') && !DEFAULTED.contains(&key.as_str()));
        }
        Value::Array(items) => items.iter_mut().for_each(without_empty),
        _ => {}
    }
}
