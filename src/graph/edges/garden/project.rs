//! A project: whoever has something in its namespace may read it.

use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, given, tell, watched};
use crate::graph::{Key, Kind, Template};

#[derive(Clone, Debug, Deserialize)]
pub struct Project {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
struct Spec {
    namespace: Option<String>,
}

impl Asserts for Project {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(spec) = &self.spec {
            let namespace = given(&spec.namespace);
            tell(
                visit,
                Kind::Namespace,
                "",
                namespace,
                Template::PROJECT_NAMESPACE.field(),
            );
        }
    }
}

watched! { Project, }
