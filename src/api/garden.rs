//! Names that Gardener gives a meaning, and those that it makes of other names.
//!
//! Follows `pkg/apis/core/v1beta1/constants`, `pkg/utils/gardener` and `pkg/gardenlet/bootstrap/util` of Gardener.

use aws_lc_rs::digest;

use super::hex;

/// API groups.
pub const CORE: &str = "core.gardener.cloud";
pub const OPERATIONS: &str = "operations.gardener.cloud";
pub const SECURITY: &str = "security.gardener.cloud";
pub const SEED_MANAGEMENT: &str = "seedmanagement.gardener.cloud";

/// Where what belongs to the garden as a whole is, managed seeds above all.
pub const GARDEN: &str = "garden";
/// Where seeds keep their leases.
pub const SEED_LEASES: &str = "gardener-system-seed-lease";
/// Where it stands who issues the tokens of shoots.
pub const SHOOT_ISSUERS: &str = "gardener-system-shoot-issuer";
/// What everybody may read.
pub const PUBLIC: &str = "gardener-system-public";
/// Where bootstrap tokens are.
pub const KUBE_SYSTEM: &str = "kube-system";

/// What tells who the garden is, in [`KUBE_SYSTEM`].
pub const CLUSTER_IDENTITY: &str = "cluster-identity";
/// What tells about the garden, in [`PUBLIC`].
pub const GARDENER_INFO: &str = "gardener-info";
/// The lease by which the replicas of a gardenlet agree.
pub const LEADER_ELECTION: &str = "gardenlet-leader-election";
/// Secret of a backup bucket, whose name follows.
pub const GENERATED_BUCKET_PREFIX: &str = "generated-bucket-";

/// What stands behind the name of a shoot and a dot, in what is called after it. None is the end of another.
pub const SHOOT_SECRETS: &[&str] = &["ca-cluster", "ssh-keypair", "ssh-keypair.old", "monitoring"];
pub const SHOOT_INTERNAL_SECRETS: &[&str] = &["ca-client"];
pub const SHOOT_CONFIG_MAPS: &[&str] = &["ca-cluster", "ca-kubelet"];

/// Role that a gardenlet has until it has a certificate.
pub const BOOTSTRAPPER_ROLE: &str = "gardener.cloud:system:seed-bootstrapper";
const BOOTSTRAP_BINDING_PREFIX: &str = "gardener.cloud:system:seed-bootstrapper:";
const BOOTSTRAP_ACCOUNT_PREFIX: &str = "gardenlet-bootstrap-";
const EXTENSION_SHOOT_ACCOUNT_PREFIX: &str = "extension-shoot--";
const SELF_HOSTED_PREFIX: &str = "self-hosted-shoot-";
const SEED_NAMESPACE_PREFIX: &str = "seed-";
const BOOTSTRAP_TOKEN_PREFIX: &str = "bootstrap-token-";
const SEED_LABEL_PREFIX: &str = "name.seed.gardener.cloud/";

/// Annotation of a ManagedSeed or Gardenlet, and the value by which it may begin anew.
pub const OPERATION_ANNOTATION: &str = "gardener.cloud/operation";
pub const RENEW_KUBECONFIG: &str = "renew-kubeconfig";

/// Annotation of a Shoot, and the value by which the garden tells the world who issues its tokens.
pub const ISSUER_ANNOTATION: &str = "authentication.gardener.cloud/issuer";
pub const MANAGED_ISSUER: &str = "managed";

/// The shoot that something is called after; nothing if that is not how it is called.
pub fn shoot_of<'n>(name: &'n str, suffixes: &[&str]) -> Option<&'n str> {
    let shoot = |suffix: &&str| name.strip_suffix(suffix)?.strip_suffix('.');
    suffixes.iter().find_map(shoot).filter(|shoot| !shoot.is_empty())
}

/// The label by which seeds find what is theirs; its value is `true`.
pub fn seed_label(seed: &str) -> String {
    format!("{SEED_LABEL_PREFIX}{seed}")
}

/// Whether a label is that of the seed.
pub fn is_seed_label(key: &str, seed: &str) -> bool {
    key.strip_prefix(SEED_LABEL_PREFIX) == Some(seed)
}

/// The namespace in the garden that is a seed's own.
pub fn seed_namespace(seed: &str) -> String {
    format!("{SEED_NAMESPACE_PREFIX}{seed}")
}

/// The seed that a namespace is the own one of.
pub fn seed_of_namespace(namespace: &str) -> Option<&str> {
    namespace
        .strip_prefix(SEED_NAMESPACE_PREFIX)
        .filter(|seed| !seed.is_empty())
}

/// Whether a Gardenlet is that of a shoot which hosts itself, and of no seed.
pub fn is_self_hosted(gardenlet: &str) -> bool {
    gardenlet.starts_with(SELF_HOSTED_PREFIX)
}

/// Whether a ServiceAccount is for a gardenlet that begins, or for an extension of a shoot.
pub fn is_garden_account(account: &str) -> bool {
    account.starts_with(BOOTSTRAP_ACCOUNT_PREFIX) || account.starts_with(EXTENSION_SHOOT_ACCOUNT_PREFIX)
}

/// The public part of the token that a gardenlet begins with, by the ManagedSeed or Gardenlet.
pub fn bootstrap_token_id(namespace: &str, name: &str) -> String {
    let of = match namespace {
        "" => name.to_owned(),
        namespace => format!("{namespace}--{name}"),
    };
    let digest = digest::digest(&digest::SHA256, of.as_bytes());
    hex(digest.as_ref().get(..3).unwrap_or_default())
}

/// The Secret that the token is in, in [`KUBE_SYSTEM`].
pub fn bootstrap_token_secret(namespace: &str, name: &str) -> String {
    format!("{BOOTSTRAP_TOKEN_PREFIX}{}", bootstrap_token_id(namespace, name))
}

/// Whether a Secret is called like one with such a token.
pub fn is_bootstrap_token_secret(name: &str) -> bool {
    name.starts_with(BOOTSTRAP_TOKEN_PREFIX)
}

/// The ServiceAccount that a gardenlet can begin with instead, in the namespace of the ManagedSeed.
pub fn bootstrap_account(managed_seed: &str) -> String {
    format!("{BOOTSTRAP_ACCOUNT_PREFIX}{managed_seed}")
}

/// The ManagedSeed that such a ServiceAccount is for.
pub fn parse_bootstrap_account(account: &str) -> Option<&str> {
    account
        .strip_prefix(BOOTSTRAP_ACCOUNT_PREFIX)
        .filter(|name| !name.is_empty())
}

/// The ClusterRoleBinding that gives such a ServiceAccount its role.
pub fn bootstrap_binding(namespace: &str, account: &str) -> String {
    format!("{BOOTSTRAP_BINDING_PREFIX}{namespace}:{account}")
}

/// The namespace and name of the ManagedSeed that such a binding is for. Only what [`bootstrap_binding`] makes is taken; Gardener
/// reads other names too, and so finds one ManagedSeed behind many bindings.
pub fn parse_bootstrap_binding(name: &str) -> Option<(&str, &str)> {
    let (namespace, account) = name.strip_prefix(BOOTSTRAP_BINDING_PREFIX)?.split_once(':')?;
    let managed_seed = parse_bootstrap_account(account)?;
    (!namespace.is_empty() && !managed_seed.contains(':')).then_some((namespace, managed_seed))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::{SHOOT_CONFIG_MAPS, SHOOT_INTERNAL_SECRETS, SHOOT_SECRETS};

    #[test_case("s.ca-cluster", SHOOT_SECRETS => Some("s"); "secret")]
    #[test_case("s.ssh-keypair", SHOOT_SECRETS => Some("s"); "key pair")]
    #[test_case("s.ssh-keypair.old", SHOOT_SECRETS => Some("s"); "old key pair")]
    #[test_case("s.monitoring", SHOOT_SECRETS => Some("s"); "monitoring")]
    #[test_case("a.b.monitoring", SHOOT_SECRETS => Some("a.b"); "a shoot with a dot")]
    #[test_case("s.monitoring.ca-cluster", SHOOT_SECRETS => Some("s.monitoring"); "only the last suffix counts")]
    #[test_case(".monitoring", SHOOT_SECRETS => None; "no shoot")]
    #[test_case("monitoring", SHOOT_SECRETS => None; "only the suffix")]
    #[test_case("smonitoring", SHOOT_SECRETS => None; "no dot")]
    #[test_case("s.ssh-keypair.older", SHOOT_SECRETS => None; "more behind it")]
    #[test_case("s.ca-kubelet", SHOOT_SECRETS => None; "of a config map")]
    #[test_case("s.ca-kubelet", SHOOT_CONFIG_MAPS => Some("s"); "config map")]
    #[test_case("s.ca-client", SHOOT_INTERNAL_SECRETS => Some("s"); "internal secret")]
    #[test_case("s.ca-cluster", SHOOT_INTERNAL_SECRETS => None; "of others")]
    fn shoots<'n>(name: &'n str, suffixes: &[&str]) -> Option<&'n str> {
        super::shoot_of(name, suffixes)
    }

    // Made with `printf %s garden--child | sha256sum`.
    #[test_case("garden", "child" => "872184"; "in a namespace")]
    #[test_case("", "child" => "ddc9e6"; "in none")]
    fn token(namespace: &str, name: &str) -> String {
        let id = super::bootstrap_token_id(namespace, name);
        assert_eq!(
            super::bootstrap_token_secret(namespace, name),
            format!("bootstrap-token-{id}")
        );
        id
    }

    #[test_case("gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child" => Some(("garden", "child")); "one")]
    #[test_case("gardener.cloud:system:seed-bootstrapper:gardenlet-bootstrap-child" => None; "no namespace")]
    #[test_case("gardener.cloud:system:seed-bootstrapper::gardenlet-bootstrap-child" => None; "an empty namespace")]
    #[test_case("gardener.cloud:system:seed-bootstrapper:garden:child" => None; "another account")]
    #[test_case("gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-" => None; "nothing behind it")]
    #[test_case("gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-a:b" => None; "more parts")]
    #[test_case("gardener.cloud:system:seed-bootstrapper" => None; "the role")]
    fn binding(name: &str) -> Option<(&str, &str)> {
        let found = super::parse_bootstrap_binding(name);
        if let Some((namespace, managed_seed)) = found {
            let account = super::bootstrap_account(managed_seed);
            assert_eq!(super::bootstrap_binding(namespace, &account), name);
        }
        found
    }

    #[test]
    fn labels() {
        assert_eq!(super::seed_label("a"), "name.seed.gardener.cloud/a");
        assert!(super::is_seed_label(&super::seed_label("a"), "a"));
        assert!(!super::is_seed_label(&super::seed_label("ab"), "a") && !super::is_seed_label("a", "a"));
    }
}
