//! Few words, so that everything meets: the same names in every namespace and kind, and nodes called like namespaces.

use crate::random::Random;

pub(super) const NODES: &[&str] = &["n1", "n'2", "a"];
/// Nothing is ever bound to it.
pub(super) const STRANGER: &str = "n9";
pub(super) const NAMESPACES: &[&str] = &["a", "b"];
pub(super) const NAMES: &[&str] = &["a", "b", "a-b"];
pub(super) const VOLUMES: &[&str] = &["v", "b-v"];
/// Made for ephemeral volumes, some of them for more than one, or named like that.
pub(super) const CLAIMS: &[&str] = &["a", "b", "a-v", "a-b-v"];
/// Of persistent volumes; most are no pod's at the same time.
pub(super) const VOLUME_SECRETS: &[&str] = &["a", "s", "t"];
/// Whatever is named by hundreds of pods.
pub(super) const CROWD: &str = "crowd";

/// Names of objects that are referred to, now and then none.
pub(super) fn reference(random: &mut Random) -> &'static str {
    maybe(random, NAMES)
}

pub(super) fn maybe(random: &mut Random, from: &[&'static str]) -> &'static str {
    if random.one_in(20) { "" } else { random.pick(from) }
}
