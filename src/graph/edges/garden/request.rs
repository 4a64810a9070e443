//! A certificate signing request: the seed whose certificate it asks for.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, given, tell};
use crate::{
    api::csr,
    graph::{Key, Kind, Template},
};

/// Any request, since all are watched together. One for somebody else's certificate is nobody's.
#[derive(Clone, Debug, Deserialize)]
pub struct SeedClientRequest {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    request: Option<String>,
    signer_name: Option<String>,
    usages: Option<Vec<String>>,
}

impl Asserts for SeedClientRequest {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        let seed = self.spec.as_ref().and_then(Spec::seed);
        tell(
            visit,
            Kind::Seed,
            "",
            seed.as_deref(),
            Template::SIGNING_REQUEST.field(),
        );
    }
}

impl Watched for SeedClientRequest {
    const KIND: Kind = Kind::CertificateSigningRequest;

    fn meta(&self) -> &Meta {
        &self.metadata
    }
}

impl Spec {
    fn seed(&self) -> Option<String> {
        let pem = STANDARD.decode(given(&self.request)?).ok()?;
        let usages = self.usages.iter().flatten().map(String::as_str);
        csr::seed(&pem, usages, given(&self.signer_name)?).ok()
    }
}
