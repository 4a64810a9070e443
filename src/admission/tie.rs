//! Ties a write to what it was judged against, so that it cannot turn into anything else on its way.
//!
//! Between the judgement and upstream's own reading of the write the object may change, or be replaced by another of the same
//! name. Upstream compares what the write says about the object's uid and version, and refuses if it is another.

use std::borrow::Cow;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    No,
    known::Known,
    sent::{is_look_alike, with_texts},
    write::{Content, Operation, Write, metadata_text as text, rejected},
};
use crate::{
    api::GroupResource,
    json::{Json, Malformed, Object},
    patch::Patch,
    rejection::{Cause, Rejection},
    request::Query,
};

/// What an object is made of.
const PARTS: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];

/// The version of a store that is empty.
const ABSENT: &str = "1";

/// What has to be done to a write before it is forwarded.
#[derive(Debug, Default)]
pub struct Edit {
    /// In place of what the client sent.
    pub(super) body: Option<Vec<u8>>,
    /// How it is encoded, if that is another way than the client's.
    pub(super) content_type: Option<&'static str>,
    /// Behind the query that the client sent.
    pub(super) query: Option<String>,
    pub(super) tie: Tie,
}

/// What the gate itself has tied a write to. Where upstream finds something else there, the write is judged again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Tie {
    /// Nothing; or to what the client has tied it to.
    #[default]
    None,
    Uid(String),
    Version(String),
}

/// An object as it is stored, and as it would be.
#[derive(Debug)]
pub struct Change<'w, 'a> {
    pub old: Json<'a>,
    pub new: Cow<'w, Json<'a>>,
}

impl<'a> Write<'a> {
    /// The object that is written, as it is stored.
    pub fn stored(&self, known: &Known<'a>) -> Result<Json<'a>, No> {
        let Some(stored) = known.stored()? else {
            return Err(No::refused(Rejection::not_found(
                &self.request.resource,
                &self.request.name,
            )));
        };
        let endpoint = self.endpoint;
        let passed_over = endpoint.and_then(|endpoint| endpoint.passed_over);
        let stored = match (&self.content, passed_over) {
            (Content::Object(_), Some(key)) => Json::parse_without(stored, key),
            _ => Json::parse(stored),
        };
        let mut stored = stored.map_err(unread)?;
        if let (Json::Object(stored), Some(endpoint)) = (&mut stored, endpoint) {
            // Items of a list do not say what they are; an object by itself does, and so a patch sees it.
            stored.insert("apiVersion".into(), endpoint.version(self.request).into());
            stored.insert("kind".into(), endpoint.kind.into());
        }
        Ok(stored)
    }

    /// Works out what would be stored.
    pub fn change(&self, known: &Known<'a>) -> Result<Change<'_, 'a>, No> {
        let old = self.stored(known)?;
        let new = match &self.content {
            Content::Object(sent) => Cow::Borrowed(&sent.json),
            Content::Patch(patch) => Cow::Owned(self.patched(patch, old.clone(), &old)?),
            Content::Apply(applied) => match known.rehearsed() {
                Some(rehearsed) => {
                    let new = Json::parse(rehearsed).map_err(unread)?;
                    self.is_of_the_kind_of(&new, &old, false)?;
                    if text(&new, "uid")? != text(&old, "uid")? {
                        return Err(Rejection::bad_gateway("a dry run came out as another object").into());
                    }
                    Cow::Owned(new)
                }
                None => return Err(No::Rehearse(Box::new(self.rehearsal(applied, &old)?))),
            },
            Content::Nothing => return Err(Rejection::bad_request("the request has no object").into()),
        };
        Ok(Change { old, new })
    }

    /// What a patch makes of an object, which has to be of the kind of the one that is stored.
    pub(super) fn patched(&self, patch: &Patch<'a>, object: Json<'a>, old: &Json<'a>) -> Result<Json<'a>, Rejection> {
        let schema = self.endpoint.and_then(|endpoint| endpoint.schema);
        let schema = schema.ok_or_else(|| Rejection::internal("no merge keys for this patch"))?;
        let new = patch.apply(schema, object).map_err(rejected)?;
        self.is_of_the_kind_of(&new, old, patch.is_typed())?;
        self.is_at_home(&new, true)?;
        Ok(new)
    }

    /// The version that is stored, unless the client means another.
    pub(super) fn version_of<'c>(&self, change: &'c Change<'_, 'a>) -> Result<&'c str, Rejection> {
        self.is_at(
            match &self.content {
                Content::Apply(applied) => applied,
                _ => &change.new,
            },
            &change.old,
        )
    }

    /// Whether the client means the version that is stored, if it means one; and which that is.
    pub(super) fn is_at<'c>(&self, new: &Json<'_>, old: &'c Json<'a>) -> Result<&'c str, Rejection> {
        let (version, claimed) = (text(old, "resourceVersion")?, text(new, "resourceVersion")?);
        // Nothing and zero stand for any version.
        if !matches!(claimed, "" | "0") && claimed != version {
            return Err(Rejection::conflict(
                &self.request.resource,
                &self.request.name,
                "the object has been modified; please apply your changes to the latest version and try again",
            ));
        }
        Ok(version)
    }

    /// The write can only be made to the version it was judged against.
    pub fn at_version(&self, change: &Change<'_, 'a>) -> Result<Edit, No> {
        let version = self.version_of(change)?;
        let body = match &self.content {
            Content::Object(sent) if text(&sent.json, "resourceVersion")? == version => return Ok(Edit::default()),
            Content::Object(sent) => sent.with_text(&["metadata", "resourceVersion"], &[1, 6], version)?,
            Content::Patch(patch) if patch.metadata("resourceVersion") == Some(version) => return Ok(Edit::default()),
            Content::Patch(patch) => {
                let mut patch = patch.clone();
                patch.pin_version(version).map_err(rejected)?;
                patch.to_vec()
            }
            Content::Apply(applied) => return Ok(applied_to(applied, &change.old)?),
            Content::Nothing => return Ok(Edit::default()),
        };
        Ok(Edit {
            body: Some(body),
            tie: Tie::Version(version.to_owned()),
            ..Edit::default()
        })
    }

    /// The write can only be made to the very object it was judged against, which is of this kind. If the client means another,
    /// it is told what upstream would tell it.
    pub fn to_uid(&self, kind: &str, uid: &str) -> Result<Edit, No> {
        // An empty one is a condition that nothing meets, except in a patch, where it is that of the object.
        let (claimed, path, fields): (Option<Cow<'_, str>>, &[&str], &[u32]) = match (&self.content, self.operation) {
            (Content::Patch(patch), _) => {
                let claimed = patch.metadata("uid").filter(|uid| !uid.is_empty());
                (claimed.map(Cow::from), &[], &[])
            }
            (Content::Object(sent), Operation::Delete) => {
                let path: &[&str] = &["preconditions", "uid"];
                (sent.text_if_there(path)?.map(Cow::from), path, &[2, 1])
            }
            (Content::Object(sent), _) => {
                let path: &[&str] = &["deleteOptions", "preconditions", "uid"];
                (sent.text_if_there(path)?.map(Cow::from), path, &[2, 2, 1])
            }
            (Content::Nothing | Content::Apply(_), _) => (self.queried_uid()?.map(Cow::from), &[], &[]),
        };
        if uid.is_empty() {
            return Err(Rejection::bad_gateway("an object has no uid").into());
        }
        match claimed {
            Some(claimed) if claimed == uid => return Ok(Edit::default()),
            Some(claimed) => return Err(self.other_uid(kind, &claimed, uid).into()),
            None => {}
        }
        let mut edit = Edit {
            tie: Tie::Uid(uid.to_owned()),
            ..Edit::default()
        };
        match &self.content {
            Content::Object(sent) => edit.body = Some(sent.with_text(path, fields, uid)?),
            Content::Patch(patch) => {
                let mut patch = patch.clone();
                patch.pin_uid(uid).map_err(rejected)?;
                edit.body = Some(patch.to_vec());
            }
            Content::Nothing | Content::Apply(_) => {
                edit.query = Some(format!("uid={}", utf8_percent_encode(uid, NON_ALPHANUMERIC)));
            }
        }
        Ok(edit)
    }

    /// What could make an object where there is none is only made to the one that was seen there. The API server holds the uid in a
    /// body against what is stored before it does anything else.
    pub(super) fn to_what_is_there(&self, old: &Json<'_>) -> Result<Edit, No> {
        let uid = text(old, "uid")?;
        if uid.is_empty() {
            return Err(Rejection::bad_gateway("an object has no uid").into());
        }
        let claimed = match &self.content {
            Content::Object(sent) => text(&sent.json, "uid")?,
            Content::Apply(applied) => text(applied, "uid")?,
            Content::Patch(_) | Content::Nothing => return Ok(Edit::default()),
        };
        match claimed {
            "" => {}
            claimed if claimed == uid => return Ok(Edit::default()),
            claimed => {
                let why = format!("Precondition failed: UID in precondition: {claimed}, UID in object meta: {uid}");
                return Err(Rejection::conflict(&self.request.resource, &self.request.name, &why).into());
            }
        }
        let body = match &self.content {
            Content::Object(sent) => sent.with_text(&["metadata", "uid"], &[1, 5], uid)?,
            Content::Apply(applied) => with_texts(applied, &["metadata"], &[("uid", uid)])?,
            Content::Patch(_) | Content::Nothing => return Ok(Edit::default()),
        };
        Ok(Edit {
            body: Some(body),
            tie: Tie::Uid(uid.to_owned()),
            ..Edit::default()
        })
    }

    /// A patch would change what never changes; of everything else the uid is a condition.
    fn other_uid(&self, kind: &str, claimed: &str, uid: &str) -> Rejection {
        let name = &self.request.name;
        if matches!(self.content, Content::Patch(_)) {
            let cause = Cause::invalid("metadata.uid", claimed, "field is immutable");
            // The API server looks at it with the metadata, and once more with the whole.
            return Rejection::invalid(kind, name, cause, 2);
        }
        let resource = GroupResource {
            group: self.request.resource.group.clone(),
            resource: kind.to_owned(),
        };
        let why = format!(
            "the UID in the precondition ({claimed}) does not match the UID in record ({uid}). \
             The object might have been deleted and then recreated"
        );
        Rejection::conflict(&resource, name, &why)
    }

    /// Upstream reads options of a delete from the query only if there is no body.
    fn queried_uid(&self) -> Result<Option<String>, Rejection> {
        let query = Query::parse(self.head.uri().query().unwrap_or_default());
        let query = query.map_err(|malformed| Rejection::bad_request(malformed.to_string()))?;
        match query.get("uid") {
            // Upstream takes it for none, and would not look at the one that the write is tied to, behind it.
            Some("") => Err(Rejection::bad_request("query parameter uid is empty")),
            uid => Ok(uid.map(str::to_owned)),
        }
    }

    /// The API server reads what comes of a patch by what it says it is: without a version, or with that of the types that it uses
    /// itself, every field has another name, and what the rules look at would mean nothing. It finds that out in whatever case
    /// the keys are written, so there may be no others than those that everything has. Only where it knows the type already it
    /// does without.
    pub(super) fn is_of_the_kind_of(&self, new: &Json<'_>, old: &Json<'_>, typed: bool) -> Result<(), Rejection> {
        let is_same = |key: &&str| new.get(key) == old.get(key) || typed && new.get(key).is_none();
        let mut keys = new.as_object().into_iter().flat_map(Object::iter).map(|(key, _)| key);
        let has_others = self.endpoint.is_some_and(|endpoint| endpoint.has_others);
        let known = keys.all(|key| PARTS.contains(&key) || has_others && !is_look_alike(key));
        if ["apiVersion", "kind"].iter().all(is_same) && (typed || known) {
            return Ok(());
        }
        Err(Rejection::bad_request(
            "a patch may not change what kind of object it is made to",
        ))
    }

    /// What comes of an applied object depends on who has set which field before; only upstream can tell.
    fn rehearsal(&self, applied: &Json<'a>, old: &Json<'_>) -> Result<Edit, Rejection> {
        Ok(applied_to(applied, old)?.rehearsed())
    }

    /// Applied where there is nothing, and nowhere else. No object has that version, and if there is an object after all, it is
    /// another one.
    pub(super) fn applied_to_nothing(&self, applied: &Json<'_>) -> Result<Edit, Rejection> {
        let Self { request, .. } = self;
        if !text(applied, "uid")?.is_empty() {
            let why = "uid mismatch: there is no object with that uid";
            return Err(Rejection::conflict(&request.resource, &request.name, why));
        }
        self.is_at_home(applied, false)?;
        // The API server does not look at a version where there is nothing.
        Ok(Edit {
            body: Some(with_texts(applied, &["metadata"], &[("resourceVersion", ABSENT)])?),
            tie: Tie::Version(ABSENT.to_owned()),
            ..Edit::default()
        })
    }
}

pub(super) fn unread(Malformed(error): Malformed) -> Rejection {
    Rejection::bad_gateway(format!("the stored object cannot be read: {error}"))
}

impl Edit {
    /// The same, to see what would come of it.
    pub(super) fn rehearsed(self) -> Self {
        Self {
            query: Some("dryRun=All".to_owned()),
            ..self
        }
    }

    /// Both, one after the other. The second was made of what the first makes of the request.
    pub(super) fn then(self, second: Self) -> Self {
        Self {
            body: second.body.or(self.body),
            content_type: second.content_type.or(self.content_type),
            query: match (self.query, second.query) {
                (Some(first), Some(second)) => Some(format!("{first}&{second}")),
                (first, second) => first.or(second),
            },
            tie: match second.tie {
                Tie::None => self.tie,
                tie => tie,
            },
        }
    }
}

/// Applied to this version of this object. The version alone would not do: where there is no object any more, it is not looked
/// at, and one would be created.
pub(super) fn applied_to(applied: &Json<'_>, old: &Json<'_>) -> Result<Edit, Rejection> {
    let (uid, version) = (text(old, "uid")?, text(old, "resourceVersion")?);
    let claimed = text(applied, "uid")?;
    if !claimed.is_empty() && claimed != uid {
        return Err(Rejection::bad_request("metadata.uid is that of another object"));
    }
    let texts = [("resourceVersion", version), ("uid", uid)];
    Ok(Edit {
        body: Some(with_texts(applied, &["metadata"], &texts)?),
        tie: Tie::Version(version.to_owned()),
        ..Edit::default()
    })
}
