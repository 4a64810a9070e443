//! What a seed has by its own name, or is told to have in an object.

use super::{
    SeedRestriction,
    new::{New, SHOOTS, text_at},
};
use crate::{
    admission::No,
    api::{garden, quote},
    authorizer::Profile,
    rejection::Rejection,
    rules::Rule,
};

impl SeedRestriction {
    /// Gardener's document lets a lease of the seed's name be anywhere; nobody uses it but in one namespace.
    pub(super) fn lease(&self, new: &New<'_, '_>) -> Result<(), No> {
        let rule = Rule::SeedRestrictionLeases;
        if new.is_by_extension() {
            if new.seed().is_namespace(new.namespace()) {
                return Ok(());
            }
            let why = "extension client can only create leases in the namespace for seed";
            return Err(new.refuse(rule, format_args!("{why} {}", quote(&new.seed().name))));
        }
        new.has_name(rule)?;
        match (new.name, new.namespace()) {
            (garden::LEADER_ELECTION, _) => Ok(()),
            (name, garden::SEED_LEASES) => new.owns(rule, &[Some(name)]),
            _ => Err(new.foreign(rule)),
        }
    }

    /// Gardener's API server puts in the seed of the shoot, whatever the client says, before Gardener itself looks; the gate looks
    /// before that, so it has to know the shoot.
    pub(super) fn bastion(&self, new: &New<'_, '_>) -> Result<(), No> {
        let rule = Rule::SeedRestrictionBastions;
        new.owns_by_spec(rule, new.object)?;
        let name = text_at(new.object, &["spec", "shootRef"], "name")?.unwrap_or_default();
        let shoot = new.look_up(SHOOTS, new.namespace(), name)?;
        match shoot.map(|shoot| new.owns_by_spec(rule, &shoot)) {
            Some(Ok(())) => Ok(()),
            _ => Err(new.refuse(rule, "it is not for a shoot of the seed")),
        }
    }

    pub(super) fn gardenlet(&self, new: &New<'_, '_>) -> Result<(), No> {
        let rule = Rule::SeedRestrictionGardenlets;
        if new.namespace() != garden::GARDEN {
            let why = format!("object must be in namespace: {}", quote(garden::GARDEN));
            return Err(Rejection::bad_request(why).by(rule).into());
        }
        new.has_name(rule)?;
        new.owns(rule, &[Some(new.name)])
    }

    /// While a shoot moves to another seed, its status still names the one that it comes from, and that one writes its state.
    pub(super) fn shoot_state(&self, new: &New<'_, '_>) -> Result<(), No> {
        let rule = Rule::SeedRestrictionShootStates;
        new.has_name(rule)?;
        let shoot = new.look_up_required(rule, SHOOTS, new.namespace(), new.name)?;
        let status = match self.profile {
            Profile::Document => None,
            Profile::Current => text_at(&shoot, &["status"], "seedName")?,
        };
        new.owns(rule, &[text_at(&shoot, &["spec"], "seedName")?, status])
    }
}
