//! Modes of rules, and what the extended ones allow.

use test_case::test_case;

use super::*;
use crate::{
    admission::MirrorPodOwner,
    rules::{Mode, Modes, Rule},
    watch::Need,
};

fn modes(more: &str) -> Modes {
    let config = load(&format!("{GOOD}{more}")).unwrap();
    // Both deciders go by the same.
    assert_eq!(config.admission.modes, config.authorizer.modes);
    config.authorizer.modes
}

#[test]
fn rules_have_the_modes_that_are_written() {
    assert_eq!(modes(""), Modes::DEFAULT);
    let set = modes(
        "rules: {modes: {node/secrets: Warn, pods/mirror-labels: Enforce, node/pods: Off, node/endpoints: false}}",
    );
    assert_eq!(set.of(Rule::NodeSecrets), Mode::Warn);
    assert_eq!(set.of(Rule::PodsMirrorLabels), Mode::Enforce);
    assert_eq!(set.of(Rule::NodePods), Mode::Off);
    assert_eq!(set.of(Rule::NodeEndpoints), Mode::Off);
    assert_eq!(set.of(Rule::NodeConfigMaps), Mode::Enforce);
}

#[test]
fn a_feature_gate_enforces_the_rules_on_pods() {
    let gated = modes("featureGates: {NodeRestrictionPods: true}\nrules: {modes: {pods/mirror-namespace: Off}}");
    for rule in Rule::ALL.iter().filter(|rule| rule.is_about_pods()) {
        let expected = if *rule == Rule::PodsMirrorNamespace {
            Mode::Off
        } else {
            Mode::Enforce
        };
        assert_eq!(gated.of(*rule), expected, "{rule}");
    }
    assert_eq!(gated.of(Rule::EventsSource), Mode::Audit);
}

#[test]
fn a_dry_run_comes_last() {
    let dry = modes(
        "featureGates: {NodeRestrictionPods: true}\nrules: {dryRun: true, modes: {node/secrets: Enforce, node/pods: Warn}}",
    );
    assert!(dry.is_dry());
    assert_eq!(dry.of(Rule::NodeSecrets), Mode::Audit);
    assert_eq!(dry.of(Rule::PodsMirrorLabels), Mode::Audit);
    assert_eq!(dry.of(Rule::NodePods), Mode::Warn);
}

#[test_case("rules: {modes: {node/secret: Warn}}" => "rules.modes.node/secret: is not a rule"; "no rule")]
#[test_case("rules: {modes: {node/secrets: warn}}" => "rules.modes.node/secrets: should be Enforce, Warn, Audit or Off"; "no mode")]
#[test_case("rules: {modes: {callers/masters: Audit}}" => "rules.modes.callers/masters: is always enforced"; "fixed")]
#[test_case("rules: {modes: {node/name: Audit}}" => "rules.modes.node/name: is always enforced"; "the name of a node")]
#[test_case("rules: {modes: {restriction/name: Off}}" => "rules.modes.restriction/name: is always enforced"; "the name of a node that writes")]
#[test_case("podRestriction: {allowedLabels: ['*']}" => r#"podRestriction.allowedLabels: "*" is not a key"#; "everything")]
#[test_case("podRestriction: {allowedLabels: ['example.com*']}" => r#"podRestriction.allowedLabels: "example.com*" is not a key"#; "half a domain")]
#[test_case("podRestriction: {allowedFinalizers: ['a b']}" => r#"podRestriction.allowedFinalizers: "a b" is not a key"#; "no key")]
#[test_case("podRestriction: {mirrorPodNamespaces: [kube_system]}" => r#"podRestriction.mirrorPodNamespaces: "kube_system" is not the name of a namespace"#; "no namespace")]
#[test_case("podRestriction: {mirrorPodOwner: Both}" => "podRestriction.mirrorPodOwner: "; "no form")]
#[test_case("nodeAddresses: {allow: [10.0.0.0/33]}" => r#"nodeAddresses.allow: "10.0.0.0/33" has no prefix length of 0 to 32"#; "no network")]
#[test_case("nodeAddresses: {allow: ['*']}" => r#"nodeAddresses.allow: "*" is not like 10.0.0.0/8 or *.compute.internal"#; "every name")]
#[test_case("nodeAddresses: {allow: ['*.Example.com']}" => r#"nodeAddresses.allow: "*.Example.com" is not like 10.0.0.0/8 or *.compute.internal"#; "no domain")]
#[test_case("nodeAddresses: {allow: ['127.1']}" => r#"nodeAddresses.allow: "127.1" could be taken for an IP address"#; "neither")]
fn problems(more: &str) -> String {
    let error = load(&format!("{GOOD}{more}")).unwrap_err().to_string();
    let problem = error.lines().find_map(|line| line.strip_prefix("  - ")).unwrap();
    match problem.split_once(": ") {
        Some((path, _)) if path.ends_with("Owner") => format!("{path}: "),
        _ => problem.to_owned(),
    }
}

/// With the gate's own rights nothing may pass that kube-apiserver would refuse the node.
#[test_case("rules: {dryRun: true}"; "dry run")]
#[test_case("rules: {modes: {node/secrets: Audit}}"; "a rule of the authorizer")]
#[test_case("rules: {modes: {restriction/node-taints: Off}}"; "a rule of admission")]
#[test_case("rules: {modes: {node/certificatesigningrequests: Enforce}}"; "what cannot be told")]
#[test_case("rules: {modes: {restriction/pod-labels: Off}}"; "labels that nobody guards")]
fn not_where_upstream_sees_the_gate(more: &str) {
    let own = GOOD.replace("{mode: FrontProxy, certFile: a, keyFile: a}", "{mode: Own}");
    let error = load(&format!("{own}{more}")).unwrap_err().to_string();
    assert!(error.contains("upstream.identity.mode is Own"), "{error}");
    let config = load(&format!("{own}rules: {{modes: {{pods/mirror-labels: Off}}}}")).unwrap();
    assert_eq!(
        config.authorizer.modes.of(Rule::NodeCertificateSigningRequests),
        Mode::Off
    );
    assert_eq!(config.graph.watch.certificate_requests, Need::None);
}

/// What only recorded rules need, the gate can do without.
#[test_case("" => Need::Recorded; "by default")]
#[test_case("rules: {modes: {node/certificatesigningrequests: Warn}}" => Need::Recorded; "warned of")]
#[test_case("rules: {modes: {node/certificatesigningrequests: Enforce}}" => Need::Enforced; "enforced")]
#[test_case("rules: {dryRun: true, modes: {node/certificatesigningrequests: Enforce}}" => Need::Recorded; "dry run")]
#[test_case("rules: {modes: {node/certificatesigningrequests: Off}}" => Need::None; "off")]
fn certificate_requests_are_watched(more: &str) -> Need {
    load(&format!("{GOOD}{more}")).unwrap().graph.watch.certificate_requests
}

#[test]
fn the_proposal_may_stand_in_for_upstream() {
    let own = GOOD.replace("{mode: FrontProxy, certFile: a, keyFile: a}", "{mode: Own}");
    let instead = "rules: {modes: {restriction/pod-labels: Off, pods/status-labels: Enforce}}";
    let modes = load(&format!("{own}{instead}")).unwrap().admission.modes;
    assert_eq!(modes.of(Rule::RestrictionPodLabels), Mode::Off);
    let gated = "featureGates: {NodeRestrictionPods: true}\nrules: {modes: {restriction/pod-labels: Off}}";
    assert!(load(&format!("{own}{gated}")).is_ok());
}

#[test]
fn addresses_and_names_can_be_allowed() {
    let more = "nodeAddresses: {allow: [169.254.1.0/24, 10.0.0.1, 'fd00::/8', lb.example.com, '*.compute.internal']}";
    let config = load(&format!("{GOOD}{more}")).unwrap();
    let allowed = &config.admission.node_restriction.extended.addresses;
    let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    assert_eq!(
        allowed,
        [
            "169.254.1.0/24",
            "10.0.0.1/32",
            "fd00::/8",
            "lb.example.com",
            "*.compute.internal"
        ]
    );
}

#[test]
fn the_owner_of_mirror_pods_follows_the_feature_gate() {
    let owner = |more: &str| {
        let config = load(&format!("{GOOD}{more}")).unwrap();
        config.admission.node_restriction.mirror_pod_owner
    };
    assert_eq!(owner(""), MirrorPodOwner::Upstream);
    assert_eq!(
        owner("featureGates: {NodeRestrictionPods: true}"),
        MirrorPodOwner::Either
    );
    let both = "featureGates: {NodeRestrictionPods: true}\npodRestriction: {mirrorPodOwner: Proposal}";
    assert_eq!(owner(both), MirrorPodOwner::Proposal);
}
