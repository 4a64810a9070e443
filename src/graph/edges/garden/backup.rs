//! Where the backups of shoots go: buckets, and entries in them.

use serde::Deserialize;

use super::{Asserts, Edge, Meta, Watched, each, given, reference::Reference, tell, tell_seed, watched};
use crate::{
    api::garden::GENERATED_BUCKET_PREFIX,
    graph::{Key, Kind, Template},
};

#[derive(Clone, Debug, Deserialize)]
pub struct BackupBucket {
    #[serde(default)]
    metadata: Meta,
    spec: Option<BucketSpec>,
    status: Option<BucketStatus>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BucketSpec {
    seed_name: Option<String>,
    shoot_ref: Option<Reference>,
    credentials_ref: Option<Reference>,
    secret_ref: Option<Reference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BucketStatus {
    generated_secret_ref: Option<Reference>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct BackupEntry {
    #[serde(default)]
    metadata: Owned,
    spec: Option<EntrySpec>,
    status: Option<EntryStatus>,
}

/// Metadata of which it matters whose the object is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owned {
    #[serde(flatten)]
    meta: Meta,
    owner_references: Option<Vec<OwnerReference>>,
}

#[derive(Clone, Debug, Deserialize)]
struct OwnerReference {
    kind: Option<String>,
    name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntrySpec {
    bucket_name: Option<String>,
    seed_name: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryStatus {
    seed_name: Option<String>,
}

impl Asserts for BackupBucket {
    fn key(&self) -> Key<'_> {
        self.metadata.key(Self::KIND)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(spec) = &self.spec {
            tell_seed(visit, &spec.seed_name, Template::SEED_NAME);
            if let Some(shoot) = &spec.shoot_ref {
                shoot.tell(visit, Some(Kind::Shoot), Template::SHOOT_REF.field());
            }
            if let Some(credentials) = &spec.credentials_ref {
                credentials.tell(visit, credentials.credentials(), Template::CREDENTIALS_REF.field());
            }
            if let Some(secret) = &spec.secret_ref {
                secret.tell(visit, Some(Kind::Secret), Template::SECRET_REF.field());
            }
        }
        let generated = self
            .status
            .as_ref()
            .and_then(|status| status.generated_secret_ref.as_ref());
        // Whoever may write the status of a bucket must not be able to name any other Secret there.
        let own = |name: &str| name.strip_prefix(GENERATED_BUCKET_PREFIX) == Some(self.metadata.name());
        if let Some(secret) = generated.filter(|secret| secret.name().is_some_and(own)) {
            secret.tell(visit, Some(Kind::Secret), Template::GENERATED_SECRET.field());
        }
    }
}

impl Asserts for BackupEntry {
    fn key(&self) -> Key<'_> {
        self.metadata.meta.key(Self::KIND)
    }

    /// The entry needs its bucket, so that a seed finds the bucket of an entry that it has taken over. What may be done to a bucket
    /// because of that is for the rules to say.
    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        if let Some(spec) = &self.spec {
            let bucket = given(&spec.bucket_name);
            tell(visit, Kind::BackupBucket, "", bucket, Template::BUCKET_NAME.field());
            tell_seed(visit, &spec.seed_name, Template::SEED_NAME);
        }
        if let Some(status) = &self.status {
            tell_seed(visit, &status.seed_name, Template::STATUS_SEED_NAME);
        }
        // The first of them is the one, even if it has no name.
        let owner = each(&self.metadata.owner_references).find(|(_, owner)| given(&owner.kind) == Some("Shoot"));
        if let Some((at, owner)) = owner {
            let namespace = self.metadata.meta.namespace();
            tell(
                visit,
                Kind::Shoot,
                namespace,
                given(&owner.name),
                Template::OWNER_REFERENCE.at(at, 0),
            );
        }
    }
}

watched! { BackupBucket, }

impl Watched for BackupEntry {
    const KIND: Kind = Kind::BackupEntry;

    fn meta(&self) -> &Meta {
        &self.metadata.meta
    }
}
