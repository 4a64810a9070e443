//! Whom a question is about: a node, a seed, or an extension that speaks for one, in the forms that people and logs have for them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Unclear;
use crate::{
    api::names,
    caller::{Caller, Kind, Role, User},
    graph::Anchor,
};

/// A node or a seed: where the paths end that decide.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    Node(String),
    Seed(String),
}

/// A caller that was understood.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub(super) end: End,
    pub(super) caller: Caller,
}

/// Written before a name, these say whose it is.
const NODE: &str = "node/";
const SEED: &str = "seed/";
/// Nothing in Kubernetes has a longer name; a user has a prefix before it.
const MAX_NAME: usize = 253;

impl End {
    pub(super) fn new(anchor: Anchor, name: String) -> Self {
        match anchor {
            Anchor::Node => Self::Node(name),
            Anchor::Seed => Self::Seed(name),
        }
    }

    pub fn name(&self) -> &str {
        let (Self::Node(name) | Self::Seed(name)) = self;
        name
    }

    pub fn anchor(&self) -> Anchor {
        match self {
            Self::Node(_) => Anchor::Node,
            Self::Seed(_) => Anchor::Seed,
        }
    }

    /// What it is, in a word.
    pub fn word(&self) -> &'static str {
        self.anchor().kind().as_str()
    }
}

/// Nodes go by their names alone, as they always did.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(name) => f.write_str(name),
            Self::Seed(name) => write!(f, "seed {name}"),
        }
    }
}

impl Asker {
    /// It may have been copied from a log, which has the user and not the node.
    pub(super) fn parse(text: &str) -> Result<Self, Unclear> {
        let prefixed = |prefixes: [&str; 2]| prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
        if let Some(seed) = prefixed([SEED, names::SEED_USER_PREFIX]) {
            check("seed", seed)?;
            return Self::of(seed_user(seed)).ok_or_else(|| {
                Unclear(format!(
                    "{seed:?} is the name of no seed: a gardenlet of several is like anybody else"
                ))
            });
        }
        if let Some(account) = text.strip_prefix(names::SERVICE_ACCOUNT_USER_PREFIX) {
            let (namespace, _) = account.split_once(':').unwrap_or((account, ""));
            check("service account", account)?;
            return Self::of(account_user(text, namespace)).ok_or_else(|| {
                let form = "system:serviceaccount:seed-<seed>:extension-<name>";
                Unclear(format!("{text:?} speaks for no seed; extensions are like {form}"))
            });
        }
        let node = prefixed([NODE, names::NODE_USER_PREFIX]).unwrap_or(text);
        check("node", node)?;
        Self::of(node_user(node)).filter(|_| !node.contains([':', '/'])).ok_or_else(|| {
            Unclear(format!(
                "{text:?} is the user of no node and of no seed; ask about a node by its name, a seed as seed/<name>, or about \
                 system:node:…, gardener.cloud:system:seed:… or system:serviceaccount:seed-…:extension-…"
            ))
        })
    }

    /// The one that speaks for a node or seed: its kubelet or gardenlet.
    pub(super) fn at(anchor: Anchor, name: &str) -> Caller {
        Caller::from(match anchor {
            Anchor::Node => node_user(name),
            Anchor::Seed => seed_user(name),
        })
    }

    fn of(user: User) -> Option<Self> {
        let caller = Caller::from(user);
        let end = match &caller.kind {
            Kind::Node(node) => End::Node(node.clone()),
            Kind::Seed(seed) => End::Seed(seed.name.clone()),
            Kind::Bootstrap(_) | Kind::Other => return None,
        };
        Some(Self { end, caller })
    }

    /// The user, where that is not the one that everybody expects.
    pub(super) fn user(&self) -> Option<&str> {
        let speaks = matches!(&self.caller.kind, Kind::Seed(seed) if seed.role == Role::Extension);
        speaks.then_some(self.caller.user.name.as_str())
    }
}

fn check(what: &str, name: &str) -> Result<(), Unclear> {
    if name.is_empty() {
        return Err(Unclear(format!("no {what} is named")));
    }
    if name.len() > 2 * MAX_NAME || name.contains(char::is_control) {
        return Err(Unclear(format!(
            "nothing in Kubernetes can have the name of that {what}"
        )));
    }
    Ok(())
}

fn node_user(node: &str) -> User {
    user(format!("{}{node}", names::NODE_USER_PREFIX), &[names::NODES_GROUP])
}

fn seed_user(seed: &str) -> User {
    user(format!("{}{seed}", names::SEED_USER_PREFIX), &[names::SEEDS_GROUP])
}

fn account_user(name: &str, namespace: &str) -> User {
    let group = format!("{}:{namespace}", names::SERVICE_ACCOUNTS_GROUP);
    user(name.to_owned(), &[names::SERVICE_ACCOUNTS_GROUP, &group])
}

fn user(name: String, groups: &[&str]) -> User {
    let user = User {
        name,
        groups: groups.iter().map(ToString::to_string).collect(),
        ..User::default()
    };
    user.authenticated()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("n1" => "Node(\"n1\") system:node:n1 [\"system:nodes\", \"system:authenticated\"]"; "a node")]
    #[test_case("node/n1" => "Node(\"n1\") system:node:n1 [\"system:nodes\", \"system:authenticated\"]"; "said to be one")]
    #[test_case("system:node:n1" => "Node(\"n1\") system:node:n1 [\"system:nodes\", \"system:authenticated\"]"; "from a log")]
    #[test_case("seed/s1" => "Seed(\"s1\") gardener.cloud:system:seed:s1 [\"gardener.cloud:system:seeds\", \"system:authenticated\"]"; "a seed")]
    #[test_case("gardener.cloud:system:seed:s1" => "Seed(\"s1\") gardener.cloud:system:seed:s1 [\"gardener.cloud:system:seeds\", \"system:authenticated\"]"; "a gardenlet from a log")]
    #[test_case("system:serviceaccount:seed-s1:extension-x" => "Seed(\"s1\") system:serviceaccount:seed-s1:extension-x [\"system:serviceaccounts\", \"system:serviceaccounts:seed-s1\", \"system:authenticated\"]"; "an extension")]
    fn askers(text: &str) -> String {
        let Asker { end, caller } = Asker::parse(text).unwrap();
        format!("{end:?} {} {:?}", caller.user.name, caller.user.groups)
    }

    #[test_case("" => "no node is named")]
    #[test_case("system:node:" => "no node is named"; "user without a name")]
    #[test_case("seed/" => "no seed is named"; "seed without a name")]
    #[test_case("n\n1" => "nothing in Kubernetes can have the name of that node"; "control character")]
    #[test_case("gardener.cloud:system:seed:<ambiguous>" => "\"<ambiguous>\" is the name of no seed: a gardenlet of several is like anybody else"; "several seeds")]
    #[test_case("system:serviceaccount:seed-a:default" => "\"system:serviceaccount:seed-a:default\" speaks for no seed; extensions are like system:serviceaccount:seed-<seed>:extension-<name>"; "another account")]
    #[test_case("system:serviceaccount:garden:extension-x" => "\"system:serviceaccount:garden:extension-x\" speaks for no seed; extensions are like system:serviceaccount:seed-<seed>:extension-<name>"; "another namespace")]
    fn others(text: &str) -> String {
        Asker::parse(text).unwrap_err().to_string()
    }

    #[test_case("alice/x")]
    #[test_case("system:kube-scheduler")]
    #[test_case("system:bootstrap:abcdef")]
    fn nobody(text: &str) {
        let unclear = Asker::parse(text).unwrap_err().to_string();
        assert!(unclear.contains("is the user of no node and of no seed"), "{unclear}");
    }
}
