//! A bastion: which seed lets somebody into a shoot.

use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, tell_seed, watched};
use crate::graph::{Key, Kind, Template};

#[derive(Clone, Debug, Deserialize)]
pub struct Bastion {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    seed_name: Option<String>,
}

impl Asserts for Bastion {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(spec) = &self.spec {
            tell_seed(visit, &spec.seed_name, Template::SEED_NAME);
        }
    }
}

watched! { Bastion, }
