//! Who refers to whom: what the Node authorizer decides from.
//!
//! ```text
//! node ← pod ← secret, configmap, serviceaccount, resourceclaim, endpoints
//!            ← persistentvolumeclaim ← persistentvolume ← secret, endpoints
//!      ← volumeattachment, resourceslice, podcertificaterequest, certificatesigningrequest
//! ```
//!
//! An object may be read by a node if the arrows lead from it to the node. Each object that is watched says which arrows
//! there are because of it ([`Asserts`]), and with which of its fields; the [`Store`] keeps them and publishes a
//! [`Snapshot`], which readers use without locks. Namespaces are asked about like objects, and found by the pods in them.

pub mod address;
mod bootstrap;
mod browse;
mod edges;
mod facts;
mod field;
mod names;
mod path;
mod scope;
mod snapshot;
mod store;
mod vertex;

#[cfg(test)]
pub(crate) use self::edges::{model, seed_request};
pub use self::{
    browse::{Filter, Found, Listed, Part, Vertex},
    edges::{
        Asserts, BackupBucket, BackupEntry, Bastion, BootstrapServiceAccount, CertificateSigningRequest,
        ControllerDeployment, ControllerInstallation, CredentialsBinding, CsiDriver, Edge, Gardenlet, ManagedSeed,
        Meta, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodCertificateRequest, Project, Relation,
        ResourceSlice, SecretBinding, Seed, SeedClientRequest, ServiceAccount, Shoot, VolumeAttachment, Watched,
    },
    facts::{Begins, Driver, Facts, PodFacts, TokenSource, Tokens, Uid},
    field::{Field, Template},
    path::{Path, Step},
    snapshot::{Sizes, Snapshot},
    store::Store,
    vertex::{Anchor, Key, Kind},
};
