//! What the gardenlet of another seed begins with: the parent creates it, the one on whose seed the shoot runs that the other seed is
//! made of, and only while the other has not begun.

use jiff::Timestamp;

use super::{
    Asked, SeedRestriction,
    new::{GARDENLETS, MANAGED_SEEDS, New, SEEDS, SHOOTS, text_at},
    secrets::{TOKEN_GROUPS, value},
};
use crate::{
    admission::{
        Content, Known, No, Write,
        read::{field, list, text},
    },
    api::{garden, quote},
    json::Json,
    rejection::Rejection,
    rules::Rule,
};

const RULE: Rule = Rule::SeedRestrictionBootstrap;
const RBAC: &str = "rbac.authorization.k8s.io";

impl SeedRestriction {
    pub(super) fn service_account(&self, new: &New<'_, '_>) -> Result<(), No> {
        if new.is_by_extension() {
            return Err(new.refuse(RULE, "extension client may not create ServiceAccounts"));
        }
        new.has_name(RULE)?;
        match garden::parse_bootstrap_account(new.name) {
            Some(managed_seed) => managed_seed_has_not_begun(new, new.namespace(), managed_seed),
            None if new.seed().is_namespace(new.namespace()) => Ok(()),
            None => Err(new.foreign(RULE)),
        }
    }

    /// The role for the account of that managed seed and for nobody else.
    pub(super) fn cluster_role_binding(&self, new: &New<'_, '_>) -> Result<(), No> {
        if new.is_by_extension() {
            return Err(new.refuse(RULE, "extension client may not create ClusterRoleBindings"));
        }
        new.has_name(RULE)?;
        let Some((namespace, managed_seed)) = garden::parse_bootstrap_binding(new.name) else {
            return Err(new.foreign(RULE));
        };
        let role = field(new.object, "roleRef")?.unwrap_or(&Json::Null);
        // Upstream puts in the group where there is none.
        let is_group = matches!(text(role, "apiGroup")?, "" | RBAC);
        if !is_group || text(role, "kind")? != "ClusterRole" || text(role, "name")? != garden::BOOTSTRAPPER_ROLE {
            return Err(new.refuse(RULE, "can only create bindings referring to the bootstrapper role"));
        }
        is_for_account(new, namespace, managed_seed)?;
        managed_seed_has_not_begun(new, namespace, managed_seed)
    }

    /// Who begins with it does not change: a binding has no other subject, and a token brings no other groups. By then the gardenlet
    /// may have begun.
    pub(super) fn beginning<'a>(&self, asked: &Asked<'a>, write: &Write<'a>, known: &Known<'a>) -> Result<(), No> {
        let is_token = asked.request.resource.resource == "secrets";
        let object = match &write.content {
            Content::Patch(patch) => {
                let fields: &[&[&str]] = if is_token {
                    &[&["data", TOKEN_GROUPS], &["stringData", TOKEN_GROUPS], &["type"]]
                } else {
                    &[&["subjects"], &["roleRef"]]
                };
                let new = New::of(asked, write, (&asked.request.name, &Json::Null), known);
                return match fields.iter().find(|field| patch.touches(field)) {
                    Some(field) => Err(new.refuse(RULE, format_args!("a seed does not change {}", field.join(".")))),
                    None => Ok(()),
                };
            }
            Content::Apply(applied) => applied,
            _ => write.sent()?,
        };
        let new = New::of(asked, write, (&asked.request.name, object), known);
        match garden::parse_bootstrap_binding(new.name) {
            _ if is_token && value(object, TOKEN_GROUPS)?.is_none() => Ok(()),
            _ if is_token => Err(new.refuse(RULE, format_args!("a seed does not change data.{TOKEN_GROUPS}"))),
            Some((namespace, managed_seed)) => is_for_account(&new, namespace, managed_seed),
            None => Err(new.foreign(RULE)),
        }
    }
}

/// A binding is for the account of that managed seed, and for nobody else.
fn is_for_account(new: &New<'_, '_>, namespace: &str, managed_seed: &str) -> Result<(), No> {
    let account = garden::bootstrap_account(managed_seed);
    let is_it = match list(new.object, "subjects")? {
        [subject] => {
            text(subject, "kind")? == "ServiceAccount"
                && text(subject, "apiGroup")?.is_empty()
                && text(subject, "namespace")? == namespace
                && text(subject, "name")? == account
        }
        _ => false,
    };
    if is_it {
        return Ok(());
    }
    let why = format_args!(
        "its only subject must be ServiceAccount {} in namespace {namespace}",
        quote(&account)
    );
    Err(new.refuse(RULE, why))
}

pub(super) fn managed_seed_has_not_begun(new: &New<'_, '_>, namespace: &str, name: &str) -> Result<(), No> {
    let managed_seed = new.look_up_claimed(RULE, MANAGED_SEEDS, namespace, name)?;
    let shoot = text_at(&managed_seed, &["spec", "shoot"], "name")?.unwrap_or_default();
    let shoot = new.look_up_required(RULE, SHOOTS, namespace, shoot)?;
    new.owns_by_spec(RULE, &shoot)?;
    match new.look_up(SEEDS, "", name)? {
        Some(seed) if !may_begin_anew(new, &seed, &managed_seed)? => Err(already(format!(
            "managed seed {namespace}/{name} is already bootstrapped"
        ))),
        _ => Ok(()),
    }
}

/// A gardenlet that begins anew is of the same seed, so it is there.
pub(super) fn gardenlet_has_not_begun(new: &New<'_, '_>, namespace: &str, name: &str) -> Result<(), No> {
    if namespace != garden::GARDEN || name != new.seed().name {
        let seed = quote(&new.seed().name);
        return Err(new.refuse(
            RULE,
            format_args!("gardenlet {namespace}/{name} does not belong to seed {seed}"),
        ));
    }
    let gardenlet = new.look_up_claimed(RULE, GARDENLETS, namespace, name)?;
    let seed = new.look_up_claimed(RULE, SEEDS, "", name)?;
    if may_begin_anew(new, &seed, &gardenlet)? {
        return Ok(());
    }
    Err(already(format!("gardenlet {namespace}/{name} is already bootstrapped")))
}

/// Its certificate has expired, or somebody wants it to have another one.
fn may_begin_anew(new: &New<'_, '_>, seed: &Json<'_>, by: &Json<'_>) -> Result<bool, No> {
    if let Some(expires) = text_at(seed, &["status"], "clientCertificateExpirationTimestamp")? {
        let expires: Result<Timestamp, _> = expires.parse();
        let expires = expires.map_err(|error| Rejection::failed_lookup(format!("when a seed expires: {error}")))?;
        if expires < new.known.now() {
            return Ok(true);
        }
    }
    let operation = text_at(by, &["metadata", "annotations"], garden::OPERATION_ANNOTATION)?;
    Ok(operation == Some(garden::RENEW_KUBECONFIG))
}

fn already(why: String) -> No {
    Rejection::bad_request(why).by(RULE).into()
}
