//! What belongs to a node by its name: leases, CSINodes, slices, and certificates that it asks for.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{Names, Row, What, compare, create, patch, row};
use crate::{
    graph::objects::slice,
    restriction::{MERGE_PATCH, request_of},
};

const NAMES: Names = Names {
    namespace: "owned-rows",
    nodes: ["or1", "or2"],
};
const SLICES: &str = "/apis/resource.k8s.io/v1/resourceslices";

#[tokio::test]
async fn owned_things_are_written_as_node_restriction_has_it() {
    let tables = [leases(), csi_nodes(), slices(), certificates(), pod_certificates()];
    compare(NAMES, tables.into_iter().flatten().collect()).await;
}

fn delete(name: &str, target: impl Into<String>, code: u16, text: &'static str) -> Row {
    row(name, target, What::Bytes("DELETE", "", Vec::new()), code, text)
}

fn put(name: &str, target: impl Into<String>, object: Value, code: u16, text: &'static str) -> Row {
    row(name, target, What::Object("PUT", object), code, text)
}

fn leases() -> Vec<Row> {
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let elsewhere = "/apis/coordination.k8s.io/v1/namespaces/owned-rows/leases";
    let lease = |metadata: Value| {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata,
            "spec": {"holderIdentity": "x", "leaseDurationSeconds": 40}})
    };
    let named = |name: &str| lease(json!({"name": name}));
    let other = "can only access node lease with the same name as the requesting node";
    vec![
        create("lease: own", leases, named("or1"), 201, ""),
        create("lease: another node's", leases, named("or2"), 403, other),
        create(
            "lease: generated",
            leases,
            lease(json!({"generateName": "or1"})),
            403,
            other,
        ),
        create(
            "lease: elsewhere",
            elsewhere,
            named("or1"),
            403,
            "can only access leases in the \"kube-node-lease\" system namespace",
        ),
        put("lease: made by PUT", format!("{leases}/or1"), named("or1"), 201, ""),
        put(
            "lease: another name in it",
            format!("{leases}/or1"),
            named("or2"),
            400,
            "does not match the name on the URL",
        ),
        put(
            "lease: another node's by PUT",
            format!("{leases}/or2"),
            named("or2"),
            403,
            other,
        ),
        patch(
            "lease: not there",
            format!("{leases}/or1"),
            MERGE_PATCH,
            &json!({}),
            404,
            "not found",
        ),
        delete("lease: delete another node's", format!("{leases}/or2"), 403, other),
        delete(
            "lease: delete what is not there",
            format!("{leases}/or1"),
            404,
            "not found",
        ),
        delete(
            "lease: delete all",
            leases,
            403,
            "can only get, create, update, patch, or delete a node lease",
        ),
    ]
}

fn csi_nodes() -> Vec<Row> {
    let nodes = "/apis/storage.k8s.io/v1/csinodes";
    let node = |metadata: Value| {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata,
            "spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": []}]}})
    };
    let other = "can only access CSINode with the same name as the requesting node";
    vec![
        create("csinode: own", nodes, node(json!({"name": "or1"})), 201, ""),
        create("csinode: another", nodes, node(json!({"name": "or2"})), 403, other),
        create(
            "csinode: generated",
            nodes,
            node(json!({"generateName": "or1"})),
            403,
            other,
        ),
        put(
            "csinode: not there",
            format!("{nodes}/or1"),
            node(json!({"name": "or1"})),
            404,
            "not found",
        ),
        put(
            "csinode: another by PUT",
            format!("{nodes}/or2"),
            node(json!({"name": "or2"})),
            403,
            other,
        ),
        delete("csinode: delete another", format!("{nodes}/or2"), 403, other),
    ]
}

fn slices() -> Vec<Row> {
    let other = "can only create ResourceSlice with the same NodeName as the requesting node";
    let mut everywhere = slice("new", "");
    everywhere["spec"]["allNodes"] = json!(true);
    everywhere["spec"].as_object_mut().unwrap().remove("nodeName");
    let mut rows = vec![
        create("slice: own", SLICES, slice("new", "or1"), 201, ""),
        create("slice: another node's", SLICES, slice("new", "or2"), 403, other),
        create("slice: everybody's", SLICES, everywhere, 403, other),
        delete("slice: delete own", format!("{SLICES}/owned-rows-sl1"), 200, ""),
        delete(
            "slice: delete another node's",
            format!("{SLICES}/owned-rows-sl2"),
            403,
            "no relationship found",
        ),
        delete(
            "slice: delete all own",
            format!("{SLICES}?fieldSelector=spec.nodeName%3Dor1"),
            200,
            "",
        ),
        delete(
            "slice: delete all",
            SLICES,
            403,
            "can only list/watch/deletecollection resourceslices with nodeName field selector",
        ),
        delete(
            "slice: delete all of another node",
            format!("{SLICES}?fieldSelector=spec.nodeName%3Dor2"),
            403,
            "nodeName field selector",
        ),
    ];
    let target = format!("{SLICES}/owned-rows-sl1");
    let pool = json!({"name": "owned-rows-sl1", "generation": 2, "resourceSliceCount": 1});
    rows.push(super::change(
        "slice: changed",
        target.clone(),
        [("/spec/pool", pool)],
        200,
        "",
    ));
    rows.push(super::change(
        "slice: given away",
        target,
        [("/spec/nodeName", json!("or2"))],
        422,
        "immutable",
    ));
    rows
}

fn certificates() -> Vec<Row> {
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = |signer: &str, pem: &str| {
        json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"generateName": "csr-"},
            "spec": {"signerName": signer, "request": BASE64_STANDARD.encode(pem), "usages": ["digital signature", "client auth"]}})
    };
    let (own, other) = (request_of("system:node:or1"), request_of("system:node:or2"));
    let (client, serving) = (
        "kubernetes.io/kube-apiserver-client-kubelet",
        "kubernetes.io/kubelet-serving",
    );
    let refused = "can only create a node CSR with CN=system:node:or1";
    vec![
        create("csr: another node's", requests, request(client, &other), 403, refused),
        create(
            "csr: another node's serving",
            requests,
            request(serving, &other),
            403,
            refused,
        ),
        create(
            "csr: own behind text",
            requests,
            request(client, &format!("text\n{other}{own}")),
            403,
            refused,
        ),
        create(
            "csr: no PEM",
            requests,
            request(client, "text"),
            403,
            "unable to parse csr: ",
        ),
        create(
            "csr: of another type",
            requests,
            request(client, &own.replace("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST")),
            403,
            "unable to parse csr: ",
        ),
    ]
}

fn pod_certificates() -> Vec<Row> {
    let target = "/apis/certificates.k8s.io/v1beta1/namespaces/owned-rows/podcertificaterequests";
    let body = br#"{"metadata":{"generateName":"req-"}}"#.to_vec();
    vec![row(
        "pcr: gate off",
        target,
        What::Bytes("POST", "application/json", body),
        403,
        "cannot create resource",
    )]
}
