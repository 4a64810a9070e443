//! The kinds that carry the template of a pod, as far as the metadata that its pods get; and Binding, whose metadata a pod takes
//! over when it gets its node.

use super::{METADATA, Message, event::OBJECT_REFERENCE, message, open};

pub static BINDING: Message = open(&[METADATA, message(2, "target", &OBJECT_REFERENCE)]);

pub static POD_TEMPLATE: Message = open(&[METADATA, message(2, "template", &POD_TEMPLATE_SPEC)]);

pub static REPLICATION_CONTROLLER: Message = open(&[METADATA, message(2, "spec", &REPLICAS_SPEC)]);

pub static REPLICA_SET: Message = open(&[METADATA, message(2, "spec", &REPLICAS_SPEC)]);

pub static DEPLOYMENT: Message = open(&[METADATA, message(2, "spec", &REPLICAS_SPEC)]);

pub static STATEFUL_SET: Message = open(&[METADATA, message(2, "spec", &REPLICAS_SPEC)]);

pub static DAEMON_SET: Message = open(&[METADATA, message(2, "spec", &DAEMON_SET_SPEC)]);

pub static JOB: Message = open(&[METADATA, message(2, "spec", &JOB_SPEC)]);

pub static CRON_JOB: Message = open(&[METADATA, message(2, "spec", &CRON_JOB_SPEC)]);

/// Where there are replicas, their number and a selector stand before the template.
static REPLICAS_SPEC: Message = open(&[message(3, "template", &POD_TEMPLATE_SPEC)]);

static DAEMON_SET_SPEC: Message = open(&[message(2, "template", &POD_TEMPLATE_SPEC)]);

static JOB_SPEC: Message = open(&[message(6, "template", &POD_TEMPLATE_SPEC)]);

static CRON_JOB_SPEC: Message = open(&[message(5, "jobTemplate", &JOB_TEMPLATE_SPEC)]);

static JOB_TEMPLATE_SPEC: Message = open(&[METADATA, message(2, "spec", &JOB_SPEC)]);

static POD_TEMPLATE_SPEC: Message = open(&[METADATA]);
