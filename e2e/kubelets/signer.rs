//! Plays those parts of kube-controller-manager that approve and sign the certificate signing requests of kubelets. The first
//! client certificate of a node is valid for so short that it is rotated within the test.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{Request, StatusCode};
use rustls::{
    crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256,
    pki_types::{CertificateSigningRequestDer, pem::PemObject as _},
};
use serde_json::{Value, json};
use time::Duration as Lifetime;
use tokio::task::JoinHandle;
use tokio_rustls::rustls;
use x509_parser::prelude::{FromDer as _, GeneralName, ParsedExtension, X509CertificationRequest};

use crate::{
    cluster::Cluster,
    gate::Client,
    pki::{CLIENT, CN, Entity, NAMES, O, SERVER, Template, UTF8, extension, purposes, rdn, tlv},
};

pub(super) struct Signer {
    signed: Arc<Mutex<Vec<Signed>>>,
    signing: JoinHandle<()>,
}

/// A request that was granted.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    /// The common name asked for.
    pub(super) name: String,
    pub(super) client: bool,
    /// Who has made the request, as upstream knows it.
    pub(super) by: String,
    /// What kube-apiserver and the gate call the certificate.
    pub(super) credential: String,
}

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING_SIGNER: &str = "kubernetes.io/kubelet-serving";

/// A kubelet asks for another after 70 to 90 % of the lifetime, which is 5 to 45 seconds from now, and uses it at most ten
/// seconds later.
const FIRST: (Lifetime, Lifetime) = (Lifetime::seconds(-135), Lifetime::seconds(65));
const LATER: (Lifetime, Lifetime) = (Lifetime::minutes(-1), Lifetime::hours(1));

impl Signer {
    pub(super) fn start(cluster: &Cluster, admin: Client) -> Self {
        let ca = &cluster.pki.client_ca;
        let ca = Entity::from_pem(&ca.certificate, &ca.key);
        let signed = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&signed);
        let signing = tokio::spawn(async move {
            loop {
                // There is nobody to ask while kube-apiserver is down.
                if let Ok(list) = admin.send(Request::get(REQUESTS), "").await {
                    for request in list.json()["items"].as_array().into_iter().flatten() {
                        if request["status"]["certificate"].is_null() {
                            grant(&admin, &ca, request, &all).await;
                        }
                    }
                }
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        });
        Self { signed, signing }
    }

    /// The client certificates of a node, oldest first.
    pub(super) fn of(&self, node: &str) -> Vec<Signed> {
        let name = format!("system:node:{node}");
        let signed = self.signed.lock().unwrap();
        signed
            .iter()
            .filter(|one| one.client && one.name == name)
            .cloned()
            .collect()
    }

    /// How many serving certificates a node has got.
    pub(super) fn serving(&self, node: &str) -> usize {
        let name = format!("system:node:{node}");
        let signed = self.signed.lock().unwrap();
        signed.iter().filter(|one| !one.client && one.name == name).count()
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        self.signing.abort();
    }
}

async fn grant(admin: &Client, ca: &Entity, request: &Value, all: &Mutex<Vec<Signed>>) {
    let client = match request["spec"]["signerName"].as_str() {
        Some(CLIENT_SIGNER) => true,
        Some(SERVING_SIGNER) => false,
        other => panic!("a kubelet asks {other:?} for a certificate"),
    };
    let pem = STANDARD.decode(request["spec"]["request"].as_str().unwrap()).unwrap();
    let der = CertificateSigningRequestDer::from_pem_slice(&pem).unwrap();
    let (_, wanted) = X509CertificationRequest::from_der(&der).unwrap();
    let subject = &wanted.certification_request_info.subject;
    let name = subject.iter_common_name().next().unwrap().as_str().unwrap();
    let organization = subject.iter_organization().next().unwrap().as_str().unwrap();
    let before = |one: &&Signed| one.client && one.name == name;
    let first = all.lock().unwrap().iter().filter(before).count() == 0;
    let (from, until) = if client && first { FIRST } else { LATER };
    let mut template = Template::new(name)
        .subject(&[rdn(O, UTF8, organization.as_bytes()), rdn(CN, UTF8, name.as_bytes())])
        .valid(from, until)
        .with(purposes(&[if client { CLIENT } else { SERVER }]));
    template.public_key = Some(wanted.certification_request_info.subject_pki.raw.to_vec());
    if let Some(names) = alternative_names(&wanted) {
        template = template.with(names);
    }
    let certificate = ca.sign(template);
    let signed = Signed {
        name: name.to_owned(),
        client,
        by: request["spec"]["username"].as_str().unwrap().to_owned(),
        credential: credential(&certificate.der),
    };
    if give(admin, request, &certificate.pem()).await {
        all.lock().unwrap().push(signed);
    }
}

/// The names of a server, as an extension.
fn alternative_names(wanted: &X509CertificationRequest<'_>) -> Option<Vec<u8>> {
    let names = wanted.requested_extensions()?.find_map(|extension| match extension {
        ParsedExtension::SubjectAlternativeName(names) => Some(names),
        _ => None,
    })?;
    let encoded = names.general_names.iter().map(|name| match name {
        GeneralName::DNSName(name) => tlv(0x82, &[name.as_bytes()]),
        GeneralName::IPAddress(address) => tlv(0x87, &[address]),
        other => panic!("a kubelet wants to be called {other}"),
    });
    Some(extension(
        NAMES,
        false,
        &tlv(0x30, &[&encoded.collect::<Vec<_>>().concat()]),
    ))
}

/// Whether upstream has taken it; it may have gone in the meantime.
async fn give(admin: &Client, request: &Value, certificate: &str) -> bool {
    let path = format!("{REQUESTS}/{}", request["metadata"]["name"].as_str().unwrap());
    let mut request = request.clone();
    request["apiVersion"] = json!("certificates.k8s.io/v1");
    request["kind"] = json!("CertificateSigningRequest");
    request["status"]["conditions"] =
        json!([{"type": "Approved", "status": "True", "reason": "Test", "message": "a test"}]);
    let put = async |path: &str, object: &Value| {
        let put = Request::put(path).header("content-type", "application/json");
        admin.send(put, object.to_string()).await
    };
    let Ok(approved) = put(&format!("{path}/approval"), &request).await else {
        return false;
    };
    let mut approved = approved.json();
    approved["status"]["certificate"] = json!(STANDARD.encode(certificate));
    let issued = put(&format!("{path}/status"), &approved).await;
    issued.is_ok_and(|answer| answer.code == StatusCode::OK)
}

fn credential(der: &[u8]) -> String {
    let suite = TLS13_AES_128_GCM_SHA256.tls13().unwrap();
    let hash = suite.common.hash_provider.hash(der);
    let digits: Vec<String> = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("X509SHA256={}", digits.concat())
}
