//! Whom a mirror pod says it belongs to. It goes when the node goes, and cannot keep it from going.

use crate::{
    admission::{
        Known, No, Owner, Write,
        node_restriction::{
            read::{boolean, field, list, not_found, text},
            shape::{Shape, is_same},
        },
    },
    api::quote,
    graph::{Facts, Key, Kind},
    json::Json,
    rejection::Rejection,
    rules::Rule,
};

/// What a mirror pod has to say of its owner. Whatever it says, nobody but the node may be named.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MirrorPodOwner {
    /// The node, which manages it and is not kept from being deleted by it: what kube-apiserver asks for, and kubelets send.
    #[default]
    Upstream,
    /// Nobody, or the node, which does not manage it: what the proposal asks for.
    Proposal,
    Either,
}

const RULE: Rule = Rule::RestrictionMirrorOwner;

impl MirrorPodOwner {
    /// Gives back what the pod says.
    pub(super) fn judge(self, write: &Write<'_>, pod: &Json<'_>, known: &Known<'_>) -> Result<Owner, No> {
        let node = quote(write.node);
        let metadata = field(pod, "metadata")?.unwrap_or(&Json::Null);
        let owner = match list(metadata, "ownerReferences")? {
            [] if self != Self::Upstream => return Ok(Owner::None),
            [] => {
                let why = format_args!("node {node} can only create pods with an owner reference set to itself");
                write.refuse(RULE, why)?;
                return Ok(Owner::None);
            }
            // The API server merges those that are the same before it looks at them.
            [owner, others @ ..]
                if others
                    .iter()
                    .all(|other| is_same(&Shape::OWNER_REFERENCE, Some(owner), Some(other))) =>
            {
                owner
            }
            _ => {
                let why = format_args!("node {node} can only create pods with a single owner reference set to itself");
                write.refuse(RULE, why)?;
                return Ok(Owner::Other);
            }
        };
        if !is_node(owner, write.node)? {
            let why = format_args!("node {node} can only create pods with an owner reference set to itself");
            write.refuse(RULE, why)?;
            return Ok(Owner::Other);
        }
        let form = self.form(write, owner)?;
        if !write.minds(RULE) {
            return Ok(form);
        }
        let Some(Facts::Node { uid, .. }) = known.facts(Key::cluster(Kind::Node, write.node)) else {
            write.refuse_with(RULE, not_found("node", write.node))?;
            return Ok(form);
        };
        let claimed = text(owner, "uid")?;
        if claimed != uid {
            let node = write.node;
            let why = format_args!("node {node} UID mismatch: expected {claimed} got {uid}");
            write.refuse(RULE, why)?;
        }
        Ok(form)
    }

    fn form(self, write: &Write<'_>, owner: &Json<'_>) -> Result<Owner, No> {
        let node = quote(write.node);
        let form = match boolean(owner, "controller")? {
            Some(true) => Owner::Upstream,
            _ => Owner::Proposal,
        };
        match (self, form) {
            (Self::Upstream, Owner::Proposal) => {
                let why =
                    format_args!("node {node} can only create pods with a controller owner reference set to itself");
                write.refuse(RULE, why)?;
            }
            (Self::Proposal, Owner::Upstream) => {
                let why =
                    format_args!("node {node} can only create pods with an owner reference that is not the controller");
                write.refuse(RULE, why)?;
            }
            _ => {}
        }
        // The proposal does not mind. A node that is to manage a pod has to be free to go all the same.
        let minds = form == Owner::Upstream || self == Self::Upstream;
        if minds && boolean(owner, "blockOwnerDeletion")? == Some(true) {
            let why = format_args!("node {node} must not set blockOwnerDeletion on an owner reference");
            write.refuse(RULE, why)?;
        }
        Ok(form)
    }
}

fn is_node(owner: &Json<'_>, node: &str) -> Result<bool, Rejection> {
    Ok(text(owner, "apiVersion")? == "v1" && text(owner, "kind")? == "Node" && text(owner, "name")? == node)
}
