//! What a node owns by its name: its lease, its CSINode and its resource slices.

use super::{
    Edit, Known, No, NodeRestriction, Operation, Write,
    read::{at, named, optional_text},
};
use crate::{admission::Content, api::names, json::Json, rejection::Rejection, rules::Rule};

impl NodeRestriction {
    pub(super) fn lease(&self, write: &Write<'_>) -> Result<Edit, No> {
        if write.request.namespace != names::NODE_LEASES {
            let why = "can only access leases in the \"kube-node-lease\" system namespace";
            write.refuse(Rule::RestrictionLeases, why)?;
        }
        is_named_like_the_node(
            write,
            Rule::RestrictionLeases,
            "can only access node lease with the same name as the requesting node",
        )
    }

    pub(super) fn csi_node(&self, write: &Write<'_>) -> Result<Edit, No> {
        is_named_like_the_node(
            write,
            Rule::RestrictionCsiNodes,
            "can only access CSINode with the same name as the requesting node",
        )
    }

    pub(super) fn slice<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        if !write.minds(Rule::RestrictionResourceSlices) {
            return Ok(Edit::default());
        }
        let foreign = |verb: &str| -> Result<Edit, No> {
            let why = format_args!("can only {verb} ResourceSlice with the same NodeName as the requesting node");
            write.refuse(Rule::RestrictionResourceSlices, why)?;
            Ok(Edit::default())
        };
        match write.operation {
            Operation::Create if is_of(write.sent()?, write.node)? => Ok(Edit::default()),
            Operation::Create => foreign("create"),
            Operation::Update if matches!(write.content, Content::Apply(_)) => {
                self.takes(write)?;
                let change = write.change(known)?;
                if !is_of(&change.old, write.node)? {
                    return foreign("create");
                }
                write.at_version(&change)
            }
            // Whose it is never changes, and the authorizer knows it.
            Operation::Update => Ok(Edit::default()),
            Operation::Delete => {
                let slice = write.stored(known)?;
                if !is_of(&slice, write.node)? {
                    return foreign("delete");
                }
                let metadata = slice.get("metadata").unwrap_or(&Json::Null);
                let uid = optional_text(metadata, "uid")?.unwrap_or_default();
                write.to_uid("ResourceSlice", uid)
            }
            Operation::DeleteCollection if write.request.selectors.require("spec.nodeName", write.node) => {
                Ok(Edit::default())
            }
            Operation::DeleteCollection => foreign("delete"),
        }
    }
}

fn is_named_like_the_node(write: &Write<'_>, rule: Rule, refusal: &str) -> Result<Edit, No> {
    if !write.minds(rule) {
        return Ok(Edit::default());
    }
    let name = match write.operation {
        Operation::Create if write.request.subresource.is_empty() => named(write.sent()?)?,
        _ => &write.request.name,
    };
    if name != write.node {
        write.refuse(rule, refusal)?;
    }
    Ok(Edit::default())
}

fn is_of(slice: &Json<'_>, node: &str) -> Result<bool, Rejection> {
    let spec = at(slice, &["spec"])?.unwrap_or(&Json::Null);
    Ok(optional_text(spec, "nodeName")? == Some(node))
}
