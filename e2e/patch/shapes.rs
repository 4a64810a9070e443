//! Fields that objects have, as far as patches for them are interesting.

/// What a field holds.
pub(super) enum Shape {
    Flag,
    Integer,
    /// Objects that are told apart by a key.
    Items(&'static str, Fields),
    Labels,
    Object(Fields),
    Text,
    Texts,
}

type Fields = &'static [(&'static str, Shape)];

const METADATA: Fields = &[
    ("name", Shape::Text),
    ("uid", Shape::Text),
    ("resourceVersion", Shape::Text),
    ("labels", Shape::Labels),
    ("annotations", Shape::Labels),
    ("finalizers", Shape::Texts),
    ("ownerReferences", Shape::Items("uid", OWNER)),
];

const OWNER: Fields = &[("uid", Shape::Text), ("name", Shape::Text), ("controller", Shape::Flag)];

const CONDITION: Fields = &[("type", Shape::Text), ("status", Shape::Text), ("reason", Shape::Text)];

const NODE: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    (
        "spec",
        Shape::Object(&[
            ("podCIDRs", Shape::Texts),
            ("providerID", Shape::Text),
            (
                "taints",
                Shape::Items("key", &[("key", Shape::Text), ("effect", Shape::Text)]),
            ),
            ("unschedulable", Shape::Flag),
        ]),
    ),
    (
        "status",
        Shape::Object(&[
            (
                "addresses",
                Shape::Items("type", &[("type", Shape::Text), ("address", Shape::Text)]),
            ),
            ("capacity", Shape::Labels),
            ("conditions", Shape::Items("type", CONDITION)),
            ("volumesInUse", Shape::Texts),
        ]),
    ),
];

const CLAIM: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    (
        "spec",
        Shape::Object(&[("accessModes", Shape::Texts), ("volumeName", Shape::Text)]),
    ),
    (
        "status",
        Shape::Object(&[
            ("capacity", Shape::Labels),
            ("conditions", Shape::Items("type", CONDITION)),
            ("phase", Shape::Text),
        ]),
    ),
];

const CONTAINER: Fields = &[
    ("name", Shape::Text),
    ("image", Shape::Text),
    ("command", Shape::Texts),
    (
        "env",
        Shape::Items("name", &[("name", Shape::Text), ("value", Shape::Text)]),
    ),
    (
        "ports",
        Shape::Items(
            "containerPort",
            &[("containerPort", Shape::Integer), ("protocol", Shape::Text)],
        ),
    ),
    ("securityContext", Shape::Object(&[("privileged", Shape::Flag)])),
];

const VOLUME: Fields = &[
    ("name", Shape::Text),
    ("emptyDir", Shape::Object(&[("medium", Shape::Text)])),
    (
        "secret",
        Shape::Object(&[("secretName", Shape::Text), ("optional", Shape::Flag)]),
    ),
    (
        "ephemeral",
        Shape::Object(&[(
            "volumeClaimTemplate",
            Shape::Object(&[("metadata", Shape::Object(METADATA))]),
        )]),
    ),
];

const POD: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    (
        "spec",
        Shape::Object(&[
            ("containers", Shape::Items("name", CONTAINER)),
            ("nodeName", Shape::Text),
            ("priority", Shape::Integer),
            ("volumes", Shape::Items("name", VOLUME)),
        ]),
    ),
    (
        "status",
        Shape::Object(&[
            ("conditions", Shape::Items("type", CONDITION)),
            (
                "containerStatuses",
                Shape::Items("name", &[("name", Shape::Text), ("ready", Shape::Flag)]),
            ),
            ("podIPs", Shape::Items("ip", &[("ip", Shape::Text)])),
        ]),
    ),
];

pub(super) fn fields(kind: &str) -> Fields {
    match kind {
        "Node" => NODE,
        "PersistentVolumeClaim" => CLAIM,
        "Pod" => POD,
        _ => panic!("there is no {kind}"),
    }
}
