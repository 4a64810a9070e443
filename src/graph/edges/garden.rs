//! What the objects of Gardener say about others.
//!
//! Fields of every generation of its API are read, whatever the server has: those that there are no more stay empty.
//!
//! ```text
//! seed ← shoot ← project's namespace, bindings ← secret, and all that is named after the shoot or in it
//!              ← managedseed ← bootstrap ← what the gardenlet begins with
//!              ← backupentry ← backupbucket
//!      ← controllerinstallation ← controllerdeployment ← secret, configmap
//!      ← bastion, gardenlet, certificatesigningrequest, lease, namespace
//! ```

mod account;
mod backup;
mod bastion;
mod binding;
mod config;
mod controller;
mod gardenlet;
mod managed_seed;
mod project;
mod reference;
mod request;
mod seed;
mod shoot;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use self::tests::{paths, seed_request};

pub use self::{
    account::BootstrapServiceAccount,
    backup::{BackupBucket, BackupEntry},
    bastion::Bastion,
    binding::{CredentialsBinding, SecretBinding},
    controller::{ControllerDeployment, ControllerInstallation},
    gardenlet::Gardenlet,
    managed_seed::ManagedSeed,
    project::Project,
    request::SeedClientRequest,
    seed::Seed,
    shoot::Shoot,
};
use super::{Asserts, Edge, LocalObjectReference, Meta, Watched, each, given};
use crate::graph::{Field, Key, Kind, Template};

/// Where edges are told of.
type Visit<'a> = &'a mut dyn FnMut(Edge<'_>);

/// One edge, if there is a name at its other end.
fn tell(visit: Visit<'_>, kind: Kind, namespace: &str, name: Option<&str>, field: Field) {
    if let Some(name) = name {
        visit(Edge::new(Key::new(kind, namespace, name), field));
    }
}

/// One edge to the seed that is named, if any is.
fn tell_seed(visit: Visit<'_>, name: &Option<String>, template: Template) {
    tell(visit, Kind::Seed, "", given(name), template.field());
}

/// What all watched kinds have in common: metadata, and a name for their kind.
macro_rules! watched {
    ($($kind:ident,)*) => {$(
        impl Watched for $kind {
            const KIND: Kind = Kind::$kind;

            fn meta(&self) -> &Meta {
                &self.metadata
            }
        }
    )*};
}
use watched;
