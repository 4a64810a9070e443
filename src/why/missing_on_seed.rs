//! What is missing in the graph of seeds, in words.

use crate::{
    authorizer::Needed,
    graph::{Key, Kind, Snapshot},
};

/// Why a way that leads to the seed does not count, if there is one.
pub(super) fn not_so(seed: &str, needed: Needed<'_>, graph: &Snapshot) -> Option<String> {
    needed.by?;
    let path = graph.path(seed, needed.key)?;
    let rule = match needed.key.kind {
        Kind::BackupBucket => {
            "a bucket is written by the seed that it is assigned to (spec.seedName), not by those with entries in it"
        }
        Kind::ManagedSeed => {
            "a seed may only read the ManagedSeed it is made of; it is written by the seed that the shoot is on (spec.shoot.name)"
        }
        _ => "this way does not count",
    };
    Some(format!("{path}, but {rule}"))
}

/// What no object says that would have to.
pub(super) fn nobody(seed: Option<&str>, key: Key<'_>, graph: &Snapshot) -> String {
    match key.kind {
        Kind::BackupBucket | Kind::BackupEntry | Kind::Bastion => {
            format!("{key} is not there, or is assigned to no seed (spec.seedName)")
        }
        Kind::CertificateSigningRequest => {
            format!("{key} is not there, or does not ask for the certificate of a gardenlet (spec.request)")
        }
        Kind::ControllerInstallation => format!("{key} is not there, or is for no seed (spec.seedRef)"),
        Kind::Gardenlet => format!("{key} is not there, or has not the name of a seed"),
        Kind::ManagedSeed => format!("{key} is not there, or its shoot is on no seed (spec.shoot.name)"),
        Kind::Namespace => format!("no shoot on any seed is in {key}, and it is no seed's own"),
        Kind::Project => format!("{key} is not there, or no shoot on any seed is in its namespace (spec.namespace)"),
        Kind::Seed if graph.knows(key.name) => {
            format!("{key} is made of no shoot that is on a seed; only its own gardenlet reads it")
        }
        Kind::Seed => format!("{key} is not there"),
        Kind::Shoot => format!("{key} is not there, or is on no seed (spec.seedName)"),
        _ => match seed {
            Some(seed) => format!("nothing on seed {seed} refers to {key}, nor does anything on another"),
            None => format!("nothing on any seed refers to {key}"),
        },
    }
}
