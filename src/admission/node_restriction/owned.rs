//! What a node owns by its name: its lease, its CSINode and its resource slices.

use super::{
    Edit, Known, No, NodeRestriction, Operation, Write,
    read::{at, named, optional_text},
};
use crate::{admission::Content, json::Json, rejection::Rejection};

/// Where the leases of nodes are.
const NODE_LEASES: &str = "kube-node-lease";

impl NodeRestriction {
    pub(super) fn lease(&self, write: &Write<'_>) -> Result<Edit, No> {
        if write.request.namespace != NODE_LEASES {
            return Err(write.forbidden("can only access leases in the \"kube-node-lease\" system namespace"));
        }
        is_named_like_the_node(
            write,
            "can only access node lease with the same name as the requesting node",
        )
    }

    pub(super) fn csi_node(&self, write: &Write<'_>) -> Result<Edit, No> {
        is_named_like_the_node(
            write,
            "can only access CSINode with the same name as the requesting node",
        )
    }

    pub(super) fn slice<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        let foreign = |verb: &str| {
            write.forbidden(format_args!(
                "can only {verb} ResourceSlice with the same NodeName as the requesting node"
            ))
        };
        match write.operation {
            Operation::Create if is_of(write.sent()?, write.node)? => Ok(Edit::default()),
            Operation::Create => Err(foreign("create")),
            Operation::Update if matches!(write.content, Content::Apply(_)) => {
                self.takes(write)?;
                let change = write.change(known)?;
                if !is_of(&change.old, write.node)? {
                    return Err(foreign("create"));
                }
                write.at_version(&change)
            }
            // Whose it is never changes, and the authorizer knows it.
            Operation::Update => Ok(Edit::default()),
            Operation::Delete => {
                let slice = write.stored(known)?;
                if !is_of(&slice, write.node)? {
                    return Err(foreign("delete"));
                }
                let metadata = slice.get("metadata").unwrap_or(&Json::Null);
                let uid = optional_text(metadata, "uid")?.unwrap_or_default();
                write.to_uid("ResourceSlice", uid)
            }
            Operation::DeleteCollection if write.request.selectors.require("spec.nodeName", write.node) => {
                Ok(Edit::default())
            }
            Operation::DeleteCollection => Err(foreign("delete")),
        }
    }
}

fn is_named_like_the_node(write: &Write<'_>, refusal: &str) -> Result<Edit, No> {
    let name = match write.operation {
        Operation::Create if write.request.subresource.is_empty() => named(write.sent()?)?,
        _ => &write.request.name,
    };
    if name == write.node {
        Ok(Edit::default())
    } else {
        Err(write.forbidden(refusal))
    }
}

fn is_of(slice: &Json<'_>, node: &str) -> Result<bool, Rejection> {
    let spec = at(slice, &["spec"])?.unwrap_or(&Json::Null);
    Ok(optional_text(spec, "nodeName")? == Some(node))
}
