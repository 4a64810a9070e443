//! A node's own Node object: it may report what it is, but not steer what is sent to it.

use super::{
    Edit, Known, No, NodeRestriction, Operation, Write, labels,
    read::{at, field, named, texts},
    shape::{Shape, is_same},
    stays_what_it_is,
};
use crate::{
    admission::{Change, Content},
    api::quote,
    json::Json,
    patch::Patch,
    rejection::Rejection,
    rules::Rule,
};

/// What no write may change.
const GUARDED: &[(Rule, &[&str])] = &[
    (Rule::RestrictionNodeOwners, &["metadata", "ownerReferences"]),
    (Rule::RestrictionNodeConfigSource, &["spec", "configSource"]),
    (Rule::RestrictionNodeTaints, &["spec", "taints"]),
];
const LABELS: &[&str] = &["metadata", "labels"];

const TAINTS: Shape = Shape::List(&Shape::Struct(&[
    ("effect", Shape::Plain),
    ("key", Shape::Plain),
    ("timeAdded", Shape::Pointer(&Shape::Time)),
    ("value", Shape::Plain),
]));
const CONFIG_SOURCE: Shape = Shape::Pointer(&Shape::Struct(&[(
    "configMap",
    Shape::Pointer(&Shape::Struct(&[
        ("kubeletConfigKey", Shape::Plain),
        ("name", Shape::Plain),
        ("namespace", Shape::Plain),
        ("resourceVersion", Shape::Plain),
        ("uid", Shape::Plain),
    ])),
)]));

impl NodeRestriction {
    pub(super) fn node<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let node = quote(write.node);
        let name = match write.operation {
            Operation::Create if write.request.subresource.is_empty() => named(write.sent()?)?,
            _ => &write.request.name,
        };
        if name != write.node {
            let name = quote(name);
            let why = format_args!("node {node} is not allowed to modify node {name}");
            write.refuse(Rule::RestrictionNodes, why)?;
        }
        match write.operation {
            Operation::Delete | Operation::DeleteCollection => Ok(Edit::default()),
            Operation::Create if write.request.subresource.is_empty() => self.created(write, known),
            Operation::Update if matches!(write.request.subresource.as_str(), "" | "status") => {
                self.updated(write, known)
            }
            // There is no such place.
            _ => Err(Rejection::method_not_allowed().into()),
        }
    }

    fn updated<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let is_status = write.request.subresource == "status";
        let minds = GUARDED.iter().any(|(rule, _)| write.minds(*rule))
            || write.minds(Rule::RestrictionNodeLabels)
            || is_status && write.minds(Rule::NodesAddresses);
        if !minds {
            return Ok(Edit::default());
        }
        self.takes(write)?;
        if matches!(&write.content, Content::Patch(patch) if self.leaves_node_alone(write, patch)) {
            return Ok(Edit::default());
        }
        let change = write.change(known)?;
        judge(write, &change)?;
        if is_status {
            self.extended.addresses(write, Some(&change.old), &change.new, known)?;
        }
        write.at_version(&change)
    }

    fn created<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let (node, sent) = (quote(write.node), write.sent()?);
        if write.minds(Rule::RestrictionNodeConfigSource) && at(sent, &["spec", "configSource"])?.is_some() {
            let why = format_args!("node {node} is not allowed to create pods with a non-nil configSource");
            write.refuse(Rule::RestrictionNodeConfigSource, why)?;
        }
        if write.minds(Rule::RestrictionNodeLabels)
            && let Some(labels) = labels::forbidden(&[], &labels_of(sent)?)
        {
            let why = format_args!("node {node} is not allowed to set the following labels: {labels}");
            write.refuse(Rule::RestrictionNodeLabels, why)?;
        }
        self.extended.addresses(write, None, sent, known)?;
        Ok(Edit::default())
    }

    /// Whether a patch leaves everything alone that is guarded, whatever it is applied to.
    fn leaves_node_alone(&self, write: &Write<'_>, patch: &Patch<'_>) -> bool {
        let mut guarded = GUARDED.iter().filter(|(rule, _)| write.minds(*rule));
        if !stays_what_it_is(patch) || guarded.any(|(_, path)| patch.touches(path)) {
            return false;
        }
        if self.extended.guards_addresses(write, patch) {
            return false;
        }
        let is_free = |(key, value): (&str, &Json<'_>)| {
            !labels::is_forbidden(key) && matches!(value, Json::String(_) | Json::Null)
        };
        !write.minds(Rule::RestrictionNodeLabels)
            || !patch.touches(LABELS)
            || patch.merged(LABELS).is_some_and(|labels| labels.iter().all(is_free))
    }
}

fn judge(write: &Write<'_>, Change { old, new }: &Change<'_, '_>) -> Result<(), No> {
    let node = quote(write.node);
    let same = |path: &[&str], shape| Ok::<_, Rejection>(is_same(shape, at(old, path)?, at(new, path)?));
    // Old kubelets drop it when they write their status.
    if write.minds(Rule::RestrictionNodeConfigSource)
        && at(new, &["spec", "configSource"])?.is_some()
        && !same(&["spec", "configSource"], &CONFIG_SOURCE)?
    {
        let why = format_args!("node {node} is not allowed to update configSource to a new non-nil configSource");
        write.refuse(Rule::RestrictionNodeConfigSource, why)?;
    }
    if write.minds(Rule::RestrictionNodeTaints) && !same(&["spec", "taints"], &TAINTS)? {
        let why = format_args!("node {node} is not allowed to modify taints");
        write.refuse(Rule::RestrictionNodeTaints, why)?;
    }
    if write.minds(Rule::RestrictionNodeOwners) && !same(&["metadata", "ownerReferences"], &Shape::OWNER_REFERENCES)? {
        let why = format_args!("node {node} is not allowed to modify ownerReferences");
        write.refuse(Rule::RestrictionNodeOwners, why)?;
    }
    if write.minds(Rule::RestrictionNodeLabels)
        && let Some(labels) = labels::forbidden(&labels_of(old)?, &labels_of(new)?)
    {
        let why = format_args!("is not allowed to modify labels: {labels}");
        write.refuse(Rule::RestrictionNodeLabels, why)?;
    }
    Ok(())
}

fn labels_of<'j>(object: &'j Json<'_>) -> Result<Vec<(&'j str, &'j str)>, Rejection> {
    field(object, "metadata")?.map_or(Ok(Vec::new()), |metadata| texts(metadata, "labels"))
}
