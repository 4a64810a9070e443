//! Tokens of service accounts: only for pods that run on the node, and only for audiences that these have a use for.

use std::collections::HashSet;

use super::{
    Edit, Known, No, NodeRestriction, Operation, Write,
    read::{at, list, not_found, text},
};
use crate::{
    admission::KnownPod,
    api::quote,
    graph::{Driver, Facts, Key, Kind, TokenSource, Uid},
    json::Json,
    rejection::Rejection,
    review::{ResourceAction, Review},
    rules::Rule,
};

/// Whether a driver, if there is one, wants tokens for an audience; or what is in the way of knowing.
type Wants = Result<bool, String>;

impl NodeRestriction {
    pub(super) fn token<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        if write.operation != Operation::Create || write.request.subresource != "token" {
            return Ok(Edit::default());
        }
        let minds_audiences = self.audiences && write.minds(Rule::RestrictionTokenAudiences);
        if !minds_audiences && !write.minds(Rule::RestrictionTokens) {
            return Ok(Edit::default());
        }
        let spec = at(write.sent()?, &["spec"])?.unwrap_or(&Json::Null);
        let bound = at(spec, &["boundObjectRef"])?.unwrap_or(&Json::Null);
        let name = text(bound, "name")?;
        if text(bound, "apiVersion")? != "v1" || text(bound, "kind")? != "Pod" || name.is_empty() {
            write.refuse(Rule::RestrictionTokens, "node requested token not bound to a pod")?;
            if minds_audiences {
                // Without a pod there are no volumes that it could be for.
                judge_audiences(write, None, spec, known)?;
            }
            return Ok(Edit::default());
        }
        let uid = text(bound, "uid")?;
        if uid.is_empty() {
            let why = "node requested token with a pod binding without a uid";
            write.refuse(Rule::RestrictionTokens, why)?;
        }
        let Some(pod) = known.pod(write.node, &write.request.namespace, name) else {
            return Err(not_found("pod", name).into());
        };
        if !uid.is_empty() && pod.facts.uid != Uid::from(uid) {
            let why = format_args!(
                "the UID in the bound object reference ({uid}) does not match the UID in record. \
                 The object might have been deleted and then recreated"
            );
            write.refuse(Rule::RestrictionTokens, why)?;
        }
        if !pod.is_own {
            let why = "node requested token bound to a pod scheduled on a different node";
            write.refuse(Rule::RestrictionTokens, why)?;
        }
        if minds_audiences {
            judge_audiences(write, Some(&pod), spec, known)?;
        }
        // The pod's uid stands in the request: it cannot become another.
        Ok(Edit::default())
    }
}

fn judge_audiences(write: &Write<'_>, pod: Option<&KnownPod>, spec: &Json<'_>, known: &Known<'_>) -> Result<(), No> {
    match audience(spec)? {
        Some(audience) => has_use_for(write, pod, audience, known),
        None => write.refuse(
            Rule::RestrictionTokenAudiences,
            "node may only request 0 or 1 audiences",
        ),
    }
}

/// An empty one means the API server; nothing if there are several.
fn audience<'j>(spec: &'j Json<'_>) -> Result<Option<&'j str>, Rejection> {
    match list(spec, "audiences")? {
        [] | [Json::Null] => Ok(Some("")),
        [Json::String(audience)] => Ok(Some(audience)),
        [_] => Err(Rejection::bad_request(
            "the object provided is unrecognized: audiences has something else than texts",
        )),
        _ => Ok(None),
    }
}

fn has_use_for(write: &Write<'_>, pod: Option<&KnownPod>, audience: &str, known: &Known<'_>) -> Result<(), No> {
    let (mut errors, mut seen) = (Vec::new(), HashSet::new());
    for source in pod.into_iter().flat_map(|pod| pod.facts.tokens.sources()) {
        let wants = match source {
            TokenSource::Audience(named) => Ok(named.as_ref() == audience),
            TokenSource::Driver(driver) => driver_wants(driver, audience, known),
            TokenSource::Claim(claim) => claim_wants(&write.request.namespace, claim, audience, known),
        };
        match wants {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) if seen.insert(error.clone()) => errors.push(error),
            Err(_) => {}
        }
    }
    let quoted = quote(audience);
    let why = match errors.as_slice() {
        [] if known.allows(of_audience(write, audience))? => return Ok(()),
        [] => format!(
            "audience {quoted} not found in pod spec volume, {} is not authorized to request tokens for this audience",
            write.user.name
        ),
        [error] => format!("error validating audience {quoted}: {error}"),
        errors => format!("error validating audience {quoted}: [{}]", errors.join(", ")),
    };
    write.refuse(Rule::RestrictionTokenAudiences, why)
}

/// Whether upstream lets the user have tokens of the service account for the audience, which takes the place of a resource.
fn of_audience(write: &Write<'_>, audience: &str) -> Review {
    let action = ResourceAction {
        verb: "request-serviceaccounts-token-audience".to_owned(),
        version: "v1".to_owned(),
        resource: audience.to_owned(),
        namespace: write.request.namespace.clone(),
        name: write.request.name.clone(),
        ..ResourceAction::default()
    };
    Review::new(write.user, action)
}

fn claim_wants(namespace: &str, claim: &str, audience: &str, known: &Known<'_>) -> Wants {
    let Some(Facts::PersistentVolumeClaim { volume }) =
        known.facts(Key::new(Kind::PersistentVolumeClaim, namespace, claim))
    else {
        return Err(format!("persistentvolumeclaim {} not found", quote(claim)));
    };
    // An empty name names no object: nobody need be asked about it.
    let bound = (!volume.is_empty()).then(|| known.facts(Key::cluster(Kind::PersistentVolume, volume)));
    let Some(Some(Facts::PersistentVolume { driver })) = bound else {
        return Err(format!("persistentvolume {} not found", quote(volume)));
    };
    driver_wants(driver, audience, known)
}

fn driver_wants(driver: &Driver, audience: &str, known: &Known<'_>) -> Wants {
    let name = match driver {
        Driver::Named(name) if !name.is_empty() => name,
        Driver::None | Driver::Named(_) => return Ok(false),
        Driver::Untranslatable(why) => return Err(why.to_string()),
    };
    match known.facts(Key::cluster(Kind::CsiDriver, name)) {
        Some(Facts::CsiDriver { token_audiences }) => Ok(token_audiences.iter().any(|wanted| wanted == audience)),
        _ => Err(format!("csidriver.storage.k8s.io {} not found", quote(name))),
    }
}
