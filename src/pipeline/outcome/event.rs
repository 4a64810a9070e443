//! The record of a request as an audit event.

use std::{borrow::Cow, collections::BTreeMap, mem, sync::Arc};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{End, MAX_TEXT, Outcome};
use crate::{
    api::clip,
    observe::audit::{Annotations, Event, ObjectReference, ResponseStatus, Stage, UserInfo},
    rules::Finding,
};

impl Outcome {
    /// Takes what only the event needs: nothing reads it after.
    pub(super) fn event(&mut self, findings: &[Finding]) -> Event {
        let mut annotations = Annotations::with_capacity(4);
        let mut annotate = |key, value: Cow<'static, str>| annotations.push((key, value));
        if let Some(decision) = &self.decision {
            annotate("authorization.k8s.io/decision", decision.annotation().into());
        } else if let Some((rule, rejection)) = self.rejection().and_then(|told| Some((told.rule?, told))) {
            // Who may not act as somebody is refused before there is anything to decide about.
            annotate("authorization.k8s.io/decision", "forbid".into());
            let reason = format!("rule {rule}: {}", clip(&rejection.message, MAX_TEXT));
            annotate("authorization.k8s.io/reason", reason.into());
        }
        if let Some(explanation) = self.explanation() {
            annotate("authorization.k8s.io/reason", explanation.into());
        }
        if let Some(leave) = self.leave() {
            annotate("scopegate.dev/acting-as", leave.into());
        }
        if let Some(rejection) = self.not_admitted() {
            annotate("scopegate.dev/not-admitted", clip(&rejection.message, MAX_TEXT).into());
        }
        if let Some(rule) = self.rejection().and_then(|rejection| rejection.rule) {
            annotate("scopegate.dev/rule", rule.to_string().into());
        }
        if !findings.is_empty() {
            let findings: Vec<Value> = findings.iter().map(finding).collect();
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
            annotate("scopegate.dev/cause", clip(log, MAX_TEXT).into());
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
                .map(|caller| UserInfo(Arc::clone(caller.asker())))
                .unwrap_or_default(),
            impersonated_user: self
                .caller
                .as_ref()
                .filter(|caller| caller.actor.is_some())
                .map(|caller| UserInfo(Arc::clone(&caller.user))),
            source_ips: Some([self.peer.ip()]),
            user_agent,
            object_ref: self.info.as_ref().and_then(ObjectReference::of),
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
