//! What upstream asks its authorizers before it lets somebody impersonate.
//!
//! Follows `k8s.io/apiserver/pkg/endpoints/filters/impersonation` (1.36). Nodes cannot be had in this way, so the ways that are
//! only for them are left out.

use std::sync::Arc;

use crate::{
    api::{accounts, dns::is_subdomain},
    caller::{Impersonation, User},
    request::{RequestInfo, Wish},
    review::{ResourceAction, Review},
};

/// A way to be allowed: all of its steps have to be.
#[derive(Debug)]
pub struct Way {
    pub mode: Impersonation,
    pub steps: Vec<Step>,
}

/// All of these, or one instead of them.
#[derive(Debug)]
pub struct Step {
    pub at_once: Option<Review>,
    pub each: Vec<Review>,
}

/// From so many of a kind on, the right to all of them is asked for first.
const MANY: usize = 4;
const AUTHENTICATION: &str = "authentication.k8s.io";
const ANYTHING: &str = "*";

/// In the order in which upstream tries them. Whoever has no right at all is asked about once a way.
pub(super) fn ways(actor: &Arc<User>, wish: &Wish, info: &RequestInfo, constrained: bool) -> Vec<Way> {
    let mut ways = Vec::new();
    if let Some(mode) = constrained_mode(wish).filter(|_| constrained) {
        let asks = Asks { actor, mode };
        let on = Review::of_request(actor, info, None);
        let verb = format!("{}:{}", mode.verb().replacen(':', "-on:", 1), info.verb);
        let mut steps = vec![Step::of(vec![on.with_verb(verb)])];
        steps.extend(asks.steps(wish));
        ways.push(Way { mode, steps });
    }
    let mode = Impersonation::Legacy;
    let steps = Asks { actor, mode }.steps(wish);
    ways.push(Way { mode, steps });
    ways
}

/// What upstream has for such a subject. A service account can only be had by its name there.
fn constrained_mode(wish: &Wish) -> Option<Impersonation> {
    let by_name = wish.uid.is_none() && wish.groups.is_empty() && wish.extra.is_empty();
    match accounts::split(&wish.user) {
        Some(_) => by_name.then_some(Impersonation::ServiceAccount),
        None => wish
            .extra
            .iter()
            .all(|(key, _)| is_domain_prefixed(key))
            .then_some(Impersonation::UserInfo),
    }
}

/// Whether the key of an extra is one that new rights are given on: `acme.com/project`, in lower case.
fn is_domain_prefixed(key: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    match key.split_once('/') {
        Some((domain, path)) => is_subdomain(domain) && !path.is_empty() && path.bytes().all(letter),
        None => false,
    }
}

struct Asks<'a> {
    actor: &'a Arc<User>,
    mode: Impersonation,
}

impl Asks<'_> {
    /// One for each thing that the subject is.
    fn steps(&self, wish: &Wish) -> Vec<Step> {
        let user = match accounts::split(&wish.user) {
            Some((namespace, name)) => ResourceAction {
                namespace: namespace.to_owned(),
                ..self.action(self.group(), "serviceaccounts", name)
            },
            None => self.action(self.group(), "users", &wish.user),
        };
        let mut steps = vec![Step::of(vec![self.review(user)])];
        if let Some(uid) = &wish.uid {
            steps.push(Step::of(vec![self.review(self.action(AUTHENTICATION, "uids", uid))]));
        }
        let group = |name: &str| self.review(self.action(self.group(), "groups", name));
        steps.push(Step {
            at_once: self.at_once(wish.groups.len()).then(|| group(ANYTHING)),
            each: wish.groups.iter().map(|name| group(name)).collect(),
        });
        let extra = |key: &str, value: &str| {
            self.review(ResourceAction {
                subresource: key.to_owned(),
                ..self.action(AUTHENTICATION, "userextras", value)
            })
        };
        let extras = wish
            .extra
            .iter()
            .flat_map(|(key, values)| values.iter().map(|value| (key.as_str(), value.as_str())));
        let each: Vec<Review> = extras.map(|(key, value)| extra(key, value)).collect();
        steps.push(Step {
            at_once: self.at_once(each.len()).then(|| extra(ANYTHING, ANYTHING)),
            each,
        });
        steps.retain(|step| !step.each.is_empty());
        steps
    }

    /// Rights of old are on the core group, those of now are not.
    fn group(&self) -> &'static str {
        match self.mode {
            Impersonation::Legacy => "",
            Impersonation::ServiceAccount | Impersonation::UserInfo => AUTHENTICATION,
        }
    }

    fn at_once(&self, count: usize) -> bool {
        self.mode != Impersonation::Legacy && count >= MANY
    }

    fn action(&self, group: &str, resource: &str, name: &str) -> ResourceAction {
        ResourceAction {
            verb: self.mode.verb().to_owned(),
            group: group.to_owned(),
            version: "v1".to_owned(),
            resource: resource.to_owned(),
            name: name.to_owned(),
            ..ResourceAction::default()
        }
    }

    fn review(&self, action: ResourceAction) -> Review {
        Review::new(self.actor, action)
    }
}

impl Step {
    fn of(each: Vec<Review>) -> Self {
        Self { at_once: None, each }
    }
}
