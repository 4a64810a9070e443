//! Objects of Kubernetes that seeds of a garden create, as far as it shows whose they are.

use super::{Kind, METADATA, Message, field, message, messages, open, text};

pub static CONFIG_MAP: Message = open(&[METADATA]);

pub static SECRET: Message = open(&[
    METADATA,
    field(2, "data", Kind::BytesMap),
    text(3, "type"),
    field(4, "stringData", Kind::TextMap),
]);

pub static SERVICE_ACCOUNT: Message = open(&[METADATA]);

/// Of rbac.authorization.k8s.io/v1.
pub static CLUSTER_ROLE_BINDING: Message = open(&[
    METADATA,
    messages(2, "subjects", &SUBJECT),
    message(3, "roleRef", &ROLE_REFERENCE),
]);

static SUBJECT: Message = open(&[
    text(1, "kind"),
    text(2, "apiGroup"),
    text(3, "name"),
    text(4, "namespace"),
]);

static ROLE_REFERENCE: Message = open(&[text(1, "apiGroup"), text(2, "kind"), text(3, "name")]);
