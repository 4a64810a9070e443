//! What operators change, on record. It is no request of a client of upstream's, and recorded like one, so that one log has it all.

use std::{net::IpAddr, sync::Arc};

use http::{Request, StatusCode, header::USER_AGENT};
use jiff::Timestamp;
use uuid::Uuid;

use super::Access;
use crate::{
    api::clip,
    caller::User,
    observe::audit::{Event, ResponseStatus, Stage, UserInfo},
};

/// Who wants to change what.
pub(super) struct Record {
    received: Timestamp,
    verb: &'static str,
    uri: String,
    user: String,
    address: Option<IpAddr>,
    user_agent: String,
}

const MAX_TEXT: usize = 256;

impl Record {
    pub(super) fn of<B>(access: &Access, request: &Request<B>) -> Self {
        let (user, address) = match access {
            Access::Operator(operator) => (clip(&operator.name, MAX_TEXT), Some(operator.address.ip())),
            Access::Local | Access::Probe => (String::new(), None),
        };
        let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        Self {
            received: Timestamp::now(),
            verb: match request.method().as_str() {
                "DELETE" => "delete",
                _ => "update",
            },
            uri: request.uri().path().to_owned(),
            user,
            address,
            user_agent: clip(agent.unwrap_or_default(), MAX_TEXT),
        }
    }

    pub(super) fn user(&self) -> &str {
        &self.user
    }

    /// With what came of it, under a name of its own.
    pub(super) fn event(self, code: StatusCode, name: &'static str, told: &str) -> Event {
        let failed = !code.is_success();
        let told = clip(told, MAX_TEXT * 4);
        Event {
            audit_id: Uuid::new_v4().to_string(),
            stage: Stage::ResponseComplete,
            request_uri: self.uri,
            verb: self.verb.into(),
            user: UserInfo(Arc::new(User {
                name: self.user,
                ..User::default()
            })),
            impersonated_user: None,
            source_ip: self.address,
            user_agent: self.user_agent,
            object_ref: None,
            response_status: ResponseStatus {
                status: if failed { "Failure" } else { "" },
                message: if failed { told.clone() } else { String::new() },
                reason: "",
                code: code.as_u16(),
            },
            request_received_timestamp: self.received,
            stage_timestamp: Timestamp::now(),
            annotations: vec![(name, told.into()), ("scopegate.dev/end", "complete".into())],
        }
    }
}
