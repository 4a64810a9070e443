//! PersistentVolumeClaim, whole: a node may change little of its status and nothing else.

use super::{Kind, METADATA, Message, closed, field, message, messages, meta::LABEL_SELECTOR, text};

pub static PERSISTENT_VOLUME_CLAIM: Message =
    closed(&[METADATA, message(2, "spec", &SPEC), message(3, "status", &STATUS)]);

static SPEC: Message = closed(&[
    field(1, "accessModes", Kind::Texts),
    message(2, "resources", &RESOURCES),
    text(3, "volumeName"),
    message(4, "selector", &LABEL_SELECTOR),
    text(5, "storageClassName"),
    text(6, "volumeMode"),
    message(7, "dataSource", &TYPED_LOCAL_OBJECT_REFERENCE),
    message(8, "dataSourceRef", &TYPED_OBJECT_REFERENCE),
    text(9, "volumeAttributesClassName"),
]);

static STATUS: Message = closed(&[
    text(1, "phase"),
    field(2, "accessModes", Kind::Texts),
    field(3, "capacity", Kind::QuantityMap),
    messages(4, "conditions", &CONDITION),
    field(5, "allocatedResources", Kind::QuantityMap),
    field(7, "allocatedResourceStatuses", Kind::TextMap),
    text(8, "currentVolumeAttributesClassName"),
    message(9, "modifyVolumeStatus", &MODIFY_VOLUME_STATUS),
]);

static RESOURCES: Message = closed(&[
    field(1, "limits", Kind::QuantityMap),
    field(2, "requests", Kind::QuantityMap),
]);

static TYPED_LOCAL_OBJECT_REFERENCE: Message = closed(&[text(1, "apiGroup"), text(2, "kind"), text(3, "name")]);

static TYPED_OBJECT_REFERENCE: Message = closed(&[
    text(1, "apiGroup"),
    text(2, "kind"),
    text(3, "name"),
    text(4, "namespace"),
]);

static CONDITION: Message = closed(&[
    text(1, "type"),
    text(2, "status"),
    field(3, "lastProbeTime", Kind::Time),
    field(4, "lastTransitionTime", Kind::Time),
    text(5, "reason"),
    text(6, "message"),
]);

static MODIFY_VOLUME_STATUS: Message = closed(&[text(1, "targetVolumeAttributesClassName"), text(2, "status")]);
