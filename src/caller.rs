//! Who asks: a user, and what kind of caller that user is.

mod actor;
mod seed;

use std::{fmt, sync::Arc};

pub use self::{
    actor::{Actor, Impersonation, Leave, Semantics},
    seed::{Role, Seed},
};
use crate::api::names;

/// A user as Kubernetes knows one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct User {
    pub name: String,
    pub uid: Option<String>,
    pub groups: Vec<String>,
    pub extra: Vec<(String, Vec<String>)>,
}

/// A user and the rules that apply to it. Parsed once, when the user is identified.
#[derive(Clone, Debug)]
pub struct Caller {
    pub user: Arc<User>,
    pub kind: Kind,
    /// What it is known by, unless that is a token; where somebody acts as the user, what that one is known by.
    pub certificate: Option<Arc<Certificate>>,
    /// Who acts as the user, if that is not the user itself.
    pub actor: Option<Arc<Actor>>,
}

/// What tells a client certificate from others, whoever it names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Certificate {
    serial: Box<[u8]>,
    /// SHA-256 of the SubjectPublicKeyInfo.
    pub public_key: [u8; 32],
}

/// Which rules apply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `system:node:<name>` in group `system:nodes`. The name may be empty; then no rule lets it do anything
    /// that depends on a name.
    Node(String),
    /// Somebody who speaks for a seed of Gardener. The rules for seeds apply where they are enabled; elsewhere it is like anybody
    /// else.
    Seed(Seed),
    /// Somebody who joins with a bootstrap token and goes on with it: upstream decides.
    Bootstrap(Token),
    Other,
}

/// A bearer token. It is never shown by accident.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Token(Arc<str>);

impl User {
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|member| member == group)
    }

    /// Adds `system:authenticated` as kube-apiserver does: not for the anonymous user, and not for someone
    /// who already says which of the two groups it belongs to.
    pub fn authenticated(mut self) -> Self {
        let settled = self.name == names::ANONYMOUS_USER
            || self.in_group(names::AUTHENTICATED_GROUP)
            || self.in_group(names::UNAUTHENTICATED_GROUP);
        if !settled {
            self.groups.push(names::AUTHENTICATED_GROUP.to_owned());
        }
        self
    }
}

impl Token {
    pub fn new(token: &str) -> Self {
        Self(token.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Certificate {
    pub fn new(serial: &[u8], public_key: [u8; 32]) -> Self {
        Self {
            serial: Self::significant(serial).into(),
            public_key,
        }
    }

    /// As a number: without the zeros that an encoding puts before it.
    pub fn serial(&self) -> &[u8] {
        &self.serial
    }

    pub fn significant(serial: &[u8]) -> &[u8] {
        let zeros = serial.iter().take_while(|byte| **byte == 0).count();
        serial.get(zeros..).unwrap_or_default()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Caller {
    /// Somebody who came with a token.
    pub fn with_token(user: User, token: &Token) -> Self {
        let bootstrap =
            user.name.starts_with(names::BOOTSTRAP_USER_PREFIX) && user.in_group(names::BOOTSTRAPPERS_GROUP);
        let caller = Self::from(user);
        match caller.kind {
            Kind::Other if bootstrap => Self {
                kind: Kind::Bootstrap(token.clone()),
                ..caller
            },
            _ => caller,
        }
    }

    /// Somebody as whom another acts. What the actor is known by stays, so that whoever is stopped by it is stopped.
    pub fn acted(subject: User, by: &Self, leave: Leave, semantics: Semantics) -> Self {
        let actor = Actor {
            user: Arc::clone(&by.user),
            leave,
            semantics,
        };
        Self {
            certificate: by.certificate.clone(),
            actor: Some(Arc::new(actor)),
            ..Self::from(subject)
        }
    }

    /// The user whose credentials the request came with: what it costs is that one's.
    pub fn asker(&self) -> &Arc<User> {
        self.actor.as_ref().map_or(&self.user, |actor| &actor.user)
    }
}

impl From<User> for Caller {
    fn from(user: User) -> Self {
        let kind = match user.name.strip_prefix(names::NODE_USER_PREFIX) {
            Some(node) if user.in_group(names::NODES_GROUP) => Kind::Node(node.to_owned()),
            _ => Seed::of(&user).map_or(Kind::Other, Kind::Seed),
        };
        Self {
            user: Arc::new(user),
            kind,
            certificate: None,
            actor: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("system:node:n1", &["system:nodes"] => Kind::Node("n1".into()); "prefix and group")]
    #[test_case("system:node:n1", &["a", "system:nodes"] => Kind::Node("n1".into()); "group among others")]
    #[test_case("system:node:", &["system:nodes"] => Kind::Node(String::new()); "no name")]
    #[test_case("system:node:n1", &[] => Kind::Other; "no group")]
    #[test_case("n1", &["system:nodes"] => Kind::Other; "no prefix")]
    #[test_case("system:Node:n1", &["system:nodes"] => Kind::Other; "case matters in the name")]
    #[test_case("system:node:n1", &["system:Nodes"] => Kind::Other; "case matters in the group")]
    fn kind(name: &str, groups: &[&str]) -> Kind {
        Caller::from(user(name, groups)).kind
    }

    #[test_case("n1", &[] => true; "added")]
    #[test_case("system:anonymous", &[] => false; "not to the anonymous user")]
    #[test_case("n1", &["system:unauthenticated"] => false; "not to one who says otherwise")]
    fn authenticated(name: &str, groups: &[&str]) -> bool {
        user(name, groups).authenticated().in_group("system:authenticated")
    }

    #[test]
    fn authenticated_is_not_added_twice() {
        let user = user("n1", &["system:authenticated"]).authenticated();
        assert_eq!(user.groups, ["system:authenticated"]);
    }

    fn user(name: &str, groups: &[&str]) -> User {
        User {
            name: name.to_owned(),
            groups: groups.iter().map(ToString::to_string).collect(),
            ..User::default()
        }
    }
}
