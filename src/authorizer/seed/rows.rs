//! The rules for seeds as tables: what is allowed always, and what only where the graph leads from the object to the seed.
//!
//! `create` is allowed always where SeedRestriction, in `admission`, looks at what is created.

use crate::{
    api::{
        Verb,
        garden::{CORE, OPERATIONS, SECURITY, SEED_MANAGEMENT},
    },
    decision::Selected,
    graph::Kind,
    rules::Rule,
};

/// What a seed may do with one resource.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) kind: Kind,
    pub(super) rule: Rule,
    pub(super) always: &'static [Verb],
    /// With a path from the object to the seed.
    pub(super) related: &'static [Verb],
    /// Of the same rules; the others are for nobody.
    pub(super) subresources: &'static [&'static str],
    /// What a list or watch has to select, where that is among [`Self::related`]. Without, it is for one object by its name.
    pub(super) selector: Option<Selected>,
}

use Verb::{Create, Delete, Get, List, Patch, Update, Watch};

const NOTHING: &[Verb] = &[];
const CREATE: &[Verb] = &[Create];
const GET: &[Verb] = &[Get];
const READ: &[Verb] = &[Get, List, Watch];
const READ_AND_CREATE: &[Verb] = &[Get, List, Watch, Create];
const CHANGE: &[Verb] = &[Update, Patch];
const CHANGE_AND_DELETE: &[Verb] = &[Update, Patch, Delete];
const READ_AND_CHANGE: &[Verb] = &[Get, List, Watch, Update, Patch];
const ALL: &[Verb] = &[Get, List, Watch, Update, Patch, Delete];

const STATUS: &[&str] = &["status"];

/// A row with neither subresources nor a selector.
const fn row(
    (group, resource, kind, rule): (&'static str, &'static str, Kind, Rule),
    always: &'static [Verb],
    related: &'static [Verb],
) -> Row {
    Row {
        group,
        resource,
        kind,
        rule,
        always,
        related,
        subresources: &[],
        selector: None,
    }
}

impl Row {
    const fn with(self, subresources: &'static [&'static str]) -> Self {
        Self { subresources, ..self }
    }

    const fn by(self, selector: Selected) -> Self {
        Self {
            selector: Some(selector),
            ..self
        }
    }
}

macro_rules! resources {
    ($($name:ident = $group:expr, $resource:literal, $kind:ident, $rule:ident;)*) => {
        $(const $name: (&str, &str, Kind, Rule) = ($group, $resource, Kind::$kind, Rule::$rule);)*
    };
}

resources! {
    BACKUP_BUCKETS = CORE, "backupbuckets", BackupBucket, SeedBackupBuckets;
    BACKUP_ENTRIES = CORE, "backupentries", BackupEntry, SeedBackupEntries;
    BASTIONS = OPERATIONS, "bastions", Bastion, SeedBastions;
    CERTIFICATE_SIGNING_REQUESTS = "certificates.k8s.io", "certificatesigningrequests", CertificateSigningRequest, SeedCertificates;
    CLOUD_PROFILES = CORE, "cloudprofiles", CloudProfile, SeedCloudProfiles;
    CLUSTER_ROLE_BINDINGS = "rbac.authorization.k8s.io", "clusterrolebindings", ClusterRoleBinding, SeedClusterRoleBindings;
    CONFIG_MAPS = "", "configmaps", ConfigMap, SeedConfigMaps;
    CONTROLLER_DEPLOYMENTS = CORE, "controllerdeployments", ControllerDeployment, SeedControllerDeployments;
    CONTROLLER_INSTALLATIONS = CORE, "controllerinstallations", ControllerInstallation, SeedControllerInstallations;
    CONTROLLER_REGISTRATIONS = CORE, "controllerregistrations", ControllerRegistration, SeedControllerRegistrations;
    CREDENTIALS_BINDINGS = SECURITY, "credentialsbindings", CredentialsBinding, SeedBindings;
    EXPOSURE_CLASSES = CORE, "exposureclasses", ExposureClass, SeedExposureClasses;
    GARDENLETS = SEED_MANAGEMENT, "gardenlets", Gardenlet, SeedGardenlets;
    INTERNAL_SECRETS = CORE, "internalsecrets", InternalSecret, SeedInternalSecrets;
    LEASES = "coordination.k8s.io", "leases", Lease, SeedLeases;
    MANAGED_SEEDS = SEED_MANAGEMENT, "managedseeds", ManagedSeed, SeedManagedSeeds;
    NAMESPACED_CLOUD_PROFILES = CORE, "namespacedcloudprofiles", NamespacedCloudProfile, SeedCloudProfiles;
    NAMESPACES = "", "namespaces", Namespace, SeedNamespaces;
    PROJECTS = CORE, "projects", Project, SeedProjects;
    SECRETS = "", "secrets", Secret, SeedSecrets;
    SECRET_BINDINGS = CORE, "secretbindings", SecretBinding, SeedBindings;
    SEEDS = CORE, "seeds", Seed, SeedSeeds;
    SERVICE_ACCOUNTS = "", "serviceaccounts", ServiceAccount, SeedServiceAccounts;
    SHOOTS = CORE, "shoots", Shoot, SeedShoots;
    SHOOT_STATES = CORE, "shootstates", ShootState, SeedShootStates;
    WORKLOAD_IDENTITIES = SECURITY, "workloadidentities", WorkloadIdentity, SeedWorkloadIdentities;
}

/// Of profile Document. Which Seeds a seed writes, SeedRestriction looks at.
pub(super) static DOCUMENT: &[Row] = &[
    row(BACKUP_BUCKETS, READ_AND_CREATE, CHANGE_AND_DELETE).with(STATUS),
    row(BACKUP_ENTRIES, READ_AND_CREATE, CHANGE).with(STATUS),
    row(CLOUD_PROFILES, NOTHING, GET),
    row(CONFIG_MAPS, NOTHING, GET),
    row(CONTROLLER_REGISTRATIONS, READ, NOTHING),
    row(CONTROLLER_INSTALLATIONS, READ, CHANGE).with(STATUS),
    row(LEASES, CREATE, &[Get, Watch, Update, Delete]),
    row(MANAGED_SEEDS, READ, CHANGE).with(STATUS),
    row(NAMESPACES, NOTHING, GET),
    row(PROJECTS, NOTHING, GET),
    row(SECRET_BINDINGS, NOTHING, GET),
    row(SEEDS, &[Get, List, Watch, Create, Update, Patch, Delete], NOTHING).with(STATUS),
    row(SHOOTS, READ, CHANGE).with(STATUS),
    row(SHOOT_STATES, CREATE, &[Get, Update, Patch]),
];

/// Of profile Current.
pub(super) static CURRENT: &[Row] = &[
    row(BACKUP_BUCKETS, READ_AND_CREATE, CHANGE_AND_DELETE).with(&["finalizers", "status"]),
    row(BACKUP_ENTRIES, READ_AND_CREATE, CHANGE_AND_DELETE).with(STATUS),
    row(BASTIONS, CREATE, READ_AND_CHANGE)
        .with(STATUS)
        .by(Selected::Field("spec.seedName")),
    row(CERTIFICATE_SIGNING_REQUESTS, CREATE, READ).with(&["seedclient"]),
    row(CLOUD_PROFILES, NOTHING, READ),
    row(CLUSTER_ROLE_BINDINGS, CREATE, &[Get, Update, Patch]),
    row(CONFIG_MAPS, CREATE, ALL),
    row(CONTROLLER_DEPLOYMENTS, NOTHING, READ),
    row(CONTROLLER_INSTALLATIONS, NOTHING, READ_AND_CHANGE)
        .with(STATUS)
        .by(Selected::Field("spec.seedRef.name")),
    row(CONTROLLER_REGISTRATIONS, READ, NOTHING),
    row(CREDENTIALS_BINDINGS, NOTHING, READ),
    row(EXPOSURE_CLASSES, NOTHING, READ),
    row(GARDENLETS, CREATE, READ_AND_CHANGE)
        .with(STATUS)
        .by(Selected::Field(NAME)),
    row(INTERNAL_SECRETS, CREATE, ALL),
    row(LEASES, CREATE, READ_AND_CHANGE),
    row(MANAGED_SEEDS, NOTHING, READ_AND_CHANGE)
        .with(STATUS)
        .by(Selected::Label),
    row(NAMESPACED_CLOUD_PROFILES, NOTHING, READ),
    row(NAMESPACES, NOTHING, READ),
    row(PROJECTS, NOTHING, READ),
    row(SECRETS, CREATE, &[Get, Update, Patch, Delete]),
    row(SECRET_BINDINGS, NOTHING, READ),
    row(SEEDS, CREATE, ALL).with(STATUS).by(Selected::Label),
    row(SERVICE_ACCOUNTS, CREATE, &[Get, Update, Patch]),
    row(SHOOTS, NOTHING, READ_AND_CHANGE)
        .with(&["finalizers", "status"])
        .by(Selected::Label),
    row(SHOOT_STATES, CREATE, ALL),
    row(WORKLOAD_IDENTITIES, NOTHING, &[Get, List, Watch, Create, Patch]).with(&["token"]),
];

/// Of profile Current, where an extension may do something else than a gardenlet.
pub(super) static EXTENSION: &[Row] = &[
    row(CERTIFICATE_SIGNING_REQUESTS, NOTHING, READ),
    row(CLUSTER_ROLE_BINDINGS, NOTHING, GET),
    row(SERVICE_ACCOUNTS, NOTHING, GET),
];

/// Selected by it, an object is one by its name.
pub(super) const NAME: &str = "metadata.name";
