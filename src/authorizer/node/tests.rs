mod cluster;
mod extended;

use test_case::test_case;

use super::*;
use crate::{
    authorizer::{
        Attributes, Authorizer, Fallback, Needed, explain,
        tests::{GATE, head, node},
    },
    caller::{Caller, User},
    decision::{Evidence, Verdict},
    quarantine::Quarantine,
};

/// Every verb there is on a resource, in the words of the tables. `other` is a method without a meaning.
pub(in crate::authorizer) const VERBS: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "proxy",
    "other",
];

const NO_REASON: &str = "no reason";
const UNRELATED: &str = "no relationship found between node 'n1' and this object";
const NO_NAME: &str = "No Object name found";
const ONLY_READ: &str = "can only read resources of this type";
const ONLY_GET: &str = "can only get individual resources of this type";
const ONLY_TOKENS: &str = "can only create tokens for individual service accounts";
const ONLY_TOKEN_SUBRESOURCE: &str = "can only create token subresource of serviceaccount";
const ONLY_LEASE_VERBS: &str = "can only get, create, update, patch, or delete a node lease";
const OWN_LEASE: &str = "can only access node lease with the same name as the requesting node";
const LEASES: &str = "can only access leases in the \"kube-node-lease\" system namespace";
const ONLY_CSI_NODE_VERBS: &str = "can only get, create, update, patch, or delete a CSINode";
const OWN_CSI_NODE: &str = "can only access CSINode with the same name as the requesting node";
const SLICE_SELECTOR: &str = "can only list/watch/deletecollection resourceslices with nodeName field selector";
const SLICE_VERBS: &str = "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection";
const SLICE_SUBRESOURCE: &str = "cannot authorize ResourceSlice subresources";
const POD_SELECTOR: &str = "can only list/watch pods with spec.nodeName field selector";
const PCR_SELECTOR: &str = "can only list/watch podcertificaterequests with nodeName field selector";
const PCR_SUBRESOURCE: &str = "nodes may not access the status subresource of PodCertificateRequests";
const ALL_NODES: &str = "node 'n1' cannot read all nodes, only its own Node object";
const OTHER_NODE: &str = "node 'n1' cannot read 'n2', only its own Node object";

/// Verbs, and what comes of each of them; `*` stands for all that no row before it names.
type Rows = &'static [(&'static str, &'static str)];

const READABLE_SECRET: Rows = &[("get list watch", "related node/secrets"), ("*", ONLY_READ)];
const UNRELATED_OBJECT: Rows = &[("get list watch", UNRELATED), ("*", ONLY_READ)];
const UNNAMED: Rows = &[("list watch", NO_NAME), ("*", ONLY_READ)];
const READ_SUBRESOURCE: Rows = &[("get watch", "cannot read subresource"), ("*", ONLY_READ)];
const NOT_NAMESPACED: Rows = &[
    ("get list watch", "can only read namespaced object of this type"),
    ("*", ONLY_READ),
];
const UNRELATED_TO_GET: Rows = &[("get", UNRELATED), ("*", ONLY_GET)];
const GET_SUBRESOURCE: Rows = &[("get", "cannot get subresource"), ("*", ONLY_GET)];
const NOTHING: Rows = &[("*", NO_REASON)];
const OWN_LEASE_ROWS: Rows = &[
    ("get create update patch delete", "allow node/leases"),
    ("*", ONLY_LEASE_VERBS),
];

#[test_case("/api/v1/namespaces/ns/secrets/s1", READABLE_SECRET; "secret")]
#[test_case("/api/v1/namespaces/ns/secrets/sx", READABLE_SECRET; "secret that does not exist but is referred to")]
#[test_case("/api/v1/namespaces/kube-system/secrets/stg", READABLE_SECRET; "secret of a volume")]
#[test_case("/api/v1/namespaces/kube-system/secrets/ctl", UNRELATED_OBJECT; "secret of a volume that is not for nodes")]
#[test_case("/api/v1/namespaces/ns/secrets/s2", UNRELATED_OBJECT; "secret of another node")]
#[test_case("/api/v1/namespaces/ns/secrets/sm", UNRELATED_OBJECT; "secret that only a mirror pod names")]
#[test_case("/api/v1/namespaces/ns/secrets/nosuch", UNRELATED_OBJECT; "unknown secret")]
#[test_case("/api/v1/namespaces/other/secrets/s1", UNRELATED_OBJECT; "secret of another namespace")]
#[test_case("/api/v1/namespaces/ns/secrets", UNNAMED; "secrets")]
#[test_case("/api/v1/namespaces/ns/secrets/s1/status", READ_SUBRESOURCE; "subresource of a secret")]
#[test_case("/api/v1/secrets/s1", NOT_NAMESPACED; "secret without a namespace")]
#[test_case("/api/v1/secrets", NOT_NAMESPACED; "secrets of all namespaces")]
#[test_case("/apis/example.com/v1/namespaces/ns/secrets/s1", NOTHING; "secret of another group")]
#[test_case("/api/v1/namespaces/ns/configmaps/cm1", &[("get list watch", "related node/configmaps"), ("*", ONLY_READ)]; "configmap")]
#[test_case("/api/v1/namespaces/ns/configmaps/s1", UNRELATED_OBJECT; "configmap with the name of a secret")]
#[test_case("/api/v1/namespaces/ns/configmaps", UNNAMED; "configmaps")]
#[test_case("/api/v1/namespaces/ns/configmaps/cm1/status", READ_SUBRESOURCE; "subresource of a configmap")]
#[test_case("/api/v1/configmaps/cm1", NOT_NAMESPACED; "configmap without a namespace")]
#[test_case("/api/v1/namespaces/ns/persistentvolumeclaims/pvc1", &[("get", "related node/persistentvolumeclaims"), ("*", ONLY_GET)]; "claim")]
#[test_case("/api/v1/namespaces/ns/persistentvolumeclaims/p1-eph", &[("get", "related node/persistentvolumeclaims"), ("*", ONLY_GET)]; "claim of an ephemeral volume")]
#[test_case("/api/v1/namespaces/ns/persistentvolumeclaims/nosuch", UNRELATED_TO_GET; "unknown claim")]
#[test_case("/api/v1/namespaces/ns/persistentvolumeclaims", &[("*", ONLY_GET)]; "claims")]
#[test_case("/api/v1/namespaces/ns/persistentvolumeclaims/pvc1/x", GET_SUBRESOURCE; "another subresource of a claim")]
#[test_case("/api/v1/namespaces/ns/persistentvolumeclaims/pvc1/status",
    &[("update patch", "related node/persistentvolumeclaims/status"), ("*", "can only get/update/patch this type")]; "status of a claim")]
#[test_case("/api/v1/namespaces/ns/persistentvolumeclaims/nosuch/status",
    &[("update patch", UNRELATED), ("*", "can only get/update/patch this type")]; "status of an unknown claim")]
#[test_case("/api/v1/persistentvolumes/pv1", &[("get", "related node/persistentvolumes"), ("*", ONLY_GET)]; "volume")]
#[test_case("/api/v1/namespaces/ns/persistentvolumes/pv1", UNRELATED_TO_GET; "volume with a namespace")]
#[test_case("/api/v1/persistentvolumes/nosuch", UNRELATED_TO_GET; "unknown volume")]
#[test_case("/api/v1/persistentvolumes", &[("*", ONLY_GET)]; "volumes")]
#[test_case("/api/v1/persistentvolumes/pv1/status", GET_SUBRESOURCE; "status of a volume")]
#[test_case("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/rc1", &[("get", "related node/resourceclaims"), ("*", ONLY_GET)]; "resource claim")]
#[test_case("/apis/resource.k8s.io/v1beta1/namespaces/ns/resourceclaims/rt-abc", &[("get", "related node/resourceclaims"), ("*", ONLY_GET)]; "resource claim of a template in another version")]
#[test_case("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/rt", UNRELATED_TO_GET; "unknown resource claim")]
#[test_case("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/rc1/status", GET_SUBRESOURCE; "status of a resource claim")]
#[test_case("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaimtemplates/rt", NOTHING; "resource claim template")]
#[test_case("/apis/storage.k8s.io/v1/volumeattachments/va1", &[("get", "related node/volumeattachments"), ("*", ONLY_GET)]; "attachment")]
#[test_case("/apis/storage.k8s.io/v1/volumeattachments/va2", UNRELATED_TO_GET; "attachment of another node")]
#[test_case("/apis/storage.k8s.io/v1/volumeattachments", &[("*", ONLY_GET)]; "attachments")]
#[test_case("/apis/storage.k8s.io/v1/volumeattachments/va1/status", GET_SUBRESOURCE; "status of an attachment")]
#[test_case("/api/v1/namespaces/ns/serviceaccounts/sa1",
    &[("get", "related node/serviceaccounts"), ("create", ONLY_TOKEN_SUBRESOURCE), ("*", ONLY_TOKENS)]; "service account")]
#[test_case("/api/v1/namespaces/ns/serviceaccounts/sa2",
    &[("get", UNRELATED), ("create", ONLY_TOKEN_SUBRESOURCE), ("*", ONLY_TOKENS)]; "service account of another node")]
#[test_case("/api/v1/serviceaccounts/sa1",
    &[("get", "can only read namespaced object of this type"), ("create", ONLY_TOKEN_SUBRESOURCE), ("*", ONLY_TOKENS)]; "service account without a namespace")]
#[test_case("/api/v1/namespaces/ns/serviceaccounts", &[("*", ONLY_TOKENS)]; "service accounts")]
#[test_case("/api/v1/namespaces/ns/serviceaccounts/sa1/token", &[("create", "related node/serviceaccounts"), ("*", ONLY_TOKENS)]; "token")]
#[test_case("/api/v1/namespaces/ns/serviceaccounts/sa2/token", &[("create", UNRELATED), ("*", ONLY_TOKENS)]; "token of another node")]
#[test_case("/api/v1/namespaces/ns/serviceaccounts/sa1/x", &[("create", ONLY_TOKEN_SUBRESOURCE), ("*", ONLY_TOKENS)]; "another subresource of a service account")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", OWN_LEASE_ROWS; "lease")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1/status", OWN_LEASE_ROWS; "subresource of a lease")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2",
    &[("create", "allow node/leases"), ("get update patch delete", OWN_LEASE), ("*", ONLY_LEASE_VERBS)]; "lease of another node")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
    &[("create", "allow node/leases"), ("update patch", OWN_LEASE), ("*", ONLY_LEASE_VERBS)]; "leases")]
#[test_case("/apis/coordination.k8s.io/v1/namespaces/ns/leases/n1",
    &[("get create update patch delete", LEASES), ("*", ONLY_LEASE_VERBS)]; "lease elsewhere")]
#[test_case("/apis/storage.k8s.io/v1/csinodes/n1", &[("get create update patch delete", "allow node/csinodes"), ("*", ONLY_CSI_NODE_VERBS)]; "csinode")]
#[test_case("/apis/storage.k8s.io/v1/csinodes/n1/status",
    &[("get create update patch delete", "cannot authorize CSINode subresources"), ("*", ONLY_CSI_NODE_VERBS)]; "subresource of a csinode")]
#[test_case("/apis/storage.k8s.io/v1/csinodes/n2",
    &[("create", "allow node/csinodes"), ("get update patch delete", OWN_CSI_NODE), ("*", ONLY_CSI_NODE_VERBS)]; "csinode of another node")]
#[test_case("/apis/storage.k8s.io/v1/csinodes",
    &[("create", "allow node/csinodes"), ("update patch", OWN_CSI_NODE), ("*", ONLY_CSI_NODE_VERBS)]; "csinodes")]
#[test_case("/apis/resource.k8s.io/v1/resourceslices/sl1",
    &[("create", "allow node/resourceslices"), ("get update patch delete", "related node/resourceslices"), ("list watch deletecollection", SLICE_SELECTOR), ("*", SLICE_VERBS)]; "slice")]
#[test_case("/apis/resource.k8s.io/v1/resourceslices/sl2",
    &[("create", "allow node/resourceslices"), ("get update patch delete", UNRELATED), ("list watch deletecollection", SLICE_SELECTOR), ("*", SLICE_VERBS)]; "slice of another node")]
#[test_case("/apis/resource.k8s.io/v1/resourceslices",
    &[("create", "allow node/resourceslices"), ("update patch", NO_NAME), ("list watch deletecollection", SLICE_SELECTOR), ("*", SLICE_VERBS)]; "slices")]
#[test_case("/apis/resource.k8s.io/v1/resourceslices/sl1/status", &[("*", SLICE_SUBRESOURCE)]; "subresource of a slice")]
#[test_case("/api/v1/nodes/n1", &[("get list watch create update patch", "allow node/nodes"), ("*", NO_REASON)]; "own node")]
#[test_case("/api/v1/nodes/n2", &[("create update patch", "allow node/nodes"), ("get list watch", OTHER_NODE), ("*", NO_REASON)]; "another node")]
#[test_case("/api/v1/nodes", &[("create update patch", "allow node/nodes"), ("list watch", ALL_NODES), ("*", NO_REASON)]; "nodes")]
#[test_case("/api/v1/nodes/n1/status", &[("update patch", "allow node/nodes"), ("*", NO_REASON)]; "status of the own node")]
#[test_case("/api/v1/nodes/n2/status", &[("update patch", "allow node/nodes"), ("*", NO_REASON)]; "status of another node")]
#[test_case("/api/v1/nodes/n1/proxy", NOTHING; "proxy to a node")]
#[test_case("/api/v1/namespaces/ns/pods/p1", &[("get list watch", "related node/pods"), ("create delete", "allow node/pods"), ("*", NO_REASON)]; "pod")]
#[test_case("/api/v1/namespaces/ns/pods/m1", &[("get list watch", "related node/pods"), ("create delete", "allow node/pods"), ("*", NO_REASON)]; "mirror pod")]
#[test_case("/api/v1/namespaces/ns/pods/p2", &[("get list watch", UNRELATED), ("create delete", "allow node/pods"), ("*", NO_REASON)]; "pod of another node")]
#[test_case("/api/v1/namespaces/ns/pods/p0", &[("get list watch", UNRELATED), ("create delete", "allow node/pods"), ("*", NO_REASON)]; "pod of no node")]
#[test_case("/api/v1/pods/p1", &[("get list watch", UNRELATED), ("create delete", "allow node/pods"), ("*", NO_REASON)]; "pod without a namespace")]
#[test_case("/api/v1/namespaces/ns/pods", &[("list watch", POD_SELECTOR), ("create", "allow node/pods"), ("*", NO_REASON)]; "pods")]
#[test_case("/api/v1/namespaces/ns/pods/p1/status", &[("update patch", "allow node/pods"), ("*", NO_REASON)]; "status of a pod")]
#[test_case("/api/v1/namespaces/ns/pods/p1/eviction", &[("create", "allow node/pods"), ("*", NO_REASON)]; "eviction")]
#[test_case("/api/v1/namespaces/ns/pods/p1/log", NOTHING; "log")]
#[test_case("/api/v1/namespaces/ns/pods/p1/exec", NOTHING; "exec")]
#[test_case("/api/v1/namespaces/ns/pods/p1/ephemeralcontainers", NOTHING; "ephemeral containers")]
#[test_case("/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests/r1", NOTHING; "pod certificate request")]
fn by_resource(path: &str, rows: Rows) {
    check(&GATE, path, rows);
}

#[test_case("/apis/authentication.k8s.io/v1/tokenreviews", "create"; "token reviews")]
#[test_case("/apis/authorization.k8s.io/v1/subjectaccessreviews", "create"; "access reviews")]
#[test_case("/apis/authorization.k8s.io/v1/namespaces/ns/localsubjectaccessreviews", "create"; "local access reviews")]
#[test_case("/api/v1/services", "list watch"; "services of all namespaces")]
#[test_case("/api/v1/namespaces/ns/services/x", "get list watch"; "service")]
#[test_case("/api/v1/namespaces/ns/services/x/status", ""; "status of a service")]
#[test_case("/api/v1/namespaces/ns/services/x/proxy", ""; "proxy to a service")]
#[test_case("/api/v1/namespaces/ns/events/x", "create update patch"; "event")]
#[test_case("/api/v1/namespaces/ns/events/x/status", ""; "subresource of an event")]
#[test_case("/apis/events.k8s.io/v1/namespaces/ns/events/x", "create update patch"; "event of the newer group")]
#[test_case("/api/v1/namespaces/ns/endpoints/x", "get"; "endpoints")]
#[test_case("/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices", ""; "endpoint slices")]
#[test_case("/apis/certificates.k8s.io/v1/certificatesigningrequests/x", "create get list watch"; "signing request")]
#[test_case("/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval", ""; "approval of a signing request")]
#[test_case("/apis/storage.k8s.io/v1/csidrivers/x", "get list watch"; "csi driver")]
#[test_case("/apis/node.k8s.io/v1/runtimeclasses", "list watch"; "runtime classes")]
#[test_case("/apis/certificates.k8s.io/v1beta1/clustertrustbundles/x", ""; "trust bundle")]
#[test_case("/api/v1/namespaces/ns", ""; "namespace")]
#[test_case("/apis/example.com/v1/services", ""; "services of another group")]
#[test_case("/api/v1/services.example.com", ""; "group in the resource")]
fn static_rules(path: &str, allowed: &str) {
    check(&GATE, path, &[(allowed, "allow node/static"), ("*", NO_REASON)]);
}

#[test_case("/apis/events.k8s.io/v1/namespaces/ns/events/x", NOTHING; "events group")]
#[test_case("/api/v1/namespaces/ns/events/x", &[("create update patch", "allow node/static"), ("*", NO_REASON)]; "events")]
#[test_case("/api/v1/namespaces/ns/serviceaccounts/sa1", &[("create", ONLY_TOKEN_SUBRESOURCE), ("*", ONLY_TOKENS)]; "service account")]
#[test_case("/api/v1/nodes/n2", &[("get list watch create update patch", "allow node/static"), ("*", NO_REASON)]; "another node")]
#[test_case("/api/v1/nodes", &[("list watch create update patch", "allow node/static"), ("*", NO_REASON)]; "nodes")]
#[test_case("/api/v1/nodes/n2/status", &[("update patch", "allow node/static"), ("*", NO_REASON)]; "status of a node")]
#[test_case("/api/v1/namespaces/ns/pods/p2", &[("get list watch create delete", "allow node/static"), ("*", NO_REASON)]; "pod of another node")]
#[test_case("/api/v1/namespaces/ns/pods/p2/status", &[("update patch", "allow node/static"), ("*", NO_REASON)]; "status of a pod")]
#[test_case("/api/v1/namespaces/ns/pods/p2/eviction", &[("create", "allow node/static"), ("*", NO_REASON)]; "eviction")]
#[test_case("/api/v1/namespaces/ns/pods/p2/log", NOTHING; "log")]
#[test_case("/apis/resource.k8s.io/v1beta1/resourceslices/sl2",
    &[("create list watch deletecollection", "allow node/resourceslices"), ("get update patch delete", UNRELATED), ("*", SLICE_VERBS)]; "slice")]
#[test_case("/api/v1/namespaces/ns/secrets/s2", UNRELATED_OBJECT; "secrets stay apart")]
fn oldest_release_without_selectors(path: &str, rows: Rows) {
    let gate = with(|rules| {
        rules.selectors = false;
        rules.service_accounts = None;
        rules.events_group = false;
    });
    check(&gate, path, rows);
}

#[test]
fn service_accounts_need_one_of_two_gates() {
    let path = "/api/v1/namespaces/ns/serviceaccounts/sa1";
    let read: Rows = &[
        ("get", "related node/serviceaccounts"),
        ("create", ONLY_TOKEN_SUBRESOURCE),
        ("*", ONLY_TOKENS),
    ];
    let off = with(|rules| rules.service_accounts = Some(false));
    let refused: Rows = &[
        ("get", "not allowed to get service accounts"),
        ("create", ONLY_TOKEN_SUBRESOURCE),
        ("*", ONLY_TOKENS),
    ];
    check(&off, path, refused);
    let certificates = with(|rules| {
        rules.service_accounts = Some(false);
        rules.pod_certificates = true;
    });
    check(&certificates, path, read);
    let token: Rows = &[("create", "related node/serviceaccounts"), ("*", ONLY_TOKENS)];
    check(&off, &format!("{path}/token"), token);
}

#[test_case("/r1", &[("create", "allow node/podcertificaterequests"), ("get", "related node/podcertificaterequests"), ("list watch", PCR_SELECTOR),
    ("update", "nodes may not update podcertificaterequests"), ("patch", "nodes may not patch podcertificaterequests"),
    ("delete", "nodes may not delete podcertificaterequests"), ("deletecollection", "nodes may not deletecollection podcertificaterequests"),
    ("proxy", "nodes may not proxy podcertificaterequests"), ("other", "nodes may not  podcertificaterequests")]; "related")]
#[test_case("/r2", &[("get", UNRELATED)]; "of another node")]
#[test_case("/r1/status", &[("*", PCR_SUBRESOURCE)]; "subresource")]
#[test_case("", &[("list watch", PCR_SELECTOR), ("create", "allow node/podcertificaterequests")]; "collection")]
fn pod_certificate_requests(path: &str, rows: Rows) {
    let path = format!("/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests{path}");
    check(&with(|rules| rules.pod_certificates = true), &path, rows);
    let without_selectors = with(|rules| {
        rules.pod_certificates = true;
        rules.selectors = false;
    });
    check(&without_selectors, &path, NOTHING);
}

#[test]
fn trust_bundles_need_a_gate() {
    let gate = with(|rules| rules.trust_bundles = true);
    let rows: Rows = &[("get list watch", "allow node/static"), ("*", NO_REASON)];
    check(&gate, "/apis/certificates.k8s.io/v1beta1/clustertrustbundles/x", rows);
}

#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1" => "allow node/pods"; "own pods")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D%3Dn1&watch=1" => "allow node/pods"; "watch own pods")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=abc" => "allow node/pods"; "limit that is no number")]
#[test_case("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp2,spec.nodeName%3Dn1" => "allow node/pods"; "own pods of a name")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2" => POD_SELECTOR; "pods of another node")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName!%3Dn2" => POD_SELECTOR; "pods of all but one")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D" => POD_SELECTOR; "pods of no node")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.host%3Dn1" => POD_SELECTOR; "another field")]
#[test_case("GET", "/api/v1/pods?labelSelector=spec.nodeName%3Dn1" => POD_SELECTOR; "label")]
#[test_case("GET", "/api/v1/watch/pods?fieldSelector=spec.nodeName%3Dn1" => POD_SELECTOR; "verb in the path")]
#[test_case("GET", "/api/v1/namespaces/ns/pods?fieldSelector=spec.nodeName%3Dn2,metadata.name%3Dp2" => UNRELATED; "pod of another node by name")]
#[test_case("DELETE", "/api/v1/namespaces/ns/pods?fieldSelector=spec.nodeName%3Dn1" => NO_REASON; "delete own pods")]
#[test_case("GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1" => "allow node/resourceslices"; "own slices")]
#[test_case("GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1&watch=true" => "allow node/resourceslices"; "watch own slices")]
#[test_case("DELETE", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1,spec.driver%3Dd" => "allow node/resourceslices"; "delete own slices")]
#[test_case("DELETE", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn2" => SLICE_SELECTOR; "delete slices of another node")]
#[test_case("DELETE", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=nodeName%3Dn1" => SLICE_SELECTOR; "field that is none")]
#[test_case("GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dn1&watch=" => "allow node/nodes"; "own node by selector")]
#[test_case("GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dn1&limit=abc" => ALL_NODES; "own node by a selector that is not read")]
#[test_case("GET", "/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds1&limit=abc" => NO_NAME; "secret by a selector that is not read")]
#[test_case("HEAD", "/api/v1/nodes/n1" => "allow node/nodes"; "head")]
#[test_case("GET", "/api/v1/watch/namespaces/ns/secrets/s1" => "related node/secrets"; "watch in the path")]
#[test_case("get", "/api/v1/nodes/n1" => NO_REASON; "method in lower case")]
#[test_case("GET", "/metrics" => NO_REASON; "path")]
#[test_case("GET", "/version" => "allow everyone/discovery"; "what everybody may do")]
fn requests(method: &str, target: &str) -> String {
    outcome(&GATE, node(), method, target)
}

#[test]
fn pod_certificate_requests_by_selector() {
    let gate = with(|rules| rules.pod_certificates = true);
    let path = "/apis/certificates.k8s.io/v1beta1/podcertificaterequests?fieldSelector=spec.nodeName%3D";
    let ask = |name: &str| outcome(&gate, node(), "GET", &format!("{path}{name}"));
    assert_eq!(ask("n1"), "allow node/podcertificaterequests");
    assert_eq!(ask("n2"), PCR_SELECTOR);
}

/// Not even what is allowed to every node, or what belongs to nobody.
#[test_case("GET", "/api/v1/namespaces/ns/secrets/s1")]
#[test_case("GET", "/api/v1/services")]
#[test_case("GET", "/api/v1/namespaces/ns/pods/p0")]
#[test_case("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D")]
#[test_case("POST", "/api/v1/nodes")]
#[test_case("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")]
#[test_case("GET", "/metrics")]
fn a_node_without_a_name_may_nothing(method: &str, target: &str) {
    let user = User {
        name: "system:node:".into(),
        ..node()
    };
    let refused = outcome(&GATE, user.clone(), method, target);
    assert_eq!(refused, "unknown node for user \"system:node:\"");
    assert_eq!(outcome(&GATE, user, "GET", "/version"), "allow everyone/discovery");
}

/// With another fallback the same request is upstream's to decide, whatever the graph says.
#[test]
fn a_missing_edge_is_no_refusal_where_upstream_decides() {
    let gate = Authorizer {
        nodes: Fallback::Upstream,
        ..GATE
    };
    let target = "/api/v1/namespaces/ns/secrets/s2";
    assert_eq!(outcome(&gate, node(), "GET", target), "allow callers.nodes.fallback");
}

#[test]
fn only_nodes_depend_on_the_graph() {
    let head = head("GET", "/api/v1/namespaces/ns/secrets/s1");
    let caller = Caller::from(User {
        name: "someone".into(),
        ..node()
    });
    assert_eq!(GATE.dependency(&caller, head.info()), None);
    let key = Key::new(Kind::Secret, "ns", "s1");
    let needed = Needed { key, by: None };
    assert_eq!(GATE.dependency(&node().into(), head.info()), Some(needed));
}

/// Tries every verb on a path, which names an object or a collection.
fn check(gate: &Authorizer, path: &str, rows: &[(&str, &str)]) {
    for verb in VERBS {
        let Some((method, target)) = request(verb, path) else {
            continue;
        };
        let expected = rows
            .iter()
            .find(|(verbs, _)| *verbs == "*" || verbs.split(' ').any(|one| one == *verb));
        let Some((_, expected)) = expected else { continue };
        let came = outcome(gate, node(), method, &target);
        assert_eq!(came, *expected, "{verb} of {path}: {method} {target}");
    }
}

/// How to ask for a verb, if there is a way.
pub(in crate::authorizer) fn request(verb: &str, path: &str) -> Option<(&'static str, String)> {
    let info = head("POST", path);
    let Target::Resource(request) = &info.info().target else {
        panic!("{path} is no resource")
    };
    let (named, whole) = (!request.name.is_empty(), request.subresource.is_empty());
    let (collection, selector) = if named {
        let pinned = format!("fieldSelector=metadata.name%3D{}", request.name);
        (path.rsplit_once('/').unwrap().0, pinned)
    } else {
        (path, String::new())
    };
    let version = format!("/{}/", request.version);
    let in_path = |verb: &str| path.replacen(&version, &format!("{version}{verb}/"), 1);
    Some(match verb {
        "get" if named => ("GET", path.to_owned()),
        "list" if whole => ("GET", format!("{collection}?{selector}")),
        "watch" if whole => ("GET", format!("{collection}?watch=true&{selector}")),
        "watch" => ("GET", in_path("watch")),
        "create" => ("POST", path.to_owned()),
        "update" => ("PUT", path.to_owned()),
        "patch" => ("PATCH", path.to_owned()),
        "delete" if named => ("DELETE", path.to_owned()),
        "deletecollection" if whole => ("DELETE", format!("{collection}?{selector}")),
        // A subresource does not count there.
        "proxy" if whole => ("GET", in_path("proxy")),
        "other" => ("OPTIONS", path.to_owned()),
        _ => return None,
    })
}

/// In a word what allows it and the rule that does, or the reason why not. What a decision says of the graph is held
/// against what it is said to depend on.
fn outcome(gate: &Authorizer, user: User, method: &str, target: &str) -> String {
    let (caller, head) = (Caller::from(user), head(method, target));
    let decision = gate.decide(Attributes {
        caller: &caller,
        info: head.info(),
        impersonates: false,
        quarantine: Quarantine::nobody(),
        graph: &cluster::graph(),
    });
    let by_graph = matches!(decision.evidence, Evidence::Related { .. } | Evidence::Unrelated { .. });
    if gate.nodes == Fallback::Deny {
        assert_eq!(gate.dependency(&caller, head.info()).is_some(), by_graph, "{target}");
    }
    let missing = matches!(decision.evidence, Evidence::Unrelated { .. });
    assert_eq!(missing, decision.reason == Reason::NoRelationship, "{decision:?}");
    match (decision.verdict, &decision.evidence) {
        (Verdict::Allow, Evidence::Related { rule, path }) => {
            assert_eq!(*path, None);
            format!("related {rule}")
        }
        (Verdict::Allow, Evidence::Extra(rule)) => format!("allow {rule}"),
        (Verdict::Allow, Evidence::Fallback { key, .. }) => format!("allow {key}"),
        (Verdict::Allow, Evidence::Rule(rule)) => format!("allow {rule}"),
        (Verdict::Allow, Evidence::Unrelated { rule }) => panic!("{rule} allows what is not related"),
        (Verdict::Allow, Evidence::Quarantined(told)) => panic!("allowed: {told}"),
        (Verdict::Deny, Evidence::Fallback { key, .. }) => {
            assert_eq!(*key, "callers.nodes.fallback");
            assert_eq!(decision.reason, Reason::None);
            NO_REASON.to_owned()
        }
        (Verdict::Deny, _) => {
            let explained = explain(&decision, &caller, head.info());
            explained.split_once(": ").unwrap().1.to_owned()
        }
    }
}

/// The gate for 1.36 with something else set.
fn with(change: impl FnOnce(&mut NodeRules)) -> Authorizer {
    let mut gate = GATE;
    change(&mut gate.node_rules);
    gate
}
