use test_case::test_case;

use super::*;
use crate::{
    api::garden::bootstrap_token_secret,
    graph::{Key, Kind},
};

const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"},
    "spec": {"nodeName": "node-a", "serviceAccountName": "sa"}}"#;
const BARE: &str = r#"{"metadata": {"name": "web", "namespace": "default"},
    "spec": {"nodeName": "node-a", "serviceAccountName": "sa"}}"#;
const SECRET: &str = r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}}"#;
const YAML: &str = "
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  nodeName: node-a
  serviceAccountName: sa
";

#[test_case(POD => "1 pod, no persistentvolumes, no volumeattachments, no resourceslices"; "one object")]
#[test_case(&format!("{POD}\n{SECRET}") => "1 pod, no persistentvolumes, no volumeattachments, no resourceslices, 1 of other kinds skipped"; "several")]
#[test_case(&format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{POD}, {SECRET}, {SECRET}]}}"#)
    => "1 pod, no persistentvolumes, no volumeattachments, no resourceslices, 2 of other kinds skipped"; "list")]
#[test_case(&format!(r#"{{"apiVersion": "v1", "kind": "PodList", "items": [{BARE}]}}"#)
    => "1 pod, no persistentvolumes, no volumeattachments, no resourceslices"; "list of one kind")]
#[test_case(&format!(r#"{{"kind": "List", "apiVersion": "v1", "items": [{{"apiVersion": "v1", "kind": "PodList", "items": [{BARE}]}}]}}"#)
    => "1 pod, no persistentvolumes, no volumeattachments, no resourceslices"; "list of lists")]
#[test_case(YAML => "1 pod, no persistentvolumes, no volumeattachments, no resourceslices"; "yaml")]
#[test_case(&format!("---\n# a comment\n---{YAML}---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: v}}\n---\n")
    => "1 pod, 1 persistentvolume, no volumeattachments, no resourceslices"; "yaml documents")]
#[test_case(&format!("apiVersion: v1\nkind: List\nitems:\n-{}", YAML.replace('\n', "\n  "))
    => "1 pod, no persistentvolumes, no volumeattachments, no resourceslices"; "yaml list")]
fn objects_are_found_in_every_form(text: &str) -> String {
    let known = read("file", text, None).unwrap();
    let account = Key::new(Kind::ServiceAccount, "default", "sa");
    assert!(known.nodes.graph.reaches("node-a", account));
    let origin = known
        .nodes
        .origin
        .strip_prefix("file (")
        .and_then(|origin| origin.strip_suffix(')'));
    origin.unwrap().to_owned()
}

#[test_case("" => "there are no pods in it, nor anything else that nodes are decided about by"; "empty")]
#[test_case(SECRET => "there are no pods in it, nor anything else that nodes are decided about by"; "nothing of use")]
#[test_case(r#"{"kind": "Pod"# => "it is not JSON: EOF while parsing a string at line 1 column 13"; "cut off")]
#[test_case(r#"{"apiVersion": "v1", "kind": "Pod", "spec": {}}"# => "a Pod in it cannot be read: it has no name"; "nameless")]
#[test_case(r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"nodeName": 3}}"#
    => "a Pod in it cannot be read: invalid type: integer `3`, expected a string"; "wrong")]
fn bad_files_are_refused(text: &str) -> String {
    format!("{:#}", read("file", text, None).unwrap_err())
}

const GARDEN: &str = "
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: parent, namespace: garden}
spec: {seedName: seed-a, credentialsBindingName: cloud}
---
apiVersion: security.gardener.cloud/v1alpha1
kind: CredentialsBinding
metadata: {name: cloud, namespace: garden}
credentialsRef: {apiVersion: v1, kind: Secret, namespace: garden, name: key}
---
apiVersion: seedmanagement.gardener.cloud/v1alpha1
kind: ManagedSeed
metadata: {name: child, namespace: garden}
spec: {shoot: {name: parent}, gardenlet: {bootstrap: BootstrapToken}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: garden}
";

#[test_case(Some(Profile::Current) => (true, true, "no seeds, 1 shoot, 1 managedseed, 1 credentialsbinding, 1 serviceaccount".to_owned()); "of today")]
#[test_case(Some(Profile::Document) => (false, true, "no seeds, 1 shoot, 1 managedseed, 1 of other kinds skipped".to_owned()); "of the document")]
fn a_garden_is_read_by_its_rules(profile: Option<Profile>) -> (bool, bool, String) {
    let seeds = read("file", GARDEN, profile).unwrap().seeds.unwrap();
    let reaches = |namespace, name: &str| seeds.graph.reaches("seed-a", Key::new(Kind::Secret, namespace, name));
    // There is no seed yet, so its gardenlet may begin.
    let token = reaches("kube-system", &bootstrap_token_secret("garden", "child"));
    let origin = seeds.origin.strip_prefix("file (").unwrap().strip_suffix(')').unwrap();
    (reaches("garden", "key"), token, origin.to_owned())
}

#[test]
fn without_rules_for_seeds_there_is_no_graph_of_them() {
    let known = read("file", GARDEN, None).unwrap();
    assert!(known.seeds.is_none());
    assert!(
        known
            .nodes
            .origin
            .contains("1 serviceaccount, 3 of other kinds skipped"),
        "{}",
        known.nodes.origin
    );
}

#[test]
fn yaml_that_is_none_is_refused() {
    let error = format!("{:#}", read("file", "a: [", None).unwrap_err());
    assert!(error.starts_with("it is neither YAML nor JSON: "), "{error}");
}

/// Configurations end sooner.
#[test]
fn a_large_file_is_read() {
    let many: Vec<String> = (0..1100)
        .map(|at| YAML.replace("name: web", &format!("name: web-{at}")))
        .collect();
    let long = format!("{}rest: [{}]\n", many.join("---"), "0,".repeat(260_000));
    let known = read("file", &long, None).unwrap();
    assert!(
        known.nodes.origin.starts_with("file (1100 pods, "),
        "{}",
        known.nodes.origin
    );
}
