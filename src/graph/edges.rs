//! What one object says about others.
//!
//! The types are those of Kubernetes with only the fields that say something, every one of which may be missing or `null`;
//! the rest of an object is passed over while it is read.

mod bound;
mod driver;
mod garden;
mod known;
mod meta;
mod pod;
mod request;
mod volume;

#[cfg(test)]
pub(crate) mod model;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use serde::{Deserialize, de::DeserializeOwned};

use super::{Facts, Field, Key, Kind, PodFacts};

#[cfg(test)]
pub(crate) use self::garden::seed_request;
pub use self::{
    bound::{PodCertificateRequest, ResourceSlice, VolumeAttachment},
    garden::{
        BackupBucket, BackupEntry, Bastion, BootstrapServiceAccount, ControllerDeployment, ControllerInstallation,
        CredentialsBinding, Gardenlet, ManagedSeed, Project, SecretBinding, Seed, SeedClientRequest, Shoot,
    },
    known::{CsiDriver, Node, PersistentVolumeClaim, ServiceAccount},
    meta::Meta,
    pod::Pod,
    request::CertificateSigningRequest,
    volume::PersistentVolume,
};

/// A watched object, reduced to what the graph wants of it.
pub trait Asserts {
    /// The object itself.
    fn key(&self) -> Key<'_>;

    /// Every edge that is there because of this object, in no order; the same one may come twice. The object itself is at one
    /// end of each.
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>));

    /// What is to be known about the object beside its edges.
    fn facts(&self) -> Option<Facts> {
        None
    }

    /// The node it is bound to, and what that node has to know of it; of pods only.
    fn bound(&self) -> Option<(&str, PodFacts)> {
        None
    }

    /// What else is in the graph because of it, and has the same name. It comes and goes with it.
    fn part(&self) -> Option<&dyn Asserts> {
        None
    }
}

/// A kind that an informer can watch.
pub trait Watched: Asserts + Clone + Debug + DeserializeOwned + Send + Sync + 'static {
    /// The kind of all these objects.
    const KIND: Kind;

    fn meta(&self) -> &Meta;
}

/// One edge of an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Edge<'a> {
    pub other: Key<'a>,
    /// The field of the object that says so, and how the two are related by it.
    pub field: Field,
}

/// How the object is related to the other.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Relation {
    /// Whoever may read the object may read the other: a pod needs its secrets.
    Needs,
    /// Whoever may read the other may read the object: a pod belongs to its node, a volume to its claim.
    BelongsTo,
}

impl<'a> Edge<'a> {
    pub fn new(other: Key<'a>, field: Field) -> Self {
        Self { other, field }
    }
}

/// A reference to an object whose kind and namespace follow from where it stands.
#[derive(Clone, Debug, Deserialize)]
struct LocalObjectReference {
    name: Option<String>,
}

impl LocalObjectReference {
    fn name(&self) -> Option<&str> {
        given(&self.name)
    }
}

/// The text, if there is any: Kubernetes takes an empty one for a missing one.
fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

/// The entries of a list that may be missing, with their indexes.
fn each<T>(list: &Option<Vec<T>>) -> impl Iterator<Item = (usize, &T)> {
    list.iter().flatten().enumerate()
}
