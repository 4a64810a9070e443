//! What comes of a write, with what it carries in its stored form.

use std::borrow::Cow;

use super::{Asked, Place, set::Uses, template::Carried};
use crate::{
    admission::{Change, Edit, No, Sent, Tie, sent::with_texts, write::Write},
    json::Json,
    protobuf,
    rejection::Rejection,
};

/// An object that would be stored.
pub(super) struct New<'j, 'a> {
    pub(super) object: Cow<'j, Json<'a>>,
    pub(super) carried: Vec<Carried>,
}

impl Asked<'_> {
    /// What a client has sent, in its stored form.
    pub(super) fn settled<'o, 'j>(
        &self,
        place: &Place,
        object: &'o Json<'j>,
        old: Option<&Json<'_>>,
    ) -> Result<New<'o, 'j>, Rejection> {
        let templates = place.templates.iter();
        let carried = templates.map(|template| template.carried_or_left(object, old));
        let carried = carried.collect::<Result<_, _>>();
        let carried = carried.map_err(|fault| self.malformed(&place.kind, fault))?;
        Ok(New::settle(place, Cow::Borrowed(object), carried))
    }
}

impl<'j, 'a> New<'j, 'a> {
    pub(super) fn settle(place: &Place, mut object: Cow<'j, Json<'a>>, carried: Vec<Carried>) -> Self {
        for (template, carried) in place.templates.iter().zip(&carried) {
            if !carried.is_settled {
                template.settle(object.to_mut(), &carried.set);
            }
        }
        Self { object, carried }
    }

    /// As the client has sent it, or as it has to be rewritten, and made to no other version than this one.
    pub(super) fn tied(
        &self,
        write: &Write<'a>,
        old: Json<'a>,
        rewrite: impl FnOnce(&Json<'a>, &str) -> Result<Edit, Rejection>,
    ) -> Result<(Json<'a>, Edit), No> {
        let change = Change {
            old,
            new: Cow::Borrowed(&*self.object),
        };
        let edit = if self.is_rewritten() {
            let version = write.version_of(&change)?;
            Edit {
                tie: Tie::Version(version.to_owned()),
                ..rewrite(&change.old, version)?
            }
        } else {
            write.at_version(&change)?
        };
        Ok((change.old, edit))
    }

    /// Whether it is not what the client has sent.
    pub(super) fn is_rewritten(&self) -> bool {
        self.carried.iter().any(|carried| !carried.is_settled)
    }

    pub(super) fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        self.carried.iter().for_each(|carried| uses.add(&carried.set));
        uses
    }

    /// In the encoding it came in, and for this version.
    pub(super) fn body(&self, place: &Place, sent: &Sent<'_>, version: Option<&str>) -> Result<Vec<u8>, Rejection> {
        let Some(message) = place.endpoint().message.filter(|_| sent.is_protobuf()) else {
            let texts: Vec<_> = version
                .map(|version| ("resourceVersion", version))
                .into_iter()
                .collect();
            let path: &[&str] = if texts.is_empty() { &[] } else { &["metadata"] };
            return with_texts(&self.object, path, &texts);
        };
        let mut tail = Vec::new();
        for (template, carried) in place.templates.iter().zip(&self.carried) {
            if !carried.is_settled {
                let settled = template.settled_tail(message, &carried.set);
                tail.extend(settled.ok_or_else(|| Rejection::internal("there is no such field in the tables"))?);
            }
        }
        tail.extend(
            version
                .map(|version| protobuf::text_field(&[1, 6], version))
                .into_iter()
                .flatten(),
        );
        Ok(sent.append(&tail))
    }
}
