//! One line of the log, as far as it is needed.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use crate::api::{
    clip,
    names::{NODE_USER_PREFIX, NODES_GROUP},
};

/// What the gate wrote about one request.
#[derive(Debug)]
pub struct Event<'a> {
    pub(super) time: Timestamp,
    line: Line<'a>,
}

/// What a rule has against a request.
#[derive(Debug, Deserialize, Eq, PartialEq)]
pub(super) struct Finding {
    pub(super) rule: String,
    #[serde(default)]
    pub(super) message: String,
}

/// What a mirror pod had when it was created: keys, without their values.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MirrorPod {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) labels: Vec<String>,
    pub(super) annotations: Vec<String>,
    pub(super) finalizers: Vec<String>,
    pub(super) owner: String,
    /// How many of them the gate has not written down.
    #[serde(rename = "leftOut")]
    pub(super) left_out: u64,
}

/// Texts stay where they were read wherever that is possible: most events have nothing to say here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(borrow)]
    request_received_timestamp: Cow<'a, str>,
    #[serde(borrow, default)]
    user: User<'a>,
    #[serde(borrow, default)]
    object_ref: Option<ObjectRef<'a>>,
    #[serde(borrow)]
    response_status: Status<'a>,
    #[serde(borrow)]
    annotations: Annotations<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct User<'a> {
    #[serde(borrow)]
    username: Cow<'a, str>,
    #[serde(borrow)]
    groups: Vec<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ObjectRef<'a> {
    #[serde(borrow)]
    resource: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    subresource: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct Status<'a> {
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    code: u16,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Annotations<'a> {
    #[serde(borrow, rename = "authorization.k8s.io/decision")]
    decision: Cow<'a, str>,
    #[serde(borrow, rename = "scopegate.dev/not-admitted")]
    not_admitted: Cow<'a, str>,
    #[serde(borrow, rename = "scopegate.dev/end")]
    end: Cow<'a, str>,
    #[serde(borrow, rename = "scopegate.dev/findings")]
    findings: Cow<'a, str>,
    #[serde(borrow, rename = "scopegate.dev/rule")]
    rule: Cow<'a, str>,
    #[serde(borrow, rename = "scopegate.dev/mirror-pod")]
    mirror_pod: Cow<'a, str>,
}

/// Stands for the rule where a request was refused because no rule allows it.
const NO_RULE: &str = "(no rule allows it)";
/// Stands for the rule where findings cannot be read: something would have been refused, and nobody may think otherwise.
const UNREADABLE: &str = "(unreadable)";
/// Rules that are told apart for one request.
const MAX_FINDINGS: usize = 64;
/// Characters of a message, an identifier or a name. Kubernetes' names have 253 at most.
const MAX_TEXT: usize = 256;

impl<'a> Event<'a> {
    /// Nothing if the line is no event, or none of a gate: kube-apiserver's own log, in which nobody noted any findings, must not
    /// look like one without findings.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let line: Line<'a> = serde_json::from_slice(line).ok()?;
        let ours = line.kind == "Event" && line.api_version == "audit.k8s.io/v1" && !line.annotations.end.is_empty();
        let time = line.request_received_timestamp.parse().ok()?;
        ours.then_some(Self { time, line })
    }

    /// The name of the node that asked, if it was one.
    pub(super) fn node(&self) -> Option<&str> {
        let user = &self.line.user;
        let name = user.username.strip_prefix(NODE_USER_PREFIX)?;
        user.groups.iter().any(|group| group == NODES_GROUP).then_some(name)
    }

    /// Who asked: a node's name, or what cannot be one.
    pub(super) fn caller(&self) -> Cow<'_, str> {
        match (self.node(), &*self.line.user.username) {
            (Some(node), _) if node.chars().nth(MAX_TEXT).is_none() => node.into(),
            (Some(node), _) => clip(node, MAX_TEXT).into(),
            (None, "") => "(nobody)".into(),
            (None, user) => clip(&format!("(user {user})"), MAX_TEXT).into(),
        }
    }

    /// What rules that are not enforced had against it, one finding a rule.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let text = &self.line.annotations.findings;
        if text.is_empty() {
            return Vec::new();
        }
        let read = serde_json::from_str::<Vec<Finding>>(text);
        let mut findings = read.unwrap_or_else(|_| vec![Finding::new(UNREADABLE, text)]);
        findings.sort_by(|one, other| one.rule.cmp(&other.rule));
        findings.dedup_by(|one, other| one.rule == other.rule);
        findings.truncate(MAX_FINDINGS);
        let clipped = findings.iter().map(|one| Finding::new(&one.rule, &one.message));
        clipped.collect()
    }

    /// The rule that refused it.
    pub(super) fn refusal(&self) -> Option<Finding> {
        let Line {
            annotations,
            response_status: status,
            ..
        } = &self.line;
        if !annotations.rule.is_empty() {
            return Some(Finding::new(&annotations.rule, &status.message));
        }
        let judged = annotations.decision == "forbid" || !annotations.not_admitted.is_empty();
        let refused = judged && annotations.findings.is_empty() && matches!(status.code, 403 | 422);
        refused.then(|| Finding::new(NO_RULE, &status.message))
    }

    /// The mirror pod that was created, if upstream has accepted it. An error if it cannot be read.
    pub(super) fn mirror_pod(&self) -> Option<serde_json::Result<MirrorPod>> {
        let accepted = (200..300).contains(&self.line.response_status.code);
        let text = &self.line.annotations.mirror_pod;
        (accepted && !text.is_empty()).then(|| serde_json::from_str(text))
    }

    /// What it was about: `namespace/resource/name/subresource`, without what there is not.
    pub(super) fn object(&self) -> String {
        let Some(object) = &self.line.object_ref else {
            return "(no object)".to_owned();
        };
        let name = match &*object.name {
            "" => self.created(&object.resource),
            name => name.to_owned(),
        };
        let name = clip(&name, MAX_TEXT);
        let parts = [&*object.namespace, &*object.resource, &*name, &*object.subresource];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        clip(&parts.join("/"), 3 * MAX_TEXT)
    }

    /// The path of a creation does not name the object. The event does if it was a mirror pod, and so do most refusals:
    /// `pods "etcd-n1" is forbidden: …`.
    fn created(&self, resource: &str) -> String {
        if let Ok(pod) = serde_json::from_str::<MirrorPod>(&self.line.annotations.mirror_pod)
            && !pod.name.is_empty()
        {
            return pod.name;
        }
        let message = self.line.response_status.message.strip_prefix(resource);
        let quoted = message.and_then(|rest| rest.strip_prefix(" \""));
        match quoted.and_then(|rest| rest.split_once('"')) {
            Some((name, _)) => name.to_owned(),
            None => String::new(),
        }
    }
}

impl Finding {
    fn new(rule: &str, message: &str) -> Self {
        Self {
            rule: clip(rule, MAX_TEXT),
            message: clip(message, MAX_TEXT),
        }
    }
}
