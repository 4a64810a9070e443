//! Events, of both groups: what they are about, and who reports.

use super::{METADATA, Message, message, open, text};

/// k8s.io/api/core/v1
pub static CORE_EVENT: Message = open(&[
    METADATA,
    message(2, "involvedObject", &OBJECT_REFERENCE),
    message(5, "source", &EVENT_SOURCE),
    message(13, "related", &OBJECT_REFERENCE),
    text(15, "reportingInstance"),
]);

/// k8s.io/api/events/v1
pub static EVENT: Message = open(&[
    METADATA,
    text(5, "reportingInstance"),
    message(8, "regarding", &OBJECT_REFERENCE),
    message(9, "related", &OBJECT_REFERENCE),
    message(12, "deprecatedSource", &EVENT_SOURCE),
]);

pub(super) static OBJECT_REFERENCE: Message = open(&[
    text(1, "kind"),
    text(2, "namespace"),
    text(3, "name"),
    text(5, "apiVersion"),
]);

static EVENT_SOURCE: Message = open(&[text(2, "host")]);
