//! Node, and the other objects by which a node speaks about itself.

use super::{Kind, METADATA, Message, closed, field, message, messages, open, text};

pub static NODE: Message = open(&[
    METADATA,
    message(2, "spec", &NODE_SPEC),
    message(3, "status", &NODE_STATUS),
]);

pub static LEASE: Message = open(&[METADATA]);

pub static CSI_NODE: Message = open(&[METADATA]);

/// Of resource.k8s.io/v1, v1beta2 and v1beta1, which are alike here.
pub static RESOURCE_SLICE: Message = open(&[METADATA, message(2, "spec", &RESOURCE_SLICE_SPEC)]);

pub static CERTIFICATE_SIGNING_REQUEST: Message =
    open(&[METADATA, message(2, "spec", &CERTIFICATE_SIGNING_REQUEST_SPEC)]);

/// Of certificates.k8s.io/v1beta1.
pub static POD_CERTIFICATE_REQUEST: Message = open(&[METADATA, message(2, "spec", &POD_CERTIFICATE_REQUEST_SPEC)]);

static NODE_SPEC: Message = open(&[
    text(1, "podCIDR"),
    text(2, "externalID"),
    text(3, "providerID"),
    field(4, "unschedulable", Kind::Bool),
    messages(5, "taints", &TAINT),
    message(6, "configSource", &CONFIG_SOURCE),
    field(7, "podCIDRs", Kind::Texts),
]);

static NODE_STATUS: Message = open(&[messages(5, "addresses", &NODE_ADDRESS)]);

static NODE_ADDRESS: Message = open(&[text(1, "type"), text(2, "address")]);

static TAINT: Message = closed(&[
    text(1, "key"),
    text(2, "value"),
    text(3, "effect"),
    field(4, "timeAdded", Kind::Time),
]);

static CONFIG_SOURCE: Message = closed(&[message(2, "configMap", &CONFIG_MAP_SOURCE)]);

static CONFIG_MAP_SOURCE: Message = closed(&[
    text(1, "namespace"),
    text(2, "name"),
    text(3, "uid"),
    text(4, "resourceVersion"),
    text(5, "kubeletConfigKey"),
]);

static RESOURCE_SLICE_SPEC: Message = open(&[text(3, "nodeName")]);

static CERTIFICATE_SIGNING_REQUEST_SPEC: Message = open(&[
    field(1, "request", Kind::Bytes),
    field(5, "usages", Kind::Texts),
    text(7, "signerName"),
]);

static POD_CERTIFICATE_REQUEST_SPEC: Message = open(&[
    text(1, "signerName"),
    text(2, "podName"),
    text(3, "podUID"),
    text(4, "serviceAccountName"),
    text(5, "serviceAccountUID"),
    text(6, "nodeName"),
    text(7, "nodeUID"),
]);
