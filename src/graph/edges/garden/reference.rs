//! References that say of what kind they are. Those to other kinds than are known lead nowhere.

use serde::Deserialize;

use super::{Visit, given, tell};
use crate::graph::{Field, Kind};

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reference {
    api_version: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
}

/// An entry of a list of objects that are needed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NamedResource {
    resource_ref: Option<Reference>,
}

impl Reference {
    /// The kind that credentials can be of.
    pub(super) fn credentials(&self) -> Option<Kind> {
        match self.kind()? {
            ("v1", "Secret") => Some(Kind::Secret),
            ("security.gardener.cloud/v1alpha1", "WorkloadIdentity") => Some(Kind::WorkloadIdentity),
            _ => None,
        }
    }

    /// The kind that other resources can be of.
    pub(super) fn resource(&self) -> Option<Kind> {
        match self.kind()? {
            ("v1", "ConfigMap") => Some(Kind::ConfigMap),
            _ => self.credentials(),
        }
    }

    /// The kind that the credentials of a binding can be of.
    pub(super) fn bound(&self) -> Option<Kind> {
        match self.kind()? {
            ("core.gardener.cloud/v1beta1", "InternalSecret") => Some(Kind::InternalSecret),
            _ => self.credentials(),
        }
    }

    /// The kind alone, whatever group it is said to be of.
    pub(super) fn bare_kind(&self) -> Option<&str> {
        given(&self.kind)
    }

    pub(super) fn name(&self) -> Option<&str> {
        given(&self.name)
    }

    /// One edge to what is in the namespace that the reference names itself.
    pub(super) fn tell(&self, visit: Visit<'_>, kind: Option<Kind>, field: Field) {
        if let Some((kind, namespace)) = kind.zip(given(&self.namespace)) {
            tell(visit, kind, namespace, self.name(), field);
        }
    }

    /// One edge to what is in a namespace that follows from where the reference stands.
    pub(super) fn tell_in(&self, visit: Visit<'_>, namespace: &str, kind: Option<Kind>, field: Field) {
        if let Some(kind) = kind {
            tell(visit, kind, namespace, self.name(), field);
        }
    }

    fn kind(&self) -> Option<(&str, &str)> {
        given(&self.api_version).zip(given(&self.kind))
    }
}

impl NamedResource {
    pub(super) fn reference(&self) -> Option<&Reference> {
        self.resource_ref.as_ref()
    }

    pub(super) fn tell(&self, visit: Visit<'_>, namespace: &str, field: Field) {
        if let Some(reference) = &self.resource_ref {
            reference.tell_in(visit, namespace, reference.resource(), field);
        }
    }
}
