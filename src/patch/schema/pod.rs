//! Pod, and the template of one that other kinds carry.

use super::{CONDITIONS, Field, Fields, METADATA, Schema, items, object};

pub static POD: Schema = Schema(&[
    METADATA,
    SPEC,
    object(
        "status",
        &[
            CONDITIONS,
            items("hostIPs", "ip", &[]),
            items("podIPs", "ip", &[]),
            items("resourceClaimStatuses", "name", &[]),
        ],
    ),
]);

/// A pod without a status.
pub(super) const TEMPLATE: Field = object("template", &[METADATA, SPEC]);

const SPEC: Field = object(
    "spec",
    &[
        items("containers", "name", CONTAINER),
        items("ephemeralContainers", "name", CONTAINER),
        items("hostAliases", "ip", &[]),
        items("imagePullSecrets", "name", &[]),
        items("initContainers", "name", CONTAINER),
        items("resourceClaims", "name", &[]),
        items("schedulingGates", "name", &[]),
        items("topologySpreadConstraints", "topologyKey", &[]),
        items("volumes", "name", VOLUME),
    ],
);

const CONTAINER: Fields = &[
    items("env", "name", &[]),
    items("ports", "containerPort", &[]),
    items("volumeDevices", "devicePath", &[]),
    items("volumeMounts", "mountPath", &[]),
];

const VOLUME: Fields = &[object("ephemeral", &[object("volumeClaimTemplate", &[METADATA])])];
