//! Mirror pods, by which a node shows which static pods it runs. What it creates must not give it anything.

mod owner;
pub(super) mod sources;

pub use self::owner::MirrorPodOwner;
use self::sources::{Names, PROJECTED, PROJECTIONS, Source, VOLUMES};
use super::{
    Edit, Known, No, NodeRestriction, Write,
    extended::observe,
    read::{at, field, list, optional_text, text},
};
use crate::{
    api::{names::MIRROR_POD_ANNOTATION, quote},
    json::{Json, Object},
    rejection::Rejection,
    rules::Rule,
};

/// Whether a pod names a secret or a config map anywhere.
#[derive(Default)]
struct Named {
    config_map: bool,
    secret: bool,
}

impl NodeRestriction {
    /// A node may create no other pods.
    pub(super) fn mirror<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let (node, pod) = (quote(write.node), write.sent()?);
        let is_mirror = annotation(pod)?.is_some();
        if !is_mirror {
            let annotation = quote(MIRROR_POD_ANNOTATION);
            let why =
                format_args!("pod does not have {annotation} annotation, node {node} can only create mirror pods");
            write.refuse(Rule::RestrictionMirrorPods, why)?;
        }
        let spec = field(pod, "spec")?.unwrap_or(&Json::Null);
        if text(spec, "nodeName")? != write.node {
            let why = format_args!("node {node} can only create pods with spec.nodeName set to itself");
            write.refuse(Rule::RestrictionMirrorPods, why)?;
        }
        let owner = self.mirror_pod_owner.judge(write, pod, known)?;
        if write.minds(Rule::RestrictionMirrorReferences) {
            match reference(pod, spec)? {
                Ok("") => {}
                Ok(what) => {
                    let why = format_args!("node {node} can not create pods that reference {what}");
                    write.refuse(Rule::RestrictionMirrorReferences, why)?;
                }
                Err(unknown) => {
                    let why = format_args!("error checking mirror pod for API references: {unknown}");
                    write.refuse(Rule::RestrictionMirrorReferences, why)?;
                }
            }
        }
        self.extended.mirror_pod(write, pod)?;
        if is_mirror {
            observe(write, pod, owner)?;
        }
        Ok(Edit::default())
    }
}

/// The mark of a mirror pod. Its value does not matter, and may be empty.
pub(super) fn annotation<'j>(pod: &'j Json<'_>) -> Result<Option<&'j str>, Rejection> {
    let Some(annotations) = at(pod, &["metadata", "annotations"])? else {
        return Ok(None);
    };
    let marked = annotations
        .as_object()
        .is_some_and(|map| map.contains_key(MIRROR_POD_ANNOTATION));
    let value = optional_text(annotations, MIRROR_POD_ANNOTATION)?;
    Ok(marked.then(|| value.unwrap_or_default()))
}

/// What of the API a pod refers to, if anything; or that something in it is unknown.
fn reference(pod: &Json<'_>, spec: &Json<'_>) -> Result<Result<&'static str, String>, Rejection> {
    // The second is an old name of the first.
    if !text(spec, "serviceAccountName")?.is_empty() || !text(spec, "serviceAccount")?.is_empty() {
        return Ok(Ok("serviceaccounts"));
    }
    let mut named = Named::default();
    named.visit(spec)?;
    if named.secret {
        return Ok(Ok("secrets"));
    }
    if named.config_map {
        return Ok(Ok("configmaps"));
    }
    // Those of the status would be dropped; they have no business there all the same.
    let status = field(pod, "status")?.unwrap_or(&Json::Null);
    if !list(spec, "resourceClaims")?.is_empty()
        || !list(status, "resourceClaimStatuses")?.is_empty()
        || field(status, "extendedResourceClaimStatus")?.is_some()
    {
        return Ok(Ok("resourceclaims"));
    }
    for volume in list(spec, "volumes")? {
        let found = volume_reference(volume)?;
        if found != Ok("") {
            return Ok(found);
        }
    }
    Ok(Ok(""))
}

/// A volume has one source, or none, which means an empty directory. Of several, which the API server refuses, each counts.
fn volume_reference(volume: &Json<'_>) -> Result<Result<&'static str, String>, Rejection> {
    let name = quote(text(volume, "name")?);
    let mut sources = given(volume).filter(|(key, _)| *key != "name");
    let unknown = sources.find(|(key, _)| VOLUMES.iter().all(|source| source.key != *key));
    if unknown.is_some() {
        return Ok(Err(format!("unknown volume type for volume  {name}")));
    }
    if let Some(what) = refers(volume, VOLUMES)? {
        return Ok(Ok(what));
    }
    for part in parts(volume)? {
        let mut sources = given(part).map(|(key, _)| PROJECTIONS.iter().any(|source| source.key == key));
        // There has to be one, and none that nobody knows.
        if sources.next() != Some(true) || sources.any(|is_known| !is_known) {
            return Ok(Err(format!("unknown source for projected volume {name}")));
        }
        if let Some(what) = refers(part, PROJECTIONS)? {
            return Ok(Ok(what));
        }
    }
    Ok(Ok(""))
}

/// The first source that refers to something.
fn refers(volume: &Json<'_>, sources: &[Source]) -> Result<Option<&'static str>, Rejection> {
    for source in sources.iter().filter(|source| !source.refers.is_empty()) {
        if field(volume, source.key)?.is_some() {
            return Ok(Some(source.refers));
        }
    }
    Ok(None)
}

/// The parts of a projected volume.
fn parts<'j, 'a>(volume: &'j Json<'a>) -> Result<&'j [Json<'a>], Rejection> {
    field(volume, PROJECTED)?.map_or(Ok(&[]), |projected| list(projected, "sources"))
}

/// The fields that are there.
fn given<'j, 'a>(object: &'j Json<'a>) -> impl Iterator<Item = (&'j str, &'j Json<'a>)> {
    let fields = object.as_object().into_iter().flat_map(Object::iter);
    fields.filter(|(_, value)| !value.is_null())
}

impl Named {
    fn visit(&mut self, spec: &Json<'_>) -> Result<(), Rejection> {
        for secret in list(spec, "imagePullSecrets")? {
            self.secret |= is_named(secret, &["name"])?;
        }
        for containers in ["containers", "ephemeralContainers", "initContainers"] {
            for container in list(spec, containers)? {
                for from in list(container, "envFrom")? {
                    self.secret |= is_named(from, &["secretRef", "name"])?;
                    self.config_map |= is_named(from, &["configMapRef", "name"])?;
                }
                for variable in list(container, "env")? {
                    self.secret |= is_named(variable, &["valueFrom", "secretKeyRef", "name"])?;
                    self.config_map |= is_named(variable, &["valueFrom", "configMapKeyRef", "name"])?;
                }
            }
        }
        for volume in list(spec, "volumes")? {
            self.sources(volume, VOLUMES)?;
            for part in parts(volume)? {
                self.sources(part, PROJECTIONS)?;
            }
        }
        Ok(())
    }

    fn sources(&mut self, volume: &Json<'_>, sources: &[Source]) -> Result<(), Rejection> {
        for Source { key, names, .. } in sources {
            let Some(source) = field(volume, key)? else { continue };
            match names {
                Names::None => {}
                Names::ConfigMap(path) => self.config_map |= is_named(source, path)?,
                Names::Secret(path) => self.secret |= is_named(source, path)?,
            }
        }
        Ok(())
    }
}

fn is_named(object: &Json<'_>, path: &[&str]) -> Result<bool, Rejection> {
    Ok(match at(object, path)? {
        None => false,
        Some(Json::String(name)) => !name.is_empty(),
        Some(_) => {
            return Err(Rejection::bad_request(
                "the object provided is unrecognized: a name is not a text",
            ));
        }
    })
}
