//! Who is a node, how requests are read, and what nodes may read.

use super::{Row, read, write};
use crate::{conformance::case::Who, release};

const UNRELATED: &str = "no relationship found between node";
const PODS: &str = "/api/v1/namespaces/ROUND/pods";
const SECRETS: &str = "/api/v1/namespaces/ROUND/secrets";

pub(super) fn rows() -> Vec<Row> {
    let mut rows = identities();
    rows.extend(readings());
    rows.extend(related());
    rows.extend(elsewhere());
    rows
}

fn identities() -> Vec<Row> {
    vec![
        read(1, &format!("{SECRETS}/s1"), 403, "cannot get resource \"secrets\"").by(Who::NoGroup),
        read(2, "/api/v1/nodes/ROUND-n1", 403, "cannot get resource \"nodes\"").by(Who::NoPrefix),
        read(8, "/api/v1/nodes/ROUND-n1", 403, "")
            .with("impersonate-user", "admin")
            .but(403),
        read(8, "/api/v1/nodes/ROUND-n1", 400, "")
            .with("impersonate-group", "x")
            .but(400)
            .since(36),
    ]
}

fn readings() -> Vec<Row> {
    let selector = "No Object name found";
    let pods = "can only list/watch pods with spec.nodeName field selector";
    let many = format!(
        "/api/v1/pods?fieldSelector=spec.nodeName%3DROUND-n1&{}",
        vec!["a=b"; 10_001].join("&")
    );
    vec![
        read(10, "/api/v1/nodes?fieldSelector=metadata.name%3DROUND-n1", 200, ""),
        read(
            10,
            "/api/v1/nodes?fieldSelector=metadata.name%3DROUND-n1&watch=",
            200,
            "",
        ),
        read(
            11,
            "/api/v1/nodes",
            403,
            "cannot read all nodes, only its own Node object",
        ),
        read(13, "/api/v1/watch/pods?fieldSelector=spec.nodeName=ROUND-n1", 403, pods),
        read(14, "/api/v1/pods?fieldSelector=spec.nodeName!=ROUND-n2", 403, pods),
        read(14, "/api/v1/pods?fieldSelector=spec.host=ROUND-n1", 403, pods),
        read(
            16,
            "/api/v1/pods?fieldSelector=spec.nodeName%3DROUND-n1&limit=abc",
            400,
            "",
        ),
        read(
            17,
            &format!("{SECRETS}?fieldSelector=metadata.name%3Ds1&limit=abc"),
            403,
            selector,
        ),
        read(
            18,
            "/api/v1/pods?fieldSelector=spec.nodeName%3DROUND-n1,metadata.name!%3D;",
            403,
            pods,
        )
        .but(400),
        read(
            19,
            "/api/v1/pods?fieldSelector=spec.nodeName%3DROUND-n1,metadata.name!%3D%zz",
            403,
            pods,
        )
        .but(400),
        read(19, &many, 403, pods).but(400).since(33),
        read(20, "/openapi/../api/v1/secrets", 404, "").but(400),
        read(20, "/openapi/%2e%2e/api/v1/secrets", 404, "").but(400),
        read(22, "/api/v1/namespaces/ROUND%2Fsecrets%2Fs2", 403, UNRELATED).but(400),
        read(23, "//api/v1/nodes/ROUND-n1", 404, "").but(400),
        read(23, "/api/v1/nodes/ROUND-n1/", 200, ""),
        write(25, ("create", "/api/v1/nodes/ROUND-n1"), None, 405, ""),
        write(25, ("create", "/api/v1/pods"), None, 405, ""),
        read(28, "/metrics", 403, "cannot get path \"/metrics\""),
        read(28, "/apis", 200, ""),
        read(28, "/version", 200, ""),
    ]
}

fn related() -> Vec<Row> {
    let mut rows = vec![
        read(29, &format!("{SECRETS}/s1"), 200, ""),
        read(29, &format!("{SECRETS}?fieldSelector=metadata.name%3Ds1"), 200, ""),
        read(
            29,
            &format!("{SECRETS}?fieldSelector=metadata.name%3Ds1&watch=1"),
            200,
            "",
        ),
        read(29, SECRETS, 403, "No Object name found"),
        read(31, &format!("{PODS}/p2"), 403, UNRELATED),
        read(31, &format!("{PODS}/nosuch"), 403, UNRELATED),
        read(31, &format!("{PODS}?fieldSelector=metadata.name=p1"), 200, ""),
        read(32, "/api/v1/persistentvolumes/ROUND-pv1", 200, ""),
        read(32, "/api/v1/namespaces/kube-system/secrets/ROUND-stg", 200, ""),
        read(32, "/api/v1/namespaces/kube-system/secrets/ROUND-ctl", 403, UNRELATED),
        // kube-apiserver itself lets no mirror pod name a secret.
        read(35, "/api/v1/namespaces/ROUND/configmaps/cmm", 403, UNRELATED),
        read(
            35,
            "/api/v1/namespaces/ROUND/persistentvolumeclaims/pvcm",
            403,
            UNRELATED,
        ),
        read(
            38,
            "/api/v1/namespaces/ROUND/persistentvolumeclaims/pvc1/status",
            403,
            "can only get/update/patch this type",
        ),
    ];
    if release::minor() >= 33 {
        rows.push(read(37, &format!("{SECRETS}/s9"), 200, ""));
    }
    rows
}

fn elsewhere() -> Vec<Row> {
    let resource = format!("/apis/resource.k8s.io/{}", release::resource_api());
    let (slices, claims) = (
        format!("{resource}/resourceslices"),
        format!("{resource}/namespaces/ROUND"),
    );
    let own = format!("{slices}?fieldSelector=spec.nodeName%3DROUND-n1");
    let with_selector = "can only list/watch/deletecollection resourceslices with nodeName field selector";
    vec![
        read(34, &format!("{claims}/resourceclaims/rc1"), 200, ""),
        read(34, &format!("{claims}/resourceclaims/rt-abc"), 200, ""),
        read(34, &format!("{claims}/resourceclaimtemplates"), 403, ""),
        write(
            40,
            ("delete", "/api/v1/nodes/ROUND-n1"),
            None,
            403,
            "cannot delete resource \"nodes\"",
        ),
        read(40, "/api/v1/nodes/ROUND-n1/status", 403, ""),
        write(40, ("update", &format!("{PODS}/p1")), None, 403, ""),
        read(40, &format!("{PODS}/p1/log"), 403, ""),
        write(41, ("deletecollection", &own), None, 200, ""),
        write(41, ("deletecollection", &slices), None, 403, with_selector),
        write(41, ("delete", &format!("{slices}/ROUND-sl2")), None, 403, UNRELATED),
    ]
}
