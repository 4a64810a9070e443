//! Certificates: a node asks for its own, and for those of pods that it runs.

use std::fmt::Display;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{
    Edit, Known, No, NodeRestriction, Operation, Write,
    read::{field, text},
};
use crate::{
    admission::{Content, write::unsupported_patch},
    api::{csr, names::NODE_USER_PREFIX, quote},
    graph::{Facts, Key, Kind},
    json::Json,
    rejection::Rejection,
    rules::Rule,
};

/// Who sign certificates for kubelets.
const KUBELET_SIGNERS: &[&str] = &[
    "kubernetes.io/kube-apiserver-client-kubelet",
    "kubernetes.io/kubelet-serving",
];

impl NodeRestriction {
    pub(super) fn certificate(&self, write: &Write<'_>) -> Result<Edit, No> {
        if !write.minds(Rule::RestrictionCertificates) {
            return Ok(Edit::default());
        }
        if matches!(write.content, Content::Apply(_)) {
            // It may create one.
            return Err(unsupported_patch().into());
        }
        if self.any_certificate || write.operation != Operation::Create || !write.request.subresource.is_empty() {
            return Ok(Edit::default());
        }
        let spec = field(write.sent()?, "spec")?.unwrap_or(&Json::Null);
        if !KUBELET_SIGNERS.contains(&text(spec, "signerName")?) {
            return Ok(Edit::default());
        }
        let request = STANDARD.decode(text(spec, "request")?);
        let request = request.map_err(|error| {
            Rejection::bad_request(format!(
                "the object provided is unrecognized: request is not base64: {error}"
            ))
        })?;
        match csr::common_name(&request) {
            Ok(name) if name.strip_prefix(NODE_USER_PREFIX) == Some(write.node) => {}
            Ok(_) => {
                let why = format_args!("can only create a node CSR with CN={NODE_USER_PREFIX}{}", write.node);
                write.refuse(Rule::RestrictionCertificates, why)?;
            }
            Err(why) => {
                let why = format_args!("unable to parse csr: {why}");
                write.refuse(Rule::RestrictionCertificates, why)?;
            }
        }
        Ok(Edit::default())
    }

    pub(super) fn pod_certificate<'a>(&self, write: &Write<'a>, known: &Known<'a>) -> Result<Edit, No> {
        if !write.minds(Rule::RestrictionPodCertificates) {
            return Ok(Edit::default());
        }
        if !self.pod_certificates {
            refuse(write, "PodCertificateRequest feature gate is disabled")?;
        }
        if write.operation != Operation::Create {
            let operation = write.operation.as_str();
            refuse(write, format_args!("unexpected operation {operation}"))?;
            return Ok(Edit::default());
        }
        if !write.request.subresource.is_empty() {
            let subresource = &write.request.subresource;
            refuse(write, format_args!("unexpected subresource {subresource}"))?;
            return Ok(Edit::default());
        }
        let spec = field(write.sent()?, "spec")?.unwrap_or(&Json::Null);
        is_of_this_node(write, spec, known)?;
        is_of_its_pod(write, spec, known)?;
        Ok(Edit::default())
    }
}

fn is_of_this_node(write: &Write<'_>, spec: &Json<'_>, known: &Known<'_>) -> Result<(), No> {
    let (named, node) = (text(spec, "nodeName")?, quote(write.node));
    if named != write.node {
        let named = quote(named);
        let why = format_args!("PodCertificateRequest.Spec.NodeName={named}, which is not the requesting node {node}");
        refuse(write, why)?;
    }
    let Some(Facts::Node { uid, .. }) = known.facts(Key::cluster(Kind::Node, write.node)) else {
        let why = format!("while retrieving node {node} named in the PodCertificateRequest: node {node} not found");
        return untyped(write, why);
    };
    let claimed = text(spec, "nodeUID")?;
    if claimed != uid {
        let why = format!(
            "PodCertificateRequest for pod {} names node UID {}, inconsistent with the running node ({})",
            full_name(write, text(spec, "podName")?),
            quote(claimed),
            quote(uid)
        );
        untyped(write, why)?;
    }
    Ok(())
}

fn is_of_its_pod(write: &Write<'_>, spec: &Json<'_>, known: &Known<'_>) -> Result<(), No> {
    let (namespace, name) = (&write.request.namespace, text(spec, "podName")?);
    let full = full_name(write, name);
    // An empty name names no object: nobody need be asked about it.
    let pod = match name {
        "" => None,
        name => known.whole_pod(namespace, name)?,
    };
    let Some(pod) = pod else {
        let why = format!(
            "while retrieving pod {full} named in the PodCertificateRequest: pod {} not found",
            quote(name)
        );
        return untyped(write, why);
    };
    let uid = text(spec, "podUID")?;
    if uid != pod.uid() {
        let why = format!(
            "PodCertificateRequest for pod {full} contains pod UID ({}) which differs from running pod {}",
            quote(uid),
            quote(pod.uid())
        );
        untyped(write, why)?;
    }
    if pod.node() != write.node {
        let node = quote(write.node);
        let why = format_args!("pod {full} is not running on node {node} named in the PodCertificateRequest");
        refuse(write, why)?;
    }
    if pod.is_mirror() {
        refuse(write, format_args!("pod {full} is a mirror pod"))?;
    }
    let account = text(spec, "serviceAccountName")?;
    if account != pod.service_account() {
        let why = format_args!(
            "PodCertificateRequest for pod {full} contains serviceAccountName ({}) that differs from running pod ({})",
            quote(account),
            quote(pod.service_account())
        );
        refuse(write, why)?;
    }
    let Some(Facts::ServiceAccount { uid }) = known.facts(Key::new(Kind::ServiceAccount, namespace, account)) else {
        let why = format!(
            "while retrieving service account {} named in the PodCertificateRequest: serviceaccount {} not found",
            full_name(write, account),
            quote(account)
        );
        return untyped(write, why);
    };
    let claimed = text(spec, "serviceAccountUID")?;
    if claimed != uid {
        let why = format!(
            "PodCertificateRequest for pod {full} names service account UID {}, which differs from the running service account ({})",
            quote(claimed),
            quote(uid)
        );
        untyped(write, why)?;
    }
    Ok(())
}

fn refuse(write: &Write<'_>, why: impl Display) -> Result<(), No> {
    write.refuse(Rule::RestrictionPodCertificates, why)
}

/// 500, since the client may know of something that has not got around yet, and is to try again.
fn untyped(write: &Write<'_>, message: String) -> Result<(), No> {
    write.refuse_with(Rule::RestrictionPodCertificates, Rejection::untyped(message))
}

fn full_name(write: &Write<'_>, name: &str) -> String {
    quote(&format!("{}/{name}", write.request.namespace))
}
