//! Who may act as whom. Pure: what upstream has to be asked is handed out as questions.
//!
//! A powerful controller that does what a weaker user asks for can be tricked into using its own power (a confused deputy). So
//! it says with each request for whom it works, or the configuration says so for it, and the request is made as that user, the
//! subject. In this order, of which the first that answers decides:
//!
//! 1. what never is, whoever would allow it (`never`);
//! 2. the delegations of the configuration;
//! 3. upstream's own word, asked for as upstream itself asks for it (`ways`).
//!
//! Whether the actor may do by itself what it does as the subject is asked elsewhere (`pipeline::acting`).

mod beyond;
mod rules;
mod ways;

pub use self::{
    beyond::beyond,
    rules::{Actors, Delegation, Deputy, Subjects},
    ways::{Step, Way},
};
use crate::{
    api::{accounts, names, pods::is_namespace},
    caller::{Caller, Kind, Leave, Semantics, User},
    request::{Head, RequestInfo, Target, Wish},
};

/// The configuration of acting-as.
#[derive(Clone, Debug)]
pub struct ActingAs {
    pub semantics: Semantics,
    /// Whether upstream's word counts.
    pub by_review: bool,
    /// `ConstrainedImpersonation`: upstream knows rights to impersonate for some requests only.
    pub constrained: bool,
    pub delegations: Vec<Delegation>,
    pub deputies: Vec<Deputy>,
}

/// As whom a request is to be made, if that is allowed.
#[derive(Debug)]
pub struct Wanted {
    /// With the groups that its name brings, and without a word about the actor.
    subject: User,
    /// As it was sent; of a deputy, as it could have been.
    wish: Wish,
    /// The rule that wants it, where it was not the client itself.
    deputy: Option<usize>,
}

/// What the gate by itself says to it.
#[derive(Debug)]
pub enum Answer {
    Leave(Leave),
    /// Upstream decides: one of these ways has to be open, and they are tried in this order.
    Ask(Vec<Way>),
    No(&'static str),
}

/// The service account that every namespace has.
pub const DEFAULT_ACCOUNT: &str = "default";

impl ActingAs {
    /// Nobody is named, and only upstream's word counts.
    pub const DEFAULT: Self = Self {
        semantics: Semantics::Intersection,
        by_review: true,
        constrained: false,
        delegations: Vec::new(),
        deputies: Vec::new(),
    };

    /// As whom the caller is to act: as it says itself, or else as a deputy rule says. Nothing: as itself.
    pub fn wanted(&self, caller: &Caller, head: &Head) -> Option<Wanted> {
        if let Some(wish) = head.wish() {
            return Some(Wanted::new(wish.clone(), None));
        }
        let index = self.deputies.iter().position(|rule| rule.is_for(caller, head))?;
        let account = &self.deputies.get(index)?.service_account;
        let wish = Wish {
            user: accounts::user_name(namespace(head.info())?, account),
            ..Wish::default()
        };
        Some(Wanted::new(wish, Some(index)))
    }

    /// Whether the caller may.
    pub fn answer(&self, caller: &Caller, wanted: &Wanted, head: &Head) -> Answer {
        let mut delegations = self.delegations.iter();
        let delegated = delegations.position(|delegation| delegation.covers(&caller.user, wanted, head));
        match (never(caller, wanted, delegated.is_some()), wanted.deputy, delegated) {
            (Some(why), _, _) => Answer::No(why),
            (None, Some(index), _) => Answer::Leave(Leave::Deputy(index)),
            (None, None, Some(index)) => Answer::Leave(Leave::Delegation(index)),
            (None, None, None) if self.by_review => {
                Answer::Ask(ways::ways(&caller.user, &wanted.wish, head.info(), self.constrained))
            }
            (None, None, None) => Answer::No("no delegation lets it"),
        }
    }
}

impl Wanted {
    fn new(wish: Wish, deputy: Option<usize>) -> Self {
        // Whoever says which groups it wants has no others, as upstream has it.
        let groups = match wish.groups.as_slice() {
            [] => implied_groups(&wish.user),
            groups => groups.to_vec(),
        };
        let subject = User {
            name: wish.user.clone(),
            uid: wish.uid.clone(),
            groups,
            extra: wish.extra.clone(),
        };
        Self {
            subject: subject.authenticated(),
            wish,
            deputy,
        }
    }

    pub fn subject(&self) -> &User {
        &self.subject
    }

    /// The caller that the request is made as from now on. Upstream reads in an extra who it was that acted.
    pub fn granted(self, actor: &Caller, leave: Leave, semantics: Semantics) -> Caller {
        let mut subject = self.subject;
        let name = actor.user.name.clone();
        subject.extra.push((names::ACTOR_EXTRA.to_owned(), vec![name]));
        Caller::acted(subject, actor, leave, semantics)
    }

    /// Whether it is for a name and nothing that does not follow from it.
    fn is_plain(&self) -> bool {
        let Wish {
            user,
            groups,
            uid,
            extra,
        } = &self.wish;
        let implied = implied_groups(user);
        let follows = |group: &String| implied.contains(group) || group == names::AUTHENTICATED_GROUP;
        let whole = || groups.iter().all(follows) && implied.iter().all(|group| groups.contains(group));
        uid.is_none() && extra.is_empty() && (groups.is_empty() || whole())
    }
}

/// What no rule and no review allows. `delegated`: a delegation names exactly this subject, or its namespace.
fn never(caller: &Caller, wanted: &Wanted, delegated: bool) -> Option<&'static str> {
    let (actor, subject) = (&*caller.user, &wanted.subject);
    if caller.kind != Kind::Other || is_machine(actor) {
        return Some("nodes, seeds and whoever joins act as nobody else");
    }
    if is_unknown(actor) {
        return Some("who is not authenticated acts as nobody else");
    }
    if actor.extra.iter().any(|(key, _)| key == names::ACTOR_EXTRA) {
        return Some("somebody acts as it already, and there are no chains");
    }
    if subject.in_group(names::MASTERS_GROUP) {
        return Some("nobody acts as a member of \"system:masters\"");
    }
    if is_unknown(subject) {
        return Some("nobody acts as somebody who is not authenticated");
    }
    if is_machine(subject) && !delegated {
        return Some("nobody acts as a node or a seed, unless a delegation names it");
    }
    match wanted.deputy {
        // A namespace that cannot be has no service accounts, and what looks like one may be anybody.
        Some(_) if accounts::split(&subject.name).is_none() => Some("the namespace has no service accounts"),
        _ => None,
    }
}

/// Half of what makes a node or a seed is enough to be treated with caution.
fn is_machine(user: &User) -> bool {
    let named = |prefix| user.name.starts_with(prefix);
    named(names::NODE_USER_PREFIX)
        || named(names::SEED_USER_PREFIX)
        || user.in_group(names::NODES_GROUP)
        || user.in_group(names::SEEDS_GROUP)
        || matches!(Caller::from(user.clone()).kind, Kind::Seed(_))
}

fn is_unknown(user: &User) -> bool {
    user.name == names::ANONYMOUS_USER || user.in_group(names::UNAUTHENTICATED_GROUP)
}

/// The groups that everybody of this name is in, beside that of all who are authenticated.
fn implied_groups(user: &str) -> Vec<String> {
    if let Some((namespace, _)) = accounts::split(user) {
        accounts::groups(namespace).into()
    } else if user.starts_with(names::NODE_USER_PREFIX) {
        vec![names::NODES_GROUP.to_owned()]
    } else if user.starts_with(names::SEED_USER_PREFIX) {
        vec![names::SEEDS_GROUP.to_owned()]
    } else {
        Vec::new()
    }
}

/// The namespace that a request is about. A Namespace is in none, though its path has one.
fn namespace(info: &RequestInfo) -> Option<&str> {
    let Target::Resource(request) = &info.target else {
        return None;
    };
    let inside = !request.namespace.is_empty() && !request.resource.is("", "namespaces");
    inside.then_some(request.namespace.as_str())
}

/// The default service account of the namespace that a request is about.
fn default_account(info: &RequestInfo) -> Option<String> {
    let namespace = namespace(info).filter(|namespace| is_namespace(namespace))?;
    Some(accounts::user_name(namespace, DEFAULT_ACCOUNT))
}

#[cfg(test)]
mod tests;
