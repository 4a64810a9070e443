//! The record of a request as an audit event.

use std::{borrow::Cow, sync::Arc};

use serde_json::{Value, json};

use super::{End, Facts};
use crate::{
    observe::audit::{Annotations, Event, ObjectReference, Record, ResponseStatus, Stage, UserInfo},
    rules::Finding,
};

impl Record for Facts {
    fn into_event(self: Box<Self>) -> Event {
        let mut annotations = Annotations::with_capacity(4);
        let mut annotate = |key, value: Cow<'static, str>| annotations.push((key, value));
        if let Some(decision) = &self.decision {
            annotate("authorization.k8s.io/decision", decision.annotation().into());
        } else if let Some((rule, rejection)) = self.rejection().and_then(|told| Some((told.rule?, told))) {
            // Who may not act as somebody is refused before there is anything to decide about.
            annotate("authorization.k8s.io/decision", "forbid".into());
            let reason = format!("rule {rule}: {}", rejection.message);
            annotate("authorization.k8s.io/reason", reason.into());
        }
        if let Some(explanation) = self.explanation() {
            annotate("authorization.k8s.io/reason", explanation.into());
        }
        if let Some(leave) = self.leave() {
            annotate("scopegate.dev/acting-as", leave.into());
        }
        if let Some(rejection) = self.not_admitted() {
            annotate("scopegate.dev/not-admitted", rejection.message.clone());
        }
        if let Some(rule) = self.rejection().and_then(|rejection| rejection.rule) {
            annotate("scopegate.dev/rule", rule.to_string().into());
        }
        if !self.notes.findings.is_empty() {
            let findings: Vec<Value> = self.notes.findings.iter().map(finding).collect();
            annotate("scopegate.dev/findings", Value::from(findings).to_string().into());
        }
        if let Some(pod) = self
            .notes
            .mirror_pod
            .as_ref()
            .and_then(|pod| serde_json::to_string(pod).ok())
        {
            annotate("scopegate.dev/mirror-pod", pod.into());
        }
        if let Some(log) = self.rejection().and_then(|rejection| rejection.log.as_deref()) {
            annotate("scopegate.dev/cause", log.to_owned().into());
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
        annotate("scopegate.dev/end", end.into());
        let rejection = self.rejection();
        let response_status = ResponseStatus {
            status: rejection.map_or("", |_| "Failure"),
            message: rejection
                .map(|rejection| rejection.message.to_string())
                .unwrap_or_default(),
            reason: rejection.map_or("", |rejection| rejection.reason),
            code: self.code(),
        };
        let caller = self.caller.as_ref();
        let acted = caller.filter(|caller| caller.actor.is_some());
        Event {
            stage: match self.end {
                End::Panic => Stage::Panic,
                _ => Stage::ResponseComplete,
            },
            verb: self.verb(),
            user: caller
                .map(|caller| UserInfo(Arc::clone(caller.asker())))
                .unwrap_or_default(),
            impersonated_user: acted.map(|caller| UserInfo(Arc::clone(&caller.user))),
            source_ip: Some(self.peer.ip()),
            object_ref: self.info.as_ref().and_then(ObjectReference::of),
            response_status,
            request_received_timestamp: self.received,
            stage_timestamp: self.ended,
            annotations,
            audit_id: self.audit_id,
            request_uri: self.uri,
            user_agent: self.user_agent,
        }
    }
}

fn finding(Finding { rule, mode, message }: &Finding) -> Value {
    json!({"rule": rule.id(), "mode": mode.as_str(), "message": message})
}
