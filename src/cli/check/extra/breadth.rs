//! In what a rule is broader than it looks, or narrower: one sentence each. Pure.

use super::{
    Whose,
    given::request,
    has_all, has_verb, list,
    rows::ROWS,
    scopes::{Scope, scope, split},
};
use crate::{
    admission::NodeRestriction,
    api::Verb,
    authorizer::{EVERYTHING, ExtraResources, ExtraRule, ExtraTarget},
    request::Target,
};

/// Verbs that requests for resources have.
const VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];
const METHODS: &[&str] = &["delete", "get", "head", "options", "patch", "post", "put"];
const WRITES: &[Verb] = &[
    Verb::Create,
    Verb::Update,
    Verb::Patch,
    Verb::Delete,
    Verb::DeleteCollection,
];
const CONNECTIONS: &[&str] = &["attach", "exec", "portforward", "proxy"];

/// What begins like these is more than it seems.
const PATHS: &[(&str, &str)] = &[
    ("/logs", "the files below /var/log where the API server runs"),
    (
        "/debug",
        "the API server's memory and profiles, and its log level by a PUT of /debug/flags/v",
    ),
];

pub(super) fn warnings(rule: &ExtraRule, whose: Whose, own: bool) -> Vec<String> {
    match &rule.target {
        ExtraTarget::Paths(paths) => of_paths(rule, paths),
        ExtraTarget::Resources(resources) => {
            let mut warnings = wildcards(rule, resources);
            warnings.extend(unmatched(rule, resources));
            warnings.extend(nameless(rule, resources));
            warnings.extend(places(resources));
            let rows = ROWS.iter().filter(|row| row.whose.is_none_or(|of| of == whose));
            warnings.extend(rows.filter_map(|row| row.of(rule, resources, own)));
            if whose == Whose::Nodes {
                warnings.extend(unread(rule, resources));
            }
            warnings
        }
    }
}

fn of_paths(rule: &ExtraRule, paths: &[String]) -> Vec<String> {
    let mut warnings = Vec::new();
    if has_all(&rule.verbs) {
        warnings.push("verbs * are all methods, PUT and DELETE too".to_owned());
    }
    let odd = |verb: &&String| *verb != EVERYTHING && !METHODS.contains(&verb.as_str());
    for verb in rule.verbs.iter().filter(odd) {
        warnings.push(format!(
            "verb {verb} never matches: paths are judged by their method, in lower case"
        ));
    }
    for path in paths {
        let Some(prefix) = path.strip_suffix(EVERYTHING) else {
            let logs = PATHS.iter().filter(|(below, _)| begins(path, below));
            warnings.extend(logs.map(|(_, what)| format!("{path}: {what}")));
            continue;
        };
        if matches!(prefix, "" | "/") {
            warnings.push(format!(
                "{path}: every path that is no resource, /metrics, /logs, /debug and /configz too, and what a later release adds"
            ));
            continue;
        }
        let met = PATHS
            .iter()
            .filter(|(below, _)| begins(prefix, below) || below.starts_with(prefix));
        warnings.extend(met.map(|(_, what)| format!("{path}: {what}")));
        if begins(prefix, "/api") || begins(prefix, "/apis") || "/apis".starts_with(prefix) {
            warnings.push(format!(
                "{path}: no resource, although it looks like it; below /api and /apis only discovery is a path, which nodes may read \
                 anyway"
            ));
        }
    }
    warnings
}

/// Whether a path is this one or below it.
fn begins(path: &str, below: &str) -> bool {
    path.strip_prefix(below)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn wildcards(rule: &ExtraRule, of: &ExtraResources) -> Vec<String> {
    let mut warnings = Vec::new();
    if has_all(&rule.verbs) {
        warnings.push("verbs * are all verbs: create, update, patch, delete and deletecollection too".to_owned());
    }
    if has_all(&of.groups) {
        let text =
            "apiGroups * are all groups, those of custom resources and aggregated APIs too, and what comes later";
        warnings.push(text.to_owned());
    }
    if has_all(&of.resources) {
        let core = has_all(&of.groups) || of.groups.iter().any(String::is_empty);
        warnings.push(if core {
            "resources * are all resources and all subresources: secrets, pods/exec, nodes/proxy and serviceaccounts/token too"
                .to_owned()
        } else {
            format!(
                "resources * are all resources of {} and all their subresources, and what comes later",
                list(&of.groups)
            )
        });
    }
    for resource in &of.resources {
        if let Some(subresource) = resource.strip_prefix("*/") {
            warnings.push(format!(
                "resources {resource}: {subresource} of every resource there is"
            ));
        }
    }
    warnings
}

/// Words that look like more than they are: none of them is ever part of a request.
fn unmatched(rule: &ExtraRule, of: &ExtraResources) -> Vec<String> {
    let mut warnings = Vec::new();
    let odd = |verb: &&String| *verb != EVERYTHING && !VERBS.contains(&verb.as_str());
    for verb in rule.verbs.iter().filter(odd) {
        warnings.push(match verb.as_str() {
            "impersonate" => "verb impersonate gives nothing: actingAs says who may act as whom".to_owned(),
            "approve" | "attest" | "bind" | "escalate" | "sign" | "use" => format!(
                "verb {verb} gives nothing: no request has it; upstream asks its own rules about it when it looks at what is written"
            ),
            _ => format!("verb {verb} gives nothing: no request has it"),
        });
    }
    for group in &of.groups {
        if group.contains('/') || matches!(group.as_str(), "core" | "v1") {
            warnings.push(format!(
                "apiGroups {group}: no group is called so; the core group is \"\""
            ));
        }
    }
    for resource in &of.resources {
        if resource.ends_with("/*") {
            warnings.push(format!(
                "resources {resource} gives nothing: RBAC knows no such pattern"
            ));
        }
    }
    if of.names.iter().any(|name| name.contains('*')) {
        warnings.push(format!(
            "resourceNames {}: names are no patterns, and nothing has a * in its name",
            list(&of.names)
        ));
    }
    warnings
}

/// Verbs whose requests have no name that a rule could ask for.
fn nameless(rule: &ExtraRule, of: &ExtraResources) -> Vec<String> {
    let mut warnings = Vec::new();
    if of.names.is_empty() {
        return warnings;
    }
    let says = |verb: &str| rule.verbs.iter().any(|word| word == verb);
    let whole = of.resources.iter().any(|resource| !resource.contains('/'));
    if says("create") && whole {
        let text = "create gives nothing where resourceNames are given: the name of a new object is not in the URL";
        warnings.push(text.to_owned());
    }
    if says("deletecollection") {
        let text = "deletecollection gives nothing where resourceNames are given: it names no object";
        warnings.push(text.to_owned());
    }
    if says("list") || says("watch") {
        let text = "list and watch match only with the field selector metadata.name, set to one of resourceNames";
        warnings.push(text.to_owned());
    }
    warnings
}

/// Namespaces where there are none, and none where there are some.
fn places(of: &ExtraResources) -> Vec<String> {
    let mut warnings = Vec::new();
    for (group, resource) in named(of) {
        match scope(group, resource) {
            Some(Scope::Namespaced) if of.namespaces.is_empty() && !of.names.is_empty() => warnings.push(format!(
                "{resource} {} in every namespace, whoever has made them there: namespaces is not given",
                list(&of.names)
            )),
            // It is in itself.
            Some(Scope::Cluster) if !of.namespaces.is_empty() && split(resource).0 != "namespaces" => warnings.push(
                format!("{resource} are in no namespace: with namespaces the rule gives nothing of them"),
            ),
            _ => {}
        }
    }
    warnings
}

/// What nodes write there is not looked at.
fn unread(rule: &ExtraRule, of: &ExtraResources) -> Option<String> {
    let verbs: Vec<&Verb> = WRITES.iter().filter(|verb| has_verb(rule, verb.as_str())).collect();
    if verbs.is_empty() {
        return None;
    }
    if of.resources.iter().any(|resource| resource.starts_with(EVERYTHING)) {
        return Some("what nodes write is looked at only where NodeRestriction has a rule for the resource".to_owned());
    }
    let is_unread = |(group, resource): &(&str, &str)| {
        let (plain, subresource) = split(resource);
        let stores = !CONNECTIONS.contains(&subresource) && !plain.ends_with("reviews");
        let looked = |verb: &&Verb| match &request(verb, group, resource, "", "").target {
            Target::Resource(request) => NodeRestriction::looks_at(verb, request),
            Target::Path(_) => false,
        };
        stores && !verbs.iter().all(looked)
    };
    let unread: Vec<&str> = named(of).filter(is_unread).map(|(_, resource)| resource).collect();
    (!unread.is_empty()).then(|| {
        format!(
            "what nodes write there is not looked at, whosever it is: {}; NodeRestriction has no rule for it",
            unread.join(", ")
        )
    })
}

/// Every group with every resource that is named in full.
fn named(of: &ExtraResources) -> impl Iterator<Item = (&str, &str)> {
    let groups = of.groups.iter().filter(|group| *group != EVERYTHING);
    groups.flat_map(|group| {
        let named = of.resources.iter().filter(|resource| !resource.starts_with(EVERYTHING));
        named.map(|resource| (group.as_str(), resource.as_str()))
    })
}
