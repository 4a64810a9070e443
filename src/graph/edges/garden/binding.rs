//! With which credentials shoots are made.

use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, reference::Reference, watched};
use crate::graph::{Key, Kind, Template};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialsBinding {
    #[serde(default)]
    metadata: Meta,
    credentials_ref: Option<Reference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretBinding {
    #[serde(default)]
    metadata: Meta,
    secret_ref: Option<Reference>,
}

impl Asserts for CredentialsBinding {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(credentials) = &self.credentials_ref {
            credentials.tell(visit, credentials.bound(), Template::BINDING_CREDENTIALS.field());
        }
    }
}

impl Asserts for SecretBinding {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(secret) = &self.secret_ref {
            secret.tell(visit, Some(Kind::Secret), Template::BINDING_SECRET.field());
        }
    }
}

watched! { CredentialsBinding, SecretBinding, }
