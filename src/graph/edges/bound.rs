//! What belongs to a node, and says so in `spec.nodeName`.

use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, given};
use crate::graph::{Key, Kind, Template};

#[derive(Clone, Debug, Deserialize)]
pub struct PodCertificateRequest {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

/// In any version of its API group: they agree on where the name of the node is. One without it is for many nodes, and
/// nobody's own.
#[derive(Clone, Debug, Deserialize)]
pub struct ResourceSlice {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct VolumeAttachment {
    #[serde(default)]
    metadata: Meta,
    spec: Option<Spec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
}

impl Spec {
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(node) = given(&self.node_name) {
            let node = Key::cluster(Kind::Node, node);
            visit(Edge::new(node, Template::NODE_NAME.field()));
        }
    }
}

macro_rules! bound {
    ($($kind:ident,)*) => {$(
        impl Asserts for $kind {
            fn key(&self) -> Key<'_> {
                self.metadata.key(Self::KIND)
            }

            fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
                self.spec.iter().for_each(|spec| spec.edges(visit));
            }
        }

        impl Watched for $kind {
            const KIND: Kind = Kind::$kind;

            fn meta(&self) -> &Meta {
                &self.metadata
            }
        }
    )*};
}

bound! { PodCertificateRequest, ResourceSlice, VolumeAttachment, }
