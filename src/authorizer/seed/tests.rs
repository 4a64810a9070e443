mod garden;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use test_case::test_case;

use super::*;
use crate::{
    api::names,
    authorizer::{
        Attributes, Authorizer, Fallback, explain,
        node::tests::{VERBS, request},
        tests::{GATE, head},
    },
    caller::User,
    decision::{Decision, Evidence, Verdict},
    quarantine::Quarantine,
};

const UNRELATED: &str = "no relationship found between seed 'seed-a' and this object";
const NO_NAME: &str = "No Object name found";
const ONE: &str = "only one object at a time can be read, by its name";
const LABEL: &str = "can only list or watch with the label selector name.seed.gardener.cloud/seed-a=true";
const NO_SUBRESOURCE: &str = "only the following subresources are allowed for this resource type: []";
const IDENTITY: &str = "the identity of the garden can only be read";

/// Verbs, and what comes of each of them; `verbs` stands for the reason that names those that there are, and `*` for all verbs that
/// no row before it names.
type Rows = &'static [(&'static str, &'static str)];

/// Rows that end in the same refusal, with the verbs in the order of the alphabet.
macro_rules! only {
    ($verbs:literal) => {
        concat!(
            "only the following verbs are allowed for this resource type: [",
            $verbs,
            "]"
        )
    };
}

const ALL_BUT_COLLECTIONS: &str = only!("create delete get list patch update watch");
const DOCUMENT_GET: Rows = &[("get", "related"), ("*", only!("get"))];
const DOCUMENT_GET_UNRELATED: Rows = &[("get", UNRELATED), ("*", only!("get"))];
const READ: Rows = &[("get list watch", "related"), ("*", only!("get list watch"))];
const READ_UNRELATED: Rows = &[("get list watch", UNRELATED), ("*", only!("get list watch"))];
const READ_UNNAMED: Rows = &[("list watch", ONE), ("*", only!("get list watch"))];

#[test_case("/apis/core.gardener.cloud/v1beta1/backupbuckets/ua",
    &[("get list watch create", "allow"), ("update patch delete", "related"), ("*", ALL_BUT_COLLECTIONS)]; "bucket")]
#[test_case("/apis/core.gardener.cloud/v1beta1/backupbuckets/ub",
    &[("get list watch create", "allow"), ("update patch delete", UNRELATED), ("*", ALL_BUT_COLLECTIONS)]; "bucket of another seed with an entry of this one")]
#[test_case("/apis/core.gardener.cloud/v1beta1/backupbuckets/ua/status", &[("get", "allow"), ("update patch", "related")]; "status of a bucket")]
#[test_case("/apis/core.gardener.cloud/v1beta1/backupbuckets/ua/finalizers",
    &[("*", "only the following subresources are allowed for this resource type: [status]")]; "finalizers of a bucket")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/backupentries/e1",
    &[("get list watch create", "allow"), ("update patch", "related"), ("*", only!("create get list patch update watch"))]; "entry")]
#[test_case("/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp1", DOCUMENT_GET; "cloud profile")]
#[test_case("/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp2", DOCUMENT_GET_UNRELATED; "cloud profile of another seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp1/status", &[("*", NO_SUBRESOURCE)]; "status of a cloud profile")]
#[test_case("/api/v1/namespaces/garden-p1/configmaps/aud1", DOCUMENT_GET; "config map")]
#[test_case("/api/v1/namespaces/garden-p1/configmaps/other", DOCUMENT_GET_UNRELATED; "another config map")]
#[test_case("/api/v1/namespaces/kube-system/configmaps/cluster-identity", &[("get", "allow"), ("*", only!("get"))]; "who the garden is")]
#[test_case("/api/v1/namespaces/kube-system/configmaps/cluster-identity/x", &[("*", NO_SUBRESOURCE)]; "a part of who the garden is")]
#[test_case("/apis/core.gardener.cloud/v1beta1/controllerregistrations/r", &[("get list watch", "allow"), ("*", only!("get list watch"))]; "registration")]
#[test_case("/apis/core.gardener.cloud/v1beta1/controllerregistrations", &[("list watch", "allow"), ("*", only!("get list watch"))]; "registrations")]
#[test_case("/apis/core.gardener.cloud/v1beta1/controllerinstallations/ci1",
    &[("get list watch", "allow"), ("update patch", "related"), ("*", only!("get list patch update watch"))]; "installation")]
#[test_case("/apis/core.gardener.cloud/v1beta1/controllerinstallations/ci2",
    &[("get list watch", "allow"), ("update patch", UNRELATED), ("*", only!("get list patch update watch"))]; "installation of another seed")]
#[test_case("/api/v1/namespaces/any/events/e", &[("create", "allow"), ("*", only!("create"))]; "event")]
#[test_case("/apis/events.k8s.io/v1/namespaces/any/events/e", &[("create", "allow"), ("*", only!("create"))]; "event of the other group")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases/seed-a",
    &[("create", "allow"), ("get watch update delete", "related"), ("*", only!("create delete get update watch"))]; "lease")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases/seed-b",
    &[("create", "allow"), ("get watch update delete", UNRELATED), ("*", only!("create delete get update watch"))]; "lease of another seed")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases",
    &[("create", "allow"), ("watch", NO_NAME), ("list", only!("create delete get update watch"))]; "leases")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/any/leases/gardenlet-leader-election",
    &[("create get watch update", "allow"), ("delete", UNRELATED), ("*", only!("create delete get update watch"))]; "the lease of the replicas")]
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseeds/child",
    &[("get list watch", "allow"), ("update patch", "related"), ("*", only!("get list patch update watch"))]; "managed seed")]
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseeds/child/status", &[("get", "allow"), ("update patch", "related")]; "status of a managed seed")]
#[test_case("/api/v1/namespaces/garden-p1", DOCUMENT_GET; "namespace")]
#[test_case("/api/v1/namespaces/garden-p2", DOCUMENT_GET_UNRELATED; "namespace of another seed")]
#[test_case("/api/v1/namespaces/seed-seed-a", DOCUMENT_GET; "the namespace of the seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/projects/p1", DOCUMENT_GET; "project")]
#[test_case("/apis/core.gardener.cloud/v1beta1/projects/p2", DOCUMENT_GET_UNRELATED; "project of another seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/secretbindings/sb1", DOCUMENT_GET; "binding")]
#[test_case("/apis/core.gardener.cloud/v1beta1/seeds/seed-b",
    &[("deletecollection proxy other", ALL_BUT_COLLECTIONS), ("*", "allow")]; "seed, whose is looked at elsewhere")]
#[test_case("/apis/core.gardener.cloud/v1beta1/seeds/seed-b/status", &[("get update patch", "allow")]; "status of a seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shoots/s1",
    &[("get list watch", "allow"), ("update patch", "related"), ("*", only!("get list patch update watch"))]; "shoot")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p2/shoots/s2",
    &[("get list watch", "allow"), ("update patch", UNRELATED), ("*", only!("get list patch update watch"))]; "shoot of another seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shoots/s4",
    &[("get list watch", "allow"), ("update patch", UNRELATED), ("*", only!("get list patch update watch"))]; "shoot of a seed that is made of a shoot of this one")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shootstates/s1",
    &[("create", "allow"), ("get update patch", "related"), ("*", only!("create get patch update"))]; "state")]
#[test_case("/api/v1/namespaces/garden-p1/secrets/x", &[("*", "unlisted")]; "secret")]
#[test_case("/apis/operations.gardener.cloud/v1alpha1/namespaces/garden-p1/bastions/b1", &[("*", "unlisted")]; "bastion")]
#[test_case("/apis/apps/v1/namespaces/garden/deployments/d", &[("*", "unlisted")]; "something else")]
#[test_case("/apis/example.com/v1/namespaces/garden-p1/shoots/s1", &[("*", "unlisted")]; "shoot of another group")]
fn document(path: &str, rows: Rows) {
    check(Profile::Document, &gardenlet("seed-a"), path, rows);
}

#[test_case("/apis/core.gardener.cloud/v1beta1/backupbuckets/ua",
    &[("get list watch create", "allow"), ("update patch delete", "related"), ("*", ALL_BUT_COLLECTIONS)]; "bucket")]
#[test_case("/apis/core.gardener.cloud/v1beta1/backupbuckets/ub", &[("update patch delete", UNRELATED)]; "bucket of another seed with an entry of this one")]
#[test_case("/apis/core.gardener.cloud/v1beta1/backupbuckets/ua/finalizers", &[("update patch", "related")]; "finalizers of a bucket")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/backupentries/e1",
    &[("get list watch create", "allow"), ("update patch delete", "related"), ("*", ALL_BUT_COLLECTIONS)]; "entry")]
#[test_case("/apis/operations.gardener.cloud/v1alpha1/namespaces/garden-p1/bastions/b1",
    &[("create", "allow"), ("get list watch update patch", "related"), ("*", only!("create get list patch update watch"))]; "bastion")]
#[test_case("/apis/operations.gardener.cloud/v1alpha1/bastions",
    &[("list watch", "can only list or watch with the field selector spec.seedName=seed-a")]; "bastions")]
#[test_case("/apis/certificates.k8s.io/v1/certificatesigningrequests/csr1",
    &[("create", "allow"), ("get list watch", "related"), ("*", only!("create get list watch"))]; "certificate request")]
#[test_case("/apis/certificates.k8s.io/v1/certificatesigningrequests/csr1/seedclient", &[("create", "allow")]; "certificate for a seed")]
#[test_case("/apis/certificates.k8s.io/v1/certificatesigningrequests/csr1/approval",
    &[("*", "only the following subresources are allowed for this resource type: [seedclient]")]; "approval")]
#[test_case("/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp1", READ; "cloud profile")]
#[test_case("/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp2", READ_UNRELATED; "cloud profile of another seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/cloudprofiles", READ_UNNAMED; "cloud profiles")]
#[test_case("/apis/core.gardener.cloud/v1beta1/exposureclasses/ec1", READ; "exposure class")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/namespacedcloudprofiles/ncp1", READ; "namespaced cloud profile")]
#[test_case("/apis/core.gardener.cloud/v1beta1/projects/p1", READ; "project")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/secretbindings/sb1", READ; "secret binding")]
#[test_case("/apis/core.gardener.cloud/v1/controllerdeployments/cd1", READ; "deployment of a controller")]
#[test_case("/apis/security.gardener.cloud/v1alpha1/namespaces/garden-p1/credentialsbindings/cb1", READ; "credentials binding")]
#[test_case("/api/v1/namespaces/garden-p1", READ; "namespace")]
#[test_case("/api/v1/namespaces/garden-p2", READ_UNRELATED; "namespace of another seed")]
#[test_case("/api/v1/namespaces", READ_UNNAMED; "namespaces")]
#[test_case("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child",
    &[("create", "allow"), ("get update patch", "related"), ("*", only!("create get patch update"))]; "binding by which a managed seed begins")]
#[test_case("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-seed-a",
    &[("create delete", "allow"), ("get update patch", UNRELATED)]; "binding by which it began itself")]
#[test_case("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:other:gardenlet-bootstrap-seed-a",
    &[("delete", only!("create get patch update"))]; "binding for another namespace")]
#[test_case("/api/v1/namespaces/gardener-system-public/configmaps/gardener-info", &[("get create", "allow"), ("list watch delete", UNRELATED)]; "about the garden")]
#[test_case("/api/v1/namespaces/kube-system/configmaps/cluster-identity", &[("get list watch", "related"), ("deletecollection", ALL_BUT_COLLECTIONS), ("*", IDENTITY)]; "who the garden is")]
#[test_case("/api/v1/namespaces/garden-p1/configmaps/aud1",
    &[("create", "allow"), ("get list watch update patch delete", "related"), ("*", ALL_BUT_COLLECTIONS)]; "config map")]
#[test_case("/api/v1/namespaces/garden-p1/configmaps", &[("list watch", ONE), ("create", "allow")]; "config maps")]
#[test_case("/apis/core.gardener.cloud/v1beta1/controllerinstallations/ci1",
    &[("get list watch update patch", "related"), ("*", only!("get list patch update watch"))]; "installation")]
#[test_case("/apis/core.gardener.cloud/v1beta1/controllerinstallations/ci2", &[("get list watch update patch", UNRELATED)]; "installation of another seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/controllerregistrations", &[("list watch", "allow"), ("*", only!("get list watch"))]; "registrations")]
#[test_case("/api/v1/namespaces/any/events/e", &[("create patch", "allow"), ("*", only!("create patch"))]; "event")]
#[test_case("/api/v1/namespaces/any/events/e/x", &[("create patch", NO_SUBRESOURCE), ("update", only!("create patch"))]; "part of an event")]
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/gardenlets/seed-a",
    &[("create list watch", "allow"), ("get update patch", "related"), ("*", only!("create get list patch update watch"))]; "gardenlet")]
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/gardenlets/seed-b",
    &[("list watch", "can only list or watch with the field selector metadata.name=seed-a"), ("get update patch", UNRELATED)]; "gardenlet of another seed")]
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/other/gardenlets/seed-a",
    &[("*", "only the following namespaces are allowed for this resource type: [garden]")]; "gardenlet elsewhere")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/internalsecrets/s1.ca-client",
    &[("create", "allow"), ("get list watch update patch delete", "related"), ("*", ALL_BUT_COLLECTIONS)]; "internal secret")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases/seed-a",
    &[("create", "allow"), ("get list watch update patch", "related"), ("*", only!("create get list patch update watch"))]; "lease")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/any/leases/gardenlet-leader-election",
    &[("create", "allow"), ("get list watch update patch", UNRELATED)]; "the lease of the replicas")]
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseeds/child",
    &[("get list watch update patch", "related"), ("*", only!("get list patch update watch"))]; "managed seed")]
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/managedseeds", &[("list watch", LABEL)]; "managed seeds")]
#[test_case("/api/v1/namespaces/seed-seed-a/secrets", &[("list watch create", "allow"), ("update patch", NO_NAME), ("*", only!("create delete get patch update"))]; "secrets of the seed")]
#[test_case("/api/v1/namespaces/seed-seed-a/secrets/s", &[("get list watch create", "allow"), ("update patch delete", UNRELATED)]; "secret of the seed")]
#[test_case("/api/v1/namespaces/garden/secrets", &[("list watch", only!("create delete get patch update"))]; "secrets elsewhere")]
#[test_case("/api/v1/namespaces/garden-p1/secrets/x",
    &[("create", "allow"), ("get update patch delete", "related"), ("*", only!("create delete get patch update"))]; "secret")]
#[test_case("/api/v1/namespaces/gardener-system-shoot-issuer/secrets/p1--u1", &[("get update patch delete", "related")]; "issuer of a shoot")]
#[test_case("/api/v1/namespaces/gardener-system-shoot-issuer/secrets/p1--u2", &[("get update patch delete", UNRELATED)]; "issuer of another shoot")]
// Made with `printf %s garden--seed-a | sha256sum`.
#[test_case("/api/v1/namespaces/kube-system/secrets/bootstrap-token-c75b92", &[("delete", "allow"), ("get update patch", UNRELATED)]; "token by which it began itself")]
#[test_case("/api/v1/namespaces/garden/secrets/bootstrap-token-c75b92", &[("get update patch delete", UNRELATED)]; "token elsewhere")]
#[test_case("/apis/core.gardener.cloud/v1beta1/seeds/seed-a",
    &[("create", "allow"), ("get list watch update patch delete", "related"), ("*", ALL_BUT_COLLECTIONS)]; "seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/seeds/child", &[("get list watch update patch delete", "related")]; "seed that is made of its shoot")]
#[test_case("/apis/core.gardener.cloud/v1beta1/seeds/seed-b", &[("get list watch update patch delete", UNRELATED)]; "another seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/seeds", &[("list watch", LABEL)]; "seeds")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/x/seeds/seed-a", &[("get list watch update patch delete", UNRELATED)]; "seed in a namespace")]
#[test_case("/api/v1/namespaces/seed-seed-a/serviceaccounts/a", &[("*", "allow")]; "account of the seed")]
#[test_case("/api/v1/namespaces/seed-seed-a/serviceaccounts/a/token", &[("*", "allow")]; "token of an account of the seed")]
#[test_case("/api/v1/namespaces/seed-seed-b/serviceaccounts/a/token", &[("*", NO_SUBRESOURCE)]; "token of another account")]
#[test_case("/api/v1/namespaces/garden/serviceaccounts/gardenlet-bootstrap-child",
    &[("create", "allow"), ("get update patch", "related"), ("*", only!("create get patch update"))]; "account by which a managed seed begins")]
#[test_case("/api/v1/namespaces/garden/serviceaccounts/gardenlet-bootstrap-seed-a", &[("delete", "allow"), ("get", UNRELATED)]; "account by which it began itself")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shoots/s1",
    &[("get list watch update patch", "related"), ("*", only!("get list patch update watch"))]; "shoot")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p2/shoots/s2", &[("get list watch update patch", UNRELATED)]; "shoot of another seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shoots/s4", &[("get list watch update patch", UNRELATED)]; "shoot of a seed that is made of a shoot of this one")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden/shoots/seed-a", &[("get", "allow"), ("list watch update patch", UNRELATED)]; "the shoot that it is")]
#[test_case("/apis/core.gardener.cloud/v1beta1/shoots", &[("list watch", LABEL)]; "shoots")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shootstates/s1",
    &[("create", "allow"), ("get list watch update patch delete", "related"), ("*", ALL_BUT_COLLECTIONS)]; "state")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shootstates", &[("list watch", ONE)]; "states")]
#[test_case("/apis/security.gardener.cloud/v1alpha1/namespaces/garden/workloadidentities/dns",
    &[("get list watch create patch", "related"), ("*", only!("create get list patch watch"))]; "identity")]
#[test_case("/apis/security.gardener.cloud/v1alpha1/namespaces/garden/workloadidentities/dns/token", &[("create", "related")]; "token of an identity")]
#[test_case("/apis/security.gardener.cloud/v1alpha1/namespaces/garden/workloadidentities/other/token", &[("create", UNRELATED)]; "token of another identity")]
#[test_case("/apis/security.gardener.cloud/v1alpha1/namespaces/garden/workloadidentities", &[("create", NO_NAME), ("list watch", ONE)]; "identities")]
#[test_case("/apis/apps/v1/namespaces/garden/deployments/d", &[("*", "unlisted")]; "something else")]
fn current(path: &str, rows: Rows) {
    check(Profile::Current, &gardenlet("seed-a"), path, rows);
}

/// The seed that is made of a shoot may read of what it was made, and no more.
#[test_case("/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseeds/child", "get list watch"; "managed seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/seeds/child", "get list watch update patch delete create"; "seed")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shoots/s4", "get list watch update patch"; "shoot")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden/shoots/child", "get"; "the shoot that it is")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shoots/s1", ""; "shoot of its parent")]
fn a_child_reaches(path: &str, verbs: &str) {
    for verb in VERBS {
        let Some((method, target)) = request(verb, path) else {
            continue;
        };
        let came = outcome(Profile::Current, gardenlet("child"), method, &target);
        let allowed = matches!(came.as_str(), "allow" | "related");
        assert_eq!(allowed, verbs.split(' ').any(|one| one == *verb), "{verb}: {came}");
    }
}

const LEASE_ANYTHING: Rows = &[
    (
        "proxy other",
        only!("create delete deletecollection get list patch update watch"),
    ),
    ("*", "allow"),
];

#[test_case("/apis/coordination.k8s.io/v1/namespaces/seed-seed-a/leases/l", LEASE_ANYTHING; "lease")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/seed-seed-a/leases", LEASE_ANYTHING; "leases")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases/seed-a", &[("*", "lease object is not in seed namespace")]; "lease of the seed")]
#[test_case("/apis/certificates.k8s.io/v1/certificatesigningrequests/csr1", READ; "certificate request")]
#[test_case("/apis/certificates.k8s.io/v1/certificatesigningrequests/csr1/seedclient", &[("*", NO_SUBRESOURCE)]; "certificate for a seed")]
#[test_case("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-child", DOCUMENT_GET; "binding")]
#[test_case("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-seed-a", DOCUMENT_GET_UNRELATED; "binding of its gardenlet")]
#[test_case("/api/v1/namespaces/seed-seed-a/serviceaccounts/a", DOCUMENT_GET_UNRELATED; "account of the seed")]
#[test_case("/api/v1/namespaces/garden/serviceaccounts/gardenlet-bootstrap-child", DOCUMENT_GET; "account")]
#[test_case("/apis/core.gardener.cloud/v1beta1/namespaces/garden-p1/shoots/s1", &[("get list watch update patch", "related")]; "shoot, as a gardenlet")]
#[test_case("/api/v1/namespaces/seed-seed-a/secrets", &[("list watch create", "allow")]; "secrets of the seed")]
fn extension(path: &str, rows: Rows) {
    check(Profile::Current, &account("extension-x"), path, rows);
}

#[test_case("name.seed.gardener.cloud/seed-a=true" => true; "equals")]
#[test_case("name.seed.gardener.cloud/seed-a==true" => true; "equals twice")]
#[test_case("name.seed.gardener.cloud/seed-a in (true)" => true; "one of one")]
#[test_case("name.seed.gardener.cloud/seed-a" => true; "exists")]
#[test_case("a=b,name.seed.gardener.cloud/seed-a=true" => true; "among others")]
#[test_case("name.seed.gardener.cloud/seed-a=false" => false; "another value")]
#[test_case("name.seed.gardener.cloud/seed-a in (true,false)" => false; "one of two")]
#[test_case("name.seed.gardener.cloud/seed-a!=x" => false; "not another value")]
#[test_case("name.seed.gardener.cloud/seed-a notin (x)" => false; "none of others")]
#[test_case("!name.seed.gardener.cloud/seed-a" => false; "is not there")]
#[test_case("name.seed.gardener.cloud/seed-b=true" => false; "another seed")]
#[test_case("!foo" => false; "another label is not there")]
#[test_case("foo!=x" => false; "another label is not something")]
#[test_case("=" => false; "what nobody can read")]
#[test_case("" => false; "nothing")]
fn label_selectors(selector: &str) -> bool {
    let escaped = percent_encoding::utf8_percent_encode(selector, percent_encoding::NON_ALPHANUMERIC);
    let target = format!("/apis/core.gardener.cloud/v1beta1/shoots?labelSelector={escaped}");
    outcome(Profile::Current, gardenlet("seed-a"), "GET", &target) == "allow"
}

#[test_case("bastions", "operations.gardener.cloud/v1alpha1", "spec.seedName=seed-a" => true; "bastions")]
#[test_case("bastions", "operations.gardener.cloud/v1alpha1", "spec.seedName==seed-a,spec.x!=y" => true; "and more")]
#[test_case("bastions", "operations.gardener.cloud/v1alpha1", "spec.seedName=seed-b" => false; "of another seed")]
#[test_case("bastions", "operations.gardener.cloud/v1alpha1", "spec.seedName!=seed-b" => false; "of all but one")]
#[test_case("controllerinstallations", "core.gardener.cloud/v1beta1", "spec.seedRef.name=seed-a" => true; "installations")]
#[test_case("controllerinstallations", "core.gardener.cloud/v1beta1", "spec.seedName=seed-a" => false; "by another field")]
#[test_case("shoots", "core.gardener.cloud/v1beta1", "spec.seedName=seed-a" => false; "what goes by labels")]
fn field_selectors(resource: &str, version: &str, selector: &str) -> bool {
    let escaped = percent_encoding::utf8_percent_encode(selector, percent_encoding::NON_ALPHANUMERIC);
    let target = format!("/apis/{version}/{resource}?fieldSelector={escaped}");
    outcome(Profile::Current, gardenlet("seed-a"), "GET", &target) == "allow"
}

#[test_case(Profile::Document, gardenlet("<ambiguous>"); "a gardenlet of several seeds")]
#[test_case(Profile::Current, gardenlet("<ambiguous>"); "the same today")]
#[test_case(Profile::Document, account("extension-x"); "an extension before there were any")]
#[test_case(Profile::Current, account("default"); "another account of the seed")]
fn not_a_seed(profile: Profile, user: User) {
    let caller = Caller::from(user);
    let gate = gate(profile, Fallback::Upstream);
    assert_eq!(gate.seed(&caller), None);
    let decision = decide(&gate, &caller, "GET", "/apis/core.gardener.cloud/v1beta1/seeds");
    assert_eq!(decision.evidence.rule(), Some(Rule::CallersOthers));
}

/// What the rules for seeds do not allow is upstream's to decide, and the rest is not; what everybody may do stays with these rules.
#[test]
fn upstream_decides_the_rest() {
    let caller = Caller::from(gardenlet("seed-a"));
    for (target, granted) in [
        ("/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp1", true),
        ("/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp2", false),
        ("/apis/apps/v1/deployments", false),
        ("/metrics", false),
    ] {
        let gate = gate(Profile::Current, Fallback::Upstream);
        let authorized = gate.decide_and_settle(&caller, target);
        let by = granted.then_some(Rule::SeedCloudProfiles);
        assert_eq!(authorized.granted_by(), by, "{target}");
        assert_eq!(authorized.decision().verdict, Verdict::Allow, "{target}");
    }
    let gate = gate(Profile::Current, Fallback::Deny);
    assert_eq!(decide(&gate, &caller, "GET", "/metrics").verdict, Verdict::Deny);
    let everyone = decide(&gate, &caller, "GET", "/version");
    assert_eq!(everyone.evidence, Evidence::Rule(Rule::EveryoneDiscovery));
}

/// What passes a rule that is not enforced is upstream's to decide, as without the gate.
#[test]
fn a_rule_that_is_not_enforced_grants_nothing() {
    let mut gate = gate(Profile::Current, Fallback::Deny);
    gate.modes.set(Rule::SeedCloudProfiles, crate::rules::Mode::Audit);
    let caller = Caller::from(gardenlet("seed-a"));
    let authorized = gate.decide_and_settle(&caller, "/apis/core.gardener.cloud/v1beta1/cloudprofiles/cp2");
    assert!(authorized.granted_by().is_none() && authorized.decision().condoned.is_some());
}

#[test]
fn without_rules_a_seed_is_like_anybody_else() {
    let caller = Caller::from(gardenlet("seed-a"));
    assert_eq!(GATE.anchor(&caller), None);
    let decision = decide(&GATE, &caller, "GET", "/apis/core.gardener.cloud/v1beta1/seeds");
    assert_eq!(decision.evidence.rule(), Some(Rule::CallersOthers));
    assert_eq!(decision.verdict, Verdict::Deny);
}

/// What is no resource is upstream's, whatever the graph.
#[test]
fn a_decision_says_what_it_depends_on() {
    let (gate, caller) = (
        gate(Profile::Current, Fallback::Deny),
        Caller::from(gardenlet("seed-a")),
    );
    let needed = |method: &str, target: &str| {
        let head = head(method, target);
        let needed = gate.dependency(&caller, head.info())?;
        Some((needed.key.to_string(), needed.by))
    };
    let bucket = "/apis/core.gardener.cloud/v1beta1/backupbuckets/ua";
    assert_eq!(needed("GET", bucket), None);
    assert_eq!(
        needed("PUT", bucket),
        Some(("backupbucket ua".to_owned(), Some(Kind::Seed)))
    );
    let secret = "/api/v1/namespaces/gardener-system-shoot-issuer/secrets/p1--u1";
    let issuer = "secret gardener-system-shoot-issuer/--u1".to_owned();
    assert_eq!(needed("GET", secret), Some((issuer, None)));
    assert_eq!(needed("GET", "/metrics"), None);
}

/// Group, resource and verb.
type Right = (String, String, String);

/// What the shipped roles give to the group of each rule.
fn granted() -> BTreeMap<String, BTreeSet<Right>> {
    let manifest = include_str!("../../../config/kubernetes/gardener.yaml");
    let documents = manifest.split("\n---\n");
    let documents: Vec<Value> = documents.map(|text| serde_saphyr::from_str(text).unwrap()).collect();
    let words = |value: &Value| -> Vec<String> {
        let words = value.as_array().unwrap().iter();
        words.map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let mut granted = BTreeMap::new();
    for binding in documents
        .iter()
        .filter(|document| document["kind"] == "ClusterRoleBinding")
    {
        let group = binding["subjects"][0]["name"].as_str().unwrap();
        if !names::is_own_group(group) {
            continue;
        }
        let is_its =
            |role: &&Value| role["kind"] == "ClusterRole" && role["metadata"]["name"] == binding["roleRef"]["name"];
        let role = documents.iter().find(is_its).unwrap();
        let rights: &mut BTreeSet<Right> = granted.entry(group.to_owned()).or_default();
        for rule in role["rules"].as_array().unwrap() {
            for group in words(&rule["apiGroups"]) {
                for resource in words(&rule["resources"]) {
                    let verbs = words(&rule["verbs"]).into_iter();
                    rights.extend(verbs.map(|verb| (group.clone(), resource.clone(), verb)));
                }
            }
        }
    }
    granted
}

/// The roles that are shipped have all that these rules can allow, each by itself, and nothing else but the right to bind the role
/// of beginners.
#[test]
fn the_manifest_has_what_the_rules_allow() {
    let mut wanted: BTreeMap<String, BTreeSet<Right>> = BTreeMap::new();
    let mut want = |rule: Rule, group: &str, resource: &str, verbs: &[&str]| {
        let rights = wanted.entry(names::granted_group(rule.id())).or_default();
        rights.extend(
            verbs
                .iter()
                .map(|verb| (group.to_owned(), resource.to_owned(), (*verb).to_owned())),
        );
    };
    for row in rows::DOCUMENT.iter().chain(rows::CURRENT).chain(rows::EXTENSION) {
        let verbs: Vec<&str> = row.always.iter().chain(row.related).map(Verb::as_str).collect();
        want(row.rule, row.group, row.resource, &verbs);
        for subresource in row.subresources {
            // Of a part there is no list, and of most nothing to create.
            let whole = ["list", "watch", "delete"];
            let made = ["token", "seedclient"].contains(subresource);
            let verbs = verbs
                .iter()
                .filter(|verb| !whole.contains(verb) && (**verb == "create") == made);
            let verbs: Vec<&str> = verbs.copied().collect();
            want(row.rule, row.group, &format!("{}/{subresource}", row.resource), &verbs);
        }
    }
    for group in ["", "events.k8s.io"] {
        want(Rule::SeedEvents, group, "events", &["create", "patch"]);
    }
    let everything = LEASE_VERBS.iter().map(Verb::as_str).collect::<Vec<_>>();
    want(Rule::SeedLeases, "coordination.k8s.io", "leases", &everything);
    want(Rule::SeedServiceAccounts, "", "serviceaccounts", &everything);
    want(Rule::SeedServiceAccounts, "", "serviceaccounts/token", &["create"]);
    want(Rule::SeedSecrets, "", "secrets", &["list", "watch"]);
    let rbac = "rbac.authorization.k8s.io";
    want(Rule::SeedClusterRoleBindings, rbac, "clusterrolebindings", &["delete"]);
    want(Rule::SeedClusterRoleBindings, rbac, "clusterroles", &["bind"]);
    assert_eq!(granted(), wanted);
    let impersonate = include_str!("../../../config/kubernetes/gardener-impersonate.yaml");
    for group in wanted.keys() {
        assert!(impersonate.contains(&format!("- \"{group}\"\n")), "{group}");
    }
}

/// Tries every verb on a path, which names an object or a collection.
fn check(profile: Profile, user: &User, path: &str, rows: &[(&str, &str)]) {
    for verb in VERBS {
        let Some((method, target)) = request(verb, path) else {
            continue;
        };
        let expected = rows
            .iter()
            .find(|(verbs, _)| *verbs == "*" || verbs.split(' ').any(|one| one == *verb));
        let Some((_, expected)) = expected else { continue };
        let came = outcome(profile, user.clone(), method, &target);
        assert_eq!(came, *expected, "{verb} of {path}: {method} {target}");
    }
}

fn outcome(profile: Profile, user: User, method: &str, target: &str) -> String {
    let (gate, caller) = (gate(profile, Fallback::Deny), Caller::from(user));
    let decision = decide(&gate, &caller, method, target);
    let head = head(method, target);
    let by_graph = matches!(decision.evidence, Evidence::Related { .. } | Evidence::Unrelated { .. });
    assert_eq!(gate.dependency(&caller, head.info()).is_some(), by_graph, "{target}");
    match (decision.verdict, &decision.evidence) {
        (Verdict::Allow, Evidence::Related { .. }) => "related".to_owned(),
        (Verdict::Allow, _) => "allow".to_owned(),
        (Verdict::Deny, Evidence::Rule(Rule::SeedUnlisted)) => "unlisted".to_owned(),
        (Verdict::Deny, _) => {
            let explained = explain(&decision, &caller, head.info());
            explained.split_once(": ").unwrap().1.to_owned()
        }
    }
}

fn decide(gate: &Authorizer, caller: &Caller, method: &str, target: &str) -> Decision {
    gate.decide(Attributes {
        caller,
        info: head(method, target).info(),
        impersonates: false,
        quarantine: Quarantine::nobody(),
        graph: &garden::graph(),
    })
}

impl Authorizer {
    /// As a request is judged by the gate when nothing more is to be learned.
    fn decide_and_settle(&self, caller: &Caller, target: &str) -> crate::authorizer::Authorized {
        let decided = self.authorize(
            caller.clone(),
            head("GET", target),
            Quarantine::nobody(),
            &garden::graph(),
        );
        decided.or_else(|denied| self.condone(denied)).unwrap()
    }
}

fn gate(profile: Profile, fallback: Fallback) -> Authorizer {
    Authorizer {
        seeds: Some(SeedRules { profile, fallback }),
        ..GATE
    }
}

fn gardenlet(seed: &str) -> User {
    User {
        name: format!("gardener.cloud:system:seed:{seed}"),
        groups: vec!["gardener.cloud:system:seeds".into(), "system:authenticated".into()],
        ..User::default()
    }
}

fn account(name: &str) -> User {
    User {
        name: format!("system:serviceaccount:seed-seed-a:{name}"),
        groups: vec![
            "system:serviceaccounts".into(),
            "system:serviceaccounts:seed-seed-a".into(),
            "system:authenticated".into(),
        ],
        ..User::default()
    }
}
