//! Secrets: of backup buckets, of shoots, of what they issue tokens as, what gardenlets begin with, and what managed seeds use.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{
    SeedRestriction,
    bootstrap::{gardenlet_has_not_begun, managed_seed_has_not_begun},
    new::{BACKUP_BUCKETS, MANAGED_SEEDS, New, SHOOTS, text_at},
    shoots::is_shoot_of_seed,
};
use crate::{
    admission::{
        No,
        read::{field, text, texts},
    },
    api::{
        garden::{self, KUBE_SYSTEM, SHOOT_ISSUERS, SHOOT_SECRETS},
        quote,
    },
    graph::{Asserts as _, Key, Kind, ManagedSeed},
    json::Json,
    rejection::{Cause, Rejection},
    rules::Rule,
};

const RULE: Rule = Rule::SeedRestrictionSecrets;
const TOKEN_RULE: Rule = Rule::SeedRestrictionBootstrap;

const TOKEN_TYPE: &str = "bootstrap.kubernetes.io/token";
/// Upstream puts a token of the account into it that an annotation names, whoever has created it.
const ACCOUNT_TYPE: &str = "kubernetes.io/service-account-token";
const TOKEN_USAGES: [&str; 2] = ["usage-bootstrap-authentication", "usage-bootstrap-signing"];
pub(super) const TOKEN_GROUPS: &str = "auth-extra-groups";
const TOKEN_FOR: &str = "A bootstrap token for the Gardenlet for ";
const FOR_MANAGED_SEED: &str = "seedmanagement.gardener.cloud/v1alpha1.ManagedSeed resource";
const FOR_GARDENLET: &str = "seedmanagement.gardener.cloud/v1alpha1.Gardenlet resource";

const SHOOT_NAME_LABEL: &str = "shoot.gardener.cloud/name";
const SHOOT_NAMESPACE_LABEL: &str = "shoot.gardener.cloud/namespace";
const PUBLIC_LABEL: &str = "discovery.gardener.cloud/public";

/// Managed seeds that are looked at for one Secret. That the graph knows of more which are not what they were is not to be expected.
const MAX_MANAGED_SEEDS: usize = 2;

impl SeedRestriction {
    pub(super) fn secret(&self, new: &New<'_, '_>) -> Result<(), No> {
        let shoot = garden::shoot_of(new.name, SHOOT_SECRETS);
        let bucket = new.name.strip_prefix(garden::GENERATED_BUCKET_PREFIX);
        let is_issuer = new.namespace() == SHOOT_ISSUERS;
        let is_token = new.namespace() == KUBE_SYSTEM && garden::is_bootstrap_token_secret(new.name);
        let by_name = bucket.is_some() || shoot.is_some() || is_issuer;
        let rule = if is_token && !by_name { TOKEN_RULE } else { RULE };
        if !new.minds(rule) {
            return Ok(());
        }
        new.has_name(RULE)?;
        if text(new.object, "type")? == ACCOUNT_TYPE {
            let why = "a seed gets tokens of service accounts by asking for them, and not in secrets";
            return Err(new.refuse(rule, why));
        }
        match (bucket, shoot) {
            (Some(bucket), _) => {
                let bucket = new.look_up_claimed(RULE, BACKUP_BUCKETS, "", bucket)?;
                new.owns_by_spec(RULE, &bucket)
            }
            (_, Some(shoot)) => is_shoot_of_seed(new, RULE, new.namespace(), shoot),
            _ if is_issuer => issuer(new),
            _ if is_token => token(new),
            _ => backup(new),
        }
    }
}

/// The keys that a shoot signs tokens with, for everybody to read. They are found by the uid of the shoot in the name, so it has to
/// be that of the shoot in the labels.
fn issuer(new: &New<'_, '_>) -> Result<(), No> {
    let metadata = field(new.object, "metadata")?.unwrap_or(&Json::Null);
    let labels = texts(metadata, "labels")?;
    let label = |key: &str| {
        let found = labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        found.ok_or_else(|| is_invalid(new, RULE, ("metadata.labels", key), "", "label is missing"))
    };
    let (name, namespace, public) = (
        label(SHOOT_NAME_LABEL)?,
        label(SHOOT_NAMESPACE_LABEL)?,
        label(PUBLIC_LABEL)?,
    );
    if public != "serviceaccount" {
        let why = "must be \"serviceaccount\"";
        return Err(is_invalid(new, RULE, ("metadata.labels", PUBLIC_LABEL), public, why));
    }
    is_shoot_of_seed(new, RULE, namespace, name)?;
    let shoot = new.look_up_claimed(RULE, SHOOTS, namespace, name)?;
    let uid = text_at(&shoot, &["metadata"], "uid")?.unwrap_or_default();
    let is_named_after_it = new.name.strip_suffix(uid).is_some_and(|rest| rest.ends_with("--"));
    if uid.is_empty() || !is_named_after_it {
        let why = format_args!("its name must end with the uid of shoot {namespace}/{name}");
        return Err(new.refuse(RULE, why));
    }
    Ok(())
}

/// A token that the gardenlet of another seed begins with, or the own one begins anew with.
fn token(new: &New<'_, '_>) -> Result<(), No> {
    let kind = text(new.object, "type")?;
    if kind != TOKEN_TYPE {
        let cause = Cause::invalid("type", kind, &format!("must be {}", quote(TOKEN_TYPE)));
        return Err(new.invalid(TOKEN_RULE, cause));
    }
    for usage in TOKEN_USAGES {
        let value = value(new.object, usage)?.unwrap_or_default();
        if value != "true" {
            return Err(is_invalid(
                new,
                TOKEN_RULE,
                ("data", usage),
                &value,
                "must be set to 'true'",
            ));
        }
    }
    if value(new.object, TOKEN_GROUPS)?.is_some() {
        let cause = Cause::forbidden(format!("data[{TOKEN_GROUPS}]"), "must not be set");
        return Err(new.invalid(TOKEN_RULE, cause));
    }
    let description = value(new.object, "description")?.unwrap_or_default();
    let has = |marker: &str| description.contains(marker);
    if !has(FOR_MANAGED_SEED) && !has(FOR_GARDENLET) {
        let why = format!(
            "unknown kind found in bootstrap token secret description {}",
            quote(&description)
        );
        return Err(Rejection::bad_request(why).by(TOKEN_RULE).into());
    }
    let target = |marker: &str| -> Option<(&str, &str)> {
        let rest = description.strip_prefix(TOKEN_FOR)?.strip_prefix(marker)?;
        rest.strip_prefix(' ')?.strip_suffix('.')?.split_once('/')
    };
    let (managed_seed, gardenlet) = (target(FOR_MANAGED_SEED), target(FOR_GARDENLET));
    let Some((namespace, name)) = managed_seed.or(gardenlet) else {
        return Err(new.refuse(TOKEN_RULE, "its description names no object that it is for"));
    };
    if garden::bootstrap_token_secret(namespace, name) != new.name {
        let why = format_args!("it is not called like the bootstrap token of {namespace}/{name}");
        return Err(new.refuse(TOKEN_RULE, why));
    }
    match managed_seed {
        Some(_) => managed_seed_has_not_begun(new, namespace, name),
        None => gardenlet_has_not_begun(new, namespace, name),
    }
}

/// What a managed seed keeps its backups with. The graph tells which that could be, and upstream whether it is.
fn backup(new: &New<'_, '_>) -> Result<(), No> {
    let secret = Key::new(Kind::Secret, new.namespace(), new.name);
    let found = new.known.managed_seeds(&new.seed().name, secret)?;
    for key in found.into_iter().take(MAX_MANAGED_SEEDS) {
        let Some(stored) = new.stored(MANAGED_SEEDS, key.namespace, key.name)? else {
            continue;
        };
        let Some(shoot) = shoot_behind(stored, secret)? else {
            continue;
        };
        let shoot = new.look_up_required(RULE, SHOOTS, key.namespace, &shoot)?;
        if new.owns_by_spec(RULE, &shoot).is_ok() {
            return Ok(());
        }
    }
    Err(new.foreign(RULE))
}

/// The shoot that a managed seed is made of, if that one refers to the Secret.
fn shoot_behind(managed_seed: &[u8], secret: Key<'_>) -> Result<Option<String>, Rejection> {
    let unread = |error| Rejection::failed_lookup(format!("a managed seed: {error}"));
    let managed_seed: ManagedSeed = serde_json::from_slice(managed_seed).map_err(unread)?;
    let (mut refers, mut shoot) = (false, None);
    managed_seed.edges(&mut |edge| match edge.other.kind {
        Kind::Secret => refers |= edge.other == secret,
        Kind::Shoot => shoot = Some(edge.other.name.to_owned()),
        _ => {}
    });
    Ok(shoot.filter(|_| refers))
}

/// What would be stored under a key: what is written as a text goes before what is written as bytes.
pub(super) fn value<'j>(secret: &'j Json<'_>, key: &str) -> Result<Option<Cow<'j, str>>, Rejection> {
    let find = |map: &str| -> Result<Option<&'j str>, Rejection> {
        let entries = texts(secret, map)?;
        Ok(entries
            .into_iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value))
    };
    if let Some(text) = find("stringData")? {
        return Ok(Some(text.into()));
    }
    let Some(encoded) = find("data")? else { return Ok(None) };
    let bytes = STANDARD.decode(encoded).map_err(|error| {
        Rejection::bad_request(format!(
            "the object provided is unrecognized: data[{key}] is not base64: {error}"
        ))
    })?;
    // What is no text can be none of those that are asked for.
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned().into()))
}

fn is_invalid(new: &New<'_, '_>, rule: Rule, (map, key): (&str, &str), value: &str, why: &str) -> No {
    new.invalid(rule, Cause::invalid(format!("{map}[{key}]"), value, why))
}
