use test_case::test_case;

use super::*;
use crate::{
    authorizer::{Authorizer, ExtraResources, ExtraRules, ExtraTarget, NodeRules},
    cli::check::extra::Whose::{Nodes, Rest},
    rules::{Mode, Modes, Rule},
};

const GATE: Authorizer = Authorizer {
    nodes: Fallback::Upstream,
    seeds: None,
    node_rules: NodeRules {
        selectors: true,
        trust_bundles: false,
        pod_certificates: false,
        service_accounts: Some(true),
        events_group: true,
    },
    modes: Modes::DEFAULT,
    bootstrap: Fallback::Deny,
    others: Fallback::Deny,
    extra: ExtraRules::NONE,
    masters: Vec::new(),
    caller_known_upstream: true,
};

/// Verbs and paths, or verbs, groups, resources, names and namespaces; the core group is a dash.
fn rule(text: &str) -> ExtraRule {
    let mut columns = text.split(' ').map(|column| {
        let words = column.split(',').filter(|word| !word.is_empty());
        words
            .map(|word| if word == "-" { "" } else { word }.to_owned())
            .collect::<Vec<String>>()
    });
    let mut next = || columns.next().unwrap_or_default();
    let verbs = next();
    let target = if text.contains(" /") || text.ends_with(" paths:*") {
        let paths = next().iter().map(|path| path.replace("paths:", "")).collect();
        ExtraTarget::Paths(paths)
    } else {
        ExtraTarget::Resources(ExtraResources {
            groups: next(),
            resources: next(),
            names: next(),
            namespaces: next(),
        })
    };
    ExtraRule { verbs, target }
}

#[test_case("get - configmaps kubeadm-config,kubelet-config kube-system", Nodes; "the two of kubeadm")]
#[test_case("get,list,watch discovery.k8s.io endpointslices", Nodes; "those of kube-proxy")]
#[test_case("list,watch networking.k8s.io servicecidrs", Nodes; "the ranges of services")]
#[test_case("get /metrics", Nodes; "metrics")]
#[test_case("get - secrets s shop", Rest; "one secret")]
#[test_case("get - nodes n2", Nodes; "one node")]
#[test_case("list - pods", Rest; "pods of others")]
#[test_case("get - namespaces  shop", Nodes; "a namespace in itself")]
#[test_case("create authorization.k8s.io selfsubjectaccessreviews", Nodes; "a review stores nothing")]
#[test_case("patch - nodes/status", Nodes; "what NodeRestriction looks at")]
#[test_case("get example.com things t", Nodes; "who knows where that is")]
fn as_broad_as_it_looks(text: &str, whose: Whose) {
    assert_eq!(warnings(&rule(text), whose, false), [""; 0]);
}

#[test_case("* - services", Rest, "verbs * are all verbs"; "all verbs")]
#[test_case("get * services", Rest, "apiGroups * are all groups"; "all groups")]
#[test_case("get - *", Rest, "secrets, pods/exec, nodes/proxy"; "all resources")]
#[test_case("get apps *", Rest, "all resources of apps and all their subresources"; "all of a group")]
#[test_case("get apps */scale", Rest, "resources */scale: scale of every resource"; "a subresource of all")]
#[test_case("get - */exec", Rest, "get pods/exec in every namespace: sessions"; "exec among them")]
#[test_case("impersonate - users", Rest, "actingAs says who may act as whom"; "impersonate")]
#[test_case("approve certificates.k8s.io signers", Rest, "verb approve gives nothing: no request has it"; "approve")]
#[test_case("escalate rbac.authorization.k8s.io roles", Rest, "verb escalate gives nothing"; "escalate")]
#[test_case("GET - services", Rest, "verb GET gives nothing"; "a method for a verb")]
#[test_case("get v1 services", Rest, "the core group is \"\""; "a version for a group")]
#[test_case("get - pods/*", Rest, "RBAC knows no such pattern"; "subresources by pattern")]
#[test_case("get - configmaps kube* a", Rest, "names are no patterns"; "names by pattern")]
#[test_case("create - configmaps c a", Rest, "create gives nothing where resourceNames"; "create by name")]
#[test_case("deletecollection - configmaps c a", Rest, "deletecollection gives nothing where"; "deletecollection by name")]
#[test_case("watch - configmaps c a", Rest, "only with the field selector metadata.name"; "watch by name")]
#[test_case("get - configmaps c", Rest, "configmaps c in every namespace"; "a name anywhere")]
#[test_case("get - nodes  kube-system", Nodes, "nodes are in no namespace"; "no namespace")]
#[test_case("get - secrets", Rest, "get secrets in every namespace: all of them with their contents"; "all secrets")]
#[test_case("list - secrets  shop", Rest, "list secrets in shop: all of them with their contents"; "the secrets of a namespace")]
#[test_case("* - configmaps", Nodes, "get, list, watch configmaps in every namespace: all"; "by any verb")]
#[test_case("get - pods/exec p a", Rest, "get pods/exec in a: sessions and commands"; "exec by get")]
#[test_case("get - pods/portforward", Rest, "every port of these pods"; "port forward")]
#[test_case("get - nodes/proxy", Nodes, "the whole API of their kubelets"; "kubelets")]
#[test_case("get - services/proxy", Rest, "whatever these services serve"; "services")]
#[test_case("patch - pods/ephemeralcontainers", Rest, "containers of the caller's choice"; "ephemeral containers")]
#[test_case("create - serviceaccounts/token", Rest, "tokens of these service accounts"; "tokens")]
#[test_case("create - serviceaccounts/token", Nodes, "NodeRestriction still wants"; "tokens of nodes")]
#[test_case("update certificates.k8s.io certificatesigningrequests/approval", Rest, "lets the caller approve or sign"; "approval")]
#[test_case("create rbac.authorization.k8s.io rolebindings", Rest, "as far as the caller has them"; "bindings")]
#[test_case("list - nodes", Nodes, "every Node, where a node"; "all nodes")]
#[test_case("list - pods", Nodes, "every pod, where a node"; "all pods")]
#[test_case("list - persistentvolumes", Nodes, "which secrets open it"; "all volumes")]
#[test_case("update resource.k8s.io resourceslices", Nodes, "those of other nodes too"; "slices")]
#[test_case("create - configmaps", Nodes, "what nodes write there is not looked at, whosever it is: configmaps"; "a write")]
#[test_case("create apps *", Nodes, "only where NodeRestriction has a rule"; "any write")]
#[test_case("get paths:*", Nodes, "every path that is no resource"; "all paths")]
#[test_case("get /*", Nodes, "every path that is no resource"; "all paths below the root")]
#[test_case("get /api/*", Nodes, "only discovery is a path"; "the core group as a path")]
#[test_case("get /apis*", Nodes, "only discovery is a path"; "groups as a path")]
#[test_case("get /debug/*", Nodes, "memory and profiles"; "debug")]
#[test_case("get /d*", Nodes, "memory and profiles"; "debug by its first letter")]
#[test_case("get /logs", Nodes, "/var/log"; "logs")]
#[test_case("get /logs/kube-apiserver.log", Nodes, "/var/log"; "one log")]
#[test_case("list /metrics", Nodes, "verb list never matches"; "a verb for a method")]
#[test_case("* /metrics", Nodes, "all methods, PUT and DELETE too"; "all methods")]
fn broader_than_it_looks(text: &str, whose: Whose, expected: &str) {
    let warnings = warnings(&rule(text), whose, false);
    assert!(
        warnings.iter().any(|warning| warning.contains(expected)),
        "{warnings:#?}"
    );
}

#[test]
fn in_mode_own_it_is_the_gate_that_upstream_asks_about() {
    let text = "patch certificates.k8s.io certificatesigningrequests/approval";
    let warnings = warnings(&rule(text), Nodes, true);
    assert!(warnings[0].contains("lets the gate approve"), "{warnings:?}");
}

#[test_case("get,list,watch - services" => true; "what all nodes may")]
#[test_case("get,list - services,endpoints" => false; "one thing more")]
#[test_case("create - events" => true; "a create")]
#[test_case("get /version,/api" => true; "discovery")]
#[test_case("get /version,/metrics" => false; "one path more")]
#[test_case("get - configmaps c kube-system" => false; "what the graph has to say")]
#[test_case("* - services" => false; "all verbs")]
#[test_case("get - *" => false; "all resources")]
#[test_case("get,impersonate - services" => false; "verbs of no request")]
#[test_case("get - endpoints" => false; "what is recorded")]
fn gives_nothing_new(text: &str) -> bool {
    let found = is_given(&GATE, &rule(text));
    // A dry run is not for ever.
    let mut dry = GATE;
    dry.modes.dry_run();
    assert_eq!(is_given(&dry, &rule(text)), found, "dry run");
    found
}

/// What nobody looks at is allowed.
#[test]
fn a_rule_that_is_off_gives_it() {
    let mut off = GATE;
    off.modes.set(Rule::NodeEndpoints, Mode::Off);
    assert!(is_given(&off, &rule("get - endpoints")));
}
