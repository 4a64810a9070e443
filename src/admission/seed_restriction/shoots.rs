//! What is called after a shoot, and is beside it.

use super::{
    SeedRestriction,
    new::{New, SHOOTS},
};
use crate::{
    admission::No,
    api::garden::{SHOOT_CONFIG_MAPS, SHOOT_INTERNAL_SECRETS, shoot_of},
    rules::Rule,
};

impl SeedRestriction {
    pub(super) fn config_map(&self, new: &New<'_, '_>) -> Result<(), No> {
        of_shoot(new, Rule::SeedRestrictionConfigMaps, SHOOT_CONFIG_MAPS)
    }

    pub(super) fn internal_secret(&self, new: &New<'_, '_>) -> Result<(), No> {
        of_shoot(new, Rule::SeedRestrictionSecrets, SHOOT_INTERNAL_SECRETS)
    }
}

fn of_shoot(new: &New<'_, '_>, rule: Rule, suffixes: &[&str]) -> Result<(), No> {
    new.has_name(rule)?;
    match shoot_of(new.name, suffixes) {
        Some(shoot) => is_shoot_of_seed(new, rule, new.namespace(), shoot),
        None => Err(new.foreign(rule)),
    }
}

pub(super) fn is_shoot_of_seed(new: &New<'_, '_>, rule: Rule, namespace: &str, name: &str) -> Result<(), No> {
    let shoot = new.look_up_claimed(rule, SHOOTS, namespace, name)?;
    new.owns_by_spec(rule, &shoot)
}
