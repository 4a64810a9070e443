//! Which labels of its Node a kubelet may set.
//!
//! Workloads are steered to nodes by labels. Those that administrators use for it are not for a node to give itself.

use std::collections::BTreeSet;

/// Labels of Kubernetes that kubelets report.
const KUBELET_LABELS: &[&str] = &[
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
/// Where kubelets may set any label.
const KUBELET_NAMESPACES: &[&str] = &["kubelet.kubernetes.io", "node.kubernetes.io"];
const KUBERNETES_NAMESPACES: &[&str] = &["k8s.io", "kubernetes.io"];
const RESTRICTED_NAMESPACE: &str = "node-restriction.kubernetes.io";

/// Whether a node may not add, change or remove the label.
pub(super) fn is_forbidden(key: &str) -> bool {
    let namespace = key.split_once('/').map_or("", |(namespace, _)| namespace);
    let within = |namespaces: &[&str]| namespaces.iter().any(|parent| is_within(namespace, parent));
    let is_kubelets = KUBELET_LABELS.contains(&key) || within(KUBELET_NAMESPACES);
    is_within(namespace, RESTRICTED_NAMESPACE) || within(KUBERNETES_NAMESPACES) && !is_kubelets
}

/// The forbidden ones among the labels that are not the same in both, as a refusal lists them; nothing if there are none.
pub(super) fn forbidden(old: &[(&str, &str)], new: &[(&str, &str)]) -> Option<String> {
    // Both are sorted by key.
    let has = |labels: &[(&str, &str)], label: &(&str, &str)| labels.binary_search(label).is_ok();
    let changed = new.iter().filter(|label| !has(old, label));
    let gone = old.iter().filter(|label| !has(new, label));
    let keys: BTreeSet<&str> = changed
        .chain(gone)
        .map(|(key, _)| *key)
        .filter(|key| is_forbidden(key))
        .collect();
    (!keys.is_empty()).then(|| keys.into_iter().collect::<Vec<_>>().join(", "))
}

fn is_within(namespace: &str, parent: &str) -> bool {
    let rest = namespace.strip_suffix(parent);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("foo" => false; "no namespace")]
    #[test_case("example.com/x" => false; "somebody else's")]
    #[test_case("notkubernetes.io/x" => false; "only ends alike")]
    #[test_case("kubernetes.io" => false; "the namespace as a name")]
    #[test_case("/kubernetes.io/x" => false; "empty namespace")]
    #[test_case("kubernetes.io/hostname" => false; "kubelet label")]
    #[test_case("kubernetes.io/Hostname" => true; "by case")]
    #[test_case("topology.kubernetes.io/zone" => false; "zone")]
    #[test_case("topology.kubernetes.io/rack" => true; "rack")]
    #[test_case("node.kubernetes.io/x" => false; "node namespace")]
    #[test_case("x.node.kubernetes.io/a" => false; "below the node namespace")]
    #[test_case("xnode.kubernetes.io/a" => true; "not below the node namespace")]
    #[test_case("kubelet.kubernetes.io/x" => false; "kubelet namespace")]
    #[test_case("kubernetes.io/x" => true; "unknown label")]
    #[test_case("foo.k8s.io/x" => true; "below k8s.io")]
    #[test_case("k8s.io/x/y" => true; "the first slash counts")]
    #[test_case("node-role.kubernetes.io/x" => true; "role")]
    #[test_case("node-restriction.kubernetes.io/a" => true; "restricted")]
    #[test_case("a.node-restriction.kubernetes.io/b" => true; "below restricted")]
    fn forbidden_keys(key: &str) -> bool {
        is_forbidden(key)
    }

    #[test_case(&[], &[] => None; "none")]
    #[test_case(&[("k8s.io/a", "1")], &[("k8s.io/a", "1")] => None; "same")]
    #[test_case(&[("k8s.io/a", "1")], &[("k8s.io/a", "2")] => Some("k8s.io/a".to_owned()); "changed")]
    #[test_case(&[("k8s.io/b", "1")], &[("k8s.io/a", ""), ("x", "")] => Some("k8s.io/a, k8s.io/b".to_owned()); "added and removed")]
    fn forbidden_changes(old: &[(&str, &str)], new: &[(&str, &str)]) -> Option<String> {
        forbidden(old, new)
    }
}
