//! Where pods, and templates of pods, stand in the kinds that have them. One table.

use super::{set::Uses, template::Template};
use crate::{
    admission::kinds::{Endpoint, endpoint},
    json::Json,
    patch::{self, Patch, Schema},
    protobuf::{self, Message},
    request::ResourceRequest,
};

/// What the deployment controller still looks at.
const ROLLBACK: &[&str] = &["metadata", "annotations", "deprecated.deployment.rollback.to"];

/// A kind that carries pods or templates of pods.
#[derive(Clone, Debug)]
pub struct Place {
    group: String,
    resource: String,
    pub(super) kind: String,
    message: Option<&'static Message>,
    schema: &'static Schema,
    has_others: bool,
    /// Where; more than one only for kinds that the configuration names.
    pub(super) templates: Vec<Template>,
}

impl Place {
    /// Those that Kubernetes has.
    pub(super) fn known() -> Vec<Self> {
        const IN_SPEC: &[&str] = &["spec", "template"];
        const IN_JOB: &[&str] = &["spec", "jobTemplate", "spec", "template"];
        let place =
            |group: &str, resource: &str, kind: &str, forms: (&'static Message, &'static Schema), path: &[&str]| {
                let (message, schema) = forms;
                Self {
                    group: group.to_owned(),
                    resource: resource.to_owned(),
                    kind: kind.to_owned(),
                    message: Some(message),
                    schema,
                    has_others: false,
                    templates: vec![Template::new(path)],
                }
            };
        let core = |resource, kind, forms, path| place("", resource, kind, forms, path);
        let apps = |resource, kind, forms| place("apps", resource, kind, forms, IN_SPEC);
        let batch = |resource, kind, forms, path| place("batch", resource, kind, forms, path);
        let controllers = (&protobuf::REPLICATION_CONTROLLER, &patch::REPLICATION_CONTROLLER);
        vec![
            core("pods", "Pod", (&protobuf::POD, &patch::POD), &[]),
            Self {
                // Its template stands beside its metadata.
                has_others: true,
                ..core(
                    "podtemplates",
                    "PodTemplate",
                    (&protobuf::POD_TEMPLATE, &patch::POD_TEMPLATE),
                    &["template"],
                )
            },
            core("replicationcontrollers", "ReplicationController", controllers, IN_SPEC),
            apps("daemonsets", "DaemonSet", (&protobuf::DAEMON_SET, &patch::DAEMON_SET)),
            apps("deployments", "Deployment", (&protobuf::DEPLOYMENT, &patch::DEPLOYMENT)),
            apps(
                "replicasets",
                "ReplicaSet",
                (&protobuf::REPLICA_SET, &patch::REPLICA_SET),
            ),
            apps(
                "statefulsets",
                "StatefulSet",
                (&protobuf::STATEFUL_SET, &patch::STATEFUL_SET),
            ),
            batch("jobs", "Job", (&protobuf::JOB, &patch::JOB), IN_SPEC),
            batch("cronjobs", "CronJob", (&protobuf::CRON_JOB, &patch::CRON_JOB), IN_JOB),
        ]
    }

    /// A kind that the configuration names. What is not part of Kubernetes itself has neither protobuf nor strategic merge.
    pub fn custom(group: String, resource: String, kind: String, paths: &[Vec<String>]) -> Self {
        let template = |path: &Vec<String>| Template::new(&path.iter().map(String::as_str).collect::<Vec<_>>());
        Self {
            group,
            resource,
            kind,
            message: None,
            schema: &patch::OTHER,
            has_others: true,
            templates: paths.iter().map(template).collect(),
        }
    }

    /// Its group and resource.
    pub(super) fn resource(&self) -> (&str, &str) {
        (&self.group, &self.resource)
    }

    /// What is sent there.
    pub(super) fn endpoint(&self) -> Endpoint<'_> {
        Endpoint {
            group: &self.group,
            resource: &self.resource,
            kind: &self.kind,
            message: self.message,
            has_others: self.has_others,
            ..endpoint("", "", "", "", &protobuf::POD, Some(self.schema))
        }
    }

    /// What an object of it carries that is stored. What was written around the gate may be anything.
    pub(super) fn uses(&self, stored: &Json<'_>) -> Uses {
        let mut uses = Uses::default();
        for template in &self.templates {
            match template.carried(stored) {
                Ok(carried) => uses.add(&carried.set),
                Err(_) => uses.add_anything(),
            }
        }
        uses
    }

    pub(super) fn is_of(&self, request: &ResourceRequest) -> bool {
        request.resource.is(&self.group, &self.resource)
    }

    /// Whether a patch changes only the parts that its objects have. What the API server takes the object for stands beside them,
    /// is found in whatever case it is written, and can make everything mean something else.
    pub(super) fn is_left_what_it_is(&self, patch: &Patch<'_>) -> bool {
        let parts = ["metadata", "spec", "status"].into_iter();
        let parts: Vec<&str> = parts.chain(self.templates.iter().filter_map(Template::part)).collect();
        let parts: Vec<&[&str]> = parts.iter().map(std::slice::from_ref).collect();
        patch.touches_only(&parts)
    }

    /// Whether a write makes a controller put another template in the place of this one, which nobody has looked at.
    pub(super) fn rolls_back(&self, old: &Json<'_>, new: &Json<'_>) -> bool {
        let wanted = |object: &Json<'_>| object.at(ROLLBACK).and_then(Json::as_str).map(str::to_owned);
        self.is_kind("apps", "Deployment") && wanted(new).is_some() && wanted(new) != wanted(old)
    }

    pub(super) fn may_roll_back(&self, patch: &Patch<'_>) -> bool {
        self.is_kind("apps", "Deployment") && patch.touches(ROLLBACK)
    }

    /// Whether an owner reference of this group and kind means it.
    pub(super) fn is_kind(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }

    /// Whether it is the pod itself, and not something that pods are made from.
    pub(super) fn is_pod(&self) -> bool {
        self.is_kind("", "Pod")
    }
}
