//! A seed of Gardener, by those who speak for it: its gardenlet, and the extensions that run there.
//!
//! Follows `pkg/admissioncontroller/seedidentity/identity.go` of Gardener.

use super::User;
use crate::api::names;

/// A user that speaks for a seed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seed {
    pub name: String,
    pub role: Role,
}

/// As what.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    Gardenlet,
    /// A service account of an extension, known by its token.
    Extension,
}

/// What a gardenlet calls itself that is responsible for more than one seed. No seed has such a name.
const AMBIGUOUS: &str = "<ambiguous>";
const SEED_NAMESPACE_PREFIX: &str = "seed-";
const EXTENSION_PREFIX: &str = "extension-";

impl Seed {
    /// Nothing if the user does not speak for a single seed, or does not say for which. Whoever has the group of gardenlets is a
    /// gardenlet or nothing.
    pub(super) fn of(user: &User) -> Option<Self> {
        if user.in_group(names::SEEDS_GROUP) {
            let name = user.name.strip_prefix(names::SEED_USER_PREFIX)?;
            let is_one = !name.is_empty() && name != AMBIGUOUS;
            return is_one.then(|| Self::new(name, Role::Gardenlet));
        }
        if !user.in_group(names::SERVICE_ACCOUNTS_GROUP) {
            return None;
        }
        let in_namespace = |group: &String| {
            let namespace = group.strip_prefix(names::SERVICE_ACCOUNTS_GROUP)?;
            namespace.strip_prefix(':').map(str::to_owned)
        };
        let namespace = user.groups.iter().find_map(in_namespace)?;
        let name = namespace.strip_prefix(SEED_NAMESPACE_PREFIX)?;
        let account = user.name.strip_prefix(names::SERVICE_ACCOUNT_USER_PREFIX)?;
        // All of it: an account of another namespace has a group of that.
        let account = account.strip_prefix(&namespace)?.strip_prefix(':')?;
        let is_one = !name.is_empty() && account.starts_with(EXTENSION_PREFIX);
        is_one.then(|| Self::new(name, Role::Extension))
    }

    fn new(name: &str, role: Role) -> Self {
        let name = name.to_owned();
        Self { name, role }
    }

    /// The namespace in the garden that is the seed's own.
    pub fn is_namespace(&self, namespace: &str) -> bool {
        namespace.strip_prefix(SEED_NAMESPACE_PREFIX) == Some(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    const GARDENLET: &str = "gardener.cloud:system:seed:";
    const SEEDS: &str = "gardener.cloud:system:seeds";
    const ACCOUNT: &str = "system:serviceaccount:seed-a:extension-x";
    const ACCOUNTS: &[&str] = &["system:serviceaccounts", "system:serviceaccounts:seed-a"];

    #[test_case("gardener.cloud:system:seed:a", &[SEEDS] => Some(("a".into(), Role::Gardenlet)); "a gardenlet")]
    #[test_case("gardener.cloud:system:seed:a", &["system:authenticated", SEEDS] => Some(("a".into(), Role::Gardenlet)); "group among others")]
    #[test_case("gardener.cloud:system:seed:a", &[] => None; "no group")]
    #[test_case("a", &[SEEDS] => None; "no prefix")]
    #[test_case(GARDENLET, &[SEEDS] => None; "no name")]
    #[test_case("gardener.cloud:system:seed:<ambiguous>", &[SEEDS] => None; "several seeds")]
    #[test_case(ACCOUNT, ACCOUNTS => Some(("a".into(), Role::Extension)); "an extension")]
    #[test_case(ACCOUNT, &["system:serviceaccounts"] => None; "no group of the namespace")]
    #[test_case(ACCOUNT, &["system:serviceaccounts:seed-a"] => None; "no group of accounts")]
    #[test_case(ACCOUNT, &["system:serviceaccounts", "system:serviceaccounts:b", "system:serviceaccounts:seed-a"] => None; "the first namespace counts")]
    #[test_case("system:serviceaccount:seed-b:extension-x", ACCOUNTS => None; "a group of another namespace")]
    #[test_case("system:serviceaccount:seed-a:default", ACCOUNTS => None; "another account")]
    #[test_case("extension-x", ACCOUNTS => None; "a name that is no account")]
    #[test_case("system:serviceaccount:seed-:extension-x", &["system:serviceaccounts", "system:serviceaccounts:seed-"] => None; "no name of a seed")]
    #[test_case("system:serviceaccount:garden:extension-x", &["system:serviceaccounts", "system:serviceaccounts:garden"] => None; "no namespace of a seed")]
    #[test_case(ACCOUNT, &["system:serviceaccounts", "system:serviceaccounts:seed-a", SEEDS] => None; "an account with the group of gardenlets")]
    fn seeds(name: &str, groups: &[&str]) -> Option<(String, Role)> {
        let user = User {
            name: name.to_owned(),
            groups: groups.iter().map(ToString::to_string).collect(),
            ..User::default()
        };
        Seed::of(&user).map(|seed| (seed.name, seed.role))
    }

    #[test]
    fn a_seed_has_a_namespace() {
        let seed = Seed::new("a", Role::Gardenlet);
        assert!(seed.is_namespace("seed-a"));
        assert!(!seed.is_namespace("seed-b") && !seed.is_namespace("a") && !seed.is_namespace(""));
    }
}
