//! The record of a request as an audit event.

use std::{collections::BTreeMap, mem};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{End, MAX_TEXT, Outcome};
use crate::{
    api::clip,
    caller::User,
    observe::audit::{Event, ObjectReference, ResponseStatus, Stage, UserInfo},
    request::{RequestInfo, Target},
    rules::Finding,
};

impl Outcome {
    /// Takes what only the event needs: nothing reads it after.
    pub(super) fn event(&mut self) -> Event {
        let mut annotations = BTreeMap::new();
        if let Some(decision) = &self.decision {
            annotations.insert("authorization.k8s.io/decision", decision.annotation().to_owned());
        } else if let Some((rule, rejection)) = self.rejection().and_then(|told| Some((told.rule?, told))) {
            // Who may not act as somebody is refused before there is anything to decide about.
            annotations.insert("authorization.k8s.io/decision", "forbid".to_owned());
            let reason = format!("rule {rule}: {}", clip(&rejection.message, MAX_TEXT));
            annotations.insert("authorization.k8s.io/reason", reason);
        }
        if let Some(explanation) = self.explanation() {
            annotations.insert("authorization.k8s.io/reason", explanation);
        }
        if let Some(leave) = self.leave() {
            annotations.insert("scopegate.dev/acting-as", leave);
        }
        if let Some(rejection) = self.not_admitted() {
            annotations.insert("scopegate.dev/not-admitted", clip(&rejection.message, MAX_TEXT));
        }
        if let Some(rule) = self.rejection().and_then(|rejection| rejection.rule) {
            annotations.insert("scopegate.dev/rule", rule.to_string());
        }
        let findings: Vec<Value> = self.findings().iter().map(finding).collect();
        if !findings.is_empty() {
            annotations.insert("scopegate.dev/findings", Value::from(findings).to_string());
        }
        if let Some(pod) = self
            .notes
            .mirror_pod
            .as_ref()
            .and_then(|pod| serde_json::to_string(pod).ok())
        {
            annotations.insert("scopegate.dev/mirror-pod", pod);
        }
        if let Some(log) = self.rejection().and_then(|rejection| rejection.log.as_deref()) {
            annotations.insert("scopegate.dev/cause", clip(log, MAX_TEXT));
        }
        let end = match self.end {
            End::ClientGone => "client-gone",
            End::Complete => "complete",
            End::GateStopped => "gate-stopped",
            End::Lapsed => "credential-lapsed",
            End::Revoked => "no-longer-related",
            End::Panic => "panic",
            End::Quarantined => "quarantined",
            End::UpstreamCut => "upstream-cut",
        };
        annotations.insert("scopegate.dev/end", end.to_owned());
        let (verb, code) = (self.verb(), self.code());
        let (request_uri, user_agent) = (mem::take(&mut self.uri), mem::take(&mut self.user_agent));
        let audit_id = mem::take(&mut self.audit_id);
        let rejection = self.rejection();
        Event {
            kind: "Event",
            api_version: "audit.k8s.io/v1",
            level: "Metadata",
            audit_id,
            stage: match self.end {
                End::Panic => Stage::Panic,
                _ => Stage::ResponseComplete,
            },
            request_uri,
            verb,
            user: self
                .caller
                .as_ref()
                .map(|caller| user_info(caller.asker()))
                .unwrap_or_default(),
            impersonated_user: self
                .caller
                .as_ref()
                .filter(|caller| caller.actor.is_some())
                .map(|caller| user_info(&caller.user)),
            source_ips: [self.peer.ip().to_string()],
            user_agent,
            object_ref: self.info.as_ref().and_then(object_reference),
            response_status: ResponseStatus {
                metadata: BTreeMap::new(),
                status: rejection.map_or("", |_| "Failure"),
                message: rejection
                    .map(|rejection| clip(&rejection.message, MAX_TEXT))
                    .unwrap_or_default(),
                reason: rejection.map_or("", |rejection| rejection.reason),
                code,
            },
            request_received_timestamp: self.received,
            stage_timestamp: Timestamp::now(),
            annotations,
        }
    }
}

fn finding(Finding { rule, mode, message }: &Finding) -> Value {
    json!({"rule": rule.id(), "mode": mode.as_str(), "message": message})
}

fn user_info(user: &User) -> UserInfo {
    UserInfo {
        username: user.name.clone(),
        uid: user.uid.clone(),
        groups: user.groups.clone(),
        extra: user.extra.iter().cloned().collect(),
    }
}

fn object_reference(info: &RequestInfo) -> Option<ObjectReference> {
    match &info.target {
        Target::Path(_) => None,
        Target::Resource(request) => Some(ObjectReference {
            resource: request.resource.resource.clone(),
            namespace: request.namespace.clone(),
            name: request.name.clone(),
            api_group: request.resource.group.clone(),
            api_version: request.version.clone(),
            subresource: request.subresource.clone(),
        }),
    }
}
