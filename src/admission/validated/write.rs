//! Who writes pods, and what pods are made from.
//!
//! A new object has to be allowed with what it carries. A change has to be allowed with what there was and what there will be,
//! and only to the version that was looked at.

use std::borrow::Cow;

use super::{Asked, Part, Place, ValidatedAnnotations, new::New, set::Uses, template::Carried};
use crate::{
    admission::{
        Edit, Known, No, Sent,
        kinds::{Endpoint, endpoint},
        tie::{applied_to, unread},
        write::{Content, Operation, Write, Writer, rejected},
    },
    api::names::VALIDATED_ANNOTATIONS,
    json::Json,
    patch::Patch,
    protobuf,
    rejection::Rejection,
    rules::Modes,
};

/// Nobody can tell what would come of it.
const ROLLED_BACK: &str = "a deployment is rolled back by its template, and not by an annotation";

/// What is known of a change.
#[derive(Clone, Copy)]
struct Changed<'c, 'a> {
    old: &'c Json<'a>,
    new: &'c Json<'a>,
    /// Whether what is stored in the end may be the same, though this looks different: the API server fills in what was left
    /// out, and of an applied object it knows who has set what before.
    maybe: bool,
}

impl ValidatedAnnotations {
    pub(super) fn write<'a>(
        &self,
        asked: &Asked<'a>,
        at: (&'a Place, Part),
        body: &'a [u8],
        known: &Known<'a>,
    ) -> Result<Edit, No> {
        let write = asked.read(at.0.endpoint(), body)?;
        match &write.content {
            Content::Object(sent) if write.operation == Operation::Create => self.create(asked, at.0, sent, known),
            Content::Object(sent) => self.replace(asked, at, (&write, sent), known),
            Content::Patch(patch) => self.patch(asked, at, (&write, patch), known),
            Content::Apply(applied) => self.apply(asked, at, (&write, applied), known),
            Content::Nothing => Err(Rejection::bad_request("the request has no object").into()),
        }
    }

    /// With a binding, a pod gets the annotations that the binding has. Nobody who binds pods has a use for that.
    pub(super) fn binding(&self, asked: &Asked<'_>, body: &[u8]) -> Result<Edit, No> {
        let bindings = endpoint("", "bindings", "", "Binding", &protobuf::BINDING, None);
        let write = asked.read(bindings, body)?;
        let annotations = write.sent()?.at(&["metadata", "annotations"]);
        if annotations.and_then(|all| all.get(VALIDATED_ANNOTATIONS)).is_some() {
            let why = format!("a binding cannot set the annotation {VALIDATED_ANNOTATIONS}");
            return Err(asked.refuse(why).into());
        }
        Ok(Edit::default())
    }

    fn create<'a>(&self, asked: &Asked<'_>, place: &Place, sent: &Sent<'a>, known: &Known<'_>) -> Result<Edit, No> {
        let new = asked.settled(place, &sent.json, None)?;
        if place.rolls_back(&Json::Null, &new.object) {
            return Err(asked.refuse(ROLLED_BACK).into());
        }
        let uses = new.uses();
        let is_from_template = match new.carried.as_slice() {
            [Carried { set, .. }] if !set.is_empty() => self.is_from_template(asked, &new.object, set, known)?,
            _ => false,
        };
        if !is_from_template {
            asked.may_use(&uses, known)?;
        }
        let body = new.is_rewritten().then(|| new.body(place, sent, None)).transpose()?;
        Ok(Edit {
            body,
            ..Edit::default()
        })
    }

    fn replace<'a>(
        &self,
        asked: &Asked<'_>,
        (place, part): (&Place, Part),
        (write, sent): (&Write<'a>, &Sent<'a>),
        known: &Known<'a>,
    ) -> Result<Edit, No> {
        asked.may_at_all(known, false)?;
        let old = write.stored(known)?;
        let new = asked.settled(place, &sent.json, Some(&old))?;
        let rewrite = |_: &Json<'_>, version: &str| {
            let body = new.body(place, sent, Some(version))?;
            Ok(Edit {
                body: Some(body),
                ..Edit::default()
            })
        };
        let (old, edit) = new.tied(write, old, rewrite)?;
        let changed = Changed {
            old: &old,
            new: &new.object,
            maybe: true,
        };
        self.change(asked, (place, part), changed, new.uses(), edit, known)
    }

    fn patch<'a>(
        &self,
        asked: &Asked<'_>,
        (place, part): (&Place, Part),
        (write, patch): (&Write<'a>, &Patch<'a>),
        known: &Known<'a>,
    ) -> Result<Edit, No> {
        let mut templates = place.templates.iter();
        let is_touched = match part {
            Part::All => templates.any(|template| template.is_touched(patch)) || place.may_roll_back(patch),
            Part::Metadata => templates.any(|template| template.is_annotation_touched(patch)),
            Part::Runtime => true,
        };
        if !is_touched && place.is_left_what_it_is(patch) {
            return Ok(Edit::default());
        }
        asked.may_at_all(known, false)?;
        let old = write.stored(known)?;
        let mut shown = old.clone();
        let named: Vec<bool> = place
            .templates
            .iter()
            .map(|template| template.is_field_named(patch))
            .collect();
        for (template, _) in place.templates.iter().zip(&named).filter(|(_, named)| **named) {
            // What cannot be read has no field; who may use anything may replace it.
            let carried = template.carried(&old).unwrap_or_default();
            template.show_field(&mut shown, &carried.set);
        }
        let new = write.patched(patch, shown, &old)?;
        let mut carried = Vec::new();
        for (template, named) in place.templates.iter().zip(named) {
            let found = if named {
                template.carried_by_field(&new, &old)
            } else {
                template.carried_or_left(&new, Some(&old))
            };
            carried.push(found.map_err(|fault| asked.malformed(&place.kind, fault))?);
        }
        let new = New::settle(place, Cow::Owned(new), carried);
        let rewrite = |old: &Json<'a>, version: &str| {
            let mut between = Patch::between(old, &new.object).map_err(rejected)?;
            between.pin_version(version).map_err(rejected)?;
            Ok(Edit {
                body: Some(between.to_vec()),
                content_type: Some(Patch::JSON),
                ..Edit::default()
            })
        };
        let (old, edit) = new.tied(write, old, rewrite)?;
        let changed = Changed {
            old: &old,
            new: &new.object,
            maybe: false,
        };
        self.change(asked, (place, part), changed, new.uses(), edit, known)
    }

    fn apply<'a>(
        &self,
        asked: &Asked<'_>,
        (place, part): (&Place, Part),
        (write, applied): (&Write<'a>, &Json<'a>),
        known: &Known<'a>,
    ) -> Result<Edit, No> {
        asked.may_at_all(known, false)?;
        let new = asked.settled(place, applied, None)?;
        if known.stored()?.is_none() {
            if part != Part::All {
                return Err(Rejection::not_found(&asked.request.resource, &asked.request.name).into());
            }
            if place.rolls_back(&Json::Null, &new.object) {
                return Err(asked.refuse(ROLLED_BACK).into());
            }
            asked.may_use(&new.uses(), known)?;
            return Ok(write.applied_to_nothing(&new.object)?);
        }
        let old = write.stored(known)?;
        write.is_at(&new.object, &old)?;
        let edit = applied_to(&new.object, &old)?;
        let changed = Changed {
            old: &old,
            new: &new.object,
            maybe: true,
        };
        self.change(asked, (place, part), changed, new.uses(), edit, known)
    }

    /// A change of what is stored, which would be made by this edit.
    fn change(
        &self,
        asked: &Asked<'_>,
        (place, part): (&Place, Part),
        changed: Changed<'_, '_>,
        mut uses: Uses,
        edit: Edit,
        known: &Known<'_>,
    ) -> Result<Edit, No> {
        let Changed { old, new, maybe } = changed;
        let is_same = |new: &Json<'_>| match part {
            Part::All => place.templates.iter().all(|template| template.is_same(old, new)),
            Part::Metadata => place
                .templates
                .iter()
                .all(|template| template.is_annotation_same(old, new)),
            Part::Runtime => false,
        };
        if part == Part::All && place.rolls_back(old, new) {
            return Err(asked.refuse(ROLLED_BACK).into());
        }
        if is_same(new) {
            return Ok(edit);
        }
        uses.join(place.uses(old));
        let no = match asked.may_use(&uses, known) {
            Ok(()) => return Ok(edit),
            Err(no @ No::Refused(_)) if maybe && part != Part::Runtime => no,
            Err(no) => return Err(no),
        };
        match known.rehearsed() {
            None => Err(No::Rehearse(Box::new(edit.rehearsed()))),
            Some(result) => {
                let result = Json::parse(result).map_err(unread)?;
                let is_it = old.at(&["metadata", "uid"]) == result.at(&["metadata", "uid"]);
                if is_it && is_same(&result) { Ok(edit) } else { Err(no) }
            }
        }
    }
}

impl<'a> Asked<'a> {
    fn read(&self, endpoint: Endpoint<'a>, body: &'a [u8]) -> Result<Write<'a>, Rejection> {
        let Some(operation) = Operation::of(&self.head.info().verb) else {
            return Err(Rejection::internal("a request to be judged is no write"));
        };
        let writer = Writer {
            node: "",
            user: &self.caller.user,
            modes: Modes::UPSTREAM,
        };
        Write::read_at(writer, operation, (self.head, self.request), endpoint, body)
    }
}
