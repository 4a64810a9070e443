//! A certificate signing request: which node has made it.

use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, given};
use crate::{
    api::names::{NODE_USER_PREFIX, NODES_GROUP},
    graph::{Key, Kind, Template},
};

#[derive(Clone, Debug, Deserialize)]
pub struct CertificateSigningRequest {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

/// The API server writes both, whatever the client says, and neither changes.
#[derive(Clone, Debug, Deserialize)]
struct Spec {
    username: Option<String>,
    groups: Option<Vec<String>>,
}

impl Asserts for CertificateSigningRequest {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(node) = self.spec.as_ref().and_then(Spec::node) {
            let node = Key::cluster(Kind::Node, node);
            visit(Edge::new(node, Template::USER_NAME.field()));
        }
    }
}

impl Watched for CertificateSigningRequest {
    const KIND: Kind = Kind::CertificateSigningRequest;

    fn meta(&self) -> &Meta {
        &self.metadata
    }
}

impl Spec {
    /// The node that the user is. Its name alone makes nobody a node.
    fn node(&self) -> Option<&str> {
        let node = given(&self.username)?.strip_prefix(NODE_USER_PREFIX)?;
        let is_node = self.groups.iter().flatten().any(|group| group == NODES_GROUP);
        is_node.then_some(node).filter(|node| !node.is_empty())
    }
}
