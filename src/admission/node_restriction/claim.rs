//! The status of a claim, of which a node reports how large its volume is, and nothing else.

use super::{
    Edit, Known, No, NodeRestriction, Operation, Write,
    shape::{Shape, differences},
};
use crate::{
    admission::{Change, Content},
    api::quote,
    rules::Rule,
};

/// What a node may write.
const REPORTED: &[&[&str]] = &[
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
    &["status", "allocatedResourceStatuses"],
    &["status", "allocatedResources"],
    &["status", "capacity"],
    &["status", "conditions"],
];

const CLAIM: Shape = Shape::Struct(&[
    ("apiVersion", Shape::Any),
    ("kind", Shape::Any),
    ("metadata", METADATA),
    ("spec", SPEC),
    ("status", STATUS),
]);

const METADATA: Shape = Shape::Struct(&[
    ("annotations", Shape::TEXTS),
    ("creationTimestamp", Shape::Time),
    ("deletionGracePeriodSeconds", Shape::Pointer(&Shape::Plain)),
    ("deletionTimestamp", Shape::Pointer(&Shape::Time)),
    ("finalizers", Shape::List(&Shape::Plain)),
    ("generateName", Shape::Plain),
    ("generation", Shape::Plain),
    ("labels", Shape::TEXTS),
    ("managedFields", Shape::Any),
    ("name", Shape::Plain),
    // Compared with the URL already, where it comes from if it is left out.
    ("namespace", Shape::Any),
    ("ownerReferences", Shape::OWNER_REFERENCES),
    // An update that names none is made to any.
    ("resourceVersion", Shape::Any),
    ("selfLink", Shape::Plain),
    ("uid", Shape::Plain),
]);

const SPEC: Shape = Shape::Struct(&[
    ("accessModes", Shape::List(&Shape::Plain)),
    (
        "dataSource",
        Shape::Pointer(&Shape::Struct(&[
            ("apiGroup", Shape::Pointer(&Shape::Plain)),
            ("kind", Shape::Plain),
            ("name", Shape::Plain),
        ])),
    ),
    (
        "dataSourceRef",
        Shape::Pointer(&Shape::Struct(&[
            ("apiGroup", Shape::Pointer(&Shape::Plain)),
            ("kind", Shape::Plain),
            ("name", Shape::Plain),
            ("namespace", Shape::Pointer(&Shape::Plain)),
        ])),
    ),
    (
        "resources",
        Shape::Struct(&[
            ("limits", Shape::Map(&Shape::Quantity)),
            ("requests", Shape::Map(&Shape::Quantity)),
        ]),
    ),
    (
        "selector",
        Shape::Pointer(&Shape::Struct(&[
            (
                "matchExpressions",
                Shape::List(&Shape::Struct(&[
                    ("key", Shape::Plain),
                    ("operator", Shape::Plain),
                    ("values", Shape::List(&Shape::Plain)),
                ])),
            ),
            ("matchLabels", Shape::TEXTS),
        ])),
    ),
    ("storageClassName", Shape::Pointer(&Shape::Plain)),
    ("volumeAttributesClassName", Shape::Pointer(&Shape::Plain)),
    ("volumeMode", Shape::Default("Filesystem")),
    ("volumeName", Shape::Plain),
]);

const STATUS: Shape = Shape::Struct(&[
    ("accessModes", Shape::List(&Shape::Plain)),
    ("allocatedResourceStatuses", Shape::Any),
    ("allocatedResources", Shape::Any),
    ("capacity", Shape::Any),
    ("conditions", Shape::Any),
    ("currentVolumeAttributesClassName", Shape::Pointer(&Shape::Plain)),
    (
        "modifyVolumeStatus",
        Shape::Pointer(&Shape::Struct(&[
            ("status", Shape::Plain),
            ("targetVolumeAttributesClassName", Shape::Plain),
        ])),
    ),
    ("phase", Shape::Default("Pending")),
]);

impl NodeRestriction {
    pub(super) fn claim<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        if !write.minds(Rule::RestrictionPersistentVolumeClaims) {
            return Ok(Edit::default());
        }
        if write.request.subresource != "status" {
            write.refuse(Rule::RestrictionPersistentVolumeClaims, "may only update PVC status")?;
            return Ok(Edit::default());
        }
        if write.operation != Operation::Update {
            let operation = quote(write.operation.as_str());
            let why = format_args!("unexpected operation {operation}");
            write.refuse(Rule::RestrictionPersistentVolumeClaims, why)?;
            return Ok(Edit::default());
        }
        self.takes(write)?;
        if matches!(&write.content, Content::Patch(patch) if patch.touches_only(REPORTED)) {
            return Ok(Edit::default());
        }
        let change = write.change(known)?;
        let Change { old, new } = &change;
        let differences = differences(&CLAIM, Some(old), Some(new));
        if !differences.is_empty() {
            let node = quote(write.node);
            let why = format_args!(
                "node {node} is not allowed to update fields other than status.quantity and status.conditions: {differences}"
            );
            write.refuse(Rule::RestrictionPersistentVolumeClaims, why)?;
        }
        write.at_version(&change)
    }
}
