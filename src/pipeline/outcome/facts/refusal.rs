//! The record of a request that was refused, for operators who look at what happens now.

use http::StatusCode;

use super::Facts;
use crate::{
    decision::{Decision, Verdict},
    observe::refusals::Refusal,
    rejection::{Fault, Rejection},
    request::{ResourceRequest, Target},
};

impl Facts {
    /// Nothing if it was not refused, or for a reason that may be gone in a moment.
    pub(in super::super) fn refusal(&self) -> Option<Refusal> {
        let passing = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
        let rejection = self.rejection().filter(|rejection| {
            rejection.fault == Fault::Client && rejection.code.is_client_error() && !passing.contains(&rejection.code)
        })?;
        let refusal = match self.info.as_ref().map(|info| &info.target) {
            Some(Target::Resource(request)) => asked(request),
            _ => Refusal::default(),
        };
        let denied = self
            .decision
            .as_ref()
            .filter(|decision| decision.verdict == Verdict::Deny);
        let rule = rejection.rule.or_else(|| denied?.evidence.rule());
        let caller = self.caller.as_ref().map(|caller| caller.asker().name.clone());
        Some(Refusal {
            caller: caller.unwrap_or_default(),
            acting_as: self.subject().unwrap_or_default().to_owned(),
            address: self.peer.ip().to_string(),
            verb: self.verb().into_owned(),
            object: match &self.info {
                Some(_) => self.resource(),
                None => self.uri.split('?').next().unwrap_or_default().to_owned(),
            },
            code: rejection.code.as_u16(),
            rule: rule.map(|rule| rule.to_string()).unwrap_or_default(),
            reason: self.refused_because(rejection, denied),
            ..refusal
        })
    }

    fn refused_because(&self, rejection: &Rejection, denied: Option<&Decision>) -> String {
        let explained = denied.and_then(|_| self.explanation());
        explained.unwrap_or_else(|| match &rejection.log {
            Some(log) => format!("{}: {log}", rejection.message),
            None => rejection.message.to_string(),
        })
    }
}

fn asked(request: &ResourceRequest) -> Refusal {
    let mut resource = request.resource.to_string();
    if !request.subresource.is_empty() {
        resource += "/";
        resource += &request.subresource;
    }
    // The name stands for itself.
    let fields = request.selectors.fields.iter();
    let fields: Vec<String> = fields
        .filter(|term| term.field != "metadata.name")
        .map(ToString::to_string)
        .collect();
    let labels: Vec<String> = request.selectors.labels.iter().map(ToString::to_string).collect();
    Refusal {
        resource,
        namespace: request.namespace.clone(),
        name: request.name.clone(),
        field_selector: fields.join(","),
        label_selector: labels.join(","),
        ..Refusal::default()
    }
}
