//! Where volumes can come from, and what of the API each refers to.

/// Where a volume, or a part of one, comes from.
pub(in super::super) struct Source {
    pub(in super::super) key: &'static str,
    /// Where in it the name of an object stands.
    pub(super) names: Names,
    /// What it refers to in any case; empty if it has nothing to do with the API.
    pub(super) refers: &'static str,
}

#[derive(Clone, Copy)]
pub(super) enum Names {
    None,
    ConfigMap(&'static [&'static str]),
    Secret(&'static [&'static str]),
}

/// Every source that a volume can have. One that is not listed could refer to anything.
pub(in super::super) const VOLUMES: &[Source] = &[
    source("awsElasticBlockStore", Names::None, ""),
    source("azureDisk", Names::None, ""),
    source(
        "azureFile",
        Names::Secret(&["secretName"]),
        "secrets (via azureFile volumes)",
    ),
    source("cephfs", Names::Secret(SECRET_REF), ""),
    source("cinder", Names::Secret(SECRET_REF), ""),
    source(
        "configMap",
        Names::ConfigMap(&["name"]),
        "configmaps (via configmap volumes)",
    ),
    source(
        "csi",
        Names::Secret(&["nodePublishSecretRef", "name"]),
        "csidrivers (via CSI volumes)",
    ),
    source("downwardAPI", Names::None, ""),
    source("emptyDir", Names::None, ""),
    source(
        "ephemeral",
        Names::None,
        "persistentvolumeclaims (via ephemeral volumes)",
    ),
    source("fc", Names::None, ""),
    source("flexVolume", Names::Secret(SECRET_REF), ""),
    source("flocker", Names::None, ""),
    source("gcePersistentDisk", Names::None, ""),
    source("gitRepo", Names::None, ""),
    source("glusterfs", Names::None, "endpoints (via glusterFS volumes)"),
    source("hostPath", Names::None, ""),
    source("image", Names::None, ""),
    source("iscsi", Names::Secret(SECRET_REF), ""),
    source("nfs", Names::None, ""),
    source("persistentVolumeClaim", Names::None, "persistentvolumeclaims"),
    source("photonPersistentDisk", Names::None, ""),
    source("portworxVolume", Names::None, ""),
    // Comes from what it is put together of.
    source(PROJECTED, Names::None, ""),
    source("quobyte", Names::None, ""),
    source("rbd", Names::Secret(SECRET_REF), ""),
    source("scaleIO", Names::Secret(SECRET_REF), ""),
    source("secret", Names::Secret(&["secretName"]), "secrets (via secret volumes)"),
    source("storageos", Names::Secret(SECRET_REF), ""),
    source("vsphereVolume", Names::None, ""),
];
/// Every source that a part of a projected volume can have.
pub(in super::super) const PROJECTIONS: &[Source] = &[
    source("clusterTrustBundle", Names::None, "clustertrustbundles"),
    source(
        "configMap",
        Names::ConfigMap(&["name"]),
        "configmaps (via projected volumes)",
    ),
    source("downwardAPI", Names::None, ""),
    source("podCertificate", Names::None, "podcertificates"),
    source("secret", Names::Secret(&["name"]), "secrets (via projected volumes)"),
    source(
        "serviceAccountToken",
        Names::None,
        "serviceaccounts (via projected volumes)",
    ),
];
pub(super) const PROJECTED: &str = "projected";
const SECRET_REF: &[&str] = &["secretRef", "name"];

const fn source(key: &'static str, names: Names, refers: &'static str) -> Source {
    Source { key, names, refers }
}
