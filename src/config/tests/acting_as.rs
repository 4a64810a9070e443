//! Who may act as whom.

use test_case::test_case;

use super::{GOOD, first_line, load, problems};
use crate::{
    authorizer::{
        ExtraResources,
        acting_as::{Actors, Delegation, Deputy, Subjects},
    },
    caller::Semantics,
};

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn nothing_said_is_upstreams_word_and_the_intersection() {
    let acting_as = load(GOOD).unwrap().acting_as;
    assert_eq!(acting_as.semantics, Semantics::Intersection);
    assert!(acting_as.by_review && acting_as.constrained);
    assert!(acting_as.delegations.is_empty() && acting_as.deputies.is_empty());
    let old = load(&format!("{GOOD}kubernetesVersion: '1.35'\n")).unwrap();
    assert!(!old.acting_as.constrained, "it is off in 1.35");
    let set = "kubernetesVersion: '1.35'\nfeatureGates: {ConstrainedImpersonation: true}\n";
    assert!(load(&format!("{GOOD}{set}")).unwrap().acting_as.constrained);
}

#[test]
fn everything_is_read() {
    let acting_as = load(&format!(
        "{GOOD}
actingAs:
  semantics: Subject
  byReview: false
  delegations:
    - actors: {{users: [deployer], groups: [ci]}}
      subjects: {{users: [jane], serviceAccountsIn: [a], defaultServiceAccountOf: RequestNamespace}}
      apiGroups: ['']
      resources: [pods, pods/log]
      verbs: [get]
    - {{actors: {{groups: [ci]}}, subjects: {{users: [jane]}}}}
    - {{actors: {{groups: [ci]}}, subjects: {{users: [jane]}}, resources: [pods]}}
  deputies:
    - {{user: job}}
    - {{user: job, serviceAccount: builder, apiGroups: [batch], resources: [jobs], verbs: [create], namespaces: [a]}}
"
    ))
    .unwrap()
    .acting_as;
    assert_eq!(acting_as.semantics, Semantics::Subject);
    assert!(!acting_as.by_review);
    let resources = |groups: &[&str], resources: &[&str], namespaces: &[&str]| ExtraResources {
        groups: words(groups),
        resources: words(resources),
        names: vec![],
        namespaces: words(namespaces),
    };
    let ci = |resources| Delegation {
        actors: Actors {
            users: vec![],
            groups: words(&["ci"]),
        },
        subjects: Subjects {
            users: words(&["jane"]),
            ..Subjects::default()
        },
        verbs: words(&["*"]),
        resources,
    };
    let first = Delegation {
        actors: Actors {
            users: words(&["deployer"]),
            groups: words(&["ci"]),
        },
        subjects: Subjects {
            users: words(&["jane"]),
            account_namespaces: words(&["a"]),
            default_of_request: true,
        },
        verbs: words(&["get"]),
        resources: Some(resources(&[""], &["pods", "pods/log"], &[])),
    };
    let limited = ci(Some(resources(&["*"], &["pods"], &[])));
    assert_eq!(acting_as.delegations, [first, ci(None), limited]);
    let whole = Deputy {
        user: "job".to_owned(),
        service_account: "default".to_owned(),
        verbs: words(&["create", "update", "patch", "delete"]),
        resources: resources(&["*"], &["*"], &[]),
    };
    let part = Deputy {
        user: "job".to_owned(),
        service_account: "builder".to_owned(),
        verbs: words(&["create"]),
        resources: resources(&["batch"], &["jobs"], &["a"]),
    };
    assert_eq!(acting_as.deputies, [whole, part]);
}

const TO: &str = "subjects: {users: [jane]}";
const BY: &str = "actors: {users: [ci]}";

#[test_case("semantics: Union" => "actingAs.semantics: \"Union\" is not known"; "semantics")]
#[test_case(&format!("delegations: [{{{TO}}}]") => "actingAs.delegations[0].actors: name nobody"; "no actors")]
#[test_case(&format!("delegations: [{{{BY}}}]") => "actingAs.delegations[0].subjects: name nobody"; "no subjects")]
#[test_case(&format!("delegations: [{{{TO}, actors: {{users: ['']}}}}]") => "actingAs.delegations[0].actors.users: must not have an empty string in it"; "an actor without a name")]
#[test_case(&format!("delegations: [{{{TO}, actors: {{users: ['system:node:n1']}}}}]") => "actingAs.delegations[0].actors.users: \"system:node:n1\" acts as nobody else, whatever a rule says"; "a node as actor")]
#[test_case(&format!("delegations: [{{{BY}, subjects: {{users: ['system:anonymous']}}}}]") => "actingAs.delegations[0].subjects.users: nobody acts as somebody who is not authenticated"; "nobody as subject")]
#[test_case(&format!("delegations: [{{{BY}, subjects: {{serviceAccountsIn: ['*']}}}}]") => "actingAs.delegations[0].subjects.serviceAccountsIn: are names, and no patterns"; "all namespaces")]
#[test_case(&format!("delegations: [{{{BY}, subjects: {{defaultServiceAccountOf: ns}}}}]") => "actingAs.delegations[0].subjects.defaultServiceAccountOf: \"ns\" is not known"; "another namespace")]
#[test_case(&format!("delegations: [{{{BY}, {TO}, verbs: []}}]") => "actingAs.delegations[0].verbs: must not be empty"; "no verbs")]
#[test_case(&format!("delegations: [{{{BY}, {TO}, resources: []}}]") => "actingAs.delegations[0].resources: must not be empty"; "no resources")]
#[test_case(&format!("delegations: [{{{BY}, {TO}, namespaces: [a]}}]") => "actingAs.delegations[0].namespaces: is not a known key"; "unknown key")]
#[test_case("deputies: [{}]" => "actingAs.deputies[0].user: is missing"; "a deputy without a name")]
#[test_case("deputies: [{user: 'system:bootstrap:a'}]" => "actingAs.deputies[0].user: \"system:bootstrap:a\" acts as nobody else, whatever a rule says"; "who joins")]
#[test_case("deputies: [{user: a, serviceAccount: 'a:b'}]" => "actingAs.deputies[0].serviceAccount: \"a:b\" is not the name of a service account"; "no service account")]
#[test_case("deputies: [{user: a, verbs: []}]" => "actingAs.deputies[0].verbs: must not be empty"; "a deputy without verbs")]
#[test_case("deputies: [{user: a, namespaces: []}]" => "actingAs.deputies[0].namespaces: must not be empty"; "a deputy nowhere")]
fn refused(keys: &str) -> String {
    let problems = problems(&format!("{GOOD}actingAs: {{{keys}}}\n"));
    format!("{}: {}", problems[0].path, problems[0].message)
}

/// Upstream could not be told.
#[test_case(&format!("delegations: [{{{BY}, {TO}}}]"), "actingAs.delegations"; "delegations")]
#[test_case("deputies: [{user: a}]", "actingAs.deputies"; "deputies")]
fn mode_own_has_none(keys: &str, path: &str) {
    let own = GOOD.replace("{mode: FrontProxy, certFile: a, keyFile: a}", "{mode: Own}");
    assert!(load(&format!("{own}actingAs: {{semantics: Subject}}\n")).is_ok());
    let problem = first_line(&format!("{own}actingAs: {{{keys}}}\n"));
    assert!(problem.starts_with(&format!("{path}: cannot be: ")), "{problem}");
    assert!(load(&format!("{GOOD}actingAs: {{{keys}}}\n")).is_ok());
}

/// What stands there as a comment is what people copy.
#[test]
fn the_examples_are_good() {
    let example = include_str!("../../../config/example.yaml");
    let (_, section) = example.split_once("\nactingAs:\n").unwrap();
    let (section, _) = section.split_once("\n\n").unwrap();
    let mut keys = String::new();
    for part in ["delegations", "deputies"] {
        let (_, list) = section.split_once(&format!("  # {part}:")).unwrap();
        let lines = list.lines().skip(1).take_while(|line| line.starts_with("  #   "));
        let lines: Vec<String> = lines.map(|line| line.replacen("  #   ", "    ", 1)).collect();
        keys.push_str(&format!("  {part}:\n{}\n", lines.join("\n")));
    }
    let acting_as = load(&format!("{GOOD}actingAs:\n{keys}")).unwrap().acting_as;
    assert_eq!((acting_as.delegations.len(), acting_as.deputies.len()), (1, 15));
}
