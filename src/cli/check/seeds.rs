//! What seeds take: the gate's own rights in a garden, and that upstream keeps gardenlets within bounds.

use serde_json::{Value, json};

use super::{
    Report,
    rights::{access, tell},
    upstream::{ask, refusal},
};
use crate::{
    api::{garden, names},
    authorizer::{Fallback, SeedRules},
    pipeline::{gardenlets::BROAD, reviews::REVIEWS},
    rules::Rule,
    upstream::Upstream,
};

/// What is looked at one at a time, before a seed deletes or creates it. What is watched can be looked at anyway.
const LOOKED_AT: &[(&str, &str)] = &[
    ("", "configmaps"),
    ("", "secrets"),
    (garden::CORE, "internalsecrets"),
    (garden::CORE, "shootstates"),
    ("coordination.k8s.io", "leases"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
];

const REMEDY: &str = "; see config/kubernetes/gardener.yaml";

/// How the gate makes itself understood upstream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Told {
    FrontProxy,
    Impersonate,
    /// It does not: upstream sees the gate.
    Nothing,
}

pub(super) async fn check(own: &Upstream, rules: SeedRules, told: Told, report: &mut Report) {
    for (group, resource) in LOOKED_AT {
        let spec = json!({"resourceAttributes": {"verb": "list", "group": group, "resource": resource}});
        let right = format!("list {resource} in all namespaces");
        tell(&right, REMEDY, access(own, None, &spec).await, report);
    }
    // One for all of them: they come together.
    let granted = names::granted_group(Rule::SeedShoots.id());
    if told == Told::Impersonate {
        for group in [names::SEEDS_GROUP, &granted] {
            let spec = json!({"resourceAttributes": {"verb": "impersonate", "resource": "groups", "name": group}});
            let remedy = "; see config/kubernetes/gardener-impersonate.yaml";
            tell(
                &format!("impersonate groups {group:?}"),
                remedy,
                access(own, None, &spec).await,
                report,
            );
        }
    }
    if told == Told::Nothing {
        return report.note("upstream sees the gate instead of seeds: it will not approve certificates of gardenlets");
    }
    bounds(own, rules.fallback, report).await;
    match may(
        own,
        &[names::SEEDS_GROUP, &granted],
        ("patch", garden::CORE, "shoots", ""),
    )
    .await
    {
        Ok(true) => report.ok("upstream lets seeds do what the gate allows them"),
        Ok(false) => report.fail(format!(
            "upstream lets seeds do nothing, also what the gate allows them: group {granted} has no rights{REMEDY}"
        )),
        Err(error) => report.warn(format!(
            "cannot tell whether seeds may do what the gate allows them: {error}"
        )),
    }
    let approved = (
        "create",
        "certificates.k8s.io",
        "certificatesigningrequests",
        "seedclient",
    );
    match may(own, &[names::SEEDS_GROUP], approved).await {
        Ok(true) => report.ok("upstream approves certificates of gardenlets"),
        Ok(false) => report.warn(format!(
            "upstream approves no certificates of gardenlets: group {} may not create certificatesigningrequests/seedclient{REMEDY}",
            names::SEEDS_GROUP
        )),
        Err(error) => report.warn(format!("cannot tell whether certificates of gardenlets are approved: {error}")),
    }
}

/// What is not allowed by the gate must not be allowed by upstream to everybody.
async fn bounds(own: &Upstream, fallback: Fallback, report: &mut Report) {
    for (verb, group, resource) in BROAD {
        match may(own, &[names::SEEDS_GROUP], (verb, group, resource, "")).await {
            Ok(false) => report.ok(format!("upstream does not let every gardenlet {verb} all {resource}")),
            Ok(true) => {
                let why = format!(
                    "upstream lets every gardenlet {verb} all {resource}: drop the binding of group {} to that role",
                    names::SEEDS_GROUP
                );
                match fallback {
                    Fallback::Upstream => report.fail(format!("{why}; until then nothing is left to upstream (503)")),
                    Fallback::Deny => report.warn(format!("{why}, or gardenlets can go around the gate")),
                }
            }
            Err(error) => report.warn(format!(
                "cannot tell whether upstream lets gardenlets do everything: {error}"
            )),
        }
    }
}

/// Whether a gardenlet of these groups may do something to all there are.
async fn may(
    own: &Upstream,
    groups: &[&str],
    (verb, group, resource, subresource): (&str, &str, &str, &str),
) -> Result<bool, String> {
    let mut groups = groups.to_vec();
    groups.push(names::AUTHENTICATED_GROUP);
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {
            "user": format!("{}scopegate-check", names::SEED_USER_PREFIX), "groups": groups,
            "resourceAttributes": {"verb": verb, "group": group, "resource": resource, "subresource": subresource},
        },
    });
    let (code, answer) = ask(own, REVIEWS, None, &review).await?;
    let allowed = answer.pointer("/status/allowed").and_then(Value::as_bool);
    allowed.ok_or_else(|| refusal(code, &answer))
}
