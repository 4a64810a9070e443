//! Which tests stand for which of the known attacks.

use serde_json::json;

use crate::report;

/// A number, what it is about, and the tests: a file and a function in it. Those whose file is under `e2e/` run the gate; those marked
/// with `*` do so before a real kube-apiserver.
const REGISTER: &[(u32, &str, &[&str])] = &[
    (
        1,
        "own ownerReferences (CVE-2025-5187)",
        &["*e2e/restriction/attacks.rs owners"],
    ),
    (
        2,
        "claims of mirror pods (CVE-2025-4563)",
        &[
            "*e2e/restriction/attacks.rs mirrors",
            "*e2e/restriction/rows/mirror.rs mirror_pods_are_made_as_node_restriction_has_it",
        ],
    ),
    (
        3,
        "labels of nodes (CVE-2023-5408)",
        &[
            "*e2e/restriction/attacks.rs labels_and_taints",
            "*e2e/restriction/rows/nodes.rs nodes_are_written_as_node_restriction_has_it",
        ],
    ),
    (
        4,
        "the old object is the stored one (CVE-2021-25735)",
        &[
            "*e2e/restriction/attacks.rs labels_and_taints",
            "*e2e/restriction/races.rs what_changes_meanwhile_is_judged_again",
        ],
    ),
    (
        5,
        "labels and annotations of pods (KEP-1314; by default only recorded)",
        &[
            "*e2e/attacks/extended.rs attack_5_pods_that_are_dressed_up",
            "*e2e/kubelets/migration.rs labels_of_static_pods_migrate",
        ],
    ),
    (
        6,
        "addresses of nodes (CVE-2022-3294; by default only recorded)",
        &["*e2e/attacks/extended.rs attack_6_addresses_of_others"],
    ),
    (
        7,
        "every field that refers to something (CVE-2024-3177)",
        &[
            "*e2e/graph/references.rs every_reference_lets_its_node_read_as_long_as_its_pod_is_there",
            "*e2e/restriction/rows/mirror.rs mirror_pods_are_made_as_node_restriction_has_it",
            "src/graph/edges/model.rs every_field_that_can_hold_text_is_a_reference_or_listed_as_none",
        ],
    ),
    (
        8,
        "ephemeral containers",
        &["*e2e/attacks.rs attack_8_ephemeral_containers"],
    ),
    (
        9,
        "tokens of service accounts",
        &[
            "*e2e/restriction/attacks.rs tokens_and_certificates",
            "*e2e/restriction/rows/tokens.rs tokens_are_given_as_node_restriction_has_it",
        ],
    ),
    (
        10,
        "certificates of other nodes",
        &["*e2e/restriction/attacks.rs tokens_and_certificates"],
    ),
    (
        11,
        "what makes a node",
        &[
            "*e2e/attacks.rs attack_11_half_a_node",
            "*e2e/certificates.rs the_gate_believes_whom_kube_apiserver_believes",
            "*e2e/restriction/attacks.rs nobody",
        ],
    ),
    (
        12,
        "queries that Go reads otherwise",
        &[
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "e2e/readings.rs what_the_gate_reads_kube_apiserver_reads_the_same",
        ],
    ),
    (
        14,
        "what is a watch",
        &["*e2e/bytes.rs the_same_bytes_are_the_same_request"],
    ),
    (
        15,
        "verbs in the path",
        &["*e2e/bytes.rs the_same_bytes_are_the_same_request"],
    ),
    (
        16,
        "encoded paths",
        &[
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "e2e/requests.rs what_is_refused_never_reaches_upstream",
        ],
    ),
    (
        17,
        "dot segments (CVE-2022-3162)",
        &[
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "e2e/requests.rs what_is_refused_never_reaches_upstream",
        ],
    ),
    (
        19,
        "paths in headers (CVE-2025-54576)",
        &[
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "e2e/requests.rs an_absolute_target_only_names_a_path",
        ],
    ),
    (
        20,
        "odd methods",
        &[
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "e2e/requests.rs odd_methods_are_refused",
        ],
    ),
    (
        21,
        "exec by GET",
        &[
            "*e2e/annotations/sessions.rs commands_in_pods",
            "*e2e/annotations/sessions.rs other_ways_in",
            "*e2e/acting/matrix.rs exec_by_get_takes_the_right_to_create",
            "src/admission/validated/tests/enter.rs sessions",
        ],
    ),
    (
        22,
        "bodies that two readers take for different things",
        &[
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "*e2e/restriction/attacks.rs bodies",
            "*e2e/restriction/rows/bodies.rs bodies_are_read_as_kube_apiserver_does_or_refused",
        ],
    ),
    (
        23,
        "behind a refused upgrade (CVE-2018-1002105)",
        &[
            "*e2e/attacks.rs attack_23_behind_a_refused_upgrade",
            "e2e/upgrades.rs without_an_agreement_both_sides_end",
            "e2e/upgrades.rs what_cannot_be_upgraded_is_400",
            "*e2e/annotations/sessions.rs nothing_comes_behind_a_refused_session",
        ],
    ),
    (
        24,
        "redirects of upgrades (CVE-2020-8559)",
        &["e2e/upgrades.rs without_an_agreement_both_sides_end"],
    ),
    (
        25,
        "redirects (CVE-2022-3172)",
        &["e2e/upstreams.rs a_redirect_is_neither_followed_nor_passed_on"],
    ),
    (
        27,
        "identity headers that are named away (CVE-2022-23652)",
        &[
            "*e2e/attacks.rs attack_27_and_28_identity_headers",
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "e2e/requests.rs claims_in_headers_do_not_reach_upstream",
            "*e2e/acting/refused.rs a_wish_cannot_be_named_away",
        ],
    ),
    (
        28,
        "identity headers of clients",
        &[
            "*e2e/attacks.rs attack_27_and_28_identity_headers",
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "e2e/requests.rs impersonation_is_refused",
            "*e2e/acting/refused.rs a_wish_cannot_be_named_away",
            "e2e/acting/refused.rs malformed_wishes_are_400",
        ],
    ),
    (
        29,
        "tokens that upstream does not believe (CVE-2023-48312)",
        &[
            "*e2e/attacks.rs attack_29_tokens",
            "e2e/tokens.rs what_is_no_good_token_is_401",
        ],
    ),
    (
        30,
        "framing",
        &[
            "*e2e/bytes.rs the_same_bytes_are_the_same_request",
            "*e2e/bytes/pipelined.rs nothing_is_smuggled",
            "e2e/requests.rs two_framings_end_the_connection",
        ],
    ),
    (
        31,
        "confused deputies",
        &[
            "*e2e/acting/story.rs a_confused_deputy_does_no_harm",
            "*e2e/acting/matrix.rs whose_power_counts",
            "*e2e/acting/matrix.rs exec_by_get_takes_the_right_to_create",
            "*e2e/acting/refused.rs some_wishes_are_never_granted",
            "*e2e/acting/refused.rs nodes_on_either_side",
            "*e2e/acting/identity.rs upstream_sees_the_subject_and_is_told_the_actor",
            "*e2e/acting/differential.rs the_gate_lets_whom_kube_apiserver_lets",
            "src/authorizer/acting_as/tests.rs there_are_no_chains",
        ],
    ),
    (
        32,
        "floods of HTTP/2 (CVE-2023-44487)",
        &[
            "e2e/limits.rs rapid_resets",
            "e2e/limits.rs continuation_frames_without_end",
            "e2e/requests.rs a_connection_ends_with_401",
        ],
    ),
    (
        34,
        "streams that run out",
        &["*e2e/traffic.rs watches_do_not_stand_in_the_way_of_a_lease"],
    ),
    (
        35,
        "what changes between judging and writing",
        &["*e2e/restriction/races.rs what_changes_meanwhile_is_judged_again"],
    ),
    (36, "stale allows", &["*e2e/graph/freshness.rs silence_is_noticed"]),
    (
        38,
        "streams that outlive rights",
        &[
            "*e2e/graph/revocation.rs a_watch_ends_with_the_last_pod_that_needs_its_object",
            "e2e/streams.rs a_watch_does_not_outlive_the_certificate",
            "e2e/streams.rs a_watch_does_not_outlive_the_ca",
            "e2e/quarantine.rs a_live_watch_ends",
            "*e2e/kubelets/quarantine.rs a_kubelet_in_quarantine",
        ],
    ),
];

#[test]
fn every_attack_has_a_test() {
    let mut attacks = Vec::new();
    for (number, about, tests) in REGISTER {
        report::exist(tests);
        attacks.push(json!({"about": format!("{number}: {about}"), "tests": tests}));
    }
    report::note("attacks", &json!(attacks));
}
