//! A service account that a gardenlet begins with, or that an extension of a shoot has: where its tokens are.

use serde::Deserialize;

use super::{Asserts, Edge, LocalObjectReference, Meta, Watched, each, tell};
use crate::{
    api::garden,
    graph::{Key, Kind, Template},
};

/// Any service account, since all are watched together. Those of other names need nothing here: it is nobody's business whose
/// tokens are where.
#[derive(Clone, Debug, Deserialize)]
pub struct BootstrapServiceAccount {
    #[serde(default)]
    metadata: Meta,
    secrets: Option<Vec<LocalObjectReference>>,
}

impl Asserts for BootstrapServiceAccount {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if !garden::is_garden_account(self.metadata.name()) {
            return;
        }
        let namespace = self.metadata.namespace();
        for (at, secret) in each(&self.secrets) {
            let field = Template::ACCOUNT_SECRET.at(at, 0);
            tell(visit, Kind::Secret, namespace, secret.name(), field);
        }
    }
}

impl Watched for BootstrapServiceAccount {
    const KIND: Kind = Kind::ServiceAccount;

    fn meta(&self) -> &Meta {
        &self.metadata
    }
}
