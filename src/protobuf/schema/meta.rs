//! k8s.io/apimachinery/pkg/apis/meta/v1

use super::{Kind, Message, closed, field, message, messages, text};

pub(super) static OBJECT_META: Message = closed(&[
    text(1, "name"),
    text(2, "generateName"),
    text(3, "namespace"),
    text(4, "selfLink"),
    text(5, "uid"),
    text(6, "resourceVersion"),
    field(7, "generation", Kind::Int64),
    field(8, "creationTimestamp", Kind::Time),
    field(9, "deletionTimestamp", Kind::Time),
    field(10, "deletionGracePeriodSeconds", Kind::Int64),
    field(11, "labels", Kind::TextMap),
    field(12, "annotations", Kind::TextMap),
    messages(13, "ownerReferences", &OWNER_REFERENCE),
    field(14, "finalizers", Kind::Texts),
    // Upstream rewrites them, and compares none that a client sends.
    field(17, "managedFields", Kind::Ignored),
]);

pub static DELETE_OPTIONS: Message = closed(&[
    field(1, "gracePeriodSeconds", Kind::Int64),
    message(2, "preconditions", &PRECONDITIONS),
    field(3, "orphanDependents", Kind::Bool),
    text(4, "propagationPolicy"),
    field(5, "dryRun", Kind::Texts),
    field(6, "ignoreStoreReadErrorWithClusterBreakingPotential", Kind::Bool),
]);

pub(super) static LABEL_SELECTOR: Message = closed(&[
    field(1, "matchLabels", Kind::TextMap),
    messages(2, "matchExpressions", &LABEL_SELECTOR_REQUIREMENT),
]);

static OWNER_REFERENCE: Message = closed(&[
    text(1, "kind"),
    text(3, "name"),
    text(4, "uid"),
    text(5, "apiVersion"),
    field(6, "controller", Kind::Bool),
    field(7, "blockOwnerDeletion", Kind::Bool),
]);

static PRECONDITIONS: Message = closed(&[text(1, "uid"), text(2, "resourceVersion")]);

static LABEL_SELECTOR_REQUIREMENT: Message =
    closed(&[text(1, "key"), text(2, "operator"), field(3, "values", Kind::Texts)]);
