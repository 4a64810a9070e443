//! What the gate may do upstream, and what it lacks.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Report,
    upstream::{ask, refusal},
};
use crate::{
    admission::ValidatedAnnotations,
    api::names,
    authorizer::acting_as::ActingAs,
    caller::User,
    rules::{self, Mode, Modes},
    upstream::Upstream,
    watch,
};

/// As much of a manifest as tells which rights are needed.
#[derive(Deserialize)]
struct ClusterRole {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    api_groups: Vec<String>,
    resources: Vec<String>,
    verbs: Vec<String>,
}

/// What the gate needs to impersonate a node that came with a certificate: verb `impersonate` on each.
const IMPERSONATE: &[(&str, &str, &str)] = &[
    ("", "users", "system:node:scopegate-check"),
    ("", "groups", names::NODES_GROUP),
    ("", "groups", names::AUTHENTICATED_GROUP),
    ("authentication.k8s.io", "uids", "check"),
    (
        "authentication.k8s.io",
        "userextras/authentication.kubernetes.io/credential-id",
        "X509SHA256=check",
    ),
];

/// What nodes read to find out what is served.
const DISCOVERY: &[&str] = &["/api", "/apis", "/openapi/v3", "/version"];

/// Those that ask for an event that is stored.
const EVENT_RULES: &[rules::Rule] = &[rules::Rule::EventsObject, rules::Rule::EventsSource];

const ACCESS_REVIEW: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// Names every right that impersonating a node takes and the gate lacks.
pub(super) async fn impersonation_rights(own: &Upstream, report: &mut Report) {
    for (group, resource, name) in IMPERSONATE {
        let (plain, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let right = match *group {
            "" => format!("impersonate {resource} {name:?}"),
            group => format!("impersonate {resource} in {group}"),
        };
        let spec = json!({"resourceAttributes": {
            "verb": "impersonate", "group": group, "resource": plain, "subresource": subresource, "name": name,
        }});
        let remedy = "; see config/kubernetes/impersonate.yaml";
        tell(&right, remedy, access(own, None, &spec).await, report);
    }
}

/// Names what nodes may read through the gate but the gate, in whose name it is read, may not.
pub(super) async fn discovery_rights(own: &Upstream, report: &mut Report) {
    for path in DISCOVERY {
        let spec = json!({"nonResourceAttributes": {"verb": "get", "path": path}});
        tell(
            &format!("get {path}"),
            "; bind it to the cluster role system:discovery",
            access(own, None, &spec).await,
            report,
        );
    }
}

/// Names what nodes may do through the gate but the gate, in whose name it is done, may not.
pub(super) async fn own_rights(own: &Upstream, report: &mut Report) {
    let role = include_str!("../../../config/kubernetes/own.yaml")
        .split("\n---\n")
        .next();
    let role: ClusterRole = match serde_saphyr::from_str(role.unwrap_or_default()) {
        Ok(role) => role,
        Err(error) => return report.fail(format!("cannot tell what mode Own needs: {error}")),
    };
    let mut missing = 0;
    for rule in role.rules {
        for group in &rule.api_groups {
            for resource in &rule.resources {
                for verb in &rule.verbs {
                    let (plain, subresource) = resource.split_once('/').unwrap_or((resource, ""));
                    let spec = json!({"resourceAttributes": {
                        "verb": verb, "group": group, "resource": plain, "subresource": subresource,
                    }});
                    match access(own, None, &spec).await {
                        Ok((true, _)) => {}
                        answer => {
                            missing += 1;
                            let right = format!("{verb} {resource} in all namespaces");
                            tell(&right, "; see config/kubernetes/own.yaml", answer, report);
                        }
                    }
                }
            }
        }
    }
    if missing == 0 {
        report.ok("the gate may do all that nodes may");
    }
}

/// Names what the gate has to know of the cluster and may not find out.
pub(super) async fn informer_rights(own: &Upstream, config: &watch::Config, report: &mut Report) {
    let mut allowed = Vec::new();
    for watched in watch::watched(config) {
        let watch::WatchedResource {
            group,
            resource,
            vital,
            manifest,
        } = watched;
        for verb in ["list", "watch"] {
            let spec = json!({"resourceAttributes": {"verb": verb, "group": group, "resource": resource}});
            match access(own, None, &spec).await {
                Ok((true, _)) => allowed.push(resource),
                Ok((false, _)) if !vital => report.warn(format!(
                    "the gate may not {verb} {resource} in all namespaces: the rule about them finds nothing; \
                     see config/kubernetes/informers.yaml, or set it to Off"
                )),
                answer => {
                    let right = format!("{verb} {resource} in all namespaces");
                    let remedy = format!("; see config/kubernetes/{manifest}");
                    tell(&right, &remedy, answer, report);
                }
            }
        }
    }
    // Both graphs may want the same.
    allowed.sort_unstable();
    allowed.dedup();
    report.ok(format!("the gate may list and watch {}", allowed.join(", ")));
}

/// Whose an event is that a node changes, only the event itself can tell.
pub(super) async fn event_rights(own: &Upstream, modes: &Modes, report: &mut Report) {
    let named = |wanted: &[Mode]| {
        let rules = EVENT_RULES.iter().filter(|rule| wanted.contains(&modes.of(**rule)));
        rules.map(|rule| rule.id()).collect::<Vec<_>>().join(" and ")
    };
    let (enforced, recorded) = (named(&[Mode::Enforce]), named(&[Mode::Warn, Mode::Audit]));
    if enforced.is_empty() && recorded.is_empty() {
        return;
    }
    for group in ["", "events.k8s.io"] {
        let attributes = json!({"verb": "list", "group": group, "resource": "events"});
        let right = match group {
            "" => "list events in all namespaces".to_owned(),
            group => format!("list events.{group} in all namespaces"),
        };
        match access(own, None, &json!({"resourceAttributes": attributes})).await {
            Ok((true, _)) => report.ok(format!("the gate may {right}")),
            Ok((false, _)) if enforced.is_empty() => report.warn(format!(
                "the gate may not {right}: {recorded} will not find what nodes change of events; \
                 see config/kubernetes/informers.yaml"
            )),
            Ok((false, _)) => report.fail(format!(
                "the gate may not {right}: with {enforced} enforced, nodes that change events get 503; \
                 see config/kubernetes/informers.yaml"
            )),
            Err(error) => report.warn(format!("cannot tell whether the gate may {right}: {error}")),
        }
    }
}

/// What hangs on it, if the gate may not ask.
pub(super) async fn review_rights(own: &Upstream, hangs: &[&str], report: &mut Report) {
    if hangs.is_empty() {
        return;
    }
    let attributes = json!({"verb": "create", "group": "authorization.k8s.io", "resource": "subjectaccessreviews"});
    match access(own, None, &json!({"resourceAttributes": attributes})).await {
        Ok((true, _)) => report.ok("the gate may create subjectaccessreviews"),
        Ok((false, _)) => report.warn(format!(
            "the gate may not create subjectaccessreviews: {} get 503; see config/kubernetes/informers.yaml",
            hangs.join(", and ")
        )),
        Err(error) => report.warn(format!(
            "cannot tell whether the gate may create subjectaccessreviews: {error}"
        )),
    }
}

/// What passing on requests of somebody who acts as another takes in mode Impersonate, beyond what nodes take. It is an error only
/// where the configuration itself lets somebody.
pub(super) async fn acting_rights(own: &Upstream, acting_as: &ActingAs, report: &mut Report) {
    let named = !acting_as.delegations.is_empty() || !acting_as.deputies.is_empty();
    if !named && !acting_as.by_review {
        return;
    }
    for (group, resource, subresource) in [
        ("", "serviceaccounts", ""),
        ("authentication.k8s.io", "userextras", names::ACTOR_EXTRA),
    ] {
        let right = match subresource {
            "" => format!("impersonate {resource} in all namespaces"),
            subresource => format!("impersonate {resource}/{subresource} in {group}"),
        };
        let spec = json!({"resourceAttributes": {
            "verb": "impersonate", "group": group, "resource": resource, "subresource": subresource,
        }});
        let why = "who acts as another gets 403 from upstream; see config/kubernetes/acting-as.yaml";
        match access(own, None, &spec).await {
            Ok((true, _)) => report.ok(format!("the gate may {right}")),
            Ok((false, _)) if named => report.fail(format!("the gate may not {right}: {why}")),
            Ok((false, _)) => report.warn(format!("the gate may not {right}: {why}")),
            Err(error) => report.warn(format!("cannot tell whether the gate may {right}: {error}")),
        }
    }
}

/// What judging writes by validated annotations takes: reading what is stored, and in mode Impersonate saying that it was looked at.
pub(super) async fn annotation_rights(
    own: &Upstream,
    validated: &ValidatedAnnotations,
    impersonates: bool,
    report: &mut Report,
) {
    let remedy = "; see config/kubernetes/validated-annotations.yaml";
    let mut allowed = Vec::new();
    for (group, resource) in validated.resources() {
        let spec = json!({"resourceAttributes": {"verb": "list", "group": group, "resource": resource}});
        match access(own, None, &spec).await {
            Ok((true, _)) => allowed.push(resource),
            answer => tell(&format!("list {resource} in all namespaces"), remedy, answer, report),
        }
    }
    report.ok(format!("the gate may list {}", allowed.join(", ")));
    if impersonates {
        let (group, extra) = ("authentication.k8s.io", names::VALIDATED_EXTRA);
        let spec = json!({"resourceAttributes": {
            "verb": "impersonate", "group": group, "resource": "userextras", "subresource": extra, "name": "true",
        }});
        let right = format!("impersonate userextras/{extra} in {group}");
        tell(&right, remedy, access(own, None, &spec).await, report);
    }
}

/// Certificates work without, so that it is not the end of the world.
pub(super) async fn token_rights(own: &Upstream, report: &mut Report) {
    let attributes = json!({"verb": "create", "group": "authentication.k8s.io", "resource": "tokenreviews"});
    match access(own, None, &json!({"resourceAttributes": attributes})).await {
        Ok((true, _)) => report.ok("the gate may create tokenreviews"),
        Ok((false, _)) => report.warn(
            "the gate may not create tokenreviews: callers with bearer tokens get 503; \
             see config/kubernetes/tokens.yaml, or set authentication.tokenReview to false",
        ),
        Err(error) => report.warn(format!("cannot tell whether the gate may create tokenreviews: {error}")),
    }
}

pub(super) fn tell(right: &str, remedy: &str, access: Result<(bool, String), String>, report: &mut Report) {
    match access {
        Ok((true, _)) => report.ok(format!("the gate may {right}")),
        Ok((false, _)) => report.fail(format!("the gate may not {right}{remedy}")),
        Err(error) => report.warn(format!("cannot tell whether the gate may {right}: {error}")),
    }
}

/// Whether upstream would allow something, and its reason.
pub(super) async fn access(upstream: &Upstream, user: Option<&User>, spec: &Value) -> Result<(bool, String), String> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": spec,
    });
    let (code, answer) = ask(upstream, ACCESS_REVIEW, user, &review).await?;
    let reason = answer
        .pointer("/status/reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match answer.pointer("/status/allowed").and_then(Value::as_bool) {
        Some(allowed) => Ok((allowed, reason.to_owned())),
        None => Err(refusal(code, &answer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_can_be_read() {
        let role = include_str!("../../../config/kubernetes/own.yaml")
            .split("\n---\n")
            .next();
        let role: ClusterRole = serde_saphyr::from_str(role.unwrap()).unwrap();
        assert!(role.rules.len() > 10);
    }
}
