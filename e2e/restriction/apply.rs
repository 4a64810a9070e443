//! Server-side apply. What comes of it depends on who has set which field before, so the gate lets upstream rehearse it and
//! judges that; or it takes none at all, which is the default.

mod meanwhile;
mod rows;

use http::Request;
use serde_json::{Value, json};

use self::rows::{Applied, rows, untainted};
use super::{APPLY, JSON, MERGE_PATCH, Names, Side, Sides};
use crate::{
    gate::{Answer, Client},
    graph::{created, deleted, objects::pod, patched},
};

const NAMES: Names = Names {
    namespace: "apply",
    nodes: ["ap1", "ap2"],
};
const REHEARSED: &str = "callers: {nodes: {serverSideApply: DryRun}}\n";
const NODE: &str = "/api/v1/nodes/ap1";
const PODS: &str = "/api/v1/namespaces/apply/pods";
const CLAIM: &str = "/api/v1/namespaces/apply/persistentvolumeclaims/pvc1";
/// kube-apiserver compresses answers that are larger.
const COMPRESSED: usize = 128 * 1024;

/// How the answer is wanted. What is judged is the same.
const WANTED: &[(&str, &str)] = &[
    ("accept", JSON),
    ("accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
    ("accept", "application/json;as=Table;g=meta.k8s.io;v=v1"),
    ("accept", "application/vnd.kubernetes.protobuf"),
    (
        "accept",
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ),
    ("accept", "application/yaml"),
    ("accept-encoding", "gzip"),
];

#[tokio::test]
async fn what_is_applied_is_judged_by_what_comes_of_it() {
    let Some(sides) = Sides::configured(NAMES, REHEARSED).await else {
        return;
    };
    for side in [&sides.guarded, &sides.gated] {
        own_fields(side).await;
    }
    compare(&sides, rows()).await;
    for side in [&sides.guarded, &sides.gated] {
        patched(&side.admin, NODE, MERGE_PATCH, &json!({"spec": {"taints": null}})).await;
    }
    compare(&sides, untainted()).await;
    // What was refused has changed nothing, whatever the answer was.
    let [direct, gated] = [&sides.guarded, &sides.gated].map(|side| async {
        let mut stored = Vec::new();
        let pods = ["extended", "p1", "p2"].map(|name| format!("{PODS}/{name}"));
        for path in [NODE, CLAIM].map(str::to_owned).into_iter().chain(pods) {
            stored.push(side.summary(&side.admin.get(&path).await));
        }
        stored
    });
    assert_eq!(gated.await, direct.await);
    nothing_is_created(&sides).await;
}

/// However the answer is wanted.
async fn compare(sides: &Sides, rows: Vec<Applied>) {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in rows {
        for wanted in WANTED {
            compared += 1;
            if let Err(why) = row.compare(sides, *wanted).await {
                wrong.push(format!("{} ({}): {why}", row.name, wanted.1));
            }
        }
    }
    println!("{compared} requests compared");
    assert!(
        wrong.is_empty(),
        "{} of {compared} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Unless it was allowed, nothing can be applied to what is judged by its content.
#[tokio::test]
async fn nothing_is_applied_by_default() {
    let names = Names {
        namespace: "apply-not",
        nodes: ["an1", "an2"],
    };
    let Some(sides) = Sides::start(names).await else { return };
    let namespaced = "/api/v1/namespaces/apply-not";
    let object = |kind: &str, name: &str| object(kind, name, json!({}), json!({}));
    for (target, object) in [
        ("/api/v1/nodes/an1".to_owned(), object("Node", "an1")),
        ("/api/v1/nodes/an1/status".to_owned(), object("Node", "an1")),
        (format!("{namespaced}/pods/p1/status"), object("Pod", "p1")),
        (
            format!("{namespaced}/persistentvolumeclaims/pvc1/status"),
            object("PersistentVolumeClaim", "pvc1"),
        ),
        (
            "/apis/resource.k8s.io/v1/resourceslices/apply-not-sl1".to_owned(),
            object("ResourceSlice", "apply-not-sl1"),
        ),
    ] {
        sides.between.take();
        let answer = apply(&sides.gated.node, &target, "fieldManager=kubelet", &object).await;
        assert_eq!(answer.code, 415, "{target}: {}", answer.body);
        assert_eq!(answer.json()["reason"], "UnsupportedMediaType", "{target}");
        assert!(sides.between.take().is_empty(), "{target}");
    }
}

/// Fields that belong to somebody, a pod that could have a claim, and a node that is compressed when it is sent.
async fn own_fields(side: &Side) {
    let large = json!({"metadata": {"annotations": {"large": "x".repeat(COMPRESSED)}}});
    patched(&side.admin, NODE, MERGE_PATCH, &large).await;
    let limits = json!({"limits": {"example.com/x": "1"}, "requests": {"example.com/x": "1"}});
    let containers = json!({"containers": [{"name": "c", "image": "i", "resources": limits}]});
    created(&side.admin, PODS, &pod("extended", "ap1", &containers)).await;
    for (manager, labels) in [
        ("former", json!({"node-role.kubernetes.io/former": ""})),
        ("owner", json!({"example.com/owned": "by-owner"})),
    ] {
        let object = node(json!({"labels": labels}), json!({}));
        let answer = apply(&side.admin, NODE, &format!("fieldManager={manager}"), &object).await;
        assert_eq!(answer.code, 200, "{}", answer.body);
    }
}

/// Upstream would create a node that is not there.
async fn nothing_is_created(sides: &Sides) {
    let query = "fieldManager=kubelet&force=true";
    deleted(&sides.gated.admin, NODE).await;
    for target in [NODE.to_owned(), format!("{NODE}/status")] {
        sides.between.take();
        let object = node(json!({"labels": {"a": "b"}}), json!({}));
        let answer = apply(&sides.gated.node, &target, query, &object).await;
        assert_eq!(answer.code, 404, "{target}: {}", answer.body);
        assert_eq!(answer.json()["details"]["kind"], "nodes", "{target}: {}", answer.body);
        assert!(sides.between.take_writes().is_empty(), "{target}");
    }
    assert_eq!(sides.gated.admin.get(NODE).await.code, 404);
}

/// With more metadata, and whatever else.
fn node(metadata: Value, more: Value) -> Value {
    object("Node", "ap1", metadata, more)
}

fn object(kind: &str, name: &str, metadata: Value, more: Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
    let fields = |value| match value {
        Value::Object(fields) => fields,
        other => panic!("{other} has no fields"),
    };
    object["metadata"].as_object_mut().unwrap().extend(fields(metadata));
    object.as_object_mut().unwrap().extend(fields(more));
    object
}

async fn apply(client: &Client, target: &str, query: &str, object: &Value) -> Answer {
    let request = Request::patch(format!("{target}?{query}")).header("content-type", APPLY);
    client.send(request, object.to_string()).await.unwrap()
}

impl Applied {
    async fn compare(&self, sides: &Sides, wanted: (&str, &str)) -> Result<(), String> {
        let direct = self.send(&sides.guarded, wanted).await;
        sides.between.take();
        let gated = self.send(&sides.gated, wanted).await;
        let writes = sides.between.take_writes();
        let told = format!(
            "\n  direct {} {}\n  gated  {} {}",
            direct.code,
            shortened(&direct.body),
            gated.code,
            shortened(&gated.body)
        );
        let as_json = wanted.1 == JSON;
        if direct.code != self.code || as_json && !direct.message().contains(self.text) {
            return Err(format!("expected {} {}{told}", self.code, self.text));
        }
        let expected = self.gate.unwrap_or(self.code);
        if gated.code != expected {
            return Err(told);
        }
        if expected == 403 && writes.iter().any(|write| !write.target.contains("dryRun=All")) {
            return Err(format!("refused, but {writes:?} was sent on{told}"));
        }
        let same = sides.guarded.summary(&direct) == sides.gated.summary(&gated);
        if same || self.gate.is_some() || !as_json {
            Ok(())
        } else {
            Err(told)
        }
    }

    async fn send(&self, side: &Side, (header, value): (&str, &str)) -> Answer {
        let request = Request::patch(format!("{}?{}", self.target, self.query));
        let request = request.header("content-type", APPLY).header(header, value);
        let body = side.here(&self.object.to_string());
        side.node.send(request, body).await.unwrap()
    }
}

fn shortened(body: &str) -> String {
    body.chars().take(400).collect()
}
