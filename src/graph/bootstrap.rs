//! The leave of a gardenlet to begin, or to begin anew: whoever deploys it may then have what it comes to its certificate with.
//!
//! It depends on two objects, and on the time. So it is an object of its own in the graph, though upstream has none: it is there
//! for exactly as long as the leave is given.

use std::collections::BTreeSet;

use super::{Asserts, Begins, Edge, Facts, Key, Kind, Store, Template};
use crate::api::garden::{self, KUBE_SYSTEM};

/// The leave of one gardenlet.
struct Bootstrap<'a> {
    /// What deploys the gardenlet: a ManagedSeed or a Gardenlet.
    of: Key<'a>,
    name: &'a str,
    begins: Begins,
}

/// What is known of the certificate that the gardenlet has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Certificate {
    /// There is no such seed, so there is none.
    None,
    Expired,
    /// Good, for all that is known, until that time if one is given.
    Good(Option<i64>),
}

/// Stands before the name of a Gardenlet's, so that it does not meet that of a ManagedSeed.
const OF_GARDENLET: &str = "gardenlet:";

impl Store {
    /// Puts the leaves of the ManagedSeed and the Gardenlet of that name right, as of now. Says when they have to be looked at again,
    /// if nothing happens before.
    ///
    /// A ManagedSeed may have its gardenlet begin until there is a seed; a Gardenlet has begun by hand before that. Both may again
    /// when its certificate has expired, or when they are told to renew it.
    pub fn settle_bootstrap(&mut self, namespace: &str, name: &str, now: i64) -> Option<i64> {
        let certificate = self.certificate(name, now);
        let is_good = matches!(certificate, Certificate::Good(_));

        let managed_seed = Key::new(Kind::ManagedSeed, namespace, name);
        let (managed, begins) = match self.facts(managed_seed) {
            Some(Facts::ManagedSeed { renews, begins }) if !is_good || *renews => (true, *begins),
            facts => (facts.is_some(), Begins::None),
        };
        self.permit(managed_seed, name, begins);

        let gardenlet = Key::new(Kind::Gardenlet, namespace, name);
        let (deployed, begins) = match self.facts(gardenlet) {
            Some(Facts::Gardenlet { renews, begins })
                if certificate == Certificate::Expired || (*renews && is_good) =>
            {
                (true, *begins)
            }
            facts => (facts.is_some(), Begins::None),
        };
        self.permit(gardenlet, &format!("{OF_GARDENLET}{name}"), begins);

        match certificate {
            // It is still good in that second.
            Certificate::Good(Some(expires)) if managed || deployed => Some(expires.saturating_add(1)),
            _ => None,
        }
    }

    /// The namespace and name of everybody who has such a leave, or could have one.
    pub fn beginners(&self) -> BTreeSet<(String, String)> {
        let kinds = [Kind::Bootstrap, Kind::Gardenlet, Kind::ManagedSeed].into_iter();
        let keys = kinds.flat_map(|kind| self.keys(kind));
        let owned = keys.map(|key| {
            let name = key.name.strip_prefix(OF_GARDENLET).unwrap_or(key.name);
            (key.namespace.to_owned(), name.to_owned())
        });
        owned.collect()
    }

    fn certificate(&self, seed: &str, now: i64) -> Certificate {
        match self.facts(Key::cluster(Kind::Seed, seed)) {
            Some(Facts::Seed { expires: Some(expires) }) if *expires < now => Certificate::Expired,
            Some(Facts::Seed { expires }) => Certificate::Good(*expires),
            _ => Certificate::None,
        }
    }

    fn permit(&mut self, of: Key<'_>, name: &str, begins: Begins) {
        let bootstrap = Bootstrap { of, name, begins };
        match begins {
            Begins::None => self.delete(bootstrap.key()),
            Begins::ServiceAccount | Begins::Token => self.apply(&bootstrap),
        }
    }
}

impl Asserts for Bootstrap<'_> {
    fn key(&self) -> Key<'_> {
        Key::new(Kind::Bootstrap, self.of.namespace, self.name)
    }

    fn edges(&self, visit: &mut dyn FnMut(Edge<'_>)) {
        visit(Edge::new(self.of, Template::SAME_NAME.field()));
        let Key { namespace, name, .. } = self.of;
        let mut needs = |kind, namespace, name: &str| {
            let other = Key::new(kind, namespace, name);
            visit(Edge::new(other, Template::NAMED_AFTER.field()));
        };
        match self.begins {
            Begins::None => {}
            Begins::ServiceAccount => {
                let account = garden::bootstrap_account(name);
                needs(Kind::ServiceAccount, namespace, &account);
                let binding = garden::bootstrap_binding(namespace, &account);
                needs(Kind::ClusterRoleBinding, "", &binding);
            }
            Begins::Token => {
                let secret = garden::bootstrap_token_secret(namespace, name);
                needs(Kind::Secret, KUBE_SYSTEM, &secret);
            }
        }
    }
}

#[cfg(test)]
mod tests;
