//! Which labels and annotations of pods nodes may always choose: the lists of the "Node Restriction: Pods" proposal, in one place for
//! whoever enforces them and whoever recommends what to allow beside them.

use super::dns::{is_part, is_subdomain};

/// Labels and annotations that begin like this are any node's to choose.
pub const UNRESTRICTED_PREFIX: &str = "unrestricted.node.kubernetes.io/";

/// The label that controllers of system components select their pods by. Whoever may set it may stand in for such a component, so
/// that the proposal wants it refused by name.
pub const SYSTEM_COMPONENT_LABEL: &str = "k8s-app";

/// What kubelets write on mirror pods themselves, and what is well known on static pods.
pub const UNRESTRICTED_ANNOTATIONS: &[&str] = &[
    super::names::MIRROR_POD_ANNOTATION,
    "kubernetes.io/config.hash",
    "kubernetes.io/config.seen",
    "kubernetes.io/config.source",
    "podpreset.admission.kubernetes.io/exclude",
    "seccomp.security.alpha.kubernetes.io/pod",
    "scheduler.alpha.kubernetes.io/preferAvoidPods",
    "node.kubernetes.io/bootstrap-checkpoint",
];

/// The same, for one container each: its name is the rest of the key.
pub const UNRESTRICTED_ANNOTATION_PREFIXES: &[&str] = &[
    UNRESTRICTED_PREFIX,
    "container.seccomp.security.alpha.kubernetes.io/",
    "container.apparmor.security.beta.kubernetes.io/",
];

/// Whether a node may always set a label with this key on its pods.
pub fn is_unrestricted_label(key: &str) -> bool {
    key.starts_with(UNRESTRICTED_PREFIX)
}

/// Whether a node may always set an annotation with this key on its pods.
pub fn is_unrestricted_annotation(key: &str) -> bool {
    let mut prefixes = UNRESTRICTED_ANNOTATION_PREFIXES.iter();
    UNRESTRICTED_ANNOTATIONS.contains(&key) || prefixes.any(|prefix| key.starts_with(prefix))
}

/// Whether a text can be the key of a label or an annotation, or a finalizer: a name of 63 characters at most, which a DNS
/// subdomain and a slash can stand before.
pub fn is_key(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let named = name.len() <= 63 && name.bytes().all(inner) && has_ends(name, |byte| byte.is_ascii_alphanumeric());
    named && prefix.is_none_or(is_subdomain)
}

/// Whether a text can be the name of a namespace.
pub fn is_namespace(text: &str) -> bool {
    text.len() <= 63 && is_part(text)
}

/// Whether there is a first byte and a last one, and both are as they should be.
fn has_ends(text: &str, as_wanted: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| as_wanted(*byte)) && bytes.last().is_some_and(|byte| as_wanted(*byte))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    #[test_case("unrestricted.node.kubernetes.io/component" => (true, true); "the prefix of the proposal")]
    #[test_case("unrestricted.node.kubernetes.io" => (false, false); "not quite the prefix")]
    #[test_case("component" => (false, false))]
    #[test_case("kubernetes.io/config.mirror" => (false, true); "what kubelets write")]
    #[test_case("kubernetes.io/config.mirrors" => (false, false); "whole keys")]
    #[test_case("container.apparmor.security.beta.kubernetes.io/etcd" => (false, true); "of one container")]
    fn unrestricted(key: &str) -> (bool, bool) {
        (
            super::is_unrestricted_label(key),
            super::is_unrestricted_annotation(key),
        )
    }

    #[test_case("component" => true)]
    #[test_case("a" => true; "one letter")]
    #[test_case("example.com/Role_1.x" => true; "with a prefix")]
    #[test_case("" => false; "nothing")]
    #[test_case("/a" => false; "no prefix before the slash")]
    #[test_case("example.com/" => false; "no name behind the slash")]
    #[test_case("a/b/c" => false; "two slashes")]
    #[test_case("-a" => false; "begins with a dash")]
    #[test_case("a." => false; "ends with a dot")]
    #[test_case("Example.com/a" => false; "prefix in capitals")]
    #[test_case("example..com/a" => false; "empty part in the prefix")]
    #[test_case("a b" => false; "space")]
    #[test_case("a\n  - b" => false; "more than a line")]
    #[test_case("*" => false; "anything")]
    #[test_case(&"a".repeat(64) => false; "too long")]
    fn key(text: &str) -> bool {
        super::is_key(text)
    }

    #[test_case("kube-system" => true)]
    #[test_case("a.b" => false; "dot")]
    #[test_case("" => false; "nothing")]
    fn namespace(text: &str) -> bool {
        super::is_namespace(text)
    }
}
