//! What is sent to each endpoint whose writes are looked at.

use crate::{
    api::GroupResource,
    patch::{self, Schema},
    protobuf::{self, Message},
    request::ResourceRequest,
};

/// What an endpoint takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint<'a> {
    pub(super) group: &'a str,
    pub(super) resource: &'a str,
    pub(super) subresource: &'static str,
    pub(super) kind: &'a str,
    /// Where it is not the version in the URL.
    pub(super) versions: &'static [&'static str],
    /// How it is read where it is sent as protobuf; nothing if it cannot be.
    pub(super) message: Option<&'static Message>,
    /// How it is patched, if what comes of a patch has to be known.
    pub(super) schema: Option<&'static Schema>,
    /// What of the stored object no rule looks at when all of it is replaced.
    pub(super) passed_over: Option<&'static str>,
    /// Whether its objects have other parts than most, of which no rule looks at any but by their names.
    pub(super) has_others: bool,
}

const ENDPOINTS: &[Endpoint<'static>] = &[
    Endpoint {
        has_others: true,
        ..endpoint("", "events", "", "Event", &protobuf::CORE_EVENT, Some(&patch::OTHER))
    },
    Endpoint {
        has_others: true,
        ..endpoint(
            "events.k8s.io",
            "events",
            "",
            "Event",
            &protobuf::EVENT,
            Some(&patch::OTHER),
        )
    },
    Endpoint {
        passed_over: Some("status"),
        ..endpoint("", "nodes", "", "Node", &protobuf::NODE, Some(&patch::NODE))
    },
    endpoint("", "nodes", "status", "Node", &protobuf::NODE, Some(&patch::NODE)),
    endpoint(
        "",
        "persistentvolumeclaims",
        "status",
        "PersistentVolumeClaim",
        &protobuf::PERSISTENT_VOLUME_CLAIM,
        Some(&patch::PERSISTENT_VOLUME_CLAIM),
    ),
    endpoint("", "pods", "", "Pod", &protobuf::POD, None),
    endpoint("", "pods", "status", "Pod", &protobuf::POD, Some(&patch::POD)),
    Endpoint {
        versions: &["policy/v1", "policy/v1beta1"],
        ..endpoint("", "pods", "eviction", "Eviction", &protobuf::EVICTION, None)
    },
    Endpoint {
        versions: &["authentication.k8s.io/v1"],
        ..endpoint(
            "",
            "serviceaccounts",
            "token",
            "TokenRequest",
            &protobuf::TOKEN_REQUEST,
            None,
        )
    },
    endpoint(
        "certificates.k8s.io",
        "certificatesigningrequests",
        "",
        "CertificateSigningRequest",
        &protobuf::CERTIFICATE_SIGNING_REQUEST,
        None,
    ),
    endpoint(
        "certificates.k8s.io",
        "podcertificaterequests",
        "",
        "PodCertificateRequest",
        &protobuf::POD_CERTIFICATE_REQUEST,
        None,
    ),
    endpoint("coordination.k8s.io", "leases", "", "Lease", &protobuf::LEASE, None),
    endpoint(
        "resource.k8s.io",
        "resourceslices",
        "",
        "ResourceSlice",
        &protobuf::RESOURCE_SLICE,
        None,
    ),
    endpoint("storage.k8s.io", "csinodes", "", "CSINode", &protobuf::CSI_NODE, None),
];

pub(super) const fn endpoint(
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
    kind: &'static str,
    message: &'static Message,
    schema: Option<&'static Schema>,
) -> Endpoint<'static> {
    Endpoint {
        group,
        resource,
        subresource,
        kind,
        versions: &[],
        message: Some(message),
        schema,
        passed_over: None,
        has_others: false,
    }
}

impl Endpoint<'_> {
    /// Nothing where no rule wants to know what is sent.
    pub(super) fn of(request: &ResourceRequest) -> Option<Endpoint<'static>> {
        let found = ENDPOINTS.iter().find(|endpoint| {
            request.resource.is(endpoint.group, endpoint.resource) && request.subresource == endpoint.subresource
        });
        found.copied()
    }

    pub(super) fn takes(&self, api_version: &str, request: &ResourceRequest) -> bool {
        match self.versions {
            [] => api_version == version(&request.resource, &request.version),
            versions => versions.contains(&api_version),
        }
    }

    /// What is meant where the body does not say.
    pub(super) fn version(&self, request: &ResourceRequest) -> String {
        let first = self.versions.first();
        first.map_or_else(
            || version(&request.resource, &request.version),
            |version| (*version).to_owned(),
        )
    }
}

/// `apiVersion` of a resource at a version.
pub(super) fn version(resource: &GroupResource, version: &str) -> String {
    match resource.group.as_str() {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}
