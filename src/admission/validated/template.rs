//! The template of a pod, or the pod itself, within an object: what it carries, and how that is put in its stored form.

use super::set::{Fault, Set};
use crate::{
    api::names::VALIDATED_ANNOTATIONS,
    json::{Json, Object},
    patch::Patch,
    protobuf::{self, Message},
};

/// The proposal's field of a pod's spec.
const FIELD: &str = "validatedAnnotations";

/// Where a template stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Template {
    /// Empty: the object is the pod.
    path: Vec<String>,
    /// For messages.
    annotation: String,
    field: String,
}

/// What a template carries.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Carried {
    pub(super) set: Set,
    /// Whether it stands there as it is stored.
    pub(super) is_settled: bool,
}

impl Template {
    pub(super) fn new(path: &[&str]) -> Self {
        let at = |rest: &[&str]| [path, rest].concat().join(".");
        Self {
            annotation: format!("{}[{VALIDATED_ANNOTATIONS}]", at(&["metadata", "annotations"])),
            field: at(&["spec", FIELD]),
            path: path.iter().map(ToString::to_string).collect(),
        }
    }

    /// The part of the object that it stands in, unless it is the object.
    pub(super) fn part(&self) -> Option<&str> {
        self.path.first().map(String::as_str)
    }

    /// All that pods come from: of a pod itself only its spec.
    fn whole(&self) -> Vec<&str> {
        match self.path.as_slice() {
            [] => vec!["spec"],
            path => path.iter().map(String::as_str).collect(),
        }
    }

    fn below<'t>(&'t self, rest: &[&'t str]) -> Vec<&'t str> {
        self.path
            .iter()
            .map(String::as_str)
            .chain(rest.iter().copied())
            .collect()
    }

    fn annotation_path(&self) -> Vec<&str> {
        self.below(&["metadata", "annotations", VALIDATED_ANNOTATIONS])
    }

    /// Whether a patch may change what the pods are, whatever is stored.
    pub(super) fn is_touched(&self, patch: &Patch<'_>) -> bool {
        patch.touches(&self.whole()) || self.is_annotation_touched(patch) || self.is_field_named(patch)
    }

    pub(super) fn is_annotation_touched(&self, patch: &Patch<'_>) -> bool {
        patch.touches(&self.annotation_path())
    }

    /// Whether a patch says something about the field itself, and does not only replace what it stands in.
    pub(super) fn is_field_named(&self, patch: &Patch<'_>) -> bool {
        patch.names(&self.below(&["spec", FIELD]))
    }

    /// Whether two objects make the same pods.
    pub(super) fn is_same(&self, a: &Json<'_>, b: &Json<'_>) -> bool {
        let whole = self.whole();
        present(a.at(&whole)) == present(b.at(&whole)) && self.is_annotation_same(a, b)
    }

    pub(super) fn is_annotation_same(&self, a: &Json<'_>, b: &Json<'_>) -> bool {
        let path = self.annotation_path();
        present(a.at(&path)) == present(b.at(&path))
    }

    /// Both forms mean the same; where both are there, they have to say the same.
    pub(super) fn carried(&self, object: &Json<'_>) -> Result<Carried, Fault> {
        let annotation = self.annotation(object)?;
        let field = object_at(object, &self.below(&["spec"]))?.and_then(|spec| spec.get(FIELD));
        let of_annotation = annotation.map(|text| Set::of_annotation(text, &self.annotation));
        let of_annotation = of_annotation.transpose()?;
        let of_field = field.map(|json| Set::of_field(json, &self.field)).transpose()?;
        let set = match (of_annotation, of_field) {
            (Some(a), Some(b)) if a != b && !field.is_some_and(Json::is_null) => {
                return Err(Fault::Unreadable(format!(
                    "{} and {} say different things; leave one of them out",
                    self.field, self.annotation
                )));
            }
            (Some(set), _) | (None, Some(set)) => set,
            (None, None) => Set::default(),
        };
        let is_settled = field.is_none() && annotation.is_none_or(|text| text == set.canonical());
        Ok(Carried { set, is_settled })
    }

    /// The same; but what cannot be read in the stored object, and is left as it is, is nobody's fault now.
    pub(super) fn carried_or_left(&self, object: &Json<'_>, old: Option<&Json<'_>>) -> Result<Carried, Fault> {
        let carried = self.carried(object);
        let has_field = object.at(&self.below(&["spec", FIELD])).is_some();
        match (carried, old) {
            (Err(_), Some(old)) if !has_field && self.is_annotation_same(object, old) => Ok(Carried {
                set: Set::default(),
                is_settled: true,
            }),
            (carried, _) => carried,
        }
    }

    /// What a patch makes of it that was applied with the field in [view](Self::show_field), where the old object had this
    /// annotation.
    pub(super) fn carried_by_field(&self, object: &Json<'_>, old: &Json<'_>) -> Result<Carried, Fault> {
        let field = object_at(object, &self.below(&["spec"]))?.and_then(|spec| spec.get(FIELD));
        let set = Set::of_field(field.unwrap_or(&Json::Null), &self.field)?;
        let annotation = self
            .annotation(object)?
            .filter(|_| !self.is_annotation_same(object, old));
        let annotation = annotation.map(|text| Set::of_annotation(text, &self.annotation));
        // One that the patch takes away says nothing any more.
        if annotation.transpose()?.is_some_and(|annotation| annotation != set) {
            return Err(Fault::Unreadable(format!(
                "the patch makes {} and {} say different things; leave one of them alone",
                self.field, self.annotation
            )));
        }
        let is_settled = false;
        Ok(Carried { set, is_settled })
    }

    /// Puts the field where a client would look for it, as if it were stored.
    pub(super) fn show_field(&self, object: &mut Json<'_>, set: &Set) {
        if !set.is_empty()
            && let Some(spec) = make_object(object, &self.below(&["spec"]))
        {
            spec.insert(FIELD.into(), set.to_json());
        }
    }

    /// Puts what it carries in its stored form: the annotation, and no field.
    pub(super) fn settle(&self, object: &mut Json<'_>, set: &Set) {
        if object.at(&self.below(&["spec", FIELD])).is_some()
            && let Some(spec) = make_object(object, &self.below(&["spec"]))
        {
            spec.remove(FIELD);
        }
        let path = self.below(&["metadata", "annotations"]);
        if !set.is_empty() {
            if let Some(annotations) = make_object(object, &path) {
                annotations.insert(VALIDATED_ANNOTATIONS.into(), set.canonical().into());
            }
        } else if object.at(&self.annotation_path()).is_some()
            && let Some(annotations) = make_object(object, &path)
        {
            annotations.remove(VALIDATED_ANNOTATIONS);
        }
    }

    /// The same for protobuf, where there is no field: what has to stand behind the object.
    pub(super) fn settled_tail(&self, message: &Message, set: &Set) -> Option<Vec<u8>> {
        let path = self.numbers(message)?;
        Some(protobuf::entry_field(&path, VALIDATED_ANNOTATIONS, &set.canonical()))
    }

    /// Where its annotations are in protobuf.
    pub(super) fn numbers(&self, message: &Message) -> Option<Vec<u32>> {
        message.numbers(&self.below(&["metadata", "annotations"]))
    }

    fn annotation<'j>(&self, object: &'j Json<'_>) -> Result<Option<&'j str>, Fault> {
        let annotations = object_at(object, &self.below(&["metadata", "annotations"]))?;
        match annotations.and_then(|annotations| annotations.get(VALIDATED_ANNOTATIONS)) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(Fault::Unreadable(format!("{} is not a text", self.annotation))),
        }
    }
}

/// To the API server null is nothing.
fn present<'j, 'a>(json: Option<&'j Json<'a>>) -> Option<&'j Json<'a>> {
    json.filter(|json| !json.is_null())
}

/// The object at a path, if there is one, and nothing else on the way.
fn object_at<'j, 'a>(json: &'j Json<'a>, path: &[&str]) -> Result<Option<&'j Object<'a>>, Fault> {
    let mut at = json;
    for (depth, key) in path.iter().map(Some).chain([None]).enumerate() {
        let object = match at {
            Json::Null => return Ok(None),
            Json::Object(object) => object,
            _ => {
                let keys = path.get(..depth).unwrap_or_default().join(".");
                return Err(Fault::Unreadable(format!("{keys} is not an object")));
            }
        };
        let Some(key) = key else { return Ok(Some(object)) };
        match object.get(key) {
            Some(value) => at = value,
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// The object at a path, made where there is none.
fn make_object<'j, 'a>(json: &'j mut Json<'a>, path: &[&str]) -> Option<&'j mut Object<'a>> {
    let mut at = json;
    for key in path.iter().map(Some).chain([None]) {
        if at.is_null() {
            *at = Json::Object(Object::default());
        }
        let Json::Object(object) = at else { return None };
        let Some(key) = key else { return Some(object) };
        if !object.contains_key(key) {
            object.insert((*key).to_owned().into(), Json::Null);
        }
        at = object.get_mut(key)?;
    }
    None
}
