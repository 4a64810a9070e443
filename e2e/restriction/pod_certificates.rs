//! Certificates for pods, where the feature is on.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    JSON, MERGE_PATCH, Names, Sides, own_rights,
    rows::{Row, What, compare_on, create, row},
};
use crate::{
    cluster::{Cluster, Guard},
    gate::PATIENCE,
    graph::{created, deleted, objects::pod},
    release,
};

const NAMES: Names = Names {
    namespace: "pod-certificates",
    nodes: ["pc1", "pc2"],
};
const REQUESTS: &str = "/apis/certificates.k8s.io/v1beta1/namespaces/pod-certificates/podcertificaterequests";
const CORE: &str = "/api/v1/namespaces/pod-certificates";
const ON: &[&str] = &[
    "--feature-gates=PodCertificateRequest=true",
    "--runtime-config=certificates.k8s.io/v1beta1=true",
];

/// A name, what differs from a good one, and what comes of it.
type Expected = (&'static str, &'static [(&'static str, &'static str)], u16, &'static str);

const ROWS: &[Expected] = &[
    ("good", &[], 201, ""),
    (
        "other node",
        &[("nodeName", "pc2"), ("nodeUID", "uid-of-pc2")],
        403,
        "PodCertificateRequest.Spec.NodeName=\"pc2\", which is not the requesting node \"pc1\"",
    ),
    (
        "no node",
        &[("nodeName", "")],
        403,
        "PodCertificateRequest.Spec.NodeName=\"\", which is not the requesting node \"pc1\"",
    ),
    (
        "node that was",
        &[("nodeUID", "was")],
        500,
        "names node UID \"was\", inconsistent with the running node (\"uid-of-pc1\")",
    ),
    (
        "no uid of the node",
        &[("nodeUID", "")],
        500,
        "names node UID \"\", inconsistent with the running node",
    ),
    (
        "pod missing",
        &[("podName", "nosuch")],
        500,
        "while retrieving pod \"pod-certificates/nosuch\" named in the PodCertificateRequest: pod \"nosuch\" not found",
    ),
    (
        "no pod",
        &[("podName", "")],
        500,
        "while retrieving pod \"pod-certificates/\" named in the PodCertificateRequest: pod \"\" not found",
    ),
    (
        "pod that was",
        &[("podUID", "was")],
        500,
        "contains pod UID (\"was\") which differs from running pod \"uid-of-p1\"",
    ),
    (
        "other node's pod",
        &[("podName", "p2"), ("podUID", "uid-of-p2")],
        403,
        "pod \"pod-certificates/p2\" is not running on node \"pc1\" named in the PodCertificateRequest",
    ),
    (
        "other node's pod that was",
        &[("podName", "p2")],
        500,
        "contains pod UID (\"uid-of-p1\") which differs from running pod \"uid-of-p2\"",
    ),
    (
        "pod of no node",
        &[("podName", "p0"), ("podUID", "uid-of-p0")],
        403,
        "pod \"pod-certificates/p0\" is not running on node",
    ),
    (
        "mirror pod",
        &[("podName", "m1"), ("podUID", "uid-of-m1")],
        403,
        "pod \"pod-certificates/m1\" is a mirror pod",
    ),
    (
        "other service account",
        &[("serviceAccountName", "sa2"), ("serviceAccountUID", "uid-of-sa2")],
        403,
        "contains serviceAccountName (\"sa2\") that differs from running pod (\"sa1\")",
    ),
    (
        "service account missing",
        &[
            ("podName", "p4"),
            ("podUID", "uid-of-p4"),
            ("serviceAccountName", "sa4"),
        ],
        500,
        "while retrieving service account \"pod-certificates/sa4\" named in the PodCertificateRequest: \
             serviceaccount \"sa4\" not found",
    ),
    (
        "service account that was",
        &[("serviceAccountUID", "was")],
        500,
        "names service account UID \"was\", which differs from the running service account (\"uid-of-sa1\")",
    ),
];

#[tokio::test]
async fn certificates_are_asked_for_only_for_own_pods() {
    if release::minor() < 35 {
        println!("SKIPPED: there are no pod certificates in v1beta1 before 1.35");
        return;
    }
    let clusters = tokio::join!(Cluster::start(Guard::Node, ON, ""), Cluster::start(Guard::None, ON, ""));
    let (Some(guarded), Some(open)) = clusters else { return };
    own_rights(&open).await;
    let clusters = [Arc::new(guarded), Arc::new(open)];
    let mut sides = Sides::of(clusters, NAMES, "featureGates: {PodCertificateRequest: true}\n").await;
    orphan(&mut sides).await;
    compare_on(&sides, &rows()).await;

    let answer = sides.gated.send_json("POST", REQUESTS, JSON, &good()).await;
    assert_eq!(answer.code, 201, "{}", answer.body);
    let stored = sides.gated.admin.get(&format!("{REQUESTS}/r")).await.json();
    assert_eq!(stored["spec"]["nodeName"], "pc1", "{stored}");

    without_node(&sides).await;
    let missing = "while retrieving node \"pc1\" named in the PodCertificateRequest: node \"pc1\" not found";
    compare_on(&sides, &[create("node missing", REQUESTS, good(), 500, missing)]).await;
}

/// A pod `p4` whose service account is gone.
async fn orphan(sides: &mut Sides) {
    for side in [&mut sides.guarded, &mut sides.gated] {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa4"}});
        created(&side.admin, &format!("{CORE}/serviceaccounts"), &account).await;
        let p4 = pod("p4", "pc1", &json!({"serviceAccountName": "sa4"}));
        created(&side.admin, &format!("{CORE}/pods"), &p4).await;
        deleted(&side.admin, &format!("{CORE}/serviceaccounts/sa4")).await;
        side.learn("p4", &format!("{CORE}/pods/p4")).await;
        side.reads(&format!("{CORE}/pods/p4")).await;
    }
}

/// The Node goes, and everybody has heard of it.
async fn without_node(sides: &Sides) {
    for side in [&sides.guarded, &sides.gated] {
        deleted(&side.admin, "/api/v1/nodes/pc1").await;
        let (began, target) = (Instant::now(), format!("{REQUESTS}?dryRun=All"));
        while side.send_json("POST", &target, JSON, &good()).await.code != 500 {
            assert!(began.elapsed() < PATIENCE, "the node is still known");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn good() -> Value {
    with(&[])
}

/// A good one with other values in its spec.
fn with(values: &[(&str, &str)]) -> Value {
    let key = rcgen::KeyPair::generate().unwrap();
    let request = rcgen::CertificateParams::default().serialize_request(&key).unwrap();
    let mut object = json!({
        "apiVersion": "certificates.k8s.io/v1beta1", "kind": "PodCertificateRequest",
        "metadata": {"name": "r", "namespace": NAMES.namespace},
        "spec": {
            "signerName": "example.com/signer",
            "podName": "p1", "podUID": "uid-of-p1",
            "serviceAccountName": "sa1", "serviceAccountUID": "uid-of-sa1",
            "nodeName": "pc1", "nodeUID": "uid-of-pc1",
            "maxExpirationSeconds": 86400,
            "stubPKCS10Request": BASE64_STANDARD.encode(request.der()),
        },
    });
    for (key, value) in values {
        object["spec"][key] = json!(value);
    }
    object
}

fn rows() -> Vec<Row> {
    let rows = ROWS.iter();
    let rows = rows.map(|(name, values, code, text)| create(name, REQUESTS, with(values), *code, text));
    // What nodes may not do at all is refused before anybody looks at it.
    let others = [
        ("PUT", "/r", ""),
        ("PATCH", "/r", ""),
        ("DELETE", "/r", ""),
        ("PUT", "/r/status", ""),
        ("PATCH", "/r/status", ""),
    ];
    let others = others.map(|(method, path, text)| {
        let kind = if method == "PATCH" { MERGE_PATCH } else { JSON };
        let body = if method == "DELETE" {
            Vec::new()
        } else {
            good().to_string().into_bytes()
        };
        let name = format!("{method} {path}");
        row(
            &name,
            format!("{REQUESTS}{path}"),
            What::Bytes(method, kind, body),
            403,
            text,
        )
    });
    rows.chain(others).collect()
}
