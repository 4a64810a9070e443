//! Where backups of a seed's shoots go.

use super::{
    SeedRestriction,
    new::{BACKUP_BUCKETS, BACKUP_ENTRIES, New, SEEDS, SHOOTS, text_at},
};
use crate::{
    admission::{
        No,
        read::{at, field, list, text},
    },
    authorizer::Profile,
    json::{Json, Object},
    rejection::Rejection,
    rules::Rule,
};

const RULE: Rule = Rule::SeedRestrictionBackups;
/// Begins the name of an entry that backups are copied from, when a shoot comes from another seed.
const SOURCE: &str = "source";

impl SeedRestriction {
    pub(super) fn backup_bucket(&self, new: &New<'_, '_>) -> Result<(), No> {
        new.owns_by_spec(RULE, new.object)
    }

    /// A bucket has the name that upstream has given the seed.
    pub(super) fn bucket_deletion(&self, new: &New<'_, '_>) -> Result<(), No> {
        let seed = new.look_up_required(RULE, SEEDS, "", &new.seed().name)?;
        let uid = text_at(&seed, &["metadata"], "uid")?;
        // Of a collection no single name is known.
        if new.name.is_empty() || uid != Some(new.name) {
            return Err(new.refuse(RULE, "cannot delete unrelated BackupBucket"));
        }
        Ok(())
    }

    pub(super) fn backup_entry(&self, new: &New<'_, '_>) -> Result<(), No> {
        new.owns_by_spec(RULE, new.object)?;
        if self.profile == Profile::Current {
            // It could come out as one that is judged in the other way.
            new.has_name(RULE)?;
            if new.name.starts_with(SOURCE) {
                return source(new);
            }
        }
        let bucket = text_at(new.object, &["spec"], "bucketName")?.unwrap_or_default();
        let bucket = new.look_up_required(RULE, BACKUP_BUCKETS, "", bucket)?;
        new.owns_by_spec(RULE, &bucket)
    }
}

/// While a shoot is restored, where its backups were is written down in a copy of its entry.
fn source(new: &New<'_, '_>) -> Result<(), No> {
    let shoot_name = owner(new.object)?;
    let shoot = new.look_up_required(RULE, SHOOTS, new.namespace(), shoot_name)?;
    let operation = ["status", "lastOperation"];
    let (kind, state) = (
        text_at(&shoot, &operation, "type")?,
        text_at(&shoot, &operation, "state")?,
    );
    if (kind, state) != (Some("Restore"), Some("Processing")) {
        let why = "creation of source BackupEntry is only allowed during shoot Restore operation";
        return Err(new.refuse(RULE, format_args!("{why} (shoot: {shoot_name})")));
    }
    let original_name = new.name.strip_prefix("source-").unwrap_or(new.name);
    let Some(original) = new.look_up(BACKUP_ENTRIES, new.namespace(), original_name)? else {
        let why = format_args!("could not find original BackupEntry {original_name}");
        return Err(new.refuse(RULE, why));
    };
    if spec(new.object)? != spec(&original)? {
        let why = "specification of source BackupEntry must equal specification of original BackupEntry";
        return Err(new.refuse(RULE, format_args!("{why} {original_name}")));
    }
    Ok(())
}

/// The first shoot among the owners; empty if there is none, and nothing is called that.
fn owner<'j>(object: &'j Json<'_>) -> Result<&'j str, Rejection> {
    let metadata = field(object, "metadata")?.unwrap_or(&Json::Null);
    for owner in list(metadata, "ownerReferences")? {
        if text(owner, "kind")? == "Shoot" {
            return text(owner, "name");
        }
    }
    Ok("")
}

/// What is null is the same as what is not there.
fn spec<'a>(object: &Json<'a>) -> Result<Option<Json<'a>>, Rejection> {
    Ok(at(object, &["spec"])?.map(without_nulls))
}

fn without_nulls<'a>(json: &Json<'a>) -> Json<'a> {
    match json {
        Json::Object(object) => {
            let there = Object::iter(object).filter(|(_, value)| !value.is_null());
            Json::Object(
                there
                    .map(|(key, value)| (key.to_owned().into(), without_nulls(value)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}
