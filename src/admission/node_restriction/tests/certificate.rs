use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use serde_json::json;
use test_case::test_case;

use super::*;

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const POD_REQUESTS: &str = "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests";
const CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING: &str = "kubernetes.io/kubelet-serving";

#[test_case(CLIENT, "system:node:n1" => "passes"; "own client certificate")]
#[test_case(SERVING, "system:node:n1" => "passes"; "own serving certificate")]
#[test_case("example.com/any", "system:node:n2" => "passes"; "another signer")]
#[test_case(CLIENT, "system:node:n2" => refused("can only create a node CSR with CN=system:node:n1"); "another's client certificate")]
#[test_case(SERVING, "system:node:n2" => refused("can only create a node CSR with CN=system:node:n1"); "another's serving certificate")]
#[test_case(SERVING, "n1" => refused("can only create a node CSR with CN=system:node:n1"); "bare name")]
#[test_case(SERVING, "system:node:n1 " => refused("can only create a node CSR with CN=system:node:n1"); "blank")]
fn create(signer: &str, name: &str) -> String {
    outcome("POST", REQUESTS, &body(signer, pem(name).as_bytes()))
}

#[test_case(b"" ; "nothing")]
#[test_case(b"-----BEGIN NEW CERTIFICATE REQUEST-----\nAA==\n-----END NEW CERTIFICATE REQUEST-----\n"; "another type")]
fn no_request(request: &[u8]) {
    let found = outcome("POST", REQUESTS, &body(CLIENT, request));
    assert_eq!(
        found,
        refused("unable to parse csr: PEM block type must be CERTIFICATE REQUEST")
    );
}

#[test_case(r#"{"spec": {"signerName": "kubernetes.io/kubelet-serving", "request": "AA\nAA"}}"# => "400"; "lines in base64")]
#[test_case(r#"{"spec": {"signerName": "kubernetes.io/kubelet-serving", "request": [65]}}"# => "400"; "numbers")]
fn other_ways_to_write_bytes(body: &str) -> String {
    let world = World::default();
    let (found, _) = ask(
        &world,
        (&world.graph(), true),
        &upstream(),
        "POST",
        REQUESTS,
        "application/json",
        body.as_bytes(),
    );
    found.split(' ').next().unwrap().to_owned()
}

/// A request that only the rule on certificates is against.
pub(super) fn for_other() -> String {
    body(CLIENT, pem("system:node:n2").as_bytes())
}

#[test]
fn any_name_where_that_is_allowed() {
    let rules = upstream_with(|rules| rules.any_certificate = true);
    let body = body(CLIENT, pem("system:node:n2").as_bytes());
    assert_eq!(told(&World::default(), &rules, "POST", REQUESTS, &body).0, "passes");
}

#[test_case("metadata", "p1" => "passes"; "as it is")]
#[test_case("nodeName", "n2" => pod_refused(r#"PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1""#); "another node")]
#[test_case("nodeUID", "V" => r#"500 PodCertificateRequest for pod "ns/p1" names node UID "V", inconsistent with the running node ("N1")"#; "another node of the name")]
#[test_case("podName", "nosuch" => r#"500 while retrieving pod "ns/nosuch" named in the PodCertificateRequest: pod "nosuch" not found"#; "missing pod")]
#[test_case("podName", "" => r#"500 while retrieving pod "ns/" named in the PodCertificateRequest: pod "" not found"#; "no pod")]
#[test_case("podUID", "V" => r#"500 PodCertificateRequest for pod "ns/p1" contains pod UID ("V") which differs from running pod "U-p1""#; "another pod of the name")]
#[test_case("podName", "p2" => pod_refused(r#"pod "ns/p2" is not running on node "n1" named in the PodCertificateRequest"#); "pod of another node")]
#[test_case("podName", "m1" => pod_refused(r#"pod "ns/m1" is a mirror pod"#); "mirror pod")]
#[test_case("serviceAccountName", "sa2" => pod_refused(r#"PodCertificateRequest for pod "ns/p1" contains serviceAccountName ("sa2") that differs from running pod ("sa1")"#); "another account")]
#[test_case("serviceAccountUID", "V" => r#"500 PodCertificateRequest for pod "ns/p1" names service account UID "V", which differs from the running service account ("SA1")"#; "another account of the name")]
fn create_for_a_pod(key: &str, value: &str) -> String {
    let mut spec = pod_request();
    spec[key] = json!(value);
    if key == "podName" {
        spec["podUID"] = json!(format!("U-{value}"));
    }
    outcome(
        "POST",
        POD_REQUESTS,
        &json!({"metadata": {"name": "r"}, "spec": spec}).to_string(),
    )
}

#[test_case(crate::graph::Kind::Node => r#"500 while retrieving node "n1" named in the PodCertificateRequest: node "n1" not found"#; "node")]
#[test_case(crate::graph::Kind::ServiceAccount => r#"500 while retrieving service account "ns/sa1" named in the PodCertificateRequest: serviceaccount "sa1" not found"#; "account")]
fn create_for_a_pod_without(kind: crate::graph::Kind) -> String {
    let mut world = World::default();
    world.objects.retain(|(other, _)| *other != kind);
    let body = json!({"metadata": {"name": "r"}, "spec": pod_request()}).to_string();
    told(&world, &upstream(), "POST", POD_REQUESTS, &body).0
}

#[test]
fn other_writes_of_requests_for_pods() {
    let uri = format!("{POD_REQUESTS}/r");
    assert_eq!(outcome("DELETE", &uri, ""), pod_refused("unexpected operation DELETE"));
    assert_eq!(
        outcome("POST", &format!("{uri}/status"), ""),
        pod_refused("unexpected subresource status")
    );
    let rules = upstream_with(|rules| rules.pod_certificates = false);
    let (found, _) = told(&World::default(), &rules, "DELETE", &uri, "");
    assert_eq!(found, pod_refused("PodCertificateRequest feature gate is disabled"));
}

fn pod_request() -> serde_json::Value {
    json!({"nodeName": "n1", "nodeUID": "N1", "podName": "p1", "podUID": "U-p1", "serviceAccountName": "sa1", "serviceAccountUID": "SA1"})
}

fn pem(name: &str) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    params.serialize_request(&key).unwrap().pem().unwrap()
}

fn body(signer: &str, request: &[u8]) -> String {
    json!({"metadata": {"name": "r"}, "spec": {"signerName": signer, "request": STANDARD.encode(request)}}).to_string()
}

fn refused(why: &str) -> String {
    format!(r#"403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: {why} certificatesigningrequests"#)
}

fn pod_refused(why: &str) -> String {
    format!(r#"403 podcertificaterequests.certificates.k8s.io "r" is forbidden: {why} podcertificaterequests"#)
}
