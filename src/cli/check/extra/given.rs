//! Whether nodes may do what a rule allows, without it: the rules themselves are asked, and what is only recorded counts as refused,
//! since one day it will be.

use super::{has_all, scopes::split};
use crate::{
    api::{GroupResource, Verb, names},
    authorizer::{Attributes, Authorizer, ExtraRule, ExtraRules, ExtraTarget, Fallback},
    caller::{Caller, User},
    decision::Verdict,
    graph::Snapshot,
    quarantine::Quarantine,
    request::{RequestInfo, ResourceRequest, Selectors, Target},
};

/// A name, namespace or node that nobody has.
const NOBODYS: &str = "scopegate-check";

/// Every request that the rule allows is tried. One with `*` allows more than can be tried.
pub(super) fn is_given(authorizer: &Authorizer, rule: &ExtraRule) -> bool {
    let mut plain = Authorizer {
        nodes: Fallback::Deny,
        extra: ExtraRules::NONE,
        ..authorizer.clone()
    };
    plain.modes.enforce();
    let caller = Caller::from(User {
        name: format!("{}{NOBODYS}", names::NODE_USER_PREFIX),
        groups: vec![names::NODES_GROUP.to_owned(), names::AUTHENTICATED_GROUP.to_owned()],
        ..User::default()
    });
    let allowed = |info: &RequestInfo| {
        let decision = plain.decide(Attributes {
            caller: &caller,
            info,
            impersonates: false,
            quarantine: Quarantine::nobody(),
            graph: &Snapshot::default(),
        });
        decision.verdict == Verdict::Allow
    };
    requests(rule).is_some_and(|requests| requests.iter().all(allowed))
}

/// Nothing where they cannot be counted.
fn requests(rule: &ExtraRule) -> Option<Vec<RequestInfo>> {
    let verbs: Vec<Verb> = rule.verbs.iter().map(|verb| known(verb)).collect::<Option<_>>()?;
    let mut requests = Vec::new();
    for verb in verbs {
        match &rule.target {
            ExtraTarget::Paths(paths) => {
                if paths.iter().any(|path| path.contains('*')) {
                    return None;
                }
                let targets = paths.iter().map(|path| Target::Path(path.clone()));
                requests.extend(targets.map(|target| RequestInfo {
                    verb: verb.clone(),
                    target,
                }));
            }
            ExtraTarget::Resources(resources) => {
                let wild = resources.resources.iter().any(|resource| resource.starts_with('*'));
                if wild || has_all(&resources.groups) {
                    return None;
                }
                let collection = matches!(verb, Verb::List | Verb::Watch);
                let names = or(&resources.names, if collection { "" } else { NOBODYS });
                for (group, resource) in pairs(&resources.groups, &resources.resources) {
                    for (namespace, name) in pairs(&or(&resources.namespaces, NOBODYS), &names) {
                        requests.push(request(&verb, group, resource, namespace, name));
                    }
                }
            }
        }
    }
    Some(requests)
}

pub(super) fn request(verb: &Verb, group: &str, resource: &str, namespace: &str, name: &str) -> RequestInfo {
    let (resource, subresource) = split(resource);
    let nameless = match verb {
        Verb::Create => subresource.is_empty(),
        verb => *verb == Verb::DeleteCollection,
    };
    RequestInfo {
        verb: verb.clone(),
        target: Target::Resource(ResourceRequest {
            resource: GroupResource {
                group: group.to_owned(),
                resource: resource.to_owned(),
            },
            version: "v1".to_owned(),
            namespace: namespace.to_owned(),
            name: if nameless { String::new() } else { name.to_owned() },
            subresource: subresource.to_owned(),
            selectors: Selectors::default(),
        }),
    }
}

fn known(verb: &str) -> Option<Verb> {
    [
        Verb::Create,
        Verb::Delete,
        Verb::DeleteCollection,
        Verb::Get,
        Verb::List,
        Verb::Patch,
        Verb::Update,
        Verb::Watch,
    ]
    .into_iter()
    .find(|known| known.as_str() == verb)
}

fn or(words: &[String], default: &str) -> Vec<String> {
    if words.is_empty() {
        vec![default.to_owned()]
    } else {
        words.to_owned()
    }
}

fn pairs<'a>(one: &'a [String], other: &'a [String]) -> impl Iterator<Item = (&'a str, &'a str)> {
    one.iter()
        .flat_map(move |one| other.iter().map(move |other| (one.as_str(), other.as_str())))
}
