//! The kinds that carry the template of a pod: k8s.io/api/core/v1, apps/v1 and batch/v1.

use super::{CONDITIONS, METADATA, Schema, object, pod::TEMPLATE};

pub static POD_TEMPLATE: Schema = Schema(&[METADATA, TEMPLATE]);

pub static REPLICATION_CONTROLLER: Schema = CONTROLLER;

pub static REPLICA_SET: Schema = CONTROLLER;

pub static DEPLOYMENT: Schema = CONTROLLER;

/// Its volumeClaimTemplates are replaced.
pub static STATEFUL_SET: Schema = CONTROLLER;

pub static DAEMON_SET: Schema = CONTROLLER;

pub static JOB: Schema = CONTROLLER;

/// The list in its status, of the jobs that run, is replaced.
pub static CRON_JOB: Schema = Schema(&[
    METADATA,
    object(
        "spec",
        &[object("jobTemplate", &[METADATA, object("spec", &[TEMPLATE])])],
    ),
]);

/// What makes pods of its template and tells how they are: all of these are alike.
const CONTROLLER: Schema = Schema(&[METADATA, object("spec", &[TEMPLATE]), object("status", &[CONDITIONS])]);
