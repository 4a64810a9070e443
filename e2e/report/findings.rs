//! What the comparisons have found wrong in the gate, and the tests that keep it from coming back.

use super::exist;

/// What it was, and the tests.
pub(super) const FINDINGS: &[(&str, &[&str])] = &[
    (
        "A patch that takes `apiVersion` away made kube-apiserver read the result as its internal type, whose fields have other names",
        &["e2e/restriction/attacks/disguised.rs without_version"],
    ),
    (
        "So did `apiversion` and `apiVer\u{17f}ion` beside it, in any case that Go folds",
        &["e2e/restriction/attacks/disguised.rs in_another_case"],
    ),
    (
        "Server-side apply created a foreign ResourceSlice, and a Node that had been deleted",
        &["e2e/restriction/apply.rs nothing_is_created"],
    ),
    (
        "A rehearsal of server-side apply was answered as a table, in which nothing was to be seen",
        &["e2e/restriction/apply.rs what_is_applied_is_judged_by_what_comes_of_it"],
    ),
    (
        "`Transfer-Encoding: gzip, chunked`, two `Host` headers and unknown expectations were taken, though kube-apiserver refuses them",
        &[
            "src/request/headers.rs unambiguous",
            "e2e/bytes.rs the_same_bytes_are_the_same_request",
        ],
    ),
    (
        "A kind of which nothing was heard for two minutes made the gate answer 503, where etcd sends no progress notifications",
        &["src/watch/tests.rs quiet_without_bookmarks_is_not_silence"],
    ),
    (
        "An API server that had just started, and refused everybody everything, was taken for a healthy one",
        &[
            "src/upstream/health.rs readiness",
            "e2e/failover.rs either_of_two_api_servers_may_be_killed",
        ],
    ),
    (
        "A node without a name (`system:node:`) could write what no rule is about",
        &["src/admission/node_restriction/tests.rs a_node_without_a_name_may_nothing"],
    ),
    (
        "405 named the resource in its details, kube-apiserver's router names none",
        &["src/admission/node_restriction/tests.rs places"],
    ),
    (
        "The name of an object was looked at before its namespace, and had words of its own",
        &["src/admission/node_restriction/tests/pod.rs evict"],
    ),
    (
        "An empty uid as the precondition of a delete was taken for none, where kube-apiserver has a conflict",
        &[
            "src/admission/node_restriction/tests/pod.rs delete",
            "e2e/restriction/rows/leaving.rs pods_go_and_claims_grow_as_node_restriction_has_it",
        ],
    ),
];

#[test]
fn every_finding_has_a_test() {
    FINDINGS.iter().for_each(|(_, tests)| exist(tests));
}
