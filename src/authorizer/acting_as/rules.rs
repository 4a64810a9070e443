//! What the configuration says about acting-as, and what it covers.

use super::{Wanted, default_account, namespace};
use crate::{
    api::{Verb, accounts},
    authorizer::extra::{ExtraResources, has},
    caller::{Caller, User},
    request::{Head, RequestInfo, Target},
};

/// Lets some act as others: in their names, with the groups that follow from these and nothing else.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delegation {
    pub actors: Actors,
    pub subjects: Subjects,
    /// `*` stands for all.
    pub verbs: Vec<String>,
    /// Nothing: all resources, and paths too.
    pub resources: Option<ExtraResources>,
}

/// Exact names; one is enough.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Actors {
    pub users: Vec<String>,
    pub groups: Vec<String>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Subjects {
    /// Exact names.
    pub users: Vec<String>,
    /// Every service account of these namespaces.
    pub account_namespaces: Vec<String>,
    /// The default service account of the namespace that the request is about.
    pub default_of_request: bool,
}

/// Makes somebody act as a service account of the namespace that it does something in, without its knowing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Deputy {
    /// By its exact name.
    pub user: String,
    pub service_account: String,
    /// `delete` stands for deleting many, too, and `create` for connecting to something, and for whatever else can create.
    pub verbs: Vec<String>,
    pub resources: ExtraResources,
}

const CREATE: &str = "create";
const DELETE: &str = "delete";

impl Delegation {
    /// Whether it lets the actor make this request as the subject.
    pub(super) fn covers(&self, actor: &User, wanted: &Wanted, head: &Head) -> bool {
        let info = head.info();
        // An exec over WebSocket is a GET: whoever may only read as somebody does not get a shell as it.
        let verb = has(&self.verbs, info.verb.as_str()) && (!head.may_create() || has(&self.verbs, CREATE));
        verb && self.is_about(info)
            && self.actors.have(actor)
            && wanted.is_plain()
            && self.subjects.have(&wanted.subject.name, info)
    }

    fn is_about(&self, info: &RequestInfo) -> bool {
        match (&self.resources, &info.target) {
            (None, _) => true,
            (Some(resources), Target::Resource(request)) => resources.has(request),
            (Some(_), Target::Path(_)) => false,
        }
    }
}

impl Actors {
    fn have(&self, actor: &User) -> bool {
        self.users.contains(&actor.name) || self.groups.iter().any(|group| actor.in_group(group))
    }
}

impl Subjects {
    fn have(&self, subject: &String, info: &RequestInfo) -> bool {
        let in_namespaces = |(namespace, _)| self.account_namespaces.iter().any(|listed| listed == namespace);
        self.users.contains(subject)
            || accounts::split(subject).is_some_and(in_namespaces)
            || self.default_of_request && default_account(info).as_ref() == Some(subject)
    }
}

impl Deputy {
    /// Whether the caller makes this request as somebody else. Reads stay its own, unless they are named.
    pub(super) fn is_for(&self, caller: &Caller, head: &Head) -> bool {
        let info = head.info();
        let Target::Resource(request) = &info.target else {
            return false;
        };
        let verb = has(&self.verbs, info.verb.as_str())
            || info.verb == Verb::DeleteCollection && has(&self.verbs, DELETE)
            || head.may_create() && has(&self.verbs, CREATE);
        self.user == caller.user.name && verb && namespace(info).is_some() && self.resources.has(request)
    }
}
