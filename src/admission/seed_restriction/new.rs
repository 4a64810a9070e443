//! An object that a seed is about to create, and what can be said against that.

use std::fmt::Display;

use bytes::Bytes;

use super::Asked;
use crate::{
    admission::{
        Known, No, Write,
        read::{at, optional_text},
    },
    api::{dns::is_subdomain, garden, pods::is_namespace, quote},
    caller::{Role, Seed},
    json::{Json, Malformed},
    rejection::{Cause, Details, Rejection},
    request::ResourceRequest,
    rules::Rule,
};

/// What would be stored; of what is deleted or changed, only its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct New<'w, 'a> {
    pub(super) asked: &'w Asked<'a>,
    write: &'w Write<'a>,
    pub(super) known: &'w Known<'a>,
    /// Empty if upstream is to make one up.
    pub(super) name: &'w str,
    pub(super) object: &'w Json<'a>,
}

/// What is looked up: group, version and resource.
pub(super) type Place = (&'static str, &'static str, &'static str);

pub(super) const BACKUP_BUCKETS: Place = (garden::CORE, "v1beta1", "backupbuckets");
pub(super) const BACKUP_ENTRIES: Place = (garden::CORE, "v1beta1", "backupentries");
pub(super) const SEEDS: Place = (garden::CORE, "v1beta1", "seeds");
pub(super) const SHOOTS: Place = (garden::CORE, "v1beta1", "shoots");
pub(super) const GARDENLETS: Place = (garden::SEED_MANAGEMENT, "v1alpha1", "gardenlets");
pub(super) const MANAGED_SEEDS: Place = (garden::SEED_MANAGEMENT, "v1alpha1", "managedseeds");

impl<'w, 'a> New<'w, 'a> {
    pub(super) fn of(
        asked: &'w Asked<'a>,
        write: &'w Write<'a>,
        (name, object): (&'w str, &'w Json<'a>),
        known: &'w Known<'a>,
    ) -> Self {
        Self {
            asked,
            write,
            known,
            name,
            object,
        }
    }

    pub(super) fn seed(&self) -> &'a Seed {
        self.asked.seed
    }

    pub(super) fn is_by_extension(&self) -> bool {
        self.seed().role == Role::Extension
    }

    /// Where it would be, by the URL: what the object says of that has to be the same.
    pub(super) fn namespace(&self) -> &'a str {
        &self.asked.request.namespace
    }

    /// Whether a rule is enforced.
    pub(super) fn minds(&self, rule: Rule) -> bool {
        self.write.minds(rule)
    }

    /// A name that upstream makes up is not known when it is looked at.
    pub(super) fn has_name(&self, rule: Rule) -> Result<(), No> {
        match self.name {
            "" => Err(self.refuse(rule, "it needs a name, which generateName is not")),
            _ => Ok(()),
        }
    }

    /// An object as upstream has it now; nothing if there is none, or can be none of that name.
    pub(super) fn look_up(&self, place: Place, namespace: &str, name: &str) -> Result<Option<Json<'a>>, No> {
        let unread = |Malformed(why)| Rejection::failed_lookup(format!("{}: {why}", quote(name)));
        let stored = self.stored(place, namespace, name)?;
        Ok(stored.map(|stored| Json::parse(stored)).transpose().map_err(unread)?)
    }

    /// The same, as it was read.
    pub(super) fn stored(&self, place: Place, namespace: &str, name: &str) -> Result<Option<&'a Bytes>, No> {
        // Without a namespace, an object that has one would be looked for everywhere.
        let is_somewhere = match place {
            BACKUP_BUCKETS | SEEDS => namespace.is_empty(),
            _ => is_namespace(namespace),
        };
        if !is_somewhere || !is_subdomain(name) {
            return Ok(None);
        }
        self.known.read(&ResourceRequest::object(place, namespace, name))
    }

    /// The same where it has to be there, by a reference that somebody else has set: 500.
    pub(super) fn look_up_required(
        &self,
        rule: Rule,
        place: Place,
        namespace: &str,
        name: &str,
    ) -> Result<Json<'a>, No> {
        let found = self.look_up(place, namespace, name)?;
        found.ok_or_else(|| Rejection::untyped(missing(place, name)).by(rule).into())
    }

    /// The same where the seed itself says that it is there: 403.
    pub(super) fn look_up_claimed(
        &self,
        rule: Rule,
        place: Place,
        namespace: &str,
        name: &str,
    ) -> Result<Json<'a>, No> {
        let found = self.look_up(place, namespace, name)?;
        found.ok_or_else(|| self.refuse(rule, missing(place, name)))
    }

    /// One of these texts is the name of the seed.
    pub(super) fn owns(&self, rule: Rule, named: &[Option<&str>]) -> Result<(), No> {
        if named.contains(&Some(self.seed().name.as_str())) {
            return Ok(());
        }
        Err(self.foreign(rule))
    }

    /// An object has the name of the seed in its spec.
    pub(super) fn owns_by_spec(&self, rule: Rule, object: &Json<'_>) -> Result<(), No> {
        self.owns(rule, &[text_at(object, &["spec"], "seedName")?])
    }

    pub(super) fn foreign(&self, rule: Rule) -> No {
        self.refuse(
            rule,
            format_args!("object does not belong to seed {}", quote(&self.seed().name)),
        )
    }

    /// 403, as admission plugins word it.
    pub(super) fn refuse(&self, rule: Rule, why: impl Display) -> No {
        let resource = &self.asked.request.resource;
        let name = if self.name.is_empty() { "Unknown" } else { self.name };
        let message = format!("{resource} {} is forbidden: {why}", quote(name));
        Rejection::forbidden(message, Details::of(resource, name))
            .by(rule)
            .into()
    }

    /// 422
    pub(super) fn invalid(&self, rule: Rule, cause: Cause) -> No {
        let kind = self.asked.route.kind();
        Rejection::invalid(kind, self.name, cause, 1).by(rule).into()
    }
}

/// A text in an object that stands somewhere in another; nothing if it is not there, which is not the same as an empty one.
pub(super) fn text_at<'j>(object: &'j Json<'_>, path: &[&str], key: &str) -> Result<Option<&'j str>, Rejection> {
    match at(object, path)? {
        Some(inner) => optional_text(inner, key),
        None => Ok(None),
    }
}

fn missing((group, _, resource): Place, name: &str) -> String {
    format!("{resource}.{group} {} not found", quote(name))
}
