mod acting_as;
mod quarantine;
mod rules;

use std::fs;

use test_case::test_case;

use super::*;
use crate::authorizer::{ExtraResources, ExtraRule, ExtraTarget, Fallback, Profile};

/// A configuration that has nothing wrong with it, but for the files being empty.
const GOOD: &str = "
apiVersion: scopegate.dev/v1alpha1
kind: GateConfiguration
serving: {address: '127.0.0.1:8443', certFile: a, keyFile: a, clientCAFile: a}
admin: {address: '127.0.0.1:8444'}
upstream: {kubeconfig: a, identity: {mode: FrontProxy, certFile: a, keyFile: a}}
";

#[test]
fn what_is_left_out_has_defaults() {
    let config = load(GOOD).unwrap();
    assert_eq!(config.authorizer.nodes, Fallback::Deny);
    assert_eq!(config.authorizer.others, Fallback::Deny);
    assert_eq!(config.kubernetes_version.to_string(), "1.36");
    assert!(config.features.certificate_uid);
    assert_eq!(config.audit.target, audit::Target::Stdout);
    assert_eq!(config.serving.drain_timeout, Duration::from_secs(30));
}

#[test]
fn revocation_lists_may_be_left_out_but_not_be_missing() {
    assert_eq!(load(GOOD).unwrap().serving.tls.client_crl, None);
    let with = |file: &str| GOOD.replace("clientCAFile: a}", &format!("clientCAFile: a, clientCRLFile: {file}}}"));
    let config = load(&with("a")).unwrap();
    assert!(config.serving.tls.client_crl.is_some_and(|path| path.ends_with("a")));
    let error = load(&with("missing.crl")).unwrap_err().to_string();
    assert!(error.contains("serving.clientCRLFile: cannot read"), "{error}");
    let alone = GOOD.replace(
        "address: '127.0.0.1:8444'",
        "address: '127.0.0.1:8444', clientCRLFile: a",
    );
    let error = load(&alone).unwrap_err().to_string();
    assert!(error.contains("admin.clientCAFile"), "{error}");
}

#[test]
fn the_example_explains_every_key_and_is_well_formed() {
    let example = include_str!("../../config/example.yaml");
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("certs")).unwrap();
    for file in [
        "server.crt",
        "server.key",
        "client-ca.crt",
        "front-proxy-client.crt",
        "front-proxy-client.key",
    ] {
        fs::write(dir.path().join("certs").join(file), "").unwrap();
    }
    fs::write(dir.path().join("admin.kubeconfig"), "").unwrap();
    let path = dir.path().join("gate.yaml");
    fs::write(&path, example).unwrap();
    Config::load(&path).unwrap();
    for key in super::file::keys() {
        let (section, name) = key.split_once('.').unwrap_or(("", &key));
        let name = name.rsplit('.').next().unwrap();
        // A section is a paragraph of the file, with the comments above it.
        let paragraph =
            |text: &&str| text.starts_with(&format!("{section}:")) || text.contains(&format!("\n{section}:"));
        let text = match section {
            "" => example,
            _ => example.split("\n\n").find(paragraph).unwrap(),
        };
        assert!(text.contains(name), "config/example.yaml does not explain {key}");
    }
}

#[test]
fn every_problem_is_reported_at_once_with_path_and_hint() {
    let error = load(
        "
apiVersion: scopegate.dev/v1
kind: GateConfiguration
serving: {address: localhost, certfile: a, keyFile: missing.key, clientCAFile: a, drainTimeout: 30}
admin: {address: '0.0.0.0:8444'}
upstream: {identity: {mode: frontproxy}}
callers: {others: Allow, nodes: {fallback: true}}
kubernetesVersion: 1.36
featureGates: {AllowParsingUserUidFromCertAuth: true}
log: {level: loud}
extra: 1
",
    )
    .unwrap_err()
    .to_string();
    for expected in [
        "gate.yaml has 14 problems:",
        "apiVersion: \"scopegate.dev/v1\" is not known\n      hint: did you mean scopegate.dev/v1alpha1?",
        "serving.address: should be an IP address and port such as 127.0.0.1:8443 or [::1]:8443, not this string",
        "serving.certfile: is not a known key\n      hint: did you mean certFile?",
        "serving.certFile: is missing",
        "serving.keyFile: cannot read",
        "serving.drainTimeout: should be a duration such as 30s, 5m or 500ms, not a number",
        "admin.address: is not a loopback address, and the admin port has no TLS",
        "upstream.identity.mode: \"frontproxy\" is not known\n      hint: did you mean FrontProxy?",
        "callers.others: \"Allow\" is not known\n      hint: one of Deny, Forward",
        "callers.nodes.fallback: should be a string, not a boolean",
        "kubernetesVersion: should be a string, not a number\n      hint: put it in quotes",
        "featureGates.AllowParsingUserUidFromCertAuth: is not a feature gate scopegate knows\n      hint: did you mean AllowParsingUserUIDFromCertAuth?",
        "log.level: log level \"loud\" is not understood",
        "extra: is not a known key",
    ] {
        assert!(error.contains(expected), "missing {expected:?} in:\n{error}");
    }
}

#[test_case("callers: {seeds: {enabled: true, profile: Newest}}" => "callers.seeds.profile: \"Newest\" is not known"; "profile of seeds")]
#[test_case("kubernetesVersion: '1.20'" => "kubernetesVersion: is not a supported release"; "old release")]
#[test_case("audit: {maxSize: 0}" => "audit.maxSize: must not be zero"; "audit size")]
#[test_case("audit: {maxBackups: 1001}" => "audit.maxBackups: must not be more than 1000"; "audit backups")]
#[test_case("callers: []" => "callers: should be a mapping of keys, not a list"; "list for a mapping")]
#[test_case("callers: {allowMasters: admin}" => "callers.allowMasters: should be a list of strings, not this string"; "string for a list")]
#[test_case("authentication: {tokenCacheTTL: 1h}" => "authentication.tokenCacheTTL: must not be more than 300s"; "token ttl")]
fn refused(more: &str) -> String {
    first_line(&format!("{GOOD}{more}\n"))
}

#[test_case("{}" => None; "off unless said otherwise")]
#[test_case("{profile: Current}" => None; "off with a profile")]
#[test_case("{enabled: true}" => Some((Profile::Document, Fallback::Upstream)); "on")]
#[test_case("{enabled: true, profile: Current, fallback: Deny}" => Some((Profile::Current, Fallback::Deny)); "current")]
fn seeds(section: &str) -> Option<(Profile, Fallback)> {
    let config = load(&format!("{GOOD}callers: {{seeds: {section}}}\n")).unwrap();
    let rules = config.authorizer.seeds;
    assert_eq!(config.graph.watch.seeds, rules.map(|rules| rules.profile));
    rules.map(|rules| (rules.profile, rules.fallback))
}

#[test_case("connections: 0" => "serving.limits.connections: must be between 1 and 4294967295"; "no connections")]
#[test_case("streamsPerConnection: 5000000000" => "serving.limits.streamsPerConnection: must be between 1 and 4294967295"; "too many streams")]
#[test_case("headerBytes: 100" => "serving.limits.headerBytes: must not be less than 8192"; "no room for a head")]
#[test_case("stallTimeout: 0s" => "serving.limits.stallTimeout: must not be zero"; "no patience")]
#[test_case("bodyTimeout: 1" => "serving.limits.bodyTimeout: should be a duration such as 30s, 5m or 500ms, not a number"; "no unit")]
#[test_case("connection: 1" => "serving.limits.connection: is not a known key"; "unknown")]
fn refused_limits(limit: &str) -> String {
    first_line(&GOOD.replace("serving: {", &format!("serving: {{limits: {{{limit}}}, ")))
}

#[test_case("servers: ['http://10.0.0.1']" => "upstream.servers: should be at most 16 https URLs"; "not encrypted")]
#[test_case("servers: ['10.0.0.1:6443']" => "upstream.servers: should be at most 16 https URLs"; "no scheme")]
#[test_case("servers: ['https://a b']" => "upstream.servers: should be at most 16 https URLs"; "no URL")]
#[test_case("responseTimeout: 0s" => "upstream.responseTimeout: must not be zero"; "no patience upstream")]
fn refused_upstreams(key: &str) -> String {
    first_line(&GOOD.replace("upstream: {", &format!("upstream: {{{key}, ")))
}

#[test_case("callers: {others: Forward}", "callers.others"; "others")]
#[test_case("callers: {nodes: {fallback: Upstream}}", "callers.nodes.fallback"; "nodes")]
fn the_gates_own_rights_are_never_lent(more: &str, path: &str) {
    let own = GOOD.replace("{mode: FrontProxy, certFile: a, keyFile: a}", "{mode: Own}");
    assert!(load(&own).is_ok());
    let problem = first_line(&format!("{own}{more}\n"));
    assert!(
        problem.starts_with(&format!("{path}: would let the caller act with the gate's own rights")),
        "{problem}"
    );
}

#[test]
fn extra_rules_are_read() {
    let config = load(&format!(
        "{GOOD}
extraRules:
  nodes:
    - {{apiGroups: [''], resources: [configmaps], resourceNames: [kubeadm-config], namespaces: [kube-system], verbs: [get]}}
    - {{nonResourceURLs: [/metrics, /openapi/*, '*'], verbs: [get, head]}}
  others: []
"
    ))
    .unwrap();
    let extra = config.authorizer.extra;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let configmaps = ExtraRule {
        verbs: words(&["get"]),
        target: ExtraTarget::Resources(ExtraResources {
            groups: words(&[""]),
            resources: words(&["configmaps"]),
            names: words(&["kubeadm-config"]),
            namespaces: words(&["kube-system"]),
        }),
    };
    let paths = ExtraRule {
        verbs: words(&["get", "head"]),
        target: ExtraTarget::Paths(words(&["/metrics", "/openapi/*", "*"])),
    };
    assert_eq!(extra.nodes, [configmaps, paths]);
    assert!(extra.bootstrap.is_empty() && extra.others.is_empty());
}

#[test]
fn the_rules_in_the_documents_are_good() {
    let page = include_str!("../../docs/extra-rules.md");
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    let (rules, _) = rest.split_once("```").unwrap();
    for identity in ["{mode: FrontProxy, certFile: a, keyFile: a}", "{mode: Own}"] {
        let text = GOOD.replace("{mode: FrontProxy, certFile: a, keyFile: a}", identity);
        let extra = load(&format!("{text}{rules}")).unwrap().authorizer.extra;
        assert_eq!(extra.nodes.len(), 3);
    }
}

#[test_case("[{apiGroups: [''], resources: [pods]}]" => "extraRules.nodes[0].verbs: is missing"; "no verbs")]
#[test_case("[{apiGroups: [''], resources: [pods], verbs: []}]" => "extraRules.nodes[0].verbs: must not be empty"; "empty verbs")]
#[test_case("[{resources: [pods], verbs: [get]}]" => "extraRules.nodes[0].apiGroups: is missing"; "no group")]
#[test_case("[{apiGroups: [''], verbs: [get]}]" => "extraRules.nodes[0].resources: is missing"; "no resource")]
#[test_case("[{nonResourceURLs: [/metrics], verbs: []}]" => "extraRules.nodes[0].verbs: must not be empty"; "no verbs for paths")]
#[test_case("[{nonResourceURLs: [/metrics], resources: [pods], verbs: [get]}]" =>
    "extraRules.nodes[0].nonResourceURLs: a rule is for resources or for paths, not for both, and paths are in no namespace"; "both")]
#[test_case("[{nonResourceURLs: [/metrics], namespaces: [a], verbs: [get]}]" =>
    "extraRules.nodes[0].nonResourceURLs: a rule is for resources or for paths, not for both, and paths are in no namespace"; "a path in a namespace")]
#[test_case("[{nonResourceURLs: ['/a*b'], verbs: [get]}]" => "extraRules.nodes[0].nonResourceURLs: \"/a*b\" has a * that is not at its end"; "star inside")]
#[test_case("[{nonResourceURLs: [metrics], verbs: [get]}]" => "extraRules.nodes[0].nonResourceURLs: \"metrics\" is not a path"; "no path")]
#[test_case("[{apiGroups: [''], resources: [pods], resourceNames: [''], verbs: [list]}]" =>
    "extraRules.nodes[0].resourceNames: must not have an empty string in it"; "no name")]
#[test_case("[{apiGroups: [''], resources: [pods], namespaces: [], verbs: [get]}]" => "extraRules.nodes[0].namespaces: must not be empty"; "no namespaces")]
#[test_case("[{apiGroups: [''], resources: [pods], namespaces: ['*'], verbs: [get]}]" => "extraRules.nodes[0].namespaces: are names, and no patterns"; "all namespaces")]
#[test_case("[{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [''], resources: [pods], verb: [get], verbs: [get]}]" =>
    "extraRules.nodes[1].verb: is not a known key"; "unknown key")]
#[test_case("[{apiGroups: '', resources: [pods], verbs: [get]}]" => "extraRules.nodes[0].apiGroups: should be a list of strings, not this string"; "no list")]
#[test_case("[get]" => "extraRules.nodes[0]: should be a mapping of keys, not this string"; "no mapping")]
#[test_case("{}" => "extraRules.nodes: should be a list of mappings, not a mapping"; "no list of rules")]
fn refused_extra_rules(rules: &str) -> String {
    let problems = problems(&format!("{GOOD}extraRules: {{nodes: {rules}}}\n"));
    format!("{}: {}", problems[0].path, problems[0].message)
}

/// Upstream would let the caller do whatever the gate may.
#[test_case("nodes", "apiGroups: [''], resources: [configmaps], verbs: [get]", None; "nodes have rights of the gate anyway")]
#[test_case("bootstrap", "apiGroups: ['*'], resources: ['*'], verbs: ['*']", None; "bootstrap tokens go on by themselves")]
#[test_case("others", "apiGroups: [''], resources: [configmaps], verbs: [get]", Some("extraRules.others"); "others")]
#[test_case("nodes", "apiGroups: [''], resources: [configmaps], verbs: ['*']", Some("extraRules.nodes[0].verbs"); "all verbs")]
#[test_case("nodes", "apiGroups: ['*'], resources: [configmaps], verbs: [get]", Some("extraRules.nodes[0].apiGroups"); "all groups")]
#[test_case("nodes", "apiGroups: [''], resources: ['*/status'], verbs: [get]", Some("extraRules.nodes[0].resources"); "a subresource of all")]
#[test_case("nodes", "nonResourceURLs: ['*'], verbs: [get]", Some("extraRules.nodes[0].nonResourceURLs"); "all paths")]
fn extra_rules_lend_no_rights_of_the_gate(list: &str, rule: &str, refused: Option<&str>) {
    let more = format!("extraRules: {{{list}: [{{{rule}}}]}}\n");
    assert!(load(&format!("{GOOD}{more}")).is_ok());
    let own = GOOD.replace("{mode: FrontProxy, certFile: a, keyFile: a}", "{mode: Own}");
    match refused {
        None => assert!(load(&format!("{own}{more}")).is_ok()),
        Some(path) => {
            let problem = first_line(&format!("{own}{more}"));
            assert!(problem.starts_with(&format!("{path}: ")), "{problem}");
            assert!(problem.contains("gate's own rights"), "{problem}");
        }
    }
}

#[test]
fn feature_defaults_follow_the_release_and_can_be_set() {
    let old = load(&format!("{GOOD}kubernetesVersion: '1.32'\n")).unwrap();
    assert!(!old.features.certificate_uid && !old.features.front_proxy_uid);
    let set = load(&format!(
        "{GOOD}kubernetesVersion: '1.32'\nfeatureGates: {{RemoteRequestHeaderUID: true, AuthorizeNodeWithSelectors: false}}\n"
    ))
    .unwrap();
    assert!(set.features.front_proxy_uid && !set.features.certificate_uid);
    assert!(!set.authorizer.node_rules.selectors, "and the rules are told");
}

#[test_case("1.34", "AuthorizeNodeWithSelectors: false" =>
    "featureGates.AuthorizeNodeWithSelectors: is locked to true in Kubernetes 1.34"; "locked")]
#[test_case("1.32", "AllowParsingUserUIDFromCertAuth: true" =>
    "featureGates.AllowParsingUserUIDFromCertAuth: is not a feature gate of Kubernetes 1.32; it came with 1.33"; "too new")]
#[test_case("1.33", "PodCertificateRequest: false" =>
    "featureGates.PodCertificateRequest: is not a feature gate of Kubernetes 1.33; it came with 1.34"; "too new to be off")]
#[test_case("1.36", "ClusterTrustBundle: 1" =>
    "featureGates.ClusterTrustBundle: should be true or false"; "no boolean")]
fn refused_gates(version: &str, gate: &str) -> String {
    first_line(&format!(
        "{GOOD}kubernetesVersion: '{version}'\nfeatureGates: {{{gate}}}\n"
    ))
}

#[test]
fn a_locked_gate_may_be_named() {
    assert!(load(&format!("{GOOD}featureGates: {{AuthorizeNodeWithSelectors: true}}\n")).is_ok());
}

#[test_case("a: [" ; "broken")]
#[test_case("a: 1\na: 2\n"; "a key twice")]
fn not_yaml(text: &str) {
    assert!(matches!(load(text).unwrap_err(), Error::Yaml { .. }));
}

fn first_line(text: &str) -> String {
    let problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    format!("{}: {}", problems[0].path, problems[0].message)
}

fn problems(text: &str) -> Vec<Problem> {
    let Error::Problems { problems, .. } = load(text).unwrap_err() else {
        panic!("not a list of problems");
    };
    problems
}

fn load(text: &str) -> Result<Config, Error> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "").unwrap();
    let path = dir.path().join("gate.yaml");
    fs::write(&path, text).unwrap();
    Config::load(&path)
}
