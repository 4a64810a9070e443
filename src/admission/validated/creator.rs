//! Controllers that make pods from templates: what they carry was looked at when the template was written.

use super::{Asked, ValidatedAnnotations, set::Set};
use crate::{
    admission::{Edit, Known, No, tie::unread},
    json::Json,
    request::ResourceRequest,
};

impl ValidatedAnnotations {
    /// Controllers find what they have made pods from before by its name, and merge it into what there is now: whoever writes that
    /// chooses what runs. Nobody but they has a use for it.
    pub(super) fn revision(&self, asked: &Asked<'_>) -> Result<Edit, No> {
        if self.is_trusted(asked) {
            return Ok(Edit::default());
        }
        let why = "only validatedAnnotations.trustedCreators write controller revisions";
        Err(asked.refuse(why).into())
    }

    /// A caller whom somebody else acts as is not: whoever may act as a controller is none.
    fn is_trusted(&self, asked: &Asked<'_>) -> bool {
        let caller = asked.caller;
        caller.actor.is_none() && self.trusted_creators.contains(&caller.user.name)
    }

    /// Whether a trusted creator makes it from an object that carries the same.
    pub(super) fn is_from_template(
        &self,
        asked: &Asked<'_>,
        new: &Json<'_>,
        set: &Set,
        known: &Known<'_>,
    ) -> Result<bool, No> {
        if !self.is_trusted(asked) {
            return Ok(false);
        }
        let Some(owner) = Owner::of(new) else { return Ok(false) };
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        let version = owner.api_version.rsplit('/').next().unwrap_or_default();
        let Some(place) = self.places.iter().find(|place| place.is_kind(group, owner.kind)) else {
            return Ok(false);
        };
        let resource = (group, version, place.resource().1);
        let request = ResourceRequest::object(resource, &asked.request.namespace, owner.name);
        let is_named = !owner.uid.is_empty() && !matches!(owner.name, "" | "." | "..");
        if !is_named || place.is_pod() {
            return Ok(false);
        }
        let Some(stored) = known.read(&request)? else {
            return Ok(false);
        };
        let stored = Json::parse(stored).map_err(unread)?;
        let uid = stored.at(&["metadata", "uid"]).and_then(Json::as_str);
        let carried = place.templates.iter().map(|template| template.carried(&stored));
        let same = carried
            .into_iter()
            .any(|carried| carried.is_ok_and(|carried| carried.set == *set));
        Ok(uid == Some(owner.uid) && same)
    }
}

/// Whoever manages an object, as the object says.
struct Owner<'j> {
    api_version: &'j str,
    kind: &'j str,
    name: &'j str,
    uid: &'j str,
}

impl<'j> Owner<'j> {
    /// The one that is its controller; there can be only one.
    fn of(object: &'j Json<'_>) -> Option<Self> {
        let owners = object.at(&["metadata", "ownerReferences"])?.as_array()?;
        let mut controllers = owners
            .iter()
            .filter(|owner| owner.get("controller") == Some(&Json::Bool(true)));
        let owner = controllers.next().filter(|_| controllers.clone().next().is_none())?;
        let text = |key| owner.get(key).and_then(Json::as_str);
        Some(Self {
            api_version: text("apiVersion")?,
            kind: text("kind")?,
            name: text("name")?,
            uid: text("uid")?,
        })
    }
}
