//! What has no edges of its own, and is watched for its facts.

use std::sync::Arc;

use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, each};
use crate::graph::{Facts, Key, Kind, address};

#[derive(Clone, Debug, Deserialize)]
pub struct CsiDriver {
    #[serde(default)]
    metadata: Meta,
    spec: Option<CsiDriverSpec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CsiDriverSpec {
    token_requests: Option<Vec<TokenRequest>>,
}

#[derive(Clone, Debug, Deserialize)]
struct TokenRequest {
    audience: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Node {
    #[serde(default)]
    metadata: Meta,
    status: Option<NodeStatus>,
}

#[derive(Clone, Debug, Deserialize)]
struct NodeStatus {
    addresses: Option<Vec<NodeAddress>>,
}

#[derive(Clone, Debug, Deserialize)]
struct NodeAddress {
    address: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PersistentVolumeClaim {
    #[serde(default)]
    metadata: Meta,
    spec: Option<ClaimSpec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimSpec {
    volume_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ServiceAccount {
    #[serde(default)]
    metadata: Meta,
}

impl CsiDriver {
    fn known(&self) -> Facts {
        let requests = self.spec.iter().flat_map(|spec| each(&spec.token_requests));
        let token_audiences = requests.map(|(_, request)| request.audience.clone().unwrap_or_default());
        Facts::CsiDriver {
            token_audiences: token_audiences.collect(),
        }
    }
}

impl Node {
    fn known(&self) -> Facts {
        let listed = self.status.iter().flat_map(|status| each(&status.addresses));
        let addresses = address::all(listed.filter_map(|(_, listed)| listed.address.as_deref()));
        Facts::Node {
            uid: self.metadata.uid().to_owned(),
            addresses: Arc::new(addresses),
        }
    }
}

impl PersistentVolumeClaim {
    fn known(&self) -> Facts {
        let volume = self.spec.as_ref().and_then(|spec| spec.volume_name.clone());
        Facts::PersistentVolumeClaim {
            volume: volume.unwrap_or_default(),
        }
    }
}

impl ServiceAccount {
    fn known(&self) -> Facts {
        let uid = self.metadata.uid().to_owned();
        Facts::ServiceAccount { uid }
    }
}

macro_rules! known {
    ($($kind:ident,)*) => {$(
        impl Asserts for $kind {
            fn key(&self) -> Key<'_> {
                self.metadata.key(Self::KIND)
            }

            fn edges(&self, _: &mut dyn FnMut(Edge<'_>)) {}

            fn facts(&self) -> Option<Facts> {
                Some(self.known())
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

known! { CsiDriver, Node, PersistentVolumeClaim, ServiceAccount, }
