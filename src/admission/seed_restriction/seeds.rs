//! Seeds: each its own, and those that are made of its shoots as far as it has to do with them.

use super::{
    SeedRestriction,
    new::{MANAGED_SEEDS, New, SHOOTS, text_at},
};
use crate::{
    admission::{
        No,
        read::{at, optional_text},
    },
    api::garden::GARDEN,
    authorizer::Profile,
    json::Json,
    rules::Rule,
};

const RULE: Rule = Rule::SeedRestrictionSeeds;

impl SeedRestriction {
    /// A Seed is created or changed. Only the document knows managed seeds whose Seed is kept by the parent.
    pub(super) fn new_seed(&self, new: &New<'_, '_>) -> Result<(), No> {
        if new.name == new.seed().name {
            return Ok(());
        }
        new.has_name(RULE)?;
        if self.profile == Profile::Current {
            return Err(new.foreign(RULE));
        }
        let managed_seed = managed_seed(new)?;
        if at(&managed_seed, &["spec", "seedTemplate"])?.is_none() {
            return Err(new.foreign(RULE));
        }
        is_parent(new, &managed_seed)
    }

    /// Nobody deletes a collection of Seeds: these would be of all names.
    pub(super) fn seed_deletion(&self, new: &New<'_, '_>) -> Result<(), No> {
        if new.name == new.seed().name {
            return Ok(());
        }
        if new.name.is_empty() {
            return Err(new.foreign(RULE));
        }
        let managed_seed = managed_seed(new)?;
        if text_at(&managed_seed, &["metadata"], "deletionTimestamp")?.is_none() {
            let why = "object can only be deleted if corresponding ManagedSeed has a deletion timestamp";
            return Err(new.refuse(RULE, why));
        }
        is_parent(new, &managed_seed)
    }
}

fn managed_seed<'a>(new: &New<'_, 'a>) -> Result<Json<'a>, No> {
    let found = new.look_up(MANAGED_SEEDS, GARDEN, new.name)?;
    found.ok_or_else(|| new.foreign(RULE))
}

/// The shoot that the managed seed is made of runs on the seed.
fn is_parent(new: &New<'_, '_>, managed_seed: &Json<'_>) -> Result<(), No> {
    let Some(shoot) = at(managed_seed, &["spec", "shoot"])? else {
        return Err(new.foreign(RULE));
    };
    let name = optional_text(shoot, "name")?.unwrap_or_default();
    let shoot = new.look_up_required(RULE, SHOOTS, GARDEN, name)?;
    new.owns_by_spec(RULE, &shoot)
}
