//! Rules that the configuration adds, in the form of RBAC, for agents that use the credentials of a caller: what it means to be
//! allowed by one.
//!
//! Follows `pkg/apis/rbac/v1/evaluation_helpers.go` and `RuleAllows` in `plugin/pkg/auth/authorizer/rbac/rbac.go` (1.36). RBAC
//! binds rules to namespaces through other objects; here a rule says itself where it is for.

use crate::{
    caller::Kind,
    decision::{Decision, Evidence, ExtraRuleAt},
    request::{RequestInfo, ResourceRequest, Target},
};

/// The rules of each kind of caller. They only ever allow.
#[derive(Clone, Debug, Default)]
pub struct ExtraRules {
    pub nodes: Vec<ExtraRule>,
    pub bootstrap: Vec<ExtraRule>,
    pub others: Vec<ExtraRule>,
}

/// A rule as RBAC knows one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExtraRule {
    pub verbs: Vec<String>,
    pub target: ExtraTarget,
}

/// RBAC lets no rule be for both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ExtraTarget {
    /// Anything that is not a resource. A trailing `*` stands for any rest.
    Paths(Vec<String>),
    Resources(ExtraResources),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExtraResources {
    pub groups: Vec<String>,
    /// `resource`, `resource/subresource`, `*/subresource`, or `*` for everything, subresources included.
    pub resources: Vec<String>,
    /// Empty: any name, and none.
    pub names: Vec<String>,
    /// Empty: all namespaces, and what is in none.
    pub namespaces: Vec<String>,
}

/// What stands for all verbs, groups, resources or paths.
pub const EVERYTHING: &str = "*";

impl ExtraRules {
    pub const NONE: Self = Self {
        nodes: Vec::new(),
        bootstrap: Vec::new(),
        others: Vec::new(),
    };

    /// Every list by its key.
    pub fn lists(&self) -> [(&'static str, &[ExtraRule]); 3] {
        [
            ("nodes", self.nodes.as_slice()),
            ("bootstrap", self.bootstrap.as_slice()),
            ("others", self.others.as_slice()),
        ]
    }

    /// Allowed by the first rule that does, or nothing.
    pub(super) fn decide(&self, kind: &Kind, info: &RequestInfo) -> Option<Decision> {
        let (list, rules) = match kind {
            // Which node it is must be known to hold what it writes against it.
            Kind::Node(node) if node.is_empty() => return None,
            Kind::Node(_) => ("nodes", &self.nodes),
            Kind::Bootstrap(_) => ("bootstrap", &self.bootstrap),
            Kind::Seed(_) | Kind::Other => ("others", &self.others),
        };
        let index = rules.iter().position(|rule| rule.allows(info))?;
        Some(Decision::allow(Evidence::Extra(ExtraRuleAt { list, index })))
    }
}

impl ExtraRule {
    fn allows(&self, info: &RequestInfo) -> bool {
        if !has(&self.verbs, info.verb.as_str()) {
            return false;
        }
        match (&self.target, &info.target) {
            (ExtraTarget::Paths(patterns), Target::Path(path)) => patterns.iter().any(|pattern| is_path(pattern, path)),
            (ExtraTarget::Resources(resources), Target::Resource(request)) => resources.has(request),
            _ => false,
        }
    }
}

impl ExtraResources {
    pub(super) fn has(&self, request: &ResourceRequest) -> bool {
        has(&self.groups, &request.resource.group)
            && self.resources.iter().any(|resource| is_resource(resource, request))
            && (self.names.is_empty() || self.names.contains(&request.name))
            && (self.namespaces.is_empty() || self.namespaces.contains(&request.namespace))
    }
}

/// Whether a word is among some, of which one may stand for all.
pub(super) fn has(words: &[String], wanted: &str) -> bool {
    words.iter().any(|word| word == EVERYTHING || word == wanted)
}

/// `*` alone has subresources too; a resource by its name has not.
fn is_resource(pattern: &str, request: &ResourceRequest) -> bool {
    let (resource, subresource) = (request.resource.resource.as_str(), request.subresource.as_str());
    if pattern == EVERYTHING {
        return true;
    }
    if subresource.is_empty() {
        return pattern == resource;
    }
    let of = |parent: &str| pattern.strip_prefix(parent)?.strip_prefix('/');
    of(resource) == Some(subresource) || of(EVERYTHING) == Some(subresource)
}

/// Whether a path is what a pattern stands for.
pub(super) fn is_path(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix(EVERYTHING) {
        Some(prefix) => path.starts_with(prefix),
        None => path == pattern,
    }
}

#[cfg(test)]
mod tests;
