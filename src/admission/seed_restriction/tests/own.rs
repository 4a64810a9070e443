use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{CertificateParams, DnType, KeyPair, SanType};
use test_case::test_case;

use super::*;

#[test_case(A, "gardener-system-seed-lease", "seed-a" => "passes"; "own")]
#[test_case(A, "gardener-system-seed-lease", "seed-b" => FOREIGN; "of another")]
#[test_case(A, "garden", "seed-a" => FOREIGN; "elsewhere")]
#[test_case(A, "garden", "gardenlet-leader-election" => "passes"; "to agree on a leader")]
#[test_case(A, "seed-seed-a", "x" => FOREIGN; "in the namespace of its extensions")]
#[test_case(A, "gardener-system-seed-lease", "" => "403 it needs a name, which generateName is not"; "made up")]
fn leases(user: &'static str, namespace: &str, name: &str) -> String {
    let target = format!("POST /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    let body = json!({"metadata": {"name": name, "generateName": "seed-"}});
    let document = world(Document, user).told(&target, &body);
    assert_eq!(world(Current, user).told(&target, &body), document);
    document
}

#[test_case("seed-seed-a", "x" => "passes"; "of the seed")]
#[test_case("seed-seed-a", "" => "passes"; "made up")]
#[test_case("seed-seed-b", "x" => "403 extension client can only create leases in the namespace for seed \"seed-a\""; "of another")]
#[test_case("gardener-system-seed-lease", "seed-a" => "403 extension client can only create leases in the namespace for seed \"seed-a\""; "of the gardenlet")]
#[test_case("garden", "gardenlet-leader-election" => "403 extension client can only create leases in the namespace for seed \"seed-a\""; "to agree on a leader")]
fn leases_of_extensions(namespace: &str, name: &str) -> String {
    let target = format!("POST /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    world(Current, X).told(&target, &json!({"metadata": {"name": name, "generateName": "x-"}}))
}

#[test_case(Document, "garden-p1", "s1" => "passes"; "own")]
#[test_case(Document, "garden-p2", "s2" => FOREIGN; "of another")]
#[test_case(Document, "garden-p1", "none" => "500 shoots.core.gardener.cloud \"none\" not found"; "no shoot")]
#[test_case(Document, "garden-p1", "s3" => FOREIGN; "on its way, to the document")]
#[test_case(Current, "garden-p1", "s1" => "passes"; "own today")]
#[test_case(Current, "garden-p2", "s2" => FOREIGN; "of another today")]
#[test_case(Current, "garden-p1", "none" => "500 shoots.core.gardener.cloud \"none\" not found"; "no shoot today")]
#[test_case(Current, "garden-p1", "s3" => "passes"; "on its way")]
fn shoot_states(profile: Profile, namespace: &str, name: &str) -> String {
    let target = format!("POST /apis/core.gardener.cloud/v1beta1/namespaces/{namespace}/shootstates");
    world(profile, A).told(&target, &object(name, &json!({})))
}

#[test_case("seed-a", "s1" => "passes"; "own")]
#[test_case("seed-b", "s1" => FOREIGN; "of another")]
#[test_case("seed-a", "s9" => "403 it is not for a shoot of the seed"; "for no shoot")]
#[test_case("seed-a", "" => "403 it is not for a shoot of the seed"; "for nothing")]
fn bastions(seed: &str, shoot: &str) -> String {
    let target = "POST /apis/operations.gardener.cloud/v1alpha1/namespaces/garden-p1/bastions";
    let body = object("x", &json!({"spec": {"seedName": seed, "shootRef": {"name": shoot}}}));
    world(Current, A).told(target, &body)
}

/// Upstream would make it one of the seed that the shoot is on.
#[test]
fn a_bastion_for_a_shoot_of_another_seed() {
    let target = "POST /apis/operations.gardener.cloud/v1alpha1/namespaces/garden-p2/bastions";
    let body = object(
        "x",
        &json!({"spec": {"seedName": "seed-a", "shootRef": {"name": "s2"}}}),
    );
    assert_eq!(
        world(Current, A).told(target, &body),
        "403 it is not for a shoot of the seed"
    );
}

#[test_case("garden", "seed-a" => "passes"; "own")]
#[test_case("garden", "seed-b" => FOREIGN; "of another")]
#[test_case("garden-p1", "seed-a" => "400 object must be in namespace: \"garden\""; "elsewhere")]
fn gardenlets(namespace: &str, name: &str) -> String {
    let target = format!("POST /apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/{namespace}/gardenlets");
    world(Current, A).told(&target, &object(name, &json!({})))
}

#[test_case("configmaps", "garden-p1", "s1.ca-cluster" => "passes"; "config map")]
#[test_case("configmaps", "garden-p1", "s1.ca-kubelet" => "passes"; "other config map")]
#[test_case("configmaps", "garden-p1", "s1.ca-client" => FOREIGN; "no such config map")]
#[test_case("configmaps", "garden-p2", "s2.ca-cluster" => FOREIGN; "of the shoot of another")]
#[test_case("configmaps", "garden-p2", "s1.ca-cluster" => "403 shoots.core.gardener.cloud \"s1\" not found"; "in another namespace")]
#[test_case("configmaps", "garden-p1", "s2.s1.ca-cluster" => "403 shoots.core.gardener.cloud \"s2.s1\" not found"; "all before the suffix is the shoot")]
#[test_case("configmaps", "garden-p1", "s3.ca-cluster" => FOREIGN; "of a shoot on its way to another")]
#[test_case("internalsecrets", "garden-p1", "s1.ca-client" => "passes"; "internal secret")]
#[test_case("internalsecrets", "garden-p1", "s1.ca-cluster" => FOREIGN; "no such internal secret")]
#[test_case("internalsecrets", "garden-p2", "s2.ca-client" => FOREIGN; "internal secret of another")]
fn called_after_a_shoot(resource: &str, namespace: &str, name: &str) -> String {
    let prefix = if resource == "configmaps" {
        "/api/v1"
    } else {
        "/apis/core.gardener.cloud/v1beta1"
    };
    let target = format!("POST {prefix}/namespaces/{namespace}/{resource}");
    world(Current, A).told(&target, &object(name, &json!({})))
}

/// A certificate signing request as gardenlets make it, but for this.
fn certificate(user: &'static str, edit: fn(&mut CertificateParams), change: fn(&mut Value)) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name = Default::default();
    let name = &mut params.distinguished_name;
    name.push(DnType::OrganizationName, "gardener.cloud:system:seeds");
    name.push(DnType::CommonName, "gardener.cloud:system:seed:seed-a");
    edit(&mut params);
    let pem = params
        .serialize_request(&KeyPair::generate().unwrap())
        .unwrap()
        .pem()
        .unwrap();
    let mut body = json!({"metadata": {"generateName": "seed-csr-"}, "spec": {
        "request": STANDARD.encode(pem),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["digital signature", "key encipherment", "client auth"],
    }});
    change(&mut body);
    let target = "POST /apis/certificates.k8s.io/v1/certificatesigningrequests";
    let told = world(Current, user).told(target, &body);
    told.replace("403 can only create CSRs for seed clusters: ", "403 … ")
}

fn common_name(params: &mut CertificateParams, name: &str) {
    params.distinguished_name.push(DnType::CommonName, name);
}

#[test_case(|_| () => "passes"; "own")]
#[test_case(|params| common_name(params, "gardener.cloud:system:seed:seed-b") => FOREIGN; "of another")]
#[test_case(|params| common_name(params, "system:admin") => "403 … subject's common name does not start with \"gardener.cloud:system:seed:\""; "of no seed")]
#[test_case(|params| params.distinguished_name.push(DnType::CustomDnType(vec![2, 5, 4, 10]), "system:masters") => "403 … subject's organization is not set to [gardener.cloud:system:seeds]"; "one more group")]
#[test_case(|params| params.subject_alt_names = vec![SanType::DnsName("a".try_into().unwrap())] => "403 … DNSNames, EmailAddresses and IPAddresses fields must be empty"; "a host")]
#[test_case(|params| params.subject_alt_names = vec![SanType::URI("spiffe://a".try_into().unwrap())] => "403 … DNSNames, EmailAddresses and IPAddresses fields must be empty"; "a URI")]
fn subjects(edit: fn(&mut CertificateParams)) -> String {
    certificate(A, edit, |_| ())
}

#[test_case(|body| body["spec"]["usages"] = json!(["digital signature", "key encipherment"]) => "403 … key usages are not set to [key encipherment digital signature client auth]"; "no client")]
#[test_case(|body| body["spec"]["signerName"] = json!("kubernetes.io/kubelet-serving") => "403 … signer name is not set to kubernetes.io/kube-apiserver-client"; "another signer")]
#[test_case(|body| body["spec"]["request"] = json!("bm8=") => "400 PEM block type must be CERTIFICATE REQUEST"; "no PEM")]
fn certificates(change: fn(&mut Value)) -> String {
    certificate(A, |_| (), change)
}

#[test]
fn extensions_ask_for_no_certificates() {
    let told = certificate(X, |_| (), |_| ());
    assert_eq!(told, "403 extension client may not create CertificateSigningRequests");
}
