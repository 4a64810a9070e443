//! What seeds ask, and how the gate is asked.

use anyhow::Result;
use scopegate::{
    authorizer::{Authorizer, Fallback, Profile, SeedRules},
    caller::{Caller, User},
};

use crate::rows::{self, Row};

/// The name, and behind the colon what is asked. Those that are not to be allowed say so. The longer ways come later.
const ROWS: &[&str] = &[
    "shoots watched by label: GET /apis/core.gardener.cloud/v1beta1/shoots?watch=true&labelSelector=name.seed.gardener.cloud%2Fseed0%3Dtrue",
    "own lease updated: PUT /apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases/seed0",
    "own shoot: GET /apis/core.gardener.cloud/v1beta1/namespaces/garden-p0/shoots/shoot0-seed0",
    "status of own shoot: PATCH /apis/core.gardener.cloud/v1beta1/namespaces/garden-p0/shoots/shoot0-seed0/status",
    "own bucket updated: PUT /apis/core.gardener.cloud/v1beta1/backupbuckets/bucket-seed0",
    "secret that a shoot names: GET /api/v1/namespaces/garden-p0/secrets/dns-shoot0-seed0",
    "secret named after a shoot: PUT /api/v1/namespaces/garden-p0/secrets/shoot0-seed0.ssh-keypair",
    "state of a shoot: PATCH /apis/core.gardener.cloud/v1beta1/namespaces/garden-p0/shootstates/shoot0-seed0",
    "backup entry of a shoot: PATCH /apis/core.gardener.cloud/v1beta1/namespaces/garden-p0/backupentries/entry-shoot0-seed0/status",
    "managed seed that is a shoot: PATCH /apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseeds/managed0/status",
    "namespace of a project: GET /api/v1/namespaces/garden-p0",
    "project of a shoot: GET /apis/core.gardener.cloud/v1beta1/projects/p0",
    "cloud profile of a tenth of all shoots: GET /apis/core.gardener.cloud/v1beta1/cloudprofiles/cloud0",
    "secret of a binding: GET /api/v1/namespaces/garden-p0/secrets/credentials0",
    "secret of an extension: GET /api/v1/namespaces/garden/secrets/pull-extension0",
    "foreign shoot refused: PATCH /apis/core.gardener.cloud/v1beta1/namespaces/garden-p40/shoots/shoot0-seed1",
    "foreign secret refused: GET /api/v1/namespaces/garden-p40/secrets/dns-shoot0-seed1",
    "unknown secret refused: GET /api/v1/namespaces/garden-p0/secrets/unknown",
];

/// All of them, in the name of the gardenlet of seed0.
pub(crate) fn rows() -> Result<Vec<Row>> {
    rows::read(ROWS, &gardenlet("seed0"))
}

pub(crate) fn gardenlet(seed: &str) -> Caller {
    Caller::from(User {
        name: format!("gardener.cloud:system:seed:{seed}"),
        groups: vec![
            "gardener.cloud:system:seeds".to_owned(),
            "system:authenticated".to_owned(),
        ],
        ..User::default()
    })
}

/// Who decides.
pub(crate) fn gate() -> Authorizer {
    Authorizer {
        seeds: Some(SeedRules {
            profile: Profile::Current,
            fallback: Fallback::Deny,
        }),
        ..rows::gate()
    }
}
