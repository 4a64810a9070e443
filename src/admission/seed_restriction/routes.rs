//! What these rules are about: which resources, and which requests for them.

use http::header::CONTENT_TYPE;

use crate::{
    admission::{
        kinds::{Endpoint, endpoint},
        write::is_plain_patch,
    },
    api::{Verb, garden},
    authorizer::Profile,
    protobuf::{self, Message},
    request::{Head, ResourceRequest},
    rules::Rule,
};

/// A resource that is looked at, without its subresources: none of these can create it. Of a Seed, the status too: it tells whether
/// the seed is healthy, and until when its gardenlet may begin.
#[derive(Debug)]
pub(super) struct Route {
    group: &'static str,
    resource: &'static str,
    kind: &'static str,
    pub(super) is_namespaced: bool,
    /// How it is read as protobuf. Gardener's own kinds are sent as JSON.
    message: Option<&'static Message>,
    /// Rules that can be against it.
    pub(super) rules: &'static [Rule],
    /// Whether Gardener's document knows it.
    is_in_document: bool,
}

/// What a request does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Concern {
    /// It creates something.
    Creation,
    /// It may create something, if that is not there.
    Upsert,
    Deletion,
    /// It changes a Seed, or may create one under the name in its URL.
    Seed,
    /// It changes what a gardenlet begins with: who it is for was looked at when it was created, and stays so.
    Beginning,
}

const ROUTES: &[Route] = &[
    Route {
        message: Some(&protobuf::CONFIG_MAP),
        ..namespaced("", "configmaps", "ConfigMap", &[Rule::SeedRestrictionConfigMaps])
    },
    Route {
        message: Some(&protobuf::SECRET),
        ..namespaced(
            "",
            "secrets",
            "Secret",
            &[Rule::SeedRestrictionSecrets, Rule::SeedRestrictionBootstrap],
        )
    },
    Route {
        message: Some(&protobuf::SERVICE_ACCOUNT),
        ..namespaced(
            "",
            "serviceaccounts",
            "ServiceAccount",
            &[Rule::SeedRestrictionBootstrap],
        )
    },
    Route {
        message: Some(&protobuf::CERTIFICATE_SIGNING_REQUEST),
        is_namespaced: false,
        ..namespaced(
            "certificates.k8s.io",
            "certificatesigningrequests",
            "CertificateSigningRequest",
            &[Rule::SeedRestrictionCertificates],
        )
    },
    Route {
        message: Some(&protobuf::LEASE),
        is_in_document: true,
        ..namespaced("coordination.k8s.io", "leases", "Lease", &[Rule::SeedRestrictionLeases])
    },
    Route {
        message: Some(&protobuf::CLUSTER_ROLE_BINDING),
        is_namespaced: false,
        ..namespaced(
            "rbac.authorization.k8s.io",
            "clusterrolebindings",
            "ClusterRoleBinding",
            &[Rule::SeedRestrictionBootstrap],
        )
    },
    Route {
        is_namespaced: false,
        is_in_document: true,
        ..namespaced(
            garden::CORE,
            "backupbuckets",
            "BackupBucket",
            &[Rule::SeedRestrictionBackups],
        )
    },
    Route {
        is_in_document: true,
        ..namespaced(
            garden::CORE,
            "backupentries",
            "BackupEntry",
            &[Rule::SeedRestrictionBackups],
        )
    },
    namespaced(
        garden::CORE,
        "internalsecrets",
        "InternalSecret",
        &[Rule::SeedRestrictionSecrets],
    ),
    Route {
        is_namespaced: false,
        is_in_document: true,
        ..namespaced(garden::CORE, "seeds", "Seed", &[Rule::SeedRestrictionSeeds])
    },
    Route {
        is_in_document: true,
        ..namespaced(
            garden::CORE,
            "shootstates",
            "ShootState",
            &[Rule::SeedRestrictionShootStates],
        )
    },
    namespaced(
        garden::OPERATIONS,
        "bastions",
        "Bastion",
        &[Rule::SeedRestrictionBastions],
    ),
    namespaced(
        garden::SEED_MANAGEMENT,
        "gardenlets",
        "Gardenlet",
        &[Rule::SeedRestrictionGardenlets],
    ),
];

const fn namespaced(group: &'static str, resource: &'static str, kind: &'static str, rules: &'static [Rule]) -> Route {
    Route {
        group,
        resource,
        kind,
        is_namespaced: true,
        message: None,
        rules,
        is_in_document: false,
    }
}

impl Route {
    pub(super) fn of(request: &ResourceRequest, profile: Profile) -> Option<&'static Self> {
        let is_it = |route: &&Self| {
            let is_known = route.is_in_document || profile == Profile::Current;
            request.resource.is(route.group, route.resource) && is_known
        };
        let route = ROUTES.iter().find(is_it)?;
        match request.subresource.as_str() {
            "" => Some(route),
            "status" if route.is_of_seeds() => Some(route),
            _ => None,
        }
    }

    fn is_of_seeds(&self) -> bool {
        self.resource == "seeds"
    }

    pub(super) fn concern(&self, head: &Head, request: &ResourceRequest, profile: Profile) -> Option<Concern> {
        let is_seed = self.is_of_seeds();
        match head.info().verb {
            Verb::Create => Some(Concern::Creation),
            Verb::Update | Verb::Patch if is_seed => Some(Concern::Seed),
            Verb::Update if head.may_create() => Some(Concern::Upsert),
            Verb::Update => is_beginning(request).then_some(Concern::Beginning),
            Verb::Patch if is_plain_patch(head.headers().get(CONTENT_TYPE)) => {
                is_beginning(request).then_some(Concern::Beginning)
            }
            // In whatever form an object is applied: all other patches are known, and are made to what is there.
            Verb::Patch => Some(Concern::Upsert),
            Verb::Delete | Verb::DeleteCollection => {
                let is_bucket = self.resource == "backupbuckets" && profile == Profile::Current;
                (is_seed || is_bucket).then_some(Concern::Deletion)
            }
            _ => None,
        }
    }

    pub(super) fn endpoint(&self) -> Endpoint<'static> {
        Endpoint {
            message: self.message,
            ..endpoint(self.group, self.resource, "", self.kind, &protobuf::LEASE, None)
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }
}

/// Whether a gardenlet begins with it: a bootstrap token, or the binding of an account to the role of beginners.
pub(super) fn is_beginning(request: &ResourceRequest) -> bool {
    match request.resource.resource.as_str() {
        "clusterrolebindings" => true,
        "secrets" => request.namespace == garden::KUBE_SYSTEM && garden::is_bootstrap_token_secret(&request.name),
        _ => false,
    }
}
