//! Labels, annotations and finalizers that a node gives to pods, and where its mirror pods are.

use std::collections::BTreeSet;

use super::{Extended, No, Write, read};
use crate::{
    admission::{
        Change,
        notes::{MirrorPod, Owner},
    },
    api::{
        pods::{is_unrestricted_annotation, is_unrestricted_label},
        quote,
    },
    json::Json,
    patch::Patch,
    rejection::Rejection,
    rules::Rule,
};

/// One sort of what pods are marked with.
#[derive(Clone, Copy)]
struct Marks {
    /// The key of the metadata.
    key: &'static str,
    /// What one of them is called.
    one: &'static str,
    on_mirror_pods: Rule,
    on_status: Rule,
    /// Whether any node may choose it.
    free: fn(&Extended, &str) -> bool,
}

const MARKS: &[Marks] = &[
    Marks {
        key: "labels",
        one: "label",
        on_mirror_pods: Rule::PodsMirrorLabels,
        on_status: Rule::PodsStatusLabels,
        free: |extended, key| is_unrestricted_label(key) || extended.labels.has(key),
    },
    Marks {
        key: "annotations",
        one: "annotation",
        on_mirror_pods: Rule::PodsMirrorAnnotations,
        on_status: Rule::PodsStatusAnnotations,
        free: |extended, key| is_unrestricted_annotation(key) || extended.annotations.has(key),
    },
    Marks {
        key: "finalizers",
        one: "finalizer",
        on_mirror_pods: Rule::PodsMirrorFinalizers,
        on_status: Rule::PodsStatusFinalizers,
        free: |extended, key| extended.finalizers.has(key),
    },
];
/// So many are named in a refusal.
const NAMED: usize = 10;

impl Extended {
    /// What a mirror pod may be like.
    pub(in super::super) fn mirror_pod(&self, write: &Write<'_>, pod: &Json<'_>) -> Result<(), No> {
        let node = quote(write.node);
        for marks in MARKS.iter().filter(|marks| write.minds(marks.on_mirror_pods)) {
            let given = marks.of(pod)?;
            let restricted = given.iter().map(|(key, _)| *key).filter(|key| !(marks.free)(self, key));
            if let Some(named) = named(restricted) {
                let why = format_args!(
                    "node {node} is not allowed to create mirror pods with {}s {named}",
                    marks.one
                );
                write.refuse(marks.on_mirror_pods, why)?;
            }
        }
        let namespace = &write.request.namespace;
        if !self.namespaces.is_empty() && !self.namespaces.contains(namespace) {
            let namespace = quote(namespace);
            let why = format_args!("node {node} is not allowed to create mirror pods in namespace {namespace}");
            write.refuse(Rule::PodsMirrorNamespace, why)?;
        }
        Ok(())
    }

    /// What a node may change of a pod beside its status: on what it leaves alone it is not judged.
    pub(in super::super) fn pod_status(&self, write: &Write<'_>, change: &Change<'_, '_>) -> Result<(), No> {
        let node = quote(write.node);
        for marks in MARKS.iter().filter(|marks| write.minds(marks.on_status)) {
            let (old, new) = (marks.of(&change.old)?, marks.of(&change.new)?);
            let changed = old.symmetric_difference(&new).map(|(key, _)| *key);
            if let Some(named) = named(changed.filter(|key| !(marks.free)(self, key))) {
                let why = format_args!(
                    "node {node} is not allowed to change {}s {named} through pod status",
                    marks.one
                );
                write.refuse(marks.on_status, why)?;
            }
        }
        Ok(())
    }

    /// Whether anybody wants to know.
    pub(in super::super) fn minds_pod_status(&self, write: &Write<'_>) -> bool {
        MARKS.iter().any(|marks| write.minds(marks.on_status))
    }

    /// Whether a patch of a pod's status may change what one of these rules is about.
    pub(in super::super) fn guards_pod_status(&self, write: &Write<'_>, patch: &Patch<'_>) -> bool {
        let mut guarded = MARKS.iter().filter(|marks| write.minds(marks.on_status));
        guarded.any(|marks| patch.touches(&["metadata", marks.key]))
    }
}

impl Marks {
    /// The keys with their values; finalizers have none.
    fn of<'j>(self, pod: &'j Json<'_>) -> Result<BTreeSet<(&'j str, &'j str)>, Rejection> {
        let Some(metadata) = read::field(pod, "metadata")? else {
            return Ok(BTreeSet::new());
        };
        if self.key != "finalizers" {
            return Ok(read::texts(metadata, self.key)?.into_iter().collect());
        }
        let finalizers = read::list(metadata, self.key)?.iter().map(|finalizer| match finalizer {
            Json::String(text) => Ok((text.as_ref(), "")),
            Json::Null => Ok(("", "")),
            _ => Err(Rejection::bad_request(
                "the object provided is unrecognized: finalizers has something else than texts",
            )),
        });
        finalizers.collect()
    }
}

/// What a mirror pod is like, for whoever wants to know which of it is in use.
pub(in super::super) fn observe(write: &Write<'_>, pod: &Json<'_>, owner: Owner) -> Result<(), Rejection> {
    let [labels, annotations, finalizers] = MARKS else {
        return Ok(());
    };
    let of = |marks: &Marks| Ok::<_, Rejection>(marks.of(pod)?.into_iter().map(|(key, _)| key));
    let mut seen = MirrorPod::new(&write.request.namespace, read::named(pod)?, owner);
    seen.labels = seen.keep(of(labels)?);
    seen.annotations = seen.keep(of(annotations)?);
    seen.finalizers = seen.keep(of(finalizers)?);
    write.mirrors(seen);
    Ok(())
}

/// As a refusal lists them; nothing if there are none.
fn named<'k>(keys: impl Iterator<Item = &'k str>) -> Option<String> {
    let keys: BTreeSet<&str> = keys.collect();
    let mut named: Vec<&str> = keys.iter().take(NAMED).copied().collect();
    if keys.len() > NAMED {
        named.push("…");
    }
    (!named.is_empty()).then(|| named.join(", "))
}
