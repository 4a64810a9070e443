//! Every rule of the Node authorizer and NodeRestriction, and how it is told from kube-apiserver's answer which one was met.

use std::sync::LazyLock;

use super::{
    case::{Case, Who},
    compare::Answers,
};
use crate::release;

pub(super) struct Rule {
    pub(super) name: &'static str,
    stage: Stage,
    /// The first minor release that has it.
    since: u32,
    verbs: &'static str,
    resources: &'static str,
    /// A part of the message; empty where there is no reason given.
    text: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The authorizer allows it to some.
    Decide,
    /// The authorizer allows it to nobody.
    Refuse,
    /// The authorizer allows it to every node.
    Grant,
    /// The same, in older releases only.
    Older,
    /// NodeRestriction, and what comes before it, lets some pass.
    Admit,
}

/// What an answer says about rules.
pub(super) enum Seen {
    /// All that have let it pass.
    Allowed(Vec<usize>),
    Refused(usize),
    Unknown,
}

/// Stage, name with the first release that has the rule, verbs, resources, and a part of the message; a star is any, and a dash no
/// resource. In the order in which they are
/// looked at: the first that fits is it.
const TABLE: &str = r#"
refuse node/unnamed * * | unknown node for user
decide node/secrets get,list,watch secrets | no relationship found between node
refuse node/secrets-verb * secrets | can only read resources of this type
refuse node/secrets-subresource * secrets/* | cannot read subresource
refuse node/secrets-namespace * secrets | can only read namespaced object of this type
refuse node/secrets-name * secrets | No Object name found
decide node/configmaps get,list,watch configmaps | no relationship found between node
refuse node/configmaps-verb * configmaps | can only read resources of this type
refuse node/configmaps-subresource * configmaps/* | cannot read subresource
refuse node/configmaps-namespace * configmaps | can only read namespaced object of this type
refuse node/configmaps-name * configmaps | No Object name found
decide node/persistentvolumeclaims get persistentvolumeclaims | no relationship found between node
decide node/persistentvolumeclaims-status update,patch persistentvolumeclaims/status | no relationship found between node
refuse node/persistentvolumeclaims-verb * persistentvolumeclaims | can only get individual resources of this type
refuse node/persistentvolumeclaims-subresource * persistentvolumeclaims/* | cannot get subresource
refuse node/persistentvolumeclaims-status-verb * persistentvolumeclaims/status | can only get/update/patch this type
decide node/persistentvolumes get persistentvolumes | no relationship found between node
refuse node/persistentvolumes-verb * persistentvolumes | can only get individual resources of this type
refuse node/persistentvolumes-subresource * persistentvolumes/* | cannot get subresource
decide node/resourceclaims get resourceclaims.resource.k8s.io | no relationship found between node
refuse node/resourceclaims-verb * resourceclaims.resource.k8s.io | can only get individual resources of this type
refuse node/resourceclaims-subresource * resourceclaims.resource.k8s.io/* | cannot get subresource
decide node/volumeattachments get volumeattachments.storage.k8s.io | no relationship found between node
refuse node/volumeattachments-verb * volumeattachments.storage.k8s.io | can only get individual resources of this type
refuse node/volumeattachments-subresource * volumeattachments.storage.k8s.io/* | cannot get subresource
decide node/serviceaccounts@34 get serviceaccounts | no relationship found between node
older  node/serviceaccounts-gate get serviceaccounts | not allowed to get service accounts
refuse node/serviceaccounts-namespace@34 get serviceaccounts | can only read namespaced object of this type
decide node/token create serviceaccounts/token | no relationship found between node
refuse node/token-only * serviceaccounts | can only create tokens for individual service accounts
refuse node/token-subresource create serviceaccounts | can only create token subresource of serviceaccount
refuse node/leases-verb * leases.coordination.k8s.io | can only get, create, update, patch, or delete a node lease
decide node/leases-namespace * leases.coordination.k8s.io,leases.coordination.k8s.io/* | can only access leases in the "kube-node-lease" system namespace
decide node/leases-name get,update,patch,delete leases.coordination.k8s.io,leases.coordination.k8s.io/* | can only access node lease with the same name as the requesting node
refuse node/csinodes-verb * csinodes.storage.k8s.io | can only get, create, update, patch, or delete a CSINode
refuse node/csinodes-subresource * csinodes.storage.k8s.io/* | cannot authorize CSINode subresources
decide node/csinodes-name get,update,patch,delete csinodes.storage.k8s.io | can only access CSINode with the same name as the requesting node
refuse node/resourceslices-subresource * resourceslices.resource.k8s.io/* | cannot authorize ResourceSlice subresources
decide node/resourceslices get,update,patch,delete resourceslices.resource.k8s.io | no relationship found between node
decide node/resourceslices-selector list,watch,deletecollection resourceslices.resource.k8s.io | can only list/watch/deletecollection resourceslices with nodeName field selector
decide node/nodes-all list,watch nodes | cannot read all nodes, only its own Node object
decide node/nodes-other get,list,watch nodes | only its own Node object
refuse node/nodes-verb delete,deletecollection nodes
refuse node/nodes-subresource * nodes/*
grant  node/nodes-write create,update,patch nodes
grant  node/nodes-status update,patch nodes/status
decide node/pods get pods | no relationship found between node
decide node/pods-named list,watch pods | no relationship found between node
decide node/pods-selector list,watch pods | can only list/watch pods with spec.nodeName field selector
refuse node/pods-verb update,patch,deletecollection pods
refuse node/pods-subresource * pods/*
grant  node/pods-create create pods
grant  node/pods-delete delete pods
grant  node/pods-status update,patch pods/status
grant  node/pods-eviction create pods/eviction
decide node/tokenreviews * tokenreviews.authentication.k8s.io
decide node/subjectaccessreviews * subjectaccessreviews.authorization.k8s.io
decide node/localsubjectaccessreviews * localsubjectaccessreviews.authorization.k8s.io
decide node/services * services
decide node/events * events
decide node/endpoints * endpoints
decide node/certificatesigningrequests * certificatesigningrequests.certificates.k8s.io
decide node/csidrivers * csidrivers.storage.k8s.io
decide node/runtimeclasses * runtimeclasses.node.k8s.io
decide node/paths * -
decide node/self-reviews * selfsubjectreviews.authentication.k8s.io,selfsubjectaccessreviews.authorization.k8s.io
refuse node/other * *
admit  restriction/pods-mirror create pods | annotation, node
admit  restriction/pods-node create pods | can only create pods with spec.nodeName set to itself
admit  restriction/pods-single-owner create pods | can only create pods with a single owner reference set to itself
admit  restriction/pods-owner create pods | can only create pods with an owner reference set to itself
admit  restriction/pods-controller create pods | can only create pods with a controller owner reference set to itself
admit  restriction/pods-block-owner-deletion create pods | must not set blockOwnerDeletion on an owner reference
admit  restriction/pods-node-uid create pods | UID mismatch
admit  restriction/pods-serviceaccounts create pods | a mirror pod may not reference service accounts
admit  restriction/pods-secrets-plugin create pods | a mirror pod may not reference secrets
admit  restriction/pods-tokens create pods | a mirror pod may not use ServiceAccountToken volume projections
admit  restriction/pods-service-account-plugin create pods | error looking up service account
admit  restriction/pods-secrets create pods | reference secrets
admit  restriction/pods-configmaps create pods | reference configmaps
admit  restriction/pods-resourceclaims create pods | reference resourceclaims
admit  restriction/pods-csi@34 create pods | reference csidrivers
admit  restriction/pods-glusterfs@34 create pods | reference endpoints
admit  restriction/pods-claims create pods | reference persistentvolumeclaims
admit  restriction/pods-trust-bundles create pods | reference clustertrustbundles
admit  restriction/pods-certificates@34 create pods | reference podcertificates
admit  restriction/pods-unknown-source@34 create pods | unknown source for projected volume
admit  restriction/pods-node-missing create pods | not found
admit  restriction/pods-delete delete pods | can only delete pods with spec.nodeName set to itself
admit  restriction/pod-status-node update,patch pods/status | can only update pod status for pods with spec.nodeName set to itself
admit  restriction/pod-status-labels update,patch pods/status | cannot update labels through pod status
admit  restriction/pod-status-claims update,patch pods/status | cannot update resource claim statues
admit  restriction/pod-status-extended-claims@34 update,patch pods/status | cannot update extended resource claim status
admit  restriction/eviction create pods/eviction | can only evict pods with spec.nodeName set to itself
admit  restriction/eviction-missing create pods/eviction | not found
admit  restriction/nodes-name create,update,patch nodes,nodes/status | is not allowed to modify node "
admit  restriction/nodes-config-source create nodes | create pods with a non-nil configSource
admit  restriction/nodes-set-labels create nodes | is not allowed to set the following labels
admit  restriction/nodes-new-config-source update,patch nodes,nodes/status | update configSource to a new non-nil configSource
admit  restriction/nodes-taints update,patch nodes,nodes/status | is not allowed to modify taints
admit  restriction/nodes-owner-references update,patch nodes,nodes/status | is not allowed to modify ownerReferences
admit  restriction/node-labels update,patch nodes,nodes/status | is not allowed to modify labels
admit  restriction/claim-status update,patch persistentvolumeclaims/status | is not allowed to update fields other than
admit  restriction/token-unbound create serviceaccounts/token | not bound to a pod
admit  restriction/token-no-uid create serviceaccounts/token | with a pod binding without a uid
admit  restriction/token-uid create serviceaccounts/token | does not match the UID in record
admit  restriction/token-node create serviceaccounts/token | bound to a pod scheduled on a different node
admit  restriction/token-audiences@33 create serviceaccounts/token | may only request 0 or 1 audiences
admit  restriction/token-audience@33 create serviceaccounts/token | not found in pod spec volume
admit  restriction/token-pod-missing create serviceaccounts/token | not found
admit  restriction/leases-name create leases.coordination.k8s.io | can only access node lease with the same name
admit  restriction/csinodes-name create csinodes.storage.k8s.io | can only access CSINode with the same name
admit  restriction/resourceslices-create create resourceslices.resource.k8s.io | can only create ResourceSlice with the same NodeName
admit  restriction/signing-request create certificatesigningrequests.certificates.k8s.io | can only create a node CSR with CN=
admit  restriction/signing-request-unreadable create certificatesigningrequests.certificates.k8s.io | unable to parse csr
"#;

pub(super) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.is_empty());
    lines.map(Rule::read).collect()
});

/// What follows a refusal of an authorizer that says why.
const REFUSED: &str = "is forbidden: User \"";

pub(super) fn seen(case: &Case, answers: &Answers) -> Seen {
    let (code, message) = (answers.codes[0], answers.message());
    let refused_at = |wanted: &[Stage]| {
        let found = RULES
            .iter()
            .position(|rule| wanted.contains(&rule.stage) && rule.is_about(case) && rule.is_said_in(message));
        found.map_or(Seen::Unknown, Seen::Refused)
    };
    let authorization = message.contains(REFUSED) || message.starts_with("forbidden: User");
    // What is not written as JSON is not taken apart, and nobody asks authorizers about masters.
    if !case.who.is_node() || case.who == Who::Master || !answers.said[0].is_object() {
        return Seen::Allowed(Vec::new());
    }
    if code == 403 && authorization {
        return refused_at(&[Stage::Decide, Stage::Refuse, Stage::Older]);
    }
    let kind = answers.said[0]["details"]["kind"].as_str().unwrap_or_default();
    let lookup = code == 404 && matches!(kind, "pod" | "node");
    if code == 403 && message.contains("could not determine node from user") {
        // The same rule in the words of NodeRestriction, which looks at what everybody may create.
        let unnamed = RULES.iter().position(|rule| rule.name == "node/unnamed");
        return unnamed.map_or(Seen::Unknown, Seen::Refused);
    }
    if code == 403 || lookup {
        return refused_at(&[Stage::Admit]);
    }
    let passed = |rule: &Rule| match rule.stage {
        Stage::Decide | Stage::Grant => rule.is_about(case),
        Stage::Admit => (200..300).contains(&code) && rule.is_about(case),
        Stage::Refuse | Stage::Older => false,
    };
    let all = RULES.iter().enumerate().filter(|(_, rule)| passed(rule));
    Seen::Allowed(all.map(|(number, _)| number).collect())
}

impl Rule {
    fn read(line: &'static str) -> Self {
        let (head, text) = line.split_once(" | ").unwrap_or((line, ""));
        let mut words = head.split_whitespace();
        let mut word = || words.next().unwrap();
        let stage = match word() {
            "decide" => Stage::Decide,
            "refuse" => Stage::Refuse,
            "grant" => Stage::Grant,
            "older" => Stage::Older,
            "admit" => Stage::Admit,
            other => panic!("{other} is no stage"),
        };
        let name = word();
        let (name, since) = name.split_once('@').unwrap_or((name, "0"));
        Self {
            stage,
            since: since.parse().unwrap(),
            name,
            verbs: word(),
            resources: word(),
            text,
        }
    }

    pub(super) fn allows(&self) -> bool {
        self.is_here() && !matches!(self.stage, Stage::Refuse | Stage::Older)
    }

    pub(super) fn refuses(&self) -> bool {
        self.is_here() && !matches!(self.stage, Stage::Grant | Stage::Older)
    }

    fn is_here(&self) -> bool {
        release::minor() >= self.since
    }

    fn is_about(&self, case: &Case) -> bool {
        let (verbs, resources) = (self.verbs, self.resources);
        let verb = verbs == "*" || verbs.split(',').any(|verb| verb == case.verb);
        let resource = resources.split(',').any(|wanted| match wanted.rsplit_once('/') {
            _ if wanted == "*" => true,
            _ if wanted == "-" => case.resource.is_empty(),
            Some((resource, "*")) => resource == case.resource && !case.sub.is_empty(),
            Some((resource, sub)) => resource == case.resource && sub == case.sub,
            None if matches!(self.stage, Stage::Refuse | Stage::Older) => wanted == case.resource,
            None => wanted == case.resource && case.sub.is_empty(),
        });
        verb && resource
    }

    /// Where a rule has no text, the sentence has no reason behind it.
    fn is_said_in(&self, message: &str) -> bool {
        match self.text {
            "" => !message.contains("scope: ") && !message.rsplit('"').next().unwrap_or_default().starts_with(": "),
            text => message.contains(text),
        }
    }
}
