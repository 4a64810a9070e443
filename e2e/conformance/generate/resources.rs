//! What there is to ask for.

use crate::release;

pub(super) struct Resource {
    /// With its group.
    pub(super) name: &'static str,
    version: &'static str,
    pub(super) namespaced: bool,
    pub(super) names: &'static [&'static str],
}

pub(super) const SUBRESOURCES: &[&str] = &[
    "status", "eviction", "token", "log", "exec", "binding", "approval", "nosuch",
];
pub(super) const PODS: &[&str] = &[
    "p1", "p1", "p3", "m1", "d1", "d2", "d3", "d4", "p2", "d5", "p0", "nosuch",
];
const NODES: &[&str] = &["ROUND-n1", "ROUND-n2", "ROUND-n3", "nosuch"];

const fn of(name: &'static str, version: &'static str, names: &'static [&'static str]) -> Resource {
    Resource {
        name,
        version,
        namespaced: true,
        names,
    }
}

const fn cluster(name: &'static str, version: &'static str, names: &'static [&'static str]) -> Resource {
    Resource {
        name,
        version,
        namespaced: false,
        names,
    }
}

pub(super) static RESOURCES: &[Resource] = &[
    cluster("nodes", "v1", NODES),
    of("pods", "v1", PODS),
    of(
        "secrets",
        "v1",
        &["s1", "s2", "s9", "sx", "ROUND-stg", "ROUND-ctl", "nosuch"],
    ),
    of("configmaps", "v1", &["cm1", "cm2", "cmm", "nosuch"]),
    of(
        "persistentvolumeclaims",
        "v1",
        &["pvc1", "pvc2", "pvcm", "p1-eph", "nosuch"],
    ),
    cluster("persistentvolumes", "v1", &["ROUND-pv1", "nosuch"]),
    of("serviceaccounts", "v1", &["sa1", "sa2", "sa3", "default", "nosuch"]),
    of("services", "v1", &["shared", "nosuch"]),
    of("endpoints", "v1", &["shared", "nosuch"]),
    of("events", "v1", &["e1", "nosuch"]),
    cluster("namespaces", "v1", &["ROUND", "default"]),
    of("leases.coordination.k8s.io", "v1", NODES),
    cluster("csinodes.storage.k8s.io", "v1", NODES),
    cluster("csidrivers.storage.k8s.io", "v1", &["ROUND-driver", "nosuch"]),
    cluster(
        "volumeattachments.storage.k8s.io",
        "v1",
        &["ROUND-va1", "ROUND-va2", "nosuch"],
    ),
    cluster(
        "resourceslices.resource.k8s.io",
        "",
        &["ROUND-sl1", "ROUND-sl2", "ROUND-sx1", "nosuch"],
    ),
    of(
        "resourceclaims.resource.k8s.io",
        "",
        &["rc1", "rc2", "rt-abc", "ru-abc", "nosuch"],
    ),
    of("resourceclaimtemplates.resource.k8s.io", "", &["template"]),
    cluster(
        "certificatesigningrequests.certificates.k8s.io",
        "v1",
        &["ROUND-csr", "nosuch"],
    ),
    cluster("clustertrustbundles.certificates.k8s.io", "v1beta1", &["nosuch"]),
    of("podcertificaterequests.certificates.k8s.io", "v1beta1", &["nosuch"]),
    cluster("runtimeclasses.node.k8s.io", "v1", &["shared", "nosuch"]),
    cluster("tokenreviews.authentication.k8s.io", "v1", &["nosuch"]),
    cluster("selfsubjectreviews.authentication.k8s.io", "v1", &["nosuch"]),
    cluster("subjectaccessreviews.authorization.k8s.io", "v1", &["nosuch"]),
    of("localsubjectaccessreviews.authorization.k8s.io", "v1", &["nosuch"]),
    cluster("selfsubjectaccessreviews.authorization.k8s.io", "v1", &["nosuch"]),
    of("events.events.k8s.io", "v1", &["e1", "nosuch"]),
    of("deployments.apps", "v1", &["nosuch"]),
    of("endpointslices.discovery.k8s.io", "v1", &["nosuch"]),
    of("roles.rbac.authorization.k8s.io", "v1", &["nosuch"]),
    cluster(
        "clusterroles.rbac.authorization.k8s.io",
        "v1",
        &["system:node", "nosuch"],
    ),
];

pub(super) fn named(name: &str) -> &'static Resource {
    RESOURCES.iter().find(|resource| resource.name == name).unwrap()
}

impl Resource {
    fn version(&self) -> &'static str {
        match self.version {
            "" => release::resource_api(),
            version => version,
        }
    }

    pub(super) fn api_version(&self) -> String {
        match self.name.split_once('.') {
            None => self.version().to_owned(),
            Some((_, group)) => format!("{group}/{}", self.version()),
        }
    }

    /// Of the collection.
    pub(super) fn path(&self, namespace: &str) -> String {
        let (resource, api) = match self.name.split_once('.') {
            None => (self.name, format!("/api/{}", self.version())),
            Some((resource, group)) => (resource, format!("/apis/{group}/{}", self.version())),
        };
        match namespace {
            "" => format!("{api}/{resource}"),
            namespace => format!("{api}/namespaces/{namespace}/{resource}"),
        }
    }
}
