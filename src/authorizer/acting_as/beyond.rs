//! What upstream asks of whoever writes some kinds, beyond the request itself, and only of the one in whose name it is done: who gives
//! rights to others needs them, or leave to give them; who approves certificates, leave of the signer.

use std::sync::Arc;

use crate::{
    api::Verb,
    caller::User,
    request::{RequestInfo, ResourceRequest, Target},
    review::{ResourceAction, Review},
};

const RBAC: &str = "rbac.authorization.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";

/// What an actor needs for itself, or a powerful subject would give it what it has not. Nobody looks at which rights are given: it
/// takes leave to give any.
pub fn beyond(actor: &Arc<User>, info: &RequestInfo) -> Vec<Review> {
    let Target::Resource(request) = &info.target else {
        return Vec::new();
    };
    if !matches!(info.verb, Verb::Create | Verb::Update | Verb::Patch) {
        return Vec::new();
    }
    let ResourceRequest {
        resource,
        subresource,
        namespace,
        ..
    } = request;
    let action = |verb: &str, group: &str, resource: &str, namespace: &str| ResourceAction {
        verb: verb.to_owned(),
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        namespace: namespace.to_owned(),
        ..ResourceAction::default()
    };
    let signers = |verb| vec![action(verb, CERTIFICATES, "signers", "")];
    let (group, kind) = (resource.group.as_str(), resource.resource.as_str());
    let actions = match (group, kind, subresource.as_str()) {
        (RBAC, "clusterroles" | "roles", "") => vec![action("escalate", RBAC, kind, namespace)],
        (RBAC, "clusterrolebindings", "") => vec![action("bind", RBAC, "clusterroles", "")],
        (RBAC, "rolebindings", "") => vec![
            action("bind", RBAC, "roles", namespace),
            action("bind", RBAC, "clusterroles", namespace),
        ],
        (CERTIFICATES, "certificatesigningrequests", "approval") => signers("approve"),
        (CERTIFICATES, "certificatesigningrequests", "status") => signers("sign"),
        (CERTIFICATES, "clustertrustbundles", "") => signers("attest"),
        _ => Vec::new(),
    };
    actions.into_iter().map(|action| Review::new(actor, action)).collect()
}
