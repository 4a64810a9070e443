//! Who may act as whom, and who has to.

use super::extra::{are_namespaces, words};
use crate::{
    api::{dns::is_subdomain, names},
    authorizer::{
        EVERYTHING, ExtraResources,
        acting_as::{ActingAs, Actors, DEFAULT_ACCOUNT, Delegation, Deputy, Subjects},
    },
    caller::Semantics,
    config::{Features, section::Section},
};

/// What a deputy does as another unless its rule says otherwise: all that changes something.
const WRITES: &[&str] = &["create", "update", "patch", "delete"];

/// With `own`, upstream sees the gate instead of the caller, and cannot be told of a subject.
pub(super) fn acting_as(mut section: Section<'_>, own: bool, features: Features) -> ActingAs {
    let semantics = section.choice(
        "semantics",
        &[
            ("Intersection", Semantics::Intersection),
            ("Subject", Semantics::Subject),
        ],
    );
    let by_review = section.boolean("byReview").unwrap_or(true);
    let delegations = section.sections("delegations");
    let deputies = section.sections("deputies");
    for (key, empty) in [
        ("delegations", delegations.is_empty()),
        ("deputies", deputies.is_empty()),
    ] {
        if own && !empty {
            let message =
                "cannot be: upstream sees the gate instead of the caller, since upstream.identity.mode is Own";
            section.problem(key, message, "use mode FrontProxy or Impersonate, or leave it out");
        }
    }
    section.finish();
    ActingAs {
        semantics: semantics.unwrap_or_default(),
        by_review,
        constrained: features.constrained_impersonation,
        delegations: delegations.into_iter().map(delegation).collect(),
        deputies: deputies.into_iter().filter_map(deputy).collect(),
    }
}

fn delegation(mut section: Section<'_>) -> Delegation {
    let mut who = section.section("actors");
    let actors = Actors {
        users: words(&mut who, "users").unwrap_or_default(),
        groups: words(&mut who, "groups").unwrap_or_default(),
    };
    for user in &actors.users {
        can_act(&who, "users", user);
    }
    who.finish();
    if actors == Actors::default() {
        section.problem(
            "actors",
            "name nobody",
            "users or groups, for example: {users: [builder]}",
        );
    }
    let mut whom = section.section("subjects");
    let subjects = Subjects {
        users: words(&mut whom, "users").unwrap_or_default(),
        account_namespaces: namespaces(&mut whom, "serviceAccountsIn"),
        default_of_request: whom
            .choice("defaultServiceAccountOf", &[("RequestNamespace", true)])
            .unwrap_or(false),
    };
    if subjects.users.iter().any(|user| user == names::ANONYMOUS_USER) {
        whom.problem(
            "users",
            "nobody acts as somebody who is not authenticated",
            "leave it out",
        );
    }
    whom.finish();
    if subjects == Subjects::default() {
        let hint = "for example: {serviceAccountsIn: [team-a]}";
        section.problem("subjects", "name nobody", hint);
    }
    let groups = section.strings("apiGroups");
    let resources = words(&mut section, "resources");
    let verbs = words(&mut section, "verbs");
    for (key, given) in [("apiGroups", &groups), ("resources", &resources), ("verbs", &verbs)] {
        not_empty(&section, key, given.as_deref());
    }
    section.finish();
    let limited = groups.is_some() || resources.is_some();
    Delegation {
        actors,
        subjects,
        verbs: verbs.unwrap_or_else(everything),
        resources: limited.then(|| ExtraResources {
            groups: groups.unwrap_or_else(everything),
            resources: resources.unwrap_or_else(everything),
            names: Vec::new(),
            namespaces: Vec::new(),
        }),
    }
}

/// Nothing only if a problem was noted.
fn deputy(mut section: Section<'_>) -> Option<Deputy> {
    let user = section.string("user");
    let user = section.require(
        "user",
        user,
        "for example: system:serviceaccount:kube-system:job-controller",
    );
    if let Some(user) = &user {
        can_act(&section, "user", user);
    }
    let account = section.string("serviceAccount");
    let account = account.unwrap_or_else(|| DEFAULT_ACCOUNT.to_owned());
    if !is_subdomain(&account) {
        let message = format!("{account:?} is not the name of a service account");
        section.problem("serviceAccount", message, "default is the default");
    }
    let groups = section.strings("apiGroups");
    let resources = words(&mut section, "resources");
    let verbs = words(&mut section, "verbs");
    for (key, given) in [("apiGroups", &groups), ("resources", &resources), ("verbs", &verbs)] {
        not_empty(&section, key, given.as_deref());
    }
    let namespaces = namespaces(&mut section, "namespaces");
    section.finish();
    Some(Deputy {
        user: user?,
        service_account: account,
        verbs: verbs.unwrap_or_else(|| WRITES.iter().map(ToString::to_string).collect()),
        resources: ExtraResources {
            groups: groups.unwrap_or_else(everything),
            resources: resources.unwrap_or_else(everything),
            names: Vec::new(),
            namespaces,
        },
    })
}

/// An empty list reads as all and as nothing.
fn not_empty(section: &Section<'_>, key: &'static str, given: Option<&[String]>) {
    if given.is_some_and(<[_]>::is_empty) {
        section.problem(key, "must not be empty", "leave it out for the default");
    }
}

fn namespaces(section: &mut Section<'_>, key: &'static str) -> Vec<String> {
    let given = words(section, key);
    if let Some(given) = &given {
        are_namespaces(section, key, given);
    }
    given.unwrap_or_default()
}

/// These are refused whatever a rule says, so that a rule about them can only be a mistake.
fn can_act(section: &Section<'_>, key: &str, user: &str) {
    let never = [
        names::NODE_USER_PREFIX,
        names::SEED_USER_PREFIX,
        names::BOOTSTRAP_USER_PREFIX,
    ];
    if user.is_empty() || user == names::ANONYMOUS_USER || never.iter().any(|prefix| user.starts_with(prefix)) {
        let message = format!("{user:?} acts as nobody else, whatever a rule says");
        section.problem(key, message, "leave it out");
    }
}

fn everything() -> Vec<String> {
    vec![EVERYTHING.to_owned()]
}
