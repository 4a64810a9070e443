//! The plugin, asked as the pipeline asks it: what it wants to know is answered from a small world, and it is asked again.

mod change;
mod create;
mod enter;
mod world;

use self::world::{World, annotated, told};

/// Everything that carries pods, with the place of the template in it and an object of it without one.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("/api/v1/namespaces/ns/pods", "v1", "Pod", ""),
    ("/api/v1/namespaces/ns/podtemplates", "v1", "PodTemplate", "template"),
    (
        "/api/v1/namespaces/ns/replicationcontrollers",
        "v1",
        "ReplicationController",
        "spec.template",
    ),
    (
        "/apis/apps/v1/namespaces/ns/daemonsets",
        "apps/v1",
        "DaemonSet",
        "spec.template",
    ),
    (
        "/apis/apps/v1/namespaces/ns/deployments",
        "apps/v1",
        "Deployment",
        "spec.template",
    ),
    (
        "/apis/apps/v1/namespaces/ns/replicasets",
        "apps/v1",
        "ReplicaSet",
        "spec.template",
    ),
    (
        "/apis/apps/v1/namespaces/ns/statefulsets",
        "apps/v1",
        "StatefulSet",
        "spec.template",
    ),
    ("/apis/batch/v1/namespaces/ns/jobs", "batch/v1", "Job", "spec.template"),
    (
        "/apis/batch/v1/namespaces/ns/cronjobs",
        "batch/v1",
        "CronJob",
        "spec.jobTemplate.spec.template",
    ),
    (
        "/apis/example.com/v1/namespaces/ns/workers",
        "example.com/v1",
        "Worker",
        "spec.pod",
    ),
];
