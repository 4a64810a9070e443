//! Resources as people write them.

use strsim::jaro_winkler;

use self::Scope::{Cluster, Namespaced};
use super::Unclear;
use crate::{
    api::{
        GroupResource,
        garden::{CORE, OPERATIONS, SECURITY, SEED_MANAGEMENT},
    },
    graph::{Anchor, Kind},
};

/// A resource that was understood.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Resource {
    pub(super) resource: GroupResource,
    pub(super) subresource: String,
    /// Nothing where only upstream knows.
    pub(super) scope: Option<Scope>,
    /// What a graph knows objects of it as.
    pub(super) kind: Option<Kind>,
    /// Whether that of nodes does.
    pub(super) for_nodes: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Scope {
    Cluster,
    Namespaced,
}

/// A resource and the names that people have for it.
struct Row {
    group: &'static str,
    plural: &'static str,
    names: &'static [&'static str],
    scope: Scope,
    kind: Option<Kind>,
    for_nodes: bool,
}

/// Whatever the rules for nodes and for seeds name, and all of the core group. Short names are those that the servers tell kubectl.
#[rustfmt::skip]
const KNOWN: &[Row] = &[
    row("", "bindings", &["binding"], Namespaced, None),
    row("", "componentstatuses", &["componentstatus", "cs"], Cluster, None),
    row("", "configmaps", &["configmap", "cm"], Namespaced, Some(Kind::ConfigMap)),
    row("", "endpoints", &["ep"], Namespaced, Some(Kind::Endpoints)),
    row("", "events", &["event", "ev"], Namespaced, None),
    row("", "limitranges", &["limitrange", "limits"], Namespaced, None),
    seeds("", "namespaces", &["namespace", "ns"], Cluster, Kind::Namespace),
    row("", "nodes", &["node", "no"], Cluster, None),
    row("", "persistentvolumeclaims", &["persistentvolumeclaim", "pvc"], Namespaced, Some(Kind::PersistentVolumeClaim)),
    row("", "persistentvolumes", &["persistentvolume", "pv"], Cluster, Some(Kind::PersistentVolume)),
    row("", "pods", &["pod", "po"], Namespaced, Some(Kind::Pod)),
    row("", "podtemplates", &["podtemplate"], Namespaced, None),
    row("", "replicationcontrollers", &["replicationcontroller", "rc"], Namespaced, None),
    row("", "resourcequotas", &["resourcequota", "quota"], Namespaced, None),
    row("", "secrets", &["secret"], Namespaced, Some(Kind::Secret)),
    row("", "serviceaccounts", &["serviceaccount", "sa"], Namespaced, Some(Kind::ServiceAccount)),
    row("", "services", &["service", "svc"], Namespaced, None),
    row("authentication.k8s.io", "selfsubjectreviews", &["selfsubjectreview"], Cluster, None),
    row("authentication.k8s.io", "tokenreviews", &["tokenreview"], Cluster, None),
    row("authorization.k8s.io", "localsubjectaccessreviews", &["localsubjectaccessreview"], Namespaced, None),
    row("authorization.k8s.io", "selfsubjectaccessreviews", &["selfsubjectaccessreview"], Cluster, None),
    row("authorization.k8s.io", "selfsubjectrulesreviews", &["selfsubjectrulesreview"], Cluster, None),
    row("authorization.k8s.io", "subjectaccessreviews", &["subjectaccessreview"], Cluster, None),
    row("certificates.k8s.io", "certificatesigningrequests", &["certificatesigningrequest", "csr"], Cluster, Some(Kind::CertificateSigningRequest)),
    row("certificates.k8s.io", "clustertrustbundles", &["clustertrustbundle"], Cluster, None),
    row("certificates.k8s.io", "podcertificaterequests", &["podcertificaterequest"], Namespaced, Some(Kind::PodCertificateRequest)),
    seeds("coordination.k8s.io", "leases", &["lease"], Namespaced, Kind::Lease),
    seeds(CORE, "backupbuckets", &["backupbucket", "bbc"], Cluster, Kind::BackupBucket),
    seeds(CORE, "backupentries", &["backupentry", "bec"], Namespaced, Kind::BackupEntry),
    seeds(CORE, "cloudprofiles", &["cloudprofile", "cprofile", "cpfl"], Cluster, Kind::CloudProfile),
    seeds(CORE, "controllerdeployments", &["controllerdeployment", "ctrldeploy"], Cluster, Kind::ControllerDeployment),
    seeds(CORE, "controllerinstallations", &["controllerinstallation", "ctrlinst"], Cluster, Kind::ControllerInstallation),
    seeds(CORE, "controllerregistrations", &["controllerregistration", "ctrlreg"], Cluster, Kind::ControllerRegistration),
    seeds(CORE, "exposureclasses", &["exposureclass", "expclass", "expcls"], Cluster, Kind::ExposureClass),
    seeds(CORE, "internalsecrets", &["internalsecret", "ins"], Namespaced, Kind::InternalSecret),
    seeds(CORE, "namespacedcloudprofiles", &["namespacedcloudprofile", "nsprofile", "nscpfl"], Namespaced, Kind::NamespacedCloudProfile),
    seeds(CORE, "projects", &["project"], Cluster, Kind::Project),
    row(CORE, "quotas", &["squota"], Namespaced, None),
    seeds(CORE, "secretbindings", &["secretbinding", "sb"], Namespaced, Kind::SecretBinding),
    seeds(CORE, "seeds", &["seed"], Cluster, Kind::Seed),
    seeds(CORE, "shoots", &["shoot"], Namespaced, Kind::Shoot),
    seeds(CORE, "shootstates", &["shootstate"], Namespaced, Kind::ShootState),
    row("events.k8s.io", "events", &["event", "ev"], Namespaced, None),
    row("node.k8s.io", "runtimeclasses", &["runtimeclass"], Cluster, None),
    seeds(OPERATIONS, "bastions", &["bastion"], Namespaced, Kind::Bastion),
    seeds("rbac.authorization.k8s.io", "clusterrolebindings", &["clusterrolebinding"], Cluster, Kind::ClusterRoleBinding),
    row("resource.k8s.io", "resourceclaims", &["resourceclaim"], Namespaced, Some(Kind::ResourceClaim)),
    row("resource.k8s.io", "resourceslices", &["resourceslice"], Cluster, Some(Kind::ResourceSlice)),
    seeds(SECURITY, "credentialsbindings", &["credentialsbinding", "cb"], Namespaced, Kind::CredentialsBinding),
    seeds(SECURITY, "workloadidentities", &["workloadidentity", "wi"], Namespaced, Kind::WorkloadIdentity),
    seeds(SEED_MANAGEMENT, "gardenlets", &["gardenlet", "gl", "glet"], Namespaced, Kind::Gardenlet),
    seeds(SEED_MANAGEMENT, "managedseeds", &["managedseed", "ms"], Namespaced, Kind::ManagedSeed),
    row(SEED_MANAGEMENT, "managedseedsets", &["managedseedset", "mss"], Namespaced, None),
    row("storage.k8s.io", "csidrivers", &["csidriver"], Cluster, None),
    row("storage.k8s.io", "csinodes", &["csinode"], Cluster, None),
    row("storage.k8s.io", "volumeattachments", &["volumeattachment"], Cluster, Some(Kind::VolumeAttachment)),
];

const fn row(
    group: &'static str,
    plural: &'static str,
    names: &'static [&'static str],
    scope: Scope,
    kind: Option<Kind>,
) -> Row {
    Row {
        group,
        plural,
        names,
        scope,
        kind,
        for_nodes: kind.is_some(),
    }
}

/// What only the graph of seeds knows.
const fn seeds(
    group: &'static str,
    plural: &'static str,
    names: &'static [&'static str],
    scope: Scope,
    kind: Kind,
) -> Row {
    Row {
        for_nodes: false,
        ..row(group, plural, names, scope, Some(kind))
    }
}

/// From here on a name looks like another one that was mistyped.
const ALIKE: f64 = 0.85;

impl Resource {
    /// `resource[.group][/subresource]`, or with the group at the very end, as the gate's own log writes it. Names that the
    /// rules know may be in any of the forms that kubectl takes.
    pub(super) fn parse(text: &str) -> Result<Self, Unclear> {
        let text = text.to_ascii_lowercase();
        let (resource, subresource) = match text.split_once('/') {
            None => (text.as_str(), ""),
            Some((_, "")) => return Err(Unclear(format!("{text:?} ends with a slash and names no subresource"))),
            Some(parts) => parts,
        };
        let (resource, group) = split_group(resource);
        let (subresource, late) = split_group(subresource);
        let group = group.or(late);
        if resource.is_empty() {
            return Err(Unclear(
                "no resource is named, e.g. secrets, pods/status, leases.coordination.k8s.io".to_owned(),
            ));
        }
        let known = KNOWN.iter().find(|row| {
            group.is_none_or(|group| group == row.group) && (resource == row.plural || row.names.contains(&resource))
        });
        match (known, group) {
            (Some(row), _) => Ok(Self {
                resource: group_resource(row.group, row.plural),
                subresource: subresource.to_owned(),
                scope: Some(row.scope),
                kind: row.kind,
                for_nodes: row.for_nodes,
            }),
            (None, Some(group)) => Ok(Self {
                resource: group_resource(group, resource),
                subresource: subresource.to_owned(),
                scope: None,
                kind: None,
                for_nodes: false,
            }),
            (None, None) => Err(unknown(resource)),
        }
    }

    /// The plurals of what the graph of nodes decides about, or only that of seeds.
    pub(super) fn in_graph(anchor: Anchor) -> impl Iterator<Item = &'static str> {
        let known = KNOWN.iter().filter(move |row| match anchor {
            Anchor::Node => row.for_nodes,
            Anchor::Seed => row.kind.is_some() && !row.for_nodes,
        });
        known.map(|row| row.plural)
    }
}

fn split_group(text: &str) -> (&str, Option<&str>) {
    match text.split_once('.') {
        Some((resource, group)) => (resource, Some(group)),
        None => (text, None),
    }
}

fn group_resource(group: &str, resource: &str) -> GroupResource {
    GroupResource {
        group: group.to_owned(),
        resource: resource.to_owned(),
    }
}

fn unknown(resource: &str) -> Unclear {
    let alike = KNOWN.iter().map(|row| (jaro_winkler(resource, row.plural), row.plural));
    let best = alike
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match best {
        Some((_, plural)) => format!("did you mean {plural}?"),
        None => "write it with its API group, e.g. deployments.apps".to_owned(),
    };
    Unclear(format!("the rules know no resource {resource:?}; {hint}"))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("secrets" => "secrets||Some(Namespaced)|Some(Secret)")]
    #[test_case("Secret" => "secrets||Some(Namespaced)|Some(Secret)"; "singular, any case")]
    #[test_case("cm" => "configmaps||Some(Namespaced)|Some(ConfigMap)")]
    #[test_case("po/status" => "pods|status|Some(Namespaced)|Some(Pod)")]
    #[test_case("pv" => "persistentvolumes||Some(Cluster)|Some(PersistentVolume)")]
    #[test_case("sa/token" => "serviceaccounts|token|Some(Namespaced)|Some(ServiceAccount)")]
    #[test_case("leases" => "leases.coordination.k8s.io||Some(Namespaced)|Lease of seeds"; "group found")]
    #[test_case("lease.coordination.k8s.io" => "leases.coordination.k8s.io||Some(Namespaced)|Lease of seeds"; "group given")]
    #[test_case("events" => "events||Some(Namespaced)|None"; "the core group comes first")]
    #[test_case("events.events.k8s.io" => "events.events.k8s.io||Some(Namespaced)|None")]
    #[test_case("shoot/status" => "shoots.core.gardener.cloud|status|Some(Namespaced)|Shoot of seeds")]
    #[test_case("ms" => "managedseeds.seedmanagement.gardener.cloud||Some(Namespaced)|ManagedSeed of seeds")]
    #[test_case("bbc" => "backupbuckets.core.gardener.cloud||Some(Cluster)|BackupBucket of seeds")]
    #[test_case("wi/token" => "workloadidentities.security.gardener.cloud|token|Some(Namespaced)|WorkloadIdentity of seeds")]
    #[test_case("squota" => "quotas.core.gardener.cloud||Some(Namespaced)|None"; "no rule is about it")]
    #[test_case("deployments.apps/scale" => "deployments.apps|scale|None|None")]
    #[test_case("deployments/scale.apps" => "deployments.apps|scale|None|None"; "as the log writes it")]
    #[test_case("secrets.example.com" => "secrets.example.com||None|None"; "of another group")]
    fn resources_are_understood(text: &str) -> String {
        let Resource {
            resource,
            subresource,
            scope,
            kind,
            for_nodes,
        } = Resource::parse(text).unwrap();
        let kind = match (kind, for_nodes) {
            (Some(kind), false) => format!("{kind:?} of seeds"),
            (kind, _) => format!("{kind:?}"),
        };
        format!("{resource}|{subresource}|{scope:?}|{kind}")
    }

    #[test_case("" => "no resource is named, e.g. secrets, pods/status, leases.coordination.k8s.io")]
    #[test_case("/status" => "no resource is named, e.g. secrets, pods/status, leases.coordination.k8s.io"; "subresource only")]
    #[test_case("pods/" => "\"pods/\" ends with a slash and names no subresource")]
    #[test_case("secrest" => "the rules know no resource \"secrest\"; did you mean secrets?")]
    #[test_case("deployments" => "the rules know no resource \"deployments\"; write it with its API group, e.g. deployments.apps")]
    fn others_are_not(text: &str) -> String {
        Resource::parse(text).unwrap_err().to_string()
    }
}
