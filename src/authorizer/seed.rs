//! The SeedAuthorizer of Gardener: what a gardenlet, or an extension of its seed, may do. Most of it is a table ([`rows`]); what
//! is not stands here.
//!
//! Follows `pkg/admissioncontroller/webhook/auth/seed/authorizer.go` of Gardener 1.149, and of May 2021 for profile Document. As
//! there, nobody is refused for good: a rule that does not allow a request has no opinion on it, and a reason. Where Gardener lets
//! a seed do more than its own documents say, this does not; `docs/gardener.md` lists the places.

mod rows;

use self::rows::{NAME, Row};
use super::{Fallback, node::Opinion};
use crate::{
    api::{Verb, garden},
    caller::{Caller, Kind as Callers, Role, Seed},
    decision::{Reason, Selected},
    graph::{Key, Kind},
    request::{LabelOperator, RequestInfo, ResourceRequest, Target},
    rules::Rule,
};

/// How seeds are treated, where they are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SeedRules {
    pub profile: Profile,
    pub fallback: Fallback,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Profile {
    /// Those of Gardener's document on scoped access for gardenlets.
    Document,
    /// Those of Gardener as it is today: some reads are narrower, more kinds are known, and extensions too.
    Current,
}

/// A request for a resource by a seed.
#[derive(Clone, Copy)]
struct Asked<'a, 's> {
    seed: &'s Seed,
    verb: &'a Verb,
    request: &'a ResourceRequest,
}

/// Every verb that an extension may use on leases where it is at home.
const LEASE_VERBS: &[Verb] = &[
    Verb::Create,
    Verb::Delete,
    Verb::DeleteCollection,
    Verb::Get,
    Verb::List,
    Verb::Patch,
    Verb::Update,
    Verb::Watch,
];

impl Profile {
    /// The seed that a caller speaks for, if its rules know such callers.
    pub fn seed(self, caller: &Caller) -> Option<&Seed> {
        match &caller.kind {
            Callers::Seed(seed) if seed.role == Role::Gardenlet || self == Self::Current => Some(seed),
            _ => None,
        }
    }
}

impl SeedRules {
    /// The rule that applies, and what it says.
    pub(super) fn judge<'a>(&self, seed: &Seed, info: &'a RequestInfo) -> (Rule, Opinion<'a>) {
        let Target::Resource(request) = &info.target else {
            return (Rule::SeedUnlisted, Opinion::None(Reason::None));
        };
        let verb = &info.verb;
        let asked = Asked { seed, verb, request };
        let resource = (request.resource.group.as_str(), request.resource.resource.as_str());
        if let ("" | "events.k8s.io", "events") = resource {
            return (Rule::SeedEvents, asked.event(self.profile));
        }
        let Some(row) = self.row(seed.role, resource) else {
            return (Rule::SeedUnlisted, Opinion::None(Reason::None));
        };
        let exception = match self.profile {
            Profile::Document => asked.exception_in_document(),
            Profile::Current => asked.exception(row.kind),
        };
        (row.rule, exception.unwrap_or_else(|| asked.by(row, self.profile)))
    }

    fn row(&self, role: Role, (group, resource): (&str, &str)) -> Option<&'static Row> {
        let (own, all) = match (self.profile, role) {
            (Profile::Document, _) => (&[][..], rows::DOCUMENT),
            (Profile::Current, Role::Gardenlet) => (&[][..], rows::CURRENT),
            (Profile::Current, Role::Extension) => (rows::EXTENSION, rows::CURRENT),
        };
        let mut rows = own.iter().chain(all);
        // Most of Kubernetes' own resources are in a group without a name. Comparing nothing with nothing can cost more than all the
        // rest: some processors look where an empty text points to, which is nowhere, and have to recover.
        let is_group = |row: &Row| row.group.len() == group.len() && (group.is_empty() || row.group == group);
        rows.find(|row| row.resource == resource && is_group(row))
    }
}

impl<'a> Asked<'a, '_> {
    fn event(self, profile: Profile) -> Opinion<'a> {
        let verbs: &[Verb] = match profile {
            Profile::Document => &[Verb::Create],
            Profile::Current => &[Verb::Create, Verb::Patch],
        };
        if !verbs.contains(self.verb) {
            return Opinion::None(Reason::OnlyVerbs(verbs, &[]));
        }
        if !self.request.subresource.is_empty() {
            return Opinion::None(Reason::OnlySubresources(&[]));
        }
        Opinion::Allow
    }

    fn exception_in_document(self) -> Option<Opinion<'a>> {
        let request = self.request;
        let allowed = match (request.resource.resource.as_str(), self.verb) {
            ("configmaps", Verb::Get) => self.is(garden::KUBE_SYSTEM, garden::CLUSTER_IDENTITY) && self.is_whole(),
            ("leases", Verb::Get | Verb::Watch | Verb::Update) => {
                request.name == garden::LEADER_ELECTION && self.is_whole()
            }
            _ => false,
        };
        allowed.then_some(Opinion::Allow)
    }

    /// What comes before the table in profile Current. Of some of it, Gardener looks at no subresource.
    fn exception(self, kind: Kind) -> Option<Opinion<'a>> {
        let (request, own) = (self.request, self.seed.is_namespace(&self.request.namespace));
        let name = request.name.as_str();
        let allowed = match (kind, self.seed.role, self.verb) {
            (Kind::ClusterRoleBinding, Role::Gardenlet, Verb::Delete) => {
                let begins = garden::parse_bootstrap_binding(name);
                begins == Some((garden::GARDEN, self.seed.name.as_str()))
            }
            (Kind::ConfigMap, _, Verb::Get) => self.is(garden::PUBLIC, garden::GARDENER_INFO),
            (Kind::ConfigMap, ..) if self.is(garden::KUBE_SYSTEM, garden::CLUSTER_IDENTITY) => {
                // Every seed leads there, and none has a reason to write it.
                let reads = matches!(self.verb, Verb::List | Verb::Watch);
                return (!reads).then_some(no("the identity of the garden can only be read"));
            }
            (Kind::Gardenlet, ..) if request.namespace != garden::GARDEN => {
                return Some(Opinion::None(Reason::OnlyNamespaces(&[garden::GARDEN])));
            }
            (Kind::Lease, Role::Extension, _) if !own => return Some(no("lease object is not in seed namespace")),
            (Kind::Lease, Role::Extension, verb) if !LEASE_VERBS.contains(verb) => {
                return Some(Opinion::None(Reason::OnlyVerbs(LEASE_VERBS, &[])));
            }
            (Kind::Lease, Role::Extension, _) => true,
            (Kind::Secret, _, Verb::Get | Verb::List | Verb::Watch) => own,
            (Kind::Secret, _, Verb::Delete) => {
                request.namespace == garden::KUBE_SYSTEM
                    && name == garden::bootstrap_token_secret(garden::GARDEN, &self.seed.name)
            }
            (Kind::ServiceAccount, Role::Gardenlet, _) if own => true,
            (Kind::ServiceAccount, Role::Gardenlet, Verb::Delete) => {
                request.namespace == garden::GARDEN && name == garden::bootstrap_account(&self.seed.name)
            }
            // The seed may be a shoot that runs itself.
            (Kind::Shoot, _, Verb::Get) => self.is(garden::GARDEN, &self.seed.name),
            _ => false,
        };
        allowed.then_some(Opinion::Allow)
    }

    /// As the table says.
    fn by(self, row: &'static Row, profile: Profile) -> Opinion<'a> {
        let subresource = self.request.subresource.as_str();
        if !subresource.is_empty() && !row.subresources.contains(&subresource) {
            return Opinion::None(Reason::OnlySubresources(row.subresources));
        }
        if row.always.contains(self.verb) {
            return Opinion::Allow;
        }
        if !row.related.contains(self.verb) {
            return Opinion::None(Reason::OnlyVerbs(row.always, row.related));
        }
        let is_collection = profile == Profile::Current && matches!(self.verb, Verb::List | Verb::Watch);
        let by_name = row.selector == Some(Selected::Field(NAME));
        if is_collection && (self.request.name.is_empty() || by_name) {
            return match row.selector {
                Some(selector) if self.selects(selector) => Opinion::Allow,
                selector => Opinion::None(Reason::OnlySelected(selector)),
            };
        }
        if self.request.name.is_empty() {
            return no("No Object name found");
        }
        let key = self.key(row.kind);
        match (row.kind, self.verb) {
            (_, Verb::Get | Verb::List | Verb::Watch) => Opinion::IfRelated(key),
            // A bucket leads to whoever has an entry in it, and is written by the seed that it is assigned to.
            (Kind::BackupBucket, _) => Opinion::IfRelatedBy(key, Kind::Seed),
            // What a managed seed is made of is not for the seed to say that it became.
            (Kind::ManagedSeed, _) => Opinion::IfRelatedBy(key, Kind::Shoot),
            _ => Opinion::IfRelated(key),
        }
    }

    /// The object in the graph.
    fn key(self, kind: Kind) -> Key<'a> {
        let (namespace, name) = (self.request.namespace.as_str(), self.request.name.as_str());
        match kind {
            // It is in itself, as a request has it.
            Kind::Namespace => Key::cluster(kind, name),
            // The graph knows these by the shoot's uid alone; the project before it is not in the Shoot.
            Kind::Secret if namespace == garden::SHOOT_ISSUERS => {
                let issuer = name.rfind("--").and_then(|at| name.get(at..));
                Key::new(kind, namespace, issuer.unwrap_or(name))
            }
            _ => Key::new(kind, namespace, name),
        }
    }

    /// Whether a collection is narrowed to what is the seed's. Other terms can only narrow it further.
    fn selects(self, selector: Selected) -> bool {
        let (selectors, seed) = (&self.request.selectors, self.seed.name.as_str());
        match selector {
            Selected::Field(field) => selectors.require(field, seed),
            Selected::Label => selectors.labels.iter().any(|term| {
                let wants = match term.operator {
                    LabelOperator::Equals | LabelOperator::DoubleEquals | LabelOperator::In => term.values == ["true"],
                    LabelOperator::Exists => true,
                    _ => false,
                };
                wants && garden::is_seed_label(&term.key, seed)
            }),
        }
    }

    fn is(self, namespace: &str, name: &str) -> bool {
        self.request.namespace == namespace && self.request.name == name
    }

    fn is_whole(self) -> bool {
        self.request.subresource.is_empty()
    }
}

fn no(reason: &'static str) -> Opinion<'static> {
    Opinion::None(Reason::Text(reason))
}

#[cfg(test)]
mod tests;
