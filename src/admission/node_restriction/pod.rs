//! Pods: a node deletes, evicts and reports on those that are bound to it, and creates only mirrors of its static ones.

use super::{
    Edit, Known, No, NodeRestriction, Operation, Write, mirror,
    read::{at, not_found, text},
    shape::{Shape, is_same},
    stays_what_it_is,
};
use crate::{
    admission::{Change, Content, KnownPod},
    api::{names::MIRROR_POD_ANNOTATION, quote},
    json::Json,
    patch::Patch,
    rejection::{Cause, Rejection},
    rules::Rule,
};

const LABELS: &[&str] = &["metadata", "labels"];
const MIRROR: &[&str] = &["metadata", "annotations", MIRROR_POD_ANNOTATION];
const CLAIM_STATUSES: &[&str] = &["status", "resourceClaimStatuses"];
const EXTENDED_CLAIM_STATUS: &[&str] = &["status", "extendedResourceClaimStatus"];
/// What no write of a status may change.
const GUARDED: &[(Rule, &[&str])] = &[
    (Rule::RestrictionPodLabels, LABELS),
    (Rule::RestrictionMirrorAnnotation, MIRROR),
    (Rule::RestrictionPodClaims, CLAIM_STATUSES),
    (Rule::RestrictionPodClaims, EXTENDED_CLAIM_STATUS),
];

const CLAIM_STATUSES_SHAPE: Shape = Shape::List(&Shape::Struct(&[
    ("name", Shape::Plain),
    ("resourceClaimName", Shape::Pointer(&Shape::Plain)),
]));
const EXTENDED_CLAIM_STATUS_SHAPE: Shape = Shape::Pointer(&Shape::Struct(&[
    (
        "requestMappings",
        Shape::List(&Shape::Struct(&[
            ("containerName", Shape::Plain),
            ("requestName", Shape::Plain),
            ("resourceName", Shape::Plain),
        ])),
    ),
    ("resourceClaimName", Shape::Plain),
]));

impl NodeRestriction {
    pub(super) fn pod<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        match (write.request.subresource.as_str(), write.operation) {
            ("", Operation::Create) => self.mirror(write, known),
            ("", Operation::Delete | Operation::DeleteCollection) => deleted(write, known),
            ("status", Operation::Update) => self.status(write, known),
            ("eviction", Operation::Create) => evicted(write, known),
            (subresource, operation) => {
                let operation = operation.as_str();
                let why = match subresource {
                    "" => format!(
                        "unexpected operation {}, node {} can only create and delete mirror pods",
                        quote(operation),
                        quote(write.node)
                    ),
                    "status" => format!("unexpected operation {}", quote(operation)),
                    "eviction" => format!("unexpected operation {operation}"),
                    other => format!(
                        "unexpected pod subresource {}, only 'status' and 'eviction' are allowed",
                        quote(other)
                    ),
                };
                write.refuse(Rule::RestrictionPods, why)?;
                Ok(Edit::default())
            }
        }
    }

    fn status<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let minds_whose = write.minds(Rule::RestrictionPods);
        let minds_content = GUARDED.iter().any(|(rule, _)| write.minds(*rule));
        if !minds_whose && !minds_content && !self.extended.minds_pod_status(write) {
            return Ok(Edit::default());
        }
        self.takes(write)?;
        if matches!(&write.content, Content::Patch(patch) if self.leaves_pod_alone(write, patch)) {
            if !minds_whose {
                return Ok(Edit::default());
            }
            let Some(pod) = pod(write, known) else {
                return Err(missing(write).into());
            };
            if !pod.is_own {
                foreign_status(write)?;
                return Ok(Edit::default());
            }
            return write.to_uid("Pod", &pod.facts.uid.to_string());
        }
        if matches!(write.content, Content::Apply(_)) {
            // Before anything is tried with it.
            is_own(write, &write.stored(known)?)?;
        }
        let change = write.change(known)?;
        judge(write, &change)?;
        self.extended.pod_status(write, &change)?;
        write.at_version(&change)
    }

    /// Whether a patch leaves everything alone that is guarded, whatever it is applied to.
    fn leaves_pod_alone(&self, write: &Write<'_>, patch: &Patch<'_>) -> bool {
        let mut guarded = GUARDED.iter().filter(|(rule, _)| write.minds(*rule));
        // A uid that is not plainly set could come out as any.
        let is_plain = !patch.touches(&["metadata", "uid"]) || patch.metadata("uid").is_some();
        is_plain
            && stays_what_it_is(patch)
            && !guarded.any(|(_, path)| patch.touches(path))
            && !self.extended.guards_pod_status(write, patch)
    }
}

fn judge(write: &Write<'_>, Change { old, new }: &Change<'_, '_>) -> Result<(), No> {
    let node = quote(write.node);
    let same = |path: &[&str], shape| Ok::<_, Rejection>(is_same(shape, at(old, path)?, at(new, path)?));
    is_own(write, old)?;
    if write.minds(Rule::RestrictionPodLabels) && !same(LABELS, &Shape::TEXTS)? {
        let why = format_args!("node {node} cannot update labels through pod status");
        write.refuse(Rule::RestrictionPodLabels, why)?;
    }
    let minds_claims = write.minds(Rule::RestrictionPodClaims);
    if minds_claims && !same(CLAIM_STATUSES, &CLAIM_STATUSES_SHAPE)? {
        let why = format_args!("node {node} cannot update resource claim statues");
        write.refuse(Rule::RestrictionPodClaims, why)?;
    }
    if minds_claims && !same(EXTENDED_CLAIM_STATUS, &EXTENDED_CLAIM_STATUS_SHAPE)? {
        let why = format_args!("node {node} cannot update extended resource claim status");
        write.refuse(Rule::RestrictionPodClaims, why)?;
    }
    if !write.minds(Rule::RestrictionMirrorAnnotation) {
        return Ok(());
    }
    // Whether a pod is a mirror decides what it gives its node.
    let what = match (mirror::annotation(old)?, mirror::annotation(new)?) {
        (old, new) if old == new => return Ok(()),
        (None, _) => "add",
        (Some(_), _) => "remove or update",
    };
    let field = format!("metadata.annotations[{MIRROR_POD_ANNOTATION}]");
    let cause = Cause::forbidden(field, &format!("may not {what} mirror pod annotation"));
    let rejection = Rejection::invalid("Pod", &write.request.name, cause, 1);
    write.refuse_with(Rule::RestrictionMirrorAnnotation, rejection)
}

fn is_own(write: &Write<'_>, stored: &Json<'_>) -> Result<(), No> {
    if !write.minds(Rule::RestrictionPods) {
        return Ok(());
    }
    let spec = at(stored, &["spec"])?.unwrap_or(&Json::Null);
    if text(spec, "nodeName")? == write.node {
        Ok(())
    } else {
        foreign_status(write)
    }
}

fn deleted<'a>(write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
    if !write.minds(Rule::RestrictionPods) {
        return Ok(Edit::default());
    }
    let foreign = || -> Result<Edit, No> {
        let node = quote(write.node);
        let why = format_args!("node {node} can only delete pods with spec.nodeName set to itself");
        write.refuse(Rule::RestrictionPods, why)?;
        Ok(Edit::default())
    };
    // All of a namespace, whosever they are.
    if write.operation == Operation::DeleteCollection {
        return foreign();
    }
    match pod(write, known) {
        None => Err(missing(write).into()),
        Some(pod) if !pod.is_own => foreign(),
        Some(pod) => write.to_uid("Pod", &pod.facts.uid.to_string()),
    }
}

fn evicted<'a>(write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
    if !write.minds(Rule::RestrictionPods) {
        return Ok(Edit::default());
    }
    match pod(write, known) {
        None => Err(not_found("pod", &write.request.name).into()),
        Some(pod) if !pod.is_own => {
            let node = write.node;
            let why = format_args!("node {node} can only evict pods with spec.nodeName set to itself");
            write.refuse(Rule::RestrictionPods, why)?;
            Ok(Edit::default())
        }
        Some(pod) => write.to_uid("Pod", &pod.facts.uid.to_string()),
    }
}

/// The pod that is written.
fn pod(write: &Write<'_>, known: &Known<'_>) -> Option<KnownPod> {
    known.pod(write.node, &write.request.namespace, &write.request.name)
}

fn missing(write: &Write<'_>) -> Rejection {
    Rejection::not_found(&write.request.resource, &write.request.name)
}

fn foreign_status(write: &Write<'_>) -> Result<(), No> {
    let node = quote(write.node);
    let why = format_args!("node {node} can only update pod status for pods with spec.nodeName set to itself");
    write.refuse(Rule::RestrictionPods, why)
}
