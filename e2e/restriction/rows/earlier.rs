//! What older releases answer otherwise than the rows have it.

use crate::release;

/// Rows whose name begins so, in releases before one.
pub(super) struct Earlier {
    since: u32,
    row: &'static str,
    /// What kube-apiserver answers there.
    pub(super) code: u16,
    /// What the gate answers, if it is stricter on purpose.
    pub(super) gate: Option<u16>,
}

const EARLIER: &[Earlier] = &[
    alike(33, "token: another audience", 201),
    alike(33, "token: no audience", 201),
    alike(33, "token: two audiences", 201),
    stricter(34, "claims: extended", 200),
    stricter(34, "mirror: volume {\"csi\":{\"driver\":\"d\"}}", 201),
    stricter(34, "mirror: volume {\"ephemeral\"", 201),
    stricter(34, "mirror: volume {\"glusterfs\"", 201),
    stricter(
        34,
        "mirror: volume {\"projected\":{\"sources\":[{\"podCertificate\"",
        201,
    ),
    stricter(34, "mirror: volume {\"projected\":{\"sources\":[{}]}}", 201),
];

/// The gate knows what its preset does not have.
const fn alike(since: u32, row: &'static str, code: u16) -> Earlier {
    Earlier {
        since,
        row,
        code,
        gate: None,
    }
}

/// The gate refuses in every release what was found to be dangerous later.
const fn stricter(since: u32, row: &'static str, code: u16) -> Earlier {
    Earlier {
        since,
        row,
        code,
        gate: Some(403),
    }
}

/// What the release that runs has instead of a row.
pub(super) fn earlier(row: &str) -> Option<&'static Earlier> {
    let minor = release::minor();
    EARLIER
        .iter()
        .find(|earlier| minor < earlier.since && row.starts_with(earlier.row))
}
