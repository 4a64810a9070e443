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
    /// An object on the way to what lies deep: seldom left out, since so would be all that is below it.
    Way(Fields),
}

type Fields = &'static [(&'static str, Shape)];

/// Lists that are replaced, for which nobody gives an order.
pub(super) const UNORDERED: &[&str] = &[
    "accessModes",
    "active",
    "command",
    "containerStatuses",
    "taints",
    "volumeClaimTemplates",
    "volumesInUse",
];

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

const POD_SPEC: Fields = &[
    ("containers", Shape::Items("name", CONTAINER)),
    ("nodeName", Shape::Text),
    ("priority", Shape::Integer),
    ("volumes", Shape::Items("name", VOLUME)),
];

const POD: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    ("spec", Shape::Object(POD_SPEC)),
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

const TEMPLATE: Shape = Shape::Way(&[("metadata", Shape::Object(METADATA)), ("spec", Shape::Way(POD_SPEC))]);

const POD_TEMPLATE: Fields = &[("metadata", Shape::Object(METADATA)), ("template", TEMPLATE)];

const STATUS: Shape = Shape::Object(&[("conditions", Shape::Items("type", CONDITION))]);

/// What replication controllers, replica sets and daemon sets have in common.
const CONTROLLER: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    (
        "spec",
        Shape::Way(&[("minReadySeconds", Shape::Integer), ("template", TEMPLATE)]),
    ),
    ("status", STATUS),
];

/// With a strategy, whose tag is `retainKeys` alone.
const DEPLOYMENT: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    (
        "spec",
        Shape::Way(&[
            (
                "strategy",
                Shape::Object(&[
                    ("rollingUpdate", Shape::Object(&[("maxSurge", Shape::Integer)])),
                    ("type", Shape::Text),
                ]),
            ),
            ("template", TEMPLATE),
        ]),
    ),
    ("status", STATUS),
];

const STATEFUL_SET: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    (
        "spec",
        Shape::Way(&[
            ("template", TEMPLATE),
            ("volumeClaimTemplates", Shape::Items("kind", CLAIM_TEMPLATE)),
        ]),
    ),
    ("status", STATUS),
];

const CLAIM_TEMPLATE: Fields = &[("kind", Shape::Text), ("metadata", Shape::Object(METADATA))];

const JOB_SPEC: Fields = &[("parallelism", Shape::Integer), ("template", TEMPLATE)];

const JOB: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    ("spec", Shape::Way(JOB_SPEC)),
    ("status", STATUS),
];

const CRON_JOB: Fields = &[
    ("metadata", Shape::Object(METADATA)),
    (
        "spec",
        Shape::Way(&[
            (
                "jobTemplate",
                Shape::Way(&[("metadata", Shape::Object(METADATA)), ("spec", Shape::Way(JOB_SPEC))]),
            ),
            ("schedule", Shape::Text),
        ]),
    ),
    (
        "status",
        Shape::Object(&[(
            "active",
            Shape::Items("uid", &[("uid", Shape::Text), ("name", Shape::Text)]),
        )]),
    ),
];

pub(super) fn fields(kind: &str) -> Fields {
    match kind {
        "CronJob" => CRON_JOB,
        "DaemonSet" | "ReplicaSet" | "ReplicationController" => CONTROLLER,
        "Deployment" => DEPLOYMENT,
        "Job" => JOB,
        "Node" => NODE,
        "PersistentVolumeClaim" => CLAIM,
        "Pod" => POD,
        "PodTemplate" => POD_TEMPLATE,
        "StatefulSet" => STATEFUL_SET,
        _ => panic!("there is no {kind}"),
    }
}
